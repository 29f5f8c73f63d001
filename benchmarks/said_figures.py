"""What a report, a verdict and a comparison say of a drawn dataset, and the rows that a text can speak of.

Texts are taken from the page as a reader sees it. Rows are those of the generator: nothing here asks azbench
what a dataset holds, which runs are repeats, or what their figures are.
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from bs4 import BeautifulSoup, Tag
from drawn_datasets import Drawn, Row
from readback import figures, foreign
from readback.figures import Figure, spaced, text_of

from azbenchlib.api import measured
from azbenchlib.core.errors import InputError
from azbenchlib.views.report import Report

CELLS = ("header", "cards", "compared", "prices", "results")
NAMES = {
    "random reads": "randread",
    "random writes": "randwrite",
    "sequential reads": "read",
    "sequential writes": "write",
    "mixed random I/O": "randrw",
}
_SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20}
_PATTERN = re.compile("|".join(NAMES), re.I)
_DEPTH = re.compile(r"QD (\d[\d,]*)(?! to)\b")
_DEPTHS = re.compile(r"QD [\d,]+ to [\d,]+")
_SIZE = re.compile(r"(?<![\d.,] to )(?<![\w.,])(\d[\d.]*) (B|KiB|MiB)\b(?! to| of data)(?!/s)")
_SIZES_SWEPT = re.compile(r"\d+(?: [KM]iB)? to \d+ [KM]iB")
NEAR = re.compile(r"(\d+) of (\d+) runs near ([\d.,]+ (?:IOPS|MB/s))")
MEDIAN = re.compile(r"median of (\d+) runs(?:, ([\d.,]+) to ([\d.,]+) (IOPS|MB/s))?")
RATES = ("iops", "bytes_per_s")
MOST_OF_A_SET = 0.75  # of files of one workload: what is farther away is told as an outlier


@dataclass(frozen=True, kw_only=True)
class Said:
    """A text: where it stands, what it is of, and the unit of bare numbers in it."""

    place: str
    about: str
    text: str
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.place} '{self.about}': {self.text}"


@dataclass(kw_only=True)
class Surfaces:
    """All that is said of a dataset."""

    texts: list[Said]
    verdict: dict[str, Any]
    compared: dict[str, Any] | None = None


@dataclass(kw_only=True)
class Tally:
    """How many statements were checked, of which kinds, and which the rows contradict."""

    checked: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    contradicted: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)  # sentences with figures that no form fits

    def check(self, kind: str, right: bool, said: object, known: object = "") -> None:
        """Count a statement; `known` is what the rows give in its place."""
        self.checked[kind] += 1
        if not right:
            self.contradicted.append(f"{kind}: {said}{f' – the rows give {known}' if known != '' else ''}")


def surfaces(drawn: Drawn, home: Path) -> Surfaces:
    """Write a dataset, and have it reported, judged and, where folders are named, compared."""
    paths = drawn.write(home)
    report = Report(paths, **drawn.stated)  # type: ignore[arg-type]
    html = "\n".join(getattr(report, cell)().html for cell in CELLS)
    judged = measured.judge(report.parts[0].dataset).to_dict()
    compared = None
    if len(paths) > 1:
        try:
            compared = measured.compare(paths[0], paths[1]).to_dict()
        except InputError:
            compared = None
    return Surfaces(texts=list(texts(html)), verdict=judged, compared=compared)


def texts(html: str) -> Iterator[Said]:
    """The texts of a page: lead, facts, cards, comparison, prices and results."""
    soup = BeautifulSoup(html.replace("<wbr>", ""), "html.parser")
    for tag in soup.select("p.finding > span"):
        yield Said(place="lead", about="", text=spaced(tag.get_text("")))
    for pair in soup.select("header dl > div, .facts > div"):
        name, text = (spaced(part.get_text(" ")) for part in pair.find_all(["dt", "dd"])[:2])
        yield Said(place="facts", about=name, text=text)
    for card in soup.select("article.card"):
        yield from _of_card(card)
    for table in soup.find_all("table"):
        yield from _of_table(table)
    for tag in soup.find_all("p", string=re.compile("^A month of")):
        yield Said(place="price", about="", text=spaced(tag.get_text(" ")))


def _of_card(card: Tag) -> Iterator[Said]:
    about = text_of(card, "name")
    rate_of = text_of(card, "cond")
    of_card = {"sentence": "sentence", "why": "why", "condition": "cond", "outliers": "outliers"}
    for place, css in of_card.items():
        if text := text_of(card, css):
            yield Said(place=place, about=about, text=text)
    for big in card.find_all("p", "big"):
        yield Said(place="card", about=f"{about}; {rate_of}", text=spaced(big.get_text(" ")))
    for listed in card.find_all("dl", "lat"):
        below = listed.find_next_sibling("p", "cond")
        of = spaced(below.get_text(" ")) if below else ""
        at = rate_of if rate_of.startswith("At ") else ""
        for pair in listed.find_all("div"):
            yield Said(place="latency", about=f"{about}; {at}; {of}", text=spaced(pair.get_text(" ")))
    for bar in card.select("li.bar"):
        text = f"{text_of(bar, 'pct')} of {text_of(bar, 'of')}"
        yield Said(place="bar", about=f"{about}; {rate_of}", text=text)
    if text_of(card, "price"):
        yield Said(place="price", about=f"{about}; {rate_of}", text=text_of(card, "price"))
    for step in card.find_all("p", "step"):
        head = step.find("b")
        name = spaced(head.get_text()) if head else ""
        text = spaced(step.get_text(" ")).removeprefix(name).strip()
        yield Said(place=name or "step", about=about, text=text)


def _of_table(table: Tag) -> Iterator[Said]:
    name = str(table.get("id", "")) or ("compared" if "ratio" in table.get_text() else "")
    heads = [spaced(th.get_text(" ")) for th in table.select("thead th")]
    for row in table.select("tbody tr"):
        head, cells = row.find("th"), [spaced(td.get_text(" ")) for td in row.find_all("td")]
        about = spaced(head.get_text(" ")) if head else ""
        if not head and cells:
            about, *cells = cells
        told = dict(zip(heads[1:], cells, strict=False))
        about = "; ".join(filter(None, [about, told.get("Rates are", "")]))
        for title, text in told.items():
            if text:
                yield Said(place=f"{name} {title}", about=about, text=text, unit=title)


# --- the rows that a text can speak of ----------------------------------------------------------------------


def clusters(rows: Iterable[Row]) -> list[list[Row]]:
    """Repeats: rows of one workload on one disk."""
    groups = defaultdict(list)
    for row in rows:
        groups[row.side, row.load].append(row)
    return list(groups.values())


def matching(rows: Sequence[Row], text: str, named: Sequence[str] = ()) -> list[Row]:
    """The rows of which a text can be: by pattern, block size, depth, folder, file, and level."""
    mine, text = list(rows), spaced(text)
    if words := {match[0].lower() for match in _PATTERN.finditer(text)}:
        wanted = {rw for name, rw in NAMES.items() if name.lower() in words}
        mine = [row for row in mine if row.rw in wanted]
    if depths := {float(told.replace(",", "")) for told in _DEPTH.findall(_DEPTHS.sub("", text))}:
        mine = [row for row in mine if row.queue_depth in depths]
    if sizes := {float(n) * _SIZES[unit] for n, unit in _SIZE.findall(_SIZES_SWEPT.sub("", text))}:
        mine = [row for row in mine if row.bs in sizes]
    if files := [row for row in mine if _names(text, row.path)]:
        mine = files
    if sides := [name for name in named if name and re.search(rf"\b{re.escape(name)}\b", text)]:
        mine = [row for row in mine if row.path.partition("/")[0] in sides]
    if near := NEAR.search(text):
        (rate,) = figures.find(near[3])
        every = [some for some in clusters(mine) if is_near(rate, some)]
        mine = [row for some in every for row in some]
    return mine


def _names(text: str, path: str) -> bool:
    """Whether a text names a file, by its path or its last parts."""
    return bool(re.search(rf"(?<![\w-]){re.escape(PurePath(path).name)}", text))


def rates(rows: Iterable[Row], kind: str, ddir: str | None = None) -> list[float]:
    """The rates of rows, of a direction or of all; of a run with phases those of the phases."""
    found = []
    for row in rows:
        scale = 1.0 if kind == "iops" else float(row.bs)
        mine = row.iops.get(ddir, 0.0) if ddir else row.total
        found += [scale * rate for rate, _ in row.phases] or ([scale * mine] if mine else [])
    return found


def direction(text: str) -> str | None:
    """Of which direction a workload with two is told: ``8 KiB mixed random I/O, QD 32, reads``."""
    told = re.search(r"(?:, | of )(reads|writes)\b", text)
    return told[1].removesuffix("s") if told and "mixed" in text else None


def is_near(figure: Figure, rows: Sequence[Row]) -> bool:
    """Whether a number is the median of repeats, of one direction or of all, in whole IOPS."""
    ddirs = (None, *(("read", "write") if len(rows[0].iops) > 1 else ()))
    every = [rates(rows, figure.kind, ddir) for ddir in ddirs]
    medians = [statistics.median(some) for some in every if some]
    return any(
        figure.shows(one) or (figure.kind == "iops" and abs(figure.base - one) <= 0.5) for one in medians
    )


def latencies(rows: Sequence[Row], percentile: float, ddir: str | None = None) -> list[float]:
    """Each run's own latency at a percentile, in µs."""
    flows = [flow for row in rows for name, flow in row.job.flows.items() if ddir in (None, name)]
    return [flow.at(percentile) / 1000 for flow in flows]


def pooled_latency(rows: Sequence[Row], percentile: float, ddir: str) -> float | None:
    """That of all I/Os of repeats together, in µs."""
    counts: dict[int, int] = defaultdict(int)
    for row in rows:
        for value, n in row.job.flows[ddir].counts.items() if ddir in row.iops else ():
            counts[value] += n
    return foreign.ranked(counts, percentile) / 1000 if counts else None


# --- figures of the rows themselves -------------------------------------------------------------------------

MEASURED = (
    "card",
    "condition",
    "results IOPS",
    "results MB/s",
    "results Rates are",
    "price IOPS",
    "price MB/s",
)


def check_measured(tally: Tally, drawn: Drawn, said: Said) -> None:
    """A rate is that of a run, or the median of the repeats that it says it is of, and of no others."""
    text = f"{said.about}; {said.text}"
    rows, ddir = matching(drawn.rows, text, drawn.named), direction(text)
    some = clusters(rows)
    if near := NEAR.search(text):
        n, of = int(near[1]), int(near[2])
        loads = {row.load for row in rows}
        every = [len([row for row in drawn.rows if row.load == load]) for load in loads]
        tally.check(
            "n of m runs", n in map(len, some) and of in every, said, f"{[*map(len, some)]} of {every}"
        )
    told = MEDIAN.search(text)
    if told:
        some = [group for group in some_or_sets(drawn, some) if _is_of(told, group, ddir)]
        tally.check("median of n runs", bool(some), said, _in_words(rows, ddir))
    if said.place == "condition" or said.unit == "Rates are":
        return
    for figure in (figure for figure in figures.find(said.text, said.unit) if figure.kind in RATES):
        if told or near:
            known = [statistics.median(rates(group, figure.kind, ddir)) for group in some]
        else:
            known = rates(rows, figure.kind, ddir)
        tally.check("rate", any(figure.shows(value) for value in known), said, known[:6])


def some_or_sets(drawn: Drawn, some: Sequence[list[Row]]) -> list[list[Row]]:
    """Repeats; of files of which no setup is stated also all of a workload, where three quarters are of one
    disk: the median is that disk's, and the report names the others as outliers.
    """
    every = [
        [row for group in some for row in group if row.load == load] for load in {g[0].load for g in some}
    ]
    most = [max(len(group) for group in some if group[0].load == rows[0].load) for rows in every]
    sets = [rows for rows, n in zip(every, most, strict=True) if n >= MOST_OF_A_SET * len(rows)]
    return [*some, *([] if drawn.vm else sets)]


def _is_of(told: re.Match[str], rows: Sequence[Row], ddir: str | None) -> bool:
    """Whether so many runs with this range are these repeats."""
    if int(told[1]) != len(rows):
        return False
    ends = [figure for end in told.groups()[1:3] if end for figure in figures.find(f"{end} {told[4]}")]
    known = rates(rows, ends[0].kind, ddir) if ends else []
    return not ends or (ends[0].shows(min(known)) and ends[1].shows(max(known)))


def _in_words(rows: Sequence[Row], ddir: str | None) -> str:
    known = [(len(group), sorted(rates(group, "iops", ddir))) for group in clusters(rows)]
    return "; ".join(f"{n} runs, {some[0]:,.1f} to {some[-1]:,.1f} IOPS" for n, some in known if some)


def check_counts(tally: Tally, drawn: Drawn, said: Sequence[Said], verdicts: Sequence[object]) -> None:
    """No run is lost: not among the facts, in the table of results, or among the verdicts."""
    n_runs = len(drawn.rows)
    for text in (one.text for one in said if one.about == "Data"):
        tally.check("runs counted", bool(re.search(rf"\b{n_runs} runs?\b", text)), text, n_runs)
    shown = [
        int(n[1]) if (n := MEDIAN.search(one.about)) else 1 for one in said if one.place == "results IOPS"
    ]
    ways = sum(len(row.iops) for row in drawn.rows)
    tally.check("runs in the results", sum(shown) == ways, shown, ways)
    tally.check("verdicts", len(verdicts) == n_runs, len(verdicts), n_runs)
