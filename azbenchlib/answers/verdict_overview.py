"""Many verdicts at a glance: a card for all runs of which the same is said, and the runs that settle them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from azbenchlib.answers.document import CodeBlock, Document, Listing, Part, Section, Sentence, Tone, span
from azbenchlib.answers.figures import AS_BYTES_PER_S, AS_IOPS, AS_PROBABILITY, Figure, FigureUnit
from azbenchlib.answers.judged_entries import JudgedEntry, bars, doubts
from azbenchlib.core.findings import Code
from azbenchlib.verdict import text
from azbenchlib.verdict.judgement import Judgement

Entries = Sequence[JudgedEntry]

_CARDS = 12
_JOBS = 12
_SERIES = 6  # on one card
_ONE_BY_ONE = 2  # runs of a series that are listed with their rates
_TESTS = 4  # patterns that are named of more
_NOTES = 2


def overview(entries: Entries, curves: Sequence[Part] = (), changes: Sequence[Part] = ()) -> Document:
    """Return the curves, a card for all runs of which the same is said, those at a limit first, and what to
    change.
    """
    alike: dict[Hashable, list[JudgedEntry]] = defaultdict(list)
    for entry in entries:
        alike[_said(entry.judged)].append(entry)
    cards = sorted(alike.values(), key=lambda same: not same[0].judged.at_limit)
    parts: list[Part] = [*curves, *(_card(same) for same in cards[:_CARDS])]
    if more := sum(map(len, cards[_CARDS:])):
        runs = "run" if more == 1 else "runs"
        parts.append(Sentence(f"{more:,} more {runs}: .to_frame() has a row a run", tone=Tone.FAINT))
    return Document(None, [*parts, *changes])


def next_runs(entries: Entries) -> Document:
    """Return the fio jobs that settle what is open: one for all runs that ask for the same."""
    asked: dict[str, list[JudgedEntry]] = defaultdict(list)
    for entry in entries:
        if entry.judged.next_run:
            asked[entry.judged.next_run.action].append(entry)
    jobs = [job for same in list(asked.values())[:_JOBS] for job in _job(same)]
    how = "Save a job as next.fio, and give fio the file or device: TARGET=… fio next.fio"
    return Document(None, [Sentence(how, tone=Tone.FAINT), *jobs] if jobs else [])


def certainty(judged: Judgement) -> Sentence | None:
    """Return how sure a verdict is, never rounded up; None where there is none."""
    if not judged.binding or not judged.probability:
        return None
    first = Figure(judged.probability, AS_PROBABILITY)
    if judged.probability >= text.PROBABLY or judged.runner_up is None:
        return Sentence("{probability} certain", {"probability": first})
    second = Figure(judged.posterior.get(judged.runner_up, 0.0), AS_PROBABILITY)
    return Sentence("{probability} against {second}", {"probability": first, "second": second})


def range_of_rates(all_judged: Sequence[Judgement]) -> Sentence:
    """Return the lowest and the highest rate; in bytes where block sizes differ."""
    in_iops = [judged.iops for judged in all_judged]
    in_bytes = [judged.bytes_per_s for judged in all_judged]
    both: list[tuple[FigureUnit, list[float | None]]] = [(AS_IOPS, in_iops), (AS_BYTES_PER_S, in_bytes)]
    for unit, values in both[::-1] if _block_sizes(all_judged) > 1 else both:
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            return span(Figure(min(known), unit), Figure(max(known), unit))
    return Sentence("rates not stated")


def _said(judged: Judgement) -> Hashable:
    """What runs on one card have in common: the sentence, its doubts and, at a limit, the limits."""
    limits = frozenset((row.label, row.value, row.row) for row in judged.limits) if judged.at_limit else None
    return without_predictions(judged), frozenset(finding.code for finding in doubts(judged)), limits


def without_predictions(judged: Judgement) -> str:
    """Return the sentence with the run that would settle it, but not what that run would give."""
    run = judged.next_run
    return judged.words.replace(run.advice, run.action) if run else judged.words


def shared_words(same: Entries, judged: Judgement) -> str:
    """Return the sentence of one of several runs, without what it predicts where they predict several."""
    is_one = len({entry.judged.words for entry in same}) == 1
    return judged.words if is_one else without_predictions(judged)


def _card(same: Entries) -> Section:
    busiest = max(same, key=lambda entry: entry.judged.peak_use).judged
    by_series: dict[str, list[JudgedEntry]] = defaultdict(list)
    for entry in same:
        by_series[entry.series].append(entry)
    parts: list[Part] = []
    if sure := _certainties([entry.judged for entry in same]):
        parts.append(sure)
    shown = [sentence for mine in list(by_series.values())[:_SERIES] for sentence in _loads(mine)]
    if len(by_series) > _SERIES:
        shown.append(Sentence(f"and {len(by_series) - _SERIES:,} more"))
    parts.append(Listing("", shown))
    if busiest.limits:
        parts.append(bars(busiest))
    return Section(shared_words(same, busiest), [*parts, *_doubts(same), *_advice(same)])


def _certainties(all_judged: Sequence[Judgement]) -> Sentence | None:
    """Return the certainty of one verdict, or the range of several."""
    low, high = (pick(all_judged, key=lambda judged: judged.probability) for pick in (min, max))
    first, last = certainty(low), certainty(high)
    if first is None or last is None or first.text == last.text:
        return last
    return Sentence(
        f"{{lowest}} to {last.template}", {"lowest": first.figures["probability"], **last.figures}
    )


def _loads(mine: Entries) -> Iterator[Sentence]:
    """Yield the runs of a series: each with its rates, or what many have in common."""
    series = f"{mine[0].series}, " if mine[0].series else ""
    if len(mine) <= _ONE_BY_ONE:
        yield from (_named(f"{series}{entry.workload or entry.name}", *_rates(entry)) for entry in mine)
        return
    tests = list(dict.fromkeys(entry.pattern for entry in mine if entry.pattern))
    others = " and others" if len(tests) > _TESTS else ""
    patterns = f" ({', '.join(tests[:_TESTS])}{others})" if tests else ""
    spread = range_of_rates([entry.judged for entry in mine])
    yield _named(f"{series}{len(mine):,} runs{patterns}", spread.template, dict(spread.figures))


def _named(name: str, template: str, figures: dict[str, Figure | str]) -> Sentence:
    return Sentence(f"{{name}}: {template}" if template else "{name}", {"name": name, **figures})


def _rates(entry: JudgedEntry) -> tuple[str, dict[str, Figure | str]]:
    judged = entry.judged
    if entry.phases:
        return "{phases}", {"phases": entry.phases}
    known: dict[str, Figure | str] = {
        unit.name: Figure(value, unit)
        for unit, value in ((AS_IOPS, judged.iops), (AS_BYTES_PER_S, judged.bytes_per_s))
        if value is not None
    }
    return ", ".join(f"{{{name}}}" for name in known), known


def _block_sizes(all_judged: Sequence[Judgement]) -> int:
    sizes = {round(one.bytes_per_s / one.iops) for one in all_judged if one.iops and one.bytes_per_s}
    return len(sizes)


def _doubts(same: Entries) -> Iterator[Sentence]:
    """Yield one sentence a kind of doubt; what is wrong with the whole setup comes last."""
    by_code: dict[str, dict[str, str]] = defaultdict(dict)
    for entry in same:
        for finding in doubts(entry.judged):
            by_code[finding.code].setdefault(finding.message, entry.pattern)
    for code in sorted(by_code, key=lambda code: code == Code.LIMITS_NOT_KNOWN)[:_NOTES]:
        (message, pattern), *rest = by_code[code].items()
        similar = f"; {len(rest):,} similar finding{'s' if len(rest) > 1 else ''}" if rest else ""
        whose = f"{pattern}: " if rest and pattern else ""
        yield Sentence(f"{whose}{message}{similar}", tone=Tone.DOUBT)


def _advice(same: Entries) -> Iterator[Sentence]:
    """Yield what to run next, unless the verdict itself says it."""
    runs = [entry.judged.next_run for entry in same]
    advice = dict.fromkeys(run.advice for run in runs if run and run.advice not in same[0].judged.words)
    yield from (Sentence(f"Next: {first}") for first in list(advice)[:1])


def _job(same: Entries) -> Iterator[Section]:
    first = same[0]
    if first.judged.next_run:
        whose = ", ".join(filter(None, (first.series, first.workload or first.name)))
        others = f", and {len(same) - 1} more" if len(same) > 1 else ""
        job = CodeBlock(first.judged.next_run.job, language="ini")
        advice = first.judged.next_run.advice
        yield Section(f"{advice[:1].upper()}{advice[1:]}", [job], f"for {whose}{others}")
