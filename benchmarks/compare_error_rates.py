"""How often `azbench compare` is wrong, and whether the number of runs that it names is enough.

    .venv/bin/python benchmarks/compare_error_rates.py [COMPARISONS]

Simulated runs whose truth is known: nine workloads as one family, in which rates are log-normal, share an
effect of the run, are throttled (a burst and a base, whose shares differ from run to run, or one of the two
in a whole run), or have heavy tails and stalls; with IOPS and percentiles of latency that go with them.
Targets: "worse" in at most 1 of 100 comparisons of equals; a change of 3 % found in at least 95 of 100 with
the number of runs that was named. Beside them the lab's own simulation: disks that burst, with
credits that depend on what ran before, of which runs are drawn at random for both sides.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
from scipy.special import betaincinv

from azbenchlib.analysis.compare.cells import Evidence, Shift
from azbenchlib.analysis.compare.comparison import CompareTerms, figures_judged
from azbenchlib.analysis.compare.evidence import of_values
from azbenchlib.analysis.compare.matching import ComparedWorkload
from azbenchlib.analysis.compare.metrics import parse_metric
from azbenchlib.core.units import GIB
from azbenchlib.lab.engine.simulate import SimulatedJob, simulate
from azbenchlib.lab.engine.virtual_machine import Machine, Options
from azbenchlib.model.setup import Cap, Disk, Setup

METRICS = tuple(parse_metric(name) for name in ("iops", "p50", "p95", "p99", "p99.9"))
NOISE = (0.003, 0.01, 0.02, 0.05, 0.15)  # of each metric, beside what moves all of them
WORKLOADS = 9
RUNS_OF_LAB = 80
SETUP = Setup(
    disks=(Disk(name="data", size_bytes=GIB, cap=Cap(iops=500, burst_iops=2000, bytes_per_s=25e6)),)
)
TARGET_ALARMS, TARGET_POWER = 0.01, 0.95

Array = np.ndarray
Draw = Callable[[np.random.Generator, int, Array], Array]


def log_normal(rng: np.random.Generator, n: int, shared: Array) -> Array:
    return 0.02 * rng.standard_normal(n)


def shared_effect(rng: np.random.Generator, n: int, shared: Array) -> Array:
    return shared + 0.005 * rng.standard_normal(n)


def throttled(rng: np.random.Generator, n: int, shared: Array) -> Array:
    """A burst of four times the base, for a share of the run that depends on credits at its start."""
    return np.log(1 + 3 * rng.beta(0.5, 0.5, n)) + 0.005 * rng.standard_normal(n)


def two_states(rng: np.random.Generator, n: int, shared: Array) -> Array:
    """The whole run in the burst, or at the base."""
    return np.log(4) * (rng.random(n) < 0.5) + 0.002 * rng.standard_normal(n)


def tails(rng: np.random.Generator, n: int, shared: Array) -> Array:
    """Student's t of three degrees of freedom."""
    return 0.02 * rng.standard_t(3, n)


def heavy_tails(rng: np.random.Generator, n: int, shared: Array) -> Array:
    """Student's t of three degrees of freedom, and a stall in one run of ten that halves the rate."""
    return tails(rng, n, shared) - 0.7 * (rng.random(n) < 0.1)


KINDS: tuple[Draw, ...] = (log_normal, shared_effect, throttled, two_states, heavy_tails)


def side(
    rng: np.random.Generator,
    n: int,
    kinds: tuple[Draw, ...],
    change: float = 0.0,
    workloads: int = WORKLOADS,
) -> Array:
    """Logarithms of figures: workload × metric × run; `change` is of the first workload's rate."""
    shared = 0.03 * rng.standard_normal(n)
    rows = []
    for i in range(workloads):
        rate = kinds[i % len(kinds)](rng, n, shared) + (np.log1p(change) if i == 0 else 0.0)
        rows.append([(-rate if metric.percentile else rate) for metric in METRICS])
    noise = np.array(NOISE)[None, :, None] * rng.standard_normal((workloads, len(METRICS), n))
    return np.array(rows) + noise


def evidence(a: Array, b: Array) -> Iterator[Evidence]:
    for i in range(len(a)):
        for j, metric in enumerate(METRICS):
            values = [tuple(np.exp(one[i, j])) for one in (a, b)]
            yield of_values(ComparedWorkload((("rw", str(i)),), str(i)), metric, "", *values)


def alarms(comparisons: int, margin: float, seed: int = 1) -> int:
    """In how many comparisons of equals something is called worse."""
    rng = np.random.default_rng(seed)
    terms = CompareTerms(margin=margin)
    wrong = 0
    for i in range(comparisons):
        n_a = 3 + i % 8
        n_b = n_a if i % 4 else 3 + int(rng.integers(8))
        a, b = side(rng, n_a, KINDS), side(rng, n_b, KINDS)
        judged = figures_judged(list(evidence(a, b)), terms, WORKLOADS, plan=False)
        wrong += any(one.answer is Shift.WORSE for one in judged)
    return wrong


def found(
    comparisons: int, margin: float, pilot: int, kind: Draw, seed: int = 2
) -> tuple[int, int, list[int]]:
    """How often a rate that fell by 3 % is found with the runs that were named; how often a number was.

    Returns
    -------
    (int, int, list of int)
        Found, named (or found at once), and the numbers of runs a side.
    """
    rng = np.random.default_rng(seed)
    terms = CompareTerms(margin=margin)
    hits, named, runs = 0, 0, []
    for _ in range(comparisons):
        a, b = (side(rng, pilot, (kind,), change, 1) for change in (0.0, -0.03))
        first = figures_judged(list(evidence(a, b)), terms, 1)[0]
        n = pilot if first.answer is Shift.WORSE else first.runs_needed
        if first.answer is Shift.UNDECIDED and n is not None:
            more = [side(rng, n - pilot, (kind,), change, 1) for change in (0.0, -0.03)]
            a, b = (np.concatenate(parts, axis=2) for parts in zip((a, b), more, strict=True))
            first = figures_judged(list(evidence(a, b)), terms, 1, plan=False)[0]
        named += n is not None
        hits += n is not None and first.answer is Shift.WORSE
        runs += [n] if n else []
    return hits, named, runs


def interval(hits: int, of: int) -> str:
    """The exact 95 % interval of a share (Clopper and Pearson, Biometrika 26, 1934)."""
    low, high = (
        betaincinv(hits, of - hits + 1, 0.025) if hits else 0.0,
        betaincinv(hits + 1, of - hits, 0.975) if hits < of else 1.0,
    )
    return f"95 % interval {low:.1%} to {high:.1%}"


def missed(comparisons: int, margin: float, kind: Draw, seed: int = 7) -> int:
    """In how many comparisons a rate that fell by just the margin is called not worse."""
    rng = np.random.default_rng(seed)
    terms = CompareTerms(margin=margin)
    wrong = 0
    for i in range(comparisons):
        a, b = side(rng, 3 + i % 8, (kind,)), side(rng, 3 + i % 8, (kind,), change=-margin)
        rate = list(islice(evidence(a, b), 1))
        wrong += figures_judged(rate, terms, 1, plan=False)[0].answer is Shift.NOT_WORSE
    return wrong


def lab_runs(n: int, seconds: float = 1.5, seed: int = 3) -> Array:
    """Logarithms of the figures of runs in the lab's simulation: workload × metric × run."""
    rng = np.random.default_rng(seed)
    loads = [(1, 4096, 1.0), (8, 4096, 1.0), (8, 16384, 0.0)]
    rows = np.empty((len(loads), len(METRICS), n))
    for i, (depth, size, reads) in enumerate(loads):
        for k in range(n):
            machine = Machine(SETUP, Options(credit_s=2.0, seed=int(rng.integers(2**31))))
            job = SimulatedJob(volume="data", queue_depth=depth, bs_bytes=size, read_share=reads)
            spent = float(rng.uniform(0, 2.0))
            simulate(machine, job, spent, seed=k + 1)
            ios = simulate(machine, job, seconds, start=spent + 0.5, seed=n + k + 1)
            latencies = ios["lat_us"].to_numpy()
            shares = [metric.percentile for metric in METRICS if metric.percentile]
            rows[i, :, k] = np.log([latencies.size / seconds, *np.percentile(latencies, shares)])
    return rows


def lab_alarms(comparisons: int, pool: Array, margin: float, seed: int = 4) -> int:
    """In how many comparisons of equals from a pool of runs something is called worse."""
    rng = np.random.default_rng(seed)
    terms = CompareTerms(margin=margin)
    wrong = 0
    for i in range(comparisons):
        n = 3 + i % 8
        drawn = rng.permutation(pool.shape[2])[: 2 * n]
        every = list(evidence(pool[:, :, drawn[:n]], pool[:, :, drawn[n:]]))
        judged = figures_judged(every, terms, len(pool), plan=False)
        wrong += any(one.answer is Shift.WORSE for one in judged)
    return wrong


def main() -> None:
    comparisons = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"Equals, {WORKLOADS} workloads × {len(METRICS)} metrics, 3 to 10 runs a side, one family:")
    for margin in (0.0, 0.01, 0.05):
        wrong = alarms(comparisons, margin)
        print(
            f"  margin {margin:.0%}: worse in {wrong} of {comparisons} "
            f"({wrong / comparisons:.2%}, target ≤ 1 %)"
        )
    pool = lab_runs(RUNS_OF_LAB)
    print(f"Equals of the lab's simulation, {len(pool)} workloads, drawn from {RUNS_OF_LAB} runs of each:")
    for margin in (0.0, 0.05):
        wrong = lab_alarms(comparisons, pool, margin)
        print(f"  margin {margin:.0%}: worse in {wrong} of {comparisons} ({wrong / comparisons:.2%})")
    print("A rate that fell by 5 %, the margin, called not worse:")
    for kind in KINDS:
        print(f"  {kind.__name__}: {missed(comparisons, 0.05, kind)} of {comparisons}")
    print("A rate that fell by 3 %, margin 1 %, found with the runs that were named:")
    for kind in (log_normal, shared_effect, tails, heavy_tails):
        for pilot in (3, 5, 10):
            hits, named, runs = found(comparisons, 0.01, pilot, kind)
            typical = int(np.median(runs)) if runs else 0
            told = f"{hits / named:.1%}, {interval(hits, named)}, target ≥ 95 %" if named else "none"
            print(
                f"  {kind.__name__}, {pilot} runs at first: {hits} of {named} ({told}), "
                f"no number in {comparisons - named}; median {typical} runs a side"
            )


if __name__ == "__main__":
    main()
