"""The lines of fio's histogram logs as bins that hold an I/O, some lines at a time, and the damaged ones.

Of a line's 1,856 counts nearly all are 0, so only the others are parsed. What the columns are is told in
:mod:`.hist_log`. Neither pandas nor pyarrow is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from azbenchlib.core import histogram, units
from azbenchlib.formats.fio.logs import _number_lines
from azbenchlib.formats.fio.logs._number_lines import LONGEST_NUMBER, NumberLines
from azbenchlib.formats.fio.logs.log_lines import FIO_DDIRS
from azbenchlib.formats.source import Source

NS_PER_UNIT = {19: units.NS_PER_US, 29: 1}  # octaves of the layout -> ns in the unit of its bins
_COARSEST = 6
_LINES_TO_SNIFF = 5
_AHEAD = 3  # columns before the counts: time, direction, block size
_LINE = re.compile(r"[ \t]*[0-9]{1,15},[ \t]*[0-2](?:,[ \t]*[0-9]{1,20}){20,}[ \t]*")
_TOO_LONG = re.compile(rf"[0-9]{{{LONGEST_NUMBER + 1}}}")  # an address of memory, no count

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class HistLayout:
    """Which bins there are.

    Attributes
    ----------
    n_bins, merged : int
        How many columns, and how many of fio's bins were merged into each.
    ns : int
        ns in the unit of the bins.
    """

    n_bins: int
    merged: int
    ns: int

    def names_ns(self, index: IntArray) -> IntArray:
        """What each bin is called: the middle of those that were merged into it."""
        first = index * self.merged
        last = first + self.merged - 1
        return (histogram.value_of(first) + histogram.value_of(last)) // 2 * self.ns


@dataclass(frozen=True, kw_only=True)
class HistBins:
    """The bins of some lines that hold an I/O.

    Attributes
    ----------
    t_ms, bin_ns, n : ndarray of int64, shape (n_bins,)
        The end of the interval, the bin's name and its I/Os.
    code : ndarray of uint8, shape (n_bins,)
        Direction: an index of `FIO_DDIRS`.
    n_lines : int
        Damaged and empty ones too.
    damaged : tuple of int
        Places of the damaged lines, from 0.
    """

    t_ms: IntArray
    code: npt.NDArray[np.uint8]
    bin_ns: IntArray
    n: IntArray
    n_lines: int
    damaged: tuple[int, ...] = ()


def sniff(opening: str) -> bool:
    """Whether most of the first lines are a direction with at least nineteen counts."""
    lines = [line for line in opening.splitlines()[:_LINES_TO_SNIFF] if line.strip()]
    return sum(bool(_LINE.fullmatch(line)) for line in lines) > len(lines) / 2


def layout(source: Source) -> HistLayout | None:
    """The layout of the first undamaged line that a known fio writes; None where there is none."""
    for block in source.raw_blocks():
        for line in block.decode(errors="replace").split("\n"):
            if _is_whole(line) and (found := _layout(line.count(",") + 1 - _AHEAD)):
                return found
    return None


def _layout(n_bins: int) -> HistLayout | None:
    for octaves, ns in NS_PER_UNIT.items():
        for coarse in range(_COARSEST + 1):
            if n_bins == octaves * histogram.PER_OCTAVE >> coarse:
                return HistLayout(n_bins=n_bins, merged=1 << coarse, ns=ns)
    return None


def interval_ms(opening: str) -> float:
    """How long an interval lasts, by the first lines; 0 where they do not tell."""
    lines = [line for line in opening.split("\n")[:-1] if _is_whole(line)]
    times = np.unique([0, *(int(line.split(",", 1)[0]) for line in lines)])
    return float(np.median(np.diff(times))) if times.size > 1 else 0.0


def blocks(source: Source, of: HistLayout) -> Iterator[HistBins]:
    """The bins of a histogram log, block by block, in the order of the file."""
    for block in source.raw_blocks():
        yield quickly(block, of) or carefully(block, of)


def quickly(block: bytes, of: HistLayout) -> HistBins | None:
    """The bins of a block without damage; None where a line is not whole, or of another layout."""
    lines = _number_lines.split(block)
    if lines is None or lines.n_columns != of.n_bins + _AHEAD:
        return None
    codes = lines.characters(1) - np.uint8(ord("0"))
    if codes.max() >= len(FIO_DDIRS) or lines.digits(1).max() > 1:
        return None
    if max(lines.digits(0).max(), (lines.ends[:, 3:] - lines.ends[:, 2:-1]).max()) > LONGEST_NUMBER:
        return None
    return _bins(lines, codes, of)


def _bins(lines: NumberLines, codes: npt.NDArray[np.uint8], of: HistLayout) -> HistBins:
    text = np.frombuffer(lines.raw, dtype=np.uint8)
    begins = lines.ends[:, _AHEAD - 1 :] + lines.gap
    row, index = np.nonzero(text[begins] != ord("0"))
    ends = np.column_stack([lines.ends[:, _AHEAD:], lines.ends_of(lines.n_columns - 1)])[row, index]
    counted = begins[row, index]
    return HistBins(
        t_ms=lines.column(0)[row],
        code=codes[row],
        bin_ns=of.names_ns(index),
        n=_number_lines.numbers(lines.raw, counted, ends - counted),
        n_lines=codes.size,
    )


def carefully(block: bytes, of: HistLayout) -> HistBins:
    """The bins of the whole lines of any block, and the places of the others."""
    texts = block.decode(errors="replace").replace("\r\n", "\n").split("\n")[:-1]
    rows, damaged = [], []
    for place, line in enumerate(texts):
        if _is_whole(line) and line.count(",") + 1 - _AHEAD == of.n_bins:
            rows.append(np.array(line.split(","), dtype=np.int64))
        elif line.strip():
            damaged.append(place)
    table = np.array(rows, dtype=np.int64).reshape(len(rows), of.n_bins + _AHEAD)
    row, index = np.nonzero(table[:, _AHEAD:])
    return HistBins(
        t_ms=table[row, 0],
        code=table[row, 1].astype(np.uint8),
        bin_ns=of.names_ns(index),
        n=table[row, index + _AHEAD],
        n_lines=len(texts),
        damaged=tuple(damaged),
    )


def _is_whole(line: str) -> bool:
    return bool(_LINE.fullmatch(line)) and not _TOO_LONG.search(line)
