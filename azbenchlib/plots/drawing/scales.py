"""Axes from data: logarithmic or linear, their limits, and ticks at round numbers that keep apart."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from azbenchlib.plots.drawing.label_layout import text_width, thin
from azbenchlib.plots.drawing.style import Layout, size_of

LOG_FROM = 30  # times; below, a linear axis from zero shows the differences as they are
LEAST_SPAN = 6  # times; a log axis over this holds two of the ticks 1, 2, 5
TICK_GAP = 20  # pixels between y ticks
_STEPS = ((1, 2, 5), (1, 3))  # within a power of ten; the first two are the closest


def finite(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The values that are numbers."""
    array = np.asarray(values, dtype=float)
    return array[np.isfinite(array)]


def is_log(values: npt.ArrayLike) -> bool:
    """Whether the values spread so far that only a log axis shows them all."""
    numbers = finite(values)
    return bool(numbers.size and numbers.min() > 0 and numbers.max() / numbers.min() > LOG_FROM)


def log_limits(values: npt.ArrayLike) -> tuple[float, float]:
    """Limits of a log axis around positive values, with some air."""
    numbers = finite(values)
    low, high = numbers.min(), numbers.max()
    air = max((high / low) ** 0.06, math.sqrt(LEAST_SPAN / (high / low)))
    return low / air, high * air


def log_ticks(low: float, high: float, length: float) -> list[float]:
    """Ticks at 1, 2, 5 times the powers of ten where `length` pixels hold them, else fewer."""
    decade = length / math.log10(high / low)
    fitting = [steps for steps in _STEPS if decade * math.log10(steps[1] / steps[0]) >= TICK_GAP]
    steps = fitting[0] if fitting else (1,)
    every = math.ceil(TICK_GAP / decade)
    first = math.floor(math.log10(low)) // every * every
    powers = range(first, math.ceil(math.log10(high)) + 1, every)
    ticks = [step * 10.0**power for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def linear_ticks(high: float, most: int) -> list[float]:
    """At most about `most` steps of round ticks from zero to at least `high`."""
    locator = MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10])
    return [float(tick) for tick in locator.tick_values(0, high or 1)]


def set_ticks(axis: Axis, ticks: Sequence[float], texts: Sequence[str]) -> None:
    """Exactly these ticks with these texts."""
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_major_formatter(FixedFormatter(list(texts)))
    axis.set_minor_locator(NullLocator())


def every_nth(panel: Axes, ticks: Sequence[float], texts: Sequence[str], layout: Layout) -> None:
    """All ticks of the x axis, or every second, third, … so that their texts keep apart."""
    for step in range(1, len(ticks) + 1):
        if len(keep_apart(panel, ticks[::step], texts[::step], layout)) == len(ticks[::step]):
            break
    set_ticks(panel.xaxis, ticks[::step], texts[::step])


def keep_apart(panel: Axes, places: Sequence[float], texts: Sequence[str], layout: Layout) -> list[int]:
    """Which small texts centred at places of the x axis to keep so that none touch."""
    pixels = [x_pixel(panel, place) for place in places]
    return thin(pixels, [text_width(text, layout.small) for text in texts], gap=6)


def x_pixel(panel: Axes, x: float) -> float:
    """How far to the right of the panel's left edge a value stands."""
    return float(panel.transData.transform((x, panel.get_ylim()[0]))[0]) - panel.bbox.x0


def set_y(panels: Sequence[Axes], values: npt.ArrayLike, text: Callable[[float], str], log: bool) -> None:
    """The same y axis for all panels: limits around the values, round ticks, grid lines."""
    _, height = size_of(panels[0])
    if log:
        low, high = log_limits(values)
        ticks = log_ticks(low, high, height)
    else:
        ticks = linear_ticks(float(finite(values).max()), most=max(2, int(height / 45)))
        low, high = 0.0, ticks[-1]
    for panel in panels:
        panel.set_yscale("log" if log else "linear")
        panel.set_ylim(low, high)
        set_ticks(panel.yaxis, ticks, [text(tick) for tick in ticks])
        panel.grid(axis="y")
