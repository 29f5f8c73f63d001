"""The portrait of a probed disk: its roofline, its latency over load, its credits over time, its cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.core.palette import MARKER_CHARS, NEUTRAL
from azbenchlib.core.units import S_PER_MIN, format_count, format_mbps, format_size, format_us
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import say, text_width, wrap
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, theme

_PANEL_HEIGHT, _TOP, _BOTTOM, _ROW_GAP = 210, 60, 50, 104
_AIR = 1.15  # on each side of a logarithmic x axis
_WAYS = {"read": Series("read", "Reads", "Reads", 0), "write": Series("write", "Writes", "Writes", 1)}
_STOCKS: dict[str, tuple[str, Callable[[float], str]]] = {
    "iops": ("I/Os", lambda value: format_count(round(value))),
    "bytes_per_s": ("MB", format_mbps),
}


@dataclass(frozen=True, kw_only=True)
class PortraitData:
    """What a portrait is drawn from.

    Parameters
    ----------
    roof : DataFrame
        Columns ddir, bs_bytes, low, iops, high, as :func:`azbenchlib.probing.curves.roof` gives.
    response : DataFrame
        Columns ddir, queue_depth, low, lat_mean_us, high, as
        :func:`azbenchlib.probing.curves.response` gives.
    credits : DataFrame
        Columns quantity, t_s and left (I/Os or bytes), as :func:`azbenchlib.probing.drain.bucket_over_time`
        gives; empty: no burst that ends was seen.
    steps : DataFrame
        Columns set_bytes and p50_us, a row a working set; empty: no cache was looked for.
    """

    roof: pd.DataFrame
    response: pd.DataFrame
    credits: pd.DataFrame
    steps: pd.DataFrame


Panel = Callable[[Axes, Layout], dict[str, list[str]]]


def probe_portrait(found: PortraitData, layout: Layout) -> Drawn:
    """Draw what a probe found, two panels beside each other, or one below the other.

    Returns
    -------
    Drawn
        Bands are 95 % intervals. Lines have gids such as ``roof-0``, with the number of their series.
    """
    panels: list[tuple[str, Panel]] = [
        ("Most IOPS by block size", partial(_roof, found.roof)),
        ("Mean latency of 4 KiB by queue depth", partial(_response, found.response)),
    ]
    for quantity, rows in found.credits.groupby("quantity", sort=False):
        stock = _STOCKS[str(quantity)][0]
        panels.append((f"Credits left over time, {stock}", partial(_credits, rows, str(quantity))))
    if len(found.steps):
        panels.append(("Median latency by working set", partial(_stairs, found.steps)))
    columns = 2 if layout.wide else 1
    rows_ = -(-len(panels) // columns)
    height = _TOP + rows_ * _PANEL_HEIGHT + (rows_ - 1) * _ROW_GAP + _BOTTOM
    titles: dict[str, list[str]] = {}
    with theme(layout):
        left = 74 if layout.wide else 62
        figure, axes = canvas(
            layout,
            height,
            left=left,
            right=20,
            top=_TOP,
            bottom=_BOTTOM,
            shape=(rows_, columns),
            gap=(_ROW_GAP, left + 20),
        )
        places: list[Axes] = axes.ravel().tolist()
        for panel, (title, draw) in zip(places, panels, strict=False):
            titles |= draw(panel, layout)
            _head(panel, title, layout)
        for panel in places[len(panels) :]:
            panel.remove()
    return Drawn(figure, titles, _in_words([title for title, _ in panels], titles), layout)


def _head(panel: Axes, title: str, layout: Layout) -> None:
    """The title of a panel, from the left edge of its axis texts."""
    left = -62 if layout.wide else -panel.bbox.x0
    say(
        panel,
        title,
        (0, 1),
        (left, 38),
        size=layout.font,
        color=NEUTRAL["ink"],
        weight="bold",
        xycoords="axes fraction",
    )


def _roof(roof: pd.DataFrame, panel: Axes, layout: Layout) -> dict[str, list[str]]:
    return _curves(panel, roof, ("bs_bytes", format_size), ("iops", _rate), "roof", layout)


def _response(response: pd.DataFrame, panel: Axes, layout: Layout) -> dict[str, list[str]]:
    x = ("queue_depth", lambda value: f"QD\N{NO-BREAK SPACE}{value:g}")
    return _curves(panel, response, x, ("lat_mean_us", format_us), "response", layout)


def _rate(value: float) -> str:
    return f"{format_count(round(value) if value >= 1 else value)}"


def _curves(
    panel: Axes,
    rows: pd.DataFrame,
    x: tuple[str, Callable[[float], str]],
    y: tuple[str, Callable[[float], str]],
    name: str,
    layout: Layout,
) -> dict[str, list[str]]:
    """A line with its band for each direction, both axes logarithmic; returns the hover texts."""
    (column, x_text), (value, y_text) = x, y
    _set_log_x(panel, rows[column], x_text, layout)
    scales.set_y([panel], [*rows["low"], *rows["high"]], y_text, log=True)
    titles = {}
    for ddir, entry in _WAYS.items():
        own = rows[rows["ddir"] == ddir].sort_values(column)
        panel.fill_between(own[column], own["low"], own["high"], color=entry.colour, alpha=0.18, linewidth=0)
        panel.plot(own[column], own[value], color=entry.colour, linewidth=1.5, zorder=3)
        gid = f"{name}-{entry.index}"
        panel.plot(own[column], own[value], gid=gid, **entry.marker(9 - 4 * entry.index))  # both are seen
        titles[gid] = [
            f"{entry.label}, {x_text(getattr(row, column))}: {y_text(getattr(row, value))} "
            f"({y_text(row.low)} to {y_text(row.high)})"
            for row in own.itertuples()
        ]
    _legend(panel, layout)
    return titles


def _legend(panel: Axes, layout: Layout) -> None:
    """Which colour is which direction, above the panel."""
    for entry, shift in zip(_WAYS.values(), (0, 66), strict=True):
        at = (panel.bbox.width - 122 + shift, 16)
        say(
            panel,
            f"{MARKER_CHARS[entry.index]} {entry.label}",
            (0, 1),
            at,
            size=layout.small,
            color=entry.colour,
            xycoords="axes fraction",
        )


def _set_log_x(panel: Axes, values: pd.Series, text: Callable[[float], str], layout: Layout) -> None:
    places = sorted(set(values.astype(float)))
    panel.set_xscale("log")
    panel.set_xlim(places[0] / _AIR, places[-1] * _AIR)
    scales.every_nth(panel, places, [text(place) for place in places], layout)


def _credits(rows: pd.DataFrame, quantity: str, panel: Axes, layout: Layout) -> dict[str, list[str]]:
    """What is left in the bucket, over minutes from the first full load on."""
    stock, told = _STOCKS[quantity]
    minutes = (rows["t_s"] - rows["t_s"].iloc[0]) / S_PER_MIN
    scales.set_y([panel], rows["left"].astype(float), told, log=False)
    ticks = scales.linear_ticks(float(minutes.max()), 5)
    panel.set_xlim(0, max(float(minutes.max()), ticks[1]))
    scales.every_nth(panel, ticks, [f"{tick:g}" for tick in ticks], layout)
    panel.set_xlabel("Minutes", loc="left")
    panel.plot(minutes, rows["left"], color=_WAYS["read"].colour, linewidth=1.5, zorder=3)
    gid = f"credits{quantity.replace('_', '')}-0"
    panel.plot(minutes, rows["left"], gid=gid, **_WAYS["read"].marker(5))
    return {
        gid: [
            f"after {minute:.3g} min: {told(left)} {stock}"
            for minute, left in zip(minutes, rows["left"], strict=True)
        ]
    }


def _stairs(steps: pd.DataFrame, panel: Axes, layout: Layout) -> dict[str, list[str]]:
    """The median latency of single reads within each working set, in their order of size."""
    rows = steps.sort_values("set_bytes")
    _set_log_x(panel, rows["set_bytes"], format_size, layout)
    scales.set_y([panel], rows["p50_us"].astype(float), format_us, log=scales.is_log(rows["p50_us"]))
    panel.plot(rows["set_bytes"], rows["p50_us"], color=_WAYS["read"].colour, linewidth=1.5, zorder=3)
    panel.plot(rows["set_bytes"], rows["p50_us"], gid="stairs-0", **_WAYS["read"].marker(6))
    return {
        "stairs-0": [f"{format_size(row.set_bytes)}: {format_us(row.p50_us)}" for row in rows.itertuples()]
    }


def _in_words(names: Sequence[str], titles: dict[str, list[str]]) -> str:
    told = "; ".join(text for texts in titles.values() for text in texts)
    return f"{', '.join(names)}. {told}."


_ROW, _BAR, _LINE = 24, 9, 15


@dataclass(frozen=True, kw_only=True)
class RunWorth:
    """A run in the order in which they were chosen: what it was, what it showed, and its worth in nats."""

    title: str
    showed: str
    nats: float


def run_worths(runs: Sequence[RunWorth], layout: Layout) -> Drawn:
    """Draw what each run was expected to tell when it was chosen: a bar a run, the first on top.

    Returns
    -------
    Drawn
        Each bar has its run's load and what it showed beside it.
    """
    loads, showed = [run.title for run in runs], [run.showed for run in runs]
    widest = [max(text_width(told, layout.small) for told in some) for some in (loads, showed)]
    left = sum(widest) + 66 if layout.wide else 30
    over = [] if layout.wide else [_wrapped(run, layout) for run in runs]  # what stands above each bar
    row = _ROW + max(map(len, over), default=0) * _LINE
    with theme(layout):
        figure, axes = canvas(layout, len(runs) * row + 12, left=left, right=64, top=6, bottom=6)
        panel = axes[0, 0]
        panel.set(xlim=(0, max(run.nats for run in runs) or 1.0), ylim=(len(runs) * row, 0))
        panel.set_axis_off()
        for i, run in enumerate(runs):
            middle = (i + 1) * row - _ROW / 2
            panel.barh(middle, run.nats, height=_BAR, color=NEUTRAL["ink2"])
            tell = partial(say, panel, size=layout.small)
            tell(f"{run.nats:.1f}", (run.nats, middle), (6, 0), color=NEUTRAL["ink2"])
            if layout.wide:
                tell(str(i + 1), (0, middle), (28 - left, 0), color=NEUTRAL["ink3"], ha="right")
                tell(run.title, (0, middle), (36 - left, 0), color=NEUTRAL["ink"])
                tell(run.showed, (0, middle), (-10, 0), color=NEUTRAL["ink2"], ha="right")
                continue
            tell(str(i + 1), (0, middle), (-8, 0), color=NEUTRAL["ink3"], ha="right")
            above = middle - _BAR - len(over[i]) * _LINE / 2
            tell(over[i], (0, above), color=NEUTRAL["ink"], leading=_LINE / layout.small)
    told = "; ".join(
        f"run {i}, {run.title}: {run.showed}, {run.nats:.1f} nats" for i, run in enumerate(runs, 1)
    )
    return Drawn(figure, {}, f"What each run was expected to tell: {told}.", layout)


def _wrapped(run: RunWorth, layout: Layout) -> list[str]:
    return wrap(f"{run.title}: {run.showed}", layout.width - 40, layout.small)
