"""What came of probed disks, a line a disk in a file: a count of hours can be stopped and goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from azbenchlib.core.units import S_PER_MIN
from azbenchlib.probing.portrait import CAP_WIDTH, LATENCY_WIDTH, Knowledge

TOLD_EVERY = 50  # disks


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a figure of one disk came out."""

    key: str
    state: Knowledge
    error: float
    held: bool


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of one disk.

    `fixed_runs`: of a fixed design that left no more open; None: not tried. `named`: whether the
    documented disk that it is came first; None: it is none.
    """

    disk: int
    runs: int
    spent_s: float
    outcomes: tuple[Outcome, ...]
    unit_known: bool
    unit_wrong: bool
    fixed_runs: int | None = None
    named: bool | None = None


def read(kept: Path) -> dict[int, Result]:
    """The results of a file, by disk; a line that was cut short is left out."""
    found = {}
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.exists() else ():
        try:
            told = json.loads(line)
        except json.JSONDecodeError:
            continue
        outcomes = tuple(Outcome(**{**one, "state": Knowledge(one["state"])}) for one in told.pop("outcomes"))
        found[told["disk"]] = Result(**told, outcomes=outcomes)
    return found


def count(probed: Callable[[int], Result], disks: Iterable[int], kept: Path) -> None:
    """Probe the disks that the file has not, keep each, and tell what is known of all of them."""
    results = read(kept)
    left = [disk for disk in disks if disk not in results]
    with ProcessPoolExecutor() as pool, kept.open("a", encoding="utf-8") as file:
        file.write("\n")  # lest a line that was cut short takes the next one with it
        for future in as_completed([pool.submit(probed, disk) for disk in left]):
            result = future.result()
            file.write(f"{json.dumps(asdict(result))}\n")
            file.flush()
            results[result.disk] = result
            if len(results) % TOLD_EVERY == 0:
                print("\n".join(summary([*results.values()])), flush=True)
    print("\n".join(summary([*results.values()])), flush=True)


def summary(results: Sequence[Result]) -> Iterator[str]:
    """What is known of some disks, a line a figure."""
    runs = [one.runs for one in results]
    most = f"{max(runs)} or {max(one.spent_s for one in results) / S_PER_MIN:.1f} min at most"
    yield f"{len(results)} disks: {np.mean(runs):.1f} runs on average, {most}"
    both = [(one.runs, one.fixed_runs) for one in results if one.fixed_runs is not None]
    if both:
        own, fixed = np.mean(both, axis=0)
        yield f"{len(both)} of them: {own:.1f} runs, the fixed design {fixed:.1f}"
    named = [one.named for one in results if one.named is not None]
    if named:
        yield f"documented disks: {len(named)}, named first: {sum(named)}"
    known, wrong = sum(one.unit_known for one in results), sum(one.unit_wrong for one in results)
    yield f"I/O unit known: {known}, wrong or ruled out although it is right: {wrong}"
    every = [outcome for one in results for outcome in one.outcomes]
    for what, ones in (
        ("caps", [one for one in every if "p50" not in one.key]),
        ("medians", [one for one in every if "p50" in one.key]),
    ):
        for state in Knowledge:
            some = [one for one in ones if one.state is state]
            if some:
                yield _line(f"{what} {state}", some, LATENCY_WIDTH if what == "medians" else CAP_WIDTH)
    off = [
        one.disk
        for one in results
        if any(told.state is Knowledge.KNOWN and told.error > LATENCY_WIDTH for told in one.outcomes)
    ]
    yield f"disks with a known figure off by more than {LATENCY_WIDTH:.0%}: {off}"


def _line(what: str, some: Sequence[Outcome], wanted: float) -> str:
    """How many of some figures are within what is wanted, and how often their intervals hold the truth."""
    held, within = sum(one.held for one in some), sum(one.error <= wanted for one in some)
    share = stats.binomtest(held, len(some)).proportion_ci(0.95, "wilson")
    return (
        f"{what:14} {len(some):5}, within {wanted:.0%}: {within / len(some):6.1%}, interval holds the truth: "
        f"{held / len(some):6.1%} ({share.low:.1%} to {share.high:.1%} were these independent)"
    )
