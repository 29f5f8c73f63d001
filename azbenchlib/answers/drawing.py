"""Figures of answers that have no plot of their own: on Axes that are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from azbenchlib.core.palette import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def horizontal_bars(axes: Axes, names: Sequence[str], values: Sequence[float], title: str) -> None:
    """Draw a bar a value, the first at the top; ``title`` says what the values are."""
    places = range(len(values))
    drawn = axes.barh(places, values, color=COLOURS[1][0])
    axes.bar_label(drawn, labels=[f"{value:,.2f}" for value in values], padding=3)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.set_xlabel(title)
    axes.spines[["top", "right"]].set_visible(False)
