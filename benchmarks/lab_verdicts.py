"""Random setups in the lab, driven by real fio: does the verdict name the limit that the lab imposed?

This shows that lab and verdict agree on the model, through all that lies between them: fio, its output, the
readers, the undoing of time dilation. It does not show that the model is Azure: both follow its documents.

    .venv/bin/python benchmarks/lab_verdicts.py [--setups 200] [--seed N] [--seconds 3]
"""

from __future__ import annotations

import argparse
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from azbenchlib.campaign.progress import Progress, quiet, show_progress
from azbenchlib.campaign.run_loop import measure
from azbenchlib.campaign.targets.lab.plan import EmulatedSetup, in_words
from azbenchlib.campaign.targets.lab.target import LabTarget
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB, fio_size_text
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.model import VM, Setup, notation
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.verdict.run_verdicts import judge_runs

VMS = (
    "D2s_v3",
    "D4s_v5",
    "D8s_v5",
    "E8ds_v4",
    "E4as_v5",
    "D16s_v5",
    "E32-8s_v3",
    "D4as_v5",
    "F8s_v2",
    "D2ds_v5",
)
TIERS = ("P4", "P10", "P15", "P20", "P30", "P40", "P50", "E10", "E30", "E50", "S20")
IMPOSED = 0.5  # of the requests had to wait for the limit: it was the limit that bound
NEAR = 0.97  # of their values: limits that are used so far are a tie, whichever the lab met first
FREE = 0.1  # fewer, and it was the latency alone; between the two, both did


@dataclass(frozen=True)
class Outcome:
    """What the lab imposed on a run, and what the verdict made of its output."""

    setup: str
    imposed: tuple[str, ...]
    named: tuple[str, ...]
    near: tuple[str, ...]  # limits that the measured rate nearly fills, by the verdict's own rows
    probability: float
    busy: bool  # whether this machine was too busy for the lab to keep to its limits, as the lab itself noted

    @property
    def right(self) -> bool:
        tied = {*self.near, "latency_qd"} if set(self.named) & set(self.near) else set()
        return bool(set(self.imposed) & {*self.named, *tied})


def draw(rng: np.random.Generator, n: int) -> Iterator[EmulatedSetup]:
    """So many setups that Azure would take, each with a workload."""
    made = 0
    while made < n:
        disk = _disk(rng)
        setup = Setup(VM(size=f"Standard_{rng.choice(VMS)}"), notation.parse_disks([disk]))
        try:
            resolve(setup, "2026-11-20")
        except InputError:  # no temp disk on this size, say
            continue
        made += 1
        yield in_words(setup, [_workload(rng)], f"setup-{made}")


def _disk(rng: np.random.Generator) -> str:
    kind = rng.choice(["tier", "striped", "cached", "ultra", "pv2", "temp"])
    if kind == "temp":
        return "temp"
    if kind in ("ultra", "pv2"):
        iops = int(rng.integers(3, 40)) * 1000
        mbps = int(rng.integers(125, max(126, min(2000, iops // 4))))
        return f"{kind}:1TiB/{iops}iops/{mbps}MBps"
    tier = str(rng.choice(TIERS))
    if kind == "striped":
        return f"{tier}x{rng.integers(2, 5)}"
    return f"{tier}:{rng.choice(['ReadOnly', 'ReadWrite'])}" if kind == "cached" else tier


def _workload(rng: np.random.Generator) -> Workload:
    size = int(rng.choice([4, 8, 16, 64, 128, 256, 512, 1024])) * KIB
    given = {
        "rw": str(rng.choice(["randread", "randwrite", "randrw"])),
        "bs": fio_size_text(size),
        "iodepth": int(2 ** rng.integers(0, 8)),
        "size": "4g",
        "runtime": 60,
    }
    return Workload.of("work", given)


def outcomes(
    setups: list[EmulatedSetup], folder: Path, seconds: float, progress: Progress = quiet
) -> list[Outcome]:
    """Measure all of them, and compare."""
    target = LabTarget(emulated=setups, title="Random setups", longest_s=seconds)
    measure(target, folder, progress=progress)
    found = Dataset.load(folder)
    notes = found.manifest.notes if found.manifest else []
    busy = {note.partition(",")[0] for note in notes if "this machine was busy" in note}
    return [
        Outcome(
            str(judged.run.setup_id),
            _imposed(found, judged.run.run_ids),
            judged.judgement.binding,
            tuple(row.label for row in judged.judgement.limits if row.utilisation >= NEAR),
            float(judged.judgement.probability),
            judged.run.setup_id in busy,
        )
        for judged in judge_runs(found.tables)
    ]


def _imposed(found: Dataset, run_ids: tuple[str, ...]) -> tuple[str, ...]:
    """The limits that most requests had to wait for, by what the lab itself logged."""
    rows = found.samples[found.samples["run_id"].isin(run_ids)]
    rows = rows[rows["metric"] == "throttled_share"]
    labels = rows["object"].str.split().str[-1]
    shares = rows.groupby(labels)["value"].mean().sort_values(ascending=False)
    most = 0.0 if shares.empty else float(shares.iloc[0])
    held = tuple(shares.index[shares > most * IMPOSED]) if most >= FREE else ()
    return held if most >= IMPOSED else (*held, "latency_qd")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setups", type=int, default=200)
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        setups = list(draw(np.random.default_rng(given.seed), given.setups))
        found = outcomes(setups, Path(folder) / "ds", given.seconds, show_progress())
        told = {one.setup.setup_id: one for one in setups}
    for one in found:
        if not one.right:
            emulated = told[one.setup]
            disk = emulated.setup.disks[0].disk
            what = f"{emulated.setup.vm_size} {disk} {emulated.tasks[0].workload.title}"
            named = f"imposed {one.imposed}, named {one.named} with {one.probability:.2f}"
            print(f"{what}{' (too busy)' if one.busy else ''}: {named}")
    found, late = [one for one in found if not one.busy], sum(one.busy for one in found)
    table = pd.DataFrame({"limit": [one.imposed[0] for one in found], "right": [one.right for one in found]})
    print(table.groupby("limit")["right"].agg(["size", "mean"]))
    print(f"seed {given.seed}: right {table['right'].mean():.1%} of {len(table)}; {late} more too busy")


if __name__ == "__main__":
    main()
