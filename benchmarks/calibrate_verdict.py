"""How often the verdict is right, and whether its probabilities mean what they say.

    .venv/bin/python benchmarks/calibrate_verdict.py [--setups 20000] [--seed N] [--docs docs]

Draws hidden setups and workloads, lets the simulator run them, hands the verdict what a benchmark would
have reported, and compares. The seed is drawn anew in every run, and printed: nothing can be tuned to it.
Targets: at least 95 % right where the evidence is enough; in every tenth of the probabilities, the share
that is right within 3 points of what was said, tenths with few setups being put together.
"""

from __future__ import annotations

import argparse
import secrets
import time
from dataclasses import replace
from pathlib import Path

import judge_cases
import numpy as np
import numpy.typing as npt
import pandas as pd
from simulator import Hidden, Report, draw, report, run, truth
from simulator.hidden import UNLIMITED
from simulator.measured import PERCENTILES

from azbenchlib import verdict
from azbenchlib.analysis.observation import Observation
from azbenchlib.core.files import write_atomically
from azbenchlib.core.palette import NEUTRAL
from azbenchlib.model.setup import VM, BurstKind, Cap, Disk, Setup
from azbenchlib.plots.drawing.label_layout import y_title
from azbenchlib.plots.drawing.style import WIDE, Drawn, Series, canvas, theme
from azbenchlib.plots.roofline import standalone

TARGET = 0.95
WITHIN = 0.03
FEW, FEW_SHARE = 30, 1 / 50  # setups of which a share says little: 2 % of all, and no fewer than 30
ROLES = ("data", "data", "data", "temp", "nvme", "ephemeral_os")
CACHING = ("None", "ReadOnly", "ReadWrite", "None", "None", "None")


def setup_of(hidden: Hidden, i: int) -> Setup:
    """What is documented about a hidden setup, as the library writes it."""
    disk_cap, uncached, local = (_cap(hidden, i, stage) for stage in range(3))
    if uncached and hidden.hides_burst[i]:
        uncached = replace(uncached, burst_kind=BurstKind.NOT_KNOWN)
    path, role = hidden.path[i], ROLES[hidden.path[i]]
    vm = VM(
        uncached=uncached,
        cached=local if path in (1, 2, 5) or hidden.hides_caching[i] else Cap(),
        temp=local if role == "temp" else Cap(),
        nvme=local.times(hidden.devices[i] / hidden.devices_used[i]) if role == "nvme" else Cap(),
        nvme_count=int(hidden.devices[i]),
        cache_bytes=float(hidden.cache_bytes[i]),
    )
    count = int(hidden.count[i]) if role == "data" else 1
    devices = int(hidden.devices_used[i]) if not hidden.hides_devices[i] else 1
    silent = {
        "caching": hidden.hides_caching[i],
        "count": hidden.hides_devices[i],
        "cap": hidden.hides_figures[i],
    }
    disk = Disk(
        name="disk",
        role=role,
        sku="Premium_LRS" if hidden.counted_in_units[i] and role == "data" else None,
        caching="None" if hidden.hides_caching[i] else CACHING[path],
        cap=disk_cap.times(1 / count) if role == "data" else Cap(),
        count=count if role == "data" else devices,
        striped=count > 1 or devices > 1,
        cache_hit=_hit(hidden, i),
        unstated=tuple(name for name, is_open in silent.items() if is_open),
    )
    return Setup(vm, (disk,))


def _hit(hidden: Hidden, i: int) -> float | None:
    told = hidden.path[i] in (1, 2) and hidden.knows_hit[i] and not hidden.hides_caching[i]
    return float(hidden.hit[i]) if told else None


def _cap(hidden: Hidden, i: int, stage: int) -> Cap:
    def known(value: float) -> float | None:
        return None if np.isnan(value) else float(value)

    base = [known(value) for value in hidden.nominal[i, 2 * stage : 2 * stage + 2]]
    burst = [known(value) for value in hidden.nominal_burst[i, 2 * stage : 2 * stage + 2]]
    return Cap.of(*base, *(more if more != less else None for less, more in zip(base, burst, strict=True)))


def observation_of(hidden: Hidden, measured: Report, i: int) -> Observation:
    """What a benchmark would have told of a run, as the library writes it."""

    def given(known: npt.NDArray[np.bool_], value: float) -> float | None:
        return float(value) if known[i] else None

    percentiles = zip(PERCENTILES, measured.percentiles_us[i], strict=True) if hidden.knows_mean[i] else ()
    return Observation(
        read_share=float(hidden.read_share[i]),
        bs_bytes=float(hidden.bs_bytes[i]),
        bs_write_bytes=float(hidden.bs_write_bytes[i]),
        iops=float(measured.iops[i]),
        bw_bytes_per_s=float(measured.bytes_per_s[i]),
        queue_depth=float(hidden.queue_depth[i]),
        numjobs=int(hidden.numjobs[i]),
        runtime_s=float(hidden.runtime_s[i]),
        direct=bool(hidden.direct[i]),
        mean_us=given(hidden.knows_mean, measured.mean_us[i]),
        percentiles={percentile: float(value) for percentile, value in percentiles},
        cpu_pct=given(hidden.knows_cpu, measured.cpu_pct[i]),
        rate_iops=float(hidden.rate_iops[i]) if hidden.rate_iops[i] < UNLIMITED else None,
        working_set_bytes=float(hidden.working_set_bytes[i]),
        ram_bytes=float(hidden.ram_bytes[i]),
        unloaded_us=given(hidden.knows_unloaded, measured.unloaded_us[i]),
        samples=measured.samples(i) if hidden.knows_samples[i] else None,
        tool="fio",
        time_based=True,
        slat_us=given(hidden.knows_slat, measured.slat_us[i]),
        ramp_s=float(hidden.ramp_s[i]),
        device_iops=given(hidden.knows_device, measured.device_iops[i]),
        consumed_pct=_consumed(hidden, measured, i) if hidden.knows_monitor[i] else {},
    )


def _consumed(hidden: Hidden, measured: Report, i: int) -> dict[str, float]:
    """What Azure Monitor says of a managed disk and its VM."""
    stems = ("disk", "vm_uncached", "vm_cached")
    names = [f"{stem}_{quantity}" for stem in stems for quantity in ("iops", "mbps")]
    there = 6 if hidden.path[i] in (1, 2) else 4 if hidden.path[i] == 0 else 0
    return dict(zip(names[:there], map(float, measured.consumed_pct[i, :there]), strict=True))


def judged(hidden: Hidden, rng: np.random.Generator) -> pd.DataFrame:
    """Run and judge these setups.

    Returns
    -------
    DataFrame
        One row a setup: truth (all labels that are right), identifiable, top (the verdict's first label),
        probability, tie, named (a right label is among those that the verdict names) and right (it is the
        only one that the verdict names), second (a right label is the first or the runner-up), hides (the
        verdict was not told the caching, the devices, the VM, the disk's figures or the VM's burst).
    """
    course = run(hidden, rng)
    measured = report(hidden, course, rng)
    known = truth(hidden, course)
    rows = []
    for i, labels in enumerate(known.labels):
        got = verdict.judge(observation_of(hidden, measured, i), setup_of(hidden, i))
        named = not set(labels).isdisjoint(got.binding)
        second = named or got.runner_up in labels
        rows.append((labels, got.binding[0], got.probability, got.tie, named, named and not got.tie, second))
    columns = ["truth", "top", "probability", "tie", "named", "right", "second"]
    return pd.DataFrame(rows, columns=columns).assign(identifiable=known.identifiable, hides=hidden.hides)


def reliability(found: pd.DataFrame) -> pd.DataFrame:
    """In every tenth of the probabilities: how many, the mean that was said, the share that was right,
    two standard errors of it, and how far the share is off beyond those. A tenth with few setups is put
    together with the next; `low` is the first of those that a row holds.
    """
    few = max(FEW, FEW_SHARE * len(found))
    tenth = (found["probability"] * 10).clip(upper=9.999).astype(int)
    pooled: dict[int, int] = {}
    waiting: list[int] = []
    waited = 0
    for one, n in tenth.value_counts().sort_index().items():
        waiting.append(one)
        waited += n
        if waited >= few or one == tenth.max():
            pooled |= dict.fromkeys(waiting, one)
            waiting, waited = [], 0
    parts = found.assign(low=tenth).groupby(tenth.map(pooled).rename("tenth"))
    rows = parts.agg(
        n=("named", "size"), said=("probability", "mean"), was=("named", "mean"), low=("low", "min")
    )
    spread = (rows["said"] * (1 - rows["said"])).clip(lower=1e-4)
    rows["two_se"] = 2 * np.sqrt(spread / rows["n"])
    rows["beyond"] = ((rows["was"] - rows["said"]).abs() - rows["two_se"]).clip(lower=0)
    return rows.reset_index()


def confusions(found: pd.DataFrame) -> pd.DataFrame:
    """True label by named label, of the setups that could be told; what is named correctly counts as true."""
    some = found[found["identifiable"]]
    first = [top if named else labels[0] for labels, top, named in some[["truth", "top", "named"]].to_numpy()]
    return pd.crosstab(pd.Series(first, name="true"), pd.Series(some["top"].to_numpy(), name="named"))


def brier(found: pd.DataFrame) -> float:
    """Mean squared distance of probability and outcome; 0 is perfect, 0.25 is a coin."""
    return float(((found["probability"] - found["named"]) ** 2).mean())


def summary(found: pd.DataFrame, seed: int) -> str:
    """The page of the documents."""
    some = found[found["identifiable"]]
    rows = [
        f"| {row.low * 10}–{row.tenth * 10 + 10} % | {row.n:,} | {row.said:.1%} | {row.was:.1%} "
        f"| {100 * (row.was - row.said):+.1f} | {row.two_se:.1%} "
        f"| {'yes' if abs(row.was - row.said) <= WITHIN else 'no'} |"
        for row in reliability(found).itertuples()
    ]
    table = confusions(found)
    mistakes = sorted(
        ((table.at[true, named], true, named) for true in table.index for named in table if true != named),
        reverse=True,
    )
    wrong = [f"| {true} | {named} | {n} |" for n, true, named in mistakes[:12] if n]
    each = (
        some.assign(true=[labels[0] for labels in some["truth"]])
        .groupby("true")["right"]
        .agg(["size", "mean"])
    )
    by_label = [
        f"| {row.Index} | {row.size_:,} | {row.mean_:.1%} |"
        for row in each.rename(columns="{}_".format).itertuples()
    ]
    return PAGE.format(
        n=len(found),
        seed=seed,
        identifiable=len(some),
        right=some["right"].mean(),
        top=some["named"].mean(),
        wrong_sure=(~some["named"] & (some["probability"] >= TARGET)).mean(),
        unsure=(~found["named"] & (found["probability"] >= TARGET)).mean(),
        brier=brier(found),
        **_hidden_part(found[found["hides"]]),
        reliability="\n".join(rows),
        labels="\n".join(by_label),
        confusions="\n".join(wrong),
    )


def _hidden_part(some: pd.DataFrame) -> dict[str, float]:
    sure = some[some["probability"] >= TARGET]
    return {
        "hides": len(some),
        "hidden_first": some["named"].mean(),
        "hidden_second": some["second"].mean(),
        "hidden_sure": (~sure["named"]).sum() / max(1, len(some)),
        "hidden_said": sure["probability"].mean(),
        "hidden_was": sure["named"].mean(),
    }


PAGE = """# How far the verdict can be trusted

A simulator that shares no code with azbench ran {n:,} random setups and workloads (seed {seed}): a closed
loop over token buckets with base latency, burst credits, host cache, CPU, and limits that no document
knows, over wider ranges than the verdict assumes. The verdict got what a benchmark would have reported,
often with parts missing. `benchmarks/calibrate_verdict.py` draws a new seed and writes this page anew.

- Where the evidence is enough to tell ({identifiable:,} setups), the verdict names the right limit and no
  other in **{right:.1%}**, and the right one at all in {top:.1%}; it is wrong at 95 % or more in
  {wrong_sure:.2%}.
- Over all setups it is wrong at 95 % or more in {unsure:.2%}. Brier score {brier:.4f}.
- Of the {hides:,} setups of which the verdict was not told host caching, number of NVMe devices, VM, figures
  of the disk or burst of the VM, it has a right label first in {hidden_first:.1%}, first or second in
  {hidden_second:.1%}, and is wrong at 95 % or more in {hidden_sure:.2%}; what it says with 95 % or more,
  {hidden_said:.1%} on average, is right in {hidden_was:.1%}.

"Enough to tell" is decided from the physics: the same thing bound for nine tenths of the run, no other
ceiling, real or documented, lies within 15 % of what was delivered, and what speaks for the cause was
measured (such as the unloaded latency, or the CPU).

![Said probability and share that was right](verdict-calibration.svg)

## Probability that was said, and share that was right

Tenths with less than 2 % of the setups are one row with the next.

| said | setups | mean | right | points apart | two standard errors | within 3 points |
|---|--:|--:|--:|--:|--:|---|
{reliability}

## By what really bound

| bound by | setups that can be told | right |
|---|--:|--:|
{labels}

## Most frequent mistakes, where it can be told

| bound by | named | setups |
|---|---|--:|
{confusions}
"""


def curve(rows: pd.DataFrame) -> Drawn:
    """Share that was right over the probability that was said, with two standard errors."""
    verdicts = Series("verdict", "Verdict", "Verdict", 1)
    with theme(WIDE):
        figure, panels = canvas(WIDE, 420, left=70, right=24, top=40, bottom=56)
        panel = panels[0, 0]
        panel.plot([0, 100], [0, 100], color=NEUTRAL["limit"], linewidth=1, gid="ideal")
        said, was, two_se = (100 * rows[name] for name in ("said", "was", "two_se"))
        panel.errorbar(said, was, yerr=two_se, fmt="none", ecolor=verdicts.colour, elinewidth=1.5)
        panel.plot(said, was, gid="verdicts", **verdicts.marker(9))
        ticks = range(0, 101, 20)
        panel.set_xticks(ticks, [f"{tick} %" for tick in ticks])
        panel.set_yticks(ticks, [f"{tick} %" for tick in ticks])
        panel.set_xlim(0, 102)
        panel.set_ylim(0, 102)
        panel.grid(axis="y")
        panel.set_xlabel("probability that was said")
        y_title(panel, "share that was right", WIDE)
    titles = {
        "verdicts": [f"said {row.said:.1%}, right {row.was:.1%} of {row.n:,}" for row in rows.itertuples()]
    }
    words = "; ".join(titles["verdicts"])
    return Drawn(figure, titles, f"Share of verdicts that were right by probability: {words}.", WIDE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--setups", type=int, default=20_000)
    parser.add_argument("--seed", type=int, help="to repeat a run")
    parser.add_argument("--docs", type=Path, help="write verdict-calibration.md and .svg into this folder")
    args = parser.parse_args()
    seed = secrets.randbits(32) if args.seed is None else args.seed
    print(f"seed {seed}")
    start = time.perf_counter()
    rng = np.random.default_rng(seed)
    found = judged(draw(args.setups, rng), rng)
    page = summary(found, seed)
    print(page, confusions(found).to_string(), sep="\n")
    print(f"{time.perf_counter() - start:.0f} s")
    if args.docs:
        path = args.docs / judge_cases.PAGE
        published = judge_cases.part_of(path.read_text()) if path.exists() else ""
        whole = judge_cases.into_page(page, published) if published else page
        write_atomically(path, whole.encode())
        picture = standalone(curve(reliability(found)))
        write_atomically(args.docs / "verdict-calibration.svg", picture.encode())


if __name__ == "__main__":
    main()
