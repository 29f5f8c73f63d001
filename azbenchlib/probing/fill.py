"""All data is read once before anything is measured: a cache that fills meanwhile would change every rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from azbenchlib.core.units import MIB, format_size
from azbenchlib.probing.cache import FILL_BYTES

MOST_FILL_S = 60.0  # that it may take: a disk of 17 MB/s has read 1 GiB by then; our choice
# An emulated disk touches no more, for its caps do not depend on it, and is driven for some seconds at once.
EMULATED_BYTES, EMULATED_PARTS = 64 * MIB, 8


@dataclass(frozen=True, kw_only=True)
class FillRun:
    """Reads of a part of the data, from its start to its end, for so many seconds at most.

    `number` counts the parts from 1.
    """

    number: int
    offset_bytes: int
    part_bytes: int
    seconds: float

    @property
    def name(self) -> str:
        """What its outputs are called by."""
        return f"all-data-{self.number}"

    @property
    def title(self) -> str:
        """How it is called in texts."""
        return f"{format_size(self.part_bytes)} of data is read once, part {self.number}"


@dataclass(frozen=True, kw_only=True)
class FillShown:
    """How much of it was read."""

    run: FillRun
    read_bytes: float


@dataclass(kw_only=True)
class Fill:
    """The parts of some data, one after the other.

    Parameters
    ----------
    size_bytes : int
    parts : int
    """

    size_bytes: int
    parts: int = 1
    shown: list[FillShown] = field(default_factory=list, init=False)

    def runs(self) -> Sequence[FillRun]:
        """All of them."""
        each = self.size_bytes // self.parts // FILL_BYTES * FILL_BYTES
        return [
            FillRun(number=i + 1, offset_bytes=i * each, part_bytes=each, seconds=MOST_FILL_S / self.parts)
            for i in range(self.parts)
            if each
        ]

    def next(self) -> FillRun | None:
        """The next part; None where all was read, or a part took too long."""
        is_slow = bool(self.shown) and self.shown[-1].read_bytes < self.shown[-1].run.part_bytes
        left = self.runs()[len(self.shown) :]
        return None if is_slow or not left else left[0]

    def tell(self, shown: FillShown) -> None:
        """Learn from a part."""
        self.shown.append(shown)
