"""How limits work, as pictures: places of a queue, limits on the way of a load, burst credits, a cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import MS_PER_S, US_PER_S, format_count
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.cells import rectangles
from azbenchlib.plots.drawing.label_layout import LEADING, say, text_width, wrap
from azbenchlib.plots.drawing.style import DASHES, Drawn, Layout, Series, canvas, theme

PLACES = ["queue", "place", "submitted_s", "admitted_s", "completed_s"]
_SAME_S = 1e-9  # one instant, but for rounding
_LANE, _BAR = 15, 0.72  # pixels of a place, and the share of it that a bar has
_TOP, _BOTTOM, _GAP, _SIDE = 40, 46, 40, 22
_VESSEL = 130  # pixels of height
_OUTLINE: dict[str, Any] = {
    "facecolor": NEUTRAL["wash"],
    "edgecolor": NEUTRAL["limit"],
    "linewidth": 1,
    "zorder": 2,
}
_STAGE, _TALL, _NAME = 34, 26, 230  # pixels of a limit, its bar, and its name beside it


def in_places(ios: pd.DataFrame, queue: str, start_s: float, until_s: float) -> pd.DataFrame:
    """Give each I/O of a load the place of the queue that it held.

    Parameters
    ----------
    ios : DataFrame
        From :func:`azbenchlib.lab.engine.simulate.simulate`.
    queue : str
        What the load is called.
    start_s, until_s : float
        Of the run: what is outstanding in between is kept, with times from the start on.

    Returns
    -------
    DataFrame
        Columns `PLACES`; places count from 1.
    """
    submitted = ios["t_s"] - ios["lat_us"] / US_PER_S - start_s
    times = pd.DataFrame(
        {
            "submitted_s": submitted,
            "admitted_s": submitted + ios["wait_us"] / US_PER_S,
            "completed_s": ios["t_s"] - start_s,
        }
    )
    inside = (times["completed_s"] > 0) & (submitted < until_s - start_s)
    rows = times[inside].sort_values(["submitted_s", "completed_s"])
    free_at: list[float] = []
    places = []
    for start, end in zip(rows["submitted_s"], rows["completed_s"], strict=True):
        place = next((i for i, free in enumerate(free_at) if free <= start + _SAME_S), len(free_at))
        free_at[place : place + 1] = [end]
        places.append(place + 1)
    return rows.assign(queue=queue, place=places)[PLACES].reset_index(drop=True)


def queue_places(
    places: pd.DataFrame, entry: Series, layout: Layout, *, until_s: float, ticks_s: Sequence[float] = ()
) -> Drawn:
    """Draw the I/Os of each queue as bars over time, a line a place: waiting light, served in colour.

    Parameters
    ----------
    places : DataFrame
        From :func:`in_places`, one or more queues below each other.
    entry : Series
        The disk.
    layout : Layout
        The width to draw for.
    until_s : float
        Where the time axis ends.
    ticks_s : sequence of float
        When a throttle lets I/Os pass.

    Returns
    -------
    Drawn
        The bars of the n-th queue have the gids ``waits-N`` and ``served-N``.

    Raises
    ------
    InputError
        When there is no I/O.
    """
    if places.empty:
        raise InputError("nothing to draw: no I/O was submitted")
    queues = list(dict.fromkeys(places["queue"]))
    counts = [int(places.loc[places["queue"] == queue, "place"].max()) for queue in queues]
    heights = [count * _LANE for count in counts]
    tops = [_TOP + before for before in accumulate((each + _GAP for each in heights[:-1]), initial=0)]
    height, width = tops[-1] + heights[-1] + _BOTTOM, layout.width
    with theme(layout):
        figure, grid = canvas(
            layout, height, left=_SIDE, right=_SIDE, top=_TOP, bottom=_BOTTOM, shape=(len(queues), 1)
        )
        panels = list(grid[:, 0])
        for i, (panel, queue) in enumerate(zip(panels, queues, strict=True)):
            low = 1 - (tops[i] + heights[i]) / height
            panel.set_position((_SIDE / width, low, 1 - 2 * _SIDE / width, heights[i] / height))
            panel.set_xlim(0, until_s)
            panel.set_ylim(counts[i] + 0.5, 0.5)
            panel.set_yticks([])
            _draw_places(panel, places[places["queue"] == queue], entry, i)
            _name_queue(panel, queue, entry, layout)
            for tick in ticks_s:
                panel.axvline(tick, color=NEUTRAL["ink2"], linewidth=1, linestyle=DASHES, zorder=3)
        _set_time(panels, until_s, layout)
    return Drawn(figure, {}, _places_in_words(places, queues, until_s), layout)


def _draw_places(panel: Axes, rows: pd.DataFrame, entry: Series, index: int) -> None:
    _, until_s = panel.get_xlim()
    ends = rows[["submitted_s", "admitted_s", "completed_s"]].clip(0, until_s).to_numpy(dtype=float)
    middle = rows["place"].to_numpy(dtype=float)
    edge: dict[str, Any] = {"linewidth": 0.8, "edgecolor": NEUTRAL["surface"], "zorder": 2}
    for i, (what, colour) in enumerate((("waits", NEUTRAL["axis"]), ("served", entry.colour))):
        path = rectangles(ends[:, i], middle - _BAR / 2, ends[:, i + 1], middle + _BAR / 2)
        panel.add_patch(PathPatch(path, facecolor=colour, gid=f"{what}-{index}", **edge))


def _name_queue(panel: Axes, queue: str, entry: Series, layout: Layout) -> None:
    """Its name above the panel, with the key of the colours."""
    across = 0.0
    for text, colour, size, bold in (
        (queue, NEUTRAL["ink"], layout.font, True),
        ("■ waits", NEUTRAL["limit"], layout.small, False),
        ("■ served", entry.colour, layout.small, False),
    ):
        how: dict[str, Any] = {"xycoords": "axes fraction", "size": size, "color": colour}
        say(panel, text, (0, 1), (across, 14), weight="bold" if bold else "normal", **how)
        across += text_width(text, size, bold=bold) + 14


def _set_time(panels: Sequence[Axes], until_s: float, layout: Layout) -> None:
    ticks = [tick for tick in scales.linear_ticks(until_s * MS_PER_S, most=8) if tick <= until_s * MS_PER_S]
    for panel in panels[:-1]:
        panel.set_xticks([])
    texts = [f"{tick:g} ms" for tick in ticks]
    scales.every_nth(panels[-1], [tick / MS_PER_S for tick in ticks], texts, layout)
    panels[-1].set_xlabel("Time", loc="left", labelpad=6)


def _places_in_words(places: pd.DataFrame, queues: Sequence[str], until_s: float) -> str:
    parts = ["I/Os in the places of a queue over time."]
    for queue in queues:
        rows = places[(places["queue"] == queue) & (places["completed_s"] <= until_s)]
        waited = (rows["admitted_s"] - rows["submitted_s"]).mean() * MS_PER_S
        own = (rows["completed_s"] - rows["admitted_s"]).mean() * MS_PER_S
        parts.append(
            f"{queue}: {len(rows)} I/Os complete in {until_s * MS_PER_S:g} ms; on average each waits "
            f"{waited:.1f} ms and is served in {own:.1f} ms."
        )
    return " ".join(parts)


@dataclass(frozen=True, kw_only=True)
class LimitOnTheWay:
    """One limit that a load passes.

    Parameters
    ----------
    name : str
        Such as ``VM, uncached``.
    limit : float
        I/Os per second.
    used : float
        Of it.
    binds : bool
        Whether it is what holds the load back.
    """

    name: str
    limit: float
    used: float
    binds: bool


def limits_on_the_way(passed: Sequence[LimitOnTheWay], entry: Series, layout: Layout) -> Drawn:
    """Draw the limits that a load passes as bars below each other, as wide as they are, filled as far as
    they are used.

    Parameters
    ----------
    passed : sequence of Passed
        In the order of the way.
    entry : Series
        Of the filled part.
    layout : Layout

    Returns
    -------
    Drawn
        The n-th limit has the gid ``limit-N``, what is used of it ``used-N``.

    Raises
    ------
    InputError
        When no limit is passed.
    """
    if not passed:
        raise InputError("nothing to draw: the load passes no limit")
    texts = [f"{format_count(one.used)} of {format_count(one.limit)} IOPS" for one in passed]
    names = [one.name + (": binds" if one.binds else "") for one in passed]
    widest = max(one.limit for one in passed)
    left = _NAME if layout.wide else 8
    room = max(text_width(text, layout.small) for text in texts) + 12
    step = _STAGE if layout.wide else _STAGE + layout.font * LEADING
    height = 12 + step * len(passed) + 12
    with theme(layout):
        figure, grid = canvas(layout, height, left=left, right=room, top=12, bottom=12)
        panel = grid[0, 0]
        panel.set_xlim(0, widest)
        panel.set_ylim(height - 24, 0)
        panel.set_axis_off()
        for i, (one, name, text) in enumerate(zip(passed, names, texts, strict=True)):
            middle = step * (i + 1) - _STAGE / 2
            _draw_limit(panel, one, middle, entry, i)
            colour = entry.colour if one.binds else NEUTRAL["ink"]
            how: dict[str, Any] = {"size": layout.font, "color": colour}
            how |= {"weight": "bold"} if one.binds else {}
            if layout.wide:
                lines = wrap(name, _NAME - 16, layout.font, bold=one.binds)
                say(panel, lines, (0, middle), (8 - left, 0), **how)
            else:
                say(panel, name, (0, middle - _STAGE / 2 - 4), (0, 0), **how)
            say(panel, text, (one.limit, middle), (8, 0), size=layout.small, color=NEUTRAL["ink2"])
    return Drawn(figure, {}, _limits_in_words(names, texts), layout)


def _draw_limit(panel: Axes, one: LimitOnTheWay, middle: float, entry: Series, index: int) -> None:
    low, high = np.array([middle - _TALL / 2]), np.array([middle + _TALL / 2])
    zero, limit, used = np.zeros(1), np.array([one.limit]), np.array([one.used])
    outline = rectangles(zero, low, limit, high)
    panel.add_patch(PathPatch(outline, gid=f"limit-{index}", **_OUTLINE))
    filled = rectangles(zero, low, used, high)
    panel.add_patch(PathPatch(filled, facecolor=entry.colour, linewidth=0, gid=f"used-{index}", zorder=3))


def _limits_in_words(names: Sequence[str], texts: Sequence[str]) -> str:
    return f"Limits on the way: {'; '.join(map(' '.join, zip(names, texts, strict=True)))}."


@dataclass(frozen=True, kw_only=True)
class StockLevel:
    """What is left of a stock at one moment.

    Parameters
    ----------
    name : str
        Of the moment, such as ``20 min``.
    share : float
        Of the full stock, 0 to 1.
    lines : sequence of str
        What stands below, such as what flows in and out.
    """

    name: str
    share: float
    lines: Sequence[str]


def stock_levels(levels: Sequence[StockLevel], entry: Series, layout: Layout) -> Drawn:
    """Draw a stock at several moments as vessels side by side, each filled as far as the stock is.

    Returns
    -------
    Drawn
        The content of the n-th vessel has the gid ``level-N``.

    Raises
    ------
    InputError
        When there is no moment.
    """
    if not levels:
        raise InputError("nothing to draw: no moment of the stock")
    column = (layout.width - 16) / len(levels)
    written = [[row for line in one.lines for row in wrap(line, column - 8, layout.small)] for one in levels]
    below = 30 + max(len(rows) for rows in written) * layout.small * LEADING
    height = 30 + _VESSEL + below
    with theme(layout):
        figure, grid = canvas(layout, height, left=8, right=8, top=30, bottom=below)
        panel = grid[0, 0]
        panel.set_xlim(0, len(levels))
        panel.set_ylim(0, 1)
        panel.set_axis_off()
        for i, (one, rows) in enumerate(zip(levels, written, strict=True)):
            walls = [np.array([value]) for value in (i + 0.2, 0.0, i + 0.8, 1.0)]
            content = rectangles(walls[0], walls[1], walls[2], np.array([one.share]))
            panel.add_patch(PathPatch(rectangles(*walls), clip_on=False, **_OUTLINE))
            panel.add_patch(
                PathPatch(content, facecolor=entry.colour, linewidth=0, gid=f"level-{i}", zorder=3)
            )
            how: dict[str, Any] = {"ha": "center", "size": layout.font, "color": NEUTRAL["ink"]}
            say(panel, f"{one.share:.0%}".replace("%", " %"), (i + 0.5, 1), (0, 14), weight="bold", **how)
            say(panel, one.name, (i + 0.5, 0), (0, -14), **how)
            how |= {"size": layout.small, "color": NEUTRAL["ink2"]}
            middle = -26 - len(rows) * layout.small * LEADING / 2
            say(panel, rows, (i + 0.5, 0), (0, middle), **how)
    words = "; ".join(f"{one.name}: {one.share:.0%}, {', '.join(one.lines)}" for one in levels)
    return Drawn(figure, {}, f"What is left of the stock. {words}.", layout)


def cached_blocks(moments: Sequence[tuple[str, Sequence[bool]]], entry: Series, layout: Layout) -> Drawn:
    """Draw at several moments which blocks a cache holds: a square a block, coloured where it is cached.

    Parameters
    ----------
    moments : sequence of (str, sequence of bool)
        What stands above, and for each block whether the cache holds it.
    entry : Series
        The cache.
    layout : Layout

    Returns
    -------
    Drawn
        The cached blocks of the n-th moment have the gid ``cached-N``, the others ``uncached-N``.

    Raises
    ------
    InputError
        When there is no moment.
    """
    if not moments:
        raise InputError("nothing to draw: no moment of the cache")
    columns = len(moments) if layout.wide else 2
    rows = -(-len(moments) // columns)
    across = int(np.ceil(np.sqrt(len(moments[0][1]))))
    side = (layout.width - 16 - (columns - 1) * 24) / columns
    height = rows * side + (rows - 1) * 44 + 52
    with theme(layout):
        figure, grid = canvas(
            layout, height, left=8, right=8, top=44, bottom=8, shape=(rows, columns), gap=(44, 24)
        )
        panels: list[Axes] = [panel for row in grid for panel in row]
        for panel in panels:
            panel.set_xlim(0, across)
            panel.set_ylim(across, 0)
            panel.set_axis_off()
        for i, (panel, (name, held)) in enumerate(zip(panels, moments, strict=False)):
            for what, colour in (("cached", entry.colour), ("uncached", NEUTRAL["wash"])):
                places = np.flatnonzero(np.array(held, dtype=bool) == (what == "cached"))
                left, low = (places % across).astype(float), (places // across).astype(float)
                path = rectangles(left, low, left + 0.86, low + 0.86)
                panel.add_patch(PathPatch(path, facecolor=colour, linewidth=0, gid=f"{what}-{i}", zorder=2))
            lines = wrap(name, side, layout.small)
            say(panel, lines, (0, 0), (0, 18), size=layout.small, color=NEUTRAL["ink2"])
    words = "; ".join(f"{name}: {sum(held)} of {len(held)} blocks are cached" for name, held in moments)
    return Drawn(figure, {}, f"Blocks that a cache holds. {words}.", layout)
