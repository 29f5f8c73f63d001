"""Draw datasets as people bring them, and work out each headline again from the rows.

    python benchmarks/random_headlines.py --datasets N [--seed S] [--keep DIR]

Sweeps of depths, jobs and block sizes, repeats, single runs, folders before and after a change, bursts with
their logs and matrices of iozone are drawn (``drawn_datasets.py``), with and without a stated setup. What the
lead, the cards, the tables, the verdicts and the comparison of a report say is held against medians, extremes
and shares of the rows, and against the rows of the catalogue and of the price book, which are read as files.
Exit code 1 where a statement contradicts them.
"""

from __future__ import annotations

import re
import statistics
import sys
from typing import Any

from documented_limits import check_price, counted, limits_of
from drawn_datasets import KINDS, Drawn
from drawn_runs import main
from headline_sentences import NUMBER, check_sentence, medians_of, used_of
from iozone_matrices import FILES
from readback import figures
from said_figures import (
    MEASURED,
    RATES,
    Said,
    Surfaces,
    Tally,
    check_counts,
    check_measured,
    clusters,
    direction,
    latencies,
    matching,
    pooled_latency,
    rates,
)

BIN = 1 / 32  # of a merged latency: two bins of fio's


def check(tally: Tally, drawn: Drawn, said: Surfaces) -> None:
    """All that is said of a dataset."""
    for one in said.texts:
        if drawn.matrix:
            _of_matrix(tally, drawn, one)
        elif one.place in MEASURED:
            check_measured(tally, drawn, one)
        elif one.place == "latency" or re.fullmatch(r"results p[\d.]+", one.place):
            _latency(tally, drawn, one)
        elif one.place in ("bar", "why", "price") or one.place.startswith("price "):
            {"bar": _bar, "why": _why}.get(one.place, check_price)(tally, drawn, one)
        elif "-compared-" in one.place:
            _compared_cell(tally, drawn, one)
        elif one.place != "facts":
            check_sentence(tally, drawn, one)
    if not drawn.matrix:
        check_counts(tally, drawn, said.texts, said.verdict["verdicts"])
        _verdicts(tally, drawn, said.verdict)
    if said.compared:
        _compared(tally, drawn, said.compared)


# --- parts of cards ---------------------------------------------------------------------------------------


def _latency(tally: Tally, drawn: Drawn, said: Said) -> None:
    """A percentile is a run's own, the median or a range of those, or that of all I/Os together."""
    rows, ddir = matching(drawn.rows, said.about, drawn.named), direction(said.about)
    told = re.search(r"p([\d.]+)", said.unit or said.text)
    tally.check("latency of some rows", told is not None and bool(rows), said)
    if told is None:
        return
    percentile = float(told[1])
    ddirs = [ddir] if ddir else sorted({way for row in rows for way in row.iops})
    known = [one for way in ddirs for one in latencies(rows, percentile, way)]
    for some in clusters(rows):
        known += [statistics.median(latencies(some, percentile, way)) for way in ddirs]
    merged = [pooled_latency(some, percentile, way) for some in clusters(rows) for way in ddirs]
    text = said.text if said.unit else said.text.removeprefix(told[0])
    for figure in figures.find(text):
        right = any(map(figure.shows, known))
        right |= any(one and abs(figure.base - one) <= figure.half + BIN * one for one in merged)
        tally.check("latency", right, said, known[:6])


def _bar(tally: Tally, drawn: Drawn, said: Said) -> None:
    """``102 % of 5,000 IOPS``: the share of a documented limit that a run used."""
    share, limit = list(figures.find(said.text))[:2]
    rows = matching(drawn.rows, said.about, drawn.named)
    known = limits_of(drawn)[limit.kind]
    tally.check("documented limit", any(map(limit.shows, known)), said, sorted(known))
    used = [100 * one for one in used_of(drawn, rows, limit, of_runs=True)]
    tally.check("bar", any(map(share.shows, used)), said, used[:6])


def _why(tally: Tally, drawn: Drawn, said: Said) -> None:
    """``At 4 KiB that is 20.5 MB/s.``: a documented limit in the other unit."""
    found = list(figures.find(said.text))
    size = next(figure.base for figure in found if figure.kind == "bytes")
    for figure in (figure for figure in found if figure.kind in RATES):
        other = limits_of(drawn)["bytes_per_s" if figure.kind == "iops" else "iops"]
        known = [value / size if figure.kind == "iops" else value * size for value in other]
        right = any(figure.shows(one) or abs(figure.base - one) <= 0.5 for one in known)
        tally.check("limit in the other unit", right, said, known)


# --- plain data -------------------------------------------------------------------------------------------


def _verdicts(tally: Tally, drawn: Drawn, verdict: dict[str, Any]) -> None:
    """Rates and shares of limits of each run, and the points of curves."""
    for one in verdict["verdicts"]:
        rate = one["achieved"]["iops"]
        known = rates(drawn.rows, "iops") + [row.total for row in drawn.rows]
        tally.check("rate of a verdict", any(_near(rate, value) for value in known), one["id"], rate)
        for row in one["limits"] if not one["points"] else ():
            kind, scale = ("iops", 1.0) if row["label"].endswith("iops") else ("bytes_per_s", 1e6)
            value = scale * row["value"]
            tally.check("limit of a verdict", any(_near(value, x) for x in limits_of(drawn)[kind]), row)
            used = [counted(drawn, row, value, kind) for row in drawn.rows]
            used += [rate / value for rate in rates([r for r in drawn.rows if r.phases], kind)]
            tally.check("share of a verdict", any(_near(row["utilisation"], x) for x in used), row, used[:6])
    for curve in verdict.get("curves", ()):
        for point in curve["points"]:
            rows = [row for row in drawn.rows if row.rw == curve["rw"]]
            right = any(_near(point["iops"], value) for value in medians_of(rows, "iops"))
            tally.check("point of a curve", right, point)


def _compared(tally: Tally, drawn: Drawn, compared: dict[str, Any]) -> None:
    """Medians and ratios of both sides, and the counts of the first sentence."""
    told = [one for pair in compared["pairs"] for one in pair["figures"]]
    counted = re.search(r"(\d+) of (\d+) figures|all (\d+) figures", compared["sentence"])
    if counted:
        answers = [one["answer"] for one in told]
        of = int(counted[2] or counted[3])
        tally.check("figures compared", of == len(told), compared["sentence"], len(told))
        n, kind = int(counted[1] or of), compared["result"]
        tally.check("figures of an answer", n == answers.count(kind), compared["sentence"], answers)
    for figure in (one for one in told if one["metric"] == "iops"):
        sides = _sides(drawn)
        for which, known in zip(("old", "new"), sides, strict=True):
            right = len(figure[which]["runs"]) == len(known)
            right &= _near(figure[which]["median"], statistics.median(known))
            tally.check("compared", right, figure[which], statistics.median(known))
        tally.check("ratio", _near(figure["ratio"], _ratio(sides)), figure["ratio"], _ratio(sides))


def _compared_cell(tally: Tally, drawn: Drawn, said: Said) -> None:
    """The medians and the ratio of IOPS on the page."""
    sides = _sides(drawn)
    known = {"IOPS old": 0, "new": 1}
    if said.unit in known:
        median = statistics.median(sides[known[said.unit]])
        (figure,) = figures.find(said.text, "IOPS")
        tally.check("compared on the page", figure.shows(median), said, median)
    elif said.unit == "ratio":
        right = abs(float(said.text.lstrip("×")) - _ratio(sides)) <= 0.00051
        tally.check("ratio on the page", right, said, _ratio(sides))


def _sides(drawn: Drawn) -> list[list[float]]:
    """The IOPS of each folder that is named."""
    return [
        rates([row for row in drawn.rows if row.path.startswith(f"{name}/")], "iops") for name in drawn.named
    ]


def _ratio(sides: list[list[float]]) -> float:
    """The second over the first, of geometric means."""
    return statistics.geometric_mean(sides[1]) / statistics.geometric_mean(sides[0])


def _of_matrix(tally: Tally, drawn: Drawn, said: Said) -> None:
    """Ranges of rates up to and from a size of files on, and how many runs a page cache served."""
    for low, high, way, size in re.findall(
        rf"(?:({NUMBER}) to )?({NUMBER}) MB/s (up to|from) files of (\d+ [MG]iB)", said.text
    ):
        name = said.about.partition(" ")[2].lower()
        test = {"sequential writes": "write", "sequential reads": "read"}.get(name, name)
        edge = next(figures.find(size)).base
        cells = [
            rate
            for (what, file, _), rate in drawn.matrix.items()
            if what == test and (file <= edge if way == "up to" else file >= edge)
        ]
        for text, known in ((low or high, min(cells)), (high, max(cells))):
            tally.check("range of a matrix", next(figures.find(f"{text} MB/s")).shows(known), said, known)
    if told := re.search(r"served ([\d,]+) of ([\d,]+) runs", said.text):
        served = [rate for (_, file, _), rate in drawn.matrix.items() if file < FILES[-2]]
        right = [len(served), len(drawn.matrix)] == [int(n.replace(",", "")) for n in told.groups()]
        tally.check("runs of a matrix", right, said, (len(served), len(drawn.matrix)))


def _near(value: float, known: float) -> bool:
    return abs(value - known) <= 1e-3 * abs(known)


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", KINDS, check))
