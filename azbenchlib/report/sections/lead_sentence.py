"""A sentence of the lead, in pieces that may link to a card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azbenchlib.report.setup_answer import SetupAnswer


@dataclass(frozen=True)
class LeadSentence:
    """A sentence in pieces, each with the card that it links to (empty: none), and of which dataset it is."""

    place: str
    pieces: tuple[tuple[str, str], ...]


def is_named_by_workload(answer: SetupAnswer) -> bool:
    """Whether the name begins with a workload, such as random reads."""
    return answer.is_of_test or (
        answer.card.facet is not None
        and (answer.curve is not None or answer.name.startswith((answer.card.facet, answer.entry.name)))
    )


def is_plural(answer: SetupAnswer) -> bool:
    """Whether its verb is that of a plural: of random reads, but not of mixed I/O or of a file's name."""
    return is_named_by_workload(answer) and answer.name_in_lead.partition(", ")[0].endswith("s")


def linked(answer: SetupAnswer, without: str = "", begins: bool = False) -> tuple[str, str]:
    """The name of a setup, what tells it apart in brackets, and its card: ``OS disk (ReadWrite cache)``.

    Where it begins a sentence, a workload does so with a capital letter; names of files stay as they are.
    """
    first, *rest = answer.name_in_lead.removeprefix(without).split(", ")
    if begins and is_named_by_workload(answer):
        first = answer.name if answer.is_of_test else answer.entry.begun(first)
    return (f"{first} ({', '.join(rest)})" if rest else first), answer.id
