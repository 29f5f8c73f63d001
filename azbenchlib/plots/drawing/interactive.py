"""What the script of a page has to know of a drawn chart: where its panels are, their axes, and their lines.

Figures are drawn once, as SVG, and are complete without a script. What stands here lets one read values off
them, zoom in on a stretch of time, and hide a series.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.lines import Line2D

from azbenchlib.plots.drawing.label_layout import clean
from azbenchlib.plots.drawing.style import Drawn

X_AXIS, Y_AXIS = "axis-x", "axis-y"  # ids of the groups of an SVG that hold the axes
_DIGITS = 5  # a pixel of a figure is coarser
_KINDS, _VALUES = "azbench_kinds", "azbench_values"  # attributes of panels and lines


def describe(panel: Axes, x: str, y: str, unit_s: float = 1.0) -> None:
    """Note what the axes of a panel measure; its chart becomes one that a script can read.

    Parameters
    ----------
    panel : Axes
    x : {"time", "percentile"}
    y : {"us", "count"}
    unit_s : float
        Seconds in a unit of a time axis.
    """
    panel.xaxis.set_gid(X_AXIS)
    panel.yaxis.set_gid(Y_AXIS)
    setattr(panel, _KINDS, {"x": x, "y": y, "unit_s": unit_s})


def carry(line: Line2D, x: Any) -> None:
    """Note what a line is drawn from, where its places on the x axis are made of that: seconds, percentiles.

    Parameters
    ----------
    line : Line2D
    x : array-like
        As long as the line.
    """
    setattr(line, _VALUES, x)


def geometry(drawn: Drawn) -> list[dict[str, Any]]:
    """Each described panel: its place in pixels from the top left, and the span of its axes."""
    height = drawn.figure.bbox.height
    found = []
    for panel in _described(drawn):
        box = panel.bbox
        place = [round(float(value), 1) for value in (box.x0, height - box.y1, box.width, box.height)]
        spans = {"x_span": _span(panel.xaxis), "y_span": _span(panel.yaxis)}
        found.append({"box": place, **spans, **getattr(panel, _KINDS)})
    return found


def lines(drawn: Drawn) -> list[list[dict[str, Any]]]:
    """For each described panel its named lines: name, colour, x and y with all their digits, x in seconds or
    percentiles; null where there is no value.
    """
    return [[_points(line) for line in panel.lines if _is_named(line)] for panel in _described(drawn)]


def _described(drawn: Drawn) -> Iterator[Axes]:
    return (panel for panel in drawn.figure.axes if hasattr(panel, _KINDS))


def _is_named(line: Line2D) -> bool:
    return not str(line.get_label()).startswith("_")


def _span(axis: Axis) -> list[Any]:
    low, high = axis.get_view_interval()
    return [*(_plain(float(f"{end:.{_DIGITS}g}")) for end in (low, high)), axis.get_scale() == "log"]


def _points(line: Line2D) -> dict[str, Any]:
    drawn, y = line.get_data(orig=False)
    x = getattr(line, _VALUES, drawn)
    return {
        "name": clean(str(line.get_label())),
        "colour": str(line.get_color()),
        "x": [_plain(value) for value in np.asarray(x, dtype=float)],
        "y": [_plain(value) for value in np.asarray(y, dtype=float)],
    }


def _plain(value: float) -> float | None:
    """A number as JSON has it, whole ones without a point; None where it is none."""
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else float(value)
