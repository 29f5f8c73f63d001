"""What a fio job was asked to do: its options, which fio's JSON repeats as they were typed.

Source: fio HOWTO and ``options.c`` (aliases, defaults), ``parse.c`` (times), read at fio-3.41.
"""

import re
import reprlib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Any

from azbenchlib.core import units
from azbenchlib.core.errors import InputError
from azbenchlib.core.patterns import DIRECTIONS, MIXED
from azbenchlib.formats._json_values import INT64_MAX
from azbenchlib.formats.fio.job_lines import canonical

# Options that no other program's configuration is likely to have: they tell a job file.
DISTINCTIVE = {
    "bs",
    "blocksize",
    "bsrange",
    "blocksize_range",
    "bssplit",
    "end_fsync",
    "group_reporting",
    "iodepth",
    "ioengine",
    "norandommap",
    "nrfiles",
    "numjobs",
    "randrepeat",
    "rate_iops",
    "readwrite",
    "rw",
    "rwmixread",
    "rwmixwrite",
    "stonewall",
    "time_based",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
}
# Engines that keep up to iodepth I/Os in flight; with the synchronous ones it is one, whatever iodepth says.
ASYNCHRONOUS = {
    "libaio",
    "io_uring",
    "io_uring_cmd",
    "posixaio",
    "windowsaio",
    "solarisaio",
    "null",
    "rbd",
    "rados",
    "nbd",
    "libiscsi",
    "xnvme",
    "guasi",
    "syslet-rw",
}
SYNCHRONOUS = {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "pmemblk", "libpmem"}

MOST_DIRECTIONS = 3  # values of an option that has one a direction

_READ_WRITE_TRIM = ("read", "write", "trim")
_DEFAULT_BS = 4 * units.KIB
_US_PER_UNIT = {
    "us": 1,
    "usec": 1,
    "ms": units.US_PER_MS,
    "msec": units.US_PER_MS,
    "": units.US_PER_S,
    "s": units.US_PER_S,
    "m": 60 * units.US_PER_S,
    "h": 3600 * units.US_PER_S,
    "d": 86400 * units.US_PER_S,
}
_TIME = re.compile(r"(\d{1,15})\s*([a-z]*)")


# What the columns are made of; a file may hold any number of other options.
USED = {
    *(
        "rw",
        "rwmixread",
        "rwmixwrite",
        "verify",
        "bs",
        "bsrange",
        "bssplit",
        "iodepth",
        "numjobs",
        "ioengine",
    ),
    *("group_reporting", "filename", "directory", "size", "buffered", "direct", "time_based", "rate"),
    *("rate_iops", "ramp_time", "runtime", "kb_base", "fsync", "fdatasync", "thinktime"),
    "random_distribution",
}


class FioOptions(dict[str, Any]):
    """Options by fio's main name for them, in the order in which fio parsed them.

    Attributes
    ----------
    decimal : set of str
        Those that were parsed while ``kb_base`` was 1000: it holds for what comes after it. Tried with fio
        3.33 on the command line and in job files, where fio moves it to the front of its section; JSON
        lists options in the order of parsing.
    """

    def __init__(self) -> None:
        super().__init__()
        self.decimal: set[str] = set()

    def put(self, name: str, value: Any, decimal: bool) -> None:
        """An option, which then stands last."""
        self.pop(name, None)
        self[name] = value
        (self.decimal.add if decimal else self.decimal.discard)(name)

    def without(self, names: Iterable[str]) -> "FioOptions":
        """All but these, in their order."""
        left = merged(self)
        for name in names:
            left.pop(name, None)
        return left


def merged(*layers: Mapping[str, Any]) -> FioOptions:
    """Those options that columns are made of; what was said last counts, and stands last."""
    result = FioOptions()
    for layer in layers:
        known = layer.decimal if isinstance(layer, FioOptions) else None
        for typed, value in layer.items():
            name = canonical(typed)
            if name in USED:
                result.put(name, value, _is_decimal(result) if known is None else name in known)
    return result


def _is_decimal(options: FioOptions) -> bool:
    return "kb_base" in options and str(options["kb_base"]).strip() == "1000"


class FioWorkload:
    """Columns of the runs table from a job's options.

    Flags that were given without a value are not always among the options (they are not in 3.33, and
    they are in 3.41), so the absence of ``time_based`` or ``group_reporting`` tells nothing.

    Parameters
    ----------
    options : mapping
        Name to text as typed.
    defaults : bool
        Whether all options of the job are there, so that an absent one has fio's default.
    rows : int or None
        Rows of this name in the document: a single one stands for all of ``numjobs``. None: unknown.

    Attributes
    ----------
    columns : dict
        Column of the runs table to value; what cannot be told is left out.
    directions : set of str
        The directions that the pattern drives; empty where it is not known.
    unread : list of str
        Options whose value was not understood, as ``name=value``.
    block_size_varies : bool
        Whether the job drew its block sizes from a range or a list.
    """

    def __init__(self, options: Mapping[str, Any], defaults: bool, rows: int | None) -> None:
        self._options, self._defaults, self._rows = merged(options), defaults, rows
        self.columns: dict[str, Any] = {}
        self._block_sizes: list[int] = []
        self.unread: list[str] = []
        self._grouped = self._read("group_reporting", _flag)
        self.block_size_varies = "bssplit" in self._options or "bsrange" in self._options
        self._pattern()
        self._block_size()
        self._concurrency()
        self._working_set()
        self._limits()
        self._pace()

    def _read(self, name: str, parse: Callable[[str], Any], default: Any = None) -> Any:
        """An option's value; None where it is absent without a default, or not understood."""
        if name not in self._options:
            return default if self._defaults else None
        value = self._options[name]
        if value is None:  # it was said, but not what
            return None
        try:
            if isinstance(value, bool) or not isinstance(value, str | int):
                raise ValueError(value)
            parsed = parse(str(value).strip().strip('"'))
            if isinstance(parsed, int) and parsed > INT64_MAX:
                raise ValueError(parsed)
        except (InputError, ValueError):
            self._refuse(name)
            return None
        return parsed

    def _refuse(self, name: str) -> None:
        self.unread.append(f"{name}={reprlib.repr(self._options[name])}")

    def _sizes(self, name: str, otherwise: int) -> Callable[[str], list[int]]:
        """Parses sizes for reads, writes and trims: an empty place stands for something else."""
        base = self._base(name)

        def parse(text: str) -> list[int]:
            parts = text.split(",")
            if len(parts) > MOST_DIRECTIONS:
                raise ValueError(text)
            return [units.fio_size(part, base) if part.strip() else otherwise for part in parts]

        return parse

    def _size(self, text: str) -> int:
        return units.fio_size(text, self._base("size"))

    def _base(self, name: str) -> int:
        return units.KB if name in self._options.decimal else units.KIB

    def _pattern(self) -> None:
        rw = self._read("rw", _pattern_name, "read")
        self.columns["rw"] = rw
        # data that is verified is read too, so nothing is known of a job that verifies
        self.directions = set() if "verify" in self._options else DIRECTIONS.get(rw, set())
        if rw not in MIXED:
            return
        said = [name for name in self._options if name in ("rwmixread", "rwmixwrite")]
        share = self._read(said[-1] if said else "rwmixread", _percentage, 50)
        from_writes = bool(said) and said[-1] == "rwmixwrite" and share is not None
        self.columns["rwmix_read_pct"] = 100 - share if from_writes else share

    def _block_size(self) -> None:
        if self.block_size_varies:
            return
        sizes = self._read("bs", self._sizes("bs", _DEFAULT_BS), [_DEFAULT_BS])
        if not sizes or max(sizes) > INT64_MAX:
            return
        self._block_sizes = sizes
        self.columns["bs_bytes"] = sizes[0]
        if len(sizes) > 1 and sizes[1] != sizes[0]:
            self.columns["bs_write_bytes"] = sizes[1]

    def _concurrency(self) -> None:
        depth, jobs = self._read("iodepth", _count, 1), self._read("numjobs", _count, 1)
        engine = self._read("ioengine", _word)
        self.columns |= {"iodepth": depth, "numjobs": jobs, "ioengine": engine}
        if engine in SYNCHRONOUS:
            depth = 1
        elif engine not in ASYNCHRONOUS and depth != 1:
            depth = None
        self.members = self._members(jobs)
        if depth is not None and self.members is not None:
            self._put("queue_depth", depth * self.members)

    def _members(self, jobs: int | None) -> int | None:
        """How many jobs fio added up in the row."""
        if jobs is None or (jobs > 1 and self._grouped is None and self._rows is None):
            return None
        return jobs if self._grouped or (self._grouped is None and self._rows == 1) else 1

    def _working_set(self) -> None:
        self.columns["target"] = self._read("filename", _word) or self._read("directory", _word)
        if str(self._options.get("size", "")).rstrip().endswith("%"):
            return  # of a file or device whose size is not told
        size = self._read("size", self._size)
        members = 1 if "filename" in self._options else self.members
        if size is not None and members is not None:
            self._put("working_set_bytes", size * members)

    def _limits(self) -> None:
        buffered = self._read("buffered", _flag)
        direct = self._read("direct", _flag, False)
        if buffered is not None and "direct" not in self._options:
            direct = not buffered
        self.columns |= {
            "direct": direct,
            "time_based": self._read("time_based", _flag),
            "ramp_s": self._read("ramp_time", seconds),
            "runtime_limit_s": self._read("runtime", seconds),
        }

    def _pace(self) -> None:
        """Read what makes a job slower than the disk: limits, pauses, syncs and data that are verified."""
        by_count, by_bytes = (self._read(name, self._sizes(name, 0)) for name in ("rate_iops", "rate"))
        distribution = self._read("random_distribution", _word, "random")
        self.columns |= {
            "rate_iops": self._rate_limit(by_count, by_bytes),
            "rate_bytes_per_s": self._sum_of_limits(partial(_of_direction, by_bytes)),
            "thinktime_us": self._read("thinktime", microseconds, 0.0),
            "fsync": self._read("fsync", _count_or_none, 0),
            "fdatasync": self._read("fdatasync", _count_or_none, 0),
            "random_distribution": distribution if (self.columns["rw"] or "").startswith("rand") else None,
            "verify": self._read("verify", _way_to_verify, "none"),
        }

    def _rate_limit(self, by_count: list[int] | None, by_bytes: list[int] | None) -> float | None:
        """I/Os per second that a job may do: the limits of all directions that it drives.

        fio has one limit a direction, in I/Os or in bytes; the last one holds for the directions after it
        too. Tried with fio 3.33, 2026-11.
        """

        def of(ddir: str) -> float:
            size = _of_direction(self._block_sizes, ddir)
            return _of_direction(by_count, ddir) or (_of_direction(by_bytes, ddir) / size if size else 0)

        return self._sum_of_limits(of)

    def _sum_of_limits(self, of: Callable[[str], float]) -> float | None:
        """The limits of all directions that are driven; None: one of them is as fast as it can be."""
        limits = [of(ddir) for ddir in DIRECTIONS.get(self.columns["rw"], set())]
        return sum(limits) or None if all(limits) else None

    def _put(self, column: str, value: int) -> None:
        """A product of options, unless no column can hold it."""
        if value <= INT64_MAX:
            self.columns[column] = value


def workload_of(options: FioOptions, defaults: bool, rows: int | None) -> FioWorkload:
    """As :class:`FioWorkload`, which is made once for the same options: nothing of it may be changed."""
    if all(type(value) is str for value in options.values()):  # of others, some are equal: 1 and true
        return _same_workload(tuple(options.items()), frozenset(options.decimal), defaults, rows)
    return FioWorkload(options, defaults, rows)


@lru_cache(maxsize=256)
def _same_workload(
    options: tuple[tuple[str, str], ...], decimal: frozenset[str], defaults: bool, rows: int | None
) -> FioWorkload:
    whole = FioOptions()
    for name, value in options:
        whole.put(name, value, name in decimal)
    return FioWorkload(whole, defaults, rows)


def _of_direction(values: list[int] | None, ddir: str) -> int:
    """What was said for a direction; 0 where nothing was."""
    place = _READ_WRITE_TRIM.index(ddir)
    return values[min(place, len(values) - 1)] if values else 0


def _pattern_name(text: str) -> str:
    name = canonical(text.split(":")[0].strip().lower())
    if name not in DIRECTIONS:
        raise ValueError(text)
    return name


def _percentage(text: str) -> int:
    value = int(text.rstrip("%"))
    if not 0 <= value <= 100:
        raise ValueError(text)
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def _word(text: str) -> str | None:
    return text.encode("utf-8", errors="replace").decode() or None


def _flag(text: str) -> bool:
    """A bare flag has an empty value."""
    return text == "" or bool(int(text))


def _count_or_none(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def _way_to_verify(text: str) -> str | None:
    return "none" if text == "0" else _word(text)


def microseconds(text: str) -> float:
    """Return a time as fio reads it where a bare number is one of microseconds.

    Raises
    ------
    ValueError
        When it is none.
    """
    return seconds(text if not text.isdecimal() else f"{text}us") * units.US_PER_S


def seconds(text: str) -> float:
    """Return a time as fio reads it, in seconds.

    Raises
    ------
    ValueError
        When it is none.
    """
    match = _TIME.fullmatch(text.lower())
    if not match or match[2] not in _US_PER_UNIT:
        raise ValueError(text)
    return int(match[1]) * _US_PER_UNIT[match[2]] / units.US_PER_S
