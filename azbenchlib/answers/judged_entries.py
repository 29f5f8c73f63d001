"""A run with its judgement on its way into an answer: what is shown of its limits and of its doubts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from azbenchlib.analysis.over_time.phases import in_words
from azbenchlib.analysis.over_time.sustained import phases_of
from azbenchlib.analysis.setup_names import pattern_text
from azbenchlib.answers import sayings
from azbenchlib.answers.document import Bar, Bars, Sentence, Tone
from azbenchlib.answers.figures import AS_BYTES_PER_S, AS_IOPS, AS_SHARE, Figure
from azbenchlib.core.findings import Code, Finding
from azbenchlib.verdict import text

if TYPE_CHECKING:
    from azbenchlib.analysis.runs import Run
    from azbenchlib.answers.next_step import NextSteps, Step
    from azbenchlib.verdict import Judgement
    from azbenchlib.verdict.judgement import LimitRow

_MOST_CERTAIN = 0.995  # no probability is rounded to certainty
_BARS = 3  # limits that are drawn


@dataclass(frozen=True, kw_only=True)
class JudgedEntry:
    """A run or a case with its judgement.

    Parameters
    ----------
    name : str
        Of the run, or the id of the case.
    setup_id : str or None
    judged : Judgement
    phases : str
        Of its rate, in words, where it had several.
    series, workload, pattern : str
        What it is of, what was run, and its pattern, in words; empty: the name says it.
    run : Run or None
        What ran at once; None of a case.
    steps : NextSteps or None
        What answers what to change on its setup.
    """

    name: str
    setup_id: str | None
    judged: Judgement
    phases: str = ""
    series: str = ""
    workload: str = ""
    pattern: str = ""
    run: Run | None = None
    steps: NextSteps | None = None

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Of all that ran at once; none of a case."""
        return self.run.run_ids if self.run else ()

    @cached_property
    def change(self) -> Step:
        """What to change where a limit binds."""
        return self.steps.of(self.run, self.judged) if self.run and self.steps else None

    @classmethod
    def of(
        cls, run: Run, judged: Judgement, series: str, workload: str = "", steps: NextSteps | None = None
    ) -> JudgedEntry:
        """Return a run of a dataset with its judgement."""
        return cls(
            name=run.name,
            setup_id=run.setup_id,
            judged=judged,
            phases=in_words(phases_of(run)),
            series=series,
            workload=workload,
            pattern=pattern_text(run.test or None),
            run=run,
            steps=steps,
        )


def verdict_sentence(judged: Judgement, words: str) -> Sentence:
    """Return a verdict with its probability; without one where no setup is stated."""
    return sure_sentence("", 0 if is_unstated(judged) else judged.probability, words, _tone(judged))


def sure_sentence(before: str, probability: float, words: str, tone: Tone = Tone.PLAIN) -> Sentence:
    """Put the probability before a verdict in words; it is never rounded to certainty."""
    if not probability:
        return Sentence(f"{before}{words}", tone=tone)
    shown = f"{min(probability, 0.99):.0%}" if probability < _MOST_CERTAIN else ">99%"
    named: dict[str, Figure | str] = {"before": before, "words": words}
    named["probability"] = Figure(probability, AS_SHARE, text=shown)
    return Sentence("{before}{probability} {words}", named, tone)


def bars(judged: Judgement) -> Bars:
    """Return how much of its limits a run used, those that the sentence names before the others."""
    return Bars([_bar(row, row.label in judged.binding) for row in _named_first(judged)[:_BARS]])


def doubts(judged: Judgement) -> list[Finding]:
    """Return what is doubtful and has a line of its own: it matters, and the sentence does not say it."""
    return [
        finding
        for finding in judged.doubts
        if not (finding.code == Code.SETUP_NOT_KNOWN and is_unstated(judged))
    ]


def _bar(row: LimitRow, binds: bool) -> Bar:
    limit = Figure(row.value, AS_BYTES_PER_S if row.label.quantity == "mbps" else AS_IOPS, row.row or "")
    if counted := sayings.counted_text(row):
        limit = replace(limit, text=f"{limit} ({counted})")
    return Bar(row.label.display_name, Figure(row.utilisation, AS_SHARE), limit, binds)


def _named_first(judged: Judgement) -> list[LimitRow]:
    """The limits, those that the sentence names before the others."""
    return sorted(
        judged.limits,
        key=lambda row: (
            row.label not in judged.binding,
            row.label.base != judged.binding[0].base,
            row.label != judged.runner_up,
        ),
    )


def is_unstated(judged: Judgement) -> bool:
    """Whether the sentence says that no setup is stated: it has no probability."""
    not_known = any(finding.code == Code.SETUP_NOT_KNOWN for finding in judged.findings)
    return not_known and judged.binding[:1] == ("unknown",)


def _tone(judged: Judgement) -> Tone:
    if judged.probability >= text.BOUND:
        return Tone.SURE
    return Tone.PROBABLE if judged.probability >= text.PROBABLY else Tone.OPEN
