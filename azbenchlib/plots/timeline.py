"""What happened when: latency and rates over the time of runs."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import MB, format_count, format_us
from azbenchlib.plots.drawing import interactive, scales
from azbenchlib.plots.drawing.label_layout import LEADING, EndLabels, say, wrap, y_title
from azbenchlib.plots.drawing.style import DASHES, Drawn, Layout, Series, canvas, size_of, theme
from azbenchlib.plots.throttle import Cap

ALIKE = 1.5  # longest ÷ shortest run that can share an axis of time
MOST_LINES = 3  # lines that one panel shows without a tangle
TIME_UNITS = (("Seconds", 1), ("Minutes", 60), ("Hours", 3600), ("Days", 86_400))
_PANEL_HEIGHT = 110
ENOUGH_TICKS = 3  # the largest unit that counts at least so far is taken


Line = dict[str, npt.NDArray[np.float64]]  # t_s, value, and perhaps low and high; missing is NaN


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """What is drawn over time: what it is called, how figures of it read, and the kind of its axis.

    Attributes
    ----------
    columns : mapping of str to str
        Of the parts of a line, by what the table calls them.
    divisor : int
        Of the table's unit in that of the axis.
    may_be_log : bool
        Whether a wide range is drawn on a log scale; else the axis begins at zero.
    caps : tuple of (str, float)
        Name and value of each limit that holds for all lines, in the unit of the axis.
    since : str
        When the axis of time begins.
    """

    name: str
    title: str
    text: Callable[[float], str]
    axis: str
    columns: dict[str, str]
    divisor: int = 1
    may_be_log: bool = False
    caps: tuple[Cap, ...] = ()
    since: str = "start"


_RATE_COLUMNS = {"value": "value", "low": "low", "high": "high"}
LATENCY_QUANTITY = Quantity(
    name="latency",
    title="Latency",
    text=format_us,
    axis="us",
    columns={"lat_us": "value", "lat_max_us": "high"},
    may_be_log=True,
)
IOPS_QUANTITY = Quantity(name="IOPS", title="IOPS", text=format_count, axis="count", columns=_RATE_COLUMNS)
THROUGHPUT_QUANTITY = Quantity(
    name="throughput", title="MB/s", text=format_count, axis="count", columns=_RATE_COLUMNS, divisor=MB
)
IOPS_OF_RUNS, THROUGHPUT_OF_RUNS = (
    replace(quantity, since="first run") for quantity in (IOPS_QUANTITY, THROUGHPUT_QUANTITY)
)


def latency_over_time(envelope: pd.DataFrame, series: Sequence[Series], layout: Layout) -> Drawn:
    """Draw latency over time: a line, and up to the largest value a shade.

    Up to three series share a panel; more get one each. Where one lasted much longer than another, each has
    a panel with a time axis of its own.

    Parameters
    ----------
    envelope : DataFrame
        Columns series (a key), t_s, lat_us (mean or median of the interval) and, if wanted,
        lat_max_us. A row whose value is NA is a gap. Rows of series that are not listed are left out.
    series : sequence of Series
        One to six; those without data are left out.
    layout : Layout
        The width to draw for.

    Returns
    -------
    Drawn
        Lines have the gid ``line-INDEX``.

    Raises
    ------
    InputError
        When there is no value to draw.
    """
    return _over_time(envelope, series, layout, LATENCY_QUANTITY)


def rates_over_time(
    courses: pd.DataFrame,
    series: Sequence[Series],
    layout: Layout,
    quantity: Quantity = IOPS_QUANTITY,
    caps: Sequence[Cap] = (),
) -> Drawn:
    """Draw the rates of several runs over time: a line each, and a shade from the least to the largest value.

    Panels and lines are those of :func:`latency_over_time`.

    Parameters
    ----------
    courses : DataFrame
        Columns series (a key), t_s, value, low and high, in IOPS or bytes/s.
    series : sequence of Series
        One to six; those without data are left out.
    layout : Layout
        The width to draw for.
    quantity : Quantity
        :data:`IOPS_QUANTITY`, or :data:`THROUGHPUT_QUANTITY`, which is drawn in MB/s.
    caps : sequence of (str, float)
        Name and value, in the unit of the axis, of the limits that hold for all of them.

    Returns
    -------
    Drawn
        Lines have the gid ``line-INDEX``.

    Raises
    ------
    InputError
        When there is no value to draw.
    """
    return _over_time(courses, series, layout, replace(quantity, caps=tuple(caps)))


def _over_time(
    table: pd.DataFrame,
    series: Sequence[Series],
    layout: Layout,
    quantity: Quantity,
) -> Drawn:
    lines = {entry: _line(table[table["series"] == entry.key], quantity) for entry in series}
    lines = {entry: line for entry, line in lines.items() if np.isfinite(line["value"]).any()}
    if not lines:
        raise InputError(f"no {quantity.name} to draw over time: every value is NA")
    with theme(layout):
        ends = [line["t_s"].max() for line in lines.values()]
        alike = max(ends) <= ALIKE * min(ends)
        figure = (
            _one_panel(lines, layout, quantity)
            if alike and len(lines) <= MOST_LINES
            else _many_panels(lines, layout, quantity, own_time=not alike)
        )
    return Drawn(figure, {}, _in_words(lines, quantity), layout)


def _line(rows: pd.DataFrame, quantity: Quantity) -> Line:
    rows = rows.sort_values("t_s")
    known = {name: part for name, part in quantity.columns.items() if name in rows.columns}
    values = {
        part: rows[name].to_numpy(dtype=float, na_value=np.nan) / quantity.divisor
        for name, part in known.items()
    }
    return {"t_s": rows["t_s"].to_numpy(dtype=float, na_value=np.nan)} | values


def _one_panel(lines: dict[Series, Line], layout: Layout, quantity: Quantity) -> Figure:
    """All lines together, named at their right ends."""
    labels = EndLabels([(entry, "") for entry in lines], layout)
    top, bottom = 34, 52
    height = max(340, top + bottom + labels.height)
    left = 62 if layout.wide else 56
    figure, panels = canvas(layout, height, left=left, right=labels.margin, top=top, bottom=bottom)
    panel = panels[0, 0]
    seconds = _set_axes([panel], 1, lines, quantity)
    y_title(panel, _title(panel, quantity), layout)
    for entry, line in lines.items():
        _draw(panel, entry, line, seconds)
    _draw_caps(panel, quantity, layout)
    labels.draw(panel, {entry.key: _end(line, seconds) for entry, line in lines.items()}, lead=False)
    return figure


def _many_panels(
    lines: dict[Series, Line],
    layout: Layout,
    quantity: Quantity,
    own_time: bool,
) -> Figure:
    """A small panel each, named above it; all with the same axis of values."""
    columns = 2 if layout.wide else 1
    rows = math.ceil(len(lines) / columns)
    left, right, gutter = 62 if layout.wide else 56, 16, 78
    width = (layout.width - left - right - (columns - 1) * gutter) / columns
    names = {entry: wrap(entry.short, width, layout.font, bold=True) for entry in lines}
    name_height = max(len(words) for words in names.values()) * layout.font * LEADING
    top, bottom, gap = 40 + name_height, 52, (60 if own_time else 26) + name_height
    figure, panels = canvas(
        layout,
        top + bottom + rows * _PANEL_HEIGHT + (rows - 1) * gap,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        shape=(rows, columns),
        gap=(gap, gutter),
    )
    for spare in panels.flat[len(lines) :]:
        spare.remove()
    used = list(panels.flat[: len(lines)])
    seconds = dict.fromkeys(lines, _set_axes(used, columns, lines, quantity))
    if own_time:
        each = zip(used, lines.items(), strict=True)
        seconds = {entry: _set_time([panel], 1, [line], quantity) for panel, (entry, line) in each}
    y_title(used[0], _title(used[0], quantity), layout, above=name_height + 24)
    for panel, (entry, line) in zip(used, lines.items(), strict=True):
        above = 8 + len(names[entry]) * layout.font * LEADING / 2
        how: dict[str, Any] = {"size": layout.font, "color": entry.colour, "weight": "bold"}
        say(panel, names[entry], (0, 1), (0, above), xycoords="axes fraction", **how)
        _draw(panel, entry, line, seconds[entry])
        _draw_caps(panel, quantity, layout)
    return figure


def _set_axes(
    panels: Sequence[Axes],
    columns: int,
    lines: dict[Series, Line],
    quantity: Quantity,
) -> int:
    """The same axes for all panels, in the unit of time that suits; returns its length in seconds."""
    values = np.concatenate([line[name] for line in lines.values() for name in line if name != "t_s"])
    values = np.concatenate([values, [value for _, value in quantity.caps]])
    scales.set_y(panels, values, quantity.text, log=quantity.may_be_log and scales.is_log(values))
    return _set_time(panels, columns, list(lines.values()), quantity)


def _set_time(panels: Sequence[Axes], columns: int, lines: Sequence[Line], quantity: Quantity) -> int:
    """The same axis of time for some panels, in the unit that suits; returns its length in seconds."""
    end = float(max(line["t_s"].max() for line in lines))
    fitting = [unit for unit in TIME_UNITS if end >= ENOUGH_TICKS * unit[1]]
    name, seconds = fitting[-1] if fitting else TIME_UNITS[0]
    width, _ = size_of(panels[0])
    ticks = scales.linear_ticks(end / seconds, most=max(2, int(width / 60)))
    for i, panel in enumerate(panels):
        panel.set_xlim(0, end / seconds or 1)
        scales.set_ticks(panel.xaxis, ticks, [f"{tick:g}" for tick in ticks])
        panel.tick_params(labelbottom=i >= len(panels) - columns)
        interactive.describe(panel, "time", quantity.axis, seconds)
    bottom_left = panels[(len(panels) - 1) // columns * columns]
    bottom_left.set_xlabel(f"{name} since the {quantity.since}", loc="left", labelpad=6)
    return seconds


def _title(panel: Axes, quantity: Quantity) -> str:
    return quantity.title + (" (log scale)" if panel.get_yscale() == "log" else "")


def _draw(panel: Axes, entry: Series, line: Line, seconds: int) -> None:
    t, values = line["t_s"] / seconds, line["value"]
    if "high" in line:
        low = line.get("low", values)
        panel.fill_between(t, low, line["high"], color=entry.colour, alpha=0.16, linewidth=0, zorder=2)
    (drawn,) = panel.plot(
        t, values, color=entry.colour, label=entry.short, gid=f"line-{entry.index}", zorder=3
    )
    interactive.carry(drawn, line["t_s"])
    there = np.pad(np.isfinite(values), 1)
    alone = there[1:-1] & ~there[:-2] & ~there[2:]  # no line goes through a point between two gaps
    panel.plot(t[alone], values[alone], **entry.marker(6))


def _draw_caps(panel: Axes, quantity: Quantity, layout: Layout) -> None:
    """The limits as dashed lines with their names above them."""
    how: dict[str, Any] = {"size": layout.small, "color": NEUTRAL["ink2"]}
    for name, value in quantity.caps:
        panel.axhline(value, color=NEUTRAL["limit"], linewidth=1.5, linestyle=DASHES, zorder=2)
        say(panel, [f"{name} {quantity.text(value)}"], (0, value), (4, layout.small * 0.8), **how)


def _end(line: Line, seconds: int) -> tuple[float, float]:
    """The last point that has a value."""
    last = np.flatnonzero(np.isfinite(line["value"]))[-1]
    return float(line["t_s"][last] / seconds), float(line["value"][last])


def _in_words(lines: dict[Series, Line], quantity: Quantity) -> str:
    """The chart as a sentence, with the range of each line."""
    parts = []
    for entry, line in lines.items():
        values = scales.finite(line["value"])
        low, high = quantity.text(values.min()), quantity.text(values.max())
        parts.append(f"{entry.short}: {low} to {high} in {format_count(line['t_s'].max())} s")
    return f"Line chart of {quantity.name} over time; setups: {len(lines)}. {'; '.join(parts)}."
