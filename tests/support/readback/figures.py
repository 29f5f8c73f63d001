"""Numbers in text: value, unit, bound, and how exactly they are shown."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from bs4 import Tag

SCALE = {
    "IOPS": 1.0,
    "MB/s": 1e6,
    "MiB/s": 2.0**20,
    "KB/s": 1e3,
    "KiB/s": 2.0**10,
    "GB/s": 1e9,
    "GiB/s": 2.0**30,
    "ns": 1e-3,
    "µs": 1.0,
    "ms": 1e3,
    "s": 1e6,
    "min": 60e6,
    "minutes": 60e6,
    "h": 3600e6,
    "B": 1.0,
    "KiB": 2.0**10,
    "MiB": 2.0**20,
    "GiB": 2.0**30,
    "TiB": 2.0**40,
}
KINDS = {
    **dict.fromkeys(("IOPS",), "iops"),
    **dict.fromkeys(("MB/s", "MiB/s", "KB/s", "KiB/s", "GB/s", "GiB/s"), "bytes_per_s"),
    **dict.fromkeys(("ns", "µs", "ms", "s"), "lat_us"),
    **dict.fromkeys(("min", "minutes", "h"), "time_us"),
    **dict.fromkeys(("B", "KiB", "MiB", "GiB", "TiB"), "bytes"),
}
SIGNIFICANT = {"lat_us": 3, "bytes": 4}
BOUNDS = {"<": "<", ">": ">", "≈": "~", "≥": ">", "≤": "<"}

# What has digits and is no figure: days, hashes, versions, and names with a number within.
NO_FIGURE = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?"
    r"|\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r" \d{4}"
    r"|\b[0-9a-f]{64}\b"
    r"|\b04_cost\.ipynb|\b\d\d[a-z]?_\w+\.ipynb"
)
_NUMBER = re.compile(
    r"(?:(?P<bound>[<>≈≥≤])\s?)?(?P<sign>[−+])?(?<![\w.,/-])"
    r"(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?P<part>\.\d+)?(?![\w]|[.,]\d|/)"
    r"(?:\s?(?P<unit>[A-Za-zµ%×]+(?:/s)?))?"
)


@dataclass(frozen=True)
class Figure:
    """One number as it is shown."""

    text: str
    value: float
    decimals: int
    unit: str
    bound: str
    start: int
    end: int

    @property
    def kind(self) -> str:
        """What its unit counts: iops, bytes_per_s, lat_us, bytes; else the unit itself."""
        return KINDS.get(self.unit, self.unit)

    @property
    def base(self) -> float:
        """The value in the base unit of its kind."""
        return self.value * SCALE.get(self.unit, 1.0)

    @property
    def half(self) -> float:
        """Half a unit of the last digit that is shown, in the base unit of its kind."""
        digits = SIGNIFICANT.get(self.kind)
        if digits and self.value:
            last = 10.0 ** (math.floor(math.log10(abs(self.value))) + 1 - digits)
            last = min(last, 10.0**-self.decimals)
        elif self.kind in ("iops", "bytes_per_s") and not self.decimals and self.value < 99.5:
            last = 0.1  # below a hundred a tenth is shown where there is one
        else:
            last = 10.0**-self.decimals
        return 0.5 * last * SCALE.get(self.unit, 1.0)

    def shows(self, value: float) -> bool:
        """Whether this is how a value reads, rounded at the last digit."""
        return abs(self.base - value) <= self.half * (1 + 1e-6) + abs(value) * 1e-9


def spaced(text: str) -> str:
    """The text with plain spaces, one at a time."""
    return re.sub(r"\s+", " ", text.replace("\u00a0", " ")).strip()


def text_of(tag: Tag, css: str, name: str = "") -> str:
    """The text of the first element of a class, or of a name, within another; empty without one."""
    found = tag.find(class_=css) if css else tag.find(name)
    return spaced(found.get_text(" ")) if found else ""


def blank(text: str, start: int, end: int) -> str:
    """The text with a stretch of it made empty, every other character in its place."""
    return text[:start] + " " * (end - start) + text[end:]


def find(text: str, unit: str = "") -> Iterator[Figure]:
    """The numbers of a text (of plain spaces); `unit` is that of numbers that have none of their own."""
    for match in NO_FIGURE.finditer(text):
        text = blank(text, *match.span())
    for match in _NUMBER.finditer(text):
        part = match["part"] or ""
        value = float(match["whole"].replace(",", "") + part)
        own = match["unit"] or ""
        if own == "to":  # 900 to 1,100 IOPS
            after = _NUMBER.match(text, match.end() + 1)
            own = (after["unit"] or "") if after else ""
        yield Figure(
            match[0].strip(),
            -value if match["sign"] == "−" else value,
            max(0, len(part) - 1),
            own if own or not unit else unit,
            BOUNDS.get(match["bound"] or "", "="),
            match.start(),
            match.end(),
        )
