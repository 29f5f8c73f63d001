"""What happened when: latency over the time of a run."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_count, format_us
from azbenchlib.plots.drawing import interactive, scales
from azbenchlib.plots.drawing.label_layout import LEADING, EndLabels, say, wrap, y_title
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, size_of, theme

ALIKE = 1.5  # longest ÷ shortest run that can share an axis of time
MOST_LINES = 3  # lines that one panel shows without a tangle
TIME_UNITS = (("Seconds", 1), ("Minutes", 60), ("Hours", 3600))
_PANEL_HEIGHT = 110
ENOUGH_TICKS = 3  # the largest unit that counts at least so far is taken


Line = dict[str, npt.NDArray[np.float64]]  # t_s, lat_us, perhaps lat_max_us; missing is NaN


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
    lines = {entry: _line(envelope[envelope["series"] == entry.key]) for entry in series}
    lines = {entry: line for entry, line in lines.items() if np.isfinite(line["lat_us"]).any()}
    if not lines:
        raise InputError("no latency to draw over time: every value is NA")
    with theme(layout):
        ends = [line["t_s"].max() for line in lines.values()]
        alike = max(ends) <= ALIKE * min(ends)
        figure = (
            _one_panel(lines, layout)
            if alike and len(lines) <= MOST_LINES
            else _many_panels(lines, layout, own_time=not alike)
        )
    return Drawn(figure, {}, _in_words(lines), layout)


def _line(rows: pd.DataFrame) -> Line:
    rows = rows.sort_values("t_s")
    columns = [name for name in ("t_s", "lat_us", "lat_max_us") if name in rows.columns]
    return {name: rows[name].to_numpy(dtype=float, na_value=np.nan) for name in columns}


def _one_panel(lines: dict[Series, Line], layout: Layout) -> Figure:
    """All lines together, named at their right ends."""
    labels = EndLabels([(entry, "") for entry in lines], layout)
    top, bottom = 34, 52
    height = max(340, top + bottom + labels.height)
    left = 62 if layout.wide else 56
    figure, panels = canvas(layout, height, left=left, right=labels.margin, top=top, bottom=bottom)
    panel = panels[0, 0]
    seconds = _set_axes([panel], 1, lines)
    y_title(panel, _title(panel), layout)
    for entry, line in lines.items():
        _draw(panel, entry, line, seconds)
    labels.draw(panel, {entry.key: _end(line, seconds) for entry, line in lines.items()}, lead=False)
    return figure


def _many_panels(lines: dict[Series, Line], layout: Layout, own_time: bool) -> Figure:
    """A small panel each, named above it; all with the same axis of latency."""
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
    seconds = dict.fromkeys(lines, _set_axes(used, columns, lines))
    if own_time:
        each = zip(used, lines.items(), strict=True)
        seconds = {entry: _set_time([panel], 1, [line]) for panel, (entry, line) in each}
    y_title(used[0], _title(used[0]), layout, above=name_height + 24)
    for panel, (entry, line) in zip(used, lines.items(), strict=True):
        above = 8 + len(names[entry]) * layout.font * LEADING / 2
        how: dict[str, Any] = {"size": layout.font, "color": entry.colour, "weight": "bold"}
        say(panel, names[entry], (0, 1), (0, above), xycoords="axes fraction", **how)
        _draw(panel, entry, line, seconds[entry])
    return figure


def _set_axes(panels: Sequence[Axes], columns: int, lines: dict[Series, Line]) -> int:
    """The same axes for all panels, in the unit of time that suits; returns its length in seconds."""
    values = np.concatenate([line[name] for line in lines.values() for name in line if name != "t_s"])
    scales.set_y(panels, values, format_us, log=scales.is_log(values))
    return _set_time(panels, columns, list(lines.values()))


def _set_time(panels: Sequence[Axes], columns: int, lines: Sequence[Line]) -> int:
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
        interactive.describe(panel, "time", "us", seconds)
    bottom_left = panels[(len(panels) - 1) // columns * columns]
    bottom_left.set_xlabel(f"{name} since the start", loc="left", labelpad=6)
    return seconds


def _title(panel: Axes) -> str:
    return "Latency" + (" (log scale)" if panel.get_yscale() == "log" else "")


def _draw(panel: Axes, entry: Series, line: Line, seconds: int) -> None:
    t, values = line["t_s"] / seconds, line["lat_us"]
    if "lat_max_us" in line:
        panel.fill_between(
            t, values, line["lat_max_us"], color=entry.colour, alpha=0.16, linewidth=0, zorder=2
        )
    (drawn,) = panel.plot(
        t, values, color=entry.colour, label=entry.short, gid=f"line-{entry.index}", zorder=3
    )
    interactive.carry(drawn, line["t_s"])
    there = np.pad(np.isfinite(values), 1)
    alone = there[1:-1] & ~there[:-2] & ~there[2:]  # no line goes through a point between two gaps
    panel.plot(t[alone], values[alone], **entry.marker(6))


def _end(line: Line, seconds: int) -> tuple[float, float]:
    """The last point that has a value."""
    last = np.flatnonzero(np.isfinite(line["lat_us"]))[-1]
    return float(line["t_s"][last] / seconds), float(line["lat_us"][last])


def _in_words(lines: dict[Series, Line]) -> str:
    """The chart as a sentence, with the range of each line."""
    parts = []
    for entry, line in lines.items():
        values = scales.finite(line["lat_us"])
        low, high = format_us(values.min()), format_us(values.max())
        parts.append(f"{entry.short}: {low} to {high} in {format_count(line['t_s'].max())} s")
    return f"Line chart of latency over time; setups: {len(lines)}. {'; '.join(parts)}."
