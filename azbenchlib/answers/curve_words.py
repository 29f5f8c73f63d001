"""What is said of curves over each axis: where they are best, and what comes beyond."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from azbenchlib.analysis.axes import BLOCK_SIZE, DATA_SIZE, FLAT, OFFERED_RATE, QUEUE_DEPTH, Axis
from azbenchlib.analysis.load_curves import TAIL, LoadCurve, percentile_of, rate_of
from azbenchlib.answers.document import Sentence, TableColumn
from azbenchlib.answers.figures import AS_BYTES, AS_BYTES_PER_S, AS_COUNT, AS_IOPS, Figure, FigureUnit
from azbenchlib.core.histogram import format_percentile
from azbenchlib.core.units import format_count

AS_PERCENTILE = FigureUnit("us", format_percentile)
_SLOWER = 1.1  # times: from there on more load costs latency
_TIMES = FigureUnit("ratio", lambda ratio: f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}")
_BARE_IOPS = FigureUnit("iops", format_count)
_LIMITS = "A dashed line is a documented limit, in IOPS of this block size."

Figures = dict[str, Figure | str]


@dataclass(frozen=True, kw_only=True)
class AxisWords:
    """How curves over an axis are spoken of.

    Attributes
    ----------
    column : TableColumn
        Of tables, for the values.
    best : str
        Which point is the best one.
    finding : callable
        Where a curve is best, and what comes beyond.
    stops, grows : str
        The titles of figures where the best points lie inside, and where they are the last ones.
    more : str
        What makes p99 longer.
    turn, limits : str
        How to read a figure and its limits.
    """

    column: TableColumn
    best: str
    finding: Callable[[LoadCurve], Sentence]
    stops: str
    grows: str
    more: str
    turn: str
    limits: str = _LIMITS


def _value(axis: Axis, value: float) -> Figure:
    return Figure(value, FigureUnit(axis.key, axis.text))


def _tail(curve: LoadCurve, place: int) -> Figure | None:
    """p99 of a point; None where it is not known."""
    ends = percentile_of(curve.points[place], TAIL)
    return Figure(ends[-1], AS_PERCENTILE) if ends else None


def _of_depth(curve: LoadCurve) -> Sentence:
    """At which depth the curve is best, and what more depth costs."""
    best, deepest = curve.best, curve.deepest
    figures: Figures = {
        "depth": _value(curve.axis, curve.best_value),
        "deepest": _value(curve.axis, curve.values[-1]),
    }
    if best is deepest:
        return Sentence("Up to {deepest} the rate grows: a deeper queue may give more", figures)
    fallen = rate_of(deepest) < (1 - FLAT) * rate_of(best)
    rate = "the rate falls" if fallen else "the rate stays"
    before, after = percentile_of(best, TAIL), percentile_of(deepest, TAIL)
    if before is None or after is None or curve.slower < _SLOWER:
        return Sentence(f"Best at {{depth}}: beyond it {rate}", figures)
    figures |= {
        "first": Figure(before[1], AS_PERCENTILE),
        "last": Figure(after[0], AS_PERCENTILE),
        "times": Figure(curve.slower, _TIMES),
    }
    grows = "the rate falls and latency grows" if fallen else "only latency grows"
    return Sentence(
        f"Best at {{depth}}: beyond it {grows}, p99 from {{first}} to {{last}} at {{deepest}} "
        "({times} times)",
        figures,
    )


def _of_offered_rate(curve: LoadCurve) -> Sentence:
    """Up to which rate all is delivered, how p99 grows up to there, and what comes beyond."""
    knee = curve.best_place
    figures: Figures = {
        "least": Figure(curve.values[0], AS_IOPS),
        "knee": Figure(curve.best_value, AS_IOPS),
        "most": Figure(max(curve.rates), AS_IOPS),
        "deepest": _value(curve.axis, curve.values[-1]),
    }
    tails = {"light": _tail(curve, 0), "at_knee": _tail(curve, knee), "last": _tail(curve, -1)}
    figures |= {name: tail for name, tail in tails.items() if tail}
    if curve.rates[0] < (1 - FLAT) * curve.values[0]:
        return Sentence("Not even {least} are delivered: at most {most}", figures)
    has_both = knee and {"light", "at_knee"} <= figures.keys()
    grows = ": p99 from {light} at {least} to {at_knee}" if has_both else ""
    if not curve.turns_inside:
        return Sentence(f"All is delivered, up to {{knee}}{grows}", figures)
    tail = ", p99 {last} at {deepest}" if "last" in figures else ""
    return Sentence(f"Delivered up to {{knee}}{grows}; beyond it at most {{most}}{tail}", figures)


def _of_data_size(curve: LoadCurve) -> Sentence:
    """From which size on the rate falls, and how far: where a cache ends."""
    deepest = _value(curve.axis, curve.values[-1])
    if not curve.turns_inside:
        return Sentence("IOPS do not fall up to {deepest}", {"deepest": deepest})
    figures: Figures = {
        "begins": _value(curve.axis, curve.values[curve.best_place + 1]),
        "before": Figure(curve.rates[curve.best_place], _BARE_IOPS),
        "after": Figure(curve.rates[-1], _BARE_IOPS),
        "deepest": deepest,
    }
    tails = {"short": _tail(curve, curve.best_place), "long": _tail(curve, -1)}
    figures |= {name: tail for name, tail in tails.items() if tail}
    grows = ", p99 grows from {short} to {long}" if curve.slower >= _SLOWER else ""
    falls = "From {begins} on IOPS fall, from {before} to {after} at {deepest}"
    return Sentence(f"{falls}{grows}", figures)


def _of_block_size(curve: LoadCurve) -> Sentence:
    """Up to which block most I/Os are done, and from which on most bytes are moved."""
    moved = [_bytes_per_s(curve, place) for place in range(len(curve.points))]
    full = next(i for i, rate in enumerate(moved) if rate >= (1 - FLAT) * max(moved))
    figures: Figures = {
        "hold": _value(curve.axis, curve.best_value),
        "iops": Figure(max(curve.rates), AS_IOPS),
        "full": _value(curve.axis, curve.values[full]),
        "moved": Figure(max(moved), AS_BYTES_PER_S),
    }
    up_to = "up to" if curve.best_place else "at"
    return Sentence(f"Most IOPS {up_to} {{hold}} ({{iops}}), most MB/s from {{full}} on ({{moved}})", figures)


def _bytes_per_s(curve: LoadCurve, place: int) -> float:
    rate = curve.points[place].rate
    known = None if rate is None else rate["bw_bytes_per_s"]
    return curve.rates[place] * curve.values[place] if known is None or pd.isna(known) else float(known)


AXIS_WORDS = {
    QUEUE_DEPTH.key: AxisWords(
        column=TableColumn(QUEUE_DEPTH.key, "QD", AS_COUNT),
        best="the best depth",
        finding=_of_depth,
        stops="The rate stops growing at {at}",
        grows="The rate grows up to {at}",
        more="more depth",
        turn="Where a curve turns level, its limit is reached: more outstanding I/Os only wait longer. Left "
        "of that the latency of one I/O sets the rate.",
    ),
    OFFERED_RATE.key: AxisWords(
        column=TableColumn(OFFERED_RATE.key, "Offered IOPS", _BARE_IOPS),
        best="the highest rate that is delivered",
        finding=_of_offered_rate,
        stops="The offered rate is delivered up to {at}",
        grows="All is delivered, up to {at}",
        more="a higher rate",
        turn="As long as a curve climbs, what is offered is delivered; where it turns level, the rest waits.",
    ),
    DATA_SIZE.key: AxisWords(
        column=TableColumn(DATA_SIZE.key, "Data", AS_BYTES),
        best="the most data at the highest rate",
        finding=_of_data_size,
        stops="IOPS hold up to {at}",
        grows="IOPS do not fall up to {at}",
        more="more data",
        turn="Where a curve falls, the data outgrow a cache; a level curve has none, or one that holds all.",
    ),
    BLOCK_SIZE.key: AxisWords(
        column=TableColumn(BLOCK_SIZE.key, "Block size", AS_BYTES),
        best="the largest block with most IOPS",
        finding=_of_block_size,
        stops="IOPS hold up to {at}",
        grows="IOPS do not fall up to {at}",
        more="a larger block",
        turn="Where IOPS stay level, they are what is bound; where they fall as blocks grow, MB/s are.",
        limits="A dashed line is a documented limit of IOPS; those of MB/s are no level lines here.",
    ),
}
