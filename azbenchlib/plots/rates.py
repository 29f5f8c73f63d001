"""Rates of all setups, IOPS beside MB/s, with the documented limits as ticks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import MB, NBSP, format_bound, format_count, format_mbps
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import LEADING, say, text_width, thin, wrap
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, size_of, theme

_MILLION = 10**6
NEAREST = 5.0  # times the rate: a limit farther off would leave no room for the rates
Tick = tuple[float, str]  # a limit in the unit of the panel, and what is written above it
NAMES_WIDTH = 232  # pixels left of the panels, in the wide layout


@dataclass(frozen=True, kw_only=True)
class _Panel:
    """One of the two: the column it shows, in which unit, and how its values read."""

    column: str
    bound: str  # the column that says whether the value is one, or only a bound
    unit: str
    divisor: int
    text: Callable[[float], str]


PANELS = (
    _Panel(column="iops", bound="iops_bound", unit="IOPS", divisor=1, text=format_count),
    _Panel(column="bw_bytes_per_s", bound="bw_bound", unit="MB/s", divisor=MB, text=format_mbps),
)


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One setup: its name and the note below it, broken into lines, and where it stands."""

    series: Series
    name: list[str]
    note: list[str]
    told: str  # name and note in one line
    values: tuple[float, ...]  # one a panel, in its unit; NaN: not stated
    texts: tuple[str, ...]  # the same as they read
    ticks: tuple[tuple[Tick, ...], ...]  # limits, one tuple a panel, in its unit
    top: float
    height: float
    baseline: float  # like `top` in pixels from the top of the panels


def rates_side_by_side(
    rates: pd.DataFrame, series: Sequence[Series], layout: Layout, limits: pd.DataFrame | None = None
) -> Drawn:
    """Draw one row a setup, with its IOPS in one panel and its MB/s in the other.

    Parameters
    ----------
    rates : DataFrame
        Columns series (a key, each once), iops, bw_bytes_per_s (either may be NA: "not stated"; one that is
        NA throughout is left out), note (under which load, such as "4 KiB, QD 8,192"; may be NA),
        and, if wanted, iops_bound and bw_bound (=, >, <, ~).
    series : sequence of Series
        One to six; one without a row in `rates` reads "not stated".
    layout : Layout
        The width to draw for.
    limits : DataFrame, optional
        Columns series, column (iops or bw_bytes_per_s), value and name (such as "disk burst"; may be empty):
        the documented limits, each drawn as a tick in the row of its series. One more than five times the
        rate of its row is left out.

    Returns
    -------
    Drawn
        Markers have the gids ``iops-INDEX`` and ``bw_bytes_per_s-INDEX``, ticks ``tick-INDEX``; throughput is
        drawn in MB/s.

    Raises
    ------
    InputError
        When there is no rate at all.
    """
    table = rates.set_index("series").reindex([entry.key for entry in series])
    panels = [shown for shown in PANELS if table[shown.column].notna().any()]
    if not panels:
        raise InputError("no rates to draw: every value is NA")
    rows = _rows(table, series, panels, layout, limits)
    left = NAMES_WIDTH if layout.wide else 0
    total, top, bottom = rows[-1].top + rows[-1].height, 30, 28
    with theme(layout):
        figure, axes = canvas(
            layout,
            total + top + bottom,
            left=left,
            right=0,
            top=top,
            bottom=bottom,
            shape=(1, len(panels)),
            gap=(0, 32 if layout.wide else 20),
        )
        _write_names(axes[0, 0], rows, left, layout)
        titles: dict[str, list[str]] = {}
        for i, (axis, shown) in enumerate(zip(axes[0], panels, strict=True)):
            axis.set_ylim(total, 0)
            _set_x(axis, [value for row in rows for value in _drawn(row, i)], shown, layout)
            for row in rows:
                titles |= _draw_rate(axis, row, i, shown, layout)
                _draw_ticks(axis, row, i, layout)
    return Drawn(figure, titles, _in_words(rows, panels), layout)


def _rows(
    table: pd.DataFrame,
    series: Sequence[Series],
    panels: Sequence[_Panel],
    layout: Layout,
    limits: pd.DataFrame | None,
) -> list[_Row]:
    """The rows from top to bottom, each as high as its words need."""
    width = NAMES_WIDTH - 16 if layout.wide else layout.width
    notes = table["note"].astype("string").fillna("")
    columns = [table[shown.column].to_numpy(dtype=float, na_value=np.nan) / shown.divisor for shown in panels]
    texts = [_texts(table, shown) for shown in panels]
    rows: list[_Row] = []
    top = 0.0
    for entry, note, values, told in zip(
        series, notes, zip(*columns, strict=True), zip(*texts, strict=True), strict=True
    ):
        name = wrap(entry.label, width, layout.font, bold=True)
        small = wrap(note, width, layout.small)
        words = (len(name) * layout.font + len(small) * layout.small) * LEADING
        ticks = tuple(
            _ticks(limits, entry.key, shown, value) for shown, value in zip(panels, values, strict=True)
        )
        above = 14 if any(ticks) else 0  # for the names of the limits
        height = max(60 + above, words + 20) if layout.wide else words + 62 + above
        baseline = top + (height / 2 + above / 2 if layout.wide else words + 24 + above)
        rows.append(
            _Row(
                series=entry,
                name=name,
                note=small,
                told=", ".join(filter(None, [entry.label, note])),
                values=values,
                texts=told,
                ticks=ticks,
                top=top,
                height=height,
                baseline=baseline,
            )
        )
        top += height
    return rows


def _ticks(limits: pd.DataFrame | None, key: str, shown: _Panel, value: float) -> tuple[Tick, ...]:
    """The limits of a row that are near its rate, in the unit of the panel; equal ones are one."""
    if limits is None or np.isnan(value):
        return ()
    mine = limits[(limits["series"] == key) & (limits["column"] == shown.column)]
    found: dict[float, list[str]] = {}
    for limit, name in zip(mine["value"].astype(float) / shown.divisor, mine["name"], strict=True):
        if limit <= NEAREST * value:
            found.setdefault(limit, []).extend([str(name)] if name else [])
    return tuple(
        (limit, " ".join([shown.text(limit * shown.divisor), ", ".join(names)]).strip())
        for limit, names in sorted(found.items(), key=lambda one: abs(np.log(one[0] / value)) if value else 0)
    )


def _drawn(row: _Row, i: int) -> list[float]:
    """What a row needs of the x axis in the i-th panel."""
    return [row.values[i], *(limit for limit, _ in row.ticks[i])]


def _draw_ticks(panel: Axes, row: _Row, i: int, layout: Layout) -> None:
    """The limits as upright lines, with their values above as far as there is room; the nearest first."""
    if not row.ticks[i]:
        return
    width, _ = size_of(panel)
    halves = [text_width(text, layout.small) / 2 for _, text in row.ticks[i]]
    pixels = [scales.x_pixel(panel, limit) for limit, _ in row.ticks[i]]
    inside = [min(max(at, half), width - half) for at, half in zip(pixels, halves, strict=True)]
    kept = thin(inside, [2 * half for half in halves], gap=8)
    for n, (limit, text) in enumerate(row.ticks[i]):
        panel.plot(
            [limit] * 2,
            [row.baseline - 10, row.baseline + 10],
            color=NEUTRAL["limit"],
            linewidth=2,
            zorder=3,
            gid=f"tick-{row.series.index}",
        )
        if n in kept:
            shift = (inside[n] - pixels[n], 20)
            how: dict[str, Any] = {"size": layout.small, "color": NEUTRAL["ink2"], "ha": "center"}
            say(panel, text, (limit, row.baseline), shift, **how)


def _texts(table: pd.DataFrame, shown: _Panel) -> list[str]:
    """A column as it reads, bounds included; empty where nothing is stated."""
    bounds = table[shown.bound] if shown.bound in table else ["="] * len(table)
    return [
        "" if pd.isna(value) else format_bound(bound) + shown.text(float(value))
        for value, bound in zip(table[shown.column], bounds, strict=True)
    ]


def _write_names(panel: Axes, rows: Sequence[_Row], left: float, layout: Layout) -> None:
    """Names and notes, and the lines between the rows, over the whole width of the figure."""
    tell = partial(say, panel, xycoords=panel.get_yaxis_transform())
    width, _ = size_of(panel)
    for row in rows:
        name, note = len(row.name) * layout.font * LEADING, len(row.note) * layout.small * LEADING
        first = row.baseline - (name + note) / 2 if layout.wide else row.top + 8
        at = (0, first + name / 2)
        tell(row.name, at, (-left, 0), size=layout.font, color=row.series.colour, weight="bold")
        at = (0, first + name + note / 2)
        tell(row.note, at, (-left, 0), size=layout.small, color=NEUTRAL["ink3"])
    for row in rows[1:]:
        across = [-left / width, (layout.width - left) / width]
        (line,) = panel.plot(across, [row.top] * 2, color=NEUTRAL["wash"], linewidth=1, clip_on=False)
        line.set_transform(panel.get_yaxis_transform())


def _set_x(panel: Axes, values: Sequence[float], shown: _Panel, layout: Layout) -> None:
    """Limits, ticks and the title above; the outer ticks stand inside so that their texts fit."""
    log = scales.is_log(values)
    width, _ = size_of(panel)
    numbers = scales.finite(values)
    if log:
        powers = np.arange(np.floor(np.log10(numbers.min())), np.ceil(np.log10(numbers.max())) + 1)
        ticks = [float(tick) for tick in 10**powers]
    else:
        ticks = scales.linear_ticks(float(numbers.max(initial=0)), most=4 if layout.wide else 2)
    texts = [_tick(tick) for tick in ticks]
    pad = max(text_width(text, layout.small) for text in texts) / 2
    share = pad / (width - 2 * pad)
    panel.set_xscale("log" if log else "linear")
    if log:
        air = (ticks[-1] / ticks[0]) ** share
        panel.set_xlim(ticks[0] / air, ticks[-1] * air)
    else:
        panel.set_xlim(-ticks[-1] * share, ticks[-1] * (1 + share))
    scales.every_nth(panel, ticks, texts, layout)
    panel.set_yticks([])
    title = shown.unit + (" (log scale)" if log else "")
    say(panel, title, (0, 1), (0, 16), xycoords="axes fraction", color=NEUTRAL["ink2"], size=layout.font)


def _tick(value: float) -> str:
    """``10,000``, ``1 M``, ``0.01``: short, and never rounded."""
    if value >= _MILLION:
        return f"{value / _MILLION:g}{NBSP}M"
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def _draw_rate(panel: Axes, row: _Row, i: int, shown: _Panel, layout: Layout) -> dict[str, list[str]]:
    """The row's line, marker and value in the i-th panel; returns the hover text."""
    value, text = row.values[i], row.texts[i]
    low, high = panel.get_xlim()
    if np.isnan(value):
        say(panel, "not stated", (low, row.baseline), size=layout.small, color=NEUTRAL["ink3"])
        return {}
    panel.plot([low, high], [row.baseline] * 2, color=NEUTRAL["grid"], linewidth=1, zorder=1)
    gid = f"{shown.column}-{row.series.index}"
    panel.plot([value], [row.baseline], gid=gid, **row.series.marker(11.5))
    half = text_width(text, layout.font, bold=True) / 2
    width, _ = size_of(panel)
    pixel = scales.x_pixel(panel, value)
    inside = min(max(pixel, half), width - half)
    how: dict[str, Any] = {"size": layout.font, "color": row.series.colour, "weight": "bold"}
    say(panel, text, (value, row.baseline), (inside - pixel, -20), ha="center", **how)
    return {gid: [f"{row.told}: {text} {shown.unit}"]}


def _in_words(rows: Sequence[_Row], panels: Sequence[_Panel]) -> str:
    """The figure as a sentence."""
    parts = []
    for row in rows:
        told = [
            f"{text} {shown.unit}" if text else f"{shown.unit} not stated"
            for text, shown in zip(row.texts, panels, strict=True)
        ]
        parts.append(f"{row.told}: {', '.join(told)}")
    return f"Dot chart of rates. {'; '.join(parts)}."
