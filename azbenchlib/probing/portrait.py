"""What the runs say of a disk: each figure with its 95 % interval, the runs that say so, and what is open."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from azbenchlib.core.units import KIB, MIB, US_PER_S
from azbenchlib.probing.choice import Worth
from azbenchlib.probing.forward import Predicted, counted, median_us
from azbenchlib.probing.hypotheses import (
    BELIEFS,
    IO_UNITS,
    SMALLEST_BYTES,
    Bools,
    Floats,
    Hypotheses,
    Setting,
    Sharing,
)
from azbenchlib.probing.likelihood import ProbeEvidence, rate_variance
from azbenchlib.probing.runs import Shown

SURE, HARDLY = 0.95, 0.05
INTERVAL = (0.025, 0.5, 0.975)
SHARE_OF_CAP = 0.95  # that a queue depth is stated for
LATENCY_SIZES = (SMALLEST_BYTES, 64 * KIB, MIB)
# Half-widths of 95 % intervals, relative, with which a figure counts as known.
CAP_WIDTH, LATENCY_WIDTH = 0.01, 0.05
HIGHER = 0.01  # of the logarithm: a cap that is so much higher lets more through where it binds
UNSTEADY = 0.02  # deviation from which on rates tell neither how caps are shared nor how I/Os are counted
STRAYS = 0.03  # relative: a run that is further from all that explains the others contradicts them,
OWN_ERRORS = 3  # unless it is no further than so many times what its own samples leave open
CAPS = (
    *((name, Setting[name.upper()]) for name in ("read_iops", "write_iops")),
    *((name, Setting[name.upper()]) for name in ("read_bytes_per_s", "write_bytes_per_s")),
)
_LATENCY_KEYS = tuple(f"p50_us_{size // KIB}k" for size in LATENCY_SIZES)
DEPTH_KEY = "depth_of_95_pct"
FIGURE_KEYS = (  # of a portrait, but that of the deviation, which is none of the disk
    *(key for key, _ in CAPS),
    *(f"{way}_{what}" for way in ("read", "write") for what in (*_LATENCY_KEYS, DEPTH_KEY)),
)


class Knowledge(StrEnum):
    """How far a figure is known."""

    KNOWN = "known"
    ABOVE = "above"  # no cap was seen: it is above `low`
    OPEN = "open"


@dataclass(frozen=True, kw_only=True)
class DiskFigure:
    """One property of the disk.

    Parameters
    ----------
    key : str
        Such as ``read_iops`` or ``write_p50_us_64k``.
    state : Knowledge
    value : float, optional
        The median, in the base unit that `key` names. None: nothing limits it, or it is open.
    low, high : float
        Bounds of the 95 % interval; where no cap was seen, `low` is the most that was measured.
    runs : tuple of str
        Names of the runs that say so.
    """

    key: str
    state: Knowledge
    value: float | None
    low: float
    high: float
    runs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Portrait:
    """All that is known of a disk.

    Parameters
    ----------
    figures : tuple of DiskFigure
    units : mapping of float to float
        Probability of each size above which an I/O counts as several; infinite: any size counts as one.
    largest_single_bytes : float
        Up to this size, one I/O counts as one with 95 % probability.
    same : float
        Probability that reads and writes have the same caps.
    sharing : mapping of Sharing to float
        Probability of each way in which reads and writes share their caps.
    deviation : DiskFigure
        How far rates stray from the model, relative.
    buffered : bool
        Whether the page cache, or memory itself, answered: then it is not a disk that was measured.
    contradictions : tuple of str
        Names of runs that nothing explains which explains the others.
    run_error : float
        Standard error of a rate that the samples of a run tell, relative to it: the median of all runs.
    next_run : Worth, optional
        What would tell most; None: there is no such run.
    """

    figures: tuple[DiskFigure, ...]
    units: dict[float, float]
    largest_single_bytes: float
    same: float
    sharing: dict[Sharing, float]
    deviation: DiskFigure
    contradictions: tuple[str, ...]
    run_error: float = 0.0
    buffered: bool = False
    next_run: Worth | None = None

    def __getitem__(self, key: str) -> DiskFigure:
        return next(figure for figure in self.figures if figure.key == key)

    @property
    def open_figures(self) -> tuple[DiskFigure, ...]:
        """Those that are not known, nor bounded by what was tried."""
        return tuple(figure for figure in self.figures if figure.state is Knowledge.OPEN)

    @property
    def steady(self) -> bool:
        """Whether rates are so steady and so close to the model that small differences mean something."""
        return max(self.deviation.value or 0.0, self.run_error) < UNSTEADY

    @property
    def unit_bytes(self) -> float | None:
        """The size above which an I/O counts as several; None where it is not known."""
        if not self.steady:
            return None
        most = max(self.units, key=self.units.__getitem__)
        return most if self.units[most] >= SURE else None


def portrait(disks: Hypotheses, evidence: ProbeEvidence, next_run: Worth | None = None) -> Portrait:
    """What disks that explain the evidence have in common."""
    found = evidence.predict(disks)
    held = {key: binds(disks, evidence, found, setting) for key, setting in CAPS}
    figures = [_cap(disks, evidence, key, setting, held[key]) for key, setting in CAPS]
    for way in ("read", "write"):
        figures += _latencies(disks, evidence, found, way)
        figures.append(_depth(disks, evidence, way, held[f"{way}_iops"]))
    against = _against(disks, evidence, found)
    figures = [_widened(figure, evidence, against) for figure in figures]
    units = {size: float(np.mean(disks.unit == i)) for i, size in enumerate(IO_UNITS)}
    return Portrait(
        figures=tuple(figures),
        units=units,
        largest_single_bytes=_largest_single(units),
        same=float(disks.same.mean()),
        sharing={way: float(np.mean(disks.sharing == way)) for way in Sharing},
        deviation=_known("deviation", np.exp(disks.logs[:, Setting.DEVIATION]), (), np.inf),
        contradictions=tuple(against),
        run_error=float(np.median(evidence.own_error)),
        buffered=not all(one.direct for one in evidence.shown),
        next_run=next_run,
    )


def _largest_single(units: dict[float, float]) -> float:
    total = 0.0
    for size, probability in units.items():
        total += probability
        if total > 1 - SURE:
            return size
    return max(units)


def binds(disks: Hypotheses, evidence: ProbeEvidence, found: Predicted, setting: Setting) -> Bools:
    """Whether a cap decides the rate of each run if it is each of the disks, shape (n, m).

    A higher one would raise it.
    """
    higher = disks.copy()
    of_reads = Setting(setting - 1) if setting.name.startswith("WRITE") else setting
    higher.logs[:, setting] += HIGHER
    # a cap of writes right below that of all I/Os is one with it
    level = (disks.sharing == Sharing.BEHIND) & (disks.logs[:, setting] > disks.logs[:, of_reads] - HIGHER)
    both = disks.same | level
    higher.logs[both, of_reads] = disks.logs[both, of_reads] + HIGHER
    raised: Bools = evidence.predict(higher).iops > found.iops * (1 + HIGHER / 4)
    return raised


def _cap(disks: Hypotheses, evidence: ProbeEvidence, key: str, setting: Setting, held: Bools) -> DiskFigure:
    values, seen = disks.values(setting), held.any(axis=1)
    runs = _names(evidence, held.mean(axis=0) > 0.5)
    if seen.mean() >= SURE:
        return _known(key, values[seen], runs, CAP_WIDTH)
    low, _, high = np.quantile(values, INTERVAL)
    if seen.mean() <= HARDLY:
        most, runs = _reached(disks, evidence, setting)
        return DiskFigure(key=key, state=Knowledge.ABOVE, value=None, low=most, high=math.inf, runs=runs)
    return DiskFigure(key=key, state=Knowledge.OPEN, value=None, low=float(low), high=float(high), runs=runs)


def _reached(disks: Hypotheses, evidence: ProbeEvidence, setting: Setting) -> tuple[float, tuple[str, ...]]:
    """The most that was measured of what a cap limits, and in which run."""
    share = 1 - evidence.loads.read_share if setting.name.startswith("WRITE") else evidence.loads.read_share
    if setting.name.endswith("IOPS"):
        amount = np.quantile(counted(disks, evidence.loads), HARDLY, axis=0) * evidence.iops
    else:
        amount = evidence.loads.bs_bytes * evidence.iops
    most = int(np.argmax(amount * share))
    return float((amount * share)[most]), (evidence.shown[most].run.name,)


def _latencies(disks: Hypotheses, evidence: ProbeEvidence, found: Predicted, way: str) -> list[DiskFigure]:
    """Medians of unloaded latencies, by block size."""
    share = 1.0 if way == "read" else 0.0
    free = (found.unheld < found.cap).mean(axis=0) > 0.5
    runs = _names(evidence, free & (np.abs(evidence.loads.read_share - share) < 1))
    medians = median_us(disks, way == "write", np.array([float(size) for size in LATENCY_SIZES]))
    return [_known(f"{way}_{key}", medians[:, i], runs, LATENCY_WIDTH) for i, key in enumerate(_LATENCY_KEYS)]


def _depth(disks: Hypotheses, evidence: ProbeEvidence, way: str, held: Bools) -> DiskFigure:
    """The queue depth at which small I/Os reach 95 % of the cap of IOPS, by Little's law."""
    mean_us = median_us(disks, way == "write", np.array([float(SMALLEST_BYTES)]))[:, 0]
    mean_us = mean_us * np.exp(disks.logs[:, Setting[f"{way.upper()}_SKEW"]])
    values = SHARE_OF_CAP * disks.values(Setting[f"{way.upper()}_IOPS"]) * mean_us / US_PER_S
    runs, key = _names(evidence, held.mean(axis=0) > 0.5), f"{way}_{DEPTH_KEY}"
    if held.any(axis=1).mean() >= SURE:
        return _known(key, np.maximum(1.0, values), runs, 0.1)
    low, _, high = np.quantile(values, INTERVAL)
    return DiskFigure(key=key, state=Knowledge.OPEN, value=None, low=float(low), high=float(high), runs=())


def _known(key: str, values: Floats, runs: tuple[str, ...], width: float) -> DiskFigure:
    low, value, high = map(float, np.quantile(values, INTERVAL))
    state = Knowledge.KNOWN if (high - low) / 2 <= width * value else Knowledge.OPEN
    return DiskFigure(key=key, state=state, value=value, low=low, high=high, runs=runs)


def _names(evidence: ProbeEvidence, which: Bools) -> tuple[str, ...]:
    return tuple(one.run.name for one, wanted in zip(evidence.shown, which, strict=True) if wanted)


def _against(disks: Hypotheses, evidence: ProbeEvidence, found: Predicted) -> dict[str, float]:
    """Runs that contradict what explains the others: by their names, measured ÷ expected.

    None of a pace, and none that is within what counting its I/Os, and its own samples, leave open.
    """
    exact = disks.copy()
    exact.logs[:, Setting.DEVIATION] = BELIEFS[Setting.DEVIATION].low
    variance = np.median(rate_variance(exact, evidence.loads, found), axis=0) + evidence.own_error**2
    away = evidence.log_iops - np.median(np.log(found.iops), axis=0)
    strays = np.abs(away) > np.maximum(STRAYS, OWN_ERRORS * np.sqrt(variance))
    wrong = strays & np.isinf(evidence.loads.rate_iops)
    return {evidence.shown[i].run.name: float(np.exp(away[i])) for i in np.flatnonzero(wrong)}


def _widened(figure: DiskFigure, evidence: ProbeEvidence, against: dict[str, float]) -> DiskFigure:
    """A figure whose interval also holds what the runs imply that contradict it; it is open then."""
    if figure.state is Knowledge.ABOVE:  # nothing but what was reached
        return figure
    write = figure.key.startswith("write")
    ratios = [ratio for name, ratio in against.items() if name in figure.runs]
    if "p50" in figure.key:
        ratios = [1 / ratio for ratio in ratios]
    low = min([figure.low, *(figure.low * ratio for ratio in ratios)])
    high = max([figure.high, *(figure.high * ratio for ratio in ratios)])
    most = max(
        (_passed(one, figure.key, write) for one in evidence.shown if one.run.name in against), default=0.0
    )
    if not ratios and most <= high * (1 + STRAYS):
        return figure
    return replace(figure, state=Knowledge.OPEN, low=low, high=max(high, most))


def _passed(shown: Shown, key: str, write: bool) -> float:
    """What a run let pass of what a cap limits, at least."""
    share = 1 - shown.run.read_share if write else shown.run.read_share
    if key.endswith("_bytes_per_s"):
        return share * shown.iops * shown.run.bs_bytes
    return share * shown.iops if key.endswith("_iops") else 0.0
