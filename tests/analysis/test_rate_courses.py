"""Rates over time: the logs of all jobs are added up, with or without an output, and single I/Os counted."""

import json
from pathlib import Path

import pytest

from azbenchlib.analysis.grouping import arrange
from azbenchlib.analysis.lone_logs import with_rates_of_logs
from azbenchlib.analysis.over_time.rate_courses import courses
from azbenchlib.core.findings import Code
from azbenchlib.dataset.dataset import Dataset

JITTER_MS = (0, 2, 5, 1)
N, STEP_MS = 20, 500


def output(folder: Path, jobs: int = 4, iops: float = 100.0) -> None:
    """One row that sums so many jobs."""
    job = {"jobname": "j", "groupid": 0, "error": 0, "job options": {"rw": "randread", "bs": "4k"}}
    job["job options"]["numjobs"] = str(jobs)
    ios = round(10 * jobs * iops)
    job["read"] = {"io_bytes": 4096 * ios, "bw_bytes": round(4096 * jobs * iops), "iops": jobs * iops}
    job["read"] |= {"runtime": 10_000, "total_ios": ios}
    (folder / "j.json").write_text(json.dumps({"fio version": "fio-3.36", "jobs": [job]}))


def logs(folder: Path, jobs: int = 4, name: str = "j", kind: str = "iops", value: int = 100) -> None:
    """A log a job, of averages; each job's intervals end at times of its own."""
    for number in range(1, jobs + 1):
        lines = [f"{STEP_MS * i + JITTER_MS[number - 1]}, {value}, 0, 0, 0\n" for i in range(1, N + 1)]
        (folder / f"{name}_{kind}.{number}.log").write_text("".join(lines))


def found(folder: Path):
    tables = with_rates_of_logs(Dataset.load(folder).tables)
    return courses(arrange(tables), tables)


def test_the_logs_of_all_jobs_are_one_rate(tmp_path: Path) -> None:
    output(tmp_path)
    logs(tmp_path)
    logs(tmp_path, kind="bw", value=400)
    frame = found(tmp_path)
    by_metric = frame.groupby("metric")["value"]
    assert by_metric.size().tolist() == [N, N]
    assert by_metric.mean().to_dict() == pytest.approx({"iops": 400, "bw_bytes_per_s": 4 * 400 * 1024})
    assert frame["facet"].unique().tolist() == ["random reads"]
    assert (frame["low"] == frame["high"]).all()


def test_a_job_without_a_log_leaves_no_rate_of_all(tmp_path: Path) -> None:
    output(tmp_path)
    logs(tmp_path, jobs=3)
    assert found(tmp_path).empty


def test_lines_of_single_ios_are_counted(tmp_path: Path) -> None:
    output(tmp_path, jobs=1, iops=500)
    at_half = [(2 * i, 8192 if i >= 2500 else 4096) for i in range(5000)]  # 500 a second, larger at half
    for kind, value in (("iops", 1), ("bw", 900_000)):
        lines = [f"{t_ms}, {value}, 0, {size}, 0\n" for t_ms, size in at_half]
        (tmp_path / f"j_{kind}.1.log").write_text("".join(lines))
    frame = found(tmp_path).set_index("metric")
    assert frame.loc["iops", "value"].median() == 500
    moved = frame.loc["bw_bytes_per_s", "value"]
    assert moved.iloc[2] == pytest.approx(500 * 4096) and moved.iloc[-3] == pytest.approx(500 * 8192)


def test_averages_that_tell_a_block_size_are_no_single_ios(tmp_path: Path) -> None:
    output(tmp_path, jobs=1)
    (tmp_path / "j_iops.1.log").write_text("".join(f"{500 * i}, 100, 0, 4096, 0\n" for i in range(1, N + 1)))
    assert found(tmp_path)["value"].tolist() == [100] * N


def test_repeats_are_a_mean_with_a_range(tmp_path: Path) -> None:
    for i, value in enumerate((100, 110)):
        folder = tmp_path / f"r{i}"
        folder.mkdir()
        output(folder, jobs=1, iops=value)
        logs(folder, jobs=1, value=value)
    tables = Dataset.load(tmp_path, group_by="setup").tables
    frame = courses(arrange(tables), tables)
    assert frame["value"].mean() == pytest.approx(105)
    assert set(frame["low"]) == {100} and set(frame["high"]) == {110}


def test_logs_alone_are_a_run_of_all_their_jobs(tmp_path: Path) -> None:
    logs(tmp_path)
    logs(tmp_path, kind="bw", value=400)
    logs(tmp_path, jobs=1, name="k", value=7)
    read = Dataset.load(tmp_path).tables
    tables = with_rates_of_logs(read)
    rows = tables["results"].merge(tables["runs"], on="run_id")[["job", "numjobs", "iops", "bw_bytes_per_s"]]
    assert sorted(rows["iops"]) == pytest.approx([7, 400])
    summed = rows[rows["job"] == "j"].iloc[0]
    assert summed["numjobs"] == 4 and summed["bw_bytes_per_s"] == pytest.approx(4 * 400 * 1024)
    codes = tables["findings"]["code"].tolist()
    assert codes.count(Code.RATE_OF_LOGS) == 2 and read["results"].empty
    frame = found(tmp_path)
    assert sorted(frame[frame["metric"] == "iops"].groupby("series")["value"].mean()) == pytest.approx(
        [7, 400]
    )


def test_latencies_of_logs_alone_are_of_the_run_of_all_jobs(tmp_path: Path) -> None:
    logs(tmp_path, jobs=2)
    logs(tmp_path, jobs=2, kind="lat", value=300_000)
    tables = with_rates_of_logs(Dataset.load(tmp_path).tables)
    assert arrange(tables).runs["iops"].tolist() == pytest.approx([200])
    latencies = tables["samples"][tables["samples"]["metric"] == "lat_us"]
    assert latencies["run_id"].unique().tolist() == tables["results"]["run_id"].tolist()
    assert not latencies.duplicated(["run_id", "ddir", "metric", "seq"]).any()


def test_tables_without_such_logs_are_left_alone(tmp_path: Path) -> None:
    output(tmp_path)
    logs(tmp_path)
    tables = Dataset.load(tmp_path).tables
    assert with_rates_of_logs(tables) is tables
