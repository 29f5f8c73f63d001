"""A figure's axes, marks, lines and labels, read from its SVG."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bs4 import Tag

from readback.figures import SCALE, spaced

_TICK = re.compile(r"(?P<p>p)?(?P<number>\d[\d,]*(?:\.\d+)?)(?: (?P<unit>[A-Za-zµ]+))?")
PREFIX = {"k": 1e3, "M": 1e6, "G": 1e9}
NEAR = 0.75  # pixels: coordinates have two decimals, but markers are snapped to half pixels by some backends
Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """Where values stand: `at` gives the value at a pixel; `log` and the ends of its ticks in pixels."""

    log: bool
    first: Point  # (pixel, value)
    last: Point

    def at(self, pixel: float) -> float:
        (p0, v0), (p1, v1) = self.first, self.last
        share = (pixel - p0) / (p1 - p0)
        return v0 * (v1 / v0) ** share if self.log else v0 + (v1 - v0) * share

    def pixel(self, value: float) -> float:
        (p0, v0), (p1, v1) = self.first, self.last
        share = math.log(value / v0) / math.log(v1 / v0) if self.log else (value - v0) / (v1 - v0)
        return p0 + share * (p1 - p0)


@dataclass(frozen=True)
class Label:
    """A text with its place, colour and whether it is bold; lines that belong together are one."""

    text: str
    x: float
    y: float
    colour: str
    bold: bool
    anchor: str


@dataclass(frozen=True)
class Drawing:
    """What is drawn, and what is wrong with its ticks."""

    words: str
    axes: list[tuple[str, Axis]]  # ("x" or "y", …)
    marks: list[tuple[Point, str, str]]  # place, hover text, colour
    lines: list[tuple[list[Point], str]]  # vertices, colour
    labels: list[Label]
    ticks: list[str]
    faults: list[str]


def read(svg: Tag) -> Drawing:
    """An inline figure."""
    groups = list(_tick_groups(svg))
    taken = {id(text) for text, _, _ in groups}
    axes, faults = [], []
    for side, row in _rows(groups):
        axis, wrong = _axis(row, "log scale" in svg.get_text())
        faults += [f"{wrong}: {', '.join(text for text, _ in row)}"] if wrong else []
        axes += [(side, axis)] if axis else []
    marks = [
        (_place(use), spaced(use.title.get_text()), _colour(use))
        for use in svg.find_all("use")
        if use.find("title")
    ]
    lines = [
        (_vertices(str(path["d"])), str(path.get("stroke", "")))
        for path in svg.find_all("path")
        if path.get("clip-path") and path.get("fill") == "none" and path.find_parent("defs") is None
    ]
    texts = [text for text in svg.find_all("text") if id(text) not in taken]
    ticks = [spaced(text.get_text()) for text, _, _ in groups]
    return Drawing(
        spaced(str(svg.get("aria-label", ""))), axes, marks, lines, list(_joined(texts)), ticks, faults
    )


def _colour(use: Tag) -> str:
    """Of a marker; a hollow one has it at its edge."""
    fill = str(use.get("fill", ""))
    return str(use.get("stroke", "")) if fill.lower() in ("#ffffff", "none") else fill


def _place(use: Tag) -> Point:
    return float(str(use["x"])), float(str(use["y"]))


def _vertices(d: str) -> list[Point]:
    numbers = [float(text) for text in re.findall(r"-?\d+(?:\.\d+)?", d)]
    return list(zip(numbers[::2], numbers[1::2], strict=False))


def _tick_groups(svg: Tag) -> Iterator[tuple[Tag, str, float]]:
    """Texts of ticks, each with its side and pixel: those that a group has beside a tick or a grid line."""
    for text in svg.find_all("text"):
        group = text.parent.parent if text.parent is not None else None
        if group is None or len(group.find_all("text")) != 1:
            continue
        use, path = group.find("use"), group.find("path", attrs={"clip-path": True})
        if text.get("text-anchor") == "middle" and use is not None and not use.find("title"):
            yield text, "x", float(str(use["x"]))
        elif text.get("text-anchor") == "end" and path is not None:
            yield text, "y", _vertices(str(path["d"]))[0][1]
        elif text.get("text-anchor") == "end" and use is not None:
            yield text, "y", float(str(use["y"]))


def _rows(groups: list[tuple[Tag, str, float]]) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """The ticks of one axis after the other: matplotlib writes them in order."""
    row: list[tuple[str, float]] = []
    before: tuple[str, str] | None = None
    for text, side, pixel in groups:
        line = (side, str(text["y"] if side == "x" else text["x"]))
        parent = id(text.parent.parent.parent) if text.parent and text.parent.parent else 0
        key = (*line, parent)
        if before is not None and key != before:
            yield before[0], row
            row = []
        row.append((spaced(text.get_text()), pixel))
        before = key  # type: ignore[assignment]
    if before is not None:
        yield before[0], row


def tick_value(text: str) -> float | None:
    """A tick's value in base units; of a percentile 1 / (1 − p), by which it is placed."""
    match = _TICK.fullmatch(text)
    if match is None:
        return None
    number = float(match["number"].replace(",", ""))
    if match["p"]:
        return 100 / (100 - number)
    unit = match["unit"] or ""
    return number * PREFIX.get(unit, SCALE.get(unit, 1.0))


def _axis(row: list[tuple[str, float]], logs: bool) -> tuple[Axis | None, str]:
    """The axis that ticks stand on, linear or logarithmic; or what is wrong with them."""
    known = sorted((pixel, value) for text, pixel in row if (value := tick_value(text)) is not None)
    if len(known) < len(row):
        return None, "ticks that are no numbers"
    if len(known) < 2:
        return None, ""
    least = min(value for _, value in known)
    for log in (True, False) if logs and least > 0 else (False,):
        axis = Axis(log, known[0], known[-1])
        if all(abs(axis.pixel(value) - pixel) <= NEAR for pixel, value in known):
            return axis, ""
    return None, "ticks that stand on no axis"


def _joined(texts: list[Tag]) -> Iterator[Label]:
    """Labels; lines that stand one below the other in one colour, size and weight are one."""
    held: Label | None = None
    size = ""
    for text in texts:
        label = Label(
            spaced(text.get_text()),
            float(str(text["x"])),
            float(str(text["y"])),
            str(text.get("fill", "")),
            bool(text.get("font-weight")),
            str(text.get("text-anchor")),
        )
        same = held is not None and _same(held, label) and size == str(text.get("font-size"))
        if held is not None and same and 0 < label.y - held.y < 20:
            between = "" if held.text[-1:] in "-_/" else " "  # where a long name is broken
            label = Label(
                f"{held.text}{between}{label.text}", held.x, label.y, held.colour, held.bold, held.anchor
            )
        elif held is not None:
            yield held
        held, size = label, str(text.get("font-size"))
    if held is not None:
        yield held


def _same(one: Label, other: Label) -> bool:
    return (one.x, one.colour, one.bold, one.anchor) == (other.x, other.colour, other.bold, other.anchor)


def near(one: float, other: float) -> bool:
    return abs(one - other) <= NEAR


def on_a_line(point: Point, lines: list[tuple[list[Point], str]], colour: str) -> bool:
    """Whether a line of this colour has a corner at this point."""
    return any(
        near(x, point[0]) and near(y, point[1]) for line, own in lines if own == colour for x, y in line
    )


def panel_of(axes: list[tuple[str, Axis]], point: Point) -> list[tuple[str, Axis]]:
    """The x axis nearest below a point, and the y axes."""
    xs = [axis for side, axis in axes if side == "x"]

    def off(axis: Axis) -> float:
        low, high = sorted((axis.first[0], axis.last[0]))
        return max(low - point[0], point[0] - high, 0.0)

    found: list[tuple[str, Axis]] = [("x", min(xs, key=off))] if xs else []
    return [*found, *((side, axis) for side, axis in axes if side == "y")]


Placed = Callable[[str], float | None]
