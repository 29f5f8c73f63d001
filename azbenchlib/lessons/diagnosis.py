"""Why a wrong answer may be wrong, where its exercise does not foresee it: slips of units, simple formulas.

Both are found by rule, for every exercise alike. A slip is the right answer times a factor between two
units that look alike. A formula joins up to three numbers of the question, with their units. Only what
agrees with all digits that were typed counts, and of several formulas those with the fewest numbers.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from azbenchlib.core.units import GIB, KB, KIB, MB, MIB, MS_PER_S, S_PER_HOUR, S_PER_MIN, US_PER_S
from azbenchlib.lessons.answers import AnswerUnit, TypedAnswer

_CLOSE = 0.005  # of a value, besides the digits that were typed
_CALCULATED = 0.0003  # of a value: how far intermediate rounding carries an answer with many digits
_EXACT = 1e-6
_DIGITS = 3  # that are typed at least where a formula need not be met exactly
_PER_CENT = 100
_BITS = 8
_FEW = 7  # numbers of a question; three of more than these give nearly any answer
_MOST_FORMULAS = 2  # that are named; where more agree with an answer, none of them says anything


class Diagnosis(NamedTuple):
    """What may be behind an answer: in a few words, and a sentence on it."""

    name: str
    says: str


class _Slip(NamedTuple):
    """Units that are taken for each other: by which factors, and what is said of it where they occur."""

    factors: Sequence[float]
    larger: str
    smaller: str
    says: str
    where: re.Pattern[str]  # in a question, or in the name of the unit that it asks for


_SLIPS = (
    _Slip(
        (KB, MB),
        "{:,} times too large",
        "{:,} times too small",
        "Units a thousand apart are easily taken for each other (s, ms and µs; GB, MB and kB): write all "
        "numbers in one unit of each kind first.",
        re.compile(""),
    ),
    _Slip(
        (KIB / KB, MIB / MB),
        "a power of 1,000 for one of 1,024",
        "a power of 1,024 for one of 1,000",
        "A KiB has 1,024 bytes and a kB 1,000; a MiB has 1,048,576 and a MB 1,000,000. Write all sizes in "
        "bytes first.",
        re.compile(r"\b[KMG]i?B"),
    ),
    _Slip(
        (S_PER_MIN, S_PER_HOUR),
        "{:,} times too large",
        "{:,} times too small",
        "An hour has 60 minutes, and a minute 60 seconds: look in which unit the question wants its answer.",
        re.compile(r"minute|hour"),
    ),
    _Slip(
        (_BITS,),
        "bits for bytes",
        "bits for bytes",
        "A byte has eight bits; disks count in bytes on both sides.",
        re.compile(r"^MB/s$"),
    ),
)


class _Dimension(NamedTuple):
    """Powers of bytes, seconds and dollars."""

    size: int = 0
    time: int = 0
    money: int = 0


_NUMBER, _RATE, _THROUGHPUT, _SIZE = _Dimension(), _Dimension(0, -1), _Dimension(1, -1), _Dimension(1)
_TIME, _MONEY = _Dimension(0, 1), _Dimension(0, 0, 1)
# Of each unit that a question may name: dimension, and its size in bytes and seconds.
_UNITS = MappingProxyType(
    {
        "IOPS": (_RATE, 1.0),
        "MB/s": (_THROUGHPUT, MB),
        "KiB": (_SIZE, KIB),
        "MiB": (_SIZE, MIB),
        "GiB": (_SIZE, GIB),
        "µs": (_TIME, 1 / US_PER_S),
        "ms": (_TIME, 1 / MS_PER_S),
        "s": (_TIME, 1.0),
        "minutes": (_TIME, S_PER_MIN),
        "hours": (_TIME, S_PER_HOUR),
        "USD": (_MONEY, 1.0),
        "%": (_NUMBER, 1 / _PER_CENT),
    }
)
# What a value of another dimension is called, and the unit in which a student would read it.
_SHOWN = MappingProxyType(
    {
        _NUMBER: ("a number without a unit", 1.0),
        _RATE: ("a rate of I/Os", 1.0),
        _THROUGHPUT: ("a rate of bytes", MB),
        _SIZE: ("a number of bytes", KIB),
        _TIME: ("a time", 1 / MS_PER_S),
        _MONEY: ("an amount of money", 1.0),
    }
)
_GIVEN = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\w])(?:\s+([^\W\d_][\w/]*|%))?"
)


@dataclass(frozen=True, kw_only=True)
class _Value:
    """A number with its unit, or a formula of such.

    Parameters
    ----------
    text : str
        As it stands in the question, or is calculated.
    plain : float
        By the numbers alone, as a pocket calculator has it.
    base : float
        In bytes, seconds and dollars.
    dimension : _Dimension
    unit : str
        Of a number of the question; empty of formulas.
    """

    text: str
    plain: float
    base: float
    dimension: _Dimension
    unit: str = ""


def slip(typed: TypedAnswer, question: str, unit: AnswerUnit, right: float) -> Diagnosis | None:
    """The two units that were taken for each other, where the answer is the right one but for that.

    Parameters
    ----------
    typed : TypedAnswer
    question : str
    unit : AnswerUnit
    right : float
        In base units.
    """
    known = {value.plain for value in _givens(question)}
    for one in _SLIPS:
        if not (one.where.search(question) or one.where.search(unit.name)):
            continue
        least = _DIGITS if min(one.factors) < 2 else 2
        for factor in (each for each in one.factors if each not in known):
            if _meets(typed, right * factor, least):
                return Diagnosis(one.larger.format(factor), one.says)
            if _meets(typed, right / factor, least):
                return Diagnosis(one.smaller.format(factor), one.says)
    return None


def formula(typed: TypedAnswer, question: str, unit: AnswerUnit, right: float) -> Diagnosis | None:
    """The simplest formula over the numbers of a question that gives an answer, where there is one.

    Parameters
    ----------
    typed : TypedAnswer
    question : str
    unit : AnswerUnit
    right : float
        In base units: a number of the question may have been added to it, or taken off.
    """
    givens = _givens(question)
    wanted, size = _UNITS.get(unit.name, (_NUMBER, 1.0))
    scale = unit.size / size  # of base units of answers, for one of those here
    found = [
        Diagnosis(value.text, says)
        for value in [*givens, *_pairs(givens, wanted)]
        if (says := _as_read(value, typed, unit, wanted, scale)) is not None
    ]
    of_answer = [given for given in givens if given.dimension == wanted]
    for given in () if found else of_answer:
        for sign, word in ((1, "added"), (-1, "taken off")):
            if _meets(typed, right + sign * given.base * scale):
                found.append(Diagnosis(f"{given.text} {word}", "Is it a part of what the question asks for?"))
    if not found and len(givens) <= _FEW:
        triples = _triples(givens, wanted)
        found = [Diagnosis(value.text, "") for value in triples if _meets(typed, value.base * scale)]
    if not 0 < len(found) <= _MOST_FORMULAS:
        return None
    names = " or ".join(reason.name for reason in found)
    says = found[0].says if len({reason.says for reason in found}) == 1 else ""
    return Diagnosis(f"it looks like {names}", says)


def _as_read(
    value: _Value, typed: TypedAnswer, unit: AnswerUnit, wanted: _Dimension, scale: float
) -> str | None:
    """A sentence on a value that an answer agrees with: in its unit, in another one, or without units."""
    if value.dimension == wanted and _meets(typed, value.base * scale):
        return "That is a number of the question as it stands." if value.unit else ""
    called, one = _SHOWN.get(value.dimension, ("", math.nan))
    if value.dimension != wanted and _meets(typed, value.base / one * unit.size):
        return f"That is {called}, and the question asks for {unit.name}."
    if _meets(typed, value.plain * unit.size):
        return "Do the units of these numbers fit together in that way?"
    return None


def _meets(typed: TypedAnswer, value: float, least_digits: int = _DIGITS) -> bool:
    """Whether an answer is a value, as exactly as it was typed."""
    found = typed.readings[0]
    apart = abs(found - value)
    if apart <= _EXACT * abs(value):
        return True
    digits = len(re.sub(r"\D", "", typed.digits).lstrip("0"))
    return digits >= least_digits and apart <= min(max(typed.off, _CALCULATED * value), _CLOSE * value)


def _givens(question: str) -> list[_Value]:
    """The numbers of a question, each once."""
    found = {}
    for match in _GIVEN.finditer(question):
        number, word = float(match[1].replace(",", "")), match[2] or ""
        dimension, size = _UNITS.get(word, (_NUMBER, 1.0))
        text = f"{match[1]} {word}" if word in _UNITS or word in ("I/Os", "disks", "writes") else match[1]
        found[number, dimension] = _Value(
            text=text, plain=number, base=number * size, dimension=dimension, unit=word or "1"
        )
    return list(found.values())


def _joined(text: str, values: Sequence[_Value], powers: Sequence[int]) -> _Value:
    """A product; of a negative power, a quotient."""
    plain = math.prod(value.plain**power for value, power in zip(values, powers, strict=True))
    base = math.prod(value.base**power for value, power in zip(values, powers, strict=True))
    sums = [
        sum(value.dimension[i] * power for value, power in zip(values, powers, strict=True)) for i in range(3)
    ]
    text = text.format(*(value.text for value in values))
    return _Value(text=text, plain=plain, base=base, dimension=_Dimension(*sums))


def _summed(text: str, values: Sequence[_Value], signs: Sequence[float]) -> _Value:
    """A sum, difference or mean of values of one dimension."""
    plain = sum(value.plain * sign for value, sign in zip(values, signs, strict=True))
    base = sum(value.base * sign for value, sign in zip(values, signs, strict=True))
    text = text.format(*(value.text for value in values))
    return _Value(text=text, plain=plain, base=base, dimension=values[0].dimension)


def _pairs(givens: Sequence[_Value], wanted: _Dimension) -> Iterator[_Value]:
    """What one or two numbers give."""
    for a in (given for given in givens if given.dimension == wanted):
        yield _summed("half of {}", [a], [0.5])
    for a, b in itertools.combinations(givens, 2):
        if a.dimension != b.dimension or a.dimension == _NUMBER:
            yield _joined("{} × {}", [a, b], [1, 1])
        yield _joined("{} ÷ {}", [a, b], [1, -1])
        yield _joined("{} ÷ {}", [b, a], [1, -1])
        if a.dimension == b.dimension:
            low, high = sorted((a, b), key=lambda value: value.base)
            yield _summed("{} + {}", [a, b], [1, 1])
            yield _summed("{} − {}", [high, low], [1, -1])
            yield _summed("the mean of {} and {}", [a, b], [0.5, 0.5])


def _triples(givens: Sequence[_Value], wanted: _Dimension) -> Iterator[_Value]:
    """What three numbers give, where the units fit."""
    found: list[_Value] = []
    for a, b, c in itertools.combinations(givens, 3):
        if a.dimension == b.dimension == c.dimension:
            found.append(_summed("{} + {} + {}", [a, b, c], [1, 1, 1]))
            found.append(_summed("the mean of {}, {} and {}", [a, b, c], [1 / 3] * 3))
        found.append(_joined("{} × {} × {}", [a, b, c], [1, 1, 1]))
    for a, b in itertools.combinations(givens, 2):
        for c in givens:
            product = _joined("{} × {}", [a, b], [1, 1])
            if c not in (a, b):
                found.append(_joined("{} ÷ {}", [product, c], [1, -1]))
                found.append(_joined("{1} ÷ ({0})", [product, c], [-1, 1]))
            if product.dimension == c.dimension:
                found.append(_summed("{} + {}", [product, c], [1, 1]))
                found.append(_summed("{} − {}", [product, c], [1, -1]))
            if a.dimension == b.dimension and c not in (a, b):
                low, high = sorted((a, b), key=lambda value: value.base)
                for both in (
                    _summed("({} + {})", [a, b], [1, 1]),
                    _summed("({} − {})", [high, low], [1, -1]),
                ):
                    found.append(_joined("{} × {}", [c, both], [1, 1]))
                    found.append(_joined("{} ÷ {}", [c, both], [1, -1]))
    return (value for value in found if value.dimension == wanted)
