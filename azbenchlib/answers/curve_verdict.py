"""What binds a curve over the queue depth or another axis, from where on, and where it is best.

The card of a report, its lead, `azbench verdict` and a cell of a notebook say it by these sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis.axes import QUEUE_DEPTH, Axis
from azbenchlib.analysis.grouping import Arrangement
from azbenchlib.analysis.load_curves import TAIL, LoadCurve, load_curves, percentile_of
from azbenchlib.analysis.summary import Card
from azbenchlib.answers import curve_words, sayings
from azbenchlib.answers.curve_words import AS_PERCENTILE
from azbenchlib.answers.document import (
    FigureTable,
    Part,
    Section,
    Sentence,
    TableColumn,
    TableRow,
    Tone,
    span,
)
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
from azbenchlib.verdict import text
from azbenchlib.verdict.judgement import Judgement, LimitRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = (50.0, TAIL)


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
        """What was swept, and from where to where: ``4 KiB random reads, QD 1 to 128``."""
        return f"{self.curve.name}, {self.curve.axis.words(self.curve.values[0], self.curve.values[-1])}"

    @cached_property
    def place(self) -> int:
        """Which point the card shows: from the best on the first at a limit; without one, the first of which
        the cause is known; else the best.
        """
        best = self.curve.best_place
        known = [(i, judged) for i, judged in enumerate(self.judged) if judged and i >= best]
        bound = [i for i, judged in known if judged.probably_at_limit]
        sure = [i for i, judged in known if judged.probability >= text.PROBABLY]
        return (bound or sure or [best])[0]

    @property
    def point(self) -> Card:
        """The point that the card shows."""
        return self.curve.points[self.place]

    @property
    def at(self) -> str:
        """Where that point is on the axis: ``QD 8``."""
        return self.curve.axis.text(self.curve.values[self.place])

    @property
    def judgement(self) -> Judgement | None:
        """Of that point."""
        return self.judged[self.place]

    @cached_property
    def stretches(self) -> list[tuple[int, int]]:
        """The first and the last point of each stretch that one documented limit binds."""
        bound = [judged.binding if judged and judged.probably_at_limit else () for judged in self.judged]
        stretches, begin = [], 0
        for binding, some in groupby(bound):
            end = begin + len(list(some))
            stretches += [(begin, end - 1)] if binding else []
            begin = end
        return stretches

    @property
    def _mine(self) -> tuple[int, int] | None:
        """The stretch of the point that the card shows."""
        return next((each for each in self.stretches if each[0] <= self.place <= each[1]), None)

    @property
    def binds_from(self) -> float | None:
        """The value from which on one documented limit binds all further points; None where none does."""
        mine = self._mine
        to_the_end = mine is not None and mine[1] == len(self.judged) - 1
        return self.curve.values[mine[0]] if mine and to_the_end else None

    @property
    def stretch(self) -> str:
        """``from QD 8 on``, ``up to 32 KiB``; empty where no limit binds from some value on."""
        axis, values, mine = self.curve.axis, self.curve.values, self._mine
        if self.binds_from is not None:
            return f"from {axis.text(self.binds_from)} on"
        if mine is None or not axis.turns:
            return ""
        first, last = mine
        return (
            f"at {axis.words(values[first], values[last])}" if first else f"up to {axis.text(values[last])}"
        )

    @property
    def since(self) -> str:
        """That, and which other limit binds the last points, where there is one."""
        return "; ".join(filter(None, [self.stretch, self._later]))

    @property
    def _later(self) -> str:
        """Which other limit binds the last points: ``from 64 KiB on by the disk limit of 200 MB/s``."""
        first, last = self.stretches[-1] if self.stretches else (0, 0)
        judged, mine = self.judged[first], self._mine
        if judged is None or not self.curve.axis.turns or not mine or last <= mine[1]:
            return ""
        names = " and ".join(
            row.label.phrase(sayings.limit_text(row)) for row in sayings.binding_rows(judged)
        )
        at = self.curve.axis.text(self.curve.values[first])
        return f"from {at} on by {names}" if last == len(self.judged) - 1 and names else ""

    @property
    def slower(self) -> float:
        """How many times as long p99 is at the last point as at the calm one; 1 where it is not known."""
        return self.curve.slower

    @property
    def sentence(self) -> str:
        """What binds, with the figures of the limits, and from where on."""
        if self.judgement is None:
            return ""
        judged = self.judgement
        words = sayings.sentence(judged, "") if judged.limits else judged.words
        return ", ".join(filter(None, [words, self.since]))

    @property
    def words(self) -> curve_words.AxisWords:
        """Those of its axis."""
        return curve_words.AXIS_WORDS[self.curve.axis.key]

    @property
    def beyond(self) -> Sentence:
        """Where the curve is best, and what comes beyond."""
        return self.words.finding(self.curve)

    def table(self) -> FigureTable:
        """A row a point: rates, latencies, and how much of which limit was used."""
        curve, columns = self.curve, [self.words.column, *_COLUMNS]
        places = zip(curve.values, curve.points, self.judged, strict=True)
        rows = [[_whole(value), *_cells(point, judged)] for value, point, judged in places]
        used = filter(None, map(_most_used, self.judged))
        kept = [i for i in range(len(columns)) if any(row[i] is not None for row in rows)]
        return FigureTable(
            columns=[columns[i] for i in kept],
            rows=[TableRow([row[i] for i in kept], tone=_tone(row[-1])) for row in rows],
            note=sayings.counted_note(used),
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
        judged, curve = self.judgement, self.curve
        key = curve.axis.key
        return {
            "name": curve.name,
            **({} if curve.axis is QUEUE_DEPTH else {"axis": key}),  # records of depths have no such key
            **curve.shared,
            "sentence": self.sentence,
            "binding": [] if judged is None else [str(label) for label in judged.binding],
            "probability": None if judged is None else judged.probability,
            f"binds_from_{key}": self.binds_from,
            f"best_{key}": curve.best_value,
            "points": [
                {key: value, **_record(point)}
                for value, point in zip(curve.values, curve.points, strict=True)
            ],
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


def summary(curves: Sequence[CurveVerdict], axis: Axis) -> FigureTable:
    """Return a row a curve over an axis: where it is best, what it gives there, and what binds it."""
    words = curve_words.AXIS_WORDS[axis.key]
    title = words.column.title
    title = title if title.isupper() else f"{title[:1].lower()}{title[1:]}"
    since = replace(words.column, name="binds_from", title=f"From {title}")
    columns = [TableColumn("workload", "Workload"), words.column, *_RATES, since, _CERTAIN]
    rows = [TableRow(_summed(curve)) for curve in curves if curve.curve.axis is axis]
    title = f"Curves over the {axis.in_sentence}, at {words.best}"
    return FigureTable(columns=columns, rows=rows, title=title)


def _summed(verdict: CurveVerdict) -> list[Any]:
    best, judged = verdict.curve.best, verdict.judgement
    rate: Any = best.rate
    since = verdict.binds_from
    return [
        verdict.curve.name,
        _whole(verdict.curve.best_value),
        _known(rate["iops"]),
        _known(rate["bw_bytes_per_s"]),
        _latency(best, TAIL),
        " and ".join(label.display_name for label in judged.binding) if judged else None,
        None if since is None else _whole(since),
        judged.probability if judged and judged.probability else None,
    ]


def draw(axes: Axes, curves: Sequence[CurveVerdict]) -> None:
    """Draw the IOPS of curves over the axis of the first."""
    axis = curves[0].curve.axis
    for curve in (verdict.curve for verdict in curves if verdict.curve.axis is axis):
        axes.plot(curve.values, curve.rates, marker="o", label=curve.name)
    axes.set_xscale("log", base=axis.base)
    axes.xaxis.set_major_formatter(lambda value, _: axis.tick(value))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(axis.label)
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


_COLUMNS = (
    TableColumn("repeats", "Runs", AS_COUNT),
    TableColumn("iops", "IOPS", FigureUnit("iops", AS_IOPS.form)),
    TableColumn("bw_bytes_per_s", "MB/s", FigureUnit("bytes_per_s", AS_BYTES_PER_S.form)),
    *(TableColumn(f"p{p:g}_us", f"p{p:g}", AS_MICROSECONDS) for p in _SHOWN),
    TableColumn("share", "Used", AS_SHARE),
    TableColumn("limit", "Of the limit"),
)


_RATES = (*(_COLUMNS[i] for i in (1, 2, 4)), TableColumn("limit", "Bound by"))
_CERTAIN = TableColumn("probability", "Certain", AS_PROBABILITY)


def _cells(point: Card, judged: Judgement | None) -> list[Any]:
    rate: Any = point.rate
    used = _most_used(judged)
    return [
        int(rate["repeats"]) if rate["repeats"] > 1 else None,
        _known(rate["iops"]),
        _known(rate["bw_bytes_per_s"]),
        *(_latency(point, percentile) for percentile in _SHOWN),
        used and used.utilisation,
        used and used.label.display_name,
    ]


def _most_used(judged: Judgement | None) -> LimitRow | None:
    return max(judged.limits, key=lambda row: row.utilisation, default=None) if judged else None


def _known(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _latency(point: Card, percentile: float) -> Figure | Sentence | None:
    ends = percentile_of(point, percentile)
    if ends is None:
        return None
    low, high = (Figure(end, AS_PERCENTILE) for end in ends)
    return low if str(low) == str(high) else span(low, high)


def _whole(value: float) -> float:
    """A depth and a size are whole numbers, and read so."""
    return int(value) if value == int(value) else value


def _tone(limit: Any) -> Tone:
    return Tone.PLAIN if limit else Tone.FAINT


def _record(point: Card) -> dict[str, Any]:
    rate: Any = point.rate
    ends = {f"p{p:g}": percentile_of(point, p) for p in _SHOWN}
    return {
        "iops": _known(rate["iops"]),
        "bw_bytes_per_s": _known(rate["bw_bytes_per_s"]),
        "repeats": int(rate["repeats"]),
        "latency_us": {name: list(pair) for name, pair in ends.items() if pair},
    }
