"""A folder for temporary files that is full is named, with what to do, whatever a verb was at."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AZBENCH = Path(sys.executable).parent / "azbench"
GOOD = ROOT / "tests" / "data" / "fio" / "randrw.json"
ADVICE = "TMPDIR=DIR"


@pytest.fixture
def full() -> Iterator[Path]:
    """A file system of 300 KiB of which 8 are free; its path is short enough for a socket."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts a file system")
    with tempfile.TemporaryDirectory(prefix="az-") as home:
        folder = Path(home, "tiny")
        folder.mkdir()
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", folder], capture_output=True
        )
        if made.returncode:
            pytest.skip(f"no tmpfs can be mounted here: {made.stderr.decode().strip()}")
        (folder / "other").write_bytes(bytes(292 * 1024))
        yield folder
        subprocess.run(["umount", folder], check=True)


def told(full: Path, *words: object, data: bytes = b"") -> str:
    environment = {**os.environ, "TMPDIR": str(full), "XDG_CACHE_HOME": str(full.parent / "cache")}
    done = subprocess.run(
        [AZBENCH, *map(str, words)], cwd=full.parent, env=environment, input=data, capture_output=True
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr.decode(), done.stderr
    (sentence,) = [line for line in done.stderr.decode().splitlines() if line.startswith("azbench: ")]
    return sentence


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_are_written_all_or_none(full: Path, kind: str) -> None:
    (full / "out").mkdir()
    (full / "out" / f"runs.{kind}").write_bytes(b"from before")
    for n_free in (0, 16384):
        (full / "other").write_bytes(bytes(296 * 1024 - n_free))
        words = [AZBENCH, "read", GOOD, "--format", kind, "-o", full / "out"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 2 and f"{full / 'out'}: cannot be written: No space" in done.stderr
        assert [file.name for file in (full / "out").iterdir()] == [f"runs.{kind}"]
        assert (full / "out" / f"runs.{kind}").read_bytes() == b"from before"


def test_standard_input_that_has_no_room(full: Path) -> None:
    said = told(full, "read", "-", data=GOOD.read_bytes() + bytes(900_000))
    assert str(full) in said and ADVICE in said


def test_a_report_that_has_no_room(full: Path) -> None:
    said = told(full, "report", GOOD, "-o", "page", "--format", "html")
    assert str(full) in said and ADVICE in said


@pytest.mark.slow
def test_a_query_whose_rest_has_no_room(full: Path) -> None:
    pytest.importorskip("duckdb")
    subprocess.run([AZBENCH, "collect", GOOD, "-o", full.parent / "lake"], check=True, capture_output=True)
    many = "SELECT a.range + b.range AS x FROM range(20000) a, range(2500) b ORDER BY x DESC"
    said = told(full, "query", full.parent / "lake", many)
    assert str(full) in said and ADVICE in said


@pytest.mark.fio
def test_an_emulated_disk_that_has_no_room(full: Path) -> None:
    (full.parent / "w.fio").write_text("[j]\nrw=randwrite\nbs=64k\nruntime=2\ntime_based\nsize=64m\n")
    said = told(full, "lab", "run", "--vm", "E8ds_v4", "--disk", "P30", "w.fio", "-o", "ds")
    assert str(full) in said and ADVICE in said
