"""How many I/Os took how long: one panel a series, all with the same axes."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch

from azbenchlib.core.errors import InputError
from azbenchlib.core.histogram import format_percentile
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import format_count, format_us
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.cells import limits, name_above, rectangles
from azbenchlib.plots.drawing.label_layout import LEADING, say, text_width, wrap, y_title
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, size_of, theme

_PANEL_HEIGHT = 92
_MARKED = (("p50_us", "p50", "right"), ("p99_us", "p99", "left"))


def latency_histogram(spread: pd.DataFrame, series: Sequence[Series], layout: Layout) -> Drawn:
    """Draw the share of I/Os in each class of latency, on a log axis, with p50 and p99.

    Parameters
    ----------
    spread : DataFrame
        Columns series (a key), low_us and high_us (edges), share, n_total, p50_us, p99_us, as
        :func:`azbenchlib.analysis.distribution.spread` gives. Rows of series that are not listed are left
        out.
    series : sequence of Series
        One to six; those without data are left out.
    layout : Layout
        The width to draw for.

    Returns
    -------
    Drawn
        Bars have the gid ``bars-INDEX``.

    Raises
    ------
    InputError
        When there is nothing to draw.
    """
    bars = {entry: spread[spread["series"] == entry.key].sort_values("low_us") for entry in series}
    bars = {entry: rows for entry, rows in bars.items() if len(rows)}
    if not bars:
        raise InputError("no latency histogram to draw: there are no bins")
    left, right, bottom = 50, 16, 52
    width = layout.width - left - right
    names = {entry: wrap(entry.short, width, layout.font, bold=True) for entry in bars}
    notes = {entry: wrap(_figures(rows), width, layout.small) for entry, rows in bars.items()}
    above = max(_height(names[entry], notes[entry], layout) for entry in bars)
    top, gap = above + 52, above + 34
    height = top + len(bars) * _PANEL_HEIGHT + (len(bars) - 1) * gap + bottom
    with theme(layout):
        figure, panels = canvas(
            layout, height, left=left, right=right, top=top, bottom=bottom, shape=(len(bars), 1), gap=(gap, 0)
        )
        column = list(panels[:, 0])
        _set_axes(column, pd.concat(bars.values()), layout)
        y_title(column[0], "Share of I/Os", layout, above=above + 36)
        for panel, (entry, rows) in zip(column, bars.items(), strict=True):
            _draw(panel, entry, rows, layout)
            name_above(panel, entry, names[entry], notes[entry], layout, gap=18)
    return Drawn(figure, {}, _in_words(bars), layout)


def _height(name: Sequence[str], note: Sequence[str], layout: Layout) -> float:
    return (len(name) * layout.font + len(note) * layout.small) * LEADING


def _figures(rows: pd.DataFrame) -> str:
    first = rows.iloc[0]
    return (
        f"p50 {format_percentile(first['p50_us'])}, p99 {format_percentile(first['p99_us'])}, "
        f"{format_count(first['n_total'])} I/Os"
    )


def _set_axes(panels: Sequence[Axes], rows: pd.DataFrame, layout: Layout) -> None:
    scales.set_y(panels, rows["share"], lambda share: f"{100 * share:g} %", log=False)
    highest = float(rows["share"].max()) * 1.06
    low, high = limits(rows)
    width, _ = size_of(panels[0])
    ticks = sorted(scales.log_ticks(low, high, width), key=lambda tick: f"{tick:e}"[0] != "1")
    for panel in panels:
        panel.set_xscale("log")
        panel.set_xlim(low, high)
        panel.set_ylim(0, highest)
        kept = scales.keep_apart(panel, ticks, [format_us(tick) for tick in ticks], layout)
        shown = sorted(ticks[i] for i in kept)
        scales.set_ticks(panel.xaxis, shown, [format_us(tick) for tick in shown])
        panel.tick_params(labelbottom=panel is panels[-1])
        panel.grid(axis="x")
    panels[-1].set_xlabel("Latency of one I/O (log scale)", loc="left", labelpad=6)


def _draw(panel: Axes, entry: Series, rows: pd.DataFrame, layout: Layout) -> None:
    low = rows["low_us"].clip(lower=panel.get_xlim()[0])
    edges = (low, rows["share"] * 0, rows["high_us"], rows["share"])
    path = rectangles(*(values.to_numpy(dtype=float) for values in edges))
    panel.add_patch(PathPatch(path, facecolor=entry.colour, linewidth=0, gid=f"bars-{entry.index}", zorder=2))
    for column, name, side in _MARKED:
        value = float(rows[column].iloc[0])
        panel.axvline(value, color=NEUTRAL["ink3"], linewidth=1, linestyle=(0, (3, 3)), zorder=3)
        shift = (-4 if side == "right" else 4, 8)
        room = scales.x_pixel(panel, value)
        if side == "right" and room < text_width(name, layout.small) + 4:
            continue
        how: dict[str, Any] = {"ha": side, "xycoords": panel.get_xaxis_transform()}
        say(panel, name, (value, 1), shift, size=layout.small, color=NEUTRAL["ink3"], **how)


def _in_words(bars: dict[Series, pd.DataFrame]) -> str:
    parts = []
    for entry, rows in bars.items():
        top = rows.loc[rows["share"].idxmax()]
        usual = f"{format_us(top['low_us'])} to {format_us(top['high_us'])}"
        parts.append(f"{entry.short}: {_figures(rows)}, most often {usual} ({100 * top['share']:.2g} %)")
    return f"Histogram of latency; setups: {len(bars)}. {'; '.join(parts)}."
