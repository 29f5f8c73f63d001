"""What a student types, read as a number: with or without thousands, a suffix, a unit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import (
    GB,
    GIB,
    KB,
    KIB,
    MB,
    MIB,
    MILLION,
    S_PER_HOUR,
    S_PER_MIN,
    US_PER_MS,
    US_PER_S,
)

_DAY_S = 24 * S_PER_HOUR
_PER_CENT = 100
_BITS = 8

# Spellings without blanks, per second written in any way cut off.
_RATES = {"iops": 1.0, "io": 1.0, "ios": 1.0, "i/os": 1.0, "i/o": 1.0, "kiops": float(KB), "": 1.0}
_BYTES = {
    **{"B": 1.0, "bytes": 1.0, "kB": KB, "KB": KB, "MB": MB, "mb": MB, "GB": GB, "gb": GB, "kb": KB},
    **{"KiB": KIB, "kib": KIB, "MiB": MIB, "mib": MIB, "GiB": GIB, "gib": GIB},
    **{f"{prefix}bit": size / _BITS for prefix, size in (("k", KB), ("M", MB), ("G", GB))},
}
_TIMES = {
    **dict.fromkeys(("us", "µs", "μs", "microseconds", "microsecond"), 1.0),
    **dict.fromkeys(("ms", "milliseconds", "millisecond"), float(US_PER_MS)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), float(US_PER_S)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), float(S_PER_MIN * US_PER_S)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), float(S_PER_HOUR * US_PER_S)),
    **dict.fromkeys(("d", "day", "days"), float(_DAY_S * US_PER_S)),
}
_MONEY = dict.fromkeys(("usd", "$", "us$", "dollar", "dollars"), 1.0)
_SHARES = {"%": 1 / _PER_CENT, "percent": 1 / _PER_CENT, "percents": 1 / _PER_CENT}
_COUNTS = dict.fromkeys(("ios", "io", "i/os", "i/o", "outstanding", "requests", "runs", "run"), 1.0)
QUANTITY_KINDS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {"iops": _RATES, "bytes": _BYTES, "time": _TIMES, "money": _MONEY, "share": _SHARES, "count": _COUNTS}
)
CHOICE = "choice"
_LETTER = re.compile(r"\W*(?:(?:answer|option)\s+)?([A-Z])\W*", re.IGNORECASE)
_A = ord("A") - 1
_SUFFIXES = {"k": KB, "K": KB, "M": MILLION, "": 1}
# Left out before a number is read: words and signs that say that it is rounded, or in which currency it is.
_ABOUT = re.compile(r"^(?:=|~|≈|about|approx\.?|approximately|around|ca\.?|roughly)\s*", re.IGNORECASE)
_PER_SECOND = re.compile(r"\s{0,9}(?:/\s{0,9}(?:s|sec|second)|per\s{1,9}sec(?:ond)?|ps)$", re.IGNORECASE)
_PER_PERIOD = re.compile(r"\s{0,9}(?:/|per|a)\s{0,9}(?:h|hour|month|mo)$", re.IGNORECASE)
# As the questions write numbers: a comma (or a blank, _ or ') groups thousands, never after a leading 0; a
# point is decimal, and so is a comma that groups nothing.
_NUMBER = re.compile(
    r"^([+-]?)((?:[1-9]\d{0,2}(?:[,_'\s\u00a0\u202f]\d{3})+(?!\d)|\d+)(?:[.,]\d+)?|[.,]\d+)"
    r"(e[+-]?\d{1,2})?\s*(.*)$",
    re.IGNORECASE | re.DOTALL,
)
_GROUPED = re.compile(r"^[1-9]\d{0,2}(?:[,_'\s\u00a0\u202f]\d{3})+(?!\d)")
_GROUPS = re.compile(r"[,_'\s\u00a0\u202f]")
_OPEN = re.compile(r"^[1-9]\d{0,2}[,.]\d{3}$")  # grouped, or with three decimals
_SWAPPED = str.maketrans(",.", ".,")
_BIT_OR_BYTE = re.compile(r"^Mb(?:ps|/s)?$")
_WHOLE_FROM = 1000  # numbers are shown without decimals
_LONGEST = 60  # characters of an answer that are repeated


@dataclass(frozen=True)
class AnswerUnit:
    """What a question asks for: a kind of quantity and the unit of a bare number.

    Parameters
    ----------
    kind : str
        One of `QUANTITY_KINDS`, or ``choice`` for the letter of an answer: A is 1.
    name : str
        As the question writes it, such as ``MB/s``.
    size : float
        Of the unit, in base units: I/Os per second, bytes (per second), µs, dollars, shares of 1.
    """

    kind: str
    name: str
    size: float = 1.0

    @property
    def prompt(self) -> str:
        """What a field for an answer asks for."""
        return self.name if self.kind == CHOICE else f"a number, in {self.name}"


IN_IOPS = AnswerUnit("iops", "IOPS")
IN_MB_PER_S = AnswerUnit("bytes", "MB/s", MB)
IN_MILLISECONDS = AnswerUnit("time", "ms", US_PER_MS)
IN_SECONDS = AnswerUnit("time", "seconds", US_PER_S)
IN_MINUTES = AnswerUnit("time", "minutes", S_PER_MIN * US_PER_S)
IN_HOURS = AnswerUnit("time", "hours", S_PER_HOUR * US_PER_S)
IN_DOLLARS = AnswerUnit("money", "USD")
IN_PER_CENT = AnswerUnit("share", "%", 1 / _PER_CENT)
IN_OUTSTANDING = AnswerUnit("count", "I/Os")
IN_RUNS = AnswerUnit("count", "runs")
A_LETTER = AnswerUnit(CHOICE, "a letter")


@dataclass(frozen=True, kw_only=True)
class TypedAnswer:
    """A number that a student typed.

    Parameters
    ----------
    readings : tuple of float
        In base units. One, or two of a share: 0.25 may be a quarter or a quarter of a percent.
    off : float
        By how much it may be off because it was rounded: half of its last digit, in base units.
    digits, swapped : str
        As typed, and with comma and point exchanged where both can be meant; empty where not.
    other : float
        What it is when read as `swapped`; NaN where that is empty.
    """

    readings: tuple[float, ...]
    off: float
    digits: str
    swapped: str
    other: float

    def off_of(self, reading: float) -> float:
        """By how much one of its readings may be off."""
        return self.off * (reading / self.readings[0] if self.readings[0] else 1.0)

    def asked_back(self) -> str:
        """A question for a number that can be read in two ways."""
        digits = re.sub(r"[,.]", "", self.digits)
        decimal = self.digits.replace(",", ".") + "0"
        return (
            f"do you mean {self.digits} or {self.swapped}? Here a comma groups thousands and a point begins "
            f"the decimals; type {digits} for the larger number, {decimal} for the smaller one"
        )


def parse_answer(text: str, unit: AnswerUnit) -> TypedAnswer:
    """The number that a student typed, read as the questions write numbers.

    Parameters
    ----------
    text : str
        Such as ``3,500``, ``3.5k``, ``3500 IOPS``, ``~ 3 500``, ``3.5e3``, ``190 MiB/s``, ``1.4 ms``.
    unit : AnswerUnit
        What the question wants; a bare number is in it.

    Raises
    ------
    InputError
        When the text is no number, or its unit is of another kind; the sentence shows what is accepted.
    """
    if unit.kind == CHOICE:
        return _chosen(text)
    told = _ABOUT.sub("", text.strip())
    told = told.removeprefix("$").strip() if unit.kind == "money" else told
    match = _NUMBER.match(told)
    if match is None:
        raise InputError(f"'{text[:_LONGEST]}' is not a number; write one such as 3500, 3,500 or 3.5k")
    sign, digits, exponent, rest = match[1], match[2], match[3] or "", match[4].strip()
    factor = _factor(text, rest, unit) * float(f"1{exponent}" if exponent else 1)
    value = float(f"{sign}{_plain(digits)}") * factor
    readings = [value]
    if unit.kind == "share" and not rest and abs(value) <= unit.size:
        readings.append(value / unit.size)
    swapped = digits.translate(_SWAPPED) if _OPEN.match(digits) else ""
    return TypedAnswer(
        readings=tuple(readings),
        off=factor * 0.5 * 10.0 ** -len(_plain(digits).partition(".")[2]),
        digits=digits,
        swapped=swapped,
        other=float(f"{sign}{_plain(swapped)}") * factor if swapped else math.nan,
    )


def _chosen(text: str) -> TypedAnswer:
    """The place of a letter in the alphabet."""
    match = _LETTER.fullmatch(text)
    if match is None:
        raise InputError(f"'{text[:_LONGEST]}' is not one of the answers; write its letter, such as B")
    place = float(ord(match[1].upper()) - _A)
    return TypedAnswer(readings=(place,), off=0.0, digits=match[1], swapped="", other=math.nan)


def shown(value: float, unit: AnswerUnit) -> str:
    """A value in the unit of a question, as its sentences write numbers."""
    if unit.kind == CHOICE:
        return chr(_A + round(value))
    number = value / unit.size
    if math.isinf(number):
        return "never"
    if unit.kind == "money":
        return f"{number:,.2f}"
    return f"{number:,.0f}" if number >= _WHOLE_FROM else f"{number:.4g}"


def _plain(digits: str) -> str:
    """A number without its groups of thousands, and with a point where decimals begin."""
    return _GROUPED.sub(lambda found: _GROUPS.sub("", found[0]), digits).replace(",", ".")


def _factor(text: str, rest: str, unit: AnswerUnit) -> float:
    """What a number is multiplied by: its suffix and its unit."""
    if not rest:
        return unit.size
    known = QUANTITY_KINDS[unit.kind]
    suffix = rest[0] if rest[0] in _SUFFIXES and (len(rest) == 1 or rest[1].isspace()) else ""
    name = _named(rest[len(suffix) :], unit)
    if suffix and not name:
        return unit.size * _SUFFIXES[suffix]
    if name not in known and unit.kind in ("iops", "count") and rest[:1] in _SUFFIXES:
        suffix, name = rest[0], _named(rest[1:], unit)
    if name not in known and name.lower() in known:
        name = name.lower()
    if name not in known or _BIT_OR_BYTE.match(rest):
        raise InputError(_wrong_unit(text, rest, unit))
    return known[name] * _SUFFIXES[suffix]


def _named(text: str, unit: AnswerUnit) -> str:
    """A unit without its ``per second`` or ``per month``."""
    text = text.strip().removesuffix(".")
    if unit.kind == "money":
        return _PER_PERIOD.sub("", text).strip()
    if unit.kind == "time" or text.lower() in ("iops", "kiops"):
        return text
    return _PER_SECOND.sub("", text).strip()


def _wrong_unit(text: str, name: str, unit: AnswerUnit) -> str:
    if unit.kind == "bytes" and _BIT_OR_BYTE.match(name):
        return f"'{text[:_LONGEST]}': write MB/s for megabytes or Mbit/s for megabits per second"
    for kind, names in QUANTITY_KINDS.items():
        if kind != unit.kind and names.keys() & {name, name.lower(), _PER_SECOND.sub("", name)}:
            return f"'{text[:_LONGEST]}': the question asks for {unit.name}, and this is another quantity"
    wrong = f"'{text[:_LONGEST]}': unit '{name[:_LONGEST]}' is unknown here"
    return f"{wrong}; write the number alone, or in {unit.name}"
