"""One job of a summary, and its figures as they are printed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from azbenchlib.core import units

PRINTED_NUMBER = r"\d{1,3}(?:,\d{3}){1,5}|\d{1,15}(?:\.\d{1,9})?"
COUNT = rf"({PRINTED_NUMBER})([kKM]?)"
RATE = rf"({PRINTED_NUMBER})\s?((?:[kKMG]i?)?)B/s"
_POWERS = {letter: power for power, letter in enumerate(" KMG")}


@dataclass(frozen=True, kw_only=True)
class SummaryJob:
    """What a summary tells of one job.

    Attributes
    ----------
    name : str
        As the script calls the job.
    options : mapping
        fio's options, as typed: of the summary, and those that its script always gives.
    results : mapping
        Columns of the table results, by direction.
    lat_us : mapping
        Mean of lat, by direction.
    columns : mapping
        Further columns of the table runs.
    rounded : bool
        Whether it has IOPS of few digits.
    """

    name: str
    options: Mapping[str, str]
    results: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    lat_us: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    rounded: bool = False


def value_of(text: str) -> float:
    """The number that is printed, with commas between thousands or without."""
    return float(text.replace(",", ""))


def count_of(text: str, letter: str) -> float:
    """A number of I/Os such as ``75.7k``; the letters are powers of ten."""
    return value_of(text) * units.KB ** _POWERS[letter.upper() or " "]


def bytes_of(text: str, prefix: str) -> float:
    """Bytes of ``523MiB``, in number and prefix, as fio 2.15 and later print them."""
    base = units.KIB if prefix.endswith("i") else units.KB
    return value_of(text) * base ** _POWERS[prefix[:1].upper() or " "]
