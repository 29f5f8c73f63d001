"""Sizes, rates and times: parse and format. The only home of 1024, 10**3 and 10**6.

Values inside the library are in base units: bytes, bytes per second, seconds, and microseconds for
latencies (columns end in ``_bytes``, ``_bytes_per_s``, ``_s``, ``_us``). They are formatted at the edge.
"""

import math
import re
from collections.abc import Sequence
from fractions import Fraction

from azbenchlib.errors import InputError

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

NBSP = "\u00a0"  # keeps a number and its unit on one line

# What fio's `kb_base=1024` (the default) makes of a suffix: SI letters are powers of two and IEC names
# are powers of ten, the opposite of the standards, for the sake of old job files.
# Source: fio HOWTO, "Parameter types", int; read at fio-3.41, 2025.
_FIO_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_FIO_SIZE = re.compile(r"^(\d+)\s*(?:([kmgtp])(i?))?b?$", re.IGNORECASE)

_SIZE = re.compile(r"^(\d+(?:\.\d+)?)\s*(?:([kmgt])i?)?b?$", re.IGNORECASE)


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
    With ``kb_base=1024`` fio reads ``4k`` as 4,096 and ``4Ki`` as 4,000; with ``kb_base=1000`` the other
    way round. Source: fio HOWTO, "Parameter types".
    """
    match = _FIO_SIZE.match(text.strip())
    if not match:
        raise InputError(f"'{text}' is not a fio size; write bytes or a number with k, m, g or t, such as 4k")
    number, letter, iec = int(match[1]), (match[2] or "").lower(), bool(match[3])
    base = KIB if (kb_base == KIB) != iec else KB
    return number * base ** _FIO_POWERS[letter]


def parse_size(text: str) -> int:
    """Bytes of a size as people write it: ``4k``, ``64KiB``, ``1.5 GiB`` are binary, ``2TB`` too.

    A bare letter and ``xB`` count in powers of 1024, like fio and ``ls -h``.

    Raises
    ------
    InputError
        When the text is no size or not a whole number of bytes.
    """
    match = _SIZE.match(text.strip())
    if not match:
        raise InputError(f"'{text}' is not a size; write a number with k, M, G or T, such as 64k or 2G")
    value = Fraction(match[1]) * KIB ** _FIO_POWERS[(match[2] or "").lower()]
    if value.denominator != 1:
        raise InputError(f"'{text}' is not a whole number of bytes")
    return int(value)


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


def format_count(value: float) -> str:
    """A count or a rate with thousands separators: 59200 -> ``59,200``; below 100 one decimal."""
    if abs(_figure(value)) >= 99.95 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 0.05 else _significant(value, 1)


def format_mbps(bytes_per_s: float) -> str:
    """A throughput as the number of MB/s (10**6 bytes): 134217728 -> ``134``."""
    value = _figure(bytes_per_s) / MB
    if value >= 0.995:
        return format_count(value)
    return f"{value:.2f}" if value >= 0.01 else _significant(value, 1)


def format_money(amount: float) -> str:
    """An amount of any currency: ``1,041``, ``5.28``, ``0.00875``; from 100 on without cents."""
    if abs(_figure(amount)) >= 99.995 or amount == 0:
        return f"{amount:,.0f}"
    return f"{amount:.2f}" if abs(amount) >= 0.995 else _significant(amount, 3)


def _figure(value: float) -> float:
    """The value itself, unless it is none: what is missing must not look like a figure."""
    if not math.isfinite(value):
        raise InputError(f"{value} is not a figure that can be shown; a finite number is needed")
    return value


def _scaled(value: float, named: Sequence[tuple[str, int]], digits: int) -> str:
    """The value in the largest unit in which it is 1 or more once rounded, else in the last one."""
    rounded = [abs(float(f"{_figure(value) / unit:.{digits}g}")) for _, unit in named]
    name, unit = next((entry for entry, size in zip(named, rounded, strict=True) if size >= 1), named[-1])
    return f"{_significant(value / unit, digits)}{NBSP}{name}"


def format_bound(bound: object) -> str:
    """What stands before a figure that is only a bound or about right; nothing before one that is exact."""
    return {"<": f"<{NBSP}", ">": f">{NBSP}", "~": f"≈{NBSP}"}.get(str(bound), "")


def _significant(value: float, digits: int) -> str:
    """So many significant digits, never in exponent form; of three: 4.0 -> ``4``, 2.474 -> ``2.47``."""
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
