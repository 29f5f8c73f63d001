"""Whether the run that an unsure verdict proposes would settle it.

    .venv/bin/python benchmarks/next_runs.py [--cases 2000] [--seed N]

Draws hidden setups as `calibrate_verdict.py` does until so many verdicts are undecided. For each run that is
proposed, two worlds are built in the simulator, which shares no code with azbench: one in which one label
bound the run at the measured rate, and one in which the other did; all that was measured stays. The job runs
in both. Target: in at least 98 % the two rates differ by more than 5 %. Worlds that cannot give the measured
rate are counted apart: the simulator has no such setup. The seed is drawn anew in every run, and printed.
"""

from __future__ import annotations

import argparse
import math
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd
from calibrate_verdict import observation_of, setup_of
from simulator import Hidden, draw, report, run, truth
from simulator.hidden import UNLIMITED
from simulator.loop import SAMPLE_S

from azbenchlib import verdict
from azbenchlib.verdict.judgement import Judgement

TARGET = 0.98
APART = 1.05
UNDECIDED_BELOW = 0.95
AT_ONCE = 1000
CLEAR = 1.03  # what does not bind allows at least so many times the rate
UNDOCUMENTED = 30.0  # a limit that no document knows allows up to so many times the rate, if it does not bind
REPRODUCES = 0.06  # relative to the measured rate
CHECKED_S = 60.0  # of the run that was measured
SKIPPED_S = 5.0  # at the begin of what is measured
SCOPES = {"disk": 0, "vm_uncached": 2, "vm_cached": 4, "temp": 4, "nvme": 4}
FASTEST_S = {True: 0.6e-3, False: 30e-6}  # of managed disks, and of what is local
SLOWEST_S = {True: 6e-3, False: 1e-3}
CROWDED = 1.1
UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


@dataclass(frozen=True)
class Case:
    """An undecided verdict on a hidden setup, the rate that was measured, and the labels that are true."""

    hidden: Hidden
    iops: float
    labels: tuple[str, ...]
    judged: Judgement


def undecided(
    cases: int, rng: np.random.Generator, at_once: int = AT_ONCE, longest_s: float = math.inf
) -> list[Case]:
    """So many hidden setups whose verdict is not sure; their runs are no longer than `longest_s`."""
    found: list[Case] = []
    while len(found) < cases:
        hidden = draw(at_once, rng)
        hidden = replace(hidden, runtime_s=np.minimum(hidden.runtime_s, longest_s))
        course = run(hidden, rng)
        measured, known = report(hidden, course, rng), truth(hidden, course)
        for i, labels in enumerate(known.labels):
            judged = verdict.judge(observation_of(hidden, measured, i), setup_of(hidden, i))
            if judged.probability < UNDECIDED_BELOW:
                one = hidden.take(np.array([i]))
                found.append(Case(one, float(measured.iops[i]), labels, judged))
    return found[:cases]


def checked(cases: Sequence[Case], rng: np.random.Generator, longest_s: float = math.inf) -> pd.DataFrame:
    """One row a case: kind of the proposed run ("" for none), why there is none, the labels, the rates in
    both worlds (NaN where the simulator has no such setup, or the run lasts longer), and whether
    they differ.
    """
    rows, setups = [], []
    for i, case in enumerate(cases):
        proposed = case.judged.next_run
        pair = [label.value for label in proposed.expected] if proposed else []
        kind = proposed.kind if proposed else ""
        rows.append({"kind": kind, "why_none": why_none(case.judged), "labels": " / ".join(pair)})
        if proposed is None or len(pair) != 2:
            continue
        for which, label in enumerate(pair):
            world = as_if(label, case, rng)
            if world is not None:
                again = replace(world, runtime_s=np.minimum(world.runtime_s, CHECKED_S))
                following = changed(world, proposed.job, proposed.kind)
                if following.runtime_s[0] <= longest_s:
                    setups += [(i, which, label, again), (i, which, "", following)]
    found = pd.DataFrame(rows)
    found[["rate_0", "rate_1"]] = np.nan
    rates = _rates([setup for *_, setup in setups], rng)
    for (i, which, label, _), (_, _, _, _), as_was, then in zip(
        setups[::2], setups[1::2], rates[::2], rates[1::2], strict=True
    ):
        free = label in ("page_cache", "cache_exhaustion")
        if free or abs(math.log(as_was / cases[i].iops)) < REPRODUCES:
            found.loc[i, f"rate_{which}"] = then
    found["apart"] = (np.log(found["rate_0"] / found["rate_1"])).abs() > math.log(APART)
    return found


def why_none(judged: Judgement) -> str:
    """Why no run is proposed, in a few words."""
    if judged.next_run:
        return ""
    if judged.open_fact:
        return "a fact to state is named instead"
    return (
        "no figure of a limit is documented" if "documented" in (judged.why_no_run or "") else "rates alike"
    )


def _rates(setups: Sequence[Hidden], rng: np.random.Generator) -> list[float]:
    """IOPS of the last minute of each run, without its first seconds."""
    if not setups:
        return []
    whole = _joined(setups)
    series = run(whole, rng).series
    rates = []
    for i, seconds in enumerate(whole.runtime_s):
        last = int(seconds / SAMPLE_S)
        first = max(0, last - int((CHECKED_S - SKIPPED_S) / SAMPLE_S))
        rates.append(max(1e-9, float(series[i, first:last].mean())))
    return rates


def _joined(setups: Sequence[Hidden]) -> Hidden:
    names = [part.name for part in fields(Hidden)]
    return Hidden(**{name: np.concatenate([getattr(one, name) for one in setups]) for name in names})


def as_if(label: str, case: Case, rng: np.random.Generator) -> Hidden | None:
    """The setup of a case if a label bound the run at the measured rate; None: there is none."""
    if label == "cache_exhaustion":
        return case.hidden if label in case.labels else None
    iops = case.iops
    world = replace(
        case.hidden, think_s=np.zeros(1), plateau_iops=np.full(1, UNLIMITED), page_hit=np.zeros(1)
    )
    if label == "page_cache":
        return replace(world, page_hit=np.full(1, 0.95), direct=np.array([False]))
    world = _on_path(label, world)
    if label == "latency_qd":
        if not world.knows_slat[0]:
            world = _submitting(world, iops)
        if float(world.depth[0]) / iops > _slowest_s(world):
            return None
    latency = _latency(label, world, iops, rng)
    world = replace(
        world, latency_hit_s=world.latency_hit_s * latency, latency_disk_s=world.latency_disk_s * latency
    )
    world = _with_own_rate(label, world, iops)
    cpu_s = float(world.numjobs[0]) / iops
    if label != "host_cpu":
        most, now = cpu_s / 1.05, float(world.cpu_s[0])
        cpu_s = min(now, most) if world.knows_cpu[0] or now < most else _between(1.5e-6, most, rng)
    return _with_limits(label, replace(world, cpu_s=np.array([cpu_s])), iops, rng)


def _between(least: float, most: float, rng: np.random.Generator) -> float:
    """Anything up to the most, as likely by its logarithm."""
    return float(np.exp(rng.uniform(np.log(min(least, most)), np.log(most))))


def _submitting(world: Hidden, iops: float) -> Hidden:
    """Jobs submit one I/O at a time, where the latency that was measured apart fits that better, or none of
    the simulator's is so long as that of so deep a queue.
    """
    unloaded = math.log(float(world.latency(False, 1.0)[0]))
    depths = (float(world.queue_depth[0]), float(world.numjobs[0]))
    deep, alone = (abs(math.log(depth / iops) - unloaded) for depth in depths)
    one_each = alone < deep if world.knows_unloaded[0] else depths[0] / iops > _slowest_s(world)
    return replace(world, synchronous=np.array([one_each]))


def _slowest_s(world: Hidden) -> float:
    """The longest latency that the simulator draws, somewhat crowded."""
    remote, size = bool(world.remote[0]), float(world.mean_bytes[0])
    return CROWDED * (SLOWEST_S[remote] + size / (400e6 if remote else 2e9))


def _on_path(label: str, world: Hidden) -> Hidden:
    """Hits or misses, and the caching that was not stated, as the label has it."""
    path, scope = int(world.path[0]), label.rsplit("_", 1)[0].removesuffix("_burst")
    hit = np.minimum(1.0, world.cache_bytes / world.working_set_bytes)
    if world.hides_caching[0] and scope in ("disk", "vm_uncached"):
        return replace(world, path=np.zeros(1, dtype=np.int64), hit=np.zeros(1))
    if world.hides_caching[0] and scope == "vm_cached":
        return replace(world, path=np.maximum(1, world.path), hit=hit)
    if path in (1, 2) and not world.knows_hit[0] and scope in SCOPES:
        world = replace(world, hit=hit if scope == "vm_cached" else np.zeros(1))
    if path == 2 and scope in ("disk", "vm_uncached"):
        world = replace(world, cache_bytes=np.full(1, 1e3))  # full of writes from the first tick on
    return world


def _latency(label: str, world: Hidden, iops: float, rng: np.random.Generator) -> float:
    """Times the latency: so long that it sets the rate, or so short that it does not."""
    depth = float(world.depth[0])
    now, longest = float(world.latency(False, depth)[0]), depth / iops
    if label == "latency_qd":
        return longest / now
    if now <= longest / CLEAR:
        return 1.0
    least = FASTEST_S[bool(world.remote[0])]
    if world.knows_unloaded[0] or least >= longest / CLEAR:
        return longest / CLEAR / now
    return _between(least, longest / CLEAR, rng) / now


def _with_own_rate(label: str, world: Hidden, iops: float) -> Hidden:
    stated = float(world.rate_iops[0])
    if label == "unknown":
        return replace(world, plateau_iops=np.full(1, iops))
    if label != "workload_demand" or stated <= iops * CLEAR:
        return world
    pause = float(world.depth[0]) / iops - float(world.latency(False, world.depth)[0])
    return replace(world, think_s=np.full(1, max(0.0, pause)))


def _with_limits(label: str, world: Hidden, iops: float, rng: np.random.Generator) -> Hidden | None:
    """Real limits: the one of the label at what was measured, all others above it."""
    scope, _, quantity = label.rpartition("_")
    binding = -1
    wants = world.wants(world.hit, int(world.path[0]) == 2 and float(world.cache_bytes[0]) <= 1e3)[0]
    if scope.removesuffix("_burst") in SCOPES:
        binding = SCOPES[scope.removesuffix("_burst")] + (quantity == "mbps")
        if wants[binding] <= 0:
            return None
    elif label == "above_documented_limit":
        use = wants * iops / np.nan_to_num(world.nominal[0], nan=UNLIMITED)
        binding = int(use.argmax())
    base, burst, credits = (getattr(world, name)[0].copy() for name in ("base", "burst", "credits"))
    for k in range(len(wants)):
        need = wants[k] * iops
        if k == binding and scope.endswith("_burst"):
            burst[k], base[k], credits[k] = need, min(base[k], 0.999 * need), 1.0
        elif k == binding:
            base[k], burst[k], credits[k] = need, max(need, burst[k] if burst[k] > base[k] else need), 0.0
        elif base[k] < CLEAR * need and np.isnan(world.nominal[0, k]):
            base[k] = burst[k] = _between(CLEAR, UNDOCUMENTED, rng) * need
        elif base[k] < CLEAR * need <= burst[k]:
            credits[k] = 1.0
        elif base[k] < CLEAR * need:
            base[k] = burst[k] = CLEAR * need
    return replace(world, base=base[None], burst=burst[None], credits=credits[None])


def changed(world: Hidden, job: str, kind: str) -> Hidden:
    """The setup with the run of a job file on it."""
    parts = sections(job)
    common, last = parts.pop("global"), list(parts.values())[-1]
    sizes = [_bytes(text) for text in last["bs"].split(",")]
    jobs = float(last["numjobs"])
    before_s = sum(float(part.get("runtime", 0)) for part in list(parts.values())[:-1])
    values: dict[str, float | bool] = {
        "bs_bytes": sizes[0],
        "bs_write_bytes": sizes[-1],
        "numjobs": jobs,
        "queue_depth": float(last["iodepth"]) * jobs,
        "runtime_s": before_s + float(last["runtime"]),
        "ramp_s": 10.0,
    }
    if common["rw"] in ("read", "randread"):
        values["read_share"] = 1.0
    if common["direct"] == "1":
        values |= {"page_hit": 0.0, "direct": True}
    if "rate_iops" not in last:
        values["rate_iops"] = UNLIMITED
    if kind == "no pauses":
        values["think_s"] = 0.0
    values |= _cached(world, kind)
    more = {name: np.array([value]).astype(getattr(world, name).dtype) for name, value in values.items()}
    return _with_credits(replace(world, **more), float(last.get("startdelay", 0)), kind)


def _cached(world: Hidden, kind: str) -> dict[str, float]:
    if kind == "host caching off":
        return {"path": 0, "hit": 0.0}
    if kind == "cache warm":
        return {"hit": min(1.0, float(world.cache_bytes[0] / world.working_set_bytes[0]))}
    return {"hit": 0.25} if kind == "span beyond the cache" else {}


def _with_credits(world: Hidden, rest_s: float, kind: str) -> Hidden:
    """After a rest, and on twice the disks."""
    capacity = (world.burst - world.base) * 1800
    gained = np.divide(world.base * rest_s, capacity, out=np.zeros_like(capacity), where=capacity > 0)
    times = np.where(np.arange(6) < 2, 2.0, 1.0) if kind == "another disk" else np.ones(6)
    credits = np.minimum(1.0, world.credits + gained)
    return replace(world, credits=credits, base=world.base * times, burst=world.burst * times)


def sections(job: str) -> dict[str, dict[str, str]]:
    """The options of a job file, by section."""
    found: dict[str, dict[str, str]] = {}
    for line in job.splitlines():
        if line.startswith("["):
            found[line[1:-1]] = {}
        elif line and not line.startswith(";"):
            name, _, value = line.partition("=")
            list(found.values())[-1][name] = value
    return found


def _bytes(text: str) -> float:
    return float(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else float(text)


def summary(found: pd.DataFrame) -> str:
    """How many have a proposal, how many of them settle what is open, and by kind."""
    named = found[found["kind"] != ""]
    both = named[named[["rate_0", "rate_1"]].notna().all(axis=1)]
    lines = [
        f"{len(found):,} undecided verdicts, {len(named) / max(1, len(found)):.1%} with a proposed run",
        f"{len(both):,} proposals run in both worlds ({len(named) - len(both):,} not: no such setup): "
        f"rates differ in {both['apart'].mean():.1%} (target {TARGET:.0%})",
    ]
    each = both.groupby("kind")["apart"].agg(["size", "mean"]).sort_values("size", ascending=False)
    counts = named["kind"].value_counts()
    lines += [f"  {kind}: {counts[kind]:,}, differ in {row['mean']:.1%}" for kind, row in each.iterrows()]
    none = found.loc[found["kind"] == "", "why_none"].value_counts()
    lines += [f"  no run, as {why}: {count:,} ({count / len(found):.1%})" for why, count in none.items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, help="to repeat a run")
    args = parser.parse_args()
    seed = secrets.randbits(32) if args.seed is None else args.seed
    print(f"seed {seed}")
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    found = checked(undecided(args.cases, rng), rng)
    print(summary(found))
    alike = found[(found["kind"] != "") & ~found["apart"] & found[["rate_0", "rate_1"]].notna().all(axis=1)]
    print(alike.to_string() if len(alike) else "none alike")
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
