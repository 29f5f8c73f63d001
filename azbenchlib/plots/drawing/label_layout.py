"""Text in figures: how wide it is, where its lines break, and how labels keep apart."""

import itertools
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import LoadFlags

from azbenchlib.core.palette import NEUTRAL
from azbenchlib.core.printable import printable
from azbenchlib.core.units import NBSP
from azbenchlib.plots.drawing.style import METRICS_FONT, Layout, Series, size_of

LEADING = 1.38
# Width of a character that the metrics font lacks (Chinese, emoji), in em: no common font is wider.
UNKNOWN_EM = 1.3
# What is printable and XML 1.0 cannot hold (https://www.w3.org/TR/xml/#charsets).
_NO_XML = re.compile("[\ufffe\uffff]")
_UNIT = re.compile(r"(?<=\d) (?=(?:IOPS|[kMG]B/s|[KMGT]iB(?:/s)?|[nµm]?s|%)(?![\w/]))")  # before a unit
_PART = re.compile("[^_/-]*[_/-]|[^_/-]+")


def clean(text: str) -> str:
    """The text on one line, printable, with what XML cannot hold replaced."""
    return re.sub("[ \t\n]+", " ", _NO_XML.sub("\ufffd", printable(text))).strip()


@cache
def _advance(char: str, bold: bool) -> float:
    """Width of a character in em."""
    font = get_font(findfont(FontProperties(family=METRICS_FONT, weight="bold" if bold else "normal")))
    if not font.get_char_index(ord(char)):
        return 0.0 if unicodedata.category(char) in ("Mn", "Me", "Cf") else UNKNOWN_EM
    font.set_size(100, 72)
    return font.load_char(ord(char), flags=LoadFlags.NO_HINTING).linearHoriAdvance / 65536 / 100


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Width of one line in pixels, in the widest font of the stack."""
    return size * sum(_advance(char, bold) for char in text)


def wrap(text: str, width: float, size: float, bold: bool = False) -> list[str]:
    """Break into lines of at most `width` pixels.

    Between words, but not between a number and its unit; a word that is wider alone, after ``_``, ``-`` or
    ``/``; failing that, anywhere.
    """

    def fits(line: str) -> bool:
        return text_width(line, size, bold) <= width

    lines = [""]
    for word in _UNIT.sub(NBSP, clean(text)).split(" "):  # a no-break space holds
        joined = f"{lines[-1]} {word}".strip()
        if fits(joined):
            lines[-1] = joined
            continue
        lines.append("")
        parts = [word] if fits(word) else _PART.findall(word)
        for piece in itertools.chain.from_iterable([part] if fits(part) else part for part in parts):
            if lines[-1] and not fits(lines[-1] + piece):
                lines.append("")
            lines[-1] += piece
    return [line for line in lines if line]


def spread(centres: Sequence[float], heights: Sequence[float], low: float, high: float) -> list[float]:
    """Move labels as little as possible, in the least squares, so that none overlap.

    Parameters
    ----------
    centres : sequence of float
        Where each label would like to be, ascending.
    heights : sequence of float
        Of the labels; together at most ``high - low``.
    low, high : float
        What they must stay within.

    Returns
    -------
    list of float
        The centres, in the same order.

    Notes
    -----
    With the room that the labels below need taken off, keeping apart means not to descend: isotonic
    regression, then clipped (Best and Chakravarti, Mathematical Programming 47, 1990).
    """
    offsets = [0.0]
    for below, above in itertools.pairwise(heights):
        offsets.append(offsets[-1] + (below + above) / 2)
    wanted = [centre - offset for centre, offset in zip(centres, offsets, strict=True)]
    rising = wanted if wanted == sorted(wanted) else _isotonic(wanted)
    lowest, highest = low + heights[0] / 2, high - heights[-1] / 2 - offsets[-1]
    free = [min(max(position, lowest), highest) for position in rising]
    return [position + offset for position, offset in zip(free, offsets, strict=True)]


def _isotonic(values: Sequence[float]) -> list[float]:
    """The nearest sequence that never falls."""
    from scipy.optimize import isotonic_regression  # takes half a second to import, and is rarely needed

    return [float(value) for value in isotonic_regression(values).x]


def thin(centres: Sequence[float], widths: Sequence[float], gap: float) -> list[int]:
    """Which labels to keep so that none come closer than `gap`; the earlier ones have precedence."""
    kept: list[int] = []
    for i, (centre, width) in enumerate(zip(centres, widths, strict=True)):
        if all(abs(centre - centres[k]) >= (width + widths[k]) / 2 + gap for k in kept):
            kept.append(i)
    return kept


def say(
    panel: Axes,
    words: str | Sequence[str],
    at: tuple[float, float],
    shift: tuple[float, float] = (0, 0),
    *,
    size: float,
    color: str,
    leading: float = LEADING,
    **how: Any,
) -> None:
    """Write at a point of the data, moved by `shift` pixels, centred upon it vertically.

    Several lines are drawn one by one: matplotlib would align them by the metrics of its own font, which
    shows as soon as the browser takes another.
    """
    lines = [words] if isinstance(words, str) else words
    for i, line in enumerate(lines):
        dy = shift[1] + ((len(lines) - 1) / 2 - i) * size * leading
        panel.annotate(
            clean(line),
            at,
            (shift[0], dy),
            textcoords="offset points",
            va="center",
            size=size,
            color=color,
            parse_math=False,  # a dollar in a name is a dollar
            **how,
        )


def y_title(panel: Axes, text: str, layout: Layout, above: float = 18) -> None:
    """What the y axis measures: level, above the panel, from the figure's left edge; never rotated."""
    shift = (-panel.bbox.x0, above)
    say(panel, text, (0, 1), shift, size=layout.font, color=NEUTRAL["ink2"], xycoords="axes fraction")


@dataclass(frozen=True)
class _End:
    """One label: its lines, and the value beside or below them."""

    series: Series
    lines: list[str]
    value: str
    height: float


class EndLabels:
    """The names of lines at their right ends, with a value each: no legend to look up.

    Parameters
    ----------
    entries : sequence of (Series, str)
        The lines, and the value of each; "" for none.
    layout : Layout
        Wide: name and value in two columns. Narrow: the value below the name.
    """

    def __init__(self, entries: Sequence[tuple[Series, str]], layout: Layout) -> None:
        self._layout = layout
        self._shift, self._name_width = (14, 170) if layout.wide else (12, 92)
        self._size, self._leading = (layout.font, LEADING) if layout.wide else (11.0, 1.2)
        self._ends = {series.key: self._end(series, value) for series, value in entries}

    def _end(self, series: Series, value: str) -> _End:
        lines = wrap(series.short, self._name_width, self._size, bold=True)
        if value and not self._layout.wide:
            lines.append(value)
        space = 6 if len(lines) > 1 else 0
        return _End(series, lines, value, len(lines) * self._size * self._leading + space)

    @property
    def height(self) -> float:
        """Pixels that all labels need, one above the other."""
        return sum(end.height for end in self._ends.values())

    @property
    def margin(self) -> float:
        """Pixels that the labels need to the right of the panel."""
        lines = [line for end in self._ends.values() for line in end.lines]
        width = max(text_width(line, self._size, bold=True) for line in lines)
        values = max(text_width(end.value, self._size) for end in self._ends.values())
        column = values + 16 if self._layout.wide and values else 0
        return self._shift + width + column + 2

    def draw(self, panel: Axes, ends: dict[str, tuple[float, float]], lead: bool = True) -> None:
        """Write them beside the panel, pushed apart where they would touch.

        Parameters
        ----------
        panel : Axes
            With its limits set.
        ends : dict of str to (float, float)
            The last point of each line, by the key of its series.
        lead : bool
            Whether dots lead from a line that stops early to its label: not where they look like values.
        """
        _, height = size_of(panel)
        bottom = panel.bbox.y0
        pixels = {key: panel.transData.transform(point)[1] - bottom for key, point in ends.items()}
        order = sorted(self._ends, key=lambda key: pixels[key])
        heights = [self._ends[key].height for key in order]
        places = spread([pixels[key] for key in order], heights, 0, height + 8)
        for key, place in zip(order, places, strict=True):
            self._write(panel, self._ends[key], place / height)
            if lead:
                self._lead(panel, self._ends[key].series, ends[key])

    def _write(self, panel: Axes, end: _End, fraction: float) -> None:
        tell = partial(say, size=self._size, color=end.series.colour, xycoords="axes fraction")
        tell(panel, end.lines, (1, fraction), (self._shift, 0), leading=self._leading, weight="bold")
        if end.value and self._layout.wide:
            tell(panel, end.value, (1, fraction), (self.margin - 2, 0), ha="right")

    @staticmethod
    def _lead(panel: Axes, series: Series, end: tuple[float, float]) -> None:
        """Dots from the end of a line that stops early to the edge of the panel."""
        right = panel.get_xlim()[1]
        if end[0] < right:
            dots = (0, (1, 3))
            panel.plot([end[0], right], [end[1]] * 2, color=series.colour, linewidth=1, linestyle=dots)
