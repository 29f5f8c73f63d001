"""What to run: workloads, the grid of them, and fio's arguments for each."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pandas as pd

from azbenchlib.errors import InputError
from azbenchlib.units import MIB, MS_PER_S, fio_size_text, format_size, parse_size

PATTERNS = ("read", "write", "randread", "randwrite", "rw", "randrw")
SECTOR = 512  # the smallest unit that direct I/O can address. Source: open(2), O_DIRECT
LOG_INTERVAL_MS = 100  # one log line covers this long
LAYOUT = "layout"  # the job that writes the data before the first workload

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]*$")


@dataclass(frozen=True)
class Workload:
    """One fio process: a pattern at one block size and depth for a fixed time.

    Parameters
    ----------
    name : str
        Letters, digits, ``-`` and ``_``; the raw files are called by it.
    rw : str
        One of :data:`PATTERNS`.
    bs_bytes, size_bytes : int
        Block size, and how much data is touched, in bytes.
    iodepth, numjobs : int
        Outstanding I/Os of each job, and how many jobs run side by side.
    runtime_s, ramp_s : float
        Seconds measured, and seconds left out before that.
    ioengine : str
        One of those that ``fio --enghelp`` lists.
    direct : bool
        Whether to bypass the page cache.

    Raises
    ------
    InputError
        When a value cannot be run; the sentence names it and what it may be.
    """

    name: str
    rw: str
    bs_bytes: int
    iodepth: int
    size_bytes: int
    runtime_s: float
    ramp_s: float = 0
    numjobs: int = 1
    ioengine: str = "libaio"
    direct: bool = True

    def __post_init__(self) -> None:
        if not _NAME.match(self.name):
            raise InputError(f"workload name '{self.name}': use letters, digits, - and _")
        if self.name == LAYOUT:
            raise InputError(f"workload name '{LAYOUT}' is taken by the job that writes the data")
        if self.rw not in PATTERNS:
            raise InputError(f"pattern '{self.rw}' is unknown; the choices are: {', '.join(PATTERNS)}")
        for field in ("bs_bytes", "iodepth", "numjobs", "size_bytes"):
            value = getattr(self, field)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InputError(f"{field} '{value}' must be a whole number from 1")
        _check_seconds("runtime_s", self.runtime_s, 1 / MS_PER_S)
        _check_seconds("ramp_s", self.ramp_s, 0)
        if self.direct and self.bs_bytes % SECTOR:
            raise InputError(
                f"block size {self.bs_bytes} B cannot be read directly; "
                f"use a multiple of {SECTOR} B, or direct=False"
            )
        if self.bs_bytes > self.size_bytes:
            raise InputError(
                f"block size {self.bs_bytes} B is larger than the data it should touch "
                f"({self.size_bytes} B); make size larger or the block size smaller"
            )

    @property
    def title(self) -> str:
        """How progress and reports call it: ``randread 4 KiB, QD 16``."""
        jobs = f", {self.numjobs} jobs" if self.numjobs > 1 else ""
        return f"{self.rw} {format_size(self.bs_bytes)}, QD {self.iodepth}{jobs}"


def matrix(
    block_sizes: Sequence[str],
    iodepths: Sequence[int],
    patterns: Sequence[str],
    *,
    size: str = "256m",
    runtime_s: float = 3,
    ramp_s: float = 1,
    numjobs: int = 1,
    ioengine: str = "libaio",
    direct: bool = True,
) -> list[Workload]:
    """Every pattern at every block size and depth.

    Parameters
    ----------
    block_sizes : sequence of str
        Sizes such as ``4k``.
    iodepths : sequence of int
        Outstanding I/Os per job.
    patterns : sequence of str
        Names in :data:`PATTERNS`.
    size : str
        Data touched by each, such as ``256m``.
    runtime_s, ramp_s, numjobs, ioengine, direct
        As for :class:`Workload`, the same for all.

    Returns
    -------
    list of Workload
        Patterns outermost, depths innermost; their names are unique.

    Raises
    ------
    InputError
        For an empty list, an entry that is there twice, or a value that cannot be run.
    """
    for label, given in (("block_sizes", block_sizes), ("iodepths", iodepths), ("patterns", patterns)):
        if isinstance(given, str) or not len(given):
            raise InputError(f"{label} '{given}' must be a list with at least one entry")
    workloads = []
    for rw, block, iodepth in product(patterns, block_sizes, iodepths):
        bs_bytes = parse_size(str(block))
        jobs = f"-j{numjobs}" if numjobs != 1 else ""
        workloads.append(
            Workload(
                name=f"{rw}-{fio_size_text(bs_bytes)}-qd{iodepth}{jobs}",
                rw=rw,
                bs_bytes=bs_bytes,
                iodepth=iodepth,
                size_bytes=parse_size(str(size)),
                runtime_s=runtime_s,
                ramp_s=ramp_s,
                numjobs=numjobs,
                ioengine=ioengine,
                direct=direct,
            )
        )
    check_names(workloads)
    return workloads


def check_names(workloads: Sequence[Workload]) -> None:
    """Raise an InputError when there is no workload, or two would write the same files."""
    if not workloads:
        raise InputError("there is no workload to run; give at least one")
    names = [workload.name for workload in workloads]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"workload '{twice[0]}' is there twice; each may be given once")


def table(workloads: Iterable[Workload]) -> pd.DataFrame:
    """The plan as a table: one row a workload, ``seconds`` being its time with the ramp."""
    return pd.DataFrame(
        [
            {
                "workload": workload.name,
                "rw": workload.rw,
                "bs_bytes": workload.bs_bytes,
                "iodepth": workload.iodepth,
                "numjobs": workload.numjobs,
                "size_bytes": workload.size_bytes,
                "seconds": workload.ramp_s + workload.runtime_s,
            }
            for workload in workloads
        ]
    )


def fio_arguments(workload: Workload, target: Path, raw_dir: Path) -> list[str]:
    """The fio command line of one workload, as an argument list.

    Parameters
    ----------
    workload : Workload
        What to run.
    target : Path
        The file or block device to drive.
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
        f"--filename={_fio_path(target)}",
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
        f"--log_avg_msec={LOG_INTERVAL_MS}",
    ]


def layout_arguments(target: Path, size_bytes: int, ioengine: str, direct: bool) -> list[str]:
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


def _fio_path(path: Path) -> str:
    """A file name for fio, which would take a bare colon for the start of another one."""
    return str(path).replace(":", r"\:")


def _fio_seconds(seconds: float) -> str:
    return str(int(seconds)) if seconds == int(seconds) else f"{round(seconds * MS_PER_S)}ms"


def _check_seconds(field: str, value: float, low: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < low:
        raise InputError(f"{field} '{value}' must be a number of seconds, at least {low:g}")
