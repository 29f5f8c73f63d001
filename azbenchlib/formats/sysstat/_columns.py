"""What the columns of iostat, sar and sadf are called in each version, and in which unit they are.

Source: sysstat iostat.c, pr_stats.c, json_stats.c and CHANGES, 12.7.9 (2026-07-18), and outputs of 12.6.1.
``k`` and ``M`` are powers of 1024, sectors and blocks 512 bytes whatever the disk has.
"""

import re

from azbenchlib.core.units import GIB, KIB, MIB, TIB, US_PER_MS
from azbenchlib.formats._telemetry import number

_SECTOR = 512
_UNITS = {"kB": KIB, "MB": MIB, "GB": GIB, "sec": _SECTOR}
_SUFFIXES = {"s": _SECTOR, "B": 1, "k": KIB, "M": MIB, "G": GIB, "T": TIB}  # of --human

WRITTEN_OR_DISCARDED = "written_or_discarded_bytes_per_s"  # of iostat -s; no column of the table: see settle
# Name -> column of the table demand, factor.
FIGURES: dict[str, tuple[str, float]] = {
    "tps": ("iops", 1),
    "r/s": ("read_iops", 1),
    "w/s": ("write_iops", 1),
    "rtps": ("read_iops", 1),
    "wtps": ("write_iops", 1),
    "bread/s": ("read_bytes_per_s", _SECTOR),
    "bwrtn/s": ("write_bytes_per_s", _SECTOR),
    "await": ("lat_us", US_PER_MS),
    "r_await": ("read_lat_us", US_PER_MS),
    "w_await": ("write_lat_us", US_PER_MS),
    "aqu-sz": ("queue_depth", 1),
    "avgqu-sz": ("queue_depth", 1),
    "util": ("busy_pct", 1),
    "%util": ("busy_pct", 1),
    "util-percent": ("busy_pct", 1),
    "rd_sec": ("read_bytes_per_s", _SECTOR),
    "wr_sec": ("write_bytes_per_s", _SECTOR),
    "rd_sec/s": ("read_bytes_per_s", _SECTOR),
    "wr_sec/s": ("write_bytes_per_s", _SECTOR),
    "rkB": ("read_bytes_per_s", KIB),
    "wkB": ("write_bytes_per_s", KIB),
    "Blk_read/s": ("read_bytes_per_s", _SECTOR),
    "Blk_wrtn/s": ("write_bytes_per_s", _SECTOR),
    **{f"r{unit}/s": ("read_bytes_per_s", factor) for unit, factor in _UNITS.items()},
    **{f"w{unit}/s": ("write_bytes_per_s", factor) for unit, factor in _UNITS.items()},
    **{f"{unit}_read/s": ("read_bytes_per_s", factor) for unit, factor in _UNITS.items()},
    **{f"{unit}_wrtn/s": ("write_bytes_per_s", factor) for unit, factor in _UNITS.items()},
    "Blk_w+d/s": (WRITTEN_OR_DISCARDED, _SECTOR),
    **{f"{unit}_w+d/s": (WRITTEN_OR_DISCARDED, factor) for unit, factor in _UNITS.items()},
    **{f"{unit}/s": ("bw_bytes_per_s", factor) for unit, factor in _UNITS.items()},
}
_LENGTH = re.compile(r"[0-9]{1,7}")


def length_s(text: str) -> float | None:
    """The length of an interval as sadf prints it, in s; None: it is zero, or damaged."""
    return float(text) or None if _LENGTH.fullmatch(text) else None


def settle(figures: dict[str, float]) -> bool:
    """Put the sum of writes and discards where it belongs; whether there are discards or may be.

    iostat -s prints writes and discards in one figure. Where that is zero nothing was written; elsewhere what
    was written is not known, and the sum with the reads is the throughput of all, as iostat -xs has it.
    """
    both = figures.pop(WRITTEN_OR_DISCARDED, None)
    if both == 0:
        figures["write_bytes_per_s"] = 0.0
    elif both is not None:
        figures["bw_bytes_per_s"] = figures.get("read_bytes_per_s", 0.0) + both
    return bool(both)


def value(name: str, text: str) -> tuple[str, float] | None:
    """The column that a figure belongs into and its value; None where there is no such column, or no figure.

    Parameters
    ----------
    name : str
        As the tool calls it.
    text : str
        As the tool prints it; with ``--human`` a unit stands behind it.
    """
    if name not in FIGURES:
        return None
    column, factor = FIGURES[name]
    suffix = text[-1:]
    if suffix == "%":
        text = text[:-1]
    elif suffix in _SUFFIXES and column.endswith("bytes_per_s"):
        text, factor = text[:-1], _SUFFIXES[suffix]
    found = number(text)
    return None if found is None or found < 0 else (column, found * factor)
