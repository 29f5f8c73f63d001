"""Blind setups of Azure: disks, stripes, VM limits, host caches, temp disks, NVMe, which a probe must name.

.venv/bin/python benchmarks/probe_setups.py [SETUPS] [SEED] [KEPT]

Setups are drawn from the catalogue, and the emulator lets single I/Os through their limits as in
`probe_blind_disks.py`; all data is read once before, as a probe does. A name is right where its kind, its
disks and its VM size are those of the hidden setup, or documents give these the same limits. Each setup is a
line of the file KEPT; the same command goes on where it was stopped. A setup takes some 20 s of CPU.
"""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from probe_blind_disks import Emulated

from azbenchlib.azure import catalog
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MIB
from azbenchlib.lab.engine.simulate import SimulatedJob, simulate
from azbenchlib.lab.engine.virtual_machine import Machine, Options
from azbenchlib.model.documented_setups import documented_places
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.notation import stated_setup
from azbenchlib.model.setup import Setup
from azbenchlib.probing.likelihood import ProbeEvidence
from azbenchlib.probing.naming import ON_HOST, Believed, Named, names
from azbenchlib.probing.portrait import Knowledge, Portrait
from azbenchlib.probing.runs import candidates
from azbenchlib.probing.session import Probe
from azbenchlib.probing.text import name_of

DAY = "2026-11-01"  # of the catalogue
SECONDS = 5.0
FILL_S = 60.0  # that reading all data may take, as for a probe
KINDS = ("tier", "tier", "stripe", "stripe", "provisioned", "behind", "cached", "cached", "temp", "nvme")
TOUCHED_BYTES = 64 * MIB


@dataclass(kw_only=True)
class HiddenSetup(Emulated):
    """A setup that is emulated, and how it is stated."""

    vm: str | None
    disk: str
    setup: Setup = field(init=False)

    def __post_init__(self) -> None:
        self.setup = resolve(stated_setup(self.vm, [self.disk]), DAY)
        (self.volume,) = (one.name for one in self.setup.volumes())
        self.working_set_bytes = TOUCHED_BYTES
        super().__post_init__()

    def machine(self) -> Machine:
        """The VM with the disk."""
        return Machine(self.setup, Options())

    def fill(self) -> None:
        """Read all data once, or as much of it as can be read in some time."""
        job = SimulatedJob(
            volume=self.volume, queue_depth=16, bs_bytes=MIB, sequential=True, working_set_bytes=TOUCHED_BYTES
        )
        left, rate = TOUCHED_BYTES / MIB, self._tried(job)
        seconds = min(FILL_S, 1.1 * left / rate + 0.1)
        simulate(self._machine, job, seconds, start=self._now, seed=1)
        self._now += seconds + self._drained(16, rate)

    @property
    def caps(self) -> dict[str, float]:
        """What reads and writes may do, with full credits, by the documented limits."""
        (volume,) = self.setup.volumes()
        vm, disk = self.setup.vm, volume.disk
        second = disk.kind is not None and disk.kind.separate_vm_limits and vm.uncached_v2
        remote = [volume.cap, vm.uncached_v2 if second else vm.uncached]
        part = volume.members / (vm.nvme_count or volume.members)
        near = {"temp": vm.temp or vm.cached, "nvme": vm.nvme.times(part)}.get(disk.place, vm.cached)
        through = {
            "None": [remote, remote],
            "ReadOnly": [[near], [near, *remote]],
            "ReadWrite": [[near], [near]],
        }
        reads, writes = through[disk.caching] if disk.place == "remote" else [[near], [near]]
        return {
            f"{way}_{quantity}": min(
                (one.limit(quantity, True, way == "write") or np.inf for one in passed), default=np.inf
            )
            for way, passed in (("read", reads), ("write", writes))
            for quantity in ("iops", "bytes_per_s")
        }

    @property
    def kind(self) -> str:
        """What a right name is of."""
        (volume,) = self.setup.volumes()
        disk, caps = volume.disk, self.caps
        if disk.place != "remote":
            return disk.place
        if disk.caching != "None":
            return "read_only" if disk.caching == "ReadOnly" else "read_write"
        own = [
            caps[f"read_{quantity}"] == volume.cap.limit(quantity, True)
            for quantity in ("iops", "bytes_per_s")
        ]
        if all(own):
            burst = volume.cap.bursts("iops") or volume.cap.bursts("bytes_per_s")
            return "provisioned" if disk.provisioned else "burst" if burst else "disk"
        return "disk_and_vm" if any(own) else "vm"

    def is_named(self, named: Named) -> bool:
        """Whether a name is right."""
        kind = named.setup.kind.removesuffix("_burst") if named.setup else None
        if kind != self.kind and not {kind, self.kind} <= set(ON_HOST):
            return False
        (volume,) = self.setup.volumes()
        disk, size, own = volume.disk, self.setup.vm.size, named.setup
        of_disk = (disk.tier or str(disk.sku).partition("_")[0]) in named.disks
        of_disk = of_disk and own is not None and own.disk is not None and own.disk.count == volume.members
        match self.kind:
            case "disk" | "burst" | "provisioned":
                return of_disk
            case "vm" | "read_write":
                return size in named.sizes
            case "disk_and_vm" | "read_only":
                return of_disk and size in named.sizes
        return size in named.disks


def drawn(rng: np.random.Generator) -> HiddenSetup:
    """One of a random kind; what Azure refuses, and what has no documented limits, is drawn anew."""
    kind = KINDS[int(rng.integers(len(KINDS)))]
    while True:
        try:
            vm, disk = _stated(kind, rng)
            hidden = HiddenSetup(vm=vm, disk=disk)
        except InputError:
            continue
        if np.isfinite(hidden.caps["read_iops"]) and np.isfinite(hidden.caps["read_bytes_per_s"]):
            return hidden


def _stated(kind: str, rng: np.random.Generator) -> tuple[str | None, str]:
    """VM size and disk in the short notation."""
    sizes, tiers = catalog.vm_sizes(), sorted({row.name for row in catalog.disk_tiers(DAY)})
    vm, tier = str(rng.choice(sizes)), str(rng.choice(tiers))
    large = "Standard_E104ids_v5" if rng.random() < 0.5 else None
    bursting = ":noburst" if rng.random() < 0.3 else ""
    match kind:
        case "tier":
            return large, tier + bursting
        case "stripe":
            return large if rng.random() < 0.6 else vm, f"{tier}x{rng.integers(2, 7)}{bursting}"
        case "provisioned":
            word = str(rng.choice(["pv2", "ultra"]))
            iops = round(float(np.exp(rng.uniform(np.log(3_000 if word == "pv2" else 100), np.log(80_000)))))
            most = min(2_000.0, 0.25 * iops)
            least = min(125.0 if word == "pv2" else 1.0, most)
            rate = round(float(np.exp(rng.uniform(np.log(least), np.log(most)))), 0)
            return large, f"{word}:1024GiB/{iops}iops/{max(1, int(rate))}MBps"
        case "behind":
            return vm, str(rng.choice(["P30", "P40", "P60", "P80", "P30x4", "E60"]))
        case "cached":
            premium = [one for one in tiers if one[0] == "P"]
            return vm, f"{rng.choice(premium)}:{rng.choice(['ReadOnly', 'ReadWrite'])}"
    return vm, kind


def probed(hidden: HiddenSetup, seed: int) -> tuple[Probe, Portrait]:
    """A setup probed to the end, after its data was read once."""
    session = Probe(seed=seed, runs=candidates(SECONDS))
    hidden.fill()
    while chosen := session.next():
        session.tell(hidden.measure(chosen.run))
    return session, session.portrait()


def result(number: int, seed: int) -> dict[str, Any]:
    """One of the setups of a seed."""
    hidden = drawn(np.random.default_rng([seed, number]))
    return {"number": number, **judged(hidden, seed + number)}


def judged(hidden: HiddenSetup, seed: int) -> dict[str, Any]:
    """What came of a setup."""
    session, found = probed(hidden, seed)
    believed = Believed.of(session.disks, ProbeEvidence(session.shown), found.steady)
    named = names(believed, found, documented_places(DAY), None, SECONDS)
    known = {one.key: one for one in found.figures if one.key in hidden.caps and one.state is Knowledge.KNOWN}
    caps = {key: (figure.value or 0.0) / hidden.caps[key] - 1 for key, figure in known.items()}
    held = {key: figure.low <= hidden.caps[key] <= figure.high for key, figure in known.items()}
    first = named[0]
    return {
        "vm": hidden.vm,
        "disk": hidden.disk,
        "kind": hidden.kind,
        "true": hidden.caps,
        "first": name_of(first),
        "probability": first.probability,
        "right": hidden.is_named(first),
        "right_or_alike": any(hidden.is_named(one) for one in named if one is first or one.alike),
        "of_right": sum(one.probability for one in named if hidden.is_named(one)),
        "others": [
            f"{name_of(one)}: {one.probability:.2f}{' alike' if one.alike else ''}" for one in named[1:4]
        ],
        "caps": caps,
        "held": held,
        "steady": found.steady,
        "contradictions": len(found.contradictions),
        "runs": len(session.shown),
        "figures": {
            one.key: [str(one.state), one.value, one.low, min(one.high, 1e18)]
            for one in found.figures
            if one.key in hidden.caps
        },
    }


def summary(results: list[dict[str, Any]]) -> Iterator[str]:
    """What came of some setups, in a few lines."""
    wrong = [one for one in results if not one["right_or_alike"] and one["probability"] > 0.6]
    errors = [abs(error) for one in results for error in one["caps"].values()]
    held = [is_held for one in results for is_held in one["held"].values()]
    right, alike = (sum(one[key] for one in results) for key in ("right", "right_or_alike"))
    yield f"{len(results)} setups: first name right {right}, or among those that are alike {alike}"
    yield f"wrong with more than 60 %: {len(wrong)}; called busy: {sum(not one['steady'] for one in results)}"
    yield f"{len(errors)} caps stated, {sum(error <= 0.01 for error in errors)} within 1 %, {sum(held)} held"


def main(setups: int, seed: int, kept: Path) -> None:
    print(f"seed {seed}, kept in {kept}", flush=True)
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    results = {one["number"]: one for one in map(json.loads, lines)}
    with kept.open("a", encoding="utf-8") as file:
        for number in range(setups):
            if number not in results:
                results[number] = result(number, seed)
                file.write(json.dumps(results[number]) + "\n")
                file.flush()
    print("\n".join(summary([*results.values()])))


if __name__ == "__main__":
    chosen_seed = int(sys.argv[2]) if len(sys.argv) > 2 else secrets.randbits(32)
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 40,
        chosen_seed,
        Path(sys.argv[3] if len(sys.argv) > 3 else f"probe-setups-{chosen_seed}.jsonl"),
    )
