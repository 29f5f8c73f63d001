"""The answer of a probe: what a disk is, how closely each figure of it is known, and what is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import (
    Document,
    FigureTable,
    Listing,
    Part,
    Sentence,
    TableColumn,
    TableRow,
)
from azbenchlib.answers.figures import AS_IOPS, AS_PROBABILITY, AS_SECONDS, Figure, FigureUnit
from azbenchlib.core import palette, schema
from azbenchlib.core.units import KIB, NBSP, S_PER_MIN
from azbenchlib.dataset.names import find_dataset
from azbenchlib.dataset.probed import ProbeRecord, as_written, kept_probe
from azbenchlib.probing.portrait import CAPS, Knowledge
from azbenchlib.probing.text import WAYS, amount, bursts, told

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from azbenchlib.probing.portrait import DiskFigure

_UNIT_NAMES = {"iops": "iops", "bytes_per_s": "bytes_per_s", "pct": "queue_depth"}  # by the ends of keys
_RATIO = FigureUnit("ratio", "{:.3f}".format)
_NATS = FigureUnit("nats", "{:.1f}".format)
_PROPERTIES = (
    TableColumn("property", "Property"),
    TableColumn("value", "Value", AS_IOPS),  # each has its own unit
    TableColumn("interval", "95 % interval"),
    TableColumn("runs", "Runs"),
)
_NAMES = (
    TableColumn("documented", "Documented"),
    TableColumn("probability", "Probability", AS_PROBABILITY),
    TableColumn("iops_ratio", "IOPS ratio", _RATIO),
    TableColumn("bytes_ratio", "MB/s ratio", _RATIO),
)
_RUNS = (
    TableColumn("run", "Run"),
    TableColumn("load", "Load"),
    TableColumn("iops", "IOPS", AS_IOPS),
    TableColumn("nats", "Nats expected", _NATS),
)
_MOST_NAMED = 12
_MOST_ALIKE = 3  # that are named with the best fit
_RATIO_NOTE = "A ratio is measured ÷ documented."
_NAT = "A nat is a unit of information: 0.69 nats halve the possibilities."
_TEXTS = ("key", "property", "state", "unit", "runs")


class ProbeAnswer(Answer):
    """What a disk is: each figure with its 95 % interval and its runs, its name, and what is open.

    Parameters
    ----------
    result : ProbeRecord
        What a report takes from the probe.
    document_written : mapping
        All that the probe kept.
    dataset : Path
        Its folder.
    """

    result: ProbeRecord

    def __init__(self, result: ProbeRecord, document_written: Mapping[str, Any], dataset: Path) -> None:
        self.result = result
        self.dataset = dataset
        self._written = document_written

    @classmethod
    def load(cls, dataset: Path | str) -> Self:
        """Open a probe that has ended, by the name or folder of its dataset; nothing is measured.

        Raises
        ------
        InputError
            When there is no such dataset, or it is no probe.
        """
        folder = find_dataset(str(dataset))
        return cls(kept_probe(folder), as_written(folder), folder)

    @cached_property
    def document(self) -> Document:
        """The caps and the name, then each figure, what was observed, what is open, and the runs."""
        found = self.result
        observed = found.sentences[1:] if found.buffered else found.sentences  # that is the headline
        parts: list[Part] = [self.properties]
        if observed:
            parts.append(Listing("Observations", tuple(map(Sentence, observed))))
        return Document(probe_lead(found), [*parts, *self.conclusions, self.runs])

    @property
    def conclusions(self) -> list[Part]:
        """Which disks it may be, and what is open with the time that it would take; those that there are."""
        parts: list[Part] = [_first(self.documented)] if self.result.names else []
        if self.result.not_learnt:
            parts.append(Listing("Not learnt", tuple(_open(self.result))))
        return parts

    @property
    def properties(self) -> FigureTable:
        """Each property of the disk with its interval and the numbers of the runs that say so."""
        found, source = self.result, _source(self.result)
        numbers = {run.run: str(i) for i, run in enumerate(found.runs, 1)}
        rows = []
        for one in found.figures:
            runs = ", ".join(numbers[name] for name in one.runs if name in numbers)
            cells = (one.label, _value(one.figure, source), _interval(one.figure, source), runs)
            rows.append(TableRow(cells))
        return FigureTable(columns=_PROPERTIES, rows=rows, title="Properties", name="properties")

    @property
    def documented(self) -> FigureTable:
        """The documented disks and VM limits that fit."""
        found = [
            (
                f"{one.title[:1].upper()}{one.title[1:]}",
                one.probability,
                _ratio(one.measured_per_documented_iops),
                _ratio(one.measured_per_documented_bytes_per_s),
            )
            for one in self.result.names
        ]
        if not any(ratio.is_known for _, _, *ratios in found for ratio in ratios):
            fits = [TableRow(cells[:2]) for cells in found]
            return FigureTable(columns=_NAMES[:2], rows=fits, title="It may be", name="names")
        return FigureTable(
            columns=_NAMES, rows=list(map(TableRow, found)), title="It may be", note=_RATIO_NOTE, name="names"
        )

    @property
    def runs(self) -> FigureTable:
        """The runs in the order in which they were chosen."""
        rows = [
            TableRow((str(i), run.title, run.iops, run.nats)) for i, run in enumerate(self.result.runs, 1)
        ]
        return FigureTable(
            columns=_RUNS,
            rows=rows,
            title="Runs, in the order in which they were chosen",
            note=_NAT,
            name="runs",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what ``azbench probe --format json`` prints."""
        return {"dataset": str(self.dataset), **self._written}

    def to_frame(self) -> pd.DataFrame:
        """Return a row a property.

        Returns
        -------
        DataFrame
            key, property (as readers know it), state (known, open, or above where no cap was seen), value
            (the median), low and high (its 95 % interval; of what is above, low is the most that was
            measured), unit, runs (their names).
        """
        rows = [
            {
                "key": one.key,
                "property": one.label.replace(NBSP, " "),
                "state": str(one.state),
                "value": one.value,
                "low": one.low,
                "high": one.high,
                "unit": _unit(one.key).name,
                "runs": ", ".join(one.runs),
            }
            for one in self.result.figures
        ]
        made = pd.DataFrame(rows)
        return made.astype({name: schema.TEXT if name in _TEXTS else schema.FLOAT for name in made})

    def draw(self, axes: Axes) -> None:
        """Draw the most IOPS by block size, flat at the cap of IOPS, then falling, with bands of 95 %."""
        for (ddir, label), (colour, _) in zip(WAYS.items(), palette.COLOURS, strict=False):
            own = sorted((one for one in self.result.roof if one.ddir == ddir), key=lambda one: one.bs_bytes)
            sizes = [one.bs_bytes / KIB for one in own]
            axes.plot(sizes, [one.iops for one in own], marker=".", color=colour, label=label)
            low, high = [one.low for one in own], [one.high for one in own]
            axes.fill_between(sizes, low, high, color=colour, alpha=0.18, linewidth=0)
        axes.set(xscale="log", yscale="log", xlabel="block size (KiB)", ylabel="most IOPS")
        axes.legend()


def _first(table: FigureTable) -> FigureTable:
    """Return the names that are probable enough to be read."""
    more = len(table.rows) - _MOST_NAMED
    if more <= 0:
        return table
    rest = f"{more} more are less probable; --format json and .to_dict() have all."
    return replace(table, rows=table.rows[:_MOST_NAMED], note=f"{table.note} {rest}".strip())


def probe_lead(found: ProbeRecord) -> Sentence:
    """Return the caps with their intervals, what the disk is, and how much is open, in a few sentences."""
    if found.buffered:
        return Sentence(found.sentences[0])
    figures, source = {one.key: one.figure for one in found.figures}, _source(found)
    named: dict[str, Figure | str] = {key: _reached(figures[key], source) for key, _ in CAPS}
    reads, writes = (f"{{{way}_iops}} and {{{way}_bytes_per_s}}" for way in WAYS)
    templates = [f"Reads reach {reads}.", f"Writes reach {writes}."]
    if reads.format_map(named) == writes.format_map(named):
        templates = [f"Reads and writes reach {reads}."]
    if found.names:
        template, best = _best_fit(found)
        templates.append(template)
        named |= best
    for one in found.credits:
        if one.burst and one.base:
            templates.append(bursts(one.quantity, one.burst.interval, one.base.interval))
    if found.not_learnt:
        template, cost = _open_count(found)
        templates.append(template)
        named |= cost
    return Sentence(" ".join(templates), named)


def _best_fit(found: ProbeRecord) -> tuple[str, dict[str, Figure | str]]:
    """What it is most probably, and what nothing that was measured tells from that."""
    best, *others = found.names
    template = "The best fit is {best_fit}, with a probability of {probability}"
    named: dict[str, Figure | str] = {
        "best_fit": best.title,
        "probability": Figure(best.probability, AS_PROBABILITY),
    }
    alike = [one for one in others if one.alike]
    if not alike:
        return f"{template}.", named
    titles = [one.title for one in alike[:_MOST_ALIKE]]
    if len(alike) > _MOST_ALIKE:
        titles.append(f"{len(alike) - _MOST_ALIKE} more below")
    together = best.probability + sum(one.probability for one in alike)
    named |= {"alike": ", or from ".join(titles), "together": Figure(together, AS_PROBABILITY)}
    return f"{template}; nothing that was measured tells it from {{alike}} (together {{together}}).", named


def _open_count(found: ProbeRecord) -> tuple[str, dict[str, Figure | str]]:
    """How many questions stayed open, and how long it would take to answer them."""
    count = len(found.not_learnt)
    words = f"{count}{NBSP}question{'s' if count > 1 else ''} stayed open"
    minutes = sum(one.minutes or 0.0 for one in found.not_learnt)
    if minutes < 1:
        return f"{words}.", {}
    cost = Figure(minutes * S_PER_MIN, AS_SECONDS, text=f"{minutes:.0f}{NBSP}min")
    return f"{words}; learning {'it' if count == 1 else 'them'} takes about {{cost}} more.", {"cost": cost}


def _source(found: ProbeRecord) -> str:
    return f"probe of {found.measured}"


def _unit(key: str) -> FigureUnit:
    """The unit of a figure of this key; its values are printed as the probe prints them everywhere."""
    name = next((name for end, name in _UNIT_NAMES.items() if key.endswith(end)), "us")
    return FigureUnit(name, partial(amount, key))


def _reached(figure: DiskFigure, source: str) -> Figure:
    """What one direction reaches of IOPS or MB/s, with the interval in brackets."""
    unit = _unit(figure.key)
    if figure.state is Knowledge.ABOVE:
        return Figure(figure.low, unit, source, text=f"{unit.text(figure.low)} without a cap")
    words, between = told(figure)
    is_known = figure.value is not None
    return Figure(figure.value, unit, source, f"{words if is_known else 'a cap that is open'} ({between})")


def _value(figure: DiskFigure, source: str) -> Figure | Sentence:
    words, unit = told(figure)[0], _unit(figure.key)
    if figure.state is Knowledge.ABOVE:
        return Sentence(words, {"no cap up to": Figure(figure.low, unit, source)})
    return Figure(figure.value, unit, source, text=words)


def _interval(figure: DiskFigure, source: str) -> Sentence | str:
    if figure.state is Knowledge.ABOVE:
        return ""
    bounds = {"low": figure.low, "high": figure.high}
    figures = {name: Figure(value, _unit(figure.key), source) for name, value in bounds.items()}
    return Sentence(told(figure)[1], figures)


def _ratio(value: float | None) -> Figure:
    return Figure(value, _RATIO, text="" if value else "–")


def _open(found: ProbeRecord) -> Iterator[Sentence]:
    """Yield what is not known, and the time that it would take."""
    for one in found.not_learnt:
        if one.minutes:
            yield Sentence(
                "{what} Learning it takes about {cost}.",
                {"what": one.what, "cost": Figure(one.minutes * S_PER_MIN, AS_SECONDS)},
            )
        else:
            yield Sentence(one.what)
