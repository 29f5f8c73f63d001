"""Which limit binds, for a reader with two minutes: a card for all runs that tell the same."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analyse import run_verdicts
from azbenchlib.analyse.labels import pattern_text
from azbenchlib.analyse.run_verdicts import Judged, judge_runs
from azbenchlib.analyse.verdict import Finding, Judgement, LimitRow
from azbenchlib.analyse.verdict import words as verdict_words
from azbenchlib.report import method, words
from azbenchlib.report.blocks import Block, render
from azbenchlib.units import NBSP, format_count, format_mbps

if TYPE_CHECKING:
    from azbenchlib.analyse.runs import Run
    from azbenchlib.model import Setup
    from azbenchlib.report.content import Entry, Part

MOST_CARDS = 12
BARS = 3  # limits of one run
MOST_WHO = 6  # series on one card
ONE_BY_ONE = 2  # runs of a series that are listed with their rates
MOST_TESTS = 4
MOST_NOTES = 2
LONGEST = 1.2  # utilisation at which a bar ends
SURE = 0.999  # the most that is said

Group = dict[str, str] | None


@dataclass(frozen=True)
class Told:
    """One run as it stands on the page: what binds it, its setup with limits, its series and workload."""

    run: Run
    judged: Judgement
    setup: Setup
    entry: Entry
    workload: str

    @property
    def load(self) -> float:
        """The largest use of a limit; 0 where none is documented."""
        return max((row.utilisation for row in self.judged.limits), default=0.0)

    @property
    def at_limit(self) -> bool:
        """Whether a documented limit stands at the first place."""
        return bool(self.judged.binding) and is_limit(self.judged.binding[0])

    @property
    def notes(self) -> list[Finding]:
        """What judging found doubtful and bears on this verdict; the table of doubts has it all."""
        known = {finding.code for finding in self.run.findings}
        binding = self.judged.binding
        speaking = {
            "base_not_seen": any("_burst_" in label for label in binding),
            "no_documented_limit": "unknown" in binding,
            "several_levels": True,
        }
        return [
            finding
            for finding in self.judged.findings
            if finding.code not in known and speaking.get(finding.code, finding.severity != "info")
        ]


def is_limit(label: str) -> bool:
    """Whether a label is one of a documented limit, not of another cause."""
    return label.endswith(("_iops", "_mbps"))


def tell(part: Part, setup: Setup | None = None, as_of: str | None = None, nvme: bool = False) -> list[Told]:
    """Every run of a dataset's share with its verdict; the arguments are those of ``judge_runs``."""
    tables = part.dataset.tables
    judged = judge_runs(tables, setup, as_of, nvme)
    stated = {
        name: setup or run_verdicts.stated_setup(tables, name) for name in {run.setup_id for run, _ in judged}
    }
    setups = {name: run_verdicts.resolved_setup(one, as_of, nvme)[0] for name, one in stated.items()}
    return [told for pair in judged if (told := _told(part, pair, setups[pair[0].setup_id]))]


def _told(part: Part, pair: Judged, setup: Setup) -> Told | None:
    """None for a run that the report leaves out, such as an interim state."""
    run, judged = pair
    rows = next((part.workloads[name] for name in run.run_ids if name in part.workloads), None)
    return None if rows is None else Told(run, judged, setup, part.entries[rows[0]], rows[1])


def silent(part: Part, found: Sequence[Told]) -> bool:
    """Whether no limit can be named: nothing is documented of what was measured."""
    used = part.dataset.setups["setup_id"].isin([told.run.setup_id for told in found])
    return not any(told.judged.limits for told in found) and bool(
        part.dataset.setups.loc[used, "vm_size"].isna().all()
    )


def cards(part: Part, found: Sequence[Told], group: Group) -> Block:
    """A card for all runs that tell the same; those at a limit first. One sentence where none is known."""
    if silent(part, found):
        whose = f"“{part.manifest.title}” " if group else ""
        text = f"No documented limit: {whose}was not measured on an Azure VM whose size is stated"
        return render("note", text=text, options=[])
    alike: dict[Hashable, list[Told]] = defaultdict(list)
    for told in found:
        alike[_alike(told)].append(told)
    made = sorted(alike.values(), key=lambda some: not some[0].at_limit)
    left_out = sum(map(len, made[MOST_CARDS:]))
    footnote = f"{words.count(left_out, 'run')} more: azbench verdict tells of each." if left_out else ""
    shown = [_card(some) for some in made[:MOST_CARDS]]
    return render("verdicts", cards=shown, group=group, footnote=footnote)


def doubts(part: Part, place: str, found: Sequence[Told], group: Group) -> Block | None:
    """What makes the verdicts doubtful, beyond what reading found; None where nothing does.

    It stands below ``method.trust`` and, of several datasets, under the heading of that.
    """
    if silent(part, found):
        return None
    read = set(part.dataset.findings["code"])
    rows = pd.DataFrame(
        [
            {**vars(finding), "advice": finding.advice or pd.NA, "run_id": told.run.run_ids[0]}
            for told in found
            for finding in told.judged.findings
            if finding.code not in read
        ]
    )
    if rows.empty:
        return None
    under = f"{place}-findings-of" if group else ""
    return render(
        "verdict_doubts", id=f"{place}-verdict-doubts", rows=method._finding_rows(rows), under=under
    )


def certainty(judged: Judgement) -> str:
    """How sure a verdict is; never rounded up."""
    if not judged.binding or not judged.probability:
        return ""
    first = percent(judged.probability)
    if judged.probability >= verdict_words.PROBABLY or judged.runner_up is None:
        return f"{first} certain"
    return f"{first} against {percent(judged.posterior.get(judged.runner_up, 0.0))}"


def percent(share: float) -> str:
    """A probability, rounded down, for 99.6 % is not sure; above 99 % with a decimal."""
    known = min(share, SURE)
    if known < 0.01:
        return "< 1 %"
    digits = 1 if known >= 0.99 else 0
    scale = 100 * 10**digits
    return f"{math.floor(known * scale + 1e-9) / 10**digits:g} %"


def rates(judged: Judgement) -> str:
    """``59,200 IOPS, 484 MB/s``, as far as they are known."""
    known = ((words.iops, judged.iops, "IOPS"), (words.mbps, judged.bytes_per_s, "MB/s"))
    return ", ".join(f"{text(value)} {unit}" for text, value, unit in known if value is not None)


def limit_text(row: LimitRow) -> str:
    """A limit's value with its unit."""
    if row.label.endswith("_mbps"):
        return f"{format_mbps(row.value)} MB/s"
    return f"{format_count(row.value)} IOPS"


def limit_name(label: str) -> str:
    """A label as it stands alone: ``Disk's burst IOPS limit``."""
    name = verdict_words.name(label).removeprefix("the ")
    return name[:1].upper() + name[1:]


def _alike(told: Told) -> Hashable:
    """Runs of the same key share a card: the same sentence, doubts and, at a limit, the same limits."""
    judged = told.judged
    limits = frozenset((row.label, row.value, row.row) for row in judged.limits) if told.at_limit else None
    return judged.words, frozenset(finding.code for finding in told.notes), limits


def _card(some: Sequence[Told]) -> dict[str, Any]:
    most = max(some, key=lambda told: told.load)
    by_series: dict[str, list[Told]] = defaultdict(list)
    for told in some:
        by_series[told.entry.key].append(told)
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


def _certain(some: Sequence[Told]) -> str:
    """Of one run, or the range of several."""
    low, high = (pick(some, key=lambda told: told.judged.probability).judged for pick in (min, max))
    first, last = certainty(low), certainty(high)
    return first if first == last else f"{percent(low.probability).removesuffix(' %')} to {last}"


def _who(mine: Sequence[Told]) -> dict[str, Any]:
    """A series with its workloads: each with its rate, or what they have in common."""
    if len(mine) <= ONE_BY_ONE:
        return {"entry": mine[0].entry, "loads": [(told.workload, rates(told.judged)) for told in mine]}
    tests = list(dict.fromkeys(map(_pattern, mine)))
    named = ", ".join(tests[:MOST_TESTS]) + (" and others" if len(tests) > MOST_TESTS else "")
    return {"entry": mine[0].entry, "loads": [(f"{words.count(len(mine), 'run')} ({named})", _range(mine))]}


def _range(mine: Sequence[Told]) -> str:
    """The lowest and the highest rate; in bytes where block sizes differ."""
    both = [("iops", words.iops, "IOPS"), ("bytes_per_s", words.mbps, "MB/s")]
    several = len({flow.observation.bs_bytes for told in mine for flow in told.run.flows}) > 1
    for name, text, unit in reversed(both) if several else both:
        values = [getattr(told.judged, name) for told in mine]
        if all(value is not None for value in values):
            low, high = text(min(values)), text(max(values))
            return f"{low} {unit}" if low == high else f"{low} to {high} {unit}"
    return "rates not stated"


def _bars(most: Told, by_series: Sequence[Sequence[Told]]) -> list[dict[str, Any]]:
    """The limits that the most loaded run used most; away from limits, the most used one of each series."""
    if most.at_limit or len(by_series) == 1:
        binding_first = sorted(most.judged.limits, key=lambda row: row.label not in most.judged.binding)
        return [_bar(row, most, named=False) for row in binding_first[:BARS]]
    tops = [max(mine, key=lambda told: told.load) for mine in by_series[:MOST_WHO]]
    return [
        _bar(max(top.judged.limits, key=lambda row: row.utilisation), top, named=True)
        for top in tops
        if top.judged.limits
    ]


def _bar(row: LimitRow, told: Told, named: bool) -> dict[str, Any]:
    source = row.row or "source not stated"
    return {
        "entry": told.entry if named else None,
        "colour": told.entry.colour,
        "name": limit_name(row.label),
        "used": f"{100 * row.utilisation:.0f} %",
        "of": limit_text(row),
        "width": f"{100 * min(row.utilisation, LONGEST):.1f}",
        "binds": row.label in told.judged.binding,
        "source": f"{source}, as{NBSP}of{NBSP}{row.as_of}" if row.as_of else source,
    }


def _notes(some: Sequence[Told]) -> list[str]:
    """One sentence a kind of doubt; what is wrong with the whole setup comes last."""
    by_code: dict[str, dict[str, str]] = defaultdict(dict)
    for told in some:
        for note in told.notes:
            by_code[note.code].setdefault(note.message, _pattern(told))
    sentences = []
    for code in sorted(by_code, key=lambda code: code == "limits_not_known"):
        (message, pattern), *rest = by_code[code].items()
        several = f"{pattern}: {message}; {len(rest)} more findings are alike"
        sentences.append(several if rest else message)
    return [text[:1].upper() + text[1:] for text in sentences[:MOST_NOTES]]


def _pattern(told: Told) -> str:
    return pattern_text(told.run.test or pd.NA)


def _next(some: Sequence[Told]) -> str:
    """What to run next, unless the verdict itself says it."""
    runs = [told.judged.next_run for told in some]
    advice = dict.fromkeys(run.advice for run in runs if run and run.advice not in some[0].judged.words)
    first = next(iter(advice), "")
    return first[:1].upper() + first[1:]
