"""What `05_compare.ipynb` shows: each method of :class:`Compare` is one of its cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from azbenchlib import plots
from azbenchlib.analysis.compare import (
    ComparedFigure,
    CompareTerms,
    compare,
    words,
)
from azbenchlib.analysis.compare.by_workload import by_workload, kind_of
from azbenchlib.analysis.compare.curves import sides_curves, sides_rates
from azbenchlib.analysis.compare.metrics import parse_metric
from azbenchlib.analysis.compare.rules import parse_rule
from azbenchlib.answers.blocks import Block, render
from azbenchlib.answers.comparison import Compared
from azbenchlib.answers.document import Document, FigureTable
from azbenchlib.answers.html import block
from azbenchlib.core.errors import InputError
from azbenchlib.core.histogram import REL_ERROR
from azbenchlib.core.palette import COLOURS
from azbenchlib.dataset.compared import load_side
from azbenchlib.report.figures import Panel, figures
from azbenchlib.report.sections.evidence import HOLLOW, LOG_AXIS, RARER

_MOST_SIDES = len(COLOURS)
_MOST_FIGURES = 6  # of one kind; the workloads that changed most
MERGED = (
    f"The runs of a side are merged from their bins; every value is known to {100 * REL_ERROR:.1f} %. "
    "The answers are from each run by itself."
)


class Compare:
    """Two sides, or more, compared workload by workload.

    Parameters
    ----------
    a : str
        The baseline: a dataset by name or folder (``/SETUP`` behind it chooses a setup), an output, or a
        folder of outputs.
    b : str or sequence of str
        What is compared with it; five at the most.
    margin : float
        Change that does not count, either way: 0.05 is 5 %.
    metrics : sequence of str
        ``iops``, ``bw``, ``p99``, …; empty: the usual ones.
    confidence : float
        Of all answers worse and better, together.
    fail_if : sequence of str
        Conditions such as ``p99 > +10%``.
    within_run : bool
        Whether single runs are judged by what they tell of themselves.

    Raises
    ------
    InputError
        When a side cannot be read, the sides have nothing in common, or a parameter is none.
    """

    def __init__(
        self,
        a: str,
        b: str | Sequence[str],
        *,
        margin: float = 0.05,
        metrics: Sequence[str] = (),
        confidence: float = 0.99,
        fail_if: Sequence[str] = (),
        within_run: bool = False,
    ) -> None:
        others = [b] if isinstance(b, str) else list(b)
        if len(others) >= _MOST_SIDES:
            raise InputError(f"{len(others)} sides beside the baseline; at most {_MOST_SIDES - 1} are shown")
        self._sides = [load_side(name) for name in (a, *others)]
        terms = CompareTerms(
            margin=margin,
            confidence=confidence,
            metrics=tuple(map(parse_metric, metrics)),
            rules=tuple(map(parse_rule, fail_if)),
            within_run=within_run,
        )
        self.comparison = compare(self._sides, terms)
        self._answer = Compared(self.comparison)

    def result(self) -> Block:
        """The answer in a sentence, with what differs and what to know; `data` has the differences."""
        rows = [
            {"old": pair.a, "new": pair.b, "fact": one.fact, "old_is": one.a, "new_is": one.b}
            for pair in self.comparison.pairs
            for one in pair.differences
        ]
        columns = ["old", "new", "fact", "old_is", "new_is"]
        parts = [part for part in self._answer.document.parts if not isinstance(part, FigureTable)]
        shown = Document(self._answer.document.headline, parts)
        return block(shown, pd.DataFrame(rows, columns=columns))

    def table(self) -> Block:
        """A row a workload, then every figure with its interval and answer; `data` has them as numbers."""
        return block(Document(None, self._answer.document.tables()), self._answer.to_frame(), place="compare")

    def percentiles(self) -> Block:
        """Latency by percentile of all sides on shared axes; `data` has the curves."""
        curves = sides_curves(self._sides)
        block = self._figures(
            curves,
            "compare-percentiles",
            plots.percentile_curves,
            what="latency by percentile. Lower is better.",
            how=[RARER, MERGED, *([HOLLOW] if curves["n"].notna().any() else [])],
            timed=True,
        )
        if block is None:
            lacks = "No workload has percentiles to draw. To have them next time, run fio with"
            block = render("note", text=lacks, options=["--output-format=json+"])
        return Block(block.html, lambda: curves)

    def rates(self) -> Block:
        """IOPS and throughput of all sides side by side; `data` has the medians."""
        found = sides_rates(self._sides)
        runs = found["runs"].map(words.runs_text).where(found["runs"] > 1, "")
        drawn = found.assign(note=runs.map(lambda text: f"median of {text}" if text else ""))
        known = drawn[drawn[["iops", "bw_bytes_per_s"]].notna().any(axis=1)]
        block = self._figures(
            known,
            "compare-rates",
            plots.rates_side_by_side,
            what="IOPS and throughput. Higher is better.",
            how=["A marker is the median of the runs of a side.", LOG_AXIS],
            timed=False,
        )
        if block is None:
            block = render("note", text="No workload has a rate on all sides", options=[])
        return Block(block.html, lambda: found)

    def _figures(
        self,
        rows: pd.DataFrame,
        name: str,
        draw: Callable[[pd.DataFrame, Sequence[plots.Series], plots.Layout], plots.Drawn],
        *,
        what: str,
        how: Sequence[str],
        timed: bool,
    ) -> Block | None:
        """A figure a workload that at least two sides have; those with the largest changes."""
        names = dict.fromkeys(side.name for side in self._sides)
        series = [plots.Series(key, key, self._short(i), i) for i, key in enumerate(names)]
        counts = rows.groupby("facet", sort=False)["series"].nunique()
        order = [one for one in self._most_changed(timed) if counts.get(one, 0) > 1]
        panels: list[Panel] = []
        for facet in order[:_MOST_FIGURES]:
            mine = rows[rows["facet"] == facet]
            panels.append((facet, [one for one in series if (mine["series"] == one.key).any()], mine))
        said = self._said(timed)
        return figures(
            panels,
            name,
            draw,
            title=lambda drawn, _: said.get(str(drawn["facet"].iloc[0]), ""),
            what=what,
            how=how,
            group=None,
            kind="percentiles" if timed else "rates",
        )

    def _short(self, i: int) -> str:
        if i == 0:
            return "old"
        return "new" if len(self._sides) == 2 else f"new {i}"

    def _most_changed(self, timed: bool) -> list[str]:
        """Workloads, in the order of the tables."""
        known = {one.evidence.workload.name for one in self._of_kind(timed)}
        names = [one.name for pair in self.comparison.pairs for one in by_workload(pair)]
        return [name for name in dict.fromkeys(names) if name in known]

    def _said(self, timed: bool) -> dict[str, str]:
        """The title of a workload's figure: its answers, and the largest change."""
        said = {}
        for name in self._most_changed(timed):
            mine = [one for one in self._of_kind(timed) if one.evidence.workload.name == name]
            answer = kind_of(mine)
            first = max((one for one in mine if one.answer is answer), key=lambda one: one.change)
            said[name] = (
                f"{answer.value.capitalize()}: {first.evidence.metric.title} {words.times(first.ratio)}"
            )
        return said

    def _of_kind(self, timed: bool) -> list[ComparedFigure]:
        """The figures of latency, or those of rates."""
        every = [one for pair in self.comparison.pairs for one in pair.figures]
        return [one for one in every if (one.evidence.metric.percentile is not None) == timed]
