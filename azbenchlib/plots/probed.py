"""The portrait of a probed disk: its roofline, its latency over load, and what each run was worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from azbenchlib.core.palette import COLOURS, NEUTRAL
from azbenchlib.core.units import format_count, format_size, format_us
from azbenchlib.plots.drawing.style import Drawn, Layout, theme

_WAYS = {"read": ("Reads", COLOURS[0][0]), "write": ("Writes", COLOURS[1][0])}
_PANEL_HEIGHT = 280
PIXELS = 72  # an inch: a point is a pixel


def probe_portrait(
    roof: pd.DataFrame, response: pd.DataFrame, nats: Sequence[float], layout: Layout
) -> Drawn:
    """Draw what a probe found in three panels, side by side or one below the other.

    Parameters
    ----------
    roof : DataFrame
        Columns ddir, bs_bytes, low, iops, high, as :func:`azbenchlib.probe.curves.roof` gives.
    response : DataFrame
        Columns ddir, queue_depth, low, lat_mean_us, high, as :func:`azbenchlib.probe.curves.response` gives.
    nats : sequence of float
        What each run was expected to tell, in the order in which they were made.
    layout : Layout
        The width to draw for.

    Returns
    -------
    Drawn
        Bands are 95 % intervals.
    """
    with theme(layout):
        rows, columns = (1, 3) if layout.wide else (3, 1)
        size = (layout.width / PIXELS, _PANEL_HEIGHT * rows / PIXELS)
        figure = Figure(figsize=size, dpi=PIXELS, layout="constrained")
        left, middle, right = figure.subplots(rows, columns)
        _curves(left, roof, "bs_bytes", "iops", (format_size, format_count))
        left.set(xlabel="Block size", title="Most IOPS by block size")
        _curves(middle, response, "queue_depth", "lat_mean_us", (format_count, format_us))
        middle.set(xlabel="Queue depth", title="Mean latency of 4 KiB")
        left.legend(frameon=False)
        right.bar(range(1, len(nats) + 1), list(nats), color=NEUTRAL["ink2"], width=0.6)
        right.set(xlabel="Run", title="Worth of each run (nats)")
        right.set_xticks(range(1, len(nats) + 1))
        figure.draw_without_rendering()
    return Drawn(figure, {}, _in_words(roof), layout)


def _in_words(roof: pd.DataFrame) -> str:
    largest = roof.groupby("ddir")["iops"].max()
    told = ", ".join(f"{name.lower()} {format_count(largest[way])}" for way, (name, _) in _WAYS.items())
    return f"Three panels: the most IOPS by block size ({told}), mean latency by queue depth, worth of runs"


def _curves(
    panel: Axes,
    rows: pd.DataFrame,
    x: str,
    y: str,
    forms: tuple[Callable[[float], str], Callable[[float], str]],
) -> None:
    """A line with its band for each direction, both axes logarithmic."""
    for ddir, (name, colour) in _WAYS.items():
        own = rows[rows["ddir"] == ddir]
        panel.fill_between(own[x], own["low"], own["high"], color=colour, alpha=0.2, linewidth=0)
        panel.plot(own[x], own[y], color=colour, label=name, marker="o", markersize=3)
    panel.set(xscale="log", yscale="log")
    panel.xaxis.set_major_locator(LogLocator(base=4))
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis, form in zip((panel.xaxis, panel.yaxis), forms, strict=True):
        axis.set_major_formatter(FuncFormatter(lambda value, _, form=form: form(value)))
        axis.set_minor_locator(NullLocator())
    panel.grid(color=NEUTRAL["grid"])
