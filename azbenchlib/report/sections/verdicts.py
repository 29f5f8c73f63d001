"""Which limit binds, for a reader with two minutes: a card for all runs that tell the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis.setup_names import pattern_text
from azbenchlib.answers.blocks import Block, render
from azbenchlib.core.findings import Code
from azbenchlib.core.units import NBSP, format_probability
from azbenchlib.report import formatting
from azbenchlib.report.figures import Group
from azbenchlib.report.sections.sayings import bar_name, limit_text
from azbenchlib.verdict import Judgement, LimitRow
from azbenchlib.verdict import text as verdict_words

if TYPE_CHECKING:
    from azbenchlib.report.part import Part, RunVerdict

_MOST_CARDS = 12
_BARS = 3  # limits of one run
MOST_WHO = 6  # series on one card
ONE_BY_ONE = 2  # runs of a series that are listed with their rates
MOST_TESTS = 4
MOST_NOTES = 2
_LONGEST = 1.2  # utilisation at which a bar ends


def silent(part: Part, found: Sequence[RunVerdict]) -> bool:
    """Whether no limit can be named: nothing is documented of what was measured."""
    used = part.dataset.setups["setup_id"].isin([verdict.run.setup_id for verdict in found])
    return not any(verdict.judged.limits for verdict in found) and bool(
        part.dataset.setups.loc[used, "vm_size"].isna().all()
    )


def cards(part: Part, found: Sequence[RunVerdict], group: Group) -> Block:
    """A card for all runs that tell the same; those at a limit first. One sentence where none is known."""
    if silent(part, found):
        whose = f"of “{part.manifest.title}” " if group else ""
        likely = next((verdict.judged.likely_setup for verdict in found if verdict.judged.likely_setup), "")
        looks = f"The rates look like {likely}. " if likely else ""
        advice = "Add vm and disks to learn which limit binds"
        text = f"No documented limits: the VM size {whose}is unknown. {looks}{advice}"
        return render("note", text=text, options=[])
    alike: dict[Hashable, list[RunVerdict]] = defaultdict(list)
    for verdict in found:
        alike[_alike(verdict)].append(verdict)
    made = sorted(alike.values(), key=lambda some: not some[0].at_limit)
    left_out = sum(map(len, made[_MOST_CARDS:]))
    footnote = f"{formatting.count(left_out, 'run')} more: azbench verdict tells of each." if left_out else ""
    shown = [_card(some) for some in made[:_MOST_CARDS]]
    return render("verdicts", cards=shown, group=group, footnote=footnote)


def certainty(judged: Judgement) -> str:
    """How sure a verdict is; never rounded up."""
    if not judged.binding or not judged.probability:
        return ""
    first = format_probability(judged.probability)
    if judged.probability >= verdict_words.PROBABLY or judged.runner_up is None:
        return f"{first} certain"
    return f"{first} against {format_probability(judged.posterior.get(judged.runner_up, 0.0))}"


def _alike(verdict: RunVerdict) -> Hashable:
    """Runs of the same key share a card: the same sentence, doubts and, at a limit, the same limits."""
    judged = verdict.judged
    limits = frozenset((row.label, row.value, row.row) for row in judged.limits) if verdict.at_limit else None
    return judged.words, frozenset(finding.code for finding in verdict.notes), limits


def _card(some: Sequence[RunVerdict]) -> dict[str, Any]:
    most = max(some, key=lambda verdict: verdict.load)
    by_series: dict[str, list[RunVerdict]] = defaultdict(list)
    for verdict in some:
        by_series[verdict.entry.key].append(verdict)
    sure = most.judged.probability >= verdict_words.PROBABLY
    return {
        "words": most.judged.words,
        "sure": "sure" if sure and most.at_limit else "other" if sure else "open",
        "certain": _certain(some),
        "who": [_who(mine) for mine in list(by_series.values())[:MOST_WHO]],
        "others": max(0, len(by_series) - MOST_WHO),
        "bars": _bars(most, list(by_series.values())),
        "notes": _notes(some),
        "next": _next(some),
    }


def _certain(some: Sequence[RunVerdict]) -> str:
    """Of one run, or the range of several."""
    low, high = (pick(some, key=lambda verdict: verdict.judged.probability).judged for pick in (min, max))
    first, last = certainty(low), certainty(high)
    least = format_probability(low.probability).removesuffix(f"{NBSP}%")
    return first if first == last else f"{least} to {last}"


def _who(mine: Sequence[RunVerdict]) -> dict[str, Any]:
    """A series with its workloads: each with its rate, or what they have in common."""
    if len(mine) <= ONE_BY_ONE:
        return {"entry": mine[0].entry, "loads": [(verdict.workload, verdict.rates) for verdict in mine]}
    tests = list(dict.fromkeys(map(_pattern, mine)))
    named = ", ".join(tests[:MOST_TESTS]) + (" and others" if len(tests) > MOST_TESTS else "")
    return {
        "entry": mine[0].entry,
        "loads": [(f"{formatting.count(len(mine), 'run')} ({named})", _range(mine))],
    }


def _range(mine: Sequence[RunVerdict]) -> str:
    """The lowest and the highest rate; in bytes where block sizes differ."""
    both = [("iops", formatting.iops, "IOPS"), ("bytes_per_s", formatting.mbps, "MB/s")]
    several = len({flow.observation.bs_bytes for verdict in mine for flow in verdict.run.flows}) > 1
    for name, text, unit in reversed(both) if several else both:
        values = [getattr(verdict.judged, name) for verdict in mine]
        if all(value is not None for value in values):
            low, high = text(min(values)), text(max(values))
            return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"
    return "rates not stated"


def _bars(most: RunVerdict, by_series: Sequence[Sequence[RunVerdict]]) -> list[dict[str, Any]]:
    """The limits that the most loaded run used most; away from limits, the most used one of each series."""
    if most.at_limit or len(by_series) == 1:
        binding_first = sorted(most.judged.limits, key=lambda row: row.label not in most.judged.binding)
        return [_bar(row, most, named=False) for row in binding_first[:_BARS]]
    tops = [max(mine, key=lambda verdict: verdict.load) for mine in by_series[:MOST_WHO]]
    return [
        _bar(max(top.judged.limits, key=lambda row: row.utilisation), top, named=True)
        for top in tops
        if top.judged.limits
    ]


def _bar(row: LimitRow, verdict: RunVerdict, named: bool) -> dict[str, Any]:
    source = row.row or "source not stated"
    return {
        "entry": verdict.entry if named else None,
        "colour": verdict.entry.colour,
        "name": bar_name(row.label),
        "used": f"{100 * row.utilisation:.0f} %",
        "of": limit_text(row),
        "width": f"{100 * min(row.utilisation, _LONGEST):.1f}",
        "binds": row.label in verdict.judged.binding,
        "source": f"{source}, as{NBSP}of{NBSP}{row.as_of}" if row.as_of else source,
    }


def _notes(some: Sequence[RunVerdict]) -> list[str]:
    """One sentence a kind of doubt; what is wrong with the whole setup comes last."""
    by_code: dict[str, dict[str, str]] = defaultdict(dict)
    for verdict in some:
        for note in verdict.notes:
            by_code[note.code].setdefault(note.message, _pattern(verdict))
    sentences = []
    for code in sorted(by_code, key=lambda code: code == Code.LIMITS_NOT_KNOWN):
        (message, pattern), *rest = by_code[code].items()
        several = f"{pattern}: {message}; {formatting.count(len(rest), 'similar finding')}"
        sentences.append(several if rest else message)
    return [text[:1].upper() + text[1:] for text in sentences[:MOST_NOTES]]


def _pattern(verdict: RunVerdict) -> str:
    return pattern_text(verdict.run.test or pd.NA)


def _next(some: Sequence[RunVerdict]) -> str:
    """What to run next, unless the verdict itself says it."""
    runs = [verdict.judged.next_run for verdict in some]
    advice = dict.fromkeys(run.advice for run in runs if run and run.advice not in some[0].judged.words)
    first = next(iter(advice), "")
    return first[:1].upper() + first[1:]
