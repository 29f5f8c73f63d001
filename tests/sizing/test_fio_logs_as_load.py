"""Averaged logs of fio as telemetry: jobs are added up, an interval without a line is one without I/O."""

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
