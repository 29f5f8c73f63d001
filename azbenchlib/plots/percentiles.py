"""Latency at every percentile: how bad the rare slow I/O is."""

from collections.abc import Sequence
from decimal import Decimal

import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.analysis.percentiles import min_samples
from azbenchlib.core.errors import InputError
from azbenchlib.core.histogram import format_percentile
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import format_us
from azbenchlib.plots.drawing import interactive, scales
from azbenchlib.plots.drawing.label_layout import EndLabels, say, y_title
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, theme

MARKED = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999, 99.9999)
REACH = 99.0  # the x axis goes at least as far
TOLD = (50.0, 99.0)  # in the text for those who cannot see the figure, beside the last


def percentile_curves(curves: pd.DataFrame, series: Sequence[Series], layout: Layout) -> Drawn:
    """Draw latency over percentile, on log scales.

    x is 1 / (1 − p), after HdrHistogram: each step to the right is rarer. A hollow marker says that
    fewer I/Os are behind the curve than its percentile needs
    (:func:`~azbenchlib.analysis.percentiles.min_samples`).

    Parameters
    ----------
    curves : DataFrame
        Columns series (a key), percentile (0 to 100), lat_us, n (I/Os behind the curve; NA: not known).
        Left out: rows of series that are not listed, values that are NA or 0 and percentile 100, which
        have no place on log axes.
    series : sequence of Series
        One to six; those without data are left out.
    layout : Layout
        The width to draw for.

    Returns
    -------
    Drawn
        Lines have the gid ``curve-INDEX``, markers ``mark-INDEX-solid`` and ``mark-INDEX-hollow``.

    Raises
    ------
    InputError
        When nothing is left to draw.
    """
    points = _points(curves, series)
    present = [entry for entry in series if (points["series"] == entry.key).any()]
    lasts = {entry.key: points[points["series"] == entry.key].iloc[-1] for entry in present}
    farthest = float(points["percentile"].max())
    labels = EndLabels([(entry, _end_value(lasts[entry.key], farthest)) for entry in present], layout)
    top, bottom = 34, 76 if layout.wide else 54
    height = max(410 if layout.wide else 500, top + bottom + labels.height)
    with theme(layout):
        left = 62 if layout.wide else 56
        figure, panels = canvas(layout, height, left=left, right=labels.margin, top=top, bottom=bottom)
        panel = panels[0, 0]
        _draw_lines(panel, points, present)
        _set_axes(panel, points, farthest, layout)
        titles: dict[str, list[str]] = {}
        for entry in present:
            titles |= _draw_marks(panel, points[points["series"] == entry.key], entry)
        labels.draw(panel, {key: (last["x"], last["lat_us"]) for key, last in lasts.items()})
    return Drawn(figure, titles, _in_words(points, present, farthest), layout)


def _points(curves: pd.DataFrame, series: Sequence[Series]) -> pd.DataFrame:
    """What can be drawn, as plain floats, with its place on the x axis and whether it has enough I/Os."""
    listed = curves["series"].isin([entry.key for entry in series])
    inside = curves["percentile"].between(0, 100, inclusive="neither") & (curves["lat_us"] > 0)
    points = curves[listed & inside.fillna(False)].copy()
    if points.empty:
        raise InputError("no latency percentile to draw: every value is NA, 0 or at percentile 100")
    points["series"] = points["series"].astype(str)
    points["percentile"] = points["percentile"].astype(float)
    points["lat_us"] = points["lat_us"].astype(float)
    points["x"] = 100 / (100 - points["percentile"])
    need = points["percentile"].map(min_samples)
    points["too_few"] = (points["n"].astype("Int64") < need).fillna(False).astype(bool)
    return points.sort_values("percentile", kind="stable", ignore_index=True)


def _name(percentile: float) -> str:
    """``p99.99``; ``g`` would round p99.99999 up to p100."""
    return f"p{percentile:.10g}"


def _end_value(last: pd.Series, farthest: float) -> str:
    """The value at the end of a curve; which percentile that is, where it is not everyone's."""
    value = format_percentile(last["lat_us"])
    return value if last["percentile"] == farthest else f"{value} ({_name(last['percentile'])})"


def _set_axes(panel: Axes, points: pd.DataFrame, farthest: float, layout: Layout) -> None:
    panel.set_xscale("log")
    left, right = min(2.0, points["x"].min()), 100 / (100 - max(REACH, farthest))
    panel.set_xlim(left, right)
    scales.set_y([panel], points["lat_us"], format_us, log=True)
    # the last first: where two would touch, the later in this list gives way
    nines = [99.0, 99.9, 99.99, 99.999, 99.9999]
    wanted = dict.fromkeys([max(REACH, farthest), 50.0, *nines, 90.0, 95.0])
    ticks = [p for p in wanted if left <= 100 / (100 - p) <= right]
    places = [100 / (100 - p) for p in ticks]
    names = [_name(p) for p in ticks]
    kept = scales.keep_apart(panel, places, names, layout)
    scales.set_ticks(panel.xaxis, [places[i] for i in kept], [names[i] for i in kept])
    panel.grid(axis="x")
    if layout.wide:
        _write_odds(panel, [ticks[i] for i in kept], layout)
    y_title(panel, "Latency of one I/O (log scale)", layout)
    panel.set_ylabel("")
    x_title = "Share of I/Os that were slower →" if layout.wide else "Percentile (log scale in 1/(1 − p)) →"
    panel.set_xlabel(x_title, loc="left", labelpad=24 if layout.wide else 6)


def _write_odds(panel: Axes, ticks: Sequence[float], layout: Layout) -> None:
    """``1 in 1,000`` below the ticks, as far as there is room."""
    # of the digits as they are written: in floats, 1 / (1 − 0.999999999) is 1,000,000,083
    places = [float(100 / (100 - Decimal(repr(p)))) for p in ticks]
    odds = [f"1 in {round(place):,}" for place in places]
    below = panel.get_xaxis_transform()
    for i in scales.keep_apart(panel, places, odds, layout):
        at = (places[i], 0)
        say(
            panel,
            odds[i],
            at,
            (0, -31),
            size=layout.small,
            color=NEUTRAL["ink3"],
            xycoords=below,
            ha="center",
        )


def _draw_lines(panel: Axes, points: pd.DataFrame, present: Sequence[Series]) -> None:
    for entry in present:
        curve = points[points["series"] == entry.key]
        (line,) = panel.plot(
            curve["x"], curve["lat_us"], color=entry.colour, gid=f"curve-{entry.index}", label=entry.short
        )
        interactive.carry(line, curve["percentile"])
    interactive.describe(panel, "percentile", "us")


def _draw_marks(panel: Axes, curve: pd.DataFrame, entry: Series) -> dict[str, list[str]]:
    """Markers at the usual percentiles and at the end of the curve; returns their hover texts."""
    titles = {}
    last = curve["percentile"] == curve["percentile"].max()
    marks = curve[curve["percentile"].isin(MARKED) | last]
    for hollow, some in marks.groupby("too_few"):
        gid = f"mark-{entry.index}-{'hollow' if hollow else 'solid'}"
        style = entry.marker(8, hollow=bool(hollow))
        panel.plot(some["x"], some["lat_us"], gid=gid, **style)
        titles[gid] = [_hover(entry, row, bool(hollow)) for _, row in some.iterrows()]
    return titles


def _hover(entry: Series, row: pd.Series, hollow: bool) -> str:
    text = f"{entry.label}, {_name(row['percentile'])}: {format_percentile(row['lat_us'])}"
    if not hollow:
        return text
    return f"{text}; {row['n']:,} I/Os, {min_samples(row['percentile']):,} are needed"


def _in_words(points: pd.DataFrame, present: Sequence[Series], farthest: float) -> str:
    """The chart as a sentence, with the median, p99 and the last percentile of each curve."""
    names = {entry.key: entry.short for entry in present}
    parts = [f"Line chart of latency by percentile; setups: {len(present)}."]
    for percentile in dict.fromkeys([*TOLD, farthest]):
        rows = points[points["percentile"] == percentile]
        values = [f"{names[row['series']]} {format_percentile(row['lat_us'])}" for _, row in rows.iterrows()]
        if values:
            parts.append(f"At {_name(percentile)}: {'; '.join(values)}.")
    return " ".join(parts)
