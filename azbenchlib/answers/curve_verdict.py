"""What binds a curve over the queue depth, from which depth on, and where it is best.

The card of a report, its lead, `azbench verdict` and a cell of a notebook say it by these sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis.grouping import Arrangement
from azbenchlib.analysis.load_curves import (
    FLAT,
    LoadCurve,
    depth_of,
    load_curves,
    percentile_of,
    rate_of,
)
from azbenchlib.analysis.summary import Card
from azbenchlib.answers import sayings
from azbenchlib.answers.document import FigureTable, Part, Section, Sentence, TableColumn, TableRow, Tone
from azbenchlib.answers.figures import (
    AS_BYTES_PER_S,
    AS_COUNT,
    AS_IOPS,
    AS_MICROSECONDS,
    AS_PROBABILITY,
    AS_SHARE,
    Figure,
    FigureUnit,
)
from azbenchlib.answers.judged_entries import verdict_sentence
from azbenchlib.core.histogram import format_percentile
from azbenchlib.core.units import NBSP, format_depth
from azbenchlib.verdict import text
from azbenchlib.verdict.judgement import Judgement

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AS_DEPTH = FigureUnit("queue_depth", format_depth)
_AS_PERCENTILE = FigureUnit("us", format_percentile)
_TAIL = 99.0
_SHOWN = (50.0, _TAIL)
_SLOWER = 1.1  # times: from there on more depth costs latency
_TIMES = FigureUnit("ratio", lambda ratio: f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}")


@dataclass(frozen=True, kw_only=True)
class CurveVerdict:
    """A curve with the judgement of each of its points.

    Attributes
    ----------
    curve : LoadCurve
    judged : tuple of Judgement or None
        One a point; None: it was not judged.
    run_ids : frozenset of str
        Of all its points.
    """

    curve: LoadCurve
    judged: tuple[Judgement | None, ...]
    run_ids: frozenset[str]

    @property
    def name(self) -> str:
        """What was swept, and from which depth to which: ``4 KiB random reads, QD 1 to 128``."""
        first, last = depth_of(self.curve.points[0]), depth_of(self.curve.deepest)
        return f"{self.curve.name}, {format_depth(first)} to {last:,.0f}"

    @cached_property
    def place(self) -> int:
        """Which point the card shows: from the best on the first at a limit; without one, the first of which
        the cause is known; else the best.
        """
        best = self.curve.points.index(self.curve.best)
        known = [(i, judged) for i, judged in enumerate(self.judged) if judged and i >= best]
        bound = [i for i, judged in known if _is_bound(judged)]
        sure = [i for i, judged in known if judged.probability >= text.PROBABLY]
        return (bound or sure or [best])[0]

    @property
    def point(self) -> Card:
        """The point that the card shows."""
        return self.curve.points[self.place]

    @property
    def judgement(self) -> Judgement | None:
        """Of that point."""
        return self.judged[self.place]

    @property
    def binds_from(self) -> float | None:
        """The depth from which on one documented limit binds all deeper points; None where none does."""
        judged = self.judgement
        if judged is None or not _is_bound(judged):
            return None
        first = self.place
        while first and _same(self.judged[first - 1], judged):
            first -= 1
        deeper = all(_same(other, judged) for other in self.judged[first:])
        return depth_of(self.curve.points[first]) if deeper else None

    @property
    def since(self) -> str:
        """``from QD 8 on``; empty where no limit binds from some depth on."""
        return "" if self.binds_from is None else f"from {format_depth(self.binds_from)} on"

    @property
    def sentence(self) -> str:
        """What binds, with the figures of the limits, and from which depth on."""
        if self.judgement is None:
            return ""
        judged = self.judgement
        words = sayings.sentence(judged, "") if judged.limits else judged.words
        return ", ".join(filter(None, [words, self.since]))

    @property
    def slower(self) -> float:
        """How many times as long p99 is at the deepest point as at the best; 1 where it is not known."""
        before, after = (percentile_of(point, _TAIL) for point in (self.curve.best, self.curve.deepest))
        return after[0] / before[1] if before and after else 1.0

    @property
    def beyond(self) -> Sentence:
        """At which depth the curve is best, and what more depth costs."""
        best, deepest = self.curve.best, self.curve.deepest
        figures: dict[str, Figure | str] = {
            "depth": Figure(depth_of(best), AS_DEPTH),
            "deepest": Figure(depth_of(deepest), AS_DEPTH),
        }
        if best is deepest:
            return Sentence("Up to {deepest} the rate grows: a deeper queue may give more", figures)
        fallen = rate_of(deepest) < (1 - FLAT) * rate_of(best)
        rate = "the rate falls" if fallen else "the rate stays"
        before, after = percentile_of(best, _TAIL), percentile_of(deepest, _TAIL)
        if before is None or after is None or self.slower < _SLOWER:
            return Sentence(f"Best at {{depth}}: beyond it {rate}", figures)
        figures |= {
            "first": Figure(before[1], _AS_PERCENTILE),
            "last": Figure(after[0], _AS_PERCENTILE),
            "times": Figure(self.slower, _TIMES),
        }
        grows = "the rate falls and latency grows" if fallen else "only latency grows"
        return Sentence(
            f"Best at {{depth}}: beyond it {grows}, p99 from {{first}} to {{last}} at {{deepest}} "
            "({times} times)",
            figures,
        )

    def table(self) -> FigureTable:
        """A row a depth: rates, latencies, and how much of which limit was used."""
        rows = [_cells(point, judged) for point, judged in zip(self.curve.points, self.judged, strict=True)]
        kept = [i for i in range(len(_COLUMNS)) if any(row[i] is not None for row in rows)]
        return FigureTable(
            columns=[_COLUMNS[i] for i in kept],
            rows=[TableRow([row[i] for i in kept], tone=_tone(row[-1])) for row in rows],
        )

    @property
    def section(self) -> Section:
        """What is said of the curve, below its name."""
        return Section(self.name[:1].upper() + self.name[1:], list(self._parts()))

    def _parts(self) -> Iterator[Part]:
        if self.judgement is not None:
            yield verdict_sentence(self.judgement, self.sentence)
        yield self.beyond
        yield self.table()

    def record(self) -> dict[str, Any]:
        """Return the curve as plain data: rates in base units, latencies in µs."""
        judged = self.judgement
        return {
            "name": self.curve.name,
            "rw": self.curve.pattern,
            "bs_bytes": self.curve.bs_bytes,
            "sentence": self.sentence,
            "binding": [] if judged is None else [str(label) for label in judged.binding],
            "probability": None if judged is None else judged.probability,
            "binds_from_queue_depth": self.binds_from,
            "best_queue_depth": depth_of(self.curve.best),
            "points": [_record(point) for point in self.curve.points],
        }


def curve_verdicts(
    arrangement: Arrangement,
    tables: Mapping[str, pd.DataFrame],
    judged: Mapping[str, Judgement],
    known: pd.DataFrame | None = None,
) -> list[CurveVerdict]:
    """Return the curves of a dataset with the judgements of their points.

    Parameters
    ----------
    arrangement : Arrangement
    tables : mapping of str to DataFrame
    judged : mapping of str to Judgement
        By run_id.
    known : DataFrame, optional
        The percentile curves, where they were made before.
    """
    runs = arrangement.runs.drop_duplicates("run_id")
    by_point = runs.groupby(["series", "whole"], sort=False)["run_id"].agg(list)
    made = []
    for curve in load_curves(arrangement, tables, known):
        ids = [by_point[point.series, point.facet] for point in curve.points]
        votes = tuple(vote([judged[one] for one in some if one in judged])[0] for some in ids)
        made.append(CurveVerdict(curve=curve, judged=votes, run_ids=frozenset(chain.from_iterable(ids))))
    return made


def summary(curves: Sequence[CurveVerdict]) -> FigureTable:
    """Return a row a curve: where it is best, what it gives there, and what binds it."""
    rows = [TableRow(_summed(curve)) for curve in curves]
    return FigureTable(columns=_SUMMARY, rows=rows, title="Curves over the queue depth, at the best depth")


def _summed(verdict: CurveVerdict) -> list[Any]:
    best, judged = verdict.curve.best, verdict.judgement
    rate: Any = best.rate
    since = verdict.binds_from
    return [
        verdict.curve.name,
        int(depth_of(best)),
        _known(rate["iops"]),
        _known(rate["bw_bytes_per_s"]),
        _latency(best, _TAIL),
        " and ".join(label.display_name for label in judged.binding) if judged else None,
        None if since is None else int(since),
        judged.probability if judged and judged.probability else None,
    ]


def draw(axes: Axes, curves: Sequence[CurveVerdict]) -> None:
    """Draw the IOPS of curves over the queue depth."""
    for curve in (verdict.curve for verdict in curves):
        depths, rates = ([of(point) for point in curve.points] for of in (depth_of, rate_of))
        axes.plot(depths, rates, marker="o", label=curve.name)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Queue depth")
    axes.set_ylabel("IOPS")
    axes.legend()


def vote(judged: Sequence[Judgement]) -> tuple[Judgement | None, int]:
    """Return the judgement of repeats, the middle one of those that agree, and how many do."""
    votes = Counter(one.binding for one in judged)
    if not votes:
        return None, 0
    binding, n = votes.most_common(1)[0]
    agreeing = sorted((one for one in judged if one.binding == binding), key=lambda one: one.peak_use)
    return agreeing[(n - 1) // 2], n


def _is_bound(judged: Judgement) -> bool:
    return judged.at_limit and judged.probability >= text.PROBABLY


def _same(judged: Judgement | None, other: Judgement) -> bool:
    return judged is not None and _is_bound(judged) and judged.binding == other.binding


_COLUMNS = (
    TableColumn("queue_depth", "QD", AS_COUNT),
    TableColumn("repeats", "Runs", AS_COUNT),
    TableColumn("iops", "IOPS", FigureUnit("iops", AS_IOPS.form)),
    TableColumn("bw_bytes_per_s", "MB/s", FigureUnit("bytes_per_s", AS_BYTES_PER_S.form)),
    *(TableColumn(f"p{p:g}_us", f"p{p:g}", AS_MICROSECONDS) for p in _SHOWN),
    TableColumn("share", "Used", AS_SHARE),
    TableColumn("limit", "Of the limit"),
)


_SUMMARY = (
    TableColumn("workload", "Workload"),
    *(_COLUMNS[i] for i in (0, 2, 3, 5)),
    TableColumn("limit", "Bound by"),
    TableColumn("binds_from", "From QD", AS_COUNT),
    TableColumn("probability", "Certain", AS_PROBABILITY),
)


def _cells(point: Card, judged: Judgement | None) -> list[Any]:
    rate: Any = point.rate
    used = max(judged.limits, key=lambda row: row.utilisation, default=None) if judged else None
    return [
        int(depth_of(point)),
        int(rate["repeats"]) if rate["repeats"] > 1 else None,
        _known(rate["iops"]),
        _known(rate["bw_bytes_per_s"]),
        *(_latency(point, percentile) for percentile in _SHOWN),
        used and used.utilisation,
        used and used.label.display_name,
    ]


def _known(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _latency(point: Card, percentile: float) -> Figure | Sentence | None:
    ends = percentile_of(point, percentile)
    if ends is None:
        return None
    low, high = (Figure(end, _AS_PERCENTILE) for end in ends)
    if str(low) == str(high):
        return low
    bare, unit = str(low).rpartition(NBSP)[::2]
    first = Figure(ends[0], _AS_PERCENTILE, text=bare if str(high).endswith(unit) else str(low))
    return Sentence("{lowest} to {highest}", {"lowest": first, "highest": high})


def _tone(limit: Any) -> Tone:
    return Tone.PLAIN if limit else Tone.FAINT


def _record(point: Card) -> dict[str, Any]:
    rate: Any = point.rate
    ends = {f"p{p:g}": percentile_of(point, p) for p in _SHOWN}
    return {
        "queue_depth": depth_of(point),
        "iops": _known(rate["iops"]),
        "bw_bytes_per_s": _known(rate["bw_bytes_per_s"]),
        "repeats": int(rate["repeats"]),
        "latency_us": {name: list(pair) for name, pair in ends.items() if pair},
    }
