"""What histogram and heat map share: many rectangles as one shape, limits, and names above panels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.path import Path

from azbenchlib.core.palette import NEUTRAL
from azbenchlib.plots.drawing import scales
from azbenchlib.plots.drawing.label_layout import LEADING, say
from azbenchlib.plots.drawing.style import Layout, Series

Floats = npt.NDArray[np.float64]
FARTHEST = 1e9  # times: what lies lower than the highest by more is drawn at the edge


def rectangles(left: Floats, low: Floats, right: Floats, high: Floats) -> Path:
    """Any number of upright rectangles as one path, for a page holds thousands."""
    corners = [(left, low), (right, low), (right, high), (left, high), (left, low)]
    points = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    return Path(points.reshape(-1, 2), codes * len(left))


def limits(rows: pd.DataFrame) -> tuple[float, float]:
    """Limits of a log axis around classes from low_us to high_us; a class from 0 has half of itself."""
    high = float(rows["high_us"].max())
    low = max(float(rows["low_us"].min()), float(rows["high_us"].min()) / 2, high / FARTHEST)
    return scales.log_limits([min(low, high), high])


def name_above(
    panel: Axes, entry: Series, name: Sequence[str], note: Sequence[str], layout: Layout, gap: float
) -> None:
    """Name of a series in its colour, and a note below it, `gap` pixels above a panel."""
    note_height, name_height = len(note) * layout.small * LEADING, len(name) * layout.font * LEADING
    at: dict[str, Any] = {"xycoords": "axes fraction"}
    say(panel, note, (0, 1), (0, gap + note_height / 2), size=layout.small, color=NEUTRAL["ink3"], **at)
    shift = (0, gap + note_height + name_height / 2)
    say(panel, name, (0, 1), shift, size=layout.font, color=entry.colour, weight="bold", **at)
