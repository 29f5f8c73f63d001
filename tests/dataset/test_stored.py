"""Stored tables are a shortcut: they are taken where azbench made them here, and never believed of others."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from azbenchlib.core import schema
from azbenchlib.core.findings import Code
from azbenchlib.dataset import from_raw, manifest, stored
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.manifest import Manifest

FIO = Path(__file__).parents[1] / "data" / "fio"
MOST_BYTES = 1 << 30  # what a small dataset may take of memory, with all packages
BOMB_ROWS = 150_000_000

opened: list[str] = []


@pytest.fixture(autouse=True)
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of our own, and a note of each time that raw files are read."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    read_files = from_raw.read_files
    opened.clear()
    monkeypatch.setattr(from_raw, "read_files", lambda *a: opened.append("raw") or read_files(*a))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A dataset that was measured here: with tables and stamp."""
    place = tmp_path / "set"
    (place / "raw").mkdir(parents=True)
    for name in ("randrw.json", "group_jsonplus.json"):
        shutil.copy(FIO / name, place / "raw")
    setup = {"setup_id": "s", "environment": "local"}
    manifest.save(place, Manifest(name="n", title="t", about="a", measured="today", setups=[setup]))
    Dataset.read(place).save(place)
    opened.clear()
    return place


def foreign(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From now on this is another user, who has received the folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))


def table(folder: Path, name: str = "results") -> Path:
    return folder / "tables" / f"{name}.parquet"


def restamp(folder: Path, **changes: str) -> None:
    """Make the stamp say what the files are now, as who forges them would."""
    path = folder / "tables" / "from.json"
    stamp = json.loads(path.read_text()) | changes
    for name in schema.TABLES:
        data = table(folder, name).read_bytes()
        stamp["tables"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    path.write_text(json.dumps(stamp))


def halve(folder: Path) -> None:
    rows = pd.read_parquet(table(folder))
    rows.assign(iops=rows["iops"] / 2).to_parquet(table(folder), index=False)


def double(folder: Path) -> None:
    rows = pd.read_parquet(table(folder))
    pd.concat([rows, rows]).to_parquet(table(folder), index=False)


def same_length(folder: Path) -> None:
    data = bytearray(table(folder).read_bytes())
    data[len(data) // 2] ^= 1
    table(folder).write_bytes(data)


def assert_of_raw(folder: Path) -> pd.DataFrame:
    """What `load` and `read` give is what the raw files say; the findings on the stored tables."""
    honest = folder.parent / "honest"
    shutil.copytree(folder, honest)
    shutil.rmtree(honest / "tables")
    wanted = Dataset.read(honest)
    shutil.rmtree(honest)
    found, again = Dataset.load(folder), Dataset.read(folder)
    for name in set(schema.TABLES) - {"findings"}:
        pd.testing.assert_frame_equal(found.tables[name], wanted.tables[name])
        pd.testing.assert_frame_equal(again.tables[name], wanted.tables[name])
    told = found.findings[found.findings["code"] == Code.TABLES_CHANGED]
    pd.testing.assert_frame_equal(again.findings, found.findings)
    assert len(found.findings) == len(wanted.findings) + len(told)
    return told


def test_tables_that_were_made_here_are_taken(folder: Path) -> None:
    found = Dataset.load(folder)
    assert opened == []
    for name in schema.TABLES:
        pd.testing.assert_frame_equal(found.tables[name], Dataset.read(folder).tables[name])


@pytest.mark.parametrize("change", [halve, double, same_length])
@pytest.mark.parametrize("whose", ["mine", "received"])
@pytest.mark.parametrize("stamp", ["untouched", "rewritten"])
@pytest.mark.sampled(4)
def test_tables_that_are_not_what_raw_gives_are_told_and_made_again(
    folder: Path,
    change: Callable[[Path], None],
    whose: str,
    stamp: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if whose == "received":
        foreign(monkeypatch, tmp_path)
    change(folder)
    if stamp == "rewritten":
        restamp(folder)
    told = assert_of_raw(folder)
    assert told["severity"].tolist() == ["warning"]
    assert "tables/results.parquet" in told["message"].iloc[0]


def test_a_stamp_that_names_other_versions_makes_no_table_believed(folder: Path) -> None:
    halve(folder)
    for changes in ({"writer": "pandas 0"}, {"azbench": "0"}, {"raw": "{}"}):
        restamp(folder, **changes)
        assert assert_of_raw(folder).empty  # merely old


def test_a_received_dataset_is_read_once_and_known_then(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign(monkeypatch, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    first, second = Dataset.load(folder), Dataset.load(folder)
    assert opened == ["raw"]
    for name in schema.TABLES:
        pd.testing.assert_frame_equal(first.tables[name], second.tables[name])
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before  # nothing written


def test_a_dataset_that_was_moved_or_copied_is_still_known(folder: Path) -> None:
    shutil.copytree(folder, folder.parent / "copy")
    folder.rename(folder.parent / "moved")
    assert not Dataset.load(folder.parent / "copy").runs.empty
    assert not Dataset.load(folder.parent / "moved").runs.empty
    assert opened == []


def test_who_has_no_cache_reads_raw_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    for _ in range(2):
        Dataset.load(folder)
    assert opened == ["raw", "raw"]
    Dataset.read(folder).save(folder)


def test_a_finding_on_stored_tables_is_gone_when_they_are_written_anew(folder: Path) -> None:
    halve(folder)
    found = Dataset.load(folder)
    assert Code.TABLES_CHANGED in set(found.findings["code"])
    found.save(folder)
    assert Code.TABLES_CHANGED not in set(Dataset.load(folder).findings["code"])
    assert assert_of_raw(folder).empty


def test_what_is_remembered_does_not_grow_for_ever(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MOST_REMEMBERED", 4)
    memory = folder.parent / "cache" / "azbench" / "tables"
    for number in range(9):
        (memory / f"{number}").touch()
    Dataset.load(folder).save(folder)
    assert len(list(memory.iterdir())) <= 8
    opened.clear()
    Dataset.load(folder)
    assert opened == []


@pytest.mark.parametrize("stamp", ["untouched", "rewritten", "remembered"])
@pytest.mark.sampled(1)
def test_a_table_that_unpacks_to_gigabytes_is_not_unpacked(folder: Path, stamp: str) -> None:
    """A column of one repeated value: some hundred kilobytes that become more than a gigabyte."""
    repeated = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), pa.array([7]))
    rows = pa.table({"ios": pa.chunked_array([repeated] * (BOMB_ROWS // 1000))})
    with pq.ParquetWriter(table(folder), rows.schema, compression="zstd") as writer:
        writer.write_table(rows, row_group_size=50_000_000)
    assert table(folder).stat().st_size < 2_000_000
    if stamp != "untouched":
        restamp(folder)
    if stamp == "remembered":  # read before, by this user: what raw gives differs from it
        Dataset.load(folder)
    code = (
        "import resource, sys; from azbenchlib.dataset.dataset import Dataset\n"
        "resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))\n"
        "print(len(Dataset.load(sys.argv[1]).results))\n"
        # what getrusage tells begins with the parent's
        "status = dict(line.split(':') for line in open('/proc/self/status'))\n"
        "print(int(status['VmHWM'].split()[0]) * 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True
    )
    rows_found, peak_bytes = map(int, done.stdout.split())
    assert rows_found < 10
    assert peak_bytes < MOST_BYTES


def test_tables_without_a_column_that_was_added_since_are_made_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {name: [one for one in names if one != "fsync"] for name, names in stored.STORED_COLUMNS.items()}
    with monkeypatch.context() as then:
        then.setattr(stored, "STORED_COLUMNS", before)
        Dataset.read(folder).save(folder)
    pq.write_table(pq.read_table(table(folder, "runs")).drop_columns("fsync"), table(folder, "runs"))
    opened.clear()
    found = Dataset.load(folder)
    assert opened == ["raw"]
    assert (found.runs["fsync"] == 0).all() and found.findings["code"].ne("tables_changed").all()
