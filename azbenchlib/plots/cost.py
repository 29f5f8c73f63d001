"""Prices: what each way to buy costs over a demand, and where the lines cross."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import format_count, format_money
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import EndLabels, say, text_width, y_title
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, size_of, theme

_TOP, _BOTTOM = 34, 52
DROP = (0, (2, 3))
MARKER, _RING = 8.0, 11.0
AIR = 1.15


@dataclass(frozen=True)
class Scale:
    """What the axes measure.

    Parameters
    ----------
    x : str
        Title of the x axis, such as ``IOPS on average over the month``.
    price : str
        Title of the y axis, such as ``USD a month``.
    x_text : callable
        How a figure of the x axis reads.
    ratios : bool
        Whether both axes are logarithmic whatever they span: then equal steps are equal ratios.
    """

    x: str
    price: str
    x_text: Callable[[float], str] = format_count
    ratios: bool = False


@dataclass(frozen=True)
class Crossing:
    """A point at which another way becomes the cheapest, and what is written beside it."""

    x: float
    price: float
    text: str


def price_lines(
    curves: pd.DataFrame,
    series: Sequence[Series],
    scale: Scale,
    layout: Layout,
    crossings: Sequence[Crossing] = (),
) -> Drawn:
    """Draw the price of each way over the demand, with a ring where two of them cost the same.

    Parameters
    ----------
    curves : DataFrame
        Columns series (a key), x, price (NA: cannot be met, or not priced; such rows are left out) and, if
        wanted, best (whether it is the cheapest there) and what (shown on hover): then each row has a
        marker, filled where it is the cheapest.
    series : sequence of Series
        One to six; those without a price are left out.
    scale : Scale
    layout : Layout
        The width to draw for.
    crossings : sequence of Crossing

    Returns
    -------
    Drawn
        Lines have the gid ``price-INDEX``, markers ``best-INDEX`` and ``other-INDEX``, rings ``crossing``.

    Raises
    ------
    InputError
        When there is no price to draw.
    """
    known = curves.dropna(subset=["x", "price"]).sort_values("x")
    lines = {entry: known[known["series"] == entry.key] for entry in series}
    lines = {entry: rows for entry, rows in lines.items() if len(rows)}
    if not lines:
        raise InputError("no price to draw: every value is NA")
    labels = EndLabels([(e, format_money(_last(rows)[1])) for e, rows in lines.items()], layout)
    widest = format_money(10.0 ** math.ceil(math.log10(known["price"].max() or 1)))
    left = max(62 if layout.wide else 56, text_width(widest, layout.small) + 12)
    height = max(380, _TOP + _BOTTOM + labels.height)
    with theme(layout):
        figure, panels = canvas(layout, height, left=left, right=labels.margin, top=_TOP, bottom=_BOTTOM)
        panel = panels[0, 0]
        _set_axes(panel, pd.concat(lines.values()), scale, layout)
        titles: dict[str, list[str]] = {}
        for entry, rows in lines.items():
            panel.plot(rows["x"], rows["price"], color=entry.colour, gid=f"price-{entry.index}", zorder=3)
            if "best" in rows:
                titles |= _draw_markers(panel, entry, rows, scale)
        titles |= _draw_crossings(panel, crossings, layout)
        labels.draw(panel, {entry.key: _last(rows) for entry, rows in lines.items()})
    return Drawn(figure, titles, _in_words(lines, scale, crossings), layout)


def _last(rows: pd.DataFrame) -> tuple[float, float]:
    return float(rows["x"].iloc[-1]), float(rows["price"].iloc[-1])


def _set_axes(panel: Axes, rows: pd.DataFrame, scale: Scale, layout: Layout) -> None:
    """Each axis linear from zero, or logarithmic where the values spread too far for that."""
    x, price = (rows[name].to_numpy(dtype=float) for name in ("x", "price"))
    log = scale.ratios or scales.is_log(price)
    scales.set_y([panel], price, format_money, log=log)
    y_title(panel, scale.price + (" (log scale)" if log else ""), layout)
    width, _ = size_of(panel)
    log_x = scale.ratios or scales.is_log(x)
    if log_x:
        low, high = float(x.min()), float(x.max())
        air = AIR if "best" in rows else 1.0  # so that no marker stands upon the axis
        low, high = low / air, high * air
        panel.set_xscale("log")
        panel.set_xlim(low, high)
        ticks = scales.log_ticks(low, high, width)
        ticks = ticks if len(ticks) > 1 else [low, high]
    else:
        ticks = scales.linear_ticks(float(x.max()), most=max(2, int(width / 70)))
        ticks = [tick for tick in ticks if tick <= x.max()]
        panel.set_xlim(0, float(x.max()) or 1)
    texts = [scale.x_text(tick) for tick in ticks]
    kept = scales.keep_apart(panel, ticks, texts, layout)
    scales.set_ticks(panel.xaxis, [ticks[i] for i in kept], [texts[i] for i in kept])
    panel.set_xlabel(scale.x + (" (log scale)" if log_x else ""), loc="left", labelpad=6)


def _draw_markers(panel: Axes, entry: Series, rows: pd.DataFrame, scale: Scale) -> dict[str, list[str]]:
    """Filled where this way is the cheapest; returns the hover texts."""
    titles = {}
    for name, some in (("best", rows[rows["best"]]), ("other", rows[~rows["best"]])):
        if some.empty:
            continue
        gid = f"{name}-{entry.index}"
        panel.plot(some["x"], some["price"], gid=gid, **entry.marker(MARKER, hollow=name == "other"))
        titles[gid] = [
            f"{row.what}: {format_money(row.price)} {scale.price}, {scale.x_text(row.x)} {scale.x}"
            for row in some.itertuples()
        ]
    return titles


def _draw_crossings(panel: Axes, crossings: Sequence[Crossing], layout: Layout) -> dict[str, list[str]]:
    """A ring, a line down to the axis, and the figure to the upper left, where neither line runs."""
    if not crossings:
        return {}
    floor = panel.get_ylim()[0]
    for one in crossings:
        panel.plot([one.x] * 2, [floor, one.price], color=NEUTRAL["limit"], linewidth=1.2, linestyle=DROP)
        half = text_width(one.text, layout.small, bold=True)
        room = scales.x_pixel(panel, one.x) - 8 >= half
        shift, align = ((-8.0, 14.0), "right") if room else ((8.0, -14.0), "left")
        how: dict[str, Any] = {"size": layout.small, "color": NEUTRAL["ink"], "weight": "bold", "ha": align}
        say(panel, one.text, (one.x, one.price), shift, **how)
    ring: dict[str, Any] = {
        "marker": "o",
        "markersize": _RING,
        "linestyle": "",
        "markeredgewidth": 2,
        "zorder": 5,
    }
    xs, prices = [one.x for one in crossings], [one.price for one in crossings]
    ring |= {"markerfacecolor": NEUTRAL["surface"], "markeredgecolor": NEUTRAL["ink"], "markeredgewidth": 2}
    panel.plot(xs, prices, gid="crossing", clip_on=False, **ring)
    return {"crossing": [one.text for one in crossings]}


def _in_words(lines: dict[Series, pd.DataFrame], scale: Scale, crossings: Sequence[Crossing]) -> str:
    """The chart in words: both ends of each line, or its only point, and the crossings."""
    parts = []
    for entry, rows in lines.items():
        (low, high), (first, last) = rows["x"].iloc[[0, -1]], rows["price"].iloc[[0, -1]]
        ends = [
            f"{format_money(first)} at {scale.x_text(low)}",
            f"{format_money(last)} at {scale.x_text(high)}",
        ]
        parts.append(f"{entry.label}: {', '.join(ends[: len(rows)])}")
    text = f"Chart of {scale.price} over {scale.x}. {'; '.join(parts)}."
    if crossings:
        text += f" Lines cross at {'; '.join(one.text for one in crossings)}."
    return text
