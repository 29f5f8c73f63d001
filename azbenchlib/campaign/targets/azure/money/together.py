"""What several VMs at a time take: each part of a measurement file as it is reckoned by itself."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from azbenchlib.campaign.targets.azure.money import reckoning
from azbenchlib.campaign.targets.azure.money.reckoning import RunEstimate


@dataclass(frozen=True, kw_only=True)
class TogetherEstimate:
    """What VMs are likely to take that are measured some at a time.

    Parameters
    ----------
    parts : sequence of RunEstimate
        Of each VM, in the order in which they are begun.
    at_once : int
        How many there are at a time.
    """

    parts: Sequence[RunEstimate]
    at_once: int

    @property
    def seconds(self) -> float:
        """Until the last one is deleted, where each is begun when one before it is gone."""
        ends = [0.0] * self.at_once
        for part in self.parts:
            heapq.heapreplace(ends, ends[0] + part.seconds)
        return max(ends)

    @property
    def most(self) -> Decimal | None:
        """What all of them cost, at most; None where any has no price."""
        each = [part.most for part in self.parts]
        known = [one for one in each if one is not None]
        return sum(known, Decimal(0)) if len(known) == len(each) else None

    @property
    def currency(self) -> str:
        """Of the prices."""
        return self.parts[0].currency

    @property
    def why(self) -> str:
        """What the price leaves out, or why there is none."""
        return "; ".join(dict.fromkeys(note for part in self.parts for note in part.why.split("; ") if note))

    @property
    def text(self) -> str:
        """In a sentence or two; left over are the dearest VMs that there are at a time."""
        dearest = sorted(self.parts, key=lambda part: part.an_hour or 0, reverse=True)[: self.at_once]
        said = reckoning.in_words(self.seconds, self.most, dearest, self.why)
        return f"{said}; that is with {self.at_once} VMs at a time, for which the quota has to suffice"
