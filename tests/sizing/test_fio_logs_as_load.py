"""Averaged logs of fio as telemetry: jobs are added up, an interval without a line is one without I/O."""

import json
from pathlib import Path

import pytest

from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.sizing.telemetry import Telemetry, telemetry

KIB = 1024


def write(folder: Path, job: str, lines: dict[int, list[tuple[int, int]]], bs_kib: int = 8) -> None:
    """The two logs that fio writes of a job: by end of the interval in ms, pairs of direction and IOPS."""
    rows = [(t_ms, ddir, iops) for t_ms, told in lines.items() for ddir, iops in told]
    rates = {"iops": 1, "bw": bs_kib}  # fio logs bandwidth in KiB/s
    for kind, factor in rates.items():
        text = "".join(f"{t_ms}, {iops * factor}, {ddir}, 0, 0\n" for t_ms, ddir, iops in rows)
        (folder / f"{job}_{kind}.1.log").write_text(text)


def read(folder: Path) -> Telemetry:
    return telemetry(Dataset.load(folder).tables)


def test_jobs_are_added_up_by_direction(tmp_path: Path) -> None:
    write(tmp_path, "one", {1000: [(0, 400), (1, 200)], 2000: [(0, 500), (1, 100)]})
    write(tmp_path, "two", {1000: [(1, 50)], 2000: [(1, 60)]}, bs_kib=64)
    found = read(tmp_path).history
    assert found.t_s.tolist() == [0, 1] and found.interval_s.tolist() == [1, 1]
    assert found.read_iops.tolist() == [400, 500] and found.write_iops.tolist() == [250, 160]
    assert found.read_bytes_per_s.tolist() == [400 * 8 * KIB, 500 * 8 * KIB]
    assert found.write_bytes_per_s.tolist() == [(200 * 8 + 50 * 64) * KIB, (100 * 8 + 60 * 64) * KIB]


def test_an_interval_without_a_line_is_idle(tmp_path: Path) -> None:
    write(tmp_path, "one", {500: [(0, 10)], 1000: [(0, 20)], 2500: [(0, 30)], 3000: [(0, 30)]})
    found = read(tmp_path)
    assert found.history.read_iops.tolist() == [10, 20, 0, 0, 30, 30]
    assert found.history.write_iops.tolist() == [0] * 6 and found.missing_s == 0


def test_a_log_of_one_rate_alone_is_no_telemetry(tmp_path: Path) -> None:
    write(tmp_path, "one", {1000: [(0, 400)]})
    (tmp_path / "one_bw.1.log").unlink()
    with pytest.raises(InputError, match="no telemetry"):
        read(tmp_path)


def test_logs_of_single_ios_are_refused(tmp_path: Path) -> None:
    for kind in ("iops", "bw"):
        lines = [f"{t_ms}, 1, 0, 4096, {t_ms * 4096}\n" for t_ms in range(1, 40)]
        (tmp_path / f"one_{kind}.1.log").write_text("".join(lines))
    with pytest.raises(InputError, match="log_avg_msec=1000"):
        read(tmp_path)


def log(folder: Path, name: str, jobs: list[dict[int, list[tuple[int, int]]]], bs_kib: int = 8) -> None:
    """Both logs of jobs that share them (``per_job_logs=0``): one below the other, as in :func:`write`."""
    for kind, factor in {"iops": 1, "bw": bs_kib}.items():
        lines = [
            f"{t_ms}, {iops * factor}, {ddir}, 0, 0\n"
            for job in jobs
            for t_ms, told in job.items()
            for ddir, iops in told
        ]
        (folder / f"{name}_{kind}.log").write_text("".join(lines))


def steady(iops: int, n: int, step_ms: int = 500, jitter: tuple[int, ...] = (0,)) -> dict:
    """A job that reads and writes at one rate, in intervals that are not quite as long as they should be."""
    return {step_ms * i + jitter[i % len(jitter)]: [(0, iops), (1, iops // 2)] for i in range(1, n + 1)}


def test_each_numbered_log_is_a_job_of_its_own(tmp_path: Path) -> None:
    for number, jitter in enumerate([(0,), (1, 0), (2, 6, -1)], start=1):
        write(tmp_path, "one", steady(1000, 8, jitter=jitter))
        for kind in ("iops", "bw"):
            (tmp_path / f"one_{kind}.1.log").rename(tmp_path / f"one_{kind}.job{number}")
    for path in tmp_path.glob("*.job*"):
        path.rename(path.with_name(path.name.replace(".job", ".") + ".log"))
    found = read(tmp_path)
    assert found.devices == {"fio": ("one 1", "one 2", "one 3")}
    assert found.history.interval_s.tolist() == [0.5] * 8
    assert found.history.read_iops == pytest.approx(3000, rel=0.01)
    assert found.history.write_bytes_per_s == pytest.approx(1500 * 8 * KIB, rel=0.01)


def test_jobs_that_share_a_log_are_added_up(tmp_path: Path) -> None:
    jobs = [steady(1000, 8), steady(1000, 8, jitter=(4, 2)), {2500: [(0, 500)]}, steady(1000, 4)]
    log(tmp_path, "quad", jobs)
    found = read(tmp_path)
    assert found.devices == {"fio": ("quad 1", "quad 2", "quad 3", "quad 4")}
    assert found.history.read_iops[:4] == pytest.approx(3000, rel=0.01)
    assert found.history.read_iops[4:] == pytest.approx([2500, 2000, 2000, 2000], rel=0.01)
    assert found.history.write_iops[4:] == pytest.approx(1000, rel=0.01)


def test_jobs_that_share_a_log_beside_the_row_of_all_of_them(tmp_path: Path) -> None:
    log(tmp_path, "quad", [steady(1000, 8)] * 4)
    job = {"jobname": "quad", "groupid": 0, "error": 0, "job options": {"rw": "rw", "numjobs": "4"}}
    side = {"io_bytes": 16000 * 8192, "bw_bytes": 4000 * 8192, "iops": 4000.0, "runtime": 4000}
    job |= {"read": side | {"total_ios": 16000}, "write": side | {"total_ios": 8000}}
    document = {"fio version": "fio-3.36", "timestamp": 1700000000, "jobs": [job]}
    (tmp_path / "quad.json").write_text(json.dumps(document))
    assert read(tmp_path).history.iops.tolist() == [6000] * 8


def test_intervals_that_are_longer_than_asked_for_are_none_twice(tmp_path: Path) -> None:
    """fio's intervals of 500 ms last 502: after 250 of them a grid of 500 ms is one ahead."""
    lines = {502 * i + (i % 3): [(0, 800 + 100 * (i % 2))] for i in range(1, 1001)}
    write(tmp_path, "one", lines)
    found = read(tmp_path).history
    assert len(found.t_s) == pytest.approx(1000, abs=2)
    done = (found.read_iops * found.interval_s).sum()
    assert done == pytest.approx(850 * 502, rel=0.005)
    assert found.read_iops.min() > 790 and found.read_iops.max() < 910


def test_a_job_is_no_device_of_the_device_mapper(tmp_path: Path) -> None:
    for iops, name in enumerate(("sda", "dm-0", "loop0"), start=1000):
        write(tmp_path, name, steady(iops, 4))
    assert set(read(tmp_path).devices["fio"]) == {"sda", "dm-0", "loop0"}


def output(folder: Path, *rows: dict) -> None:
    """The JSON of a run of several rows; each has a name, a group, how many jobs it sums, and its rate."""
    jobs = [
        {
            "jobname": row["name"],
            "groupid": row["group"],
            "error": 0,
            "job options": {"rw": "rw", "numjobs": str(row["numjobs"]), "group_reporting": "1"},
            "read": {
                "io_bytes": row["iops"] * 4 * 8192,
                "bw_bytes": row["iops"] * 8192,
                "iops": row["iops"],
                "runtime": 4000,
                "total_ios": row["iops"] * 4,
            },
        }
        | ({"job_start": row["start_ms"]} if "start_ms" in row else {})
        for row in rows
    ]
    document = {"fio version": "fio-3.36", "timestamp": 1700000000, "jobs": jobs}
    (folder / "run.json").write_text(json.dumps(document))


def numbered(folder: Path, jobs: list[dict[int, list[tuple[int, int]]]]) -> None:
    """Logs of several jobs, numbered over all of them, as in :func:`write`."""
    for number, job in enumerate(jobs, start=1):
        log(folder, "run", [job])
        for kind in ("iops", "bw"):
            (folder / f"run_{kind}.log").rename(folder / f"run_{kind}.{number}.log")


def test_a_row_of_two_jobs_has_the_logs_of_both_and_groups_follow_each_other(tmp_path: Path) -> None:
    pair, after = [steady(1000, 8), steady(1000, 8, jitter=(1, 0))], steady(300, 8)
    output(
        tmp_path,
        {"name": "one", "group": 0, "numjobs": 2, "iops": 2000},
        {"name": "two", "group": 1, "numjobs": 1, "iops": 300},
    )
    numbered(tmp_path, [*pair, after])
    found = read(tmp_path)
    assert found.history.read_iops == pytest.approx([2000] * 8 + [300] * 8, rel=0.01)
    assert "log_disagrees" not in set(Dataset.load(tmp_path).findings["code"])


def test_jobs_begin_when_their_output_says(tmp_path: Path) -> None:
    output(
        tmp_path,
        {"name": "one", "group": 0, "numjobs": 1, "iops": 1000, "start_ms": 1_700_000_000_000},
        {"name": "two", "group": 0, "numjobs": 1, "iops": 300, "start_ms": 1_700_000_002_000},
    )
    numbered(tmp_path, [steady(1000, 8), steady(300, 8)])
    assert read(tmp_path).history.read_iops == pytest.approx([1000] * 4 + [1300] * 4 + [300] * 4)


def test_a_job_without_both_logs_is_told(tmp_path: Path) -> None:
    write(tmp_path, "one", steady(1000, 8))
    write(tmp_path, "two", steady(300, 8))
    (tmp_path / "two_bw.1.log").unlink()
    (note,) = read(tmp_path).notes
    assert "two_iops.1.log: it has a log of IOPS or of bandwidth alone" in note


def test_logs_of_the_clock_on_the_wall_are_put_where_they_were(tmp_path: Path) -> None:
    begin = 1_795_168_800_000
    for job, later in (("one", 0), ("two", 2000)):
        write(tmp_path, job, {begin + later + n: [(0, 100)] for n in range(1000, 5000, 1000)})
    found = read(tmp_path).history
    assert found.t_s.tolist() == [0, 1, 2, 3, 4, 5]
    assert found.read_iops.tolist() == [100, 100, 200, 200, 100, 100]
