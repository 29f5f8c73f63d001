"""The way of a search: rate and latency over queue depth, with the limit that the latency had to keep."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import format_count, format_us
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import say, y_title
from azbenchlib.plots.drawing.style import DASHES, Drawn, Layout, Series, canvas, theme

_PANEL_HEIGHT, _GAP, _TOP, _BOTTOM = 150, 52, 34, 52
_AIR = 1.2  # on each side of the axis of queue depths


def search_curve(
    points: pd.DataFrame, what: str, limit_us: float, answer: float | None, entry: Series, layout: Layout
) -> Drawn:
    """Draw IOPS above latency, both over queue depth; hollow markers do not keep the limit.

    Parameters
    ----------
    points : DataFrame
        Columns queue_depth, iops and lat_us, a row a run.
    what : str
        What the latencies are, such as ``p99``.
    limit_us : float
        What they had to stay below.
    answer : float, optional
        The queue depth that was found; None: no depth keeps the limit.
    entry : Series
        Where it was searched.
    layout : Layout
        The width to draw for.

    Returns
    -------
    Drawn
        Markers have the gids ``iops-INDEX`` and ``lat-INDEX``, with ``-over`` where the limit is not kept.

    Raises
    ------
    InputError
        When no run has both figures.
    """
    rows = points.dropna(subset=["queue_depth", "iops", "lat_us"]).sort_values(["queue_depth", "iops"])
    if rows.empty:
        raise InputError("nothing to draw of the search: no run has both a rate and a latency")
    with theme(layout):
        left = 72 if layout.wide else 62
        height = _TOP + 2 * _PANEL_HEIGHT + _GAP + _BOTTOM
        how: dict[str, Any] = {"left": left, "right": 18, "top": _TOP, "bottom": _BOTTOM}
        figure, panels = canvas(layout, height, shape=(2, 1), gap=(_GAP, 0), **how)
        rate, latency = panels[:, 0]
        _set_depths([rate, latency], rows, layout)
        scales.set_y([rate], rows["iops"].astype(float), format_count, log=False)
        y_title(rate, "IOPS", layout)
        seen = [*rows["lat_us"].astype(float), limit_us]
        log = scales.is_log(seen)
        scales.set_y([latency], seen, format_us, log=log)
        y_title(latency, f"Latency, {what}{' (log scale)' if log else ''}", layout)
        titles = _draw(rate, rows, "iops", entry, limit_us) | _draw(latency, rows, "lat_us", entry, limit_us)
        latency.axhline(limit_us, color=NEUTRAL["limit"], linewidth=1.5, linestyle=DASHES, zorder=2)
        small: dict[str, Any] = {"size": layout.small, "color": NEUTRAL["ink2"]}
        say(
            latency,
            f"limit {format_us(limit_us)}",
            (rows["queue_depth"].min() / _AIR, limit_us),
            (4, 9),
            **small,
        )
        for panel in (rate, latency) if answer else ():
            panel.axvline(answer, color=NEUTRAL["axis"], linewidth=1, zorder=1)
    return Drawn(figure, titles, _in_words(rows, what, limit_us, answer, entry), layout)


def _set_depths(panels: list[Axes], rows: pd.DataFrame, layout: Layout) -> None:
    depths = sorted(set(rows["queue_depth"].astype(float)))
    for panel in panels:
        panel.set_xscale("log")
        panel.set_xlim(depths[0] / _AIR, depths[-1] * _AIR)
        scales.every_nth(panel, depths, [format_count(depth) for depth in depths], layout)
    panels[0].tick_params(labelbottom=False)
    panels[-1].set_xlabel("Queue depth (log scale)", loc="left", labelpad=6)


def _draw(
    panel: Axes, rows: pd.DataFrame, column: str, entry: Series, limit_us: float
) -> dict[str, list[str]]:
    """A line through the medians of each depth, and a marker a run; returns the hover texts."""
    typical = rows.groupby("queue_depth")[column].median()
    panel.plot(typical.index, typical, color=entry.colour, linewidth=1.5, zorder=3)
    titles = {}
    for over in (False, True):
        some = rows[(rows["lat_us"] >= limit_us) == over]
        gid = f"{column.removesuffix('_us')}-{entry.index}{'-over' * over}"
        panel.plot(some["queue_depth"], some[column], gid=gid, **entry.marker(9, hollow=over))
        titles[gid] = [
            f"queue depth {row.queue_depth:g}: {format_count(round(row.iops))} IOPS, {format_us(row.lat_us)}"
            for row in some.itertuples()
        ]
    return titles


def _in_words(rows: pd.DataFrame, what: str, limit_us: float, answer: float | None, entry: Series) -> str:
    told = "; ".join(
        f"queue depth {row.queue_depth:g}: {format_count(round(row.iops))} IOPS, {format_us(row.lat_us)}"
        for row in rows.itertuples()
    )
    found = f"deepest queue below it: {answer:g}" if answer else "no queue depth is below it"
    return (
        f"IOPS and {what} over queue depth, {entry.label}. Limit of {what}: {format_us(limit_us)}; {found}. "
        f"{told}."
    )
