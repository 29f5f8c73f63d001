"""The columns of iozone's auto mode: which test a figure of a row belongs to.

A figure belongs to the column at whose end it stands, and cannot be told by counting words: what was not run
is blank. The columns after ``reclen`` (which ends at character 24) are 8 or 9 wide up to 3.414, 9 or 10 wide
from 3.430 on; ``-E`` adds more. A figure with more digits than its column holds shifts the rest of its row.
In the narrow layout it may touch the one before it; which digits are whose is told unless one of them is too
wide.

Source: iozone ``iozone.c``, read at 3.414, and outputs of 3.327, 3.430, 3.465 and 3.489.
"""

import re
from collections.abc import Iterator

from azbenchlib.formats.iozone._tests import TESTS, number

FILE_END, RECORD_END = 16, 24  # where the columns of the two sizes end
_NARROW = (8, 8, 9, 9, 8, 8, 8, 9, 9, 9, 9, 8, 9)
_WIDE = (9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9)
EXTENDED = (8, 9, 8, 9) * 2  # -E: pwrite repwrite pread repread, and the same with vectors

_WORD = re.compile(r"\S+")


class Columns:
    """Where the columns of auto mode end, as a header tells."""

    def __init__(self, header: str, base: int) -> None:
        self.base = base  # characters that stand before the output in every line
        words = header.split()[2:]
        narrow = header.find("write") + len("write") - base == RECORD_END + _NARROW[0]
        widths = (_NARROW if narrow else _WIDE) + EXTENDED
        self.columns = []
        end = base + RECORD_END
        for test, width in zip(TESTS[: len(words)], widths, strict=False):
            end += width
            self.columns.append((test, end, width))
        self.seen: set[str | None] = set()

    def complete(self, tests: set[str | None]) -> bool:
        """Whether a row has all tests that the rows before it had."""
        whole = bool(tests) and tests >= self.seen
        self.seen |= tests
        return whole

    def place(self, line: str, start: int) -> Iterator[tuple[str | None, float | None]]:
        """Test and value of each figure of a row; None: the figure ends at no column."""
        shift, first = 0, 0  # characters that the row has been shifted; columns that are done
        for word in _WORD.finditer(line, start):
            digits = word[0] if word[0].isascii() and word[0].isdigit() else ""
            drifts = [
                (word.end() - end - shift, index)
                for index, (_, end, width) in enumerate(self.columns)
                if index >= first and 0 <= word.end() - end - shift <= max(1, len(digits) - width + 1)
            ]
            if not digits or not drifts:
                yield None, None
                continue
            drift, index = min(drifts)
            test, _, width = self.columns[index]
            if len(digits) <= width + drift:
                yield test, number(digits)
            else:
                yield from self._apart(digits, first, index, drift)
            shift, first = shift + drift, index + 1

    def _apart(
        self, digits: str, first: int, last: int, drift: int
    ) -> Iterator[tuple[str | None, float | None]]:
        """Figures that touch: each but the leftmost fills its column, unless one is too wide for it."""
        found: list[tuple[str | None, float | None]] = []
        for test, _, width in reversed(self.columns[first : last + 1]):
            digits, own = digits[:-width], digits[-width:]
            found.append((test, number(own)))
            if not digits:
                break
        yield from [(None, None)] if digits or drift else reversed(found)
