"""A throttle at work: the rate over time below its limits, the burst credits that it spends, and how much of
the limits the platform counted as used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import MB, NBSP, format_count, format_mbps
from azbenchlib.plots import used_limits
from azbenchlib.plots.drawing import interactive, scales
from azbenchlib.plots.drawing.label_layout import LEADING, say, spread, text_width, wrap, y_title
from azbenchlib.plots.drawing.style import DASHES, Drawn, Layout, Series, canvas, size_of, theme

RATE_HEIGHT, LOW_HEIGHT, _GAP = 240, 90, 52
MOST_USED = 3  # limits whose use is drawn: the most used ones
_TOP, _BOTTOM = 34, 52
SHIFT = 10  # pixels from the panel to the names of the limits
SHORT = (("M", 10**6), ("k", 10**3))

Cap = tuple[str, float]  # what the limit is called, and its value in the unit of the rate
TIME_SPANS = (("Days", 86_400), ("Hours", 3600), ("Minutes", 60), ("Seconds", 1))
_LONG = 3  # of a unit, from which on it is taken


def _short(value: float) -> str:
    """``1.5 M``, ``300 k``: credits are many."""
    for letter, unit in SHORT:
        if value >= unit:
            return f"{value / unit:g}{NBSP}{letter}"
    return f"{value:g}"


@dataclass(frozen=True, kw_only=True)
class Rate:
    """What is drawn over time: its column, what it is called, and how figures of it read."""

    column: str
    title: str
    text: Callable[[float], str]
    credits: str
    credits_text: Callable[[float], str]


IOPS_RATE = Rate(
    column="iops", title="IOPS", text=format_count, credits="Burst credits left, in I/Os", credits_text=_short
)
THROUGHPUT_RATE = Rate(
    column="bytes_per_s",
    title="MB/s",
    text=format_mbps,
    credits="Burst credits left, in MB",
    credits_text=lambda size: _short(size / MB),
)


def rate_over_time(
    trace: pd.DataFrame,
    caps: Sequence[Cap],
    entry: Series,
    layout: Layout,
    rate: Rate = IOPS_RATE,
    used: pd.DataFrame | None = None,
) -> Drawn:
    """Draw a rate over time with the limits as dashed lines and, where they are known, the credits and the
    use of the limits below.

    Parameters
    ----------
    trace : DataFrame
        Columns t_s, that of the rate and, if wanted, credits (the balance at that time, in I/Os or bytes).
    caps : sequence of (str, float)
        Name and value of each limit, for a block size of this run.
    entry : Series
        The setup that the line stands for.
    layout : Layout
        The width to draw for.
    rate : Rate
        IOPS, or MB/s.
    used : DataFrame, optional
        What the platform counted: columns name (of a limit), t_s (when a minute began) and percent.

    Returns
    -------
    Drawn
        The line has the gid ``rate-INDEX``.

    Raises
    ------
    InputError
        When there is no rate to draw.
    """
    rows = trace.dropna(subset=["t_s", rate.column]).sort_values("t_s")
    if rows.empty:
        raise InputError("no rate to draw over time: every value is NA")
    credits, end_s = "credits" in rows, float(rows["t_s"].max())
    lines = used_limits.lines_of(used, end_s)[:MOST_USED]
    names = [wrap(f"{name} {rate.text(value)}", _name_width(layout), layout.small) for name, value in caps]
    names_used = [wrap(line.text, _name_width(layout), layout.small) for line in lines]
    words = [line for name in (*names, *names_used) for line in name]
    right = SHIFT + max((text_width(line, layout.small) for line in words), default=6)
    n_low = credits + bool(lines)
    height = _TOP + _BOTTOM + RATE_HEIGHT + n_low * (_GAP + LOW_HEIGHT)
    with theme(layout):
        figure, grid = canvas(
            layout,
            height,
            left=_left(layout),
            right=right + 2,
            top=_TOP,
            bottom=_BOTTOM,
            shape=(1 + n_low, 1),
            gap=(_GAP, 0),
        )
        panels = list(grid[:, 0])
        _set_heights(panels, height)
        _draw_rate(panels[0], rows, caps, entry, layout, rate)
        _name_lines(panels[0], [value for _, value in caps], names, layout)
        if credits:
            _draw_credits(panels[1], rows, entry, layout, rate)
        if lines:
            used_limits.draw(panels[-1], lines, entry, layout)
            _name_lines(panels[-1], [line.percent[-1] for line in lines], names_used, layout)
        _set_time(panels, end_s)
    return Drawn(figure, {}, _in_words(rows, caps, entry, rate) + used_limits.in_words(lines), layout)


def _name_width(layout: Layout) -> float:
    return 190 if layout.wide else 92


def _left(layout: Layout) -> float:
    return 72 if layout.wide else 62


def _set_heights(panels: Sequence[Axes], height: float) -> None:
    """The rate high, what is below it low."""
    bottom = _BOTTOM / height
    for i, panel in reversed(list(enumerate(panels))):
        tall = (LOW_HEIGHT if i else RATE_HEIGHT) / height
        box = panel.get_position()
        panel.set_position((box.x0, bottom, box.width, tall))
        bottom += tall + _GAP / height


def _draw_rate(
    panel: Axes, rows: pd.DataFrame, caps: Sequence[Cap], entry: Series, layout: Layout, rate: Rate
) -> None:
    drawn = rows[rate.column].astype(float)
    scales.set_y([panel], [*drawn, *(value for _, value in caps)], rate.text, log=False)
    y_title(panel, rate.title, layout)
    for _, value in caps:
        panel.axhline(value, color=NEUTRAL["limit"], linewidth=1.5, linestyle=DASHES, zorder=2)
    panel.plot(rows["t_s"], drawn, color=entry.colour, label=entry.short, gid=f"rate-{entry.index}", zorder=3)


def _name_lines(panel: Axes, values: Sequence[float], names: Sequence[list[str]], layout: Layout) -> None:
    """The names of lines at their right ends, pushed apart where they would touch."""
    if not values:
        return
    _, height = size_of(panel)
    most = panel.get_ylim()[1]
    order = sorted(range(len(values)), key=lambda i: values[i])
    heights = [len(names[i]) * layout.small * LEADING + 4 for i in order]
    places = spread([values[i] / most * height for i in order], heights, 0, height + 16)
    how: dict[str, Any] = {"size": layout.small, "color": NEUTRAL["ink2"], "xycoords": "axes fraction"}
    for i, place in zip(order, places, strict=True):
        say(panel, names[i], (1, place / height), (SHIFT, 0), **how)


def _draw_credits(panel: Axes, rows: pd.DataFrame, entry: Series, layout: Layout, rate: Rate) -> None:
    balance = rows["credits"].to_numpy(dtype=float)
    scales.set_y([panel], balance if np.nanmax(balance) > 0 else [1.0], rate.credits_text, log=False)
    y_title(panel, rate.credits, layout)
    panel.fill_between(rows["t_s"], 0, balance, color=entry.colour, alpha=0.16, linewidth=0, zorder=2)
    panel.plot(rows["t_s"], balance, color=entry.colour, label="credits", zorder=3)


def _set_time(panels: Sequence[Axes], end: float) -> None:
    width, _ = size_of(panels[0])
    name, unit = next((span for span in TIME_SPANS if end >= _LONG * span[1]), TIME_SPANS[-1])
    ticks = [tick * unit for tick in scales.linear_ticks(end / unit, most=max(2, int(width / 60)))]
    for i, panel in enumerate(panels):
        panel.set_xlim(0, end or 1)
        scales.set_ticks(panel.xaxis, ticks, [f"{tick / unit:g}" for tick in ticks])
        panel.tick_params(labelbottom=i == len(panels) - 1)
        interactive.describe(panel, "time", "count")
    panels[-1].set_xlabel(f"{name} since the start", loc="left", labelpad=6)


def _in_words(rows: pd.DataFrame, caps: Sequence[Cap], entry: Series, rate: Rate) -> str:
    low, high = rows[rate.column].min(), rows[rate.column].max()
    told = "; ".join(f"{name} {rate.text(value)} {rate.title}" for name, value in caps)
    text = f"Line chart of {rate.title} over {format_count(rows['t_s'].max())} s, {entry.label}: "
    text += f"{rate.text(low)} to {rate.text(high)}."
    if told:
        text += f" Limits: {told}."
    if "credits" in rows:
        first, last = rows["credits"].iloc[0], rows["credits"].iloc[-1]
        unit = rate.credits.rpartition(" ")[2]
        text += f" Burst credits fall from {rate.text(first)} to {rate.text(last)} {unit}."
    return text
