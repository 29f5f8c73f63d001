"""A verdict in words, by its probability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from azbenchlib.core.units import format_count, format_mbps
from azbenchlib.model.labels import Label

if TYPE_CHECKING:
    from azbenchlib.verdict.judgement import Judgement

BOUND, PROBABLY = 0.95, 0.8
_MOST_NAMED = 3  # of several values that mean the same


@dataclass(frozen=True, kw_only=True)
class Wording:
    """What a sentence says beside the labels.

    Parameters
    ----------
    names : mapping of Label to str
        What to call some limits.
    phases : str
        What the rate was in turn, where a limit's credits were spent: all that binds, in words.
    given : str
        What is taken for granted, as the end of a clause.
    """

    names: Mapping[Label, str] = field(default_factory=dict)
    phases: str = ""
    given: str = ""


IN_WORDS = Wording()


def names(labels: Sequence[Label], wording: Wording = IN_WORDS) -> str:
    """Several labels in words, as one thing."""
    found = [wording.names.get(label) or label.phrase() for label in labels]
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]} at once"


def either(values: Sequence[str]) -> str:
    """Some of them, in their order: ``P40 or P50``, ``P1 to P20``."""
    return " or ".join(values) if len(values) <= _MOST_NAMED else f"{values[0]} to {values[-1]}"


def rates(judged: Judgement) -> str:
    """``59,200 IOPS, 484 MB/s``, as far as they are known."""
    known = ((format_count, judged.iops, "IOPS"), (format_mbps, judged.bytes_per_s, "MB/s"))
    return ", ".join(f"{form(value)} {unit}" for form, value, unit in known if value is not None)


def words(
    binding: Sequence[Label],
    probability: float,
    runner_up: Label | None,
    rerun: str | None,
    fact: str | None = None,
    wording: Wording = IN_WORDS,
) -> str:
    """The verdict in one sentence.

    Parameters
    ----------
    binding : sequence of Label
        The labels at the top; several tie.
    probability : float
        Of all of them.
    runner_up : Label, optional
    rerun : str, optional
        What to run to settle it, as the end of a sentence.
    fact : str, optional
        What is not stated and would settle it, as a part of a sentence.
    wording : Wording
    """
    if probability >= BOUND:
        return _sure(binding, wording)
    if probability >= PROBABLY:
        return f"Probably {_lower(_sure(binding, wording))}" + (f"; {fact}" if fact else "")
    rather = f" and {names([runner_up], wording)}" if runner_up else ""
    settle = "; or ".join(filter(None, (fact, rerun)))
    between = f"Cannot tell between {names(binding, wording)}{rather}{wording.given}"
    return between + (f": {settle}" if settle else "")


def _sure(binding: Sequence[Label], wording: Wording) -> str:
    if binding[0] == Label.UNKNOWN:
        return "No documented limit explains the rate"
    if binding[0] == Label.ABOVE_DOCUMENTED_LIMIT:
        return "Above the documented limit"
    return f"Bound by {wording.phases or names(binding, wording)}{wording.given}"


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
