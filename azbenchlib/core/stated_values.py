"""Values as people state them, in options and in files: an error names what stated them."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from numbers import Real

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import SECTOR_BYTES, TwoReadingsError, parse_size, stated_rate, stated_size


def number(name: str, text: str) -> float:
    """A number above 0; k is 1000, and M a million."""
    try:
        value = stated_rate(text)
    except TwoReadingsError as error:
        raise InputError(f"{name} {error}") from None
    except InputError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"{name} '{text}' is not a number above 0; write one such as 24000, 24k or 1.5")
    return value


def share(name: str, text: str) -> float:
    """A share of 0 to 1: ``0.7`` or ``70%``."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise InputError(f"{name} '{text}' is not a share between 0 and 1; write 0.7 or 70%")
    return value


def size(name: str, text: str) -> int:
    """Bytes of a disk, of data or of memory, with a unit."""
    return _above_zero(name, text, stated_size)


def block(name: str, text: str) -> int:
    """Bytes of an I/O, in fio's spelling: k, kB and KiB are all 1024; a bare number is bytes."""
    n_bytes = _above_zero(name, text, parse_size)
    if n_bytes < SECTOR_BYTES:
        kib = f", such as {text}k" if text.isdigit() else ", such as 4k"
        raise InputError(f"{name} '{text}': an I/O of a disk has at least {SECTOR_BYTES} B{kib}")
    return n_bytes


def _above_zero(name: str, text: str, parse: Callable[[str], int]) -> int:
    try:
        n_bytes = parse(text)
    except InputError as error:
        raise InputError(f"{name} {error}") from None
    if not n_bytes:
        raise InputError(f"{name} '{text}' is not above 0")
    return n_bytes


def as_text(name: str, value: object, unit: str = "") -> str:
    """Return a value that a program states as the text by which a person would state it.

    Parameters
    ----------
    name : str
        What the value is of, for the message.
    value : str, int, float or Decimal
        A text stays as it is.
    unit : str
        That of a number, such as B for sizes.

    Raises
    ------
    InputError
        For anything else, True and False too.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, Real | Decimal):
        kind = type(value).__name__
        raise InputError(
            f"{name} {value!r} is of type {kind}: give a number, or a text as the command line takes it"
        )
    if not math.isfinite(value):
        return str(value)
    exact = value if isinstance(value, int | Decimal) else Decimal(repr(float(value)))
    if exact == int(exact):
        return f"{int(exact)}{unit}"
    written = format(exact, "f")
    # three decimals could be a group of thousands, if a person had written them
    return f"{written}{'0' if len(written.partition('.')[2]) == 3 else ''}{unit}"
