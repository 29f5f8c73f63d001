"""The columns of iozone's auto mode: which test a figure of a row belongs to.

A figure belongs to the column at whose end it stands, and cannot be told by counting words: what was not run
is blank. The columns after ``reclen`` (which ends at character 24) are 8 or 9 wide up to 3.414, 9 or 10 wide
from 3.430 on; ``-E`` adds more. Versions of up to some 3.28x print record rewrite and stride read one
character narrower, as their titles tell. Where a figure of a row is in no column of these, as many figures
as titles are taken in their order, and others by the ends that the rows of the table share. A figure with
more digits than its column holds shifts the rest of its row. In the narrow layout it may touch the one
before it; which digits are whose is told unless one of them is too wide.

Source: iozone ``iozone.c``, read at 3.28 and 3.414, and outputs of 3.263, 3.327, 3.430, 3.465 and 3.489.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from azbenchlib.formats.iozone._tests import TESTS, number

FILE_END, RECORD_END = 16, 24  # where the columns of the two sizes end
_NARROW = (8, 8, 9, 9, 8, 8, 8, 9, 9, 9, 9, 8, 9)
_OLDER = (8, 8, 9, 9, 8, 8, 8, 8, 8, 9, 9, 8, 9)
_RECORD_REWRITE = 7  # the first column of which the titles of the two end apart
_WIDE = (9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9)
EXTENDED = (8, 9, 8, 9) * 2  # -E: pwrite repwrite pread repread, and the same with vectors

_NEAR = 3  # characters between a title and its figures; columns are eight wide at least

_WORD = re.compile(r"\S+")


def _widths(titles: list[int]) -> tuple[int, ...]:
    """Widths of the columns below titles that end there."""
    if not titles or titles[0] != RECORD_END + _NARROW[0]:
        return _WIDE + EXTENDED
    older = titles[_RECORD_REWRITE : _RECORD_REWRITE + 1] == [RECORD_END + sum(_OLDER[: _RECORD_REWRITE + 1])]
    return (_OLDER if older else _NARROW) + EXTENDED


class Columns:
    """Where the columns of auto mode end, as a header and the rows below it tell.

    Parameters
    ----------
    header : str
        The line with the titles.
    base : int
        Characters that stand before the output in every line.
    rows : iterable of str
        The rows of the table.
    """

    def __init__(self, header: str, base: int, rows: Iterable[str] = ()) -> None:
        self.base = base
        titles = [word.end() - base for word in _WORD.finditer(header)][2:]
        self.columns = []
        end = base + RECORD_END
        for test, width in zip(TESTS[: len(titles)], _widths(titles), strict=False):
            end += width
            self.columns.append((test, end, width))
        self.seen: set[str | None] = set()
        self._shared = self._ends_that_rows_share(rows, [end + base for end in titles])

    def _ends_that_rows_share(self, rows: Iterable[str], titles: list[int]) -> dict[int, str]:
        """The test of each end at which figures of several rows stand, by the nearest title."""
        counts = Counter(word.end() for row in rows for word in _WORD.finditer(row, self.base + RECORD_END))
        shared: dict[int, str] = {}
        for end in sorted(end for end, count in counts.items() if count > 1):
            near = [test for title, test in zip(titles, TESTS, strict=False) if abs(title - end) <= _NEAR]
            if len(near) == 1:
                shared[end] = near[0]
        return shared if len(set(shared.values())) == len(shared) else {}

    def complete(self, tests: set[str | None]) -> bool:
        """Whether a row has all tests that the rows before it had."""
        whole = bool(tests) and tests >= self.seen
        self.seen |= tests
        return whole

    def place(self, line: str, start: int, is_whole: bool) -> list[tuple[str | None, float | None]]:
        """Test and value of each figure of a row; None: the figure ends at no column.

        Parameters
        ----------
        line : str
            The row.
        start : int
            Where its figures begin.
        is_whole : bool
            Whether its end is surely there.
        """
        placed = list(self._by_layout(line, start))
        if all(test for test, _ in placed):
            return placed
        words = list(_WORD.finditer(line, start))
        ends = [word.end() for word in words]
        if not all(word[0].isascii() and word[0].isdigit() for word in words):
            return placed
        if len(words) == len(self.columns) and is_whole:
            tests = [test for test, _, _ in self.columns]
        elif all(end in self._shared for end in ends):
            tests = [self._shared[end] for end in ends]
        else:
            return placed
        return [(test, number(word[0])) for test, word in zip(tests, words, strict=True)]

    def _by_layout(self, line: str, start: int) -> Iterator[tuple[str | None, float | None]]:
        """As :meth:`place`, by the layout that the titles have."""
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
