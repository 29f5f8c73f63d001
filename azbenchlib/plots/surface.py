"""Throughput over record size and file size: the surface that users of iozone know, and the same in numbers.

A surface hides what lies behind its hills and lets nobody read a value, so the map of the same cells stands
beside it, with every figure that has room.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import MB, format_mbps, format_size
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import LEADING, say, text_width
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, size_of, theme

ROW_HEIGHT, LEAST_HEIGHT = 34, 22  # of the map, in pixels: as many rows as it has stand beside the surface
SOLID_WIDTH, SOLID_HEIGHT = 344, 300
_LINE = 16  # in pixels: of what stands below the map
_TEXT = 10.0  # size of a value in its cell
FAINTEST, STRONGEST = 0.06, 0.55  # opacity of a cell; text stays readable on both
VIEW = (24.0, -128.0)  # elevation and azimuth, in degrees: small records and small files in front


def throughput_surface(
    cells: pd.DataFrame,
    series: Sequence[Series],
    layout: Layout,
    *,
    ram_bytes: float | None = None,
    limit: str = "",
) -> Drawn:
    """Draw the throughput of one test as a surface, and as a map with its values.

    Parameters
    ----------
    cells : DataFrame
        Columns bs_bytes (record size), working_set_bytes (file size), bw_bytes_per_s; one row a cell. Where a
        record does not fit into a file there is no row. Optional: limit_bytes_per_s, what is documented for a
        cell; the surface has a dashed line at that level, and the map goes round what is above it.
    series : sequence of Series
        The one setup; its colour is that of surface and map.
    layout : Layout
        The width to draw for; on narrow screens the map stands below.
    ram_bytes : float, optional
        Memory of the machine: files up to that may lie in the page cache, and the map marks where they end.
    limit : str
        Those limits in words.

    Returns
    -------
    Drawn

    Raises
    ------
    InputError
        When there are less than two record sizes or two file sizes.
    """
    table = _table(cells, "bw_bytes_per_s")
    if min(table.shape) < 2:
        sizes = f"{table.shape[1]} record sizes and {table.shape[0]} file sizes"
        raise InputError(f"no surface to draw: it needs two of each, and there are {sizes}")
    values = table.to_numpy(dtype=float, na_value=np.nan)
    limits = _limits_of(cells, table)
    rows_height = len(table) * min(ROW_HEIGHT, max(LEAST_HEIGHT, SOLID_HEIGHT // len(table)))
    below = 52 + (_LINE if limit else 0)
    with theme(layout):
        if layout.wide:
            half, height = SOLID_WIDTH, max(SOLID_HEIGHT + 40, rows_height + 56 + below)
            left, top = half + 70, height - below - rows_height
        else:
            half, height = layout.width, SOLID_HEIGHT + 56 + rows_height + below
            left, top = 62, SOLID_HEIGHT + 56
        figure, panels = canvas(layout, height, left=left, right=8, top=top, bottom=below)
        place = (0, 1 - SOLID_HEIGHT / height, half / layout.width, SOLID_HEIGHT / height)
        _draw_solid(figure, place, table, values, series[0], layout, limits if limit else None)
        _draw_map(panels[0, 0], table, values, series[0], layout)
        if limit:
            _mark_limit(panels[0, 0], values > limits, limit, layout)
        if ram_bytes is not None:
            _mark_ram(panels[0, 0], list(table.index), ram_bytes, layout)
    return Drawn(figure, {}, _in_words(table, series[0], ram_bytes, limit), layout)


def _table(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    return cells.pivot_table(index="working_set_bytes", columns="bs_bytes", values=column)


def _limits_of(cells: pd.DataFrame, table: pd.DataFrame) -> npt.NDArray[np.float64]:
    """The documented limit of each place, also of those that were not measured; NaN: none is known."""
    if "limit_bytes_per_s" not in cells:
        return np.full(table.shape, np.nan)
    by_record = cells.groupby("bs_bytes")["limit_bytes_per_s"].min().reindex(table.columns)
    return np.tile(by_record.to_numpy(dtype=float, na_value=np.nan), (len(table), 1))


def _draw_solid(
    figure: Figure,
    place: tuple[float, float, float, float],
    table: pd.DataFrame,
    values: npt.NDArray[np.float64],
    entry: Series,
    layout: Layout,
    limits: npt.NDArray[np.float64] | None,
) -> None:
    """The surface: each size is as far from the next, and up are MB/s."""
    solid: Any = figure.add_axes(place, projection="3d")
    solid.patch.set_visible(False)
    solid.view_init(*VIEW)
    across, along = np.meshgrid(range(table.shape[1]), range(table.shape[0]))
    solid.plot_surface(
        *(across, along, values / MB),
        color=entry.colour,
        alpha=0.75,
        edgecolor=NEUTRAL["surface"],
        linewidth=0.6,
        shade=False,
    )
    if limits is not None:
        _draw_level(solid, limits / MB)
    top = np.nanmax(values) / MB
    ticks = scales.linear_ticks(top, most=4)
    solid.set_zlim(0, ticks[-1])
    _few(solid.xaxis, [format_size(size) for size in table.columns])
    _few(solid.yaxis, [format_size(size) for size in table.index])
    scales.set_ticks(solid.zaxis, ticks, [format_mbps(tick * MB) for tick in ticks])
    for axis in (solid.xaxis, solid.yaxis, solid.zaxis):
        axis.set_pane_color((0, 0, 0, 0))  # the page shows through
    tell: dict[str, Any] = {"size": layout.small, "color": NEUTRAL["ink2"], "transform": solid.transAxes}
    solid.text2D(0.02, 0.96, "MB/s", **tell)
    solid.text2D(0.04, 0.05, "File size", **tell)
    solid.text2D(0.98, 0.05, "Record size", ha="right", **tell)


def _draw_level(solid: Any, limits: npt.NDArray[np.float64]) -> None:
    """The level of the limit, along the four edges."""
    last_row, last_column = limits.shape[0] - 1, limits.shape[1] - 1
    records, files = np.arange(last_column + 1), np.arange(last_row + 1)
    look: dict[str, Any] = {"color": NEUTRAL["limit"], "linestyle": (0, (4, 2)), "linewidth": 1.2}
    for row in (0, last_row):
        solid.plot(records, np.full(records.shape, row), limits[row], **look)
    for column in (0, last_column):
        solid.plot(np.full(files.shape, column), files, limits[:, column], **look)


def _few(axis: Any, texts: Sequence[str]) -> None:
    """The first, the middle and the last size: more would touch in perspective."""
    places = sorted({0, (len(texts) - 1) // 2, len(texts) - 1})
    scales.set_ticks(axis, places, [texts[place] for place in places])


def _draw_map(
    panel: Axes, table: pd.DataFrame, values: npt.NDArray[np.float64], entry: Series, layout: Layout
) -> None:
    """A cell for every figure, small files below; the stronger the colour, the more MB/s."""
    shares = _shares(values)
    panel.set_xlim(0, table.shape[1])
    panel.set_ylim(0, table.shape[0])
    width = size_of(panel)[0] / table.shape[1]
    for row, column in np.ndindex(*values.shape):
        if np.isnan(values[row, column]):
            continue
        opacity = FAINTEST + (STRONGEST - FAINTEST) * shares[row, column]
        look: dict[str, Any] = {
            "facecolor": entry.colour,
            "alpha": opacity,
            "edgecolor": NEUTRAL["surface"],
            "linewidth": 1,
        }
        panel.add_patch(Rectangle((column, row), 1, 1, **look))
        text = format_mbps(float(values[row, column]))
        if text_width(text, _TEXT) < width - 2:
            how: dict[str, Any] = {"size": _TEXT, "color": NEUTRAL["ink"], "ha": "center"}
            say(panel, text, (column + 0.5, row + 0.5), **how)
    sizes = [format_size(size) for size in table.columns]
    scales.every_nth(panel, [place + 0.5 for place in range(len(sizes))], sizes, layout)
    files = [format_size(size) for size in table.index]
    scales.set_ticks(panel.yaxis, [place + 0.5 for place in range(len(files))], files)
    panel.tick_params(length=0)
    panel.set_xlabel("Record size", loc="left", labelpad=6)
    say(
        panel,
        "MB/s by file size and record size",
        (0, 1),
        (-60, layout.font * LEADING),
        size=layout.font,
        color=NEUTRAL["ink2"],
        xycoords="axes fraction",
    )


def _shares(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """How high each value stands between nothing and the largest; by its logarithm where they spread far."""
    if not scales.is_log(values):
        return values / np.nanmax(values)
    logs = np.log(values)
    low = np.nanmin(logs)
    return (logs - low) / (np.nanmax(logs) - low)


def _mark_limit(panel: Axes, is_above: npt.NDArray[np.bool_], limit: str, layout: Layout) -> None:
    """A line round the cells that are above the limit, and what it is."""
    padded = np.pad(is_above, 1)
    look: dict[str, Any] = {"color": NEUTRAL["limit"], "linewidth": 1.5, "clip_on": False}
    for row, column in np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1]):
        panel.plot([column, column + 1], [row, row], **look)
    for row, column in np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1]):
        panel.plot([column, column], [row, row + 1], **look)
    words = f"outlined: above {limit}" if is_above.any() else f"nothing is above {limit}"
    _say_below(panel, words, layout, _LINE)


def _say_below(panel: Axes, words: str, layout: Layout, below: float = 0) -> None:
    how: dict[str, Any] = {
        "size": layout.small,
        "color": NEUTRAL["ink3"],
        "ha": "right",
        "xycoords": "axes fraction",
    }
    say(panel, words, (1, 0), (0, -40 - below), **how)


def _mark_ram(panel: Axes, files: Sequence[float], ram_bytes: float, layout: Layout) -> None:
    """A line between the files that fit into memory and those that do not."""
    fitting = sum(size <= ram_bytes for size in files)
    panel.axhline(fitting, color=NEUTRAL["limit"], linestyle=(0, (4, 2)), linewidth=1.5, clip_on=False)
    words = f"RAM {format_size(ram_bytes)}: above it, files do not fit"
    if fitting == len(files):
        words = f"all files fit into the RAM of {format_size(ram_bytes)}"
    _say_below(panel, words, layout)


def _in_words(table: pd.DataFrame, entry: Series, ram_bytes: float | None, limit: str) -> str:
    stacked = table.stack()
    (low_at, high_at), low, high = (stacked.idxmin(), stacked.idxmax()), stacked.min(), stacked.max()

    def place(at: tuple[float, float]) -> str:
        return f"records of {format_size(at[1])} in a file of {format_size(at[0])}"

    ram = f" The machine has {format_size(ram_bytes)} of RAM." if ram_bytes is not None else ""
    marked = f" Marked are {limit}." if limit else ""
    ends = f"from {format_mbps(low)} MB/s ({place(low_at)}) to {format_mbps(high)} MB/s ({place(high_at)})"
    return f"Surface and map of throughput over record and file size, {entry.label}: {ends}.{ram}{marked}"
