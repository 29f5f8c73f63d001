"""What files of unlike workloads have to tell: where the highest rates are, and under which workload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib.analysis.totals import totals
from azbenchlib.answers import sayings
from azbenchlib.report import formatting
from azbenchlib.report.sections.lead_sentence import LeadSentence, linked

if TYPE_CHECKING:
    from azbenchlib.report.part import Part
    from azbenchlib.report.setup_answer import SetupAnswer

_RATES = (("iops", "iops_bound", "IOPS"), ("bw_bytes_per_s", "bw_bound", "MB/s"))
_MOST_AT_ONCE = 2  # workloads that are named of what ran at once
_Top = tuple["SetupAnswer", pd.Series]


def rates(found: Sequence[SetupAnswer]) -> list[LeadSentence]:
    """Which file reported the most IOPS, and which the most MB/s, with its workload.

    Parameters
    ----------
    found : sequence of SetupAnswer
        One a card.

    Returns
    -------
    list of LeadSentence
        Empty unless several files without a stated setup have rates. Rates that something else than the disk
        probably gave, and published bounds, are passed over.
    """
    if len(found) < 2 or any(answer.is_stated for answer in found):
        return []
    answers = _by_card(found)
    parts = {answer.place: answer.part for answer in found}
    rows = pd.concat([_of_disks(part).assign(place=place) for place, part in parts.items()])
    if rows["series"].nunique() < 2:
        return []
    tops: dict[str, _Top] = {}
    for column, bound, unit in _RATES:
        known = rows[rows[column].notna() & (rows[bound].isna() | (rows[bound] == "="))]
        if len(known):
            row = known.sort_values(column, ascending=False, kind="stable").iloc[0]
            place = row["place"], row["series"]
            tops[unit] = answers.get((*place, row["facet"])) or answers[*place, None], row
    alike = len({(id(answer), row["facet"]) for answer, row in tops.values()}) == 1
    if alike and len(tops) > 1:
        return [_sentence(" and ".join(tops), next(iter(tops.values())))]
    return [_sentence(unit, top) for unit, top in tops.items()]


def _by_card(found: Sequence[SetupAnswer]) -> dict[tuple[str, str, str | None], SetupAnswer]:
    """The answer of each card by dataset, series and workload; for None, the first of a series."""
    by_card = {}
    for answer in reversed(found):
        for facet in (answer.card.facet, None):
            by_card[answer.place, answer.card.series, facet] = answer
    return by_card


def _of_disks(part: Part) -> pd.DataFrame:
    """The rates of all workloads of a dataset, without those of a page cache, a CPU and the like."""
    other = {(one.entry.key, one.workload) for one in part.verdicts if sayings.is_not_the_disk(one.judged)}
    table = totals(part.arrangement)
    kept = [key not in other for key in zip(table["series"], table["facet"], strict=True)]
    return table[kept]


def _sentence(what: str, top: _Top) -> LeadSentence:
    """``a.json reported the most IOPS: 7,250 IOPS, 29.7 MB/s (4 KiB random reads, QD 4).``"""
    answer, row = top
    workload = formatting.workload_of(row)
    is_told = answer.card.facet and workload.casefold() in answer.name.casefold()
    load = "" if is_told else f" ({_short(workload)})"
    text = f" reported the most {what}: {formatting.rate_words(row)}{load}."
    return LeadSentence(answer.place, (linked(answer, begins=True), (text, "")))


def _short(workloads: str) -> str:
    """The workloads that ran at once, or the first of many: ``4 KiB random reads, QD 1 + … and 7 more``."""
    every = workloads.split(" + ")
    return " + ".join(every[:_MOST_AT_ONCE]) + (
        f" and {len(every) - _MOST_AT_ONCE} more" if len(every) > _MOST_AT_ONCE else ""
    )
