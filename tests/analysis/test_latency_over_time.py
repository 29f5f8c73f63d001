"""Latency over time of jobs that ran together: one line, not a step from one job to the next."""

import json
from pathlib import Path

import pytest

from azbenchlib.analysis.grouping import arrange
from azbenchlib.analysis.over_time.timeline import envelope
from azbenchlib.dataset.dataset import Dataset

JITTER_MS = (0, 2, 5, 1)


@pytest.mark.parametrize("shared", [True, False])
def test_jobs_whose_intervals_end_apart_are_one_line(tmp_path: Path, shared: bool) -> None:
    job = {"jobname": "j", "groupid": 0, "error": 0, "job options": {"rw": "randread", "numjobs": "4"}}
    job["read"] = {
        "io_bytes": 4096000,
        "bw_bytes": 409600,
        "iops": 100.0,
        "runtime": 10000,
        "total_ios": 1000,
    }
    (tmp_path / "j.json").write_text(json.dumps({"fio version": "fio-3.36", "jobs": [job]}))
    for number, jitter in enumerate(JITTER_MS, start=1):
        lines = [f"{500 * i + jitter}, {number * 100_000}, 0, 0, 0\n" for i in range(1, 21)]
        with (tmp_path / ("j_lat.log" if shared else f"j_lat.{number}.log")).open("a") as file:
            file.write("".join(lines))
    tables = Dataset.load(tmp_path).tables
    found = envelope(arrange(tables), tables)
    assert len(found) == 20
    assert found["t_s"].diff().dropna().min() > 0.45
    assert found["lat_us"].tolist() == pytest.approx([250] * 20)
