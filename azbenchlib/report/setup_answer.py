"""What a report says of a setup, or of a workload where there is one: its verdict, and what to change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib.analysis.summary import Card
from azbenchlib.answers import sayings
from azbenchlib.answers.curve_verdict import vote
from azbenchlib.answers.next_step import Step
from azbenchlib.model.labels import Label
from azbenchlib.report import formatting
from azbenchlib.report.cards_of_part import cards_of

if TYPE_CHECKING:
    from azbenchlib.answers.curve_verdict import CurveVerdict
    from azbenchlib.answers.surface_verdict import SurfaceVerdict
    from azbenchlib.report.part import Entry, Part, RunVerdict

MOST_CARDS = 18  # of all datasets
FAR = 2.0  # a limit of which more than this is used was not the one that counts


@dataclass(frozen=True, kw_only=True)
class SetupAnswer:
    """One setup (or workload, where there is one setup) with its verdict.

    Attributes
    ----------
    id : str
        Of its card on the page; empty where there are too many for all to have one.
    part : Part
    place : str
        Of its dataset on the page, such as ``d0``.
    card : Card
    entry : Entry
    verdict : RunVerdict or None
        Of the run that its rate is from; of several the middle one of those that agree.
    agreeing, of : int
        How many repeats have that verdict, of how many.
    curve : CurveVerdict or None
        The curve of which the card shows a point.
    surfaces : sequence of SurfaceVerdict
        Of iozone; where there is no other card, it shows a cell of the first.
    """

    id: str
    part: Part
    place: str
    card: Card
    entry: Entry
    verdict: RunVerdict | None
    agreeing: int
    of: int
    curve: CurveVerdict | None = None
    surfaces: Sequence[SurfaceVerdict] = ()

    @property
    def name(self) -> str:
        """What the card is called."""
        if self.curve and self.card.facet:
            return self.curve.name
        if self.is_of_test:
            return self.surfaces[0].name
        return formatting.called(self.card, self.entry.name, self.part.arrangement.by == "pattern")

    @property
    def name_in_lead(self) -> str:
        """What the lead calls it: of a curve, with the value from which on its limit binds."""
        if self.curve and self.card.facet and self.curve.stretch:
            return f"{self.curve.curve.name}, {self.curve.stretch}"
        if self.is_of_test:
            return self.surfaces[0].surface.name
        return self.name

    @property
    def is_of_test(self) -> bool:
        """Whether it is a test of iozone, as a dataset of one setup has several."""
        return bool(self.surfaces) and self.part.arrangement.by != "setup"

    @property
    def is_of_cell(self) -> bool:
        """Whether its figures are of the shown cell of its first surface."""
        rate, shown = self.card.rate, self.surfaces[0].point.rate if self.surfaces else None
        return rate is not None and shown is not None and rate["facet"] == shown["facet"]

    @property
    def is_of_memory(self) -> bool:
        """Whether those figures are of a page cache, so that no limit of a disk bears on them."""
        return self.is_of_cell and self.surfaces[0].shows_memory

    @property
    def kind(self) -> str:
        """What the card is of: a workload, where the dataset has one setup, else a setup, a file or many."""
        if self.part.arrangement.by != "setup":
            return "workload"
        return "setup" if self.is_stated else "file" if self.card.files is None else "set of files"

    @property
    def is_stated(self) -> bool:
        """Whether the dataset states the setup; else a file stands for it."""
        runs = self.part.arrangement.runs
        return bool(runs.loc[runs["series"] == self.card.series, "stated"].any())

    @property
    def paths(self) -> set[str]:
        """The files that it is of; one empty path, where none is stated."""
        runs = self.part.arrangement.runs
        return set(runs.loc[runs["series"] == self.card.series, "source_path"].fillna(""))

    @property
    def setup(self) -> tuple[str, str]:
        """What is the same for all cards of one setup, or one file whose setup is not stated."""
        return self.place, "" if self.part.arrangement.by != "setup" else self.card.series

    @property
    def phases(self) -> str:
        """What the rate was, where the run had phases."""
        return "" if self.card.rate is None else str(self.card.rate["phases"])

    @property
    def rate_of(self) -> str:
        """Of which point of a curve, or of how many runs, the figures are."""
        if self.is_of_cell:
            return self.surfaces[0].at
        at = f"At {self.curve.at}" if self.curve and self.card.facet else ""
        return ", ".join(filter(None, [at, formatting.rate_of(self.card)]))

    @property
    def sentence(self) -> str:
        """What binds, with the figures of the limits; of a curve, from which depth on."""
        if self.verdict is None:
            return ""
        words = sayings.sentence(self.verdict.judged, self.phases)
        return ", ".join(filter(None, [words, self.curve.since if self.curve else ""]))

    @property
    def shown_sentence(self) -> str:
        """The same on its card; of a test of iozone what gave its rates, and of a setup whose rate is not of
        memory, though buffered, that of its first test.
        """
        if self.is_of_test:
            return f"{self.surfaces[0].sentence.text}."
        is_cached = self.verdict is not None and self.verdict.judged.binding[:1] == (Label.PAGE_CACHE,)
        if self.is_of_cell and is_cached and not self.is_of_memory:
            return f"{self.surfaces[0].name}: {self.surfaces[0].sentence.text}."
        return self.sentence

    @cached_property
    def next_step(self) -> Step:
        """What to change where a limit binds."""
        verdict = self.verdict
        return None if verdict is None else self.part.next_steps.of(verdict.run, verdict.judged)

    @property
    def block(self) -> float | None:
        """The block size of the rate, in bytes."""
        size = pd.NA if self.card.rate is None else self.card.rate["bs_bytes"]
        return None if pd.isna(size) else float(size)


def answers(parts: Sequence[Part]) -> list[SetupAnswer]:
    """One a setup of the page, in its order; a published twin has none, for its emulation has one."""
    found: list[SetupAnswer] = []
    for i, part in enumerate(parts):
        for card, curve, surfaces in cards_of(part):
            entry = part.entries[card.series]
            if not entry.twin:
                name = f"card-{len(found)}" if len(found) < MOST_CARDS else ""
                found.append(_answer(name, part, f"d{i}", card, entry, curve, surfaces))
    return found


def setups_and_files(found: Sequence[SetupAnswer]) -> tuple[int, int]:
    """How many setups the cards are of, and how many files whose setup is not stated.

    A setup counts once in each dataset that states it; one that is emulated on the page and was published
    has one card, and counts once. So does a file that is in several sets.
    """
    setups = {answer.setup for answer in found if answer.is_stated}
    files = {(answer.place, path) for answer in found if not answer.is_stated for path in answer.paths}
    return len(setups), len(files)


def verdict_of(part: Part, card: Card) -> tuple[RunVerdict | None, int, int]:
    """The verdict of the run that a card's rate is from; of repeats the middle one of those that agree, with
    how many do, of how many.
    """
    mine = [
        verdict
        for verdict in part.verdicts
        if verdict.entry.key == card.series
        and card.rate is not None
        and verdict.workload == card.rate["facet"]
    ]
    judged, n = vote([verdict.judged for verdict in mine])
    return next((verdict for verdict in mine if verdict.judged is judged), None), n, len(mine)


def _answer(
    name: str,
    part: Part,
    place: str,
    card: Card,
    entry: Entry,
    curve: CurveVerdict | None,
    surfaces: Sequence[SurfaceVerdict],
) -> SetupAnswer:
    verdict, agreeing, of = verdict_of(part, card)
    return SetupAnswer(
        id=name,
        part=part,
        place=place,
        card=card,
        entry=entry,
        verdict=verdict,
        agreeing=agreeing,
        of=of,
        curve=curve,
        surfaces=surfaces,
    )
