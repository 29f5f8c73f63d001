"""Mix the runs of two or three disks, and see that no figure is taken over two of them and no run is lost.

    python benchmarks/random_mixtures.py --datasets N [--seed S] [--keep DIR]

Each dataset is drawn (``drawn_datasets.py``): which runs are of which disk is known from there. The cards,
results, prices and lead of its report, its verdicts and its comparison are read; a rate must be that of a
run, or the median of repeats on one disk that says so. Exit code 1 where one is not.
"""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Sequence
from typing import Any

from drawn_datasets import Drawn, Row, mixture
from drawn_runs import main
from readback import figures
from said_figures import (
    MEASURED,
    RATES,
    Surfaces,
    Tally,
    check_counts,
    check_measured,
    clusters,
    matching,
    rates,
    some_or_sets,
)

CLOSE = 1e-3  # of rates in JSON: fio's bytes/s are whole numbers


def check(tally: Tally, drawn: Drawn, said: Surfaces) -> None:
    """All that is said of a mixture."""
    for one in said.texts:
        if one.place in MEASURED:
            check_measured(tally, drawn, one)
        elif one.place == "lead":
            _lead(tally, drawn, one.text)
    check_counts(tally, drawn, said.texts, said.verdict["verdicts"])
    for verdict in said.verdict["verdicts"]:
        rate = verdict["achieved"]["iops"]
        tally.check("rate of a verdict", _is_of(rate, drawn.rows), verdict["id"], rate)
    for curve in said.verdict.get("curves", ()):
        _curve(tally, drawn, curve)
    for pair in (said.compared or {"pairs": ()})["pairs"]:
        for figure in (one for one in pair["figures"] if one["metric"] == "iops"):
            _compared(tally, drawn, figure)


def _lead(tally: Tally, drawn: Drawn, text: str) -> None:
    """A rate in the lead that lies between two disks is one that nobody measured."""
    if not re.search(" give .* at the median| reported the most ", text):
        return  # which is of limits
    rows = matching(drawn.rows, text, drawn.named)
    groups = some_or_sets(drawn, clusters(rows))
    medians = [statistics.median(rates(some, kind)) for some in groups for kind in RATES]
    known = [*medians, *(value for kind in RATES for value in rates(rows, kind))]
    for figure in (figure for figure in figures.find(text) if figure.kind in RATES):
        tally.check("rate in the lead", any(figure.shows(value) for value in known), text, medians)


def _curve(tally: Tally, drawn: Drawn, curve: dict[str, Any]) -> None:
    """The points of a curve are medians of one disk, all of the same."""
    sides = []
    for point in curve["points"]:
        mine = [
            some
            for some in clusters(drawn.rows)
            if some[0].rw == curve["rw"] and some[0].queue_depth == point["queue_depth"]
        ]
        right = [some for some in mine if _near(point["iops"], statistics.median(rates(some, "iops")))]
        right = [some for some in right if len(some) == point["repeats"]]
        tally.check("point of a curve", bool(right), point, [len(some) for some in mine])
        sides.append({some[0].side for some in right})
    if all(sides):
        tally.check("curve of one disk", bool(set.intersection(*sides)), f"{curve['name']}: {sides}")


def _compared(tally: Tally, drawn: Drawn, figure: dict[str, Any]) -> None:
    """The medians of a comparison, each of all runs of a folder."""
    for which, folder in (("old", drawn.named[0]), ("new", drawn.named[1])):
        mine = [row for row in drawn.rows if row.path.startswith(f"{folder}/")]
        groups = clusters(matching(mine, figure["workload"]))
        ddirs = ("read", "write") if "," in figure["workload"].partition("I/O, QD")[2] else (None,)
        told = figure[which]
        known = [rates(some, "iops", ddir) for some in groups for ddir in ddirs]
        right = any(
            len(told["runs"]) == len(some) and _near(told["median"], statistics.median(some))
            for some in known
            if some
        )
        tally.check("compared", right, f"{figure['workload']}, {folder}: {told}", known)


def _is_of(rate: float, rows: Sequence[Row]) -> bool:
    return any(_near(rate, value) for row in rows for value in (row.total, *row.iops.values()))


def _near(rate: float, value: float) -> bool:
    return abs(rate - value) <= CLOSE * value


if __name__ == "__main__":
    sys.exit(main(__doc__ or "", [mixture], check))
