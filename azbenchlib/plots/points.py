"""Measured points, drawn into the roofline of their setups."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from azbenchlib.core.units import format_count, format_size
from azbenchlib.plots.drawing.style import Drawn, Series


def with_points(drawn: Drawn, points: pd.DataFrame, series: Sequence[Series]) -> Drawn:
    """The roofline with a marker at each measured rate.

    Parameters
    ----------
    drawn : Drawn
        A roofline that has room for the rates; its axes stay as they are.
    points : DataFrame
        Columns series (a key), bs_bytes, iops, text (shown on hover). A point outside the axes is left out.
    series : sequence of Series
        Colours and markers of the points.

    Returns
    -------
    Drawn
        Markers have the gid ``points-INDEX``.
    """
    panel = drawn.figure.axes[0]
    (left, right), (low, high) = panel.get_xlim(), panel.get_ylim()
    inside = points[points["bs_bytes"].between(left, right) & points["iops"].between(low, high)]
    titles = dict(drawn.titles)
    parts = []
    for entry in series:
        mine = inside[inside["series"] == entry.key]
        if mine.empty:
            continue
        gid = f"points-{entry.index}"
        panel.plot(mine["bs_bytes"], mine["iops"], gid=gid, **entry.marker(11))
        titles[gid] = list(mine["text"])
        parts += [
            f"{entry.label}: {format_count(row.iops)} IOPS at {format_size(row.bs_bytes)}"
            for row in mine.itertuples()
        ]
    label = f"{drawn.label} Measured: {'; '.join(parts)}." if parts else drawn.label
    return replace(drawn, titles=titles, label=label)
