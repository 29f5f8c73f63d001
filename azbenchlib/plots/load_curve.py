"""Curves over load: rate and latency over the queue depth or another axis, with the limits of both."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.analysis.axes import QUEUE_DEPTH, Axis
from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import format_count, format_us
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import EndLabels, say, y_title
from azbenchlib.plots.drawing.style import DASHES, Drawn, Layout, Series, canvas, theme

_PANEL_HEIGHT, _GAP, _TOP, _BOTTOM = 150, 52, 34, 52
_AIR = 1.2  # on each side of the axis


def load_curves(
    points: pd.DataFrame,
    series: Sequence[Series],
    layout: Layout,
    *,
    what: str,
    axis: Axis = QUEUE_DEPTH,
    limits: Sequence[tuple[str, float]] = (),
    most_us: float | None = None,
    answer: float | None = None,
) -> Drawn:
    """Draw IOPS above latency, both over queue depth or another axis.

    Parameters
    ----------
    points : DataFrame
        Columns series (a key), the key of the axis, iops and lat_us, a row a point; repeats may be rows of
        their own, and the line goes through their median. A missing latency is NA.
    series : sequence of Series
        One to six; several are named at the right ends of their lines.
    layout : Layout
        The width to draw for.
    what : str
        What the latencies are, such as ``p99``.
    axis : Axis
        What the curves are over.
    limits : sequence of (str, float)
        Names and IOPS of documented limits, dashed lines; one whose name would touch that of an earlier one
        is left out.
    most_us : float, optional
        A latency that is not to be exceeded: a dashed line, above which markers are hollow.
    answer : float, optional
        A place on the axis to mark.

    Returns
    -------
    Drawn
        Markers have the gids ``iops-INDEX`` and ``lat-INDEX``, with ``-over`` above `most_us`.

    Raises
    ------
    InputError
        When no point has a rate.
    """
    rows = points.rename(columns={axis.key: "at"}).dropna(subset=["at", "iops"]).sort_values(["at", "iops"])
    entries = [entry for entry in series if (rows["series"] == entry.key).any()]
    if not entries:
        raise InputError(f"nothing to draw over the {axis.in_sentence}: no run has both one and a rate")
    timed = rows["lat_us"].notna().any()
    with theme(layout):
        labels = EndLabels([(entry, "") for entry in entries], layout) if len(entries) > 1 else None
        shape = (1 + timed, 1)
        how: dict[str, Any] = {"left": 72 if layout.wide else 62, "top": _TOP, "bottom": _BOTTOM}
        height = _TOP + shape[0] * _PANEL_HEIGHT + timed * _GAP + _BOTTOM
        right = labels.margin if labels else 18
        figure, panels = canvas(layout, height, shape=shape, gap=(_GAP, 0), right=right, **how)
        rate, *others = panels[:, 0]
        _set_axis([rate, *others], rows, axis, layout)
        drawn_limits = [*rows["iops"].astype(float), *(value for _, value in limits)]
        scales.set_y([rate], drawn_limits, format_count, log=False)
        y_title(rate, "IOPS", layout)
        for name, value in _apart(rate, limits, layout):
            _limit(rate, rows, name, value, layout)
        titles = _draw(rate, rows, "iops", axis, entries, most_us)
        for latency in others:
            _set_latency(latency, rows, what, most_us, layout)
            titles |= _draw(latency, rows, "lat_us", axis, entries, most_us)
        for panel in (rate, *others) if answer else ():
            panel.axvline(answer, color=NEUTRAL["axis"], linewidth=1, zorder=1)
        if labels:
            ends = {entry.key: _end(rows, entry) for entry in entries}
            labels.draw(rate, ends, lead=False)
    return Drawn(figure, titles, _in_words(rows, what, axis, limits, most_us, answer, entries), layout)


def _set_axis(panels: list[Axes], rows: pd.DataFrame, axis: Axis, layout: Layout) -> None:
    places = sorted(set(rows["at"].astype(float)))
    for panel in panels:
        panel.set_xscale("log")
        panel.set_xlim(places[0] / _AIR, places[-1] * _AIR)
        scales.every_nth(panel, places, [axis.tick(place) for place in places], layout)
    for panel in panels[:-1]:
        panel.tick_params(labelbottom=False)
    panels[-1].set_xlabel(f"{axis.label} (log scale)", loc="left", labelpad=6)


def _set_latency(panel: Axes, rows: pd.DataFrame, what: str, most_us: float | None, layout: Layout) -> None:
    seen = [*rows["lat_us"].dropna().astype(float), *([most_us] if most_us else [])]
    log = scales.is_log(seen)
    scales.set_y([panel], seen, format_us, log=log)
    y_title(panel, f"Latency, {what}{' (log scale)' if log else ''}", layout)
    if most_us:
        _limit(panel, rows, f"limit {format_us(most_us)}", most_us, layout)


def _apart(panel: Axes, limits: Sequence[tuple[str, float]], layout: Layout) -> list[tuple[str, float]]:
    """The limits whose names keep apart, the first before the others."""
    kept: list[tuple[float, tuple[str, float]]] = []
    for name, value in limits:
        y = float(panel.transData.transform((1, value))[1])
        if all(abs(y - other) > 1.5 * layout.small for other, _ in kept):
            kept.append((y, (name, value)))
    return [limit for _, limit in kept]


def _limit(panel: Axes, rows: pd.DataFrame, name: str, value: float, layout: Layout) -> None:
    """A dashed line with its name at the left, above it."""
    panel.axhline(value, color=NEUTRAL["limit"], linewidth=1.5, linestyle=DASHES, zorder=2)
    small: dict[str, Any] = {"size": layout.small, "color": NEUTRAL["ink2"]}
    say(panel, name, (rows["at"].min() / _AIR, value), (4, 9), **small)


def _draw(
    panel: Axes, rows: pd.DataFrame, column: str, axis: Axis, entries: Sequence[Series], most_us: float | None
) -> dict[str, list[str]]:
    """A line a series through the medians of each place, and a marker a point; returns the hover texts."""
    titles = {}
    for entry in entries:
        mine = rows[(rows["series"] == entry.key) & rows[column].notna()]
        typical = mine.groupby("at")[column].median()
        panel.plot(typical.index, typical, color=entry.colour, linewidth=1.5, zorder=3)
        above = (mine["lat_us"] >= most_us).fillna(False) if most_us else pd.Series(False, mine.index)
        for over in (False, True) if most_us else (False,):
            some = mine[above == over]
            gid = f"{column.removesuffix('_us')}-{entry.index}{'-over' * over}"
            panel.plot(some["at"], some[column], gid=gid, **entry.marker(9, hollow=over))
            titles[gid] = [_point(row, axis) for row in some.itertuples()]
    return titles


def _point(row: Any, axis: Axis) -> str:
    latency = "" if pd.isna(row.lat_us) else f", {format_us(row.lat_us)}"
    return f"{axis.in_sentence} {axis.tick(row.at)}: {format_count(round(row.iops))} IOPS{latency}"


def _end(rows: pd.DataFrame, entry: Series) -> tuple[float, float]:
    """The right end of a line."""
    typical = rows[rows["series"] == entry.key].groupby("at")["iops"].median()
    return float(typical.index[-1]), float(typical.iloc[-1])


def _in_words(
    rows: pd.DataFrame,
    what: str,
    axis: Axis,
    limits: Sequence[tuple[str, float]],
    most_us: float | None,
    answer: float | None,
    entries: Sequence[Series],
) -> str:
    said = [
        f"{entry.label}: "
        + "; ".join(_point(row, axis) for row in rows[rows["series"] == entry.key].itertuples())
        for entry in entries
    ]
    lines = [f"{name}: {format_count(value)} IOPS" for name, value in limits]
    if most_us:
        deepest = f"deepest queue below it: {answer:g}" if answer else "no queue depth is below it"
        lines.append(f"Limit of {what}: {format_us(most_us)}; {deepest}")
    return f"IOPS and {what} over {axis.in_sentence}. {'. '.join([*lines, *said])}."
