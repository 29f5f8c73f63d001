"""What lies in an archive is read as what lies in a folder, in bounded memory, and damage is a sentence."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from support.wrappings import tar_of, zip_of, zstd_of

from azbenchlib.core.units import MIB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.importing import import_outputs
from azbenchlib.dataset.read import read_files
from azbenchlib.formats import registry
from azbenchlib.formats.source import LARGEST_SOURCE, Source

DATA = Path(__file__).parents[1] / "data"
JSON = (DATA / "fio" / "randrw.json").read_bytes()
WITH_LOGS = ("hist.json", "hist_clat_hist.1.log", "grouped", "shared_logs")
NOT_OF_FILES = ["source_path"]


def _files() -> dict[str, bytes]:
    found = (path for name in WITH_LOGS for path in [DATA / "fio" / name, *(DATA / "fio" / name).rglob("*")])
    return {path.relative_to(DATA / "fio").as_posix(): path.read_bytes() for path in found if path.is_file()}


def _read(folder: Path, files: dict[str, bytes]) -> dict[str, pd.DataFrame]:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    tables = read_files([(folder / name, name) for name in files])
    return {table: rows.drop(columns=NOT_OF_FILES, errors="ignore") for table, rows in tables.items()}


def _sentences(data: bytes, name: str = "x") -> list[str]:
    findings = registry.read(Source(name, data))["findings"]
    return [f"{row.code}: {row.message}" for row in findings.itertuples()]


@pytest.mark.parametrize("mode", ["zip", "w", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.sampled(2)
def test_logs_in_an_archive_belong_to_the_runs_beside_them(tmp_path: Path, mode: str) -> None:
    files = _files()
    archive = zip_of(files) if mode == "zip" else tar_of(files, mode)
    bare = _read(tmp_path, files)
    packed = _read(tmp_path, {"results": archive})
    for table in ("runs", "results", "samples", "bins", "percentiles"):
        assert bare[table].equals(packed[table]), table
    assert len(packed["samples"])
    assert len(packed["bins"])


@pytest.mark.parametrize(
    ("suffix", "packed"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_logs_belong_to_the_runs_beside_them(
    tmp_path: Path, suffix: str, packed: Callable[[bytes], bytes]
) -> None:
    files = _files()
    bare = _read(tmp_path, files)
    compressed = _read(tmp_path, {f"{name}{suffix}": packed(data) for name, data in files.items()})
    for table in ("runs", "results", "samples", "bins"):
        assert bare[table].equals(compressed[table]), table


def test_a_run_counts_once_alone_and_in_an_archive(tmp_path: Path) -> None:
    files = {"fio.json": JSON, "all.tgz": tar_of({"a/fio.json": JSON}, "w:gz"), "fio.json.zst": zstd_of(JSON)}
    tables = _read(tmp_path, files)
    assert len(tables["runs"]) == 1
    assert (tables["findings"]["code"] == "counted_once").sum() == 2


def test_members_are_called_by_archive_and_name(tmp_path: Path) -> None:
    (tmp_path / "r.zip").write_bytes(zip_of({"../../etc/fio.json": JSON, "readme": b"hello"}))
    tables = read_files([(tmp_path / "r.zip", "r.zip")])
    assert tables["runs"]["source_path"].tolist() == ["r.zip/etc/fio.json"]
    (said,) = tables["findings"]["message"]
    assert said.endswith("these files in it are in no known format: r.zip/readme")
    assert [path.name for path in tmp_path.rglob("*")] == ["r.zip"]


def test_an_archive_stays_what_it_is_in_a_dataset(tmp_path: Path) -> None:
    archive = tar_of({name: data for name, data in _files().items() if name.startswith("hist")}, "w:gz")
    (tmp_path / "r.tgz").write_bytes(archive)
    folder = import_outputs(Dataset.load(tmp_path / "r.tgz"), tmp_path / "kept")
    assert [path.name for path in (folder / "raw").rglob("*")] == ["r.tgz"]
    assert (folder / "raw" / "r.tgz").read_bytes() == archive
    kept = Dataset.load(folder)
    assert len(kept.runs) == 1
    assert len(kept.tables["bins"])


def test_a_spreadsheet_is_no_archive() -> None:
    for name in ("workbook.xlsx", "auto.xls"):
        tables = registry.read(Source(name, (DATA / "iozone" / name).read_bytes()))
        assert len(tables["runs"])
        assert "unwrapped" not in tables["findings"]["code"].tolist()


def _deep() -> bytes:
    data = JSON
    for _ in range(6):
        data = zip_of({"a": data})
    return data


def _encrypted() -> bytes:
    data = bytearray(zip_of({"a.json": JSON}))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


BOMB = b" " * (LARGEST_SOURCE + MIB)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: gzip.compress(BOMB, 1), "unpacks to more than 256 MiB"),
        (lambda: zip_of({"a": BOMB[: 150 * MIB], "b": BOMB[: 150 * MIB]}), "unpacks to more than 256 MiB"),
        (lambda: zstd_of(BOMB), "unpacks to more than 256 MiB"),
        (lambda: tar_of({f"{n}": b"x" for n in range(10_001)}, "w"), "more than 10,000 files"),
        (lambda: zip_of({f"{n:0300}": b"" for n in range(15_000)}), "more than 10,000 files"),
        (_deep, "more than 3 archives are in each other"),
        (_encrypted, "it is encrypted"),
        (lambda: gzip.compress(JSON)[:-200], "it is damaged"),
        (lambda: zstd_of(JSON)[:200], "it is damaged"),
        (lambda: lzma.compress(JSON)[:200], "it is damaged"),
        (lambda: tar_of({"a": JSON}, "w")[:900], "it is damaged"),
        (lambda: zip_of({"a": JSON})[:-30], "it is damaged"),
        (lambda: b"7z\xbc\xaf\x27\x1c\0\4" + JSON, "packed by 7-Zip, which is not unpacked here"),
        (lambda: b"Rar!\x1a\x07\x01\0" + JSON, "packed by RAR, which is not unpacked here"),
    ],
)
@pytest.mark.sampled(9)
def test_what_cannot_be_unpacked_is_a_sentence(made: Callable[[], bytes], why: str) -> None:
    (said,) = _sentences(made())
    assert said.startswith("archive_not_read: x")
    assert why in said


def test_what_is_whole_before_the_damage_is_read() -> None:
    data = zip_of({"a.json": JSON, "b.json": JSON})
    place = data.index(b"b.json")
    broken = data[: place + 20] + bytes(50) + data[place + 70 :]
    tables = registry.read(Source("x", broken))
    assert tables["runs"]["source_path"].tolist() == ["x/a.json"]
    assert sorted(tables["findings"]["code"]) == ["archive_not_read", "unwrapped"]


def test_an_archive_without_an_output_is_a_file_that_nobody_knows() -> None:
    assert _sentences(zip_of({"a": b"hello", "b": b""})) == [
        "not_recognised: x: no file in it is in a known format: x/a"
    ]
    assert _sentences(b"") == ["empty_file: x: the file is empty"]
