"""What a user names becomes datasets with a manifest: outputs, folders of them, standard input, names."""

import copy
import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from programs import python

from azbenchlib.analysis import grouping, summary
from azbenchlib.core.errors import InputError
from azbenchlib.dataset import derived, importing
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.files import sha256
from azbenchlib.dataset.setups import Assumed
from azbenchlib.model import VM, Setup, notation

FIO = Path(__file__).parents[1] / "data" / "fio"
SHIPPED = Path(__file__).parents[2] / "datasets"
SETUP = Setup(VM(size="Standard_E8ds_v4"), notation.with_names(notation.parse_disks(["P30"])))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Six outputs of two hosts, three each, whose rates differ by one in a hundred, and junk."""
    folder = tmp_path / "results"
    folder.mkdir()
    output = json.loads((FIO / "clients.json").read_text())
    (reader,) = (job for job in output["client_stats"] if job["jobname"] == "r")
    for n in range(6):
        job = copy.deepcopy(reader) | {"hostname": f"h{n % 2}"}
        job["read"]["iops"] *= (1 + n % 2) * (1 + n // 2 / 100)
        (folder / f"run-{n}.json").write_text(json.dumps(output | {"client_stats": [job], "timestamp": n}))
    (folder / "notes.txt").write_text("buy milk")
    return folder


def test_outputs_have_a_manifest_that_was_made_of_them(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(results.parent)
    found = Dataset.load("results")
    told = found.manifest
    assert told is not None
    assert (told.name, told.title) == ("results", "fio outputs in results")
    assert told.tools == {"fio": "3.33"} and told.setups == []
    assert told.raw == {f"raw/run-{n}.json": sha256(results / f"run-{n}.json") for n in range(6)}
    assert told.notes == ["Left out, for they are of no known format: results/notes.txt."]
    assert "not_recognised" in set(found.findings["code"])


@pytest.mark.parametrize(
    ("cwd", "name"),
    [(".", "results"), ("results", "."), ("results", "{}"), ("results/deep", ".."), (".", "results/deep/..")],
)
def test_a_title_has_the_name_of_the_folder_however_it_is_named(
    results: Path, monkeypatch: pytest.MonkeyPatch, cwd: str, name: str
) -> None:
    (results / "deep").mkdir(exist_ok=True)
    monkeypatch.chdir(results.parent / cwd)
    told = Dataset.load(name.format(results)).manifest
    assert told is not None and (told.name, told.title) == ("results", "fio outputs in results")
    assert told.about == "Outputs as they were found in results: 6 files with 6 runs."


def test_a_folder_that_says_who_somebody_is_names_nothing(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(results))
    told = Dataset.load(results).manifest
    assert told is not None and told.title == "fio outputs"


def test_the_day_is_told_as_far_as_it_is_known(tmp_path: Path) -> None:
    output = json.loads((FIO / "randrw.json").read_text())
    for name in ("timestamp", "timestamp_ms", "time"):
        output.pop(name, None)
    days = {"a": None, "b": 1_764_547_200_000, "c": 1_764_633_600_000}  # ms since 1970
    for name, day in days.items():
        output["jobs"][0] |= {"jobname": name} | ({"job_start": day} if day else {})
        (tmp_path / f"{name}.json").write_text(json.dumps(output))
    for names, said in (("a", "day not stated"), ("b", "2025-12-01"), ("bc", "2025-12-01 to 2025-12-02")):
        told = Dataset.load(*(tmp_path / f"{name}.json" for name in names)).manifest
        assert told is not None and told.measured == said
    told = Dataset.load(tmp_path).manifest
    assert told is not None and told.measured == "2025-12-01 to 2025-12-02, as far as is stated"
    late = {"timestamp": 1_764_547_199, "time": "Mon Dec  1 00:59:59 2025"}  # an hour east of Greenwich
    (tmp_path / "d.json").write_text(
        json.dumps(output | late | {"jobs": [{**output["jobs"][0], "job_start": 0}]})
    )
    told = Dataset.load(tmp_path / "d.json").manifest
    assert told is not None and told.measured == "2025-11-30"


def series(found: Dataset) -> dict[str, float]:
    arrangement = grouping.arrange(found.tables)
    cards = summary.cards(arrangement, found.tables)
    names = dict(zip(arrangement.series["key"], arrangement.series["label"], strict=True))
    return {names[card.series]: card.rate["repeats"] for card in cards if card.rate is not None}


def test_runs_are_repeats_only_where_it_is_said(results: Path) -> None:
    assert series(Dataset.load(results)) == {f"run-{n}.json": 1 for n in range(6)}
    assert series(Dataset.load(results, group_by="host")) == {"host h0": 3, "host h1": 3}
    for found in (Dataset.load(results, group_by="setup"), Dataset.load(results, assumed=Assumed(SETUP))):
        (name,) = series(found)  # one setup, whose hosts are still told apart
        assert [
            int(n) for n in summary.results_table(grouping.arrange(found.tables), found.tables)["repeats"]
        ] == [3, 3], name
    alone = series(Dataset.load(results, assumed=Assumed(SETUP), group_by="path"))
    assert set(alone.values()) == {1} and len(alone) == 6
    by_host = Dataset.load(results, assumed=Assumed(SETUP), group_by="host")
    assert series(by_host) == {"host h0": 3, "host h1": 3}
    assert set(by_host.setups["vm_size"]) == {"Standard_E8ds_v4"} and set(by_host.disks["tier"]) == {"P30"}


def test_what_is_stated_is_never_overridden(results: Path) -> None:
    name = "ultra-disk-2019"
    with pytest.raises(InputError, match=r"the setup of every run is stated already \(ultra-"):
        Dataset.load(name, assumed=Assumed(SETUP))
    with pytest.raises(InputError, match="only runs whose setup is not stated can be grouped by host"):
        Dataset.load(name, group_by="host")
    stated, outputs = Dataset.load_each([SHIPPED / name, results], assumed=Assumed(SETUP))
    assert set(stated.setups["vm_size"]) == set(Dataset.load(name).setups["vm_size"])
    assert set(outputs.setups["vm_size"]) == {"Standard_E8ds_v4"}


def test_runs_that_name_no_host_cannot_be_grouped_by_it() -> None:
    with pytest.raises(InputError, match="no output names its host, as fio does in client/server runs"):
        Dataset.load(FIO / "randrw.json", group_by="host")
    with pytest.raises(InputError, match="group_by 'colour' is not one of: path, folder, host, job, setup"):
        Dataset.load(FIO / "randrw.json", group_by="colour")


def test_several_names(results: Path) -> None:
    every = Dataset.load_each(
        [results / "run-0.json", "ultra-disk-2019", results / "run-1.json", SHIPPED / "ultra-disk-2019"]
    )
    titles = [one.manifest.title for one in every if one.manifest]
    assert titles[0] == "fio outputs in results" and len(titles) == 2
    assert len(every[0].runs) == 2
    with pytest.raises(InputError, match="2 datasets are named; load each by itself"):
        Dataset.load(results, "ultra-disk-2019")


def test_datasets_in_a_tree_of_outputs_keep_their_setups(results: Path) -> None:
    shutil.copytree(SHIPPED / "ultra-disk-2019", results / "deep" / "mine")
    (results / "other" / "raw").mkdir(parents=True)
    (results / "other" / "manifest.json").write_text('{"name": "of a web page"}')
    outputs, dataset = Dataset.load_each([results])
    assert set(outputs.runs["source_path"]) == {str(results / f"run-{n}.json") for n in range(6)}
    assert dataset.setups.equals(Dataset.load("ultra-disk-2019").setups)
    assert len(Dataset.read(results).runs) == len(outputs.runs) + len(dataset.runs)
    (only,) = Dataset.load_each([results / "deep"])
    assert only.manifest == dataset.manifest


def test_the_same_file_twice_counts_once(results: Path) -> None:
    (results / "link.json").symlink_to(results / "run-0.json")
    found = Dataset.load(results / "run-0.json", results / "run-0.json", results / "link.json")
    assert len(found.runs) == 1 and list(found.findings["code"]).count("counted_once") == 1


def test_a_folder_that_is_called_like_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ultra-disk-2019").mkdir()
    shutil.copy(FIO / "randrw.json", "ultra-disk-2019")
    with pytest.raises(InputError, match=r"is a folder here and the name of a dataset; write \./ultra"):
        Dataset.load("ultra-disk-2019")
    assert Dataset.load("./ultra-disk-2019").runs["job"].tolist() == ["mix"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "-: nothing came through standard input; did the program before the pipe fail?"),
        (b"no json", "not_recognised"),
        ((FIO / "randrw.json").read_bytes(), "fio output from standard input stdin ['raw/stdin']"),
    ],
    ids=["nothing", "junk", "fio"],
)
def test_standard_input(data: bytes, said: str, tmp_path: Path) -> None:
    code = (
        "import os, sys; sys.stdin = open(sys.argv[1])\n"
        "from azbenchlib import Dataset\n"
        "from azbenchlib.core.errors import InputError\n"
        "try: found = Dataset.load('-', '-')\n"
        "except InputError as error: sys.exit(print(error))\n"
        "told = found.manifest\n"
        "print(told.title, told.name, list(told.raw), *found.findings['code'])\n"
    )
    (tmp_path / "in").write_bytes(data)
    done = python(code, tmp_path / "in", env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0 and said in done.stdout, (done.stdout, done.stderr)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_an_import_is_a_dataset_that_says_the_same(results: Path, tmp_path: Path) -> None:
    (results / "notes.txt").unlink()
    found = Dataset.load(results, assumed=Assumed(SETUP), group_by="host")
    folder = importing.import_outputs(found, tmp_path / "sets" / "mine", title="<b>")
    again = Dataset.load(folder)
    assert again.manifest is not None
    assert (again.manifest.name, again.manifest.title) == ("mine", "<b>")
    assert series(again) == series(found) and again.raw is None
    for name, digest in again.manifest.raw.items():
        assert sha256(results / Path(name).name) == digest
    assert [path.name for path in folder.parent.iterdir()] == ["mine"]
    with pytest.raises(InputError, match="a dataset of that name is there already"):
        importing.import_outputs(found, folder)
    with pytest.raises(InputError, match="is a dataset already; copy its folder"):
        importing.import_outputs(again, tmp_path / "sets" / "other")


def test_another_process_sees_the_same(
    results: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where this user has no cache, so that the raw files are read there."""
    found = Dataset.load(results, group_by="host")
    for cache in (tmp_path / "cache", Path("/dev/null")):
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
        with importing.as_folders([found]) as (folder,):
            assert series(Dataset.load(folder)) == {"host h0": 3, "host h1": 3}
        assert not folder.exists()


def test_a_title_names_several_tools_as_a_list(tmp_path: Path) -> None:
    runs = pd.DataFrame({"tool": ["fio", "iozone", "fio", "diskspd"]})
    files = {"a": Path("a"), "b": Path("b")}
    assert derived._title(runs, files, [str(tmp_path)]).startswith("fio, iozone and diskspd outputs in ")
