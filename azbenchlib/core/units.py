"""Sizes, rates and times: parse and format. The only home of 1024, 10**3 and 10**6.

Values inside the library are in base units: bytes, bytes per second, seconds, and microseconds for
latencies (columns end in ``_bytes``, ``_bytes_per_s``, ``_s``, ``_us``). They are formatted at the edge.
"""

import math
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from azbenchlib.core.errors import InputError

KIB = 1024
MIB = KIB**2
GIB = KIB**3
TIB = KIB**4
KB = 10**3
MB = 10**6
GB = 10**9
MS_PER_S = 10**3
US_PER_MS = 10**3
US_PER_S = 10**6
NS_PER_US = 10**3
S_PER_MIN = 60
MIN_PER_H = 60
S_PER_HOUR = S_PER_MIN * MIN_PER_H
MILLION = 10**6  # of I/Os

NBSP = "\u00a0"  # keeps a number and its unit on one line
_UNITS = r"%|(?:IOPS|[KMGT]?i?B(?:/s)?|bytes|ms|µs|s|min|minutes|h|hours|vCPUs|USD)\b"
_NUMBER_UNIT = re.compile(rf"(?<=\d) (?={_UNITS})")

# What fio's `kb_base=1024` (the default) makes of a suffix: SI letters are powers of two and IEC names
# are powers of ten, the opposite of the standards, for the sake of old job files. An IEC name is one with
# its b: `4ki` is what `4k` is. Source: fio HOWTO, "Parameter types", int; read at fio-3.41, 2025; every
# suffix with both bases tried with fio 3.33, 2026-11.
_FIO_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_FIO_SIZE = re.compile(r"^(\d{1,30})\s*(?:([kmgtp])(ib|i|b)?|b)?$", re.IGNORECASE)

# More digits than any size has are refused here: Python makes no number of some thousands.
_SIZE = re.compile(r"^(\d{1,30}(?:\.\d{1,30})?)\s*(?:([kmgt])i?)?b?$", re.IGNORECASE)
_SECONDS = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86_400),
}
_DURATION = re.compile(rf"([0-9]{{1,9}}(?:\.[0-9]{{1,6}})?) ?({'|'.join(_SECONDS)})")
# The smallest unit that direct I/O can address, and in which Linux counts, whatever a device's own sectors.
# Source: open(2), O_DIRECT; the kernel's Documentation/block/stat.rst
SECTOR_BYTES = 512
_QUOTED = 80  # characters of a text that a sentence repeats

# What a user states. Thousands may be grouped: 24,000; a comma elsewhere is no decimal point.
_FIGURE = r"(\d{1,3}(?:,\d{3}){1,9}(?:\.\d{1,30})?|\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})"
_STATED_SIZE = re.compile(rf"^{_FIGURE}\s*(?:([kmgtp])(ib?|b)?|(b))?$", re.IGNORECASE | re.ASCII)
_GROUPED_BY_POINTS = re.compile(r"[1-9]\d{0,2}(\.\d{3})+$", re.ASCII)
_STATED_RATE = re.compile(rf"^{_FIGURE}(e[+-]?\d{{1,3}})?\s*([km])?$", re.IGNORECASE | re.ASCII)
_STATED_LATENCY = re.compile(rf"^{_FIGURE}\s*(us|µs|μs|ms|s)$", re.IGNORECASE | re.ASCII)
_STATED_THROUGHPUT = re.compile(rf"^{_FIGURE}\s*([kmgt]i?b)/s$", re.IGNORECASE | re.ASCII)
SIZE_RULE = (
    "KiB, MiB, GiB and TiB (or k, M, G and T) count in powers of 1024, kB, MB, GB and TB in powers of 1000, "
    "B in bytes"
)


def units_kept(text: str) -> str:
    """Keep each number and its unit on one line: a space between them becomes one that does not break."""
    return _NUMBER_UNIT.sub(NBSP, text)


def fio_size(text: str, kb_base: int = KIB) -> int:
    """Bytes of a fio size such as ``4k``, ``30g`` or ``65536``.

    Parameters
    ----------
    text : str
        The option's value as typed.
    kb_base : {1024, 1000}
        fio's option of that name.

    Returns
    -------
    int
        Bytes.

    Raises
    ------
    InputError
        When the text is no size (a percentage, a list, a range).

    Notes
    -----
    With ``kb_base=1024`` fio reads ``4k`` as 4,096 and ``4KiB`` as 4,000; with ``kb_base=1000`` the other
    way round. Source: fio HOWTO, "Parameter types".
    """
    match = _FIO_SIZE.match(text.strip())
    if not match:
        raise InputError(
            f"'{text[:_QUOTED]}' is not a fio size; write bytes or a number with k, m, g or t, such as 4k"
        )
    number, letter, iec = int(match[1]), (match[2] or "").lower(), (match[3] or "").lower() == "ib"
    base = KIB if (kb_base == KIB) != iec else KB
    return number * base ** _FIO_POWERS[letter]


def parse_size(text: str) -> int:
    """Bytes of a size in a file, in a tool's output, or of a block: ``4k``, ``64KiB``, ``1.5 GiB``, ``8KB``.

    Everything counts in powers of 1024, as in fio and ``ls -h``; a bare number is bytes. What a user states
    of disks and data is read by :func:`stated_size`.

    Raises
    ------
    InputError
        When the text is no size or not a whole number of bytes.
    """
    match = _SIZE.match(text.strip())
    if not match:
        raise InputError(
            f"'{text[:_QUOTED]}' is not a size; write a number with k, M, G or T, such as 64k or 2G"
        )
    value = Fraction(match[1]) * KIB ** _FIO_POWERS[(match[2] or "").lower()]
    if value.denominator != 1:
        raise InputError(f"'{text}' is not a whole number of bytes")
    return int(value)


def parse_duration(text: str) -> float:
    """Seconds of a duration with its unit: ``250ms``, ``1s``, ``1.5 min``, ``2h``.

    Raises
    ------
    InputError
        When the text is no duration, or has no unit.
    """
    match = _DURATION.fullmatch(text.strip())
    if not match:
        units = ", ".join(_SECONDS)
        raise InputError(f"'{text[:_QUOTED]}' is not a duration; write a number with one of {units}: 10s")
    return float(Fraction(match[1]) * _SECONDS[match[2]])


def stated_size(text: str) -> int:
    """Bytes of a size as a user states it: IEC and SI units are kept apart.

    ``KiB``, ``MiB``, ``GiB``, ``TiB`` and bare letters (``k``, ``M``, ``G``, ``T``) count in powers of 1024,
    ``kB``, ``MB``, ``GB``, ``TB`` in powers of 1000, ``B`` in bytes. Lower and upper case are the same.

    Raises
    ------
    InputError
        When the text is no size, has no unit, or is not a whole number of bytes.
    """
    match = _STATED_SIZE.match(text.strip())
    if not match:
        raise InputError(
            f"'{text[:_QUOTED]}' is not a size; write a number with a unit, such as 100GiB. {SIZE_RULE}"
        )
    number, letter, second, plain = (part or "" for part in match.groups())
    if not letter and not plain:
        raise InputError(f"'{text}': {number} of what? Write {number}GiB or another unit. {SIZE_RULE}")
    power = _FIO_POWERS[letter.lower()]
    value = Fraction(number.replace(",", "")) * (KB if second.lower() == "b" else KIB) ** power
    if value.denominator != 1:
        raise InputError(f"'{text}' is not a whole number of bytes")
    return int(value)


class TwoReadingsError(InputError):
    """A number that means one thing with a decimal point, and another with points between thousands."""


def stated_rate(text: str) -> float:
    """A rate or a count as a user states it: ``24000``, ``24,000``, ``24k``, ``1.5M``; k is 1000, M 10**6.

    Raises
    ------
    TwoReadingsError
        For ``24.000``, which is 24 here and 24,000 elsewhere.
    InputError
        When the text is none.
    """
    if _GROUPED_BY_POINTS.match(text.strip()):
        whole, *groups = text.strip().split(".")
        readings = [whole + "".join(groups)]
        if len(groups) == 1:
            readings.append(f"{whole}.{groups[0]}0" if groups[0].strip("0") else whole)
        raise TwoReadingsError(f"'{text}' has points that may group thousands: write {' or '.join(readings)}")
    match = _STATED_RATE.match(text.strip())
    number, exponent, letter = (part or "" for part in match.groups()) if match else ("inf", "", "")
    rate = float(number.replace(",", "") + exponent) * KB ** _FIO_POWERS[letter.lower()]
    if not math.isfinite(rate):
        raise InputError(
            f"'{text[:_QUOTED]}' is not a number; write one such as 24000 or 24k, which is the same"
        )
    return rate


def stated_latency(text: str) -> float:
    """Microseconds of a latency as a user states it, with its unit: ``250us``, ``2 ms``, ``1.5s``.

    Raises
    ------
    InputError
        When the text is none, has no unit, or has two readings.
    """
    match = _STATED_LATENCY.match(text.strip())
    if not match:
        raise InputError(f"'{text[:_QUOTED]}' is not a latency; write a number with us, ms or s, such as 2ms")
    return _times(match[1], {"s": US_PER_S, "ms": US_PER_MS}.get(match[2].lower(), 1))


def stated_throughput(text: str) -> float:
    """Bytes per second of a throughput as a user states it: ``200MB/s``, ``190 MiB/s``, ``1.5GB/s``.

    Raises
    ------
    InputError
        When the text is none, has no unit, or has two readings.
    """
    match = _STATED_THROUGHPUT.match(text.strip())
    if not match:
        raise InputError(
            f"'{text[:_QUOTED]}' is not a throughput; write a number with MB/s or MiB/s, such as 200MB/s"
        )
    return _times(match[1], stated_size(f"1{match[2]}"))


def _times(number: str, factor: int) -> float:
    """A number as a user states it, times a factor, rounded once."""
    stated_rate(number)  # refuses what has two readings
    return float(Fraction(number.replace(",", "")) * factor)


def fio_size_text(n_bytes: int) -> str:
    """The shortest fio spelling of a size: 4096 -> ``4k``, 1536 -> ``1536``."""
    for letter, unit in (("t", TIB), ("g", GIB), ("m", MIB), ("k", KIB)):
        if n_bytes and n_bytes % unit == 0:
            return f"{n_bytes // unit}{letter}"
    return str(n_bytes)


def format_size(n_bytes: float) -> str:
    """A size in binary units: 4096 -> ``4 KiB``, with a no-break space."""
    return _scaled(n_bytes, (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB), ("B", 1)), digits=4)


def format_us(us: float) -> str:
    """A latency given in microseconds: ``147 µs``, ``2.47 ms``, ``1.2 s``, three significant digits."""
    return _scaled(us, (("s", US_PER_S), ("ms", US_PER_MS), ("µs", 1)), digits=3)


def format_span(seconds: float) -> str:
    """A length of time: ``45 s``, ``30 min``, ``2.5 h``; whole seconds and minutes from 10 s and 3 min on."""
    minutes = _figure(seconds) / S_PER_MIN
    if minutes >= MIN_PER_H * 2:
        return f"{format_significant(minutes / MIN_PER_H, 2)}{NBSP}h"
    if minutes >= 3:
        return f"{minutes:.0f}{NBSP}min"
    return f"{seconds:.0f}{NBSP}s" if seconds >= 9.95 else f"{format_significant(seconds, 2)}{NBSP}s"


def bare_first(first: str, last: str) -> str:
    """The first of two figures without the unit that the last has too: ``1.5`` before ``3 ms``."""
    bare, space, unit = first.rpartition(NBSP)
    return bare if space and last.endswith(f"{NBSP}{unit}") else first


def format_range(first: str, last: str) -> str:
    """Two figures with the unit that they share: ``1.5 to 3 ms``; one where they are the same."""
    return first if first == last else f"{bare_first(first, last)} to {last}"


def format_count(value: float) -> str:
    """A count or a rate with thousands separators: 59200 -> ``59,200``; below 100 one decimal."""
    if abs(_figure(value)) >= 99.95 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 0.05 else format_significant(value, 1)


def format_mbps(bytes_per_s: float) -> str:
    """A throughput as the number of MB/s (10**6 bytes): 134217728 -> ``134``."""
    value = _figure(bytes_per_s) / MB
    if value >= 0.995:
        return format_count(value)
    return f"{value:.2f}" if value >= 0.01 else format_significant(value, 1)


def format_depth(queue_depth: float) -> str:
    """A queue depth as engineers write it: 1024 -> ``QD 1,024``, with a no-break space."""
    return f"QD{NBSP}{_figure(queue_depth):,.0f}"


def format_money(amount: float) -> str:
    """An amount of any currency: ``1,041``, ``5.28``, ``0.00875``; from 100 on without cents."""
    if abs(_figure(amount)) >= 99.995 or amount == 0:
        return f"{amount:,.0f}"
    return f"{amount:.2f}" if abs(amount) >= 0.995 else format_significant(amount, 3)


def _figure(value: float) -> float:
    """The value itself, unless it is none: what is missing must not look like a figure."""
    if not math.isfinite(value):
        raise InputError(f"{value} is not a figure that can be shown; a finite number is needed")
    return value


def _scaled(value: float, named: Sequence[tuple[str, int]], digits: int) -> str:
    """The value in the largest unit in which it is 1 or more once rounded, else in the last one."""
    size = abs(_figure(value))
    name, unit = next(
        (entry for entry in named if size >= entry[1] or float(f"{size / entry[1]:.{digits}g}") >= 1),
        named[-1],
    )
    return f"{format_significant(value / unit, digits)}{NBSP}{name}"


def format_probability(share: float) -> str:
    """A probability, rounded down, and never above 99 %."""
    if share >= 0.99:
        return f"≥{NBSP}99{NBSP}%"
    return f"<{NBSP}1{NBSP}%" if share < 0.01 else f"{int(100 * share + 1e-9)}{NBSP}%"


def format_bound(bound: object) -> str:
    """What stands before a figure that is only a bound or about right; nothing before one that is exact."""
    return {"<": f"<{NBSP}", ">": f">{NBSP}", "~": f"≈{NBSP}"}.get(str(bound), "")


def format_significant(value: float, digits: int) -> str:
    """So many significant digits, never in exponent form; of three: 4.0 -> ``4``, 2.474 -> ``2.47``."""
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def sum_known(parts: Iterable[float | None]) -> float | None:
    """The sum; None where one of the parts is not known, or there is none."""
    known = list(parts)
    if not known or any(part is None for part in known):
        return None
    return sum(part for part in known if part is not None)
