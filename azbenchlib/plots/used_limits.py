"""How much of each limit the platform counted as used, minute by minute, as a panel of a figure over time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes

from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.units import NBSP
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import y_title
from azbenchlib.plots.drawing.style import DASHES, Layout, Series

MINUTE_S = 60.0  # that a point is the mean of
REACHED_PCT = 100.0  # percent: where a limit is reached
_ABOVE = 1.08  # of the axis, so that its highest line is seen
_LEAST = 0.5  # percent: what is less reads 0 %


@dataclass(frozen=True, kw_only=True)
class UsedLimit:
    """A limit and its use: the corners of a line of steps, times in s and percent, shape (n,) each."""

    name: str
    t_s: npt.NDArray[np.float64]
    percent: npt.NDArray[np.float64]

    @property
    def most(self) -> float:
        """The largest of its minutes, in percent."""
        return float(self.percent.max())

    @property
    def text(self) -> str:
        """The name with that value."""
        return f"{self.name} {self.most:.0f}{NBSP}%"


def lines_of(used: pd.DataFrame | None, end_s: float) -> list[UsedLimit]:
    """The limits with the steps of their use, the most used first; those that were not used are left out.

    Parameters
    ----------
    used : DataFrame, optional
        Columns name, t_s (when a minute began, which may be before the run) and percent.
    end_s : float
        Where the time axis ends; nothing is drawn behind it.
    """
    found = []
    for name, rows in used.groupby("name", sort=False) if used is not None else ():
        rows = rows[rows["t_s"] < end_s].sort_values("t_s")
        begins = rows["t_s"].to_numpy(dtype=float)
        corners = np.column_stack([begins, begins + MINUTE_S]).ravel().clip(0, end_s)
        if corners.size:
            percent = np.repeat(rows["percent"].to_numpy(dtype=float), 2)
            found.append(UsedLimit(name=str(name), t_s=corners, percent=percent))
    return sorted((line for line in found if line.most >= _LEAST), key=lambda line: -line.most)


def draw(panel: Axes, lines: Sequence[UsedLimit], entry: Series, layout: Layout) -> None:
    """Draw the steps: the most used limit in the colour of the setup, the others grey; 100 % is dashed."""
    panel.set_ylim(0, max(REACHED_PCT, *(line.most for line in lines)) * _ABOVE)
    scales.set_ticks(
        panel.yaxis, [0, REACHED_PCT / 2, REACHED_PCT], ["0", f"{REACHED_PCT / 2:g}", f"{REACHED_PCT:g}"]
    )
    y_title(panel, "Used, % (Azure Monitor)", layout)
    panel.axhline(REACHED_PCT, color=NEUTRAL["limit"], linewidth=1.5, linestyle=DASHES, zorder=2)
    for i, line in enumerate(lines):
        colour = NEUTRAL["ink3"] if i else entry.colour
        panel.plot(line.t_s, line.percent, color=colour, label=f"{line.name}, %", zorder=3 + (not i))


def in_words(lines: Sequence[UsedLimit]) -> str:
    """What the panel shows; empty without a line."""
    if not lines:
        return ""
    told = "; ".join(f"{line.name} {line.most:.0f} %" for line in lines)
    return f" Azure Monitor: the most that a minute used of each limit: {told}."
