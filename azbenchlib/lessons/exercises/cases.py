"""Lesson 12: wrong benchmarks, of which the error is to be found, and the run that would show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

import yaml

from azbenchlib.core.units import KIB, MB, MIB, US_PER_MS, US_PER_S
from azbenchlib.lessons.answers import IN_MB_PER_S
from azbenchlib.lessons.check import Distractor, Exercise, Misconception, choice, telling

_BOOK = "case_book.yaml"
_OTHERS = 3  # answers to choose from, beside the right one
_PUBLISHED_IN = 7  # of so many exercises one is a published case


@dataclass(frozen=True, kw_only=True)
class WrongBenchmark:
    """A case of the book.

    Parameters
    ----------
    id, told : str
        Its name, and what was done and claimed, with places for numbers.
    error, run : str
        Keys of what is wrong, and of the run that would tell.
    near : sequence of str
        Keys of errors and runs that somebody might call right as well.
    numbers : mapping
        From the name of a number to its first, last and step.
    origin : str
        Dataset of a published case; empty: a well-known error with drawn numbers.
    judged : mapping
        The case as azbench judges it, and its label; empty where it judges no such thing.
    """

    id: str
    told: str
    error: str
    run: str
    near: Sequence[str]
    numbers: Mapping[str, Sequence[float]] = field(default_factory=dict)
    origin: str = ""
    judged: Mapping[str, Any] = field(default_factory=dict)

    def drawn(self, draw: Random) -> dict[str, float]:
        """Numbers for its places."""
        found = {}
        for name, (low, high, step) in self.numbers.items():
            value = low + step * draw.randint(0, round((high - low) / step))
            found[name] = int(value) if isinstance(step, int) else value
        return found


@dataclass(frozen=True)
class CaseBook:
    """All cases; of each error what it is and what one would see then; and the runs that tell them."""

    cases: Sequence[WrongBenchmark]
    errors: Mapping[str, Sequence[str]]
    runs: Mapping[str, str]

    def told_by(self, run: str) -> str:
        """The error that a run is there to show."""
        return next(self.errors[case.error][0] for case in self.cases if case.run == run)


@cache
def case_book() -> CaseBook:
    """The shipped case book."""
    content = yaml.safe_load(files(__package__).joinpath(_BOOK).read_text(encoding="utf-8"))
    cases = tuple(WrongBenchmark(**case) for case in content["cases"])
    return CaseBook(cases, content["errors"], content["runs"])


def find_the_error(draw: Random, case: WrongBenchmark) -> Exercise:
    """What is wrong with a benchmark."""
    book = case_book()
    others = _others(draw, book.errors, case.error, case)
    wrong = [Distractor(text, "another error", sign) for text, sign in (book.errors[key] for key in others)]
    return choice(
        draw,
        f"{case.told.format(**case.drawn(draw))} What is the error?",
        book.errors[case.error][0],
        wrong,
        hint="What answered, and what kept it from more? Is that what the last sentence speaks of?",
        law="A figure is right for what was measured; the error lies between that and what it is said to be",
        working=f"what would tell it is: {_small(book.runs[case.run])}",
    )


def find_the_run(draw: Random, case: WrongBenchmark) -> Exercise:
    """Which run would tell whether a claim is right."""
    book = case_book()
    wrong = [
        Distractor(
            book.runs[key],
            "a run that tells something else",
            f"It would show whether this is so: {_small(book.told_by(key))}. Is that open here?",
        )
        for key in _others(draw, book.runs, case.run, case)
    ]
    return choice(
        draw,
        f"{case.told.format(**case.drawn(draw))} What would tell whether that is so?",
        book.runs[case.run],
        wrong,
        hint="What may be wrong, and which run comes out differently if it is?",
        law="The run that tells changes the one thing that is open, and leaves all else as it was",
        working=f"open is whether this is so: {_small(book.errors[case.error][0])}",
    )


def _others(draw: Random, keys: Mapping[str, Any], right: str, case: WrongBenchmark) -> list[str]:
    """Keys of wrong answers: none that somebody might call right as well."""
    return draw.sample([key for key in keys if key != right and key not in case.near], _OTHERS)


def _small(sentence: str) -> str:
    """A sentence within another one."""
    second = sentence[1:2]
    return sentence if second.isupper() or sentence.startswith("MiB") else sentence[:1].lower() + sentence[1:]


def one_block_at_a_time(limit: float, block_kib: int, latency_ms: float, depth: int) -> Exercise:
    """Throughput of a copy whose queue does not reach the limit; the limit in bytes per second."""
    block = block_kib * KIB
    right = min(depth * block * US_PER_S / (latency_ms * US_PER_MS), limit)
    wrong = [
        Misconception(
            "the limit for the rate",
            limit,
            "That much the disk allows. But the next block is read when the one before it has come: how "
            "many are that?",
        ),
        Misconception(
            "MiB for MB",
            right * MB / MIB,
            "A KiB has 1,024 bytes, and a MB 1,000,000: write both in bytes.",
        ),
        Misconception(
            "KB for KiB", right * 1_000 / KIB, "A KiB has 1,024 bytes. Write the block in bytes first."
        ),
        Misconception(
            "half the limit",
            limit / 2,
            "What determines the rate is the latency: how many blocks fit into a second?",
        ),
    ]
    return Exercise(
        question=f"A disk allows {limit / MB:,.0f} MB/s, and a read of {block_kib} KiB takes {latency_ms:g} "
        f"ms. A program keeps {depth} of them outstanding. How many MB/s does it get?",
        unit=IN_MB_PER_S,
        right=right,
        misconceptions=telling(right, wrong),
        hint="How many blocks does it read in a second, and how many bytes are they?",
        law="Throughput = outstanding reads × block size ÷ latency, up to the limit",
        working=f"{depth} × {block:,} bytes ÷ {latency_ms:g} ms",
    )


def _case(draw: Random) -> WrongBenchmark:
    is_published = draw.randrange(_PUBLISHED_IN) == 0
    return draw.choice([case for case in case_book().cases if bool(case.origin) == is_published])


CASES = {
    "error": lambda draw: find_the_error(draw, _case(draw)),
    "run": lambda draw: find_the_run(draw, _case(draw)),
}
