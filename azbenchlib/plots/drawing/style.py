"""The look of every figure: series, sizes, and the empty canvas."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import COLOURS, MARKER_SIZES, MARKERS, NEUTRAL, shape_of

# The widest common sans: what fits in it fits in every font of the stack.
METRICS_FONT = "DejaVu Sans"
DASHES = (0, (5, 3))  # of the line of a limit


@dataclass(frozen=True)
class Series:
    """One setup in the figures of a report.

    Parameters
    ----------
    key : str
        What the data call it; unique.
    label : str
        In full, such as "E8ds_v4, OS disk, ReadWrite cache".
    short : str
        As it stands beside a line, such as "E8ds OS cached".
    index : int
        From 0 on: its colour and its marker. Above 5 colours come again, with other markers.

    Raises
    ------
    InputError
        When the index is negative.
    """

    hollow: ClassVar[bool] = False

    key: str
    label: str
    short: str
    index: int

    def __post_init__(self) -> None:
        if self.index < 0:
            raise InputError(f"series '{self.key}': index {self.index} has no colour; they begin with 0")

    @property
    def colour(self) -> str:
        """The light colour."""
        return COLOURS[self.index % len(COLOURS)][0]

    def marker(self, size: float, hollow: bool = False) -> dict[str, Any]:
        """Arguments for ``Axes.plot`` that draw this setup's marker, `size` pixels wide, without a line."""
        hollow = hollow or self.hollow
        return {
            "linestyle": "",
            "marker": MARKERS[shape_of(self.index)],
            "markersize": size * MARKER_SIZES[shape_of(self.index)],
            "markerfacecolor": NEUTRAL["surface"] if hollow else self.colour,
            "markeredgecolor": self.colour if hollow else NEUTRAL["surface"],
            "markeredgewidth": 1.8 if hollow else 1,
            "clip_on": False,
            "zorder": 4,
        }


@dataclass(frozen=True)
class TwinSeries(Series):
    """A published setup beside its emulation: the same colour and marker, hollow."""

    hollow: ClassVar[bool] = True


@dataclass(frozen=True)
class Layout:
    """Each figure is drawn for two widths; the style sheet shows one. A unit is one CSS pixel."""

    name: str
    width: int
    font: float
    small: float

    @property
    def wide(self) -> bool:
        """Whether it is the one for large screens and paper."""
        return self.name == "wide"


WIDE = Layout("wide", 860, 13, 12)
NARROW = Layout("narrow", 358, 12.5, 11.5)
LAYOUTS = (WIDE, NARROW)


@dataclass(frozen=True)
class Drawn:
    """A finished figure.

    Parameters
    ----------
    figure : Figure
        At 72 dpi, so that a point is a pixel.
    titles : mapping of str to sequence of str
        Hover texts: for a line's gid, one text a marker.
    label : str
        What the figure shows, in words and numbers, for those who cannot see it.
    layout : Layout
        The width that it was drawn for.
    """

    figure: Figure
    titles: Mapping[str, Sequence[str]]
    label: str
    layout: Layout


@contextmanager
def theme(layout: Layout) -> Iterator[None]:
    """Matplotlib's settings for drawing and saving; the user's own are back afterwards."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(
            {
                "font.family": METRICS_FONT,
                "font.size": layout.font,
                "svg.fonttype": "none",
                "svg.hashsalt": "azbench",  # the same data give the same bytes
                "axes.axisbelow": True,
                "axes.edgecolor": NEUTRAL["axis"],
                "axes.labelcolor": NEUTRAL["ink2"],
                "axes.labelsize": layout.font,
                "axes.linewidth": 1,
                "axes.spines.left": False,
                "axes.spines.right": False,
                "axes.spines.top": False,
                "grid.color": NEUTRAL["grid"],
                "grid.linewidth": 1,
                "lines.linewidth": 2,
                "lines.solid_joinstyle": "round",
                "text.color": NEUTRAL["ink"],
                "xtick.color": NEUTRAL["ink3"],
                "xtick.labelsize": layout.small,
                "xtick.major.pad": 4,
                "xtick.major.size": 4,
                "xtick.major.width": 1,
                "xtick.minor.size": 0,
                "ytick.color": NEUTRAL["ink3"],
                "ytick.labelsize": layout.small,
                "ytick.major.pad": 6,
                "ytick.major.size": 0,
                "ytick.minor.size": 0,
            }
        )
        yield


def canvas(
    layout: Layout,
    height: float,
    *,
    left: float,
    right: float,
    top: float,
    bottom: float,
    shape: tuple[int, int] = (1, 1),
    gap: tuple[float, float] = (0, 0),
) -> tuple[Figure, npt.NDArray[np.object_]]:
    """An empty figure; all lengths in pixels.

    Parameters
    ----------
    layout : Layout
        Gives the width.
    height : float
        Of the whole figure.
    left, right, top, bottom : float
        From the edge of the figure to the panels.
    shape : (int, int)
        Rows and columns of panels.
    gap : (float, float)
        Between rows, and between columns.

    Returns
    -------
    figure : Figure
    panels : ndarray of Axes, shape `shape`
    """
    rows, columns = shape
    figure = Figure(figsize=(layout.width / 72, height / 72), dpi=72)
    panels = figure.subplots(rows, columns, squeeze=False)
    for ground in (figure.patch, *(panel.patch for panel in panels.flat)):
        ground.set_visible(False)  # the page shows through
    panel_height = (height - top - bottom - (rows - 1) * gap[0]) / rows
    panel_width = (layout.width - left - right - (columns - 1) * gap[1]) / columns
    figure.subplots_adjust(
        left=left / layout.width,
        right=1 - right / layout.width,
        top=1 - top / height,
        bottom=bottom / height,
        hspace=gap[0] / panel_height,
        wspace=gap[1] / panel_width,
    )
    return figure, panels


def size_of(panel: Axes) -> tuple[float, float]:
    """Width and height of a panel in pixels."""
    return panel.bbox.width, panel.bbox.height
