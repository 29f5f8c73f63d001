"""Which documented limit binds each run: the answer of `azbench verdict` and of ``azbenchlib.judge``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis.axes import AXES
from azbenchlib.analysis.grouping import arrange
from azbenchlib.analysis.load_curves import may_sweep
from azbenchlib.analysis.surfaces import off_surfaces
from azbenchlib.analysis.sweeps import on_surface
from azbenchlib.answers import verdict_overview
from azbenchlib.answers.answer import Answer
from azbenchlib.answers.curve_verdict import CurveVerdict, curve_verdicts, draw, summary
from azbenchlib.answers.document import CodeBlock, Document, Part, Section, Sentence, Tone
from azbenchlib.answers.judged_entries import (
    JudgedEntry,
    bars,
    doubts,
    sure_sentence,
    verdict_sentence,
)
from azbenchlib.answers.next_step import NextSteps, what_to_change
from azbenchlib.answers.surface_verdict import SurfaceVerdict, draw_highest, sections, surface_verdicts
from azbenchlib.answers.verdict_overview import range_of_rates, shared_words, without_predictions
from azbenchlib.core import palette, schema
from azbenchlib.core.errors import InputError
from azbenchlib.verdict import text
from azbenchlib.verdict.cases.judge import judge_case
from azbenchlib.verdict.run_verdicts import judge_runs
from azbenchlib.verdict.to_json import record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from azbenchlib.answers.blocks import Block
    from azbenchlib.dataset.dataset import Dataset
    from azbenchlib.verdict import Judgement
    from azbenchlib.verdict.judgement import LimitRow


_MOST_CURVES = 6  # that have a card each


def judged_runs(dataset: Dataset, as_of: str | None = None, nvme: bool = False) -> VerdictAnswer:
    """Judge all runs of a dataset; they are evidence for each other, and some may make curves.

    Raises
    ------
    InputError
        When there is no run to judge.
    """
    judged = judge_runs(dataset.tables, None, as_of, nvme)
    if not judged:
        raise InputError(f"{dataset.place}: no run with a rate or a latency; there is nothing to judge")
    steps = NextSteps(dataset.tables)
    entries = [
        JudgedEntry.of(each.run, each.judgement, each.run.setup_id or "", steps=steps) for each in judged
    ]
    if not (may_sweep(dataset.runs) or on_surface(dataset.runs).any()):
        return VerdictAnswer(entries)
    tables, arrangement = dataset.tables, arrange(dataset.tables)
    by_run = {run_id: each.judgement for each in judged for run_id in each.run.run_ids}
    curves = curve_verdicts(off_surfaces(arrangement), tables, by_run)
    return VerdictAnswer(entries, curves, surface_verdicts(arrangement, tables, by_run))


def judged_cases(cases: Iterable[Mapping[str, Any]]) -> VerdictAnswer:
    """Judge the cases of a file of cases."""
    return VerdictAnswer(
        [
            JudgedEntry(name=str(case.get("id", f"case {i}")), setup_id=None, judged=judge_case(dict(case)))
            for i, case in enumerate(cases, 1)
        ]
    )


class VerdictAnswer(Answer):
    """The limit that binds each run, its probability, and the run that would settle it.

    Parameters
    ----------
    entries : sequence of JudgedEntry
        In the order in which they are shown.
    curves : sequence of CurveVerdict
        What some of the runs are points of.
    surfaces : sequence of SurfaceVerdict
        What some of the runs are cells of.
    """

    result: tuple[JudgedEntry, ...]

    def __init__(
        self,
        entries: Sequence[JudgedEntry],
        curves: Sequence[CurveVerdict] = (),
        surfaces: Sequence[SurfaceVerdict] = (),
    ) -> None:
        self.result = tuple(entries)
        self.curves = tuple(curves)
        self.surfaces = tuple(surfaces)

    @classmethod
    def of_all(cls, answers: Iterable[VerdictAnswer]) -> VerdictAnswer:
        """Return several as one."""
        every = list(answers)
        return cls(
            [one for each in every for one in each.result],
            [curve for each in every for curve in each.curves],
            [surface for each in every for surface in each.surfaces],
        )

    @cached_property
    def document(self) -> Document:
        """Surfaces, a card a curve, or a row where they are many; then a card for runs that say the same."""
        cards = [_card(same, len(self.result) == 1) for same in self._cards]
        return Document(None, [*self._swept, *cards, *self._changes])

    @property
    def _swept(self) -> list[Part]:
        return [*sections(self.surfaces), *self._curves]

    @property
    def _curves(self) -> list[Part]:
        if len(self.curves) > _MOST_CURVES:
            swept = {curve.curve.axis.key for curve in self.curves}
            return [summary(self.curves, axis) for axis in AXES if axis.key in swept]
        return [curve.section for curve in self.curves]

    @property
    def _changes(self) -> list[Part]:
        """What to change for the curves and the other runs that a limit binds, each change once."""
        by_judgement = {id(entry.judged): entry for entry in self.result}
        points = [(curve.name, by_judgement.get(id(curve.judgement))) for curve in self.curves]
        bound = [*points, *((entry.name, entry) for entry in self._alone)]
        changes = what_to_change([(name, entry.change if entry else None) for name, entry in bound])
        return [Section("What to change", changes)] if changes else []

    @property
    def _alone(self) -> list[JudgedEntry]:
        """The runs that are no point of a curve and no cell of a surface."""
        swept: list[CurveVerdict | SurfaceVerdict] = [*self.curves, *self.surfaces]
        points = frozenset().union(*(each.run_ids for each in swept))
        return [entry for entry in self.result if not points.issuperset(entry.run_ids or ("",))]

    @cached_property
    def _cards(self) -> list[list[JudgedEntry]]:
        cards: dict[tuple[object, ...], list[JudgedEntry]] = defaultdict(list)
        for entry in self._alone:
            judged = entry.judged
            alike = (
                entry.setup_id,
                without_predictions(judged),
                tuple(finding.code for finding in judged.findings),
            )
            # what was measured near a limit keeps its own bars
            cards[(*alike, () if judged.binding == ("page_cache",) else entry.name)].append(entry)
        return list(cards.values())

    def to_dict(self) -> dict[str, Any]:
        """Return all judgements (MB/s is 10⁶ B/s), and the curves and surfaces where there are some."""
        curves = {"curves": [curve.record() for curve in self.curves]} if self.curves else {}
        surfaces = {"surfaces": [surface.record() for surface in self.surfaces]} if self.surfaces else {}
        verdicts = [
            {**record(entry.name, entry.judged), "change": entry.change and entry.change.record()}
            for entry in self.result
        ]
        return {"verdicts": verdicts, **curves, **surfaces}

    def to_frame(self) -> pd.DataFrame:
        """Return a row a run.

        Returns
        -------
        DataFrame
            run, setup_id, iops, bw_bytes_per_s, limit (labels that tie have `` and `` between them),
            probability (0 to 1), sentence, next_run (what to run to settle it; NA where nothing is open).
        """
        rows = [
            {
                "run": entry.name,
                "setup_id": entry.setup_id,
                "iops": entry.judged.iops,
                "bw_bytes_per_s": entry.judged.bytes_per_s,
                "limit": " and ".join(entry.judged.binding) or None,
                "probability": entry.judged.probability,
                "sentence": entry.judged.words,
                "next_run": entry.judged.next_run.advice if entry.judged.next_run else None,
            }
            for entry in self.result
        ]
        return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)

    def draw(self, axes: Axes) -> None:
        """Draw the curves over one axis, or the highest rates of each surface; without either, how much of
        its binding limit each run used.

        Runs that no documented limit binds have no bar.

        Raises
        ------
        InputError
            When it is known of no run.
        """
        if self.curves:
            draw(axes, self.curves)
            return
        if self.surfaces:
            draw_highest(axes, self.surfaces)
            return
        used = [(entry.name, row) for entry in self.result if (row := _binding_row(entry.judged))]
        if not used:
            raise InputError("no run is bound by a documented limit, so there is no share of one to draw")
        rows = [row for _, row in used]
        places = range(len(used))
        drawn = axes.barh(places, [100 * row.utilisation for row in rows], color=palette.COLOURS[1][0])
        axes.bar_label(drawn, [f"{row.utilisation:.0%}" for row in rows], padding=4)
        axes.axvline(100, color=palette.NEUTRAL["ink2"], linewidth=1)
        axes.set_yticks(places, [f"{name}\n{row.label.display_name}" for name, row in used])
        axes.invert_yaxis()
        axes.margins(x=0.15)
        axes.set_xlabel("Used of the limit that binds (%)")

    def to_html(self) -> Block:
        """Return the answer as a block of a page, with the table of all runs."""
        from azbenchlib.answers.html import block

        return block(self.document, self.to_frame())

    @cached_property
    def overview(self) -> Document:
        """A card a curve, and one for all other runs of which the same is said, as a cell shows it."""
        if len(self.result) == 1:
            return self.document
        return verdict_overview.overview(self._alone, self._swept, self._changes)

    @cached_property
    def next_runs(self) -> Document:
        """The fio jobs that settle what is open; it has no part where none does."""
        return verdict_overview.next_runs(self.result)

    def _for_cell(self) -> Document:
        return self.overview


_COLUMNS: dict[str, Any] = {
    "run": schema.TEXT,
    "setup_id": schema.TEXT,
    "iops": schema.FLOAT,
    "bw_bytes_per_s": schema.FLOAT,
    "limit": schema.TEXT,
    "probability": schema.FLOAT,
    "sentence": schema.TEXT,
    "next_run": schema.TEXT,
}


def _card(same: Sequence[JudgedEntry], whole: bool) -> Section:
    """The card of a run, or of several of which the same is said: the bars are those of the middle one."""
    entry = sorted(same, key=lambda one: one.judged.peak_use)[(len(same) - 1) // 2]
    is_alone, is_repeated = len(same) == 1, len({one.name for one in same}) == 1
    more = "" if is_alone else f", {len(same)} runs" if is_repeated else f" and {len(same) - 1} more"
    rates = entry.phases or text.rates(entry.judged)
    rates = rates if is_alone else range_of_rates([one.judged for one in same]).text
    beside = "  ".join(part for part in (entry.setup_id, rates) if part)
    words = shared_words(same, entry.judged)
    return Section(f"{entry.name}{more}", list(_parts(entry.judged, words, is_repeated, whole)), beside)


def _parts(judged: Judgement, words: str, drawn: bool, whole: bool) -> Iterator[Part]:
    yield verdict_sentence(judged, words)
    for flow in judged.flows if len(judged.flows) > 1 else ():
        yield sure_sentence(f"{flow.ddir}, {flow.path.name}: ", flow.probability, flow.words)
    if judged.limits and drawn:
        yield bars(judged)
    yield from (Sentence(finding.message, tone=Tone.DOUBT) for finding in doubts(judged))
    yield from _following(judged, whole)


def _binding_row(judged: Judgement) -> LimitRow | None:
    binding = [row for row in judged.limits if row.label in judged.binding]
    return max(binding, key=lambda row: row.utilisation, default=None)


def _following(judged: Judgement, whole: bool) -> Iterator[Part]:
    """What to run next, or why there is no such run."""
    if judged.next_run:
        if judged.next_run.advice not in judged.words:
            yield Sentence(f"Next: {judged.next_run.advice}")
        if whole:
            yield CodeBlock(judged.next_run.job, language="ini")
    elif judged.why_no_run and judged.why_no_run not in judged.words:
        yield Sentence(f"No next run: {judged.why_no_run}")
