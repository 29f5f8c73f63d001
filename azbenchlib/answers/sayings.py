"""What binds a run or a curve, with the figures of the limits, as cards and leads say it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from azbenchlib.core.units import NBSP, format_count, format_mbps, format_probability, format_size
from azbenchlib.model.labels import Label
from azbenchlib.verdict import Judgement, LimitRow
from azbenchlib.verdict import text as verdict_words

REACHED = 0.96  # of a limit: from here on a bar has its colour
_CHIPS = {
    Label.LATENCY_QD: "No limit reached",
    Label.HOST_CPU: "Client CPU",
    Label.PAGE_CACHE: "Not the disk",
    Label.CACHE_EXHAUSTION: "Host cache full",
    Label.WORKLOAD_DEMAND: "No limit reached",
    Label.ABOVE_DOCUMENTED_LIMIT: "Above the limit",
    Label.UNKNOWN: "No known limit",
}
# What was measured then is not what the setup can do.
_NOT_THE_DISK = frozenset((Label.PAGE_CACHE, Label.CACHE_EXHAUSTION, Label.ABOVE_DOCUMENTED_LIMIT))


def limit_text(row: LimitRow) -> str:
    """A limit's value with its unit."""
    if row.label.quantity == "mbps":
        return f"{format_mbps(row.value)}{NBSP}MB/s"
    return f"{format_count(row.value)}{NBSP}IOPS"


def counted_text(row: LimitRow) -> str:
    """As how many an I/O counts against a limit, ``each I/O counts as 4``; empty where as one."""
    return "" if row.counted == 1 else f"each I/O counts as {row.counted:.3g}"


def counted_limit(row: LimitRow) -> str:
    """Return ``500 IOPS, each I/O counts as 4``: a limit's value, and as how many an I/O counts."""
    return ", ".join(filter(None, [limit_text(row), counted_text(row)]))


def counted_note(rows: Iterable[LimitRow]) -> str:
    """The same of several runs, a sentence; empty where every I/O counts as one."""
    counted = sorted({row.counted for row in rows if row.counted != 1})
    if not counted:
        return ""
    ends = " to ".join(f"{end:.3g}" for end in dict.fromkeys((counted[0], counted[-1])))
    return f"Each I/O counts as {ends} against the limit in IOPS."


def binding_rows(judged: Judgement) -> list[LimitRow]:
    """The limits that bind, with their values."""
    return [row for row in judged.limits if row.label in judged.binding]


def beside(judged: Judgement, row: LimitRow) -> LimitRow | None:
    """The other limit of the same path, in IOPS or MB/s, where it is not reached."""
    same = (row.label.scope, row.label.burst)
    return next(
        (
            other
            for other in judged.limits
            if (other.label.scope, other.label.burst) == same
            and other.label.quantity != row.label.quantity
            and other.utilisation < REACHED
        ),
        None,
    )


def sentence(judged: Judgement, phases: str) -> str:
    """The verdict with the value of the limit, and what the other one is.

    Parameters
    ----------
    judged : Judgement
    phases : str
        What the rate was, where the run had phases.
    """
    if not judged.binding or not judged.probability:
        return judged.words
    if not judged.probably_at_limit:
        named = {row.label: row.label.phrase(limit_text(row)) for row in judged.limits}
        wording = verdict_words.Wording(names=named)
        return verdict_words.words(
            judged.binding, judged.probability, judged.runner_up, None, wording=wording
        )
    told = _bound(judged, phases)
    return told if judged.probability >= verdict_words.BOUND else f"Probably {told[:1].lower()}{told[1:]}"


def is_not_the_disk(judged: Judgement) -> bool:
    """Whether something is likely to have answered in place of the disk."""
    sure = bool(judged.binding) and judged.probability >= verdict_words.PROBABLY
    return sure and judged.binding[0] in _NOT_THE_DISK


def _bound(judged: Judgement, phases: str) -> str:
    rows = binding_rows(judged)
    if judged.phases and not phases:
        return f"Bound by {judged.phases}"
    if not rows:
        return verdict_words.words(judged.binding, 1.0, None, None)
    if len(rows) > 1:
        return f"Bound by {_several(rows)} at once"
    (row,) = rows
    base = next((other for other in judged.limits if other.label == row.label.base), None)
    if row.label.burst and base is not None and phases:
        first = f"Bound by {row.label.phrase(limit_text(row))}"
        return f"{first} until its credits are spent, then by that of {limit_text(base)}"
    other = beside(judged, row)
    lacking = f", not by that of {limit_text(other)}" if other else ""
    return f"Bound by {row.label.phrase(limit_text(row))}{lacking}"


def _several(rows: Sequence[LimitRow]) -> str:
    """Limits that bind at once; those of one owner share its name."""
    first = rows[0].label
    if any((row.label.scope, row.label.burst) != (first.scope, first.burst) for row in rows):
        return " and ".join(row.label.phrase(limit_text(row)) for row in rows)
    return first.phrase(" and ".join(map(limit_text, rows)))


def chip(judged: Judgement) -> tuple[str, str]:
    """What the chip of a card says, and how it looks: bound, probably or open."""
    if not judged.binding or not judged.probability:
        return "No verdict", "open"
    sure = format_probability(judged.probability)
    if judged.probability < verdict_words.PROBABLY:
        second = judged.posterior.get(judged.runner_up, 0.0) if judged.runner_up else 0.0
        return f"Cannot tell: {sure} against {format_probability(second)}", "open"
    if not judged.at_limit:
        return f"{_CHIPS[judged.binding[0]]}, {sure}", "open"
    if judged.probability >= verdict_words.BOUND:
        return f"Bound, {sure}", "bound"
    return f"Probably, {sure}", "probably"


def why(judged: Judgement, bs_bytes: float | None) -> str:
    """Why this limit and not the other one: what they are in the other's unit at this block size."""
    rows = binding_rows(judged) if judged.at_limit else []
    if not rows or not bs_bytes:
        return ""
    size = format_size(bs_bytes)
    if len(rows) > 1:
        return f"At {size} both limits meet; a run with another block size tells them apart."
    (row,) = rows
    if beside(judged, row) is None or row.label.burst:
        return ""
    if row.label.quantity == "mbps":
        return f"At {size} that is {format_count(round(row.value / bs_bytes))}{NBSP}IOPS."
    return f"At {size} that is {format_mbps(row.value * bs_bytes)}{NBSP}MB/s."


def bar_name(label: Label) -> str:
    """A limit as its bar is called: ``Temp disk MB/s``, ``Disk burst IOPS``."""
    return label.display_name[:1].upper() + label.display_name[1:]
