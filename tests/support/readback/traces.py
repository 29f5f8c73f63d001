"""Figures over time: the rate below its limits with its burst credits, and latency from a log."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd

from readback import figures
from readback.figures import Figure
from readback.naming import Tables, Topic, fits

if TYPE_CHECKING:
    from readback.check import Checker
    from readback.drawing import Axis, Drawing, Point
    from readback.reckoning import Unit

WINDOW_S = 1800.0  # how long a full bucket lasts at the whole burst, by Azure's documents
FALL = 2.0  # a burst is at least so many times the base
WHOLE = 0.9  # a last interval shorter than this share of the others is a part of one
SOME = 3  # values that make a level
NEAR, MOST = 0.15, 0.8  # a trace is clear where so many samples are so near to their level
PIXELS = 1.0
SEEN = 0.3  # of the corners: where intervals are uneven, some are means of several lines


@dataclass(frozen=True)
class Phases:
    """A burst and the base after it: rates with the spread of their samples, and when the burst ended."""

    burst: float
    base: float
    empty_s: float
    after_s: float  # how long the base lasted
    interval_s: float
    spread: tuple[float, float]  # of burst and base, relative
    filled: float  # share of the bucket that was full at the start
    window_s: float  # how long a full bucket lasts at the whole burst
    clear: bool  # whether nearly all samples are at one of the two


Trace = list[tuple[float, float]]


def whole(trace: Trace, limit_s: float = math.inf) -> Trace:
    """Without the lines at the end that are parts of an interval, or of one before the run was to end."""
    begins = [-1.0, *(t for t, _ in trace)]
    trace = [line for line, begin in zip(trace, begins, strict=False) if begin < limit_s]
    for _ in range(2):
        steps = [min(after[0], limit_s) - before[0] for before, after in pairwise(trace)]
        if len(steps) > 2 and steps[-1] < WHOLE * statistics.median(steps[:-1]):
            trace = trace[:-1]
    return trace


def phases(trace: Trace, window_s: float = WINDOW_S, limit_s: float = math.inf) -> Phases | None:
    """What a log shows of a burst: integrals and medians of its lines; None where it did not fall."""
    trace = whole(trace, limit_s)
    n = max(SOME, len(trace) // 10)
    if len(trace) < 2 * n:
        return None
    burst = statistics.median(value for _, value in trace[:n])
    base = statistics.median(value for _, value in trace[-n:])
    if base <= 0 or burst < FALL * base:
        return None
    middle = (burst + base) / 2
    empty_s = max(t for t, value in trace if value > middle)
    first = [value for t, value in trace if t <= empty_s]
    then = [value for t, value in trace if t > empty_s]
    if len(then) > SOME and not _clear(then, base):  # of one or two I/Os an interval
        base = statistics.mean(then[1:])
    ends = [0.0, *(t for t, _ in trace)]
    interval_s = statistics.median(b - a for a, b in pairwise(ends))
    # fio writes no line for an interval without an I/O
    gaps = [
        abs(1 - len(some) * interval_s / span)
        for some, span in ((first, empty_s), (then, trace[-1][0] - empty_s))
    ]
    spent = sum((value - base) * (t - ends[i]) for i, (t, value) in enumerate(trace) if t <= empty_s)
    return Phases(
        statistics.median(first),
        statistics.median(then) if _clear(then, base) else base,
        empty_s,
        trace[-1][0] - empty_s,
        interval_s,
        (_spread(first) + gaps[0], _spread(then) + gaps[1]),
        spent / ((burst - base) * window_s),
        window_s,
        _clear(first, burst) and _clear(then, base),
    )


def _clear(values: list[float], level: float) -> bool:
    """Whether nearly all values are near a level."""
    return sum(abs(value - level) <= NEAR * level for value in values) >= MOST * len(values)


def _spread(values: list[float]) -> float:
    """How far means of the better part of these may lie from their median: three standard errors more than
    the mean does without the ends, into which the change may fall.
    """
    middle = statistics.median(values)
    inner = values[1:-1] if len(values) > SOME else values
    error = statistics.stdev(inner) / math.sqrt(len(inner)) if len(inner) > 1 else 0.0
    off = min(
        max(0.05, 1 / len(values)) * middle,
        max(abs(statistics.mean(some) - middle) for some in (inner, values[1:])),
    )
    return 0.005 + (off + 3 * error) / middle


def of_unit(unit: Unit, tables: Tables, metrics: tuple[str, ...]) -> dict[str, Trace]:
    """The logs of what ran at once, where that is one row, by direction."""
    samples = tables["samples"]
    if len(unit.rows) > 1 or samples.empty:
        return {}
    samples = samples[(samples["run_id"] == unit.rows[0]) & samples["metric"].isin(metrics)]
    if samples.empty:
        return {}
    samples = samples[samples["metric"] == samples["metric"].min()].sort_values("t_s")
    return {
        str(ddir): [(float(t), float(v)) for t, v in zip(rows["t_s"], rows["value"], strict=True)]
        for ddir, rows in samples.groupby("ddir")
    }


def of_bins(unit: Unit, tables: Tables) -> dict[str, Trace]:
    """The mean latency of each window of the histogram log of what ran at once, by direction: at the middle
    of the window, whose end the log tells.
    """
    bins = tables["bins"]
    bins = bins[bins["run_id"].isin(unit.rows) & bins["t_s"].notna()]
    if len(unit.rows) > 1 or bins.empty:
        return {}
    bins = bins[bins["lat_kind"] == bins["lat_kind"].min()]
    found = {}
    for ddir, rows in bins.groupby("ddir"):
        ends = sorted(set(rows["t_s"].astype(float)))
        half = statistics.median(b - a for a, b in pairwise([0.0, *ends])) / 2
        sums: dict[float, list[float]] = {end: [0.0, 0.0] for end in ends}
        for t_s, bin_ns, n in zip(rows["t_s"], rows["bin_ns"], rows["n"], strict=True):
            sums[float(t_s)][0] += float(bin_ns) * float(n) / 1000
            sums[float(t_s)][1] += float(n)
        found[str(ddir)] = [(end - half, total / n) for end, (total, n) in sums.items() if n]
    return found


def burst_of(unit: Unit, tables: Tables) -> Phases | None:
    """The phases of what ran at once, where its one log shows a burst and its end."""
    traces = of_unit(unit, tables, ("iops",))
    if len(traces) != 1:
        return None
    cut = cut_of(unit, tables)
    return phases(in_azure(next(iter(traces.values())), cut), WINDOW_S, cut * limit_of(unit, tables))


def cut_of(unit: Unit, tables: Tables) -> float:
    """How many times longer full credits last on Azure than on this disk."""
    credit_s = tables["setups"].set_index("setup_id")["credit_s"].get(unit.setup)
    return 1.0 if pd.isna(credit_s) else WINDOW_S / float(credit_s)


def in_azure(trace: Trace, cut: float) -> Trace:
    """A log in the time of Azure."""
    return [(cut * t, value) for t, value in trace]


def rates_of(unit: Unit, tables: Tables) -> list[Trace]:
    """The logs of the rate as they are drawn: that of a burst in the time of Azure."""
    cut = cut_of(unit, tables) if burst_of(unit, tables) else 1.0
    return [in_azure(trace, cut) for trace in of_unit(unit, tables, ("iops",)).values()]


def limit_of(unit: Unit, tables: Tables) -> float:
    """How long what ran at once was to last, in s."""
    limits = tables["runs"].set_index("run_id")["runtime_limit_s"].reindex(unit.rows).dropna()
    return float(limits.iloc[0]) if len(limits) else math.inf


# --- the figures -----------------------------------------------------------------------------------------


def title(checker: Checker, text: str, topic: Topic, place: str) -> None:
    """The headline of a figure over time."""
    if "-time-" in place:
        return _swing(checker, text, topic, place)
    if " interval" in text:
        return _intervals(checker, text, topic, place)
    if "redits" not in text:
        return checker.explain(text, topic, place, None)
    known = [found for unit in _units(checker, topic) if (found := burst_of(unit, checker.part.tables))]
    for figure in figures.find(checker.part.names.read(text)[1]):
        right = any(_shows(figure, found) for found in known)
        told = [v for p in known for v in (p.empty_s, p.burst, p.base, 100 * p.filled)]
        checker.accept(right, figure, place, text, told, "burst")
    return None


def _intervals(checker: Checker, text: str, topic: Topic, place: str) -> None:
    """Rates of intervals, of all directions together: not below all their least, nor above all their most."""
    for figure in figures.find(checker.part.names.read(text)[1]):
        metric = "bw_bytes_per_s" if figure.kind == "bytes_per_s" else "iops"
        ends = []
        for unit in _units(checker, topic):
            logs = of_unit(unit, checker.part.tables, (metric,)).values()
            values = [[value for _, value in whole(log, limit_of(unit, checker.part.tables))] for log in logs]
            ends.append((sum(map(min, values)), sum(map(max, values))))
        right = any(low - figure.half <= figure.base <= high + figure.half for low, high in ends)
        checker.accept(right, figure, place, text, [end for pair in ends for end in pair], "interval")


def _shows(figure: Figure, found: Phases) -> bool:
    """Whether a number of a headline is the time, a rate or the credits of a burst."""
    if figure.kind in ("time_us", "lat_us"):
        return abs(figure.base / 1e6 - found.empty_s) <= figure.half / 1e6 + 1.5 * found.interval_s
    if figure.unit == "%":
        # the burst ended somewhere in an interval; what a full bucket gives is reckoned from the burst's rate
        most = max(3.0, 150 * found.interval_s / found.window_s, 100 * found.filled * found.spread[0])
        return figure.value <= 100 and abs(figure.value - min(100, 100 * found.filled)) <= most
    pairs = zip((found.burst, found.base), found.spread, strict=True)
    return any(abs(figure.value - value) <= 0.5 + spread * value for value, spread in pairs)


def _swing(checker: Checker, text: str, topic: Topic, place: str) -> None:
    """How many times the median the slowest interval takes: of whole intervals."""
    for figure in figures.find(checker.part.names.read(text)[1]):
        every = [[value for _, value in trace] for trace in _latencies(checker, topic)]
        if figure.kind == "lat_us":  # the mean of a level
            right = any(min(values) <= figure.base <= max(values) for values in every)
        else:  # uneven intervals are drawn as means of several, which lie nearer to the median
            ratios = [max(values) / statistics.median(values) for values in every]
            right = any(1.0 <= figure.value <= 1.06 * ratio for ratio in ratios)
        checker.accept(right, figure, place, text, [max(values) for values in every], "time")


def _latencies(checker: Checker, topic: Topic) -> Iterator[Trace]:
    for unit in _units(checker, topic):
        tables = checker.part.tables
        logged = of_unit(unit, tables, ("clat_us", "lat_us")) or of_bins(unit, tables)
        for ddir, trace in logged.items():
            if topic.ddir in (None, ddir):
                yield whole(trace, limit_of(unit, tables))


def _units(checker: Checker, topic: Topic) -> list[Unit]:
    return [unit for unit in checker.part.units if fits(unit.topic(), topic)]


def trace(checker: Checker, seen: Drawing, topic: Topic, place: str, name: str) -> None:
    """The line of a log stands where its values belong; what is said of it in words fits."""
    if "-time-" in name:
        traces, scale = list(_latencies(checker, topic)), 1.0
    else:
        traces = [t for unit in _units(checker, topic) for t in rates_of(unit, checker.part.tables)]
        scale = 1.0
    _words(checker, seen.words, topic, traces, place)
    ys = [axis for side, axis in seen.axes if side == "y"]
    xs = [axis for side, axis in seen.axes if side == "x"]
    unit = 60.0 if any(label.text.startswith("Minutes") for label in seen.labels) else 1.0
    if not (xs and ys and traces):
        checker.fault(place, "no axes or no log for this figure")
        return
    long = [line for line, _ in seen.lines if len(line) >= SOME]
    if "-rate-" in name and len(traces) > 1:
        return  # of several directions their sum is drawn
    along = any(_along(line, t, xs[0], ys[0], unit, scale) for line in long for t in traces)
    checker.counted["trace"] = checker.counted.get("trace", 0) + 1
    if not along:
        checker.fault(place, "no line of this figure follows the log")


def _along(line: list[Point], trace: Trace, x: Axis, y: Axis, unit: float, scale: float) -> bool:
    """Whether the corners of a line are lines of the log: matplotlib leaves out corners that lie on a line,
    a long log is thinned to means.
    """
    known = [
        (x.pixel(t / unit), y.pixel(value * scale) if value > 0 or not y.log else 0.0) for t, value in trace
    ]
    some = line[:: max(1, len(line) // 12)]
    near = sum(any(abs(px - kx) <= PIXELS and abs(py - ky) <= PIXELS for kx, ky in known) for px, py in some)
    return near >= SEEN * len(some)


def _has_gap(trace: Trace) -> bool:
    steps = [after[0] - before[0] for before, after in pairwise(trace)]
    return len(steps) > 1 and max(steps) > 1.5 * statistics.median(steps)


def _consumed(checker: Checker, text: str, place: str) -> None:
    """Each percentage is one that Azure Monitor has told."""
    samples = checker.part.tables["samples"]
    told = samples.loc[samples["metric"].isin(("iops_consumed_pct", "bw_consumed_pct")), "value"].tolist()
    for figure in figures.find(text):
        right = figure.unit == "%" and any(figure.shows(float(value)) for value in told)
        checker.accept(right, figure, place, text, told[:3], "consumed")


def _credits(checker: Checker, text: str, topic: Topic, place: str) -> None:
    """Credits at the start are what the burst spent of them, and none are left at the end."""
    bursts = [found for unit in _units(checker, topic) if (found := burst_of(unit, checker.part.tables))]
    known = [(found.filled * (found.burst - found.base) * found.window_s, found) for found in bursts]
    for figure in figures.find(text):
        within = [1.5 * found.interval_s / found.empty_s + found.spread[0] for _, found in known]
        right = figure.value == 0 or any(
            abs(figure.value - value) <= share * value
            for (value, _), share in zip(known, within, strict=True)
        )
        checker.accept(right, figure, place, text, [value for value, _ in known], "burst credits")


def _words(checker: Checker, text: str, topic: Topic, traces: list[Trace], place: str) -> None:
    """Ends of a line and how long it lasted, limits by name, credits at the start."""
    text, _, used = text.partition(" Azure Monitor: ")
    _consumed(checker, used, place)
    text, _, credits = text.partition(" Burst credits")
    _credits(checker, credits, topic, place)
    said, _, limits = text.partition("Limits: ")
    lines = re.sub(r"setups: \d+", "", said).split("; ")  # each with its setup, and may be its workload
    rest = "; ".join(checker.part.names.read(line)[1] for line in lines)
    values = {value for trace in traces for _, value in trace}
    if "-rate-" in place and len(traces) > 1:
        values |= {sum(max(value for _, value in trace) for trace in traces)}
    if "-rate-" in place and any(map(_has_gap, traces)):
        values.add(0.0)  # fio writes no line for an interval without an I/O
    ends = {trace[-1][0] for trace in traces} | {whole(trace)[-1][0] for trace in traces}
    for figure in figures.find(rest):
        if figure.unit == "s":
            # drawn is the middle of the last interval; of few lines the last may be left out
            right = any(0.5 * end - 0.06 <= figure.value <= 1.05 * end + 0.06 for end in ends)
        elif figure.unit.startswith("I/O"):
            continue
        else:  # of a long log means of several lines are drawn
            low, high = min(values, default=0.0), max(values, default=0.0)
            right = low - figure.half <= figure.base <= high + figure.half
        checker.accept(right, figure, place, text[:140], sorted(values)[:3], "trace")
    known = checker.part.documented
    for figure in figures.find(limits):
        if figure.kind in ("iops", "bytes_per_s"):
            sizes = [size for size in checker.part.sizes if size]
            per_io = {value / size for value in known["bytes_per_s"] for size in sizes}
            right = any(figure.shows(value) for value in known[figure.kind] | per_io)
            checker.accept(right, figure, place, limits, [], "limit")
