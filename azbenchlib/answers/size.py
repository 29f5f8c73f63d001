"""The answer of a size: the recommended design, what a cheaper one would do, and what a percentile buys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import (
    Document,
    FigureTable,
    Listing,
    Part,
    Section,
    Sentence,
    TableColumn,
    TableRow,
    Tone,
)
from azbenchlib.answers.figures import AS_BYTES_PER_S, AS_IOPS, AS_SECONDS, Figure, FigureUnit, money
from azbenchlib.core import schema
from azbenchlib.core.units import MB, NBSP
from azbenchlib.sizing import device_text, saturation
from azbenchlib.sizing import text as words
from azbenchlib.sizing.percentile_rule import COMFORT, PERCENTILE
from azbenchlib.sizing.to_json import record
from azbenchlib.sizing.traces import caps, trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from azbenchlib.sizing.answer import Outcome, SizeAnswer
    from azbenchlib.sizing.busiest import LabCheck

_TIMES = 3  # of each design that are shown
_DEVICES = 6  # that are named
_RULE = f"By the {PERCENTILE}th percentile of peaks of 10 min × {COMFORT:g}, as Azure Migrate assesses"
_SHARE = FigureUnit("share", lambda value: f"{value:.2%}")
_RATES = {"IOPS": AS_IOPS, "MB/s": AS_BYTES_PER_S}
_FROM = "telemetry"
_LOAD = (
    TableColumn("load", "load"),
    *(
        TableColumn(name, title, AS_IOPS)
        for name, title in (("p50", "median"), ("p95", "p95"), ("max", "largest"))
    ),
)
_TEXTS = ("design", "vm", "disks", "redundancy", "currency")


class Sized(Answer):
    """Which VM and disks a system needs.

    Parameters
    ----------
    result : SizeAnswer
    checks : sequence of LabCheck
        What replays of it on emulated disks came to.
    """

    result: SizeAnswer

    def __init__(self, result: SizeAnswer, checks: Sequence[LabCheck] = ()) -> None:
        self.result = result
        self.checks = tuple(checks)

    @cached_property
    def document(self) -> Document:
        """The recommended design, the load, cheaper designs, and what all of it assumes."""
        devices = [
            line for item in self.result.telemetry.choices.items() for line in device_text.sentences(*item)
        ]
        replayed = _listed("Replayed by fio on emulated disks", [words.checked(one) for one in self.checks])
        return Document(
            self.designs.headline,
            [*self.designs.parts, *replayed, *_listed("Devices", devices), *self.basis.parts],
        )

    @cached_property
    def designs(self) -> Document:
        """The recommended design, what others cost, the load, and what cheaper designs would do."""
        answer = self.result
        headline = Sentence(f"{words.title(answer)}: {{price}}, {{design}}", _design(answer, answer.best))
        coarse = words.coarse(answer)
        parts: list[Part] = [
            *([Sentence(f"Attention: {coarse}", tone=Tone.DOUBT)] if coarse else []),
            *_others(answer),
            *_throttled(answer, answer.best),
            *_load(answer),
            _section(answer, words.CHEAPER_DESIGN, answer.next_cheaper, "Nothing is cheaper."),
            _section(answer, _RULE, answer.by_percentile, "Nothing is that large."),
        ]
        return Document(headline, parts)

    @cached_property
    def basis(self) -> Document:
        """What all of it assumes, and what it leaves out."""
        assumed = _listed("Assumptions", words.assumptions(self.result))
        return Document(None, [*assumed, *_listed("Not modelled", words.NOT_IN_SIZES)])

    def to_dict(self) -> dict[str, Any]:
        """Return what ``azbench size --format json`` prints."""
        return record(self.result, self.checks)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a design: recommended, cheapest, one_disk, next_cheaper, by_percentile.

        The recommended design has the fewest disks within 5 % of the cheapest. There is no row for a design
        that there is not, and none for one_disk where the recommended design has one disk.

        Returns
        -------
        DataFrame
            design, vm, disks, redundancy, price_per_month, currency, throttled_at_least_s,
            throttled_at_most_s, probability (that it is throttled no longer than it may be), throttled_times
            (how often), throttled_share (of the time, at least), credits_last_s (how long credits carry a
            load that is more than the design gives for good; NA: it gives it for good).
        """
        answer = self.result
        designs = {
            "recommended": answer.best,
            "cheapest": answer.cheapest,
            "one_disk": answer.one_disk,
            "next_cheaper": answer.next_cheaper,
            "by_percentile": answer.by_percentile,
        }
        rows = [_record(answer, name, outcome) for name, outcome in designs.items() if outcome is not None]
        made = pd.DataFrame(rows)
        return made.astype(
            {name: schema.TEXT if name in _TEXTS else schema.FLOAT for name in made}
            | {"throttled_times": schema.INT}
        )

    def draw(self, axes: Axes) -> None:
        """Draw the load over time below those limits of the recommended design that it comes closest to."""
        design = self.result.best.design
        lines = {quantity: caps(design, quantity) for quantity in ("iops", "bytes_per_s")}
        rows = {quantity: trace(design, quantity) for quantity in lines}
        quantity = max(lines, key=lambda name: _use(rows[name][name], lines[name]))
        unit, scale = (AS_IOPS, 1) if quantity == "iops" else (AS_BYTES_PER_S, MB)
        axes.plot(rows[quantity]["t_s"] / 3600, rows[quantity][quantity] / scale, label="load")
        for (name, value), style in zip(lines[quantity], ("--", ":"), strict=False):
            label = f"{name}: {unit.text(value)}"
            axes.axhline(value / scale, color="0.4", linestyle=style, label=label)
        axes.set(
            xlabel=f"hours since {words.moment(self.result.history, 0.0)}",
            ylabel=unit.suffix,
            title=_what(design),
        )
        axes.set_ylim(bottom=0)
        axes.legend()


def _listed(title: str, lines: Sequence[str]) -> list[Part]:
    return [Listing(title, tuple(map(Sentence, lines)))] if lines else []


def _use(load: pd.Series, lines: Sequence[tuple[str, float]]) -> float:
    return float(load.max()) / min((value for _, value in lines), default=float("inf"))


def _what(design: Any) -> str:
    return f"{design.vm} with {design.setup.disks[0].name}"


def _design(answer: SizeAnswer, outcome: Outcome) -> dict[str, Figure | str]:
    market, design = answer.market, outcome.design
    unit = money(market.currency, "month")
    text = f"{design.price:,.2f}{NBSP}{unit.suffix}"
    source = f"prices in {market.region}"
    return {"price": Figure(design.price, unit, source, text=text), "design": _what(design)}


def _others(answer: SizeAnswer) -> Iterator[Part]:
    """What the cheapest design and the one with one disk cost, where they are not the recommended design."""
    if answer.cheapest.design.price < answer.best.design.price:
        yield Sentence(f"{words.STRICTLY_CHEAPEST}: {{price}}, {{design}}", _design(answer, answer.cheapest))
    if answer.one_disk is not None:
        yield Sentence(f"{words.WITH_ONE_DISK}: {{price}}, {{design}}", _design(answer, answer.one_disk))


def _section(answer: SizeAnswer, title: str, outcome: Outcome | None, none: str) -> Section:
    if outcome is None:
        return Section(title, [Sentence(none)])
    stated = Sentence("{price}, {design}", _design(answer, outcome), Tone.STRONG)
    return Section(title, [stated, *_throttled(answer, outcome)])


def _throttled(answer: SizeAnswer, outcome: Outcome) -> Iterator[Part]:
    """How long a design is throttled, and when for longest."""
    least, most, allowed = outcome.at_least_s, outcome.at_most_s, outcome.requirement.throttled_s
    bounds = {
        "at_least": Figure(least, AS_SECONDS, _FROM, text=words.span(least)),
        "at_most": Figure(most, AS_SECONDS, _FROM, text=words.span(most)),
        "probability": Figure(outcome.probability, _SHARE, _FROM, text=words.probability(outcome)),
        "allowed": Figure(allowed, AS_SECONDS, text=words.span(allowed)),
        "share": Figure(outcome.share, _SHARE, _FROM),
        "credits": Figure(outcome.credits_last_s, AS_SECONDS, _FROM),
    }
    share = " ({share} of the time at least)" if least and outcome.credits_last_s is None else ""
    yield Sentence(f"Throttled: {words.bounds_template(outcome)}{share}", bounds)
    times = [Sentence(words.throttled_at(answer.history, time)) for time in outcome.times(_TIMES)]
    more = len(outcome.replayed.throttled) - _TIMES
    if more > 0:
        times.append(Sentence(f"{more:,} more times"))
    if times:
        yield Listing("When it is throttled, the longest first", times)


def _load(answer: SizeAnswer) -> Iterator[Part]:
    """What was recorded and asked, the load, and which devices may be missing."""
    yield Sentence(
        "Load of {hosts}: {duration} in intervals of {interval} from {begin}; "
        "throttled for {allowed} at most; in {region}",
        {
            "hosts": ", ".join(_host(*item) for item in answer.telemetry.devices.items()),
            "duration": Figure(answer.history.duration_s, AS_SECONDS, _FROM),
            "interval": Figure(answer.telemetry.interval_s, AS_SECONDS, _FROM),
            "begin": words.moment(answer.history, 0.0),
            "allowed": Figure(
                answer.requirement.throttled_s,
                AS_SECONDS,
                text=words.span(answer.requirement.throttled_s),
            ),
            "region": answer.market.region,
        },
    )
    rows = [
        [name, *(Figure(value, _RATES[name], _FROM, text=words.rate(name, value)) for value in values)]
        for name, *values in words.load_figures(answer)
    ]
    yield FigureTable(columns=_LOAD, rows=[TableRow(cells) for cells in rows])
    if least := words.least_of_hosts(answer):
        yield Sentence(least)
    if told := saturation.sentence(answer.telemetry.held_back):
        yield Sentence(f"Attention: {told}", tone=Tone.DOUBT)
    for choice in answer.telemetry.choices.values():
        if doubt := device_text.unclear(choice):
            yield Sentence(f"Attention: {doubt}", tone=Tone.DOUBT)


def _host(host: str, devices: Sequence[str]) -> str:
    return f"{host} ({', '.join(devices[:_DEVICES])}{' …' if len(devices) > _DEVICES else ''})"


def _record(answer: SizeAnswer, name: str, outcome: Outcome) -> dict[str, Any]:
    disk = outcome.design.setup.disks[0]
    return {
        "design": name,
        "vm": outcome.design.vm,
        "disks": disk.name,
        "redundancy": (disk.sku or "").partition("_")[2] or None,
        "price_per_month": float(outcome.design.price),
        "currency": answer.market.currency,
        "throttled_at_least_s": outcome.at_least_s,
        "throttled_at_most_s": outcome.at_most_s,
        "probability": outcome.probability,
        "throttled_times": len(outcome.replayed.throttled),
        "throttled_share": outcome.share,
        "credits_last_s": outcome.credits_last_s,
    }
