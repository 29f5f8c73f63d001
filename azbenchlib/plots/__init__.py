"""Tidy tables to figures: no files, no statistics.

Each figure is a function of a table, the series in it and a layout; :func:`both` makes it the SVG of a
page.
"""

from azbenchlib.plots.drawing.style import NARROW, WIDE, Drawn, Layout, Series, TwinSeries
from azbenchlib.plots.drawing.svg import both, inline
from azbenchlib.plots.heatmap import latency_heatmap
from azbenchlib.plots.histogram import latency_histogram
from azbenchlib.plots.percentiles import percentile_curves
from azbenchlib.plots.rates import rates_side_by_side
from azbenchlib.plots.roofline import roofline, standalone
from azbenchlib.plots.timeline import latency_over_time, rates_over_time

__all__ = [
    "NARROW",
    "WIDE",
    "Drawn",
    "Layout",
    "Series",
    "TwinSeries",
    "both",
    "inline",
    "latency_heatmap",
    "latency_histogram",
    "latency_over_time",
    "percentile_curves",
    "rates_over_time",
    "rates_side_by_side",
    "roofline",
    "standalone",
]
