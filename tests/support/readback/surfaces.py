"""What is said of iozone over the sizes of records and files: ranges of rates, sizes and counts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from readback import figures
from readback.figures import Figure
from readback.known import Known, documented, once
from readback.naming import Topic, fits

if TYPE_CHECKING:
    from readback.check import Checker

_RANGE = re.compile(
    r"(?:(?P<low>[\d.,]+) to )?(?P<high>[\d.,]+) MB/s"
    r"(?: (?P<way>up to|from) (?P<axis>file|record)s of (?P<size>[\d.,]+ \w+)(?: on)?)?"
    r"(?: in (?P<n>[\d,]+) of (?P<of>[\d,]+) runs)?"
    r"(?P<rest>.*)"
)
_CAUSE = re.compile(
    r": (?:the page cache served them|too slow for the page cache alone|the files outgrow the page cache"
    r"|no cause is certain enough|bound by|at the|above the|no limit is known|no documented limit)"
)
_DIFFER = re.compile(r"^([\d,]+) of ([\d,]+) runs differs?\.?$")
_LEAD = re.compile(
    r"The page cache served ([\d,]+) of ([\d,]+) runs \((?:≥ )?(\d+) %(?: to (?:≥ )?(\d+) %)? certain\)"
)


@dataclass(frozen=True)
class _Cell:
    record: float | None
    file: float | None
    rate: float
    line: str  # setup and test


def is_sentence(text: str) -> bool:
    """Whether a text says what gave the rates of a test over its sizes."""
    return bool(_CAUSE.search(text) and "MB/s" in text)


def sentence(checker: Checker, text: str, topic: Topic, place: str) -> None:
    """``137 to 1,644 MB/s up to files of 256 MiB: the page cache served them; 7 of 163 runs differ``."""
    for part in text.split("; "):
        own = replace(checker.part.names.workload(part)[0], bs=None, ddir=None)
        mine = _cells(checker.part, own.within(replace(topic, bs=None, working=None, depth=None, ddir=None)))
        if differing := _DIFFER.match(part):
            some, every = (_number(differing[i]) for i in (1, 2))
            known = Counter(cell.line for cell in mine).values()  # of each test of each setup
            _accept(checker, some < every and every in known, part, place, [*map(float, known)])
        elif told := _RANGE.search(part):
            _stretch(checker, told, mine, topic, place)


def _stretch(checker: Checker, told: re.Match[str], cells: list[_Cell], topic: Topic, place: str) -> None:
    if told["of"]:
        right = 0 < _number(told["n"]) <= _number(told["of"]) == len(cells)
        _accept(checker, right, told[0], place, [float(len(cells))])
    if told["size"]:
        (size,) = figures.find(told["size"])
        sizes = {getattr(cell, told["axis"]) for cell in cells}
        _accept(checker, any(size.shows(one) for one in sizes if one), told[0], place, [])
        least, most = (size.base, float("inf")) if told["way"] == "from" else (0.0, size.base)
        slack = size.half / size.base
        cells = [
            cell
            for cell in cells
            if least * (1 - slack) <= (getattr(cell, told["axis"]) or -1.0) <= most * (1 + slack)
        ]
    rates = [cell.rate for cell in cells]
    for rate in figures.find(f"{told['low'] or told['high']} MB/s; {told['high']} MB/s"):
        _accept(checker, any(rate.shows(one) for one in rates), told[0], place, rates)
    for limit in figures.find(told["rest"]):
        if limit.kind in ("iops", "bytes_per_s"):
            known = sorted(documented(checker.part, topic.setups)[limit.kind])
            checker.accept(any(limit.shows(one) for one in known), limit, place, told[0], known, "limit")


def lead(checker: Checker, text: str, place: str) -> bool:
    """``The page cache served 1,966 of 2,119 runs (83 % to 98 % certain)``; False where it is not said."""
    told = _LEAD.search(text)
    if told is None:
        return False
    n = len({(unit.setup, unit.rw, unit.bs, unit.working) for part in checker.parts for unit in part.units})
    right = 0 < _number(told[1]) <= _number(told[2]) <= n
    _accept(
        checker, right and 80 <= int(told[3]) <= int(told[4] or told[3]) <= 99, told[0], place, [float(n)]
    )
    return True


@once
def _cells(part: Known, topic: Topic) -> list[_Cell]:
    """The figures of a test, each with its sizes."""
    cells = []
    for unit in part.units:
        rates = part.rates(unit)
        rate = rates.get(("bytes_per_s", None))
        in_iops = rates.get(("iops", None))
        if rate is None and in_iops is not None and unit.bs:
            rate = (in_iops[0] * unit.bs, in_iops[1])  # of -O
        if rate is not None and fits(replace(unit.topic(), depth=None), topic):
            cells.append(_Cell(unit.bs, unit.working, rate[0], f"{unit.setup} {unit.rw}"))
    return cells


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _accept(checker: Checker, right: bool, text: str, place: str, known: list[float]) -> None:
    figure: Figure = next(figures.find(text))
    checker.accept(right, figure, place, text, known, "surface")


def label(checker: Checker, figure: Figure, text: str, topic: Topic, place: str) -> None:
    """A figure in a drawing: a cell of a map, the median of a line, a limit or a size."""
    if figure.kind == "bytes":
        sizes = sorted(checker.part.sizes)
        checker.accept(any(figure.shows(size) for size in sizes), figure, place, text, sizes, "bytes")
    elif "limit of" in text:
        known = sorted(documented(checker.part, topic.setups)[figure.kind])
        checker.accept(any(figure.shows(one) for one in known), figure, place, text, known, "limit")
    else:
        lines: dict[str, list[float]] = {}
        for cell in _cells(checker.part, replace(topic, bs=None, working=None, depth=None, ddir=None)):
            lines.setdefault(cell.line, []).append(cell.rate)
        known = [rate for rates in lines.values() for rate in rates]
        known = [median(rates) for rates in lines.values()] if "median" in text else known
        shown = replace(figure, unit="MB/s")
        checker.accept(any(shown.shows(one) for one in known), figure, place, text, known, "surface")
