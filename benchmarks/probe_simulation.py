"""Thousands of simulated disks: how far a probe is from the truth, and in how many runs.

.venv/bin/python benchmarks/probe_simulation.py [DISKS] [FIRST] [KEPT]

Disks are drawn from ranges wider than Azure's and answer by the probe's own model with noise, so this tests
the inference and the choice of runs, not the model (`probe_blind_disks.py` does). A fixed design makes the
same kinds of runs in an order that does not depend on what they show, until no more figures are open; it
takes several times as long as the probe, so every tenth disk is measured by both. Every fifth disk is one
that Azure documents. Each disk is a line of the file KEPT; the same command goes on where it was stopped. A
disk takes some 10 s of CPU, several times that with the fixed design.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from probe_results import Outcome, Result, count

from azbenchlib.core.units import KIB, MB, US_PER_S
from azbenchlib.model.documented_setups import DocumentedPlace, documented_places
from azbenchlib.probing.hypotheses import IO_UNITS, SMALLEST_BYTES, Hypotheses, Setting, Sharing, draw
from azbenchlib.probing.likelihood import ProbeEvidence
from azbenchlib.probing.naming import Believed, Named, names
from azbenchlib.probing.portrait import Portrait
from azbenchlib.probing.runs import PROBED_SIZES, ProbeRun
from azbenchlib.probing.session import Probe
from azbenchlib.probing.simulate import SimulatedDisk

FIXED_LIMIT = 40  # runs of the fixed design at most
FIXED_EVERY = 10  # disks, one that is measured by the fixed design too
TIER_EVERY = 5  # disks, one that Azure documents
DAY = "2026-11-01"  # of the catalogue
FIXED_DEPTHS = (256, 1, 32)


def hidden(rng: np.random.Generator) -> Hypotheses:
    """A disk: 100 to 400,000 IOPS, 3 MB/s to 10 GB/s, 60 µs to 8 ms."""
    disk = draw(rng, 1)
    iops, ratio = np.exp(rng.uniform(np.log([100, 10 * KIB]), np.log([400_000, 600 * KIB])))
    rate, first = np.clip(iops * ratio, 3 * MB, 10_000 * MB), np.exp(rng.uniform(np.log(60), np.log(8_000)))
    stream = np.exp(rng.uniform(np.log(100 * MB), np.log(20_000 * MB)))
    values = {
        Setting.READ_IOPS: iops,
        Setting.WRITE_IOPS: iops * np.exp(rng.uniform(-1.5, 0.5)),
        Setting.READ_BYTES_PER_S: rate,
        Setting.WRITE_BYTES_PER_S: rate * np.exp(rng.uniform(-1.5, 0.5)),
        Setting.READ_LAT_US: first,
        Setting.WRITE_LAT_US: first * np.exp(rng.uniform(-1, 0.7)),
        Setting.READ_STREAM: stream,
        Setting.WRITE_STREAM: stream * np.exp(rng.uniform(-0.5, 0.5)),
        Setting.READ_SKEW: np.exp(rng.uniform(0, 0.3)),
        Setting.WRITE_SKEW: np.exp(rng.uniform(0, 0.3)),
        Setting.DEVIATION: 0.0015 * np.exp(rng.normal(0, 0.5)),
        Setting.LATENCY_DEVIATION: 0.0015 * np.exp(rng.normal(0, 0.5)),
    }
    for setting, value in values.items():
        disk.logs[0, setting] = np.log(value)
    return disk


def fixed_design() -> list[ProbeRun]:
    """Both directions and their mix, at every block size, at a few queue depths."""
    return [
        ProbeRun(read_share=share, bs_bytes=size, depth=depth)
        for depth in FIXED_DEPTHS
        for size in (PROBED_SIZES[0], PROBED_SIZES[-1], *PROBED_SIZES[1:-1])
        for share in (1.0, 0.0, 0.5)
    ]


def true(disk: Hypotheses, key: str) -> float | None:
    way, _, what = key.partition("_")
    if what in ("iops", "bytes_per_s"):
        return float(disk.values(Setting[key.upper()])[0])
    if what.startswith("p50_us_"):
        more = int(what.removeprefix("p50_us_").removesuffix("k")) * KIB - SMALLEST_BYTES
        stream = disk.values(Setting[f"{way.upper()}_STREAM"])[0]
        return float(disk.values(Setting[f"{way.upper()}_LAT_US"])[0] + more / stream * US_PER_S)
    return None


def outcomes(disk: Hypotheses, found: Portrait) -> tuple[Outcome, ...]:
    told = []
    for figure in found.figures:
        if (right := true(disk, figure.key)) is not None:
            held = figure.low <= right * (1.01 if figure.value is None else 1) and right <= figure.high
            error = abs((figure.value or figure.low) / right - 1)
            told.append(Outcome(key=figure.key, state=figure.state, error=error, held=held))
    return tuple(told)


def tier(rng: np.random.Generator, limits: DocumentedPlace) -> Hypotheses:
    """A documented disk, with latencies that scatter as those of its kind do."""
    disk = hidden(rng)
    disk.same[0], disk.sharing[0] = True, Sharing.TOGETHER
    disk.unit[0] = IO_UNITS.index(limits.unit_bytes)
    disk.logs[0, Setting.READ_IOPS], disk.logs[0, Setting.READ_BYTES_PER_S] = np.log(
        [limits.iops, limits.bytes_per_s]
    )
    for setting, typical in ((Setting.READ_LAT_US, limits.read_us), (Setting.WRITE_LAT_US, limits.write_us)):
        if typical:
            disk.logs[0, setting] = np.log(typical[0]) + rng.normal(0, typical[1] / 2)
    return disk


def probed(seed: int) -> Result:
    rng = np.random.default_rng(seed)
    tiers = []
    if seed % TIER_EVERY == 0:
        tiers = [one for one in documented_places(DAY).disks if (one.kind, one.count) == ("disk", 1)]
    limits = tiers[int(rng.integers(len(tiers)))] if tiers else None
    disk = tier(rng, limits) if limits else hidden(rng)
    answers = SimulatedDisk(disk, seed)
    session = Probe(seed=seed)
    while chosen := session.next():
        session.tell(answers.measure(chosen.run))
    found = session.portrait()
    unit = float(disk.unit_bytes()[0])
    return Result(
        disk=seed,
        runs=len(session.shown),
        spent_s=session.spent_s,
        fixed_runs=None if seed % FIXED_EVERY else fixed_runs(disk, seed, len(found.open_figures)),
        named=is_named(named(session, found), limits) if limits else None,
        outcomes=outcomes(disk, found),
        unit_known=found.unit_bytes is not None,
        unit_wrong=found.unit_bytes not in (None, unit) or found.largest_single_bytes > unit,
    )


def named(session: Probe, found: Portrait) -> list[Named]:
    """What a probe takes a disk for."""
    evidence = ProbeEvidence(session.shown)
    return names(Believed.of(session.disks, evidence, found.steady), found, documented_places(DAY))


def is_named(found: Sequence[Named], limits: DocumentedPlace) -> bool:
    """Whether the first name is this disk, or one that documents give the same limits."""
    first = found[0].setup
    return first is not None and first.caps[:2] == limits.most


def fixed_runs(disk: Hypotheses, seed: int, open_: int) -> int:
    """Runs of the fixed design until no more figures are open than the probe left open."""
    answers, session = SimulatedDisk(disk, seed), Probe(seed=seed)
    for number, run in enumerate(fixed_design()[:FIXED_LIMIT], 1):
        session.tell(answers.measure(run))
        if number >= 6 and len(session.portrait().open_figures) <= open_:
            return number
    return FIXED_LIMIT


if __name__ == "__main__":
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    count(
        probed,
        range(first, first + (int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)),
        Path(sys.argv[3] if len(sys.argv) > 3 else f"probe-simulation-{first}.jsonl"),
    )
