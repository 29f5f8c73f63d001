"""The host cache: which 4 KiB lines it holds, and which of them the disk does not have yet.

Only lines that are in it cost memory, about 140 bytes each (unwritten ones 170): a cache of 200 GiB costs
nothing until it is used. Line size, one least-recently-used order over all volumes, and writing back
oldest first are our assumptions: Azure documents none of them.
"""

from __future__ import annotations

import heapq
import math
from collections import OrderedDict
from collections.abc import Collection, Iterable
from itertools import count

LINE_BYTES = 4096


def lines_of(offset: int, length: int) -> range:
    """The lines that a request touches."""
    return range(offset // LINE_BYTES, -(-(offset + length) // LINE_BYTES)) if length else range(0)


def whole_lines_of(offset: int, length: int) -> range:
    """The lines that a request covers from end to end."""
    return range(-(-offset // LINE_BYTES), (offset + length) // LINE_BYTES)


class EmulatedCache:
    """The lines of all cached volumes that are as on disk, least recently used first.

    Parameters
    ----------
    lines : float
        How many lines fit, those that are not written back included; infinite where that is not known.
    """

    def __init__(self, lines: float) -> None:
        self.lines = lines
        self.unwritten = 0  # lines that the write-backs of all volumes hold
        self._clean: OrderedDict[int, None] = OrderedDict()
        self._arriving: list[tuple[float, int, range, WriteBack | None]] = []
        self._order = count()

    def __len__(self) -> int:
        return len(self._clean) + self.unwritten

    def has(self, lines: range, back: WriteBack | None = None) -> bool:
        """Whether a read finds all of these, which are then the most recently used."""
        clean = self._clean
        if not all(line in clean or (back is not None and back.has(line)) for line in lines):
            return False
        for line in lines:
            if line in clean:
                clean.move_to_end(line)
        return True

    def arrive(self, due: float, lines: range, back: WriteBack | None = None) -> None:
        """Have these lines from `due` on: so long the I/O that brings them takes."""
        heapq.heappush(self._arriving, (due, next(self._order), lines, back))

    def settle(self, now: float) -> None:
        """Take in what has arrived up to now."""
        while self._arriving and self._arriving[0][0] <= now:
            _, _, lines, back = heapq.heappop(self._arriving)
            self.put(line for line in lines if back is None or not back.complete(line))

    def put(self, lines: Iterable[int]) -> None:
        """Have these lines, as they are on disk."""
        for line in lines:
            self._clean[line] = None
            self._clean.move_to_end(line)
        self.shrink()

    def shrink(self) -> None:
        """Let go what was not used for longest, until the rest fits."""
        while len(self) > self.lines and self._clean:
            self._clean.popitem(last=False)

    def give(self, line: int) -> bool:
        """Hand a line over to a write-back; whether it was here."""
        return self._clean.pop(line, self) is None

    def drop(self, lines: range) -> None:
        """Forget these lines."""
        for line in _present(lines, self._clean):
            del self._clean[line]


class WriteBack:
    """The lines of one ReadWrite volume that its disk does not have yet.

    Parameters
    ----------
    cache : HostCache
        Where they go when they are written.
    most : float
        How many there may be, those on their way to the disk included.
    """

    def __init__(self, cache: EmulatedCache, most: float) -> None:
        self.most = most
        self.stamp = 0  # of the latest write
        self._cache = cache
        self._dirty: OrderedDict[int, int] = OrderedDict()  # line -> stamp of the write, oldest first
        self._leaving: dict[int, int] = {}  # line -> how many times it is on its way
        self._flying: list[int] = []  # stamps of what is on its way
        self._partial: set[int] = set()  # lines of which a part is not here
        self._bytes: dict[int, int] = {}  # line -> bytes to write, where that is not all of it
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def has(self, line: int) -> bool:
        """Whether a read finds this line here, from end to end."""
        return (line in self._dirty or line in self._leaving) and line not in self._partial

    def more(self, lines: range) -> int:
        """How many more there would be with a write of these lines."""
        return sum(line not in self._dirty for line in lines)

    def write(self, offset: int, length: int) -> None:
        """Take these bytes in."""
        self.stamp += 1
        for line in lines_of(offset, length):
            start = line * LINE_BYTES
            size = min(offset + length, start + LINE_BYTES) - max(offset, start)
            known = self._cache.give(line) or line in self._dirty or line in self._leaving
            if size == LINE_BYTES:
                self._partial.discard(line)
            elif not known:
                self._partial.add(line)
            if line not in self._dirty:
                self._dirty[line] = self.stamp
                self._hold(1)
            else:
                size += self._bytes.pop(line, LINE_BYTES)
            if size < LINE_BYTES:
                self._bytes[line] = size
        self._cache.shrink()

    def oldest(self) -> float:
        """Stamp of the oldest write that the disk does not have; infinite if it has all."""
        first = next(iter(self._dirty.values()), math.inf)
        return min([first, *self._flying])

    def leave(self) -> tuple[range, int, int] | None:
        """Start to write back the oldest lines that were written together.

        Returns
        -------
        tuple or None
            The lines, how many bytes, and the stamp of the write; None if nothing is left.
        """
        if not self._dirty:
            return None
        first, stamp = next(iter(self._dirty.items()))
        end, size = first, 0
        while self._dirty.get(end) == stamp:
            del self._dirty[end]
            size += self._bytes.pop(end, LINE_BYTES)
            self._leaving[end] = self._leaving.get(end, 0) + 1
            end += 1
        self._flying.append(stamp)
        return range(first, end), size, stamp

    def land(self, lines: range, stamp: int) -> None:
        """These are on the disk."""
        self._flying.remove(stamp)
        self._hold(-len(lines))
        clean = []
        for line in lines:
            self._leaving[line] -= 1
            if self._leaving[line]:
                continue
            del self._leaving[line]
            if line not in self._dirty:
                if line in self._partial:
                    self._partial.discard(line)
                else:
                    clean.append(line)
        self._cache.put(clean)

    def complete(self, line: int) -> bool:
        """The rest of this line was read from the disk; whether it is here."""
        here = line in self._dirty or line in self._leaving
        if here:
            self._partial.discard(line)
        return here

    def drop(self, lines: range) -> None:
        """Forget these lines: they need not be written, and a read does not find them."""
        for line in _present(lines, self._dirty):
            del self._dirty[line]
            self._hold(-1)
            self._partial.discard(line)
            self._bytes.pop(line, None)
        self._partial.update(_present(lines, self._leaving))

    def _hold(self, more: int) -> None:
        self._n += more
        self._cache.unwritten += more


def _present(lines: range, among: Collection[int]) -> list[int]:
    """Those of the lines that are there, at the cost of the shorter of the two."""
    if len(lines) <= len(among):
        return [line for line in lines if line in among]
    return [line for line in among if line in lines]
