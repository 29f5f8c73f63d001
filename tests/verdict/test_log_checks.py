"""A log whose mean is not the rate of its summary is told; what rounding and edges explain is not."""

import json
from pathlib import Path

import pytest

from azbenchlib.analysis.runs import runs
from azbenchlib.core.findings import Code
from azbenchlib.dataset.dataset import Dataset


def summary(folder: Path, iops: dict[str, float], runtime_ms: int = 10_000, **options: str) -> None:
    """The JSON of one row."""
    job = {"jobname": "j", "groupid": 0, "error": 0, "job options": {"rw": "rw", "bs": "4k"} | options}
    for ddir, rate in iops.items():
        ios = round(rate * runtime_ms / 1000)
        moved = {"io_bytes": ios * 4096, "bw_bytes": round(rate * 4096), "total_ios": ios}
        job[ddir] = moved | {"iops": rate, "runtime": runtime_ms}
    document = {"fio version": "fio-3.36", "timestamp": 1700000000, "jobs": [job]}
    (folder / "j.json").write_text(json.dumps(document))


def log(folder: Path, rates: list[int], name: str = "j_iops.1.log", ddir: int = 0, bs: int = 0) -> None:
    """A line a second; none where there was no I/O."""
    lines = [f"{1000 * i}, {rate}, {ddir}, {bs}, 0\n" for i, rate in enumerate(rates, start=1) if rate]
    (folder / name).write_text("".join(lines))


def told(folder: Path) -> list[str]:
    findings = Dataset.load(folder).findings
    return findings.loc[findings["code"] == Code.LOG_DISAGREES, "message"].tolist()


@pytest.mark.parametrize(
    ("rates", "apart"),
    [
        ([700] * 10, False),
        ([700] * 9, False),  # fio writes no line for what is left of the last interval
        ([700] * 6 + [0] * 3 + [1], True),  # for three seconds nothing was done, so the log says
        ([700, 116, 116, 116, 116, 116, 116, 116, 116, 116], True),
        ([1400] * 5 + [0] * 4 + [10], False),  # stalls are no difference
        ([800] * 10, True),
        ([760] * 10, False),
        ([700], False),  # no mean
        ([700] * 4, False),  # a log that was cut off
    ],
)
def test_the_mean_of_a_log_is_held_against_the_summary(tmp_path: Path, rates: list[int], apart: bool) -> None:
    summary(tmp_path, {"read": 700.0})
    log(tmp_path, rates)
    assert bool(told(tmp_path)) == apart


def test_both_directions_and_both_rates_are_in_one_finding(tmp_path: Path) -> None:
    summary(tmp_path, {"read": 700.0, "write": 300.0})
    for name, unit in (("j_iops.1.log", 1), ("j_bw.1.log", 4)):
        lines = [
            f"{1000 * i}, {n * unit}, {ddir}, 0, 0\n"
            for i in range(1, 11)
            for ddir, n in ((0, 100), (1, 300))
        ]
        (tmp_path / name).write_text("".join(lines))
    (message,) = told(tmp_path)
    assert "the log has 100 IOPS on average, the summary 700 (read)" in message
    assert "MB/s" in message and "write" not in message


def test_logs_of_all_jobs_of_a_row_are_summed_first(tmp_path: Path) -> None:
    summary(tmp_path, {"read": 2100.0}, numjobs="3")
    for job in (1, 2, 3):
        log(tmp_path, [700 + job] * 10, f"j_iops.{job}.log")
    assert told(tmp_path) == []
    ((run,),) = [runs(Dataset.load(tmp_path).tables)]
    _, rates = run.flows[0].observation.samples
    assert rates.tolist() == [2106] * 10
    log(tmp_path, [10] * 10, "j_iops.3.log")
    assert len(told(tmp_path)) == 1


def test_jobs_that_share_a_log_are_summed_first(tmp_path: Path) -> None:
    summary(tmp_path, {"read": 1400.0}, numjobs="2")
    lines = [f"{1000 * i + job}, {700 + job}, 0, 0, 0\n" for job in (0, 1) for i in range(1, 11)]
    (tmp_path / "j_iops.log").write_text("".join(lines))
    assert told(tmp_path) == []
    ((run,),) = [runs(Dataset.load(tmp_path).tables)]
    _, rates = run.flows[0].observation.samples
    assert rates.tolist() == [1401] * 10


@pytest.mark.parametrize(("rate", "logged"), [(0.4, 1), (3.4, 4)])
def test_rounding_is_no_difference(tmp_path: Path, rate: float, logged: int) -> None:
    summary(tmp_path, {"read": rate})
    log(tmp_path, [logged] * 10)
    assert told(tmp_path) == []


def test_logs_of_single_ios_and_damaged_logs_are_not_compared(tmp_path: Path) -> None:
    summary(tmp_path, {"read": 700.0})
    log(tmp_path, [1] * 10, bs=4096)
    assert told(tmp_path) == []
    log(tmp_path, [100] * 10)
    with (tmp_path / "j_iops.1.log").open("a") as file:
        file.write("11000, 7\n")
    assert told(tmp_path) == []


@pytest.mark.parametrize(("rate", "apart"), [(2103.0, False), (1401.0, True)])
def test_a_row_may_sum_more_jobs_than_it_tells(tmp_path: Path, rate: float, apart: bool) -> None:
    """With group_reporting the row of a group has the options of its first job alone."""
    summary(tmp_path, {"read": rate})
    for job in (1, 2, 3):
        log(tmp_path, [700 + job - 1] * 10, f"j_iops.{job}.log")
    assert bool(told(tmp_path)) == apart
    ((run,),) = [runs(Dataset.load(tmp_path).tables)]
    _, rates = run.flows[0].observation.samples
    assert rates.tolist() == [2103] * 10
