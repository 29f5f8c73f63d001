"""When how many I/Os took how long: time against latency, one panel a series."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import format_count, format_us
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.cells import limits, name_above, rectangles
from azbenchlib.plots.drawing.label_layout import LEADING, say, text_width, wrap, y_title
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, size_of, theme
from azbenchlib.plots.timeline import ENOUGH_TICKS, TIME_UNITS

_PANEL_HEIGHT = 190
# Shares up to which a cell has each opacity; logarithmic, for it is the rare slow I/O that matters.
LEVELS = ((0.001, 0.14), (0.01, 0.28), (0.03, 0.44), (0.1, 0.62), (0.3, 0.8), (1.0, 1.0))
SWATCH = 13


def latency_heatmap(cells: pd.DataFrame, series: Sequence[Series], layout: Layout) -> Drawn:
    """Draw how the I/Os of each moment are spread over latency; the stronger the colour, the more.

    The colour is that of the series, which the page's dark rules know; its opacity tells the share.

    Parameters
    ----------
    cells : DataFrame
        Columns series (a key), t_s, t_end_s, low_us, high_us (edges), n, share (of the I/Os of its span of
        time), as :func:`azbenchlib.analysis.distribution.over_time` gives. Rows of series that are not
        listed are left out.
    series : sequence of Series
        One to six; those without data are left out.
    layout : Layout
        The width to draw for.

    Returns
    -------
    Drawn
        Cells have the gid ``cells-INDEX-LEVEL``.

    Raises
    ------
    InputError
        When there is nothing to draw.
    """
    maps = {entry: cells[cells["series"] == entry.key] for entry in series}
    maps = {entry: rows for entry, rows in maps.items() if len(rows)}
    if not maps:
        raise InputError("no latency heat map to draw: there is no log of latencies")
    left, right, bottom = 62 if layout.wide else 56, 16, 52
    names = {entry: wrap(entry.short, layout.width - left - right, layout.font, bold=True) for entry in maps}
    above = max(len(words) for words in names.values()) * layout.font * LEADING
    top, gap = above + 84, above + 26
    height = top + len(maps) * _PANEL_HEIGHT + (len(maps) - 1) * gap + bottom
    with theme(layout):
        figure, panels = canvas(
            layout, height, left=left, right=right, top=top, bottom=bottom, shape=(len(maps), 1), gap=(gap, 0)
        )
        column = list(panels[:, 0])
        seconds = _set_axes(column, pd.concat(maps.values()))
        y_title(column[0], "Latency (log scale)", layout, above=above + 24)
        _draw_key(figure, layout, height - 14)
        for panel, (entry, rows) in zip(column, maps.items(), strict=True):
            _draw(panel, entry, rows, seconds)
            name_above(panel, entry, names[entry], [], layout, gap=8)
    return Drawn(figure, {}, _in_words(maps), layout)


def _set_axes(panels: Sequence[Axes], rows: pd.DataFrame) -> int:
    """The same axes for all panels; returns the length of the unit of time in seconds."""
    scales.set_y(panels, limits(rows), format_us, log=True)
    end = float(rows["t_end_s"].max())
    name, seconds = ([unit for unit in TIME_UNITS if end >= ENOUGH_TICKS * unit[1]] or TIME_UNITS[:1])[-1]
    width, _ = size_of(panels[0])
    ticks = scales.linear_ticks(end / seconds, most=max(2, int(width / 60)))
    for panel in panels:
        panel.set_xlim(0, end / seconds)
        scales.set_ticks(panel.xaxis, ticks, [f"{tick:g}" for tick in ticks])
        panel.tick_params(labelbottom=panel is panels[-1])
    panels[-1].set_xlabel(f"{name} since the start", loc="left", labelpad=6)
    return seconds


def _draw(panel: Axes, entry: Series, rows: pd.DataFrame, seconds: int) -> None:
    """All cells of one opacity as one shape: a page holds thousands of cells."""
    lowest = panel.get_ylim()[0]
    level = np.searchsorted([share for share, _ in LEVELS], rows["share"].astype(float) * (1 - 1e-9))
    for i, (_, opacity) in enumerate(LEVELS):
        some = rows[level == i]
        if len(some):
            edges = (some["t_s"] / seconds, some["low_us"].clip(lower=lowest))
            ends = (some["t_end_s"] / seconds, some["high_us"])
            path = rectangles(*(values.to_numpy(dtype=float) for values in (*edges, *ends)))
            style: dict[str, Any] = {"facecolor": entry.colour, "alpha": opacity, "linewidth": 0, "zorder": 2}
            panel.add_patch(PathPatch(path, gid=f"cells-{entry.index}-{i}", **style))


def _draw_key(figure: Figure, layout: Layout, y: float) -> None:
    """What each opacity stands for, in a row `y` pixels above the bottom of the figure."""
    width, height = layout.width, figure.get_figheight() * figure.dpi
    panel = figure.axes[0]
    bounds = [0, *(100 * share for share, _ in LEVELS)]
    words = "Share at that time" if layout.wide else "% up to"
    texts = [f"{low:g}–{high:g} %" if layout.wide else f"{high:g}" for low, high in pairwise(bounds)]
    x = 0.0
    tell: dict[str, Any] = {"size": layout.small, "color": NEUTRAL["ink2"], "xycoords": "figure pixels"}
    say(panel, words, (x, y), **tell)
    x += text_width(words, layout.small) + 10
    for (_, opacity), text in zip(LEVELS, texts, strict=True):
        place = (x / width, (y - SWATCH / 2) / height)
        swatch = Rectangle(
            place,
            SWATCH / width,
            SWATCH / height,
            transform=figure.transFigure,
            facecolor=NEUTRAL["ink"],
            alpha=opacity,
            linewidth=0,
        )
        figure.add_artist(swatch)
        say(panel, text, (x + SWATCH + 3, y), **tell)
        x += SWATCH + 3 + text_width(text, layout.small) + 8


def _in_words(maps: dict[Series, pd.DataFrame]) -> str:
    """The chart as a sentence: the range of each series, and where most of it lies."""
    parts = []
    for entry, rows in maps.items():
        usual = rows.groupby(["low_us", "high_us"])["n"].sum().idxmax()
        parts.append(
            f"{entry.short}: {format_us(rows['low_us'].min())} to {format_us(rows['high_us'].max())} in "
            f"{format_count(rows['t_end_s'].max())} s, "
            f"most often {format_us(usual[0])} to {format_us(usual[1])}"
        )
    return f"Heat map of latency over time; setups: {len(maps)}. {'; '.join(parts)}."
