"""Datasets: from files to tables, to disk and back, and several of them together."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from azbenchlib import dataset, manifest, schema
from azbenchlib.dataset import Dataset
from azbenchlib.errors import InputError, OutputError
from azbenchlib.manifest import Manifest

FIO = Path(__file__).parent / "data" / "fio"
SETUP = {
    "setup_id": "here",
    "environment": "local",
    "disks": [
        {"disk": "d", "role": "data", "host_caching": "None", "count": 2},
        {"disk": "e", "bursting": True},
    ],
}
MEASUREMENTS = """\
source_file,source_line,experiment,setup,quantity,stat,value,unit,rw
a.txt,1,{},{},iops,mean,{},IOPS,read
"""


def a_manifest(name: str = "n", *setups: dict) -> Manifest:
    return Manifest(name=name, title="t", about="a", measured="today", setups=list(setups or [SETUP]))


@pytest.fixture
def folder(tmp_path) -> Path:
    """A dataset folder: a fio run with its log, json+ of another, and published figures."""
    raw = tmp_path / "set" / "raw"
    raw.mkdir(parents=True)
    for name in ("randrw.json", "group_jsonplus.json", "failed_job.json"):
        shutil.copy(FIO / name, raw)
    shutil.copy(FIO / "rw_clat.1.log", raw / "randrw_clat.1.log")
    (raw / "p.csv").write_text(MEASUREMENTS.format("e1", "here", 100))
    manifest.save(raw.parent, a_manifest())
    return raw.parent


def assert_same(one: dict[str, pd.DataFrame], other: dict[str, pd.DataFrame]) -> None:
    assert list(one) == list(other) == list(schema.TABLES)
    for name in schema.TABLES:
        pd.testing.assert_frame_equal(one[name], other[name])


def assert_sound(found: Dataset) -> None:
    """Every table is as the registry says."""
    for name, described in schema.TABLES.items():
        dtypes = {column: str(dtype) for column, dtype in found.tables[name].dtypes.items()}
        assert dtypes == {column: entry.dtype for column, entry in described.columns.items()}, name
        schema.check(name, found.tables[name])


def test_a_file_by_path_or_name():
    found = Dataset.read(FIO / "randrw.json")
    assert_sound(found)
    assert found.runs["job"].tolist() == ["mix"]
    assert found.runs["source_path"].tolist() == [str(FIO / "randrw.json")]
    assert_same(found.tables, Dataset.read(str(FIO / "randrw.json")).tables)


def test_a_folder_with_folders_hidden_files_and_loops(tmp_path):
    for place in ("b/deep", "a", ".cache", "b"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    shutil.copy(FIO / "randrw.json", tmp_path / "b" / "deep")
    shutil.copy(FIO / "unified_both.json", tmp_path / "a")
    shutil.copy(FIO / "failed_job.json", tmp_path / ".cache")
    shutil.copy(FIO / "failed_job.json", tmp_path / "a" / ".failed.json.part")
    (tmp_path / "b" / "round").symlink_to(tmp_path)
    (tmp_path / "b" / "gone.json").symlink_to(tmp_path / "nowhere")
    found = Dataset.read(tmp_path)
    assert_sound(found)
    assert found.runs["job"].tolist() == ["uni", "mix"]
    assert found.findings.empty


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: no such file or folder"):
        Dataset.read(FIO / "randrw.json", tmp_path / "nowhere")
    with pytest.raises(InputError, match="the folder holds no file"):
        Dataset.read(tmp_path)
    with pytest.raises(InputError, match="at least one"):
        Dataset.read()
    (tmp_path / ".hidden").touch()
    with pytest.raises(InputError, match="the folder holds no file"):
        Dataset.read(tmp_path)


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "locked.json").touch()
    monkeypatch.setattr(Path, "read_bytes", refuse)  # root may read everything
    with pytest.raises(InputError, match=r"locked\.json: cannot be read: Permission denied"):
        Dataset.read(tmp_path)


def test_an_unknown_file_is_told_and_the_others_are_read(tmp_path):
    shutil.copy(FIO / "randrw.json", tmp_path)
    (tmp_path / "photo.jpg").write_bytes(bytes(range(256)))
    (tmp_path / "empty").touch()
    found = Dataset.read(tmp_path)
    assert found.runs["job"].tolist() == ["mix"]
    assert found.findings["code"].tolist() == ["not_recognised"] * 2
    assert found.findings["source_path"].tolist() == [str(tmp_path / name) for name in ("empty", "photo.jpg")]


def test_a_dataset_knows_its_tables_by_name():
    found = Dataset.read(FIO / "randrw.json")
    assert found.results is found.tables["results"]
    with pytest.raises(AttributeError, match="no table latencies; it has: setups, disks, runs"):
        found.latencies  # noqa: B018


@pytest.mark.parametrize("separately", [False, True])
def test_a_log_belongs_to_the_json_beside_it(tmp_path, separately):
    shutil.copy(FIO / "randrw.json", tmp_path / "a.json")
    for name in ("clat.1", "clat.2"):
        shutil.copy(FIO / "rw_clat.1.log", tmp_path / f"a_{name}.log")
    paths = sorted(tmp_path.iterdir(), reverse=True) if separately else [tmp_path]
    found = Dataset.read(*paths)
    assert_sound(found)
    mine = found.samples[found.samples["run_id"] == found.runs["run_id"][0]]
    lines = len((FIO / "rw_clat.1.log").read_text().splitlines())
    assert len(mine) == lines
    assert len(found.samples) == 2 * lines  # the second job has no JSON
    assert found.findings["source_path"].tolist() == [str(tmp_path / "a_clat.2.log")]


def test_a_dataset_folder(folder):
    found = Dataset.read(folder)
    assert_sound(found)
    assert found.manifest == manifest.load(folder)
    assert found.setups["setup_id"].tolist() == ["here"]
    assert found.disks["disk"].tolist() == ["d", "e"]
    assert set(found.runs["setup_id"]) == {"here"}  # the only one
    assert set(found.runs["source_path"]) == {f"raw/{p.name}" for p in (folder / "raw").iterdir()} - {
        "raw/randrw_clat.1.log"
    }
    assert set(found.samples["run_id"]) <= set(found.runs["run_id"])
    assert "raw_changed" not in set(found.findings["code"])


def test_a_dataset_without_raw_output_is_refused(tmp_path):
    manifest.save(tmp_path, a_manifest())
    with pytest.raises(InputError, match="raw: no raw output"):
        Dataset.read(tmp_path)


def test_saved_and_loaded_is_the_same(folder):
    fresh = Dataset.read(folder)
    assert fresh.save(folder) == folder
    written = sorted(path.name for path in (folder / "tables").iterdir())
    assert written == sorted([*(f"{name}.parquet" for name in schema.TABLES), dataset.STAMP])
    loaded = Dataset.load(folder)
    assert_sound(loaded)
    assert_same(loaded.tables, fresh.tables)
    assert loaded.manifest == fresh.manifest


def test_load_takes_the_tables_that_were_made_before(folder):
    found = Dataset.read(folder)
    marked = found.tables | {"results": found.results.assign(ios=12345)}
    Dataset(marked, found.manifest).save(folder)
    assert set(Dataset.load(folder).results["ios"]) == {12345}


def spoil_raw(folder: Path) -> None:
    (folder / "raw" / "p.csv").write_text(MEASUREMENTS.format("e1", "here", 7))


def add_raw(folder: Path) -> None:
    (folder / "raw" / "q.csv").write_text(MEASUREMENTS.format("e2", "here", 7))


def edit_manifest(folder: Path) -> None:
    manifest.save(folder, a_manifest("n", SETUP | {"label": "renamed"}))


def lose_table(folder: Path) -> None:
    (folder / "tables" / "runs.parquet").unlink()


def spoil_table(folder: Path) -> None:
    (folder / "tables" / "runs.parquet").write_bytes(b"PAR1")


def lose_column(folder: Path) -> None:
    pd.DataFrame({"elsewhere": [1]}).to_parquet(folder / "tables" / "runs.parquet")


def spoil_stamp(folder: Path) -> None:
    (folder / "tables" / dataset.STAMP).write_text("{")


@pytest.mark.parametrize(
    "change", [spoil_raw, add_raw, edit_manifest, lose_table, spoil_table, lose_column, spoil_stamp]
)
def test_stale_or_damaged_tables_are_made_again(folder, change):
    found = Dataset.read(folder)
    marked = found.tables | {"results": found.results.assign(ios=12345)}
    Dataset(marked, found.manifest).save(folder)
    change(folder)
    loaded = Dataset.load(folder)
    assert 12345 not in set(loaded.results["ios"])
    assert_same(loaded.tables, Dataset.read(folder).tables)


def test_raw_files_that_are_not_as_recorded_are_told(folder):
    spoil_raw(folder)
    (folder / "raw" / "group_jsonplus.json").unlink()
    found = Dataset.load(folder).findings.set_index("code")
    assert found.loc["raw_changed", "severity"] == "warning"
    assert str(folder / "raw" / "p.csv") in found.loc["raw_changed", "message"]
    assert found.loc["raw_missing", "severity"] == "error"
    assert str(folder / "raw" / "group_jsonplus.json") in found.loc["raw_missing", "message"]


def test_no_dataset_is_saved_without_a_manifest(tmp_path):
    with pytest.raises(InputError, match="without a manifest"):
        Dataset.read(FIO / "randrw.json").save(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_unwritable_place_is_named_and_left_as_it_was(folder, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="cannot be written"):
        Dataset.read(folder).save(tmp_path / "file" / "set")
    with pytest.raises(OutputError, match="cannot be written"):
        dataset.write_tables(Dataset.read(folder).tables, tmp_path / "file", "csv")
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "set"]


def test_a_failed_save_leaves_no_stamp(folder):
    (folder / "tables" / "runs.parquet").mkdir(parents=True)
    with pytest.raises(OutputError, match=r"runs\.parquet"):
        Dataset.read(folder).save(folder)
    assert not (folder / "tables" / dataset.STAMP).exists()
    assert not list((folder / "tables").glob(".*"))
    assert len(Dataset.load(folder).runs) == len(Dataset.read(folder).runs)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_written_out_are_read_back(folder, tmp_path, kind):
    """Also the string None, which pandas takes for missing unless told otherwise."""
    found = Dataset.read(folder)
    written = dataset.write_tables(found.tables, tmp_path / "out", kind)
    assert [path.name for path in written] == [f"{name}.{kind}" for name in schema.TABLES]

    def read_back(path: Path) -> pd.DataFrame:
        if kind == "parquet":
            return pd.read_parquet(path)
        return pd.read_csv(io.BytesIO(path.read_bytes()), keep_default_na=False, na_values=[""])

    tables = {path.stem: schema.conform(path.stem, read_back(path)) for path in written}
    assert tables["disks"]["host_caching"].tolist()[0] == "None"
    assert tables["disks"]["host_caching"].isna().tolist() == [False, True]
    assert_same(tables, found.tables)


def test_the_same_file_twice_counts_once(tmp_path):
    shutil.copy(FIO / "group_jsonplus.json", tmp_path / "one.json")
    shutil.copy(FIO / "group_jsonplus.json", tmp_path / "two.json")
    for name in ("one", "two"):
        shutil.copy(FIO / "rw_clat.1.log", tmp_path / f"{name}_clat.1.log")
    once, twice = Dataset.read(tmp_path / "one.json", tmp_path / "one_clat.1.log"), Dataset.read(tmp_path)
    assert_sound(twice)
    for name in set(schema.TABLES) - {"findings"}:
        pd.testing.assert_frame_equal(twice.tables[name], once.tables[name])
    assert twice.findings["code"].tolist() == ["counted_once"]
    assert str(tmp_path / "two.json") in twice.findings["message"][0]


def test_a_log_twice_counts_once_without_its_json(tmp_path):
    for name in ("a", "b"):
        shutil.copy(FIO / "rw_clat.1.log", tmp_path / f"{name}_clat.1.log")
    assert not Dataset.read(tmp_path).samples.duplicated(list(schema.TABLES["samples"].key)).any()


def test_counting_once_loses_no_finding(tmp_path):
    """Two rows of one file cannot be read, and a copy lies beside it."""
    text = MEASUREMENTS.format("e1", "here", 100) + "too,short\nshort,too\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(text)
    codes = Dataset.read(tmp_path).findings["code"].value_counts().to_dict()
    assert codes == {"row_not_read": 4, "counted_once": 1}


def other_dataset(folder: Path, name: str, value: int, *setups: dict) -> Path:
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / "p.csv").write_text(MEASUREMENTS.format("e1", "here", value))
    manifest.save(folder, a_manifest(name, *setups))
    return folder


@pytest.mark.parametrize(
    ("names", "ids"), [(("a", "b"), ["a/here", "b/here"]), (("a", "a"), ["a/here", "a-2/here"])]
)
def test_setups_of_two_datasets_stay_apart(tmp_path, names, ids):
    first = other_dataset(tmp_path / "1", names[0], 1)
    second = other_dataset(tmp_path / "2", names[1], 2, SETUP, {"setup_id": "mine", "environment": "lab"})
    found = Dataset.read(first, second)
    assert_sound(found)
    assert found.manifest is None
    assert found.setups["setup_id"].tolist() == [*ids, "mine"]
    assert found.disks["setup_id"].tolist() == [ids[0]] * 2 + [ids[1]] * 2
    assert found.runs["setup_id"].tolist() == ids
    assert found.results["iops"].tolist() == [1, 2]


def test_a_dataset_beside_a_copy_of_itself_is_one(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    found = Dataset.read(folder, tmp_path / "copy")
    assert_sound(found)
    alone = Dataset.read(folder)
    assert found.setups["setup_id"].tolist() == ["n/here"]
    for name in ("results", "percentiles", "bins", "samples", "published"):
        pd.testing.assert_frame_equal(found.tables[name], alone.tables[name])


def test_a_dataset_beside_a_loose_file_keeps_its_manifest(folder):
    found = Dataset.read(FIO / "unified_both.json", folder)
    assert_sound(found)
    assert found.manifest == manifest.load(folder)
    assert found.runs["setup_id"].isna().tolist() == [True] + [False] * (len(found.runs) - 1)


def test_merging_one_is_that_one():
    found = Dataset.read(FIO / "randrw.json")
    assert Dataset.merge([found]) is found
    with pytest.raises(InputError, match="at least one"):
        Dataset.merge([])


def test_a_run_has_the_same_name_wherever_it_lies(tmp_path):
    shutil.copy(FIO / "randrw.json", tmp_path / "elsewhere.out")
    here, there = Dataset.read(FIO / "randrw.json"), Dataset.read(tmp_path / "elsewhere.out")
    assert here.runs["run_id"].tolist() == there.runs["run_id"].tolist()


def test_resolve_by_path_and_by_name(folder, tmp_path):
    home, empty = tmp_path / "home", tmp_path / "empty"
    shutil.copytree(folder, home / "mine")
    empty.mkdir()
    assert dataset.resolve(str(folder), []) == folder
    assert dataset.resolve("mine", [empty, home]) == home / "mine"
    shutil.copytree(folder, empty / "mine")
    assert dataset.resolve("mine", [empty, home]) == empty / "mine"


def test_resolve_lists_what_there_is(folder, tmp_path):
    for name in ("b", "a"):
        shutil.copytree(folder, tmp_path / "home" / name)
    (tmp_path / "home" / "no-dataset").mkdir()
    with pytest.raises(InputError, match=r"no dataset 'c': .* the known names are a, b$"):
        dataset.resolve("c", iter([tmp_path / "home", tmp_path / "nowhere"]))
    with pytest.raises(InputError, match="the known names are none"):
        dataset.resolve("c", [])


def test_records_of_a_dataset_are_json(folder):
    tables = {name: schema.records(rows) for name, rows in Dataset.read(folder).tables.items()}
    back = json.loads(json.dumps(tables, allow_nan=False))
    assert back == tables
    assert back["disks"][0]["host_caching"] == "None"
    assert not any(
        isinstance(value, np.generic) for rows in tables.values() for row in rows for value in row.values()
    )
