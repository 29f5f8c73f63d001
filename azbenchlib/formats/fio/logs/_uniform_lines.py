"""Blocks of log lines that differ in the width of their second number alone, as most blocks of a log do.

In ``561, 561093, 1, 4096, 0`` the times of the next lines have as many digits, and what follows the latency
is as wide. So only the ends of lines have to be looked for, and each number lies at a known distance from the
begin or the end of its line. That takes a third of the time of :mod:`._number_lines`, which parses the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from azbenchlib.formats.fio.logs._number_lines import (
    LONGEST_NUMBER,
    WORD,
    IntArray,
    Words,
    numbers,
    of_digits,
)

_SHAPE = re.compile(
    rb"(?P<first>[0-9]{1,15}),(?P<gap> ?)[0-9]+"
    rb"(?P<tail>,(?P=gap)[0-9],(?P=gap)[0-9]{1,15}(?:,(?P=gap)[0-9]{1,20}){0,3}\n)"
)
_NEWLINE, _ZERO, _NINE = b"\n09"


@dataclass(frozen=True, kw_only=True)
class UniformLines:
    """The first three numbers of each line.

    Attributes
    ----------
    first, second : ndarray of int64, shape (n_lines,)
    third : ndarray of uint8, shape (n_lines,)
        Of one digit.
    """

    first: IntArray
    second: IntArray
    third: npt.NDArray[np.uint8]


def split(block: bytes) -> UniformLines | None:
    """Parse a block of lines; None where one is not like the first, or that is no line of a log.

    Parameters
    ----------
    block : bytes
        Whole lines, each ending in a newline.
    """
    if (shape := _SHAPE.match(block)) is None:
        return None
    tail, head = shape["tail"], shape["first"] + b"," + shape["gap"]
    text = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(text == _NEWLINE)
    # What is no digit in heads and tails is looked at below; beside it there may be digits alone.
    others = sum(character < _ZERO for character in head + tail) * ends.size
    if text.max() > _NINE or np.count_nonzero(text < _ZERO) != others:
        return None
    begins = np.concatenate([[0], ends[:-1] + 1])
    digits = ends - begins - (len(head) + len(tail) - 1)
    if digits.min() < 1 or digits.max() > LONGEST_NUMBER:
        return None
    tails = ends - (len(tail) - 1)
    if not _are(text, begins, head) or not _are(text, tails, tail[:-1]):
        return None
    heads = _records(block, begins, len(head) + WORD)
    return UniformLines(
        first=_number(heads, len(shape["first"])),
        second=_second(block, begins, len(head), digits, _word(heads, len(head))),
        third=text[1 + len(shape["gap"]) :].take(tails) - np.uint8(_ZERO),
    )


def _are(text: npt.NDArray[np.uint8], places: IntArray, pattern: bytes) -> bool:
    """Whether what is no digit in a pattern stands at its distance from each of these places."""
    for distance, character in enumerate(pattern):
        if character < _ZERO:
            found = text[distance:].take(places)
            if found.min() != character or found.max() != character:
                return False
    return True


def _records(raw: bytes, places: IntArray, size: int) -> Words:
    """At least so many bytes from each of these places on, as words, a row a place."""
    width = -(-size // WORD) * WORD
    lacking = int(places[-1]) + width - len(raw)  # where the last line is a short one
    if lacking > 0:
        raw += bytes(lacking)
    every = np.ndarray(shape=(len(raw) - width + 1,), dtype=f"V{width}", buffer=raw, strides=(1,))
    return every[places].view("<u8").reshape(places.size, -1)


def _word(records: Words, offset: int) -> Words:
    """The eight bytes of each record from an offset on."""
    place, before = divmod(offset, WORD)
    if not before:
        return records[:, place].copy()
    return records[:, place] >> np.uint64(8 * before) | records[:, place + 1] << np.uint64(
        8 * (WORD - before)
    )


def _number(records: Words, digits: int) -> IntArray:
    """The number at the begin of each record."""
    if digits <= WORD:
        return of_digits(_word(records, 0), digits)
    high, low = of_digits(_word(records, 0), digits - WORD), of_digits(_word(records, digits - WORD), WORD)
    return high * 10**WORD + low


def _second(raw: bytes, begins: IntArray, offset: int, digits: IntArray, words: Words) -> IntArray:
    """The numbers at an offset from these places, of which the first eight characters are given."""
    if digits.max() <= WORD:
        return of_digits(words, digits)
    found = of_digits(words, np.minimum(digits, WORD))
    longer = np.flatnonzero(digits > WORD)
    found[longer] = numbers(raw, begins[longer] + offset, digits[longer])
    return found
