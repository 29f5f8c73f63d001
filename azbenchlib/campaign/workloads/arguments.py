"""fio's command line for a workload, as an argument list."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from azbenchlib.core.units import MIB, MS_PER_S, fio_size_text

if TYPE_CHECKING:  # workloads give their command lines with what stands here
    from azbenchlib.campaign.workloads.grid import Workload

LAYOUT = "layout"  # the job that writes the data before the first workload
LOG_INTERVAL_MS = 100, 1000  # one log line covers at least and at most so long …
LOG_LINES = 120  # … and between, so long that this many cover the run


def fio_arguments(workload: Workload, target: PurePath | None, raw_dir: PurePath) -> list[str]:
    """The fio command line of one workload, as an argument list.

    Parameters
    ----------
    workload : Workload
        What to run.
    target : Path or None
        The file or block device to drive; None: the engine's options say it.
    raw_dir : Path
        Where fio writes ``NAME.json`` and, beside it, the logs ``NAME_clat.1.log`` and so on;
        ``Path()`` is the folder that fio is started in.

    Notes
    -----
    Options as in the fio HOWTO; ``json+`` adds every latency bin to the JSON.
    """
    prefix = str(raw_dir / workload.name)
    return [
        "fio",
        f"--name={workload.name}",
        *([f"--filename={_fio_path(target)}"] if target else []),
        f"--rw={workload.rw}",
        f"--bs={fio_size_text(workload.bs_bytes)}",
        f"--iodepth={workload.iodepth}",
        f"--numjobs={workload.numjobs}",
        f"--ioengine={workload.ioengine}",
        f"--direct={int(workload.direct)}",
        f"--size={fio_size_text(workload.size_bytes)}",
        "--time_based=1",
        f"--runtime={_fio_seconds(workload.runtime_s)}",
        f"--ramp_time={_fio_seconds(workload.ramp_s)}",
        "--output-format=json+",
        f"--output={prefix}.json",
        f"--write_bw_log={prefix}",
        f"--write_iops_log={prefix}",
        f"--write_lat_log={prefix}",
        f"--log_avg_msec={_log_interval_ms(workload)}",
        *(f"--{name}={value}" for name, value in workload.options.items()),
    ]


def layout_arguments(target: PurePath, size_bytes: int, ioengine: str, direct: bool) -> list[str]:
    """The fio command line that fills `size_bytes` of the target once, so that reads find data."""
    return [
        "fio",
        f"--name={LAYOUT}",
        f"--filename={_fio_path(target)}",
        "--rw=write",
        f"--bs={fio_size_text(min(MIB, size_bytes))}",
        "--iodepth=4",
        f"--ioengine={ioengine}",
        f"--direct={int(direct)}",
        f"--size={fio_size_text(size_bytes)}",
        "--end_fsync=1",
        "--output-format=json",
        f"--output={LAYOUT}.json",
    ]


def _log_interval_ms(workload: Workload) -> int:
    least, most = LOG_INTERVAL_MS
    return round(min(most, max(least, workload.runtime_s * MS_PER_S / LOG_LINES)))


def _fio_path(path: PurePath) -> str:
    """A file name for fio, which would take a bare colon for the start of another one."""
    return str(path).replace(":", r"\:")


def _fio_seconds(seconds: float) -> str:
    return str(int(seconds)) if seconds == int(seconds) else f"{round(seconds * MS_PER_S)}ms"
