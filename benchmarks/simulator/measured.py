"""What fio would report of a run: rates, latency, CPU, and the log of half seconds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator.hidden import UNLIMITED, Array, Hidden
from simulator.loop import CAUSES, FULL, LATENCY, SAMPLE_S, Course

PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)
DRAWS = 400  # I/Os whose latency stands for all of a run


@dataclass(frozen=True)
class Report:
    """Arrays of shape (n,): IOPS, B/s, mean total latency and that of a run with one I/O outstanding in µs,
    CPU of a job in percent, mean submission latency in µs, I/Os of the device per second; `percentiles_us`
    has shape (n, len(PERCENTILES)), `consumed_pct` of Azure Monitor (n, 6).
    """

    iops: Array
    bytes_per_s: Array
    mean_us: Array
    unloaded_us: Array
    percentiles_us: Array
    cpu_pct: Array
    slat_us: Array
    device_iops: Array
    consumed_pct: Array
    series: npt.NDArray[np.float32]
    runtime_s: Array

    def samples(self, i: int, start_s: float = 0.0) -> tuple[Array, Array]:
        """Times and IOPS of the whole half seconds of a run, from the first one after `start_s`."""
        n = int(self.runtime_s[i] / SAMPLE_S)
        times = (np.arange(n) + 1) * SAMPLE_S
        later = times > start_s
        return times[later], self.series[i, :n].astype(float)[later]


def report(setups: Hidden, course: Course, rng: np.random.Generator) -> Report:
    """Read the runs as a benchmark would.

    Notes
    -----
    Mean latency is Little's law, N ÷ IOPS less the think time. Under a throttle of ticks, the I/Os that
    find no token wait for the next tick and the others do not: two modes. A queue before a CPU or another
    plateau is smooth.
    """
    n = len(setups)
    iops = course.served / (np.maximum(1, np.rint(setups.runtime_s / setups.tick_s)) * setups.tick_s)
    unthrottled = setups.latency(False, setups.depth)
    paced = (setups.rate_iops < UNLIMITED) & (iops > 0.98 * setups.rate_iops)
    in_loop = setups.queue_depth / np.maximum(iops, 1e-9) - setups.think_s
    mean = np.where(paced, unthrottled, np.maximum(in_loop, 1e-7))
    return Report(
        iops=iops,
        bytes_per_s=iops * setups.mean_bytes,
        mean_us=mean * 1e6 * rng.normal(1, 0.004, n),
        unloaded_us=setups.latency(False, 1.0) * 1e6 * rng.lognormal(0, 0.03, n),
        percentiles_us=_percentiles(setups, course, np.where(paced, 0.0, 1.0), rng),
        cpu_pct=np.clip(100 * iops * setups.cpu_s / setups.numjobs + rng.normal(0, 1, n), 0.1, 100),
        slat_us=np.where(setups.synchronous, setups.numjobs / np.maximum(iops, 1e-9), 3e-6) * 1e6,
        device_iops=iops * setups.merged * rng.normal(1, 0.01, n),
        consumed_pct=_consumed(setups, course, iops, rng),
        series=course.series * rng.normal(1, 0.003, course.series.shape).astype(np.float32),
        runtime_s=setups.runtime_s,
    )


def _consumed(setups: Hidden, course: Course, iops: Array, rng: np.random.Generator) -> Array:
    """Percent of each limit as it held most of the time, on a grid of minutes; it reads 101 at most."""
    used = iops[:, None] * setups.wants(setups.hit, False)
    bursts = course.time_by_cause[:, 6:12] > course.time_by_cause[:, :6]
    share = used / np.where(bursts, setups.burst, setups.base)
    grid = np.minimum(1.0, setups.runtime_s / 60)[:, None]
    seen = 100 * share * grid * setups.monitor_off[:, None]
    return np.clip(seen + rng.normal(0, 0.7, seen.shape), 0.0, 101.0)


def _percentiles(setups: Hidden, course: Course, queues: Array, rng: np.random.Generator) -> Array:
    """Percentiles of the latencies of some I/Os from all over the run, in µs."""
    n = len(setups)
    rate = _rates_of_some(setups, course, rng)
    full = rng.random((n, DRAWS)) < (course.by_cause[:, FULL] / np.maximum(course.served, 1e-9))[:, None]
    plain = np.where(full, *(setups.latency(at, setups.queue_depth)[:, None] for at in (True, False)))
    sigma = setups.sigma[:, None]
    alone = plain * rng.lognormal(-(sigma**2) / 2, sigma, (n, DRAWS))
    loop = setups.queue_depth[:, None] / rate - setups.think_s[:, None]
    wait = np.maximum(0.0, loop - plain) * queues[:, None]
    buckets = np.delete(np.arange(len(CAUSES)), range(LATENCY, FULL))
    ticking = course.by_cause[:, buckets].sum(axis=1) > course.by_cause[:, LATENCY:FULL].sum(axis=1)
    late = np.clip(setups.queue_depth[:, None] / (rate * setups.tick_s[:, None]), 1e-6, 1)
    stepped = np.where(rng.random((n, DRAWS)) < late, wait / late * rng.uniform(0.94, 1.06, (n, DRAWS)), 0.0)
    smooth = wait * rng.gamma(8, 1 / 8, (n, DRAWS))
    drawn = alone + np.where(ticking[:, None], stepped, smooth)
    return np.percentile(drawn, PERCENTILES, axis=1).T * 1e6


def _rates_of_some(setups: Hidden, course: Course, rng: np.random.Generator) -> Array:
    """IOPS at the time of some I/Os: moments with many I/Os are met more often."""
    sums = np.cumsum(course.series, axis=1)
    rates = np.empty((len(setups), DRAWS))
    picks = rng.random((len(setups), DRAWS))
    for i, (total, series) in enumerate(zip(sums, course.series, strict=True)):
        last = int(setups.runtime_s[i] / SAMPLE_S)
        rates[i] = series[np.searchsorted(total[:last], picks[i] * total[last - 1]).clip(0, last - 1)]
    return np.maximum(rates, 1e-9)
