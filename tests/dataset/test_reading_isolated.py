"""One file never ends the reading of the others, whatever it holds, is called or is."""

import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.dataset.dataset import Dataset, write_tables
from azbenchlib.dataset.read import read_files
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

FIO = Path(__file__).parents[1] / "data" / "fio"


def beside_a_good_one(folder: Path, **others: bytes) -> Dataset:
    """What is read of a folder with a good output and these files."""
    shutil.copy(FIO / "randrw.json", folder / "good.json")
    for name, content in others.items():
        (folder / name).write_bytes(content)
    found = Dataset.read(folder)
    assert "mix" in found.runs["job"].tolist()
    write_tables(found.tables, folder / "out", "parquet")
    write_tables(found.tables, folder / "out", "csv")
    printed = {name: schema.records(table) for name, table in found.tables.items()}
    json.dumps(printed, allow_nan=False, ensure_ascii=False).encode()
    return found


def errors(found: Dataset) -> dict[str, str]:
    """Messages of the findings of severity error, by the name of their file."""
    serious = found.findings[found.findings["severity"] == "error"]
    return {Path(row.source_path).name: row.message for row in serious.itertuples()}


TEXT = "{job}: (groupid=0, jobs=1): err= 0: pid=7: x\n  read: IOPS=5, BW={bw} (20kB/s)({moved}/2000msec)\n"


@pytest.mark.parametrize(
    ("moved", "bw"), [("999999999999999999EiB", "20KiB/s"), ("40KiB", "999999999999999999EiB/s")]
)
def test_a_figure_that_no_column_holds_is_left_out_and_named(tmp_path, moved, bw):
    found = beside_a_good_one(tmp_path, bad=TEXT.format(job="j", moved=moved, bw=bw).encode())
    assert "results." in errors(found)["bad"] and "left out" in errors(found)["bad"]
    assert found.results.set_index("run_id").loc[_run(found, "j"), "iops"] == 5


def _run(found: Dataset, job: str) -> str:
    return str(found.runs.loc[found.runs["job"] == job, "run_id"].iloc[0])


ROWS = [
    ("results", {"ddir": "read", "io_bytes": 2**63, "iops": 1.0}, "io_bytes"),
    ("results", {"ddir": "read", "ios": float("inf"), "iops": 1.0}, "ios"),
    ("results", {"ddir": "read", "iops": float("inf"), "ios": 1}, "iops"),
    ("results", {"ddir": "read", "iops": 1e300, "ios": 1}, "iops"),
    ("results", {"ddir": "read", "iops": -1.0, "ios": 1}, "iops"),
    ("runs", {"job": "a\ud800b"}, "job"),
    ("runs", {"job": "x" * 10**7}, "job"),
    ("runs", {"group_id": 10**5000}, "group_id"),
    ("runs", {"level": "sideways"}, "level"),
    ("latency", {"ddir": "read", "lat_kind": "clat", "lat_min_us": [1]}, "lat_min_us"),
]


@pytest.mark.parametrize(
    ("table", "row", "column"), ROWS, ids=[f"{row[2]}-{place}" for place, row in enumerate(ROWS)]
)
def test_rows_keep_what_fits_and_a_finding_names_the_rest(table, row, column):
    records = Records(Source("f.json", b""))
    records.add(table, run_id="a", **row)
    tables = records.frames()
    assert tables[table][column].isna().tolist() == [True]
    (finding,) = schema.records(tables["findings"])
    assert (finding["severity"], finding["code"]) == ("error", "value_out_of_range")
    assert f"f.json: {table}.{column}: value" in finding["message"] and len(finding["message"]) < 1000
    assert len(records.frames()["findings"]) == 1


def test_a_row_whose_key_does_not_fit_is_left_out():
    records = Records(Source("f.json", b""))
    for ddir in ("read", "sideways", "write"):
        records.add("results", run_id="a", ddir=ddir, iops=1.0)
    tables = records.frames()
    assert tables["results"]["ddir"].tolist() == ["read", "write"]
    assert "results.ddir: value 'sideways'" in tables["findings"]["message"][0]


def test_a_frame_keeps_what_fits_too():
    records = Records(Source("x_bw.1.log", b""))
    given = {"run_id": "a", "ddir": "read", "metric": "iops", "seq": [0, 1], "object": ["d", "\udcff"]}
    records.add_frame("samples", pd.DataFrame({**given, "value": [1.0, float("inf")]}, dtype=object))
    tables = records.frames()
    assert tables["samples"]["object"].isna().tolist() == [False, True]
    assert tables["samples"]["value"].isna().tolist() == [False, True]
    assert tables["findings"]["code"].tolist() == ["value_out_of_range"] * 2


def test_messages_are_short_and_can_be_written():
    records = Records(Source("f\udcff.json", b""))
    records.finding(Code.NOT_READ, "a\ud800" + "b" * 10**6, "c\ud800")
    (finding,) = schema.records(records.frames()["findings"])
    assert finding["source_path"] == "f\\xff.json"
    assert finding["message"].startswith("a\\ud800bbb") and len(finding["message"]) < 5000


def test_a_name_that_is_no_utf_8_is_shown_escaped(tmp_path):
    name = os.fsdecode(b"caf\xe9.json")
    shutil.copy(FIO / "unified_both.json", tmp_path / name)
    (tmp_path / os.fsdecode(b"\xff\xfe")).write_bytes(b"no format")
    log = tmp_path / os.fsdecode(b"caf\xe9_bw.1.log")
    log.write_text("100, 5, 0, 4096\n200, 6, 0, 4096\n")
    found = beside_a_good_one(tmp_path)
    assert str(tmp_path / "caf\\xe9.json") in found.runs["source_path"].tolist()
    assert len(found.samples) == 2
    assert str(tmp_path / "\\xff\\xfe") in found.findings["source_path"].tolist()


@pytest.mark.parametrize("loop", [("round", "round"), ("one", "two", "one"), (*map(str, range(60)), "0")])
def test_a_loop_of_links_is_named(tmp_path, loop):
    for link, to in pairwise(loop):
        (tmp_path / link).symlink_to(to)
    found = beside_a_good_one(tmp_path)
    assert all("loop of links" in errors(found)[link] for link in loop)
    assert "loop of links" in Dataset.read(tmp_path / loop[0]).findings["message"][0]


def test_folders_as_deep_as_the_system_allows_are_read(tmp_path):
    place = os.open(tmp_path, os.O_RDONLY)
    for depth in range(2500):  # deeper than the recursion limit, and than any path can be named
        os.mkdir("d", dir_fd=place)
        deeper = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = deeper
        if depth == 1500:
            file = os.open("deep.json", os.O_CREAT | os.O_WRONLY, dir_fd=place)
            os.write(file, (FIO / "unified_both.json").read_bytes())
            os.close(file)
    os.close(place)
    try:
        found = beside_a_good_one(tmp_path)
        assert sorted(found.runs["job"]) == ["mix", "uni"]
        assert any("File name too long" in message for message in errors(found).values())
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


def test_a_file_that_vanishes_is_named_also_when_it_is_a_log(tmp_path):
    shutil.copy(FIO / "randrw.json", tmp_path / "good.json")
    names = ["good.json", "gone.json", "gone_bw.1.log"]
    tables = read_files([(tmp_path / name, name) for name in names])
    assert tables["runs"]["job"].tolist() == ["mix"]
    told = tables["findings"].set_index("source_path")["message"]
    assert all("No such file" in told[name] for name in names[1:])


def test_a_log_that_vanishes_between_two_looks_is_named(tmp_path, monkeypatch):
    shutil.copy(FIO / "randrw.json", tmp_path / "good.json")
    log = tmp_path / "x_bw.1.log"
    log.write_text("100, 5, 0, 4096\n" * 5)

    def vanish(*_: object) -> str:
        log.unlink()
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(Source, "raw_blocks", vanish)
    found = Dataset.read(tmp_path)
    assert found.runs["job"].tolist() == ["mix"]
    assert "No such file" in errors(found)["x_bw.1.log"]


def test_what_no_file_is_and_what_says_it_is_empty_are_never_waited_for(tmp_path):
    shutil.copy(FIO / "randrw.json", tmp_path / "good.json")
    os.mkfifo(tmp_path / "pipe_bw.1.log")
    (tmp_path / "folder.json").mkdir()
    for special in ("/dev/zero", "/dev/null", "/proc/kmsg", str(tmp_path / "pipe_bw.1.log")):
        found = Dataset.read(tmp_path / "good.json", special)
        assert found.runs["job"].tolist() == ["mix"]
        assert special in found.findings["source_path"].tolist()


# Root that may not pass over permissions: another user might reach neither this checkout nor its Python.
AS_OTHERS = [
    "setpriv",
    *(f"--{kind}=-dac_override,-dac_read_search" for kind in ("bounding-set", "inh-caps")),
]


def test_what_may_not_be_read_is_named(tmp_path):
    prefix = [] if os.getuid() else AS_OTHERS
    if prefix and (shutil.which("setpriv") is None or subprocess.run([*prefix, "true"]).returncode):
        pytest.skip("root cannot give up here what it may: no setpriv, or one that may not")
    shutil.copy(FIO / "randrw.json", tmp_path / "good.json")
    for name in ("locked.json", "locked_bw.1.log"):
        (tmp_path / name).write_bytes(b"x")
        (tmp_path / name).chmod(0)
    (tmp_path / "shut").mkdir(mode=0)
    script = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from azbenchlib.dataset.dataset import Dataset\n"
        "found = Dataset.read(sys.argv[1])\n"
        "told = found.findings.query('code == \"not_read\"')['message']\n"
        "print(*found.runs['job'], *sorted(told), sep='\\n')"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [*prefix, sys.executable, "-c", script, str(tmp_path), root],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout, done.stderr
    job, *messages = done.stdout.splitlines()
    assert job == "mix"
    assert [Path(message.partition(":")[0]).name for message in messages] == [
        "locked.json",
        "locked_bw.1.log",
        "shut",
    ]
    assert all("Permission denied" in message for message in messages)


def test_a_path_that_cannot_be_asked_for_is_refused_in_words(tmp_path):
    with pytest.raises(InputError, match="File name too long"):
        Dataset.read(tmp_path / ("x" * 5000))
