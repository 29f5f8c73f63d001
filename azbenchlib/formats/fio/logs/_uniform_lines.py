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
_SAME_DIGIT_OR_NOT, _SAME = 0xF0, 0xFF  # the bits that a digit shares with all digits, and all bits


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
    # The characters of heads and tails are looked at below; beside theirs there may be digits alone.
    others = sum(character < _ZERO for character in head + tail) * ends.size
    if text.max() > _NINE or np.count_nonzero(text < _ZERO) != others:
        return None
    begins = np.concatenate([[0], ends[:-1] + 1])
    digits = ends - begins - (len(head) + len(tail) - 1)
    if digits.min() < 1 or digits.max() > LONGEST_NUMBER:
        return None
    head_width, tail_width = _whole_words(len(head) + WORD), _whole_words(len(tail))
    if ends[0] + 1 < tail_width:
        return None
    lacking = int(begins[-1]) + head_width - len(block)  # bytes, where the last line is a short one
    heads = _records(block + bytes(lacking) if lacking > 0 else block, begins, head_width)
    tails = _records(block, ends + 1 - tail_width, tail_width)
    if not _are(heads, head) or not _are(tails, tail.rjust(tail_width, b"\0")):
        return None
    third = tails.view(np.uint8)[:, tail_width - len(tail) + len(shape["gap"]) + 1]
    return UniformLines(
        first=_number(heads, len(shape["first"])),
        second=_second(block, begins, len(head), digits, _word(heads, len(head))),
        third=third - np.uint8(_ZERO),
    )


def _whole_words(size: int) -> int:
    return -(-size // WORD) * WORD


def _records(raw: bytes, places: IntArray, width: int) -> Words:
    """Some bytes from each of these places on, as words, a row a place."""
    every = np.ndarray(shape=(len(raw) - width + 1,), dtype=f"V{width}", buffer=raw, strides=(1,))
    return every[places].view("<u8").reshape(places.size, -1)


def _are(records: Words, pattern: bytes) -> bool:
    """Whether each record has digits where a pattern has, and its other characters; NUL stands for any."""
    width = records.shape[1] * WORD
    masks = np.frombuffer(bytes(map(_bits, pattern.ljust(width, b"\0"))), "<u8")
    wanted = np.frombuffer(pattern.ljust(width, b"\0"), "<u8") & masks
    places = np.flatnonzero(masks).tolist()  # by column: a row of few words is no work for numpy
    return all(((records[:, place] & masks[place]) == wanted[place]).all() for place in places)


def _bits(character: int) -> int:
    if not character:
        return 0
    return _SAME_DIGIT_OR_NOT if _ZERO <= character <= _NINE else _SAME


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
