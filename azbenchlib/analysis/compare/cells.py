"""One figure of a workload on both sides: what the runs say, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from azbenchlib.analysis.compare.matching import ComparedWorkload
from azbenchlib.analysis.compare.metrics import Metric
from azbenchlib.analysis.compare.ratio import Estimate, bounded_exp


class Shift(StrEnum):
    """What a comparison answers."""

    WORSE = "worse"
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
    """

    workload: ComparedWorkload
    metric: Metric
    lat_kind: str
    a: tuple[float, ...]
    b: tuple[float, ...]
    estimate: Estimate | None
    scope: Scope
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class ComparedFigure:
    """An evidence with its answer.

    Attributes
    ----------
    evidence : Evidence
    answer : Shift
    interval : tuple of float or None
        Of the ratio B ÷ A.
    p_value : float or None
        Of "worse by more than the margin", adjusted over all figures of the comparison.
    runs_needed : int or None
        Runs a side, all together, that would settle it; None: no such number, or it is settled.
    why : str
        Why it is undecided; else empty.
    """

    evidence: Evidence
    answer: Shift
    interval: tuple[float, float] | None
    p_value: float | None
    runs_needed: int | None
    why: str

    @property
    def ratio(self) -> float | None:
        """B ÷ A of the runs' geometric means; None where a side has no figure, or a zero."""
        estimate = self.evidence.estimate
        if estimate is not None:
            return bounded_exp(estimate.log_ratio)
        a, b = self.medians
        return b / a if a and b else None

    @property
    def medians(self) -> tuple[float | None, float | None]:
        """Of the runs of each side; None where it has no figure."""
        a, b = (median(values) if values else None for values in (self.evidence.a, self.evidence.b))
        return a, b

    @property
    def more_runs(self) -> tuple[int, int] | None:
        """How many more runs of A and of B would settle it."""
        if self.runs_needed is None:
            return None
        have = len(self.evidence.a), len(self.evidence.b)
        return max(self.runs_needed - have[0], 0), max(self.runs_needed - have[1], 0)
