"""Figures: titles, hover texts, labels and positions against the tables and the axes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from bs4 import Tag

from readback import drawing, figures, surfaces, traces
from readback.drawing import Drawing, Label
from readback.figures import Figure, spaced, text_of
from readback.known import documented, shows
from readback.naming import Topic

if TYPE_CHECKING:
    from readback.check import Checker
    from readback.page import Page

PRICE_AND_RATE = "price-and-rate-figure"
TEXT = "#1b2027"  # of what stands in the cells of a map
LIMIT_TEXT, LIMIT_LINE = "#4a5462", "#7c8693"  # of what is written about a limit, and of its tick


def chart(checker: Page, tag: Tag) -> None:
    """One figure: its title, what it shows, and both of its drawings."""
    name = str(tag.get("id", ""))
    eyebrow = tag.find("p", "eyebrow")
    if eyebrow:
        checker.of_part(eyebrow)
    checker.of_part(tag)
    what = text_of(tag, "what")
    topic, _ = checker.part.names.read(what)
    place = f"figure {name}"
    if name == PRICE_AND_RATE:
        for svg in tag.find_all("svg"):
            _prices(checker, drawing.read(svg), f"{place}, {' '.join(svg.get('class', []))}")
        return
    title = tag.find("h3")
    _title(checker, spaced(title.get_text(" ")) if title else "", topic, f"{place}, title", name)
    for svg in tag.find_all("svg"):
        kind = " ".join(svg.get("class", []))  # type: ignore[arg-type]
        _drawing(checker, drawing.read(svg), topic, f"{place}, {kind}", name)
    for how in tag.select("figcaption p"):
        for figure in figures.find(spaced(how.get_text(" "))):
            if figure.kind in ("iops", "bytes_per_s", "lat_us"):
                checker.fault(place, f"'{figure.text}' in how to read it")


def _prices(checker: Page, seen: Drawing, place: str) -> None:
    """Setups of all datasets by price and rate: what a marker says is true of one setup, it stands there, and
    the label of its colour has the price.
    """
    x, y = (next(axis for side, axis in seen.axes if side == wanted) for wanted in "xy")
    for fault in seen.faults:
        checker.fault(place, fault)
    told = set()
    for point, text, colour in seen.marks:
        said, _, rest = text.partition(": ")
        price, rate = list(figures.find(rest))[:2]
        known = [
            (part.month(name), fact)
            for part in checker.parts
            for name in part.names.setups(said) or ()
            for fact in part.facts
            if fact.kind == "iops" and fact.pooled and fact.is_of(Topic(frozenset({name})))
        ]
        right = [
            (month[0], fact.value if rate.shows(fact.value) else rate.base)
            for month, fact in known
            if month is not None and price.shows(month[0]) and shows(rate, fact)
        ]
        checker.accept(bool(right), price, place, text, [fact.value for _, fact in known], "money")
        there = any(
            drawing.near(x.pixel(v), point[0]) and drawing.near(y.pixel(m), point[1]) for m, v in right
        )
        checker.accept(there, price, f"{place}, marker's place", text, [], "place")
        told.add((colour, price.value))
    for label in seen.labels:
        rests = (part.names.read(label.text)[1] for part in checker.parts)
        rest = min(rests, key=lambda text: len("".join(text.split())))  # that of the dataset it is of
        for amount in figures.find(rest) if label.colour in {colour for colour, _ in told} else ():
            checker.accept(
                (label.colour, amount.value) in told, amount, f"{place}, label", label.text, [], "money"
            )


def _title(checker: Checker, text: str, topic: Topic, place: str, name: str) -> None:
    """The headline of a figure: figures of its series, the ratio of those two, or a count."""
    if ratio := re.search(r": ([\d,.]+) times$", text):
        text = text[: ratio.start()]
        shown = [f for f in figures.find(text) if f.kind == "lat_us"]
        times = shown[-1].base / shown[0].base
        value = float(ratio[1].replace(",", ""))
        last = 0.1 if value < 10 else 10 ** (len(str(int(value))) - 2)
        slack = times * (shown[0].half / shown[0].base + shown[-1].half / shown[-1].base)
        (figure,) = figures.find(ratio[1])
        checker.accept(abs(times - value) <= last / 2 + slack, figure, place, text, [times], "times")
    if "roofline" in name:
        return _count(checker, text, place)
    if counted := re.match(r"(\d+) of (\d+) (setup|workload)s? stops? at (.*)", text):
        return _stops(checker, counted, place)
    if re.search(r"-rate-\d|-time-\d", name):
        return traces.title(checker, text, topic, place)
    return checker.explain(text, topic, place, True)


def _stops(checker: Checker, counted: re.Match[str], place: str) -> None:
    """``3 of 6 setups stop at 484 MB/s``: so many have a rate there, and it is documented. Workloads are
    told by their rates.
    """
    some, of, by_setup = int(counted[1]), int(counted[2]), counted[3] == "setup"
    for figure in figures.find(counted[4]):
        setups = {unit.setup for unit in checker.part.units}
        near = set()
        for name in setups:
            limits = documented(checker.part, frozenset({name}))[figure.kind]
            mine = [
                f.value
                for f in checker.part.facts
                if f.kind == figure.kind and name in (f.topic.setups or ())
            ]
            at = {v for v in mine for limit in limits if figure.shows(limit) and 0.9 <= v / limit <= 1.12}
            near |= {(name, None if by_setup else value) for value in at}
        checker.accept(some <= len(near), figure, place, counted[0], [len(near)], "limit")
    (figure, *_) = figures.find(counted[0])
    units = checker.part.units
    most = len({unit.setup for unit in units}) if by_setup else len(units)
    checker.accept(some <= of <= most, figure, place, counted[0], [most], "count")


def _count(checker: Checker, text: str, place: str) -> None:
    """``Held back by a documented limit: 5 of 12 runs``: no more than there are."""
    numbers = [figure.value for figure in figures.find(text)]
    most = max((len({f.topic for f in checker.part.facts if not f.pooled}), 1))
    for figure in figures.find(text):
        checker.accept(
            figure.value <= most and numbers == sorted(numbers), figure, place, text, [most], "count"
        )


def _drawing(checker: Checker, seen: Drawing, topic: Topic, place: str, name: str) -> None:
    for fault in seen.faults:
        checker.fault(place, fault)
    if re.search(r"-rate-\d|-time-\d", name):
        return traces.trace(checker, seen, topic, place, name)
    roofline = "roofline" in name
    words = seen.words if not roofline else seen.words.partition("Measured: ")[2]
    if "-surface-" in name:
        words, _, limits = words.partition(" Marked are ")
        _limits(checker, limits, place)
    checker.explain(re.sub(r"setups: \d+", "", words), topic, f"{place}, in words", not roofline)
    if roofline:
        _limits(checker, seen.words.partition(" Measured: ")[0], place)
    colours: dict[str, Topic] = {}
    for point, text, colour in seen.marks:
        _mark(checker, seen, point, text, colour, topic, place, roofline)
        colours[colour] = replace(_series(checker, text)[0], percentile=None)
    _labels(checker, seen, topic, place, name, colours)
    return None


def _mark(
    checker: Checker,
    seen: Drawing,
    point: drawing.Point,
    text: str,
    colour: str,
    topic: Topic,
    place: str,
    roofline: bool,
) -> None:
    """A marker stands where its figure belongs, and its hover text has the figure."""
    said = text.partition(": ")[0] if not roofline else re.sub(r"(?<=IOPS)\..*", "", text)
    own, rest = checker.part.names.read(re.sub(r"(?<=IOPS)\..*", "", text))
    own = own.within(topic)
    if "; " in rest and "needed" in rest:
        rest = rest.partition(";")[0]
    for figure in list(figures.find(rest))[-1:]:
        checker.match(figure, own, f"{place}, marker", text, not roofline)
        where = dict(drawing.panel_of(seen.axes, point))
        at = [axis.at(pixel) for axis, pixel in _both(where, point)]
        unit = figures.SCALE.get("MB/s") if figure.kind == "bytes_per_s" else 1.0
        value = figure.base / (unit or 1.0)
        near = any(abs(v - value) <= 0.015 * value + figure.half / (unit or 1.0) for v in at)
        checker.accept(near, figure, f"{place}, marker's place", said, at, "place")
    if own.percentile is not None and "x" in dict(seen.axes):
        axis = dict(seen.axes)["x"]
        if own.percentile < 100 and not drawing.near(axis.pixel(100 / (100 - own.percentile)), point[0]):
            checker.fault(place, f"the marker '{text}' stands at another percentile")
        if not drawing.on_a_line(point, seen.lines, colour):
            checker.fault(place, f"the marker '{text}' is on no line of its colour")


def _both(where: dict[str, drawing.Axis], point: drawing.Point) -> list[tuple[drawing.Axis, float]]:
    return [(where[side], point[i]) for i, side in enumerate("xy") if side in where]


def _limits(checker: Checker, text: str, place: str) -> None:
    """Ceilings of setups: limits that the catalogue or the setup has."""
    known = checker.part.documented
    rest = text
    for start, end, _ in checker.part.names.spans(text):
        rest = figures.blank(rest, start, end)
    for figure in figures.find(rest):
        if figure.kind in ("iops", "bytes_per_s"):
            right = any(figure.shows(value) for value in known[figure.kind])
            checker.accept(right, figure, place, text[:120], sorted(known[figure.kind]), "limit")


def _labels(
    checker: Checker,
    seen: Drawing,
    topic: Topic,
    place: str,
    name: str,
    colours: dict[str, Topic],
) -> None:
    """Direct labels: a figure beside or below a name, or of its colour."""
    farthest = max((axis.last[1] for side, axis in seen.axes if side == "x"), default=0.0)
    for label in seen.labels:
        if "-surface-" in name and label.colour != TEXT and re.fullmatch(r"[\d,.]+", label.text):
            continue  # a tick of the surface
        own, rest = _series(checker, label.text)
        own = own.within(colours.get(label.colour, Topic())).within(replace(topic, setups=None))
        for figure in figures.find(_without_constants(rest)):
            _label(checker, seen, label, figure, own, place, name, farthest)


def _series(checker: Checker, text: str) -> tuple[Topic, str]:
    """Which series a text names, with its workload where each has one of its own, and the rest of the text:
    a setup may be called by a word of a workload.
    """
    workload, rest = checker.part.names.workload(text)
    named, rest = checker.part.names.read(rest)
    return named.within(workload), rest


def _without_constants(text: str) -> str:
    """``1 in 1,000`` below the percentiles is checked with the axis."""
    return re.sub(r"1 in [\d,]+|1/\(1 − p\)", "", text)


def _label(
    checker: Checker,
    seen: Drawing,
    label: Label,
    figure: Figure,
    topic: Topic,
    place: str,
    name: str,
    farthest: float,
) -> None:
    if "-rates-" in name and label.colour == LIMIT_TEXT:
        unit = _panel_unit(seen, label)
        return _tick(checker, seen, label, replace(figure, unit=unit), f"{place}, tick")
    if "-rates-" in name and not figure.unit:
        units = [side for side, axis in drawing.panel_of(seen.axes, (label.x, label.y)) if side == "x"]
        kind = _panel_unit(seen, label)
        figure = replace(figure, unit=kind or "IOPS") if units else figure
    if "roofline" in name:
        known = checker.part.documented
        right = any(figure.shows(value) for value in known.get(figure.kind, set()))
        checker.accept(right, figure, f"{place}, label", label.text, [], "limit")
    elif "-surface-" in name:
        surfaces.label(checker, figure, label.text, topic, f"{place}, label")
    elif "percentiles" in name:
        own = topic if topic.percentile else replace(topic, percentile=round(100 - 100 / farthest, 6))
        facts = [f for f in checker.part.facts if f.kind == figure.kind and f.pooled and f.is_of(own)]
        right = any(shows(figure, fact) for fact in facts)
        checker.accept(right, figure, f"{place}, label", label.text, [f.value for f in facts], "lat_us")
    else:
        checker.match(figure, topic, f"{place}, label", label.text, True)


def _tick(checker: Checker, seen: Drawing, label: Label, figure: Figure, place: str) -> None:
    """The value above a tick is a documented limit, and the tick stands there."""
    known = checker.part.documented[figure.kind]
    right = [value for value in known if figure.shows(value)]
    axis = dict(drawing.panel_of(seen.axes, (label.x, label.y)))["x"]
    scale = figures.SCALE[figure.unit]
    low, high = (
        axis.pixel((figure.base - figure.half) / scale),
        axis.pixel((figure.base + figure.half) / scale),
    )
    drawn = [
        line for line, colour in seen.lines if colour == LIMIT_LINE and low - 1 <= line[0][0] <= high + 1
    ]
    checker.accept(bool(right and drawn), figure, place, label.text, sorted(known), "limit")


def _panel_unit(seen: Drawing, label: Label) -> str:
    """The unit above the panel in which a label stands: the last title that begins left of it."""
    titles = [t for t in seen.labels if re.match(r"(IOPS|MB/s)( \(log scale\))?$", t.text)]
    left = [t for t in titles if t.x <= label.x + 1]
    return max(left, key=lambda t: t.x).text.split(" ")[0] if left else ""
