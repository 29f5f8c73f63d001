"""Search: the deepest queue, and so the most IOPS, at which a condition on the latency holds.

Bisection over a ladder of queue depths, by the depth of each job or by the number of jobs, for latency grows
with both. The depths come in the order of the bisection's tree, level by level, so whichever way it goes, the
next one to be measured is never behind: those that are off the way are left out. Repeats are run at the
answer alone.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from azbenchlib.campaign.design import figures
from azbenchlib.campaign.workloads import base
from azbenchlib.core.units import US_PER_MS, US_PER_S, format_count, format_us

DEPTHS = tuple(2**power for power in range(9))  # 1 to 256, where the file gives none
REPEATS_AT_ANSWER = 3  # where the file gives no repeats
OFF_THE_WAY = "the search did not come to it"
_CONDITION = re.compile(r"max_iops where (p[0-9.]+) ?< ?([0-9]+(?:\.[0-9]+)?) ?(us|µs|ms|s)")
_UNITS = {"us": 1.0, "µs": 1.0, "ms": US_PER_MS, "s": US_PER_S}


@dataclass(frozen=True)
class Condition:
    """A percentile of the latency that must stay below a limit in µs."""

    figure: str
    limit_us: float

    @classmethod
    def of(cls, text: object) -> "Condition":
        """A condition in words.

        Raises a ValueError when it is none; with the form of one.
        """
        match = _CONDITION.fullmatch(str(text).strip())
        if match is None or not figures.percentile_of(match[1]) or not float(match[2]):
            raise ValueError("is no search; write it as: max_iops where p99 < 2ms")
        return cls(match[1], float(match[2]) * _UNITS[match[3]])

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.figure} < {format_us(self.limit_us)}"


def in_order(count: int) -> list[int]:
    """The places of a ladder in the order of the bisection's tree, level by level."""
    found, open_ = [], deque([(-1, count)])
    while open_:
        low, high = open_.popleft()
        if high - low > 1:
            middle = (low + high) // 2
            found.append(middle)
            open_ += [(low, middle), (middle, high)]
    return found


def path(count: int, holds: Callable[[int], bool | None]) -> Iterator[tuple[int, bool | None]]:
    """The places that the bisection comes to, each with whether the condition holds; None: not known yet."""
    low, high = -1, count
    while high - low > 1:
        middle = (low + high) // 2
        held = holds(middle)
        yield middle, held
        if held is None:
            return
        low, high = (middle, high) if held else (low, middle)


@dataclass(frozen=True)
class Ladder:
    """Workloads by growing queue depth, and the condition that the deepest must meet."""

    workloads: Sequence[str]
    condition: Condition

    def needless(self, output: Path, dilation: float = 1) -> str:
        """Why a run need not be made; empty: it is on the way, or a repeat at the answer."""
        name, number = base.repeat_of(output.stem)
        walked = self._walked(output, dilation)
        place, goes_on = self.workloads.index(name), None in walked.values()
        if number <= 1:
            return "" if place in walked or (goes_on and self._open(walked, place)) else OFF_THE_WAY
        if goes_on:
            return ""
        return "" if place == _deepest(walked) else "repeats are run at the answer of the search alone"

    def told(self, output: Path, dilation: float = 1) -> str:
        """What the search found, and the way that it walked; empty while it goes on."""
        walked = self._walked(output, dilation)
        if None in walked.values():
            return ""
        answer = _deepest(walked)
        way = "; ".join(
            f"{self.workloads[place]}: {self._figures(output, place, dilation)}" for place in sorted(walked)
        )
        found = f"met by none, {self.workloads[0]} the least deep" if answer is None else ""
        return f"most IOPS where {self.condition.text}: {found or self.workloads[answer or 0]} ({way})"

    def answer(self, output: Path, dilation: float = 1) -> str | None:
        """The workload that was found; None while the search goes on, and where none meets the condition."""
        walked = self._walked(output, dilation)
        place = None if None in walked.values() else _deepest(walked)
        return None if place is None else self.workloads[place]

    def _walked(self, output: Path, dilation: float) -> dict[int, bool | None]:
        """The places that the search came to so far, with whether the condition holds there."""
        return dict(path(len(self.workloads), lambda place: self._holds(output, place, dilation)))

    @staticmethod
    def _open(walked: Mapping[int, bool | None], place: int) -> bool:
        """Whether the search may still come to a place, by what is known so far."""
        return all(held is None or held == (place > one) for one, held in walked.items())

    def _figures(self, output: Path, place: int, dilation: float) -> str:
        iops = figures.read(self._first(output, place), "iops", dilation) or 0.0
        latency = figures.read(self._first(output, place), self.condition.figure, dilation) or 0.0
        return f"{format_count(round(iops))} IOPS, {self.condition.figure} {format_us(latency)}"

    def _holds(self, output: Path, place: int, dilation: float) -> bool | None:
        value = figures.read(self._first(output, place), self.condition.figure, dilation)
        return None if value is None else value < self.condition.limit_us

    def _first(self, output: Path, place: int) -> Path:
        """The output of the first run of a workload, beside another one."""
        return output.with_name(f"{base.of_repeat(self.workloads[place], 1)}{output.suffix}")


def _deepest(walked: Mapping[int, bool | None]) -> int | None:
    """The last place at which the condition holds."""
    return max((place for place, held in walked.items() if held), default=None)


@dataclass(frozen=True)
class Searches:
    """The searches of a campaign: by setup and workload, and by workload where setups are left aside."""

    ladders: Mapping[tuple[str, str], Ladder] = field(default_factory=dict)

    def ladder(self, output: Path, folder: str) -> Ladder | None:
        """The search that a run belongs to; None: to none."""
        name, _ = base.repeat_of(output.stem)
        return self.ladders.get((Path(folder).parts[0] if folder else "", name))
