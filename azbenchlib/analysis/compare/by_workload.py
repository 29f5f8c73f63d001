"""The figures of a comparison by workload: those that changed first, then by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from azbenchlib.analysis.compare.cells import ComparedFigure, Shift
from azbenchlib.analysis.compare.comparison import ComparedPair
from azbenchlib.analysis.compare.metrics import Metric

_ORDER = (Shift.WORSE, Shift.BETTER, Shift.UNDECIDED, Shift.NOT_WORSE)
_BESIDE = ("p50", "p99")  # metrics that stand beside the first one, where they were compared


@dataclass(frozen=True, kw_only=True)
class WorkloadFigures:
    """A workload with all its figures.

    Attributes
    ----------
    name : str
    figures : tuple of ComparedFigure
    kind : Shift
        Worse where anything is, else better, else undecided where anything is.
    """

    name: str
    figures: tuple[ComparedFigure, ...]
    kind: Shift

    @property
    def answer(self) -> str:
        """``better``; ``worse: 2 of 5, 1 undecided``."""
        if all(one.is_unrepeated for one in self.figures):
            return "different, not repeated"
        n = Counter(one.answer for one in self.figures)
        mine, total = n[self.kind], len(self.figures)
        if mine == total or self.kind is Shift.NOT_WORSE:
            return self.kind.value
        aside = [f"{n[one]} {one.value}" for one in _ORDER[:3] if one is not self.kind and n[one]]
        return f"{self.kind.value}: {', '.join([f'{mine} of {total}', *aside])}"

    def of(self, metric: Metric) -> ComparedFigure | None:
        """Return the figure of a metric."""
        return next((one for one in self.figures if one.evidence.metric == metric), None)


def kind_of(figures: Iterable[ComparedFigure]) -> Shift:
    """Return what is to be said of figures together: worse where any is, else better, else undecided."""
    return min((one.answer for one in figures), key=_ORDER.index)


def by_workload(pair: ComparedPair) -> list[WorkloadFigures]:
    """Return the workloads of a pair: worse, better, undecided, not worse; each by the largest change."""
    groups: dict[str, list[ComparedFigure]] = {}
    for one in pair.figures:
        groups.setdefault(one.evidence.workload.name, []).append(one)
    every = [
        WorkloadFigures(name=name, figures=tuple(some), kind=kind_of(some)) for name, some in groups.items()
    ]
    return sorted(every, key=lambda one: (_ORDER.index(one.kind), -_change(one)))


def _change(one: WorkloadFigures) -> float:
    return max(figure.change for figure in one.figures if figure.answer is one.kind)


def metrics_shown(pair: ComparedPair) -> tuple[Metric, Sequence[Metric]]:
    """Return the metric that stands for a workload, such as IOPS, and those whose ratios stand beside it."""
    known = Counter(one.evidence.metric for one in pair.figures)
    first, *others = sorted(known, key=lambda one: (-known[one], one.percentile is not None))
    others.sort(key=lambda one: one.percentile or 0)
    usual = [one for one in others if one.name in _BESIDE]
    return first, usual or others[:2]
