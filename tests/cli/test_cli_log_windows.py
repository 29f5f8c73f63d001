"""`azbench read --window`: what it prints, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from programs import azbench

LOG = Path(__file__).parents[1] / "data" / "fio" / "rw_clat.1.log"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = [f"{t}, {1000 + t}, {t % 2}, 4096, 0" for t in range(2000)]
    path = tmp_path / "a_clat.1.log"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_csv_has_a_row_a_window_and_direction(log):
    done = azbench(
        "read", log, "--window", "1s", "--percentiles", "50,99.9", "--format", "csv", "--log-unit", "ns"
    )
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.splitlines() == [
        "t_s,ddir,n,p50_us,p99.9_us",
        "0,read,500,1.498,1.998",
        "0,write,500,1.499,1.999",
        "1,read,500,2.498,2.998",
        "1,write,500,2.499,2.999",
    ]


def test_several_kinds_have_a_column_and_json_always_says_the_kind(log):
    (log.parent / "a_lat.1.log").write_text("1, 9000, 0, 4096, 0\n")
    done = azbench("read", log.parent, "--window", "1s", "--format", "csv", "--log-unit", "ns")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["lat_kind"] for row in rows] == ["clat", "clat", "lat", "clat", "clat"]
    found = json.loads(azbench("read", log, "--window", "500ms", "--format", "json").stdout)
    assert (found["version"], found["window_s"], len(found["windows"])) == (1, 0.5, 8)
    assert found["windows"][0]["lat_kind"] == "clat"


def test_a_table_is_for_people(log):
    done = azbench("read", log, "--window", "1s", "--log-unit", "ns")
    assert done.stdout.splitlines()[0].split() == [
        "From",
        "(s)",
        "Direction",
        "I/Os",
        "p50",
        "p95",
        "p99",
        "p99.9",
    ]
    assert "1.5 µs" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--window", "1"], "'1' is not a duration"),
        (["--window", "0.5ms"], "whole ms"),
        (["--window", "1s", "--percentiles", "50;99"], "--percentiles '50;99'"),
        (["--window", "1s", "--percentiles", "0"], "above 0 and at most 100"),
        (["--window", "1s", "--wide"], "--wide"),
        (["--window", "1s", "--log-unit", "ms"], "'ms' is not one of: us, ns"),
    ],
)
def test_one_sentence_instead_of_a_table(log, arguments, told):
    done = azbench("read", log, *arguments)
    assert done.returncode == 2 and done.stdout == "" and told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_logs_alone_are_told_instead_of_an_empty_table(log, tmp_path):
    told = azbench("read", str(log)).stdout
    assert " ".join(told.split()) == (
        "2,000 samples of logs were read, and no output that tells the rates of their runs. "
        "--window 1s prints percentiles of latency by time, unless the samples are averages."
    )
    rates = tmp_path / "alone_iops.1.log"
    rates.write_text("1000, 500, 0, 0\n2000, 510, 0, 0\n3000, 490, 0, 0\n")
    told = azbench("read", str(rates)).stdout
    assert told.startswith("3 samples of logs were read") and "--window" not in told


def test_no_large_library_is_loaded():
    """A log of any length is read by numpy alone."""
    code = (
        "import atexit, sys\n"
        "large = {'pandas', 'pyarrow', 'scipy'}\n"
        "atexit.register(lambda: print(sorted(large & {*sys.modules})))\n"
        "sys.argv = ['azbench', 'read', sys.argv[1], '--window', '1s', '--format', 'csv']\n"
        "from azbenchlib.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, LOG], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
