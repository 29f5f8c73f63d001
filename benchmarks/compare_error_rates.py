"""How often `azbench compare` is wrong, and whether the number of runs that it promises is enough.

    .venv/bin/python benchmarks/compare_error_rates.py [COMPARISONS]

Simulated runs whose truth is known: nine workloads as one family, in which rates are log-normal, share an
effect of the run, are throttled (a burst and a base, whose shares differ from run to run, or one of the two
in a whole run), have heavy tails and stalls, or drift over time; with IOPS and percentiles of latency that go
with them. Targets: "worse" or "better" in at most 1 of 100 comparisons of equals; sides that ran in turns
while the disk drifts decided in at least 85 of 100 with five pairs; promised numbers of runs kept in at least
95 of 100 comparisons that print one. Beside them the lab's own simulation: disks that burst, with credits
that depend on what ran before, of which runs are drawn at random for both sides.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import betaincinv

from azbenchlib.analysis.compare.cells import ComparedFigure, Evidence, Shift
from azbenchlib.analysis.compare.evidence import of_values
from azbenchlib.analysis.compare.judging import figures_judged
from azbenchlib.analysis.compare.matching import ComparedWorkload
from azbenchlib.analysis.compare.metrics import parse_metric
from azbenchlib.analysis.compare.run_order import Starts
from azbenchlib.analysis.compare.terms import CompareTerms
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
CHANGED = (Shift.WORSE, Shift.BETTER)
DRIFT = -0.01  # of a rate, from run to run

Array = np.ndarray
Draw = Callable[[np.random.Generator, int, Array], Array]
Drift = Callable[[np.random.Generator, int], Array]


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


def t2(rng: np.random.Generator, n: int, shared: Array) -> Array:
    """Student's t of two degrees of freedom, whose variance is infinite."""
    return 0.02 * rng.standard_t(2, n)


def stalls(rng: np.random.Generator, n: int, shared: Array) -> Array:
    """A stall in one run of ten that leaves a fifth of the rate."""
    return log_normal(rng, n, shared) + np.log(0.2) * (rng.random(n) < 0.1)


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


def evidence(a: Array, b: Array, starts: Starts | None = None) -> Iterator[Evidence]:
    for i in range(len(a)):
        for j, metric in enumerate(METRICS[: a.shape[1]]):
            values = [tuple(np.exp(one[i, j])) for one in (a, b)]
            workload = ComparedWorkload((("rw", str(i)),), str(i))
            yield of_values(workload, metric, "", *values, starts=starts)


def answers(
    a: Array, b: Array, terms: CompareTerms, starts: Starts | None = None, *, plan: bool = False
) -> list[ComparedFigure]:
    return figures_judged(list(evidence(a, b, starts)), terms, len(a), plan=plan)


def alarms(comparisons: int, margin: float, seed: int = 1) -> int:
    """In how many comparisons of equals something is called worse or better."""
    rng = np.random.default_rng(seed)
    terms = CompareTerms(margin=margin)
    wrong = 0
    for i in range(comparisons):
        n_a = 3 + i % 8
        n_b = n_a if i % 4 else 3 + int(rng.integers(8))
        judged = answers(side(rng, n_a, KINDS), side(rng, n_b, KINDS), terms)
        wrong += any(one.answer in CHANGED for one in judged)
    return wrong


def in_order(n: int, *, in_turns: bool) -> Starts:
    """Starts of runs of both sides: A B A B, or A A B B."""
    return (range(0, 2 * n, 2), range(1, 2 * n, 2)) if in_turns else (range(n), range(n, 2 * n))


def cells(
    rng: np.random.Generator, kind: Draw, starts: Starts, drift: Drift | None, sd: float = 1.0
) -> list[Array]:
    """Nine rates of one kind on both sides: workload × 1 × run; `sd` scales what is random."""
    n = sum(map(len, starts))
    trend = drift(rng, n) if drift else np.zeros(n)
    return [
        np.array([[sd * kind(rng, len(own), np.zeros(len(own)))] for _ in range(WORKLOADS)])
        + trend[list(own)]
        for own in starts
    ]


def straight(rng: np.random.Generator, n: int) -> Array:
    return DRIFT * np.arange(n)


def steps(rng: np.random.Generator, n: int) -> Array:
    """Two steps of 5 % up or down, each after any run."""
    at, size = rng.integers(1, n, 2), 0.05 * rng.choice([-1, 1], 2)
    return ((np.arange(n)[:, None] >= at) * size).sum(axis=1)


def waves(rng: np.random.Generator, n: int) -> Array:
    """A wave of 5 % either way, as long as 4 to 20 runs."""
    return 0.05 * np.sin(2 * np.pi * (np.arange(n) / rng.uniform(4, 20) + rng.random()))


def random_walk(rng: np.random.Generator, n: int) -> Array:
    """Steps of about 1 % after each run."""
    return np.cumsum(0.01 * rng.standard_normal(n))


DRIFTS: tuple[Drift, ...] = (straight, steps, waves, random_walk)


def alarms_of_kind(
    comparisons: int,
    margin: float,
    kind: Draw,
    drift: Drift | None = None,
    *,
    in_turns: bool = False,
    seed: int = 8,
) -> tuple[int, int]:
    """In how many comparisons of nine equals anything is worse, and better."""
    rng = np.random.default_rng(seed)
    terms = CompareTerms(margin=margin)
    wrong = [0, 0]
    for i in range(comparisons):
        starts = in_order(3 + i % 8, in_turns=in_turns)
        a, b = cells(rng, kind, starts, drift)
        judged = {one.answer for one in answers(a, b, terms, starts if drift else None)}
        wrong = [n + (changed in judged) for n, changed in zip(wrong, CHANGED, strict=True)]
    return wrong[0], wrong[1]


def in_turns(comparisons: int, pairs: int, sd: float, seed: int = 9) -> tuple[int, int]:
    """How many figures of drifting equals are not worse, and in how many comparisons one is changed."""
    rng = np.random.default_rng(seed)
    starts = in_order(pairs, in_turns=True)
    decided = wrong = 0
    for _ in range(comparisons):
        a, b = cells(rng, log_normal, starts, straight, sd / 0.02)
        judged = [one.answer for one in answers(a, b, CompareTerms(margin=0.05), starts)]
        decided += judged.count(Shift.NOT_WORSE)
        wrong += any(one in CHANGED for one in judged)
    return decided, wrong


def power(comparisons: int, kind: Draw, change: float, n: int, workloads: int, seed: int = 10) -> int:
    """In how many comparisons a rate that fell, alone among equals, is called worse; margin 5 %."""
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(comparisons):
        a, b = (side(rng, n, (kind,), some, workloads)[:, :1] for some in (0.0, change))
        hits += answers(a, b, CompareTerms())[0].answer is Shift.WORSE
    return hits


def promises(
    comparisons: int, kind: Draw, change: float, pilot: int, workloads: int = 1, seed: int = 2
) -> tuple[int, list[int], int]:
    """How often a rate is undecided at first, the numbers of runs that are promised then, and how many keep.

    The rate is the first of several of one kind; margin 5 %.
    """
    rng = np.random.default_rng(seed)
    terms = CompareTerms()
    undecided, kept, numbers = 0, 0, list[int]()

    def draw(n: int) -> list[Array]:
        return [side(rng, n, (kind,), some, workloads)[:, :1] for some in (0.0, change)]

    for _ in range(comparisons):
        first = draw(pilot)
        figure = answers(*first, terms, plan=True)[0]
        undecided += figure.answer is Shift.UNDECIDED
        if n := figure.runs_needed:
            both = (np.concatenate(parts, axis=2) for parts in zip(first, draw(n - pilot), strict=True))
            kept += answers(*both, terms)[0].answer is not Shift.UNDECIDED
            numbers.append(n)
    return undecided, numbers, kept


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
        a, b = (side(rng, 3 + i % 8, (kind,), some, 1)[:, :1] for some in (0.0, -margin))
        wrong += answers(a, b, terms)[0].answer is Shift.NOT_WORSE
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
    """In how many comparisons of equals from a pool of runs something is called changed."""
    rng = np.random.default_rng(seed)
    terms = CompareTerms(margin=margin)
    wrong = 0
    for i in range(comparisons):
        n = 3 + i % 8
        drawn = rng.permutation(pool.shape[2])[: 2 * n]
        judged = answers(pool[:, :, drawn[:n]], pool[:, :, drawn[n:]], terms)
        wrong += any(one.answer in CHANGED for one in judged)
    return wrong


def main() -> None:
    comparisons = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print_alarms(comparisons)
    print("A rate that fell by 5 %, the margin, called not worse:")
    for kind in (*KINDS, t2, stalls):
        print(f"  {kind.__name__}: {missed(comparisons, 0.05, kind)} of {comparisons}")
    print("Nine equals in turns that drift by 1 % a run, margin 5 %; not worse (target ≥ 85 % with 5 pairs):")
    for pairs, sd in ((3, 0.01), (5, 0.01), (5, 0.02), (10, 0.02)):
        decided, wrong = in_turns(comparisons, pairs, sd)
        print(
            f"  {pairs} pairs, spread {sd:.0%}: {decided / comparisons / WORKLOADS:.1%}; changed in {wrong}"
        )
    print("A rate that fell, margin 5 %, alone and among nine:")
    for kind, change, n in (
        (log_normal, -0.1, 5),
        (log_normal, -0.1, 10),
        (stalls, -0.2, 10),
        (stalls, -0.2, 20),
    ):
        hits = [power(comparisons, kind, change, n, workloads) for workloads in (1, WORKLOADS)]
        print(f"  {kind.__name__}, {change:.0%}, {n} runs: {hits[0]} and {hits[1]} of {comparisons}")
    print("Promised numbers of runs, margin 5 %; kept or none printed (target ≥ 95 %):")
    for kind in (log_normal, tails, stalls, throttled, two_states):
        for change in (0.0, -0.06, -0.1, -0.2):
            for pilot, workloads in ((3, 1), (5, 1), (15, 1), (5, WORKLOADS)):
                print_promises(comparisons // 5, kind, change, pilot, workloads)


def print_alarms(comparisons: int) -> None:
    print(f"Equals, {WORKLOADS} workloads × {len(METRICS)} metrics, 3 to 10 runs a side, worse or better in:")
    for margin in (0.0, 0.01, 0.05):
        print(f"  margin {margin:.0%}: {share(alarms(comparisons, margin), comparisons)}")
    print("Equals of one kind, nine rates; worse, better, either (target ≤ 1 %):")
    one_after_other = [(kind, None, False) for kind in (log_normal, t2, two_states, throttled, stalls)]
    turns = [(kind, drift, True) for kind in (log_normal, t2, stalls) for drift in DRIFTS]
    for kind, drift, in_turns in [*one_after_other, (log_normal, straight, False), *turns]:
        for margin in (0.0, 0.05):
            worse, better = alarms_of_kind(comparisons, margin, kind, drift, in_turns=in_turns)
            order = "in turns" if in_turns else "one after the other"
            name = ", ".join([kind.__name__, *([drift.__name__, order] if drift else [])])
            print(f"  {name}, margin {margin:.0%}: {worse}, {better}, {share(worse + better, comparisons)}")
    pool = lab_runs(RUNS_OF_LAB)
    print(f"Equals of the lab's simulation, {len(pool)} workloads, drawn from {RUNS_OF_LAB} runs of each:")
    for margin in (0.0, 0.05):
        print(f"  margin {margin:.0%}: {share(lab_alarms(comparisons, pool, margin), comparisons)}")


def share(hits: int, of: int) -> str:
    return f"{hits} of {of} ({hits / of:.2%}, {interval(hits, of)})"


def print_promises(comparisons: int, kind: Draw, change: float, pilot: int, workloads: int) -> None:
    undecided, numbers, kept = promises(comparisons, kind, change, pilot, workloads)
    fair = comparisons - len(numbers) + kept
    typical = f" (median {int(np.median(numbers))})" if numbers else ""
    print(
        f"  {kind.__name__}, {change:+.0%}, {pilot} runs, among {workloads}: undecided {undecided}, "
        f"promised {len(numbers)}{typical}, kept {kept}; kept or none printed {fair / comparisons:.1%}",
        flush=True,
    )


if __name__ == "__main__":
    main()
