"""Reports of fio one below another: which of them are one run, and which were pasted.

The lines follow fio 3.33's ``stat.c``, which prints the time at which it prints, so one run's jobs share it.
"""

import subprocess
from pathlib import Path

import pandas as pd
import pytest

from azbenchlib.analysis.runs import runs
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

END = "     issued rwts: total={n},0,0,0 short=0,0,0,0 dropped=0,0,0,0\n\n"


def report(
    name: str = "job",
    pid: int = 100,
    at: str | None = "18:00:00",
    *,
    group: int = 0,
    iops: int = 100,
    seconds: int = 30,
) -> str:
    """Give a job's report, printed at a time of one day."""
    ended = f": Tue Oct 18 {at} 2022" if at else ""
    n = iops * seconds
    return (
        f"{name}: (groupid={group}, jobs=1): err= 0: pid={pid}{ended}\n"
        f"  read: IOPS={iops}, BW={iops * 4}KiB/s ({iops * 4.096:.0f}kB/s)({n * 4}KiB/{seconds * 1000}msec)\n"
        + END.format(n=n)
    )


def read(text: str) -> dict[str, pd.DataFrame]:
    """Read a text as a file."""
    return registry.read(Source("some.txt", text.encode()))


def documents(*reports: str) -> list[int]:
    """Give the document of each report of a text."""
    runs: list[int] = read("".join(reports))["runs"]["source_doc"].tolist()
    return runs


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        pytest.param([report(pid=1), report(pid=2)], [0, 0], id="numjobs=2"),
        pytest.param([report("a"), report("b", 101), report("c", 190, group=1)], [0, 0, 0], id="stonewall"),
        pytest.param([report(), report(pid=101, at="18:00:01")], [0, 0], id="the second turned"),
        pytest.param([report(), report(pid=102, at="18:00:10")], [0, 0], id="a slow terminal"),
        pytest.param([report(), report(pid=900, at="18:00:10")], [0, 1], id="from two shells"),
        pytest.param([report(), report(pid=900, at="18:00:30")], [0, 1], id="one after the other"),
        pytest.param([report(), report(pid=101, at="18:05:00")], [0, 1], id="minutes later, next pid"),
        pytest.param([report(at="18:05:00"), report(pid=90)], [0, 1], id="newest first"),
        pytest.param([report(seconds=1), report(pid=103, at="18:00:01", seconds=1)], [0, 1], id="of 1 s"),
        pytest.param([report("a", group=1), report("b", 101)], [0, 1], id="groups begin again"),
        pytest.param([report(at=None), report(pid=101, at=None)], [0, 0], id="next pid, no time"),
        pytest.param([report(at=None), report(pid=900, at=None)], [0, 1], id="another pid, no time"),
        pytest.param([report(at=None), report(pid=31, at=None)], [0, 1], id="a lower pid, no time"),
        pytest.param([report(pid=0, at=None), report(pid=900, at=None)], [0, 0], id="none was started"),
        pytest.param([report(pid=32767, at=None), report(pid=310, at=None)], [0, 0], id="the last pid"),
        pytest.param(
            [report("a", at=None), report("b", 101, at=None), report("a", 102, at=None)],
            [0, 0, 1],
            id="names begin again, no time",
        ),
        pytest.param(
            [
                report("a"),
                report("b", 101),
                report("a", 300, at="18:09:00"),
                report("b", 301, at="18:09:00"),
            ],
            [0, 0, 1, 1],
            id="two runs of two jobs",
        ),
        pytest.param(
            [report("a"), report("a", 555, at="19:09:00"), report("All clients", 0, at="19:09:01")],
            [0, 0, 0],
            id="clients",
        ),
    ],
)
def test_reports_of_one_run_share_their_time_and_follow_in_their_pids(
    reports: list[str], expected: list[int]
) -> None:
    assert documents(*reports) == expected


def test_pasted_runs_of_one_name_are_not_added_up() -> None:
    text = report(iops=3600) + report(pid=900, at="18:04:00", iops=335) + report(pid=990, at="18:08:00")
    assert sorted(run.flows[0].observation.iops or 0 for run in runs(read(text))) == [100, 335, 3600]


def clients(*, sum_of_all: bool = True) -> str:
    """Give what fio prints of two hosts with two jobs each: a report of each host, and the sum."""
    sizes = "bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=8"
    text = "".join(
        f"<{host}> {job}: (g=0): rw=read, {sizes}\n" for host in ("hosta", "hostb") for job in ("one", "two")
    )
    status = (
        "Run status group 0 (all jobs):\n   READ: bw=800KiB/s (819kB/s), io=24MiB, run=30000-30000msec\n\n"
    )
    for pid, at in ((40, "18:00:00"), (4000, "18:00:09")):
        text += report("one", pid, at) + report("two", pid + 1, at) + status
    return text + report("All clients", 0, "18:00:09", iops=400) * sum_of_all


def test_hosts_that_worked_at_once_are_one_run_and_their_sum_is_not_added() -> None:
    tables = read(clients())
    assert tables["runs"]["source_doc"].tolist() == [0] * 5
    assert [sum(flow.observation.iops or 0 for flow in run.flows) for run in runs(tables)] == [400]
    assert read(clients(sum_of_all=False))["runs"]["source_doc"].tolist() == [0] * 4


def test_whose_report_it_is_of_several_hosts_is_not_told() -> None:
    tables = read(clients())["runs"]
    assert tables["host"].isna().all()
    assert tables["iodepth"].tolist()[:4] == [8] * 4
    other = clients().replace("<hostb> one: (g=0): rw=read, ", "<hostb> one: (g=0): rw=randread, ")
    assert read(other)["runs"]["rw"].dropna().tolist() == ["read"] * 2  # of the jobs named two
    alone = clients().replace("<hostb> one", "<hostb> three").replace("<hostb> two", "<hostb> four")
    assert read(alone)["runs"]["host"].tolist()[:2] == ["hosta"] * 2


def test_two_runs_of_several_hosts_are_two() -> None:
    assert read(clients() + clients())["runs"]["source_doc"].tolist() == [0] * 5 + [1] * 5


@pytest.mark.fio
@pytest.mark.parametrize(
    "options",
    [
        ["--numjobs=3"],
        ["--numjobs=2", "--group_reporting"],
        ["--name=b", "--stonewall", "--name=c", "--stonewall"],
        ["--numjobs=2", "--status-interval=300ms"],
    ],
)
def test_what_fio_prints_of_one_run_stays_one(options: list[str], tmp_path: Path) -> None:
    command = ["fio", "--size=64k", "--rw=read", "--runtime=1", "--time_based", "--name=a", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    runs = read(done.stdout)
    interim = runs["findings"]["code"].eq("interim_document").sum()
    last = runs["runs"]["source_doc"].eq(runs["runs"]["source_doc"].max()).sum()
    # a last state that is told with the end, to the last digit, is that run again
    assert runs["runs"]["run_id"].nunique() == interim + last
