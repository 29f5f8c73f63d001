"""A figure to look around in: every run as a marker, any two of its figures against each other."""

import pandas as pd
import seaborn as sns
from matplotlib.ticker import LogLocator, NullLocator

from azbenchlib.core.errors import InputError
from azbenchlib.core.palette import COLOURS, NEUTRAL
from azbenchlib.core.printable import one_line

TITLES = {
    "queue_depth": "Queue depth",
    "bs_bytes": "Block size (bytes)",
    "iops": "IOPS",
    "bw_bytes_per_s": "Throughput (bytes per second)",
    "p50": "p50 latency (µs)",
    "p99": "p99 latency (µs)",
}
WORDS = ("series", "rw", "ddir", "job", "tool", "direct", "bs_bytes", "queue_depth")


def scatter(runs: pd.DataFrame, *, x: str, y: str, hue: str, style: str) -> sns.FacetGrid:
    """Draw a marker for each run and direction, on log axes.

    Parameters
    ----------
    runs : DataFrame
        One row a run and direction, with the columns of `TITLES` and `WORDS`.
    x, y : str
        Columns of numbers, of `TITLES`.
    hue, style : str
        Columns that colour and shape stand for, of `WORDS`.

    Returns
    -------
    seaborn.FacetGrid
        To go on with: its axes are those of matplotlib.

    Raises
    ------
    InputError
        For another column, or where no run has both figures.
    """
    for name, column, choices in (
        ("x", x, TITLES),
        ("y", y, TITLES),
        ("hue", hue, WORDS),
        ("style", style, WORDS),
    ):
        if column not in choices:
            raise InputError(f"{name} '{column}' is not one of: {', '.join(choices)}")
    rows = runs.astype({x: "float64", y: "float64"})
    rows = rows[(rows[x] > 0) & (rows[y] > 0)]
    if rows.empty:
        raise InputError(f"no run has both {x} and {y}")
    rows = rows.assign(**{name: rows[name].map(_shown) for name in (hue, style)})
    shades = [light for light, _ in COLOURS]
    palette = shades[: rows[hue].nunique()] if rows[hue].nunique() <= len(shades) else None
    grid = sns.relplot(rows, x=x, y=y, hue=hue, style=style, palette=palette, s=70, aspect=1.3)
    grid.set(xscale="log", yscale="log", xlabel=TITLES[x], ylabel=TITLES[y])
    for axis in (grid.ax.xaxis, grid.ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(lambda value, _: f"{value:,.6g}")
        axis.set_minor_locator(NullLocator())
    grid.ax.grid(color=NEUTRAL["grid"])
    grid.ax.set_axisbelow(True)
    return grid


def _shown(value: object) -> object:
    """A value as the legend has it: names of others are printable."""
    return one_line(value) if isinstance(value, str) else value
