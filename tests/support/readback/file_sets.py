"""Sets of files of one workload: median and range, each host, and which files and hosts are outliers."""

from __future__ import annotations

import re
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bs4 import Tag

from readback import figures
from readback.figures import Figure, spaced, text_of
from readback.naming import SET, Topic, fits
from readback.reckoning import Unit

if TYPE_CHECKING:
    from readback.page import Page

DEFINITION = (
    "An outlier among files or hosts lies a factor of 1.2 or more from the median, and its modified z-score "
    "is above 3.5."
)
APART = re.compile(
    r"(?:host (?P<all>\S+), median of (?P<n>\d[\d,]*) files?|(?P<file>\S+)(?: \((?P<host>\S+)\))?) "
    r"(?P<rate>[\d.,]+ (?:IOPS|MB/s)), (?P<times>[\d.]+) times the median"
)


@dataclass
class _Spread:
    """The rates of a set in one unit, by file and by host."""

    values: list[float] = field(default_factory=list)
    files: list[tuple[str, str, float]] = field(default_factory=list)  # path, host, rate
    hosts: dict[str, list[tuple[str, float]]] = field(default_factory=dict)  # path and rate

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def medians(self) -> dict[str, float]:
        found = {host: statistics.median(v for _, v in rates) for host, rates in self.hosts.items()}
        return found if len(found) > 1 and "" not in found else {}


def card(checker: Page, tag: Tag, topic: Topic, place: str) -> None:
    """The range below the rate, a row a host, and the outliers."""
    condition = spaced(text_of(tag, "cond"))
    seen = _spread(checker, topic, "IOPS" if "IOPS" in text_of(tag, "rates") else "MB/s")
    ends = [figure for figure in figures.find(condition) if figure.kind in ("iops", "bytes_per_s")]
    _are(checker, ends, [min(seen.values), max(seen.values)], place, condition)
    unit = "IOPS" if "IOPS" in condition else "MB/s"
    rows = tag.select("table.hosts tbody tr")
    for row in rows:
        name, *cells = (spaced(cell.get_text(" ")) for cell in row.find_all(["th", "td"]))
        mine = seen.hosts.get(name, [])
        rates = [value for _, value in mine]
        told = [*figures.find(cells[1], unit), *figures.find(cells[2], unit)]
        text = f"{name}: {' '.join(cells)}"
        _are(checker, told, [statistics.median(rates), min(rates), max(rates)] if rates else [], place, text)
        if cells[0].replace(",", "") != str(len({file for file, _ in mine})):
            checker.fault(place, f"{text}: the tables have {len(mine)} files of it")
    more = next(figures.find(text_of(tag, "more-hosts")), None)
    if len(rows) + (int(more.value) if more else 0) != len(seen.medians):
        checker.fault(place, f"{len(rows)} rows of hosts; the tables have {len(seen.medians)}")
    _outliers(checker, seen, spaced(text_of(tag, "outliers")), place)


def lead(checker: Page, text: str, topic: Topic, place: str) -> None:
    """``give 500 IOPS at the median, from 400 to 600 IOPS; the medians of 5 hosts from …; 3 outliers``."""
    seen = _spread(checker, topic, "IOPS" if "IOPS" in text else "MB/s")
    first, *others = re.split(r"; ", text)
    told = [figure for figure in figures.find(first) if figure.kind in ("iops", "bytes_per_s")]
    _are(checker, told, [seen.median, min(seen.values), max(seen.values)], place, text)
    medians = seen.medians
    if medians:
        low, high = min(medians, key=medians.__getitem__), max(medians, key=medians.__getitem__)
        said = re.fullmatch(r"the medians of (\d+) hosts from ([\d.,]+) \((.+)\) to (.+) \((.+)\)", others[0])
        if not said or (int(said[1]), said[3], said[5]) != (len(medians), low, high):
            checker.fault(place, f"'{others[0]}': the tables have {len(medians)} hosts, {low} to {high}")
        else:
            unit = said[4].rpartition(" ")[2]
            ends = [*figures.find(said[2], unit), *figures.find(said[4])]
            _are(checker, ends, [medians[low], medians[high]], place, others[0])
    n = len(_apart({str(i): value for i, (*_, value) in enumerate(seen.files)}))
    if others[-1] not in (f"{n} outlier.", f"{n} outliers.", *(["no outlier."] if not n else [])):
        checker.fault(place, f"'{others[-1]}': the tables have {n}")


def _spread(checker: Page, topic: Topic, unit: str) -> _Spread:
    """What the units of a set gave, all directions together."""
    kind = {"IOPS": "iops", "MB/s": "bytes_per_s"}[unit]
    mine = [
        one
        for one in checker.part.measured
        if one.setup.startswith(SET) and one.setup in (topic.setups or ()) and fits(one.topic(), topic)
    ]
    at_once: dict[tuple[object, ...], list[Unit]] = {}
    for one in mine:
        at_once.setdefault(one.key, []).append(one)
    seen = _Spread()
    for group in at_once.values():
        rates = [checker.part.rates(one).get((kind, None)) for one in group]
        if all(rates):
            value = sum(rate[0] for rate in rates if rate)
            hosts = frozenset().union(*(one.hosts for one in group))
            (path,), host = group[0].files, next(iter(hosts)) if len(hosts) == 1 else ""
            seen.values.append(value)
            seen.files.append((path, host, value))
            seen.hosts.setdefault(host, []).append((path, value))
    return seen


def _apart(values: dict[str, float]) -> set[str]:
    """Outliers: a modified z-score above 3.5, and a factor of at least 1.2 from the median."""
    if len(values) < 5:
        return set()
    median = statistics.median(values.values())
    deviation = statistics.median(abs(value - median) for value in values.values())
    return {
        name
        for name, value in values.items()
        if 0.6745 * abs(value - median) > 3.5 * deviation and not median / 1.2 < value < 1.2 * median
    }


def _outliers(checker: Page, seen: _Spread, text: str, place: str) -> None:
    hosts = _apart(seen.medians)
    every = _apart({str(i): value for i, (*_, value) in enumerate(seen.files)})
    files = [seen.files[int(i)] for i in every if seen.files[int(i)][1] not in hosts]
    found = list(APART.finditer(text))
    told = [match for match in found if match["file"]]
    more = re.search(r"; (\d[\d,]*) more\.$", text)
    if {match["all"] for match in found if match["all"]} != hosts:
        checker.fault(place, f"'{text}': the tables have these hosts apart: {', '.join(sorted(hosts))}")
    if len(told) + (int(more[1].replace(",", "")) if more else 0) != len(files):
        checker.fault(place, f"'{text}': the tables have {len(files)} files apart")
    for match in found:
        (rate,) = figures.find(match["rate"])
        if match["all"]:
            values = [seen.medians.get(match["all"], 0.0)]
        else:
            mine = [
                one for one in files if one[0].endswith(match["file"]) and one[1] == (match["host"] or "")
            ]
            values = [value for *_, value in mine]
        checker.accept(any(rate.shows(value) for value in values), rate, place, match[0], values, "outlier")
        times = [value / seen.median for value in values]
        if not any(abs(float(match["times"]) / ratio - 1) <= 0.05 for ratio in times):
            checker.fault(place, f"'{match[0]}': it is {times}")


def _are(checker: Page, told: list[Figure], values: list[float], place: str, text: str) -> None:
    """These figures are these values, in this order."""
    if len(told) != len(values):
        checker.fault(place, f"'{text}' has {len(told)} rates; the tables give {len(values)}")
    for figure, value in zip(told, values, strict=False):
        checker.accept(figure.shows(value), figure, place, text, [value], "spread")
