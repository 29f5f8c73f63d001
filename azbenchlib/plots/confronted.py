"""Prediction, measurement and model in one figure: a line, filled markers, and a hollow one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import EndLabels, say, text_width, y_title
from azbenchlib.plots.drawing.style import Drawn, Layout, Series, canvas, theme

MODEL, MEASURED, PREDICTED = "model", "measured", "predicted"
_FAR = 2 / 3  # of the values, and its reciprocal: where a prediction beyond them stands
_KEY = (("—", "model"), ("●", "measured"), ("◇", "your prediction"))


@dataclass(frozen=True, kw_only=True)
class Chart:
    """What the two axes show.

    Parameters
    ----------
    x_title, y_title : str
    x_text, y_text : callable
        Give the text of a value.
    x_ticks : sequence of float
        Where the x axis has its ticks, as far as there is room; the axis spans the data.
    x_log : bool
        Whether the x axis is logarithmic.
    y_log : bool, optional
        None: where the values ask for it.
    """

    x_title: str
    y_title: str
    x_text: Callable[[float], str]
    y_text: Callable[[float], str]
    x_ticks: Sequence[float]
    x_log: bool = True
    y_log: bool | None = None


def confronted(points: pd.DataFrame, series: Sequence[Series], chart: Chart, layout: Layout) -> Drawn:
    """Draw what the model says as lines, what was measured as markers, and a prediction as a hollow one.

    Parameters
    ----------
    points : DataFrame
        Columns series (a key), kind (`MODEL`, `MEASURED` or `PREDICTED`), x and y; rows with NA are left out.
        Markers of a series that has no line have one drawn through them.
    series : sequence of Series
        One to six; those without data are left out.
    chart : Chart
    layout : Layout
        The width to draw for.

    Returns
    -------
    Drawn
        Lines have the gid ``model-INDEX``, markers ``measured-INDEX``, the prediction ``predicted-INDEX``.

    Raises
    ------
    InputError
        When nothing is left to draw.
    """
    known = _within(points.dropna(subset=["x", "y"]))
    present = [entry for entry in series if (known["series"] == entry.key).any()]
    known = known[known["series"].isin([entry.key for entry in present])]
    log = scales.is_log(known["y"]) if chart.y_log is None else chart.y_log
    if log:
        known = known[known["y"] > 0]
    if known.empty:
        raise InputError("nothing to draw: neither model nor measurement has a value")
    ends = {entry.key: _end(known[known["series"] == entry.key]) for entry in present}
    labels = EndLabels([(entry, chart.y_text(ends[entry.key][1])) for entry in present], layout)
    left, top, bottom = 66 if layout.wide else 58, 58, 52
    with theme(layout):
        height = max(360, top + bottom + labels.height)
        figure, panels = canvas(layout, height, left=left, right=labels.margin, top=top, bottom=bottom)
        panel = panels[0, 0]
        _set_axes(panel, known, chart, layout, log)
        titles: dict[str, list[str]] = {}
        for entry in present:
            titles |= _draw(panel, known[known["series"] == entry.key], entry, chart)
        _write_key(panel, set(known["kind"]), layout, bool(known["beyond"].any()))
        labels.draw(panel, ends)
    return Drawn(figure, titles, _in_words(known, present, chart), layout)


def _within(points: pd.DataFrame) -> pd.DataFrame:
    """The points, with a prediction that is far off moved to the edge, or it would flatten all the rest."""
    guessed, rest = points["kind"] == PREDICTED, points[points["kind"] != PREDICTED]
    if rest.empty or not guessed.any():
        return points.assign(beyond=False)
    low, high = _FAR * min(rest["y"].min(), rest["y"].max() / 2), rest["y"].max() / _FAR
    moved = points.assign(
        x=points["x"].clip(rest["x"].min(), rest["x"].max()).where(guessed, points["x"]),
        y=points["y"].clip(low, high).where(guessed, points["y"]),
    )
    return moved.assign(beyond=(moved["x"] != points["x"]) | (moved["y"] != points["y"]))


def _end(rows: pd.DataFrame) -> tuple[float, float]:
    """The right end of a line, else of what was measured."""
    model = rows[rows["kind"] == MODEL]
    last = (model if len(model) else rows).sort_values("x").iloc[-1]
    return float(last["x"]), float(last["y"])


def _set_axes(panel: Axes, known: pd.DataFrame, chart: Chart, layout: Layout, log: bool) -> None:
    scales.set_y([panel], known["y"].to_numpy(dtype=float), chart.y_text, log=log)
    y_title(panel, f"{chart.y_title} (log scale)" if log else chart.y_title, layout, above=42)
    low, high = float(known["x"].min()), float(known["x"].max())
    panel.set_xscale("log" if chart.x_log else "linear")
    panel.set_xlim(low, high if high > low else low + 1)
    ticks = [tick for tick in chart.x_ticks if low <= tick <= high] or [low]
    scales.every_nth(panel, ticks, [chart.x_text(tick) for tick in ticks], layout)
    panel.set_xlabel(f"{chart.x_title} (log scale)" if chart.x_log else chart.x_title, loc="left", labelpad=6)


def _draw(panel: Axes, rows: pd.DataFrame, entry: Series, chart: Chart) -> dict[str, list[str]]:
    """Line, markers and prediction of a series; returns the hover texts."""
    titles = {}
    kinds = {kind: rows[rows["kind"] == kind].sort_values("x") for kind in (MODEL, MEASURED, PREDICTED)}
    line = kinds[MODEL] if len(kinds[MODEL]) else kinds[MEASURED]
    panel.plot(line["x"], line["y"], color=entry.colour, gid=f"{MODEL}-{entry.index}", zorder=3)
    for kind in (MEASURED, PREDICTED):
        some = kinds[kind]
        if some.empty:
            continue
        gid = f"{kind}-{entry.index}"
        panel.plot(some["x"], some["y"], gid=gid, **_marker(entry, kind))
        told = [f"{chart.x_text(x)}: {chart.y_text(y)}" for x, y in zip(some["x"], some["y"], strict=True)]
        titles[gid] = [f"{entry.label}, {kind}, {text}" for text in told]
    return titles


def _marker(entry: Series, kind: str) -> dict[str, Any]:
    if kind == MEASURED:
        return entry.marker(8) | {"marker": "o"}
    return entry.marker(13, hollow=True) | {"marker": "D", "markeredgecolor": NEUTRAL["ink"], "zorder": 6}


def _write_key(panel: Axes, kinds: set[str], layout: Layout, beyond: bool) -> None:
    """What line and markers are, above the panel."""
    shown = [pair for pair, kind in zip(_KEY, (MODEL, MEASURED, PREDICTED), strict=True) if kind in kinds]
    across = -panel.bbox.x0
    for char, name in shown:
        text = f"{char} {name}{', further out than drawn' if beyond and name == _KEY[-1][1] else ''}"
        how: dict[str, Any] = {"size": layout.small, "color": NEUTRAL["ink3"], "xycoords": "axes fraction"}
        say(panel, text, (0, 1), (across, 18), **how)
        across += text_width(text, layout.small) + 18


def _in_words(known: pd.DataFrame, present: Sequence[Series], chart: Chart) -> str:
    """The chart as sentences: where each line begins and ends, what was measured, what was predicted."""
    parts = [f"{chart.y_title} over {chart.x_title.lower()}."]
    for entry in present:
        rows = known[known["series"] == entry.key]
        for kind in (MODEL, MEASURED, PREDICTED):
            some = rows[rows["kind"] == kind].sort_values("x")
            if some.empty:
                continue
            shown = some.iloc[[0, -1]] if len(some) > 1 else some
            told = (
                f"{chart.y_text(y)} at {chart.x_text(x)}" for x, y in zip(shown["x"], shown["y"], strict=True)
            )
            parts.append(f"{entry.label}, {kind}: {' to '.join(told)}.")
    return " ".join(parts)
