"""Cuts through the surface of iozone: throughput over one size, a line for each of what is compared."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import format_mbps, format_size
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import EndLabels, say, y_title
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, theme

RECORD, FILE_SIZE = "Record size", "File size"


def throughput_slices(
    rows: pd.DataFrame,
    series: Sequence[Series],
    layout: Layout,
    *,
    over: str = RECORD,
    ram_bytes: float | None = None,
) -> Drawn:
    """Draw throughput over a size, on one axis for all lines: what has axes of its own cannot be compared.

    Parameters
    ----------
    rows : DataFrame
        Columns series (a key), size_bytes, bw_bytes_per_s. Rows of series that are not listed are left out.
    series : sequence of Series
        One to six; those without data are left out.
    layout : Layout
        The width to draw for.
    over : str
        What the size is of, as the axis says it.
    ram_bytes : float, optional
        Memory of the machine, marked where the sizes are of files.

    Returns
    -------
    Drawn
        Lines have the gid ``slice-INDEX``, and a marker at each figure.

    Raises
    ------
    InputError
        When there is nothing to draw.
    """
    known = rows.dropna(subset=["size_bytes", "bw_bytes_per_s"]).sort_values("size_bytes")
    lines = {entry: known[known["series"] == entry.key] for entry in series}
    lines = {entry: mine for entry, mine in lines.items() if len(mine)}
    if not lines:
        raise InputError(f"no throughput over {over.lower()} to draw: no run has both")
    whole = pd.concat(lines.values())
    medians = {entry: float(mine["bw_bytes_per_s"].median()) for entry, mine in lines.items()}
    labels = EndLabels([(entry, f"median {format_mbps(rate)}") for entry, rate in medians.items()], layout)
    left, top, bottom = 62 if layout.wide else 56, 34, 52
    titles = {}
    with theme(layout):
        height = max(360, top + bottom + labels.height)
        figure, panels = canvas(layout, height, left=left, right=labels.margin, top=top, bottom=bottom)
        panel = panels[0, 0]
        rates = whole["bw_bytes_per_s"].to_numpy(dtype=float)
        log = scales.is_log(rates)
        scales.set_y([panel], rates, format_mbps, log=log)
        y_title(panel, "MB/s (log scale)" if log else "MB/s", layout)
        _set_x(panel, whole["size_bytes"].astype(float), over, layout)
        if ram_bytes is not None and over == FILE_SIZE:
            _mark_ram(panel, ram_bytes, layout)
        for entry, mine in lines.items():
            sizes, values = mine["size_bytes"].astype(float), mine["bw_bytes_per_s"].astype(float)
            panel.plot(sizes, values, color=entry.colour, zorder=3)
            panel.plot(sizes, values, gid=f"slice-{entry.index}", **entry.marker(7))
            titles[f"slice-{entry.index}"] = [
                f"{entry.label}: {format_mbps(rate)} MB/s at {format_size(size)}"
                for size, rate in zip(sizes, values, strict=True)
            ]
        ends = _ends(lines)
        labels.draw(panel, ends)
    return Drawn(figure, titles, _in_words(lines, over), layout)


def _ends(lines: dict[Series, pd.DataFrame]) -> dict[str, tuple[float, float]]:
    """The last point of each line."""
    return {
        entry.key: (float(mine["size_bytes"].iloc[-1]), float(mine["bw_bytes_per_s"].iloc[-1]))
        for entry, mine in lines.items()
    }


def _set_x(panel: Axes, sizes: pd.Series, over: str, layout: Layout) -> None:
    low, high = float(sizes.min()), float(sizes.max())
    panel.set_xscale("log")
    panel.set_xlim(low / 1.15, (high if high > low else 2 * low) * 1.15)
    ticks = sorted({float(size) for size in sizes})
    scales.every_nth(panel, ticks, [format_size(tick) for tick in ticks], layout)
    panel.set_xlabel(f"{over} (log scale)", loc="left", labelpad=6)


def _mark_ram(panel: Axes, ram_bytes: float, layout: Layout) -> None:
    """A line at the size of the memory, where it lies within the axis."""
    low, high = panel.get_xlim()
    if low <= ram_bytes <= high:
        panel.axvline(ram_bytes, color=NEUTRAL["limit"], linestyle=(0, (4, 2)), linewidth=1.5, zorder=2)
        how: dict[str, Any] = {
            "size": layout.small,
            "color": NEUTRAL["ink3"],
            "xycoords": panel.get_xaxis_transform(),
        }
        say(panel, f"RAM {format_size(ram_bytes)}", (ram_bytes, 1.0), (4, -8), **how)


def _in_words(lines: dict[Series, pd.DataFrame], over: str) -> str:
    parts = []
    for entry, mine in lines.items():
        rates = mine["bw_bytes_per_s"]
        parts.append(f"{entry.label}: {format_mbps(rates.min())} to {format_mbps(rates.max())} MB/s")
    return f"Throughput over {over.lower()}. {'; '.join(parts)}."
