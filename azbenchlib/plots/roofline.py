"""The roofline of a setup: the most IOPS at each block size, and where IOPS give way to MB/s."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRALS, dark_rules
from azbenchlib.core.units import format_count, format_mbps, format_size
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import EndLabels, y_title
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, theme
from azbenchlib.plots.drawing.svg import inline


def roofline(
    ceilings: pd.DataFrame, series: Sequence[Series], layout: Layout, rates: Sequence[float] = ()
) -> Drawn:
    """Draw the most IOPS over block size, both on log scales: flat under an IOPS limit, falling by the
    block size under a MB/s limit.

    Parameters
    ----------
    ceilings : DataFrame
        Columns series (a key), bs_bytes, iops, crossover_bytes (the block size of the corner, the same in
        every row of a series; NA: it has none). NA for IOPS: no limit is documented; such rows are left
        out. A corner is sharp where its block size is among the rows.
    series : sequence of Series
        One to six; those without data are left out.
    layout : Layout
        The width to draw for.
    rates : sequence of float
        Further IOPS that the axis must reach, such as measured ones above the lines.

    Returns
    -------
    Drawn
        Lines have the gid ``roof-INDEX``, corners ``corner-INDEX``.

    Raises
    ------
    InputError
        When there is no ceiling to draw.
    """
    known = ceilings.dropna(subset=["bs_bytes", "iops"]).sort_values("bs_bytes")
    lines = {entry: known[known["series"] == entry.key] for entry in series}
    lines = {entry: rows for entry, rows in lines.items() if len(rows)}
    if not lines:
        raise InputError("no ceiling to draw: no limit is documented")
    lines = _merged(lines)
    labels = EndLabels([(entry, _end_value(rows, layout)) for entry, rows in lines.items()], layout)
    left, top, bottom = 62 if layout.wide else 56, 34, 52
    with theme(layout):
        height = max(380, top + bottom + labels.height)
        figure, panels = canvas(layout, height, left=left, right=labels.margin, top=top, bottom=bottom)
        panel = panels[0, 0]
        _set_axes(panel, pd.concat(lines.values()), rates, layout)
        for entry, rows in lines.items():
            panel.plot(
                rows["bs_bytes"], rows["iops"], color=entry.colour, gid=f"roof-{entry.index}", zorder=3
            )
        titles = _draw_corners(panel, lines)
        labels.draw(panel, {entry.key: _last(rows) for entry, rows in lines.items()})
    return Drawn(figure, titles, _in_words(lines), layout)


def _merged(lines: Mapping[Series, pd.DataFrame]) -> dict[Series, pd.DataFrame]:
    """Equal ceilings as one line, in the colour of the first and with the names of all."""
    alike: dict[tuple[object, ...], list[Series]] = {}
    for entry, rows in lines.items():
        key = tuple(rows[["bs_bytes", "iops"]].itertuples(index=False, name=None))
        alike.setdefault(key, []).append(entry)
    return {
        replace(
            same[0],
            label=" and ".join(entry.label for entry in same),
            short=" and ".join(entry.short for entry in same),
        ): lines[same[0]]
        for same in alike.values()
    }


def standalone(drawn: Drawn) -> str:
    """The figure as an SVG file of its own, light or dark as the reader's system is."""
    light, dark = NEUTRALS["surface"]
    style = (
        f"<style>.fig{{background:{light}}}@media (prefers-color-scheme: dark)"
        f"{{.fig{{background:{dark}}}{dark_rules()}}}</style>"
    )
    opening, rest = inline(drawn, "roofline").split(">", 1)
    return f"{opening.replace(f'fig-{drawn.layout.name}', 'fig', 1)}>{style}{rest}\n"


def _end_value(rows: pd.DataFrame, layout: Layout) -> str:
    """What the line comes to, and on wide screens from where on."""
    size, iops = _last(rows)
    corner = rows["crossover_bytes"].iloc[0]
    since = f" from {format_size(corner)}" if layout.wide and pd.notna(corner) and corner < size else ""
    return f"{format_mbps(round(size * iops))} MB/s{since}"


def _last(rows: pd.DataFrame) -> tuple[float, float]:
    return float(rows["bs_bytes"].iloc[-1]), float(rows["iops"].iloc[-1])


def _set_axes(panel: Axes, rows: pd.DataFrame, rates: Sequence[float], layout: Layout) -> None:
    """Block sizes below, IOPS to the left, over the same log scales."""
    scales.set_y([panel], np.array([*rows["iops"], *rates], dtype=float), format_count, log=True)
    y_title(panel, "Most IOPS (log scale)", layout)
    low, high = float(rows["bs_bytes"].min()), float(rows["bs_bytes"].max())
    panel.set_xscale("log")
    panel.set_xlim(low, high if high > low else 2 * low)
    ticks = [2.0**power for power in range(9, 31) if low <= 2**power <= high] or [low]
    scales.every_nth(panel, ticks, [format_size(tick) for tick in ticks], layout)
    panel.set_xlabel("Block size (log scale)", loc="left", labelpad=6)


def _draw_corners(panel: Axes, lines: dict[Series, pd.DataFrame]) -> dict[str, list[str]]:
    """A marker at each corner; returns the hover texts."""
    titles: dict[str, list[str]] = {}
    low, high = panel.get_xlim()
    for entry, rows in lines.items():
        corner = rows["crossover_bytes"].iloc[0]
        if pd.isna(corner) or not low <= corner <= high:
            continue
        nearest = rows.iloc[(rows["bs_bytes"] - corner).abs().argmin()]
        panel.plot([corner], [nearest["iops"]], gid=f"corner-{entry.index}", **entry.marker(9))
        text = f"{entry.label}: IOPS limit up to {format_size(corner)}, then MB/s limit"
        titles[f"corner-{entry.index}"] = [text]
    return titles


def _in_words(lines: dict[Series, pd.DataFrame]) -> str:
    """The chart in words: each line's ends, and its corner."""
    parts = []
    for entry, rows in lines.items():
        first, corner = rows.iloc[0], rows["crossover_bytes"].iloc[0]
        size, iops = _last(rows)
        turn = "" if pd.isna(corner) else f", MB/s limit from {format_size(corner)}"
        parts.append(
            f"{entry.label}: {format_count(first['iops'])} IOPS at {format_size(first['bs_bytes'])}{turn}, "
            f"{format_mbps(round(size * iops))} MB/s at {format_size(size)}"
        )
    return f"Roofline: the most IOPS over block size. {'; '.join(parts)}."
