"""Lines of whole numbers and commas, as fio's logs have them, parsed by numpy alone.

Eight digits are read as one machine word: the digits of a number are shifted to the end of the word, and
three multiplications add them up in pairs. Source of the method: Wojciech Muła, 2014; Daniel Lemire, "Quickly
parsing eight digits", lemire.me/blog/tag/simd-swar-parsing, read 2026-11-23.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LONGEST_NUMBER = 15  # digits; a float still holds every whole number of so many
WORD = 8  # bytes, and digits
_NEWLINE, _SPACE, _COMMA, _ZERO, _NINE = b"\n ,09"
# Of the pairs, the fours and the eight: which bits hold digits, the factor that adds them up, and the shift.
_STEPS = (
    (0x0F0F0F0F0F0F0F0F, 10 * 2**8 + 1, 8),
    (0x00FF00FF00FF00FF, 100 * 2**16 + 1, 16),
    (0x0000FFFF0000FFFF, 10_000 * 2**32 + 1, 32),
)

IntArray = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@dataclass(frozen=True, kw_only=True)
class NumberLines:
    """Lines that have the same number of whole numbers each, with a comma between two.

    Attributes
    ----------
    raw : bytes
    begins : ndarray of int64, shape (n_lines,)
        Where each line begins.
    ends : ndarray of int64, shape (n_lines, n_columns - 1)
        Where each number but a line's last ends: at a comma.
    gap : int
        Characters from a comma to the next number.
    """

    raw: bytes
    begins: IntArray
    ends: IntArray
    gap: int

    @property
    def n_columns(self) -> int:
        """How many numbers a line has."""
        return self.ends.shape[1] + 1

    def begins_of(self, column: int) -> IntArray:
        """Where the numbers of a column begin."""
        return self.begins if column == 0 else self.ends[:, column - 1] + self.gap

    def ends_of(self, column: int) -> IntArray:
        """What follows the last digits of the numbers of a column: commas, or newlines."""
        if column < self.n_columns - 1:
            return self.ends[:, column]
        return np.append(self.begins[1:], len(self.raw)) - 1

    def digits(self, column: int) -> IntArray:
        """How many digits the numbers of a column have."""
        return self.ends_of(column) - self.begins_of(column)

    def characters(self, column: int) -> npt.NDArray[np.uint8]:
        """The first character of each number of a column."""
        return np.frombuffer(self.raw, dtype=np.uint8)[self.begins_of(column)]

    def column(self, column: int) -> IntArray:
        """The numbers of a column, of at most 15 digits."""
        return numbers(self.raw, self.begins_of(column), self.digits(column))


def split(block: bytes) -> NumberLines | None:
    """Find the numbers of a block of lines; None where a line is anything else, or wider than another.

    Parameters
    ----------
    block : bytes
        Whole lines, each ending in a newline; behind each comma, one space or, throughout the block, none.
    """
    text = np.frombuffer(block, dtype=np.uint8)
    if not text.size or text.max() > _NINE or text[0] < _ZERO or text[-1] != _NEWLINE:
        return None
    is_comma, is_space, is_no_digit = text == _COMMA, text == _SPACE, text < _ZERO
    newlines, commas = np.flatnonzero(text == _NEWLINE), np.flatnonzero(is_comma)
    spaces = np.count_nonzero(is_space)
    if np.count_nonzero(is_no_digit) != newlines.size + commas.size + spaces or commas.size % newlines.size:
        return None
    # between two numbers there is one character that is no digit, or a comma and a space
    if spaces and (spaces != commas.size or (is_comma[:-1] != is_space[1:]).any()):
        return None
    if np.count_nonzero(is_no_digit[:-1] & is_no_digit[1:]) != spaces:
        return None
    ends = commas.reshape(newlines.size, -1)
    begins = np.concatenate([[0], newlines[:-1] + 1])
    if ends.size and ((ends[:, 0] < begins) | (ends[:, -1] > newlines)).any():
        return None
    return NumberLines(raw=block, begins=begins, ends=ends, gap=2 if spaces else 1)


def numbers(raw: bytes, begins: IntArray, digits: IntArray) -> IntArray:
    """The whole numbers at these places.

    Parameters
    ----------
    raw : bytes
    begins, digits : ndarray of int64, shape (n,)
        Where each begins, and its 1 to 15 digits.
    """
    if begins.size and begins.max() > len(raw) - WORD:
        raw += bytes(WORD)
    words = np.ndarray(shape=(max(len(raw) - WORD + 1, 0),), dtype="<u8", buffer=raw, strides=(1,))
    if not digits.size or digits.max() <= WORD:
        return _up_to_eight(words, begins, digits)
    more = digits > WORD
    low = _up_to_eight(words, np.where(more, begins + digits - WORD, begins), np.minimum(digits, WORD))
    high = _up_to_eight(words, begins, np.where(more, digits - WORD, 1))
    return low + np.where(more, high, 0) * 10**WORD


def _up_to_eight(words: Words, begins: IntArray, digits: IntArray) -> IntArray:
    """The numbers of one to eight digits."""
    return of_digits(words[begins], digits)


def of_digits(words: Words, digits: IntArray | int) -> IntArray:
    """The numbers that words begin with; the words are written over.

    Parameters
    ----------
    words : ndarray of uint64, shape (n,)
        Eight characters each, the first in the lowest bits.
    digits : ndarray of int64, shape (n,), or int
        How many of them are digits of the number: 1 to 8.
    """
    words <<= np.asarray((WORD - digits) * 8).view(np.uint64)  # zeros come before the digits
    for mask, factor, shift in _STEPS:
        words &= np.uint64(mask)
        words *= np.uint64(factor)
        words >>= np.uint64(shift)
    return words.view(np.int64)
