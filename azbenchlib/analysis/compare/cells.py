"""One figure of a workload on both sides: what the runs say, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import log
from statistics import median

from azbenchlib.analysis.compare.matching import ComparedWorkload
from azbenchlib.analysis.compare.metrics import Metric
from azbenchlib.analysis.compare.published_repeats import is_beyond_repeats
from azbenchlib.analysis.compare.ranks import RankEstimate
from azbenchlib.analysis.compare.ratio import Estimate, bounded_exp
from azbenchlib.analysis.compare.rules import FailRule
from azbenchlib.analysis.compare.run_order import SideDrift


class Shift(StrEnum):
    """What a comparison answers."""

    WORSE = "worse"
    BETTER = "better"
    NOT_WORSE = "not worse"
    UNDECIDED = "undecided"


class Scope(StrEnum):
    """What an interval covers."""

    RUNS = "between runs"
    ONE_RUN = "within one run"
    NOTHING = ""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A metric of a workload on both sides, before it is judged.

    Attributes
    ----------
    workload : ComparedWorkload
    metric : Metric
    lat_kind : str
        clat or lat; empty for rates.
    a, b : tuple of float
        A figure a run, in the metric's unit.
    estimate : Estimate or None
        None where nothing tells how well the ratio is known.
    scope : Scope
    why : str
        Why there is no estimate between runs; else empty.
    drift : SideDrift or None
        Where the sides ran one after the other, what a trend over time leaves of the change.
    """

    workload: ComparedWorkload
    metric: Metric
    lat_kind: str
    a: tuple[float, ...]
    b: tuple[float, ...]
    estimate: Estimate | None
    scope: Scope
    why: str = ""
    drift: SideDrift | None = None


@dataclass(frozen=True, kw_only=True)
class ComparedFigure:
    """An evidence with its answer.

    Attributes
    ----------
    evidence : Evidence
    answer : Shift
    estimate : Estimate, RankEstimate or None
        What the answer is from.
    interval : tuple of float or None
        Of the ratio B ÷ A.
    p_value, p_better : float or None
        Of "worse", and of "better", by more than the margin, each adjusted over all figures.
    runs_needed : int or None
        Runs a side, all together, that settle it with 95 % probability, though a run in ten may stall; None:
        none can be promised.
    runs_at_least : int or None
        Runs a side, all together, with fewer of which it rather stays open; None: over 500, or settled.
    why : str
        Why it is undecided; else empty.
    """

    evidence: Evidence
    answer: Shift
    estimate: Estimate | RankEstimate | None
    interval: tuple[float, float] | None
    p_value: float | None
    p_better: float | None
    runs_needed: int | None = None
    runs_at_least: int | None = None
    why: str = ""

    @property
    def ratio(self) -> float | None:
        """B ÷ A of the runs' geometric means, or by ranks; None where a side has no figure, or a zero."""
        if self.estimate is not None:
            return bounded_exp(self.estimate.log_ratio)
        a, b = self.medians
        return b / a if a and b else None

    @property
    def medians(self) -> tuple[float | None, float | None]:
        """Of the runs of each side; None where it has no figure."""
        a, b = (median(values) if values else None for values in (self.evidence.a, self.evidence.b))
        return a, b

    @property
    def change(self) -> float:
        """How large the change is, as a logarithm, whether to the worse or to the better."""
        return abs(log(self.ratio)) if self.ratio else 0.0

    @property
    def is_unrepeated(self) -> bool:
        """Whether a single run is further from the other side than published repeats are from each other."""
        single = 1 in (len(self.evidence.a), len(self.evidence.b))
        undecided = self.answer is Shift.UNDECIDED
        return bool(undecided and single and self.ratio and is_beyond_repeats(self.ratio))

    @property
    def more_runs(self) -> tuple[int, int] | None:
        """How many more runs of A and of B settle it."""
        return self._more(self.runs_needed)

    @property
    def more_at_least(self) -> tuple[int, int] | None:
        """With how many more runs of A and of B it may be settled."""
        return self._more(self.runs_at_least)

    def _more(self, runs: int | None) -> tuple[int, int] | None:
        if runs is None:
            return None
        a, b = (max(runs - len(values), 0) for values in (self.evidence.a, self.evidence.b))
        return a, b


@dataclass(frozen=True)
class JudgedRule:
    """A condition and a figure: whether the condition is shown to hold (worse), shown not to, or neither."""

    rule: FailRule
    figure: ComparedFigure | None
    answer: Shift
