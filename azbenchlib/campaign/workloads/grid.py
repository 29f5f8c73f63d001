"""What to run: workloads, the grid of them, and their command lines of fio."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import PurePath
from typing import Any

import pandas as pd

from azbenchlib.campaign.workloads import base, fio_options
from azbenchlib.campaign.workloads.base import Work
from azbenchlib.campaign.workloads.fio_options import shown
from azbenchlib.campaign.workloads.limits import RunLimits, delay_s
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MIB, MS_PER_S, SECTOR_BYTES, fio_size_text, format_size, parse_size
from azbenchlib.formats.fio.job_lines import canonical

LAYOUT = "layout"  # the job that writes the data before the first workload
LOG_INTERVAL_MS = 100, 1000  # one log line covers at least and at most so long …
LOG_LINES = 120  # … and between, so long that this many cover the run

PATTERNS = ("read", "write", "randread", "randwrite", "rw", "randrw")

_LARGEST = 2**63 - 1  # of a whole number, as fio counts

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
# fio's other names of what a workload says in keys of its own.
_OWN = ("rw", "bs", "size", "runtime", "iodepth", "numjobs", "ramp_time", "ioengine", "direct")


@dataclass(frozen=True, kw_only=True)
class Workload(Work):
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
        One of :data:`azbenchlib.campaign.workloads.fio_options.ENGINES`.
    direct : bool
        Whether to bypass the page cache.
    options : mapping of str to str
        Further options of :data:`azbenchlib.campaign.workloads.fio_options.OPTIONS`, such as
        ``{"rwmixread": "70"}``.

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
    options: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_job_name(self.name)
        if self.rw not in PATTERNS:
            raise InputError(
                f"pattern '{shown(self.rw)}' is unknown; the choices are: {', '.join(PATTERNS)}", keys=("rw",)
            )
        for key, at in (("bs_bytes", "bs"), ("iodepth", ""), ("numjobs", ""), ("size_bytes", "size")):
            _check_count(key, getattr(self, key), at or key)
        check_seconds("runtime_s", self.runtime_s, 1 / MS_PER_S, "runtime")
        check_seconds("ramp_s", self.ramp_s, 0, "ramp_time")
        if not _NAME.fullmatch(self.ioengine):
            raise InputError(f"ioengine '{shown(self.ioengine)}' is not the name of one", keys=("ioengine",))
        if self.direct and self.bs_bytes % SECTOR_BYTES:
            raise InputError(
                f"block size {self.bs_bytes} B cannot be read directly; "
                f"use a multiple of {SECTOR_BYTES} B, or direct=False",
                keys=("bs",),
            )
        if self.bs_bytes > self.size_bytes:
            raise InputError(
                f"block size {self.bs_bytes} B is larger than the data it should touch "
                f"({self.size_bytes} B); make size larger or the block size smaller",
                keys=("size",),
            )
        _check_options(self.options)

    @classmethod
    def of(cls, name: str, given: Mapping[str, Any]) -> "Workload":
        """A workload from the keys of a measurement file, in fio's spelling.

        ``rw``, ``bs``, ``size`` and ``runtime`` (s) are needed; ``iodepth``, ``numjobs``, ``ramp_time``,
        ``ioengine`` and ``direct`` have defaults; whatever else is an option of fio that is allowed. Raises
        an InputError when one is missing or cannot be run.
        """
        rest = dict(given)
        if missing := [key for key in ("rw", "bs", "size", "runtime") if key not in rest]:
            raise InputError(f"{missing[0]} is missing; a workload needs rw, bs, size and runtime")
        own = {
            "rw": str(rest.pop("rw")),
            "bs_bytes": _size("bs", rest.pop("bs")),
            "size_bytes": _size("size", rest.pop("size")),
            "runtime_s": seconds_of(rest.pop("runtime")),
            "ramp_s": seconds_of(rest.pop("ramp_time", 0)),
            "iodepth": rest.pop("iodepth", 1),
            "numjobs": rest.pop("numjobs", 1),
            "ioengine": str(rest.pop("ioengine", "libaio")),
            "direct": yes_or_no("direct", rest.pop("direct", True)),
        }
        fio_options.check("ioengine", own["ioengine"])
        return cls(name=name, **own, options={key: _option(value) for key, value in rest.items()})

    def facts(self) -> dict[str, object]:
        """What a table of workloads says of it."""
        names = ("rw", "bs_bytes", "iodepth", "numjobs", "size_bytes")
        mix = {"rwmixread": lambda share: share, "rwmixwrite": lambda share: 100 - share}
        said = [(name, text) for name, text in self.options.items() if name in mix and text.isdecimal()]
        share = [("rwmix_read_pct", mix[name](int(text))) for name, text in said]  # fio takes the last
        return {name: getattr(self, name) for name in names} | dict(share)

    @property
    def max_duration_s(self) -> float:
        """How long it takes, with the ramp."""
        return self.ramp_s + self.runtime_s

    @property
    def limits(self) -> RunLimits:
        """At what a run of it is ended; where data is verified, each job reads it again after its time."""
        seconds = self.max_duration_s + delay_s(self.options.get("startdelay", ""))
        return RunLimits(seconds=seconds, data_bytes=self.size_bytes * self.numjobs)

    @property
    def shared_bytes(self) -> int:
        """How much of the shared data it touches."""
        return self.size_bytes

    def commands(self, data: PurePath, out: PurePath, shared_bytes: int) -> list[list[str]]:
        """The fio that lays the data out, and the one that measures, in the folder of its outputs."""
        layout = layout_arguments(data, shared_bytes, self.ioengine, self.direct)
        return [layout, fio_arguments(self, data, PurePath())]

    def adapt_to_host(
        self, choose_engine: Callable[[str], str], direct: bool
    ) -> tuple["Workload", list[str]]:
        """The same with an engine that is there, and buffered where direct I/O is refused."""
        engine = choose_engine(self.ioengine)
        notes = [f"This fio has no {self.ioengine}: {engine} was used."] if engine != self.ioengine else []
        if self.direct and not direct:
            notes.append(
                "The file system refuses O_DIRECT: the page cache was used, so figures may be of memory."
            )
        return replace(self, ioengine=engine, direct=self.direct and direct), notes

    def shortened(self, runtime_s: float, size_bytes: int) -> "Workload":
        """The same for at most so long, on at most so much data, without a ramp."""
        return replace(
            self,
            runtime_s=min(self.runtime_s, runtime_s),
            size_bytes=max(self.bs_bytes, min(self.size_bytes, size_bytes)),
            ramp_s=0,
        )

    @property
    def title(self) -> str:
        """How progress and reports call it: ``randread 4 KiB, QD 16``."""
        jobs = f", {self.numjobs} jobs" if self.numjobs > 1 else ""
        return f"{self.rw} {format_size(self.bs_bytes)}, QD {self.iodepth}{jobs}{base.which(self.name)}"


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


def check_names(workloads: Sequence[Work]) -> None:
    """Raise an InputError when there is no workload, or two would write the same files."""
    if not workloads:
        raise InputError("there is no workload to run; give at least one")
    names = [workload.name for workload in workloads]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"workload '{twice[0]}' is there twice; each may be given once")


def table(workloads: Iterable[Work]) -> pd.DataFrame:
    """The plan as a table: one row a workload, ``seconds`` being its time with the ramp, if that is known."""
    return pd.DataFrame(
        [{"workload": work.name, **work.facts(), "seconds": work.duration_s} for work in workloads]
    )


def check_job_name(name: str) -> None:
    """Raise an InputError for a name that raw files cannot be called by."""
    if not _NAME.fullmatch(name):
        raise InputError(f"workload name '{shown(name)}': use up to 100 letters, digits, - and _")
    if name == LAYOUT:
        raise InputError(f"workload name '{LAYOUT}' is taken by the job that writes the data")


def check_seconds(field: str, value: Any, low: float, key: str = "") -> None:
    """Raise an InputError for what is no number of seconds; `key`: of the measurement file."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not low <= value <= _LARGEST:
        given = shown(str(value))
        raise InputError(
            f"{field} '{given}' must be a number of seconds, at least {low:g}", keys=(key or field,)
        )


def seconds_of(value: Any) -> Any:
    """A number of seconds as a number; anything else as it is, for the check that follows."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def yes_or_no(key: str, value: object) -> bool:
    """A value that is true or false, or 1 or 0 as fio writes it.

    Raises an InputError when it is anything else.
    """
    if value not in (0, 1):
        raise InputError(f"{key} '{shown(str(value))}' must be true or false", keys=(key,))
    return bool(value)


def _check_options(options: Mapping[str, str]) -> None:
    for name, value in options.items():
        own = canonical(name)
        if own in _OWN:
            raise InputError(f"option '{name}': is fio's other name of '{own}'; write {own}", keys=(name,))
        fio_options.check(name, value)


def _check_count(field: str, value: Any, key: str) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _LARGEST:
        raise InputError(f"{field} '{shown(str(value))}' must be a whole number from 1", keys=(key,))


def _size(key: str, value: object) -> int:
    try:
        return parse_size(str(value))
    except InputError as error:
        raise InputError(f"{key}: {error}", keys=(key,)) from error


def _option(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


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
        f"--log_avg_msec={log_interval_ms(workload.runtime_s)}",
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


def log_interval_ms(runtime_s: float) -> int:
    """Milliseconds that fio averages for each line of a log of so many seconds, and for its own samples."""
    least, most = LOG_INTERVAL_MS
    return round(min(most, max(least, runtime_s * MS_PER_S / LOG_LINES)))


def _fio_path(path: PurePath) -> str:
    """A file name for fio, which would take a bare colon for the start of another one."""
    return str(path).replace(":", r"\:")


def _fio_seconds(seconds: float) -> str:
    return str(int(seconds)) if seconds == int(seconds) else f"{round(seconds * MS_PER_S)}ms"
