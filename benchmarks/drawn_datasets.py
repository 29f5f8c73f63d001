"""Datasets drawn at random, as people bring them, of which every row is known before azbench reads it.

A dataset is a folder, or several that are named side by side, of outputs that
``tests/support/readback/foreign.py`` writes. What a run gave is in its :class:`Row`, and which disk it was
measured on in `side`, which nothing in the files needs to say.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "support")]

from iozone_matrices import FILES, RECORDS, cached, matrix  # noqa: E402
from readback import foreign  # noqa: E402

# VM sizes and disks to state: a disk limit below the VM's, one near it, and one above.
SETUPS = (
    ("Standard_D8s_v5", "P30"),
    ("Standard_D16s_v5", "P40"),
    ("Standard_D2s_v5", "P30"),
    ("Standard_E8ds_v4", "P50"),
    ("Standard_D8s_v5", "P10"),
)
PATTERNS = {"read": ("randread", "read"), "write": ("randwrite", "write")}
SIZES = (4096, 8192, 65536, 1048576)
SPREAD = 0.01  # of repeats


@dataclass(frozen=True, kw_only=True)
class Row:
    """A run: its file, what it asked for, IOPS by direction, and the disk that it was measured on."""

    path: str
    rw: str
    bs: int
    depth: int
    iops: dict[str, float]
    jobs: int = 1
    side: int = 0
    phases: tuple[tuple[float, int], ...] = ()  # IOPS and seconds of a burst and of the base after it

    @property
    def total(self) -> float:
        """IOPS of all directions."""
        return sum(self.iops.values())

    @property
    def load(self) -> tuple[str, int, int, int]:
        """What repeats have in common."""
        return self.rw, self.bs, self.depth, self.jobs

    @property
    def queue_depth(self) -> int:
        """Outstanding I/Os of all jobs."""
        return self.depth * self.jobs

    @property
    def job(self) -> foreign.Job:
        """As it is written: latencies follow from rate and depth."""
        flows = {
            ddir: foreign.flow(rate, self.queue_depth * rate / self.total) for ddir, rate in self.iops.items()
        }
        return foreign.Job(flows, "load", self.bs, self.depth, jobs=self.jobs, rw=self.rw)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A dataset: its kind, its rows, the folders that are named, and what is stated of its setup."""

    kind: str
    rows: list[Row]
    named: tuple[str, ...] = ("",)
    vm: str = ""
    disk: str = ""
    bins: bool = False
    matrix: dict[tuple[str, int, int], float] = field(default_factory=dict)  # bytes/s by test, file, record

    @property
    def stated(self) -> dict[str, str | list[str]]:
        """As a view takes it."""
        return {"vm": self.vm, "disks": [self.disk]} if self.vm else {}

    def write(self, home: Path) -> list[str]:
        """Write all files; the folders as they are named."""
        for number, row in enumerate(self.rows):
            path = home / row.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(foreign.fio([row.job], self.bins, foreign.MOMENT + 97 * number))
            if row.phases:
                path.with_name(f"{path.stem}_iops.1.log").write_text(_log(row))
        if self.matrix:
            tests = tuple(dict.fromkeys(test for test, *_ in self.matrix))
            home.mkdir(parents=True)
            (home / "iozone.txt").write_text(matrix(lambda *cell: self.matrix[cell], tests))
        return [str(home / name) for name in self.named]


def _log(row: Row) -> str:
    """fio's log of IOPS, a line every fifteen seconds."""
    lines, now = [], 0
    ddir = int("write" in row.iops)
    for rate, lasted_s in row.phases:
        for _ in range(lasted_s // foreign.LOG_S):
            now += foreign.LOG_S
            lines.append(f"{1000 * now}, {rate:.0f}, {ddir}, 0, 0\n")
    return "".join(lines)


def repeated(rng: random.Random, row: Row, paths: Sequence[str]) -> list[Row]:
    """A run again and again, with the spread of repeats."""
    made = []
    for path in paths:
        factor = rng.gauss(1, SPREAD)
        made.append(replace(row, path=path, iops={k: round(factor * v, 3) for k, v in row.iops.items()}))
    return made


# --- mixtures: two or three disks in one dataset ------------------------------------------------------------


def mixture(rng: random.Random) -> Drawn:
    """Runs of two or three disks, 1.3 to 3 times apart, in one folder or in one each."""
    n_sides = rng.choice((2, 2, 3))
    levels = [rng.uniform(300, 6000)]
    for _ in range(n_sides - 1):
        levels.append(levels[-1] * rng.uniform(1.3, 3))
    rng.shuffle(levels)
    loads = list(_loads(rng))
    n_runs = rng.randint(n_sides + 1, 12)
    sides = [*range(n_sides), *(rng.randrange(n_sides) for _ in range(n_runs - n_sides))]
    layout = rng.choice(("shuffled", "blocks", "folders", "names"))
    rng.shuffle(sides) if layout == "shuffled" else sides.sort()
    rows: list[Row] = []
    for number, side in enumerate(sides):
        for name, load in loads:
            n_alike = sum((row.side, row.depth, row.rw) == (side, load.depth, load.rw) for row in rows)
            if len(loads) > 2 and n_alike >= 2 and rng.random() < 0.3:
                continue  # not each depth was measured as often
            path = f"run-{number:02}{name}.json"
            path = f"disk-{'abc'[side]}/{path}" if layout == "folders" else path
            path = f"disk-{'abc'[side]}-{path}" if layout == "names" else path
            rates = {ddir: share * levels[side] for ddir, share in load.iops.items()}
            rows += repeated(rng, replace(load, iops=rates, side=side), [path])
    named = tuple(f"disk-{'abc'[side]}" for side in range(n_sides)) if layout == "folders" else ("",)
    vm, disk = rng.choice(SETUPS) if rng.random() < 0.7 else ("", "")
    kind = f"{layout}, {'stated' if vm else 'not stated'}"
    return Drawn(kind=kind, rows=rows, named=named, vm=vm, disk=disk, bins=rng.random() < 0.5)


def _loads(rng: random.Random) -> Iterator[tuple[str, Row]]:
    """The workloads of a mixture, with what tells their files apart; rates are shares of the disk's level."""
    bs, depth = rng.choice(SIZES[:3]), rng.choice((1, 8, 32))
    base = Row(path="", rw="randread", bs=bs, depth=depth, iops={"read": 1.0})
    kind = rng.choice(("one", "one", "sweep", "both", "mixed"))
    if kind == "sweep":
        for n in range(rng.randint(3, 4)):
            yield f"-qd{4**n}", replace(base, depth=4**n, iops={"read": min(1.0, 0.2 * 4**n)})
    elif kind == "mixed":
        yield "", replace(base, rw="randrw", iops={"read": 0.7, "write": 0.3})
    else:
        yield "-reads" if kind == "both" else "", base
        if kind == "both":
            yield "-writes", replace(base, rw="randwrite", iops={"write": rng.uniform(0.3, 1.2)})


# --- what people bring -----------------------------------------------------------------------------------


def _setup(rng: random.Random) -> tuple[str, str, float, float]:
    """VM size, disk, and IOPS and bytes/s that runs get: a limit, a little more, or something else."""
    vm, disk = rng.choice(SETUPS)
    most = {"P10": (500, 100e6), "P30": (5000, 200e6), "P40": (7500, 250e6), "P50": (7500, 250e6)}[disk]
    at = rng.choice((1.0, 1.02, 1.02, rng.uniform(0.3, 1.6)))
    return vm, disk, at * most[0], at * most[1]


def _base(rng: random.Random) -> Row:
    ddir = rng.choice(("read", "write"))
    rw = rng.choice(PATTERNS[ddir])
    return Row(path="", rw=rw, bs=rng.choice(SIZES), depth=rng.choice((1, 4, 16, 32)), iops={ddir: 1.0})


def _rated(row: Row, iops: float, bytes_per_s: float, lat_us: float) -> Row:
    """A run as a disk serves it: as its latency allows, up to its limits."""
    rate = min(row.queue_depth / lat_us * 1e6, iops, bytes_per_s / row.bs)
    return replace(row, iops={ddir: share * rate for ddir, share in row.iops.items()})


def depths(rng: random.Random, jobs: bool = False) -> Drawn:
    """A sweep of the queue depth, or of the number of jobs, of one workload or two."""
    vm, disk, iops, bytes_per_s = _setup(rng)
    rows = []
    bases = {(base.rw, base.bs): base for base in [_base(rng) for _ in range(rng.randint(1, 2))]}
    for base in bases.values():
        lat_us = rng.uniform(500, 3000)
        for n in range(rng.randint(3, 8)):
            some = replace(base, depth=4, jobs=2**n) if jobs else replace(base, depth=2**n)
            some = _rated(some, iops, bytes_per_s, lat_us)
            rows += repeated(rng, some, [f"{base.rw}-{base.bs}-{2**n}.json"])
    return _finish(rng, "jobs" if jobs else "depths", rows, vm, disk)


def blocks(rng: random.Random) -> Drawn:
    """A sweep of the block size."""
    vm, disk, iops, bytes_per_s = _setup(rng)
    base, lat_us = replace(_base(rng), depth=32), rng.uniform(500, 3000)
    sizes = [4096 << n for n in range(rng.randint(3, 9))]
    made = [_rated(replace(base, bs=bs), iops, bytes_per_s, lat_us) for bs in sizes]
    rows = [row for one in made for row in repeated(rng, one, [f"bs-{one.bs}.json"])]
    return _finish(rng, "blocks", rows, vm, disk)


def repeats(rng: random.Random) -> Drawn:
    """One to three workloads, repeated up to nine times."""
    vm, disk, iops, bytes_per_s = _setup(rng)
    n, rows = rng.randint(1, 9), []
    for place in range(rng.randint(1, 3)):
        base = _base(rng)
        if rng.random() < 0.25:
            base = replace(base, rw="randrw", iops={"read": 0.7, "write": 0.3})
        made = _rated(base, iops, bytes_per_s, rng.uniform(300, 4000))
        if made.load not in {row.load for row in rows}:
            rows += repeated(rng, made, [f"run{i}/load{place}.json" for i in range(n)])
    return _finish(rng, "repeats" if n > 1 else "single runs", rows, vm, disk)


def changed(rng: random.Random) -> Drawn:
    """Repeats before and after a change, in folders that are named side by side."""
    vm, disk, iops, bytes_per_s = _setup(rng)
    gain, rows = rng.choice((1.0, rng.uniform(0.6, 0.9), rng.uniform(1.1, 2))), []
    base = _rated(_base(rng), iops, bytes_per_s, rng.uniform(300, 2000))
    for side, name in enumerate(("before", "after")):
        rates = {ddir: rate * gain**side for ddir, rate in base.iops.items()}
        paths = [f"{name}/run{i}.json" for i in range(rng.randint(2, 6))]
        rows += repeated(rng, replace(base, iops=rates, side=side if gain != 1 else 0), paths)
    return replace(_finish(rng, "before and after", rows, vm, disk), named=("before", "after"))


def bursts(rng: random.Random) -> Drawn:
    """A burst of a small disk that runs out, with its log."""
    lasted = 60 * rng.randint(10, 30), 60 * rng.randint(5, 15)
    rates = round(3500 * rng.uniform(0.97, 1.02)), round(500 * rng.uniform(0.99, 1.02))  # as a log has them
    mean = sum(rate * s for rate, s in zip(rates, lasted, strict=True)) / sum(lasted)
    phases = tuple(zip(rates, lasted, strict=True))
    row = Row(path="drain.json", rw="randwrite", bs=4096, depth=32, iops={"write": mean}, phases=phases)
    return _finish(rng, "bursts", [row], "Standard_D8s_v5", "P10")


def matrices(rng: random.Random) -> Drawn:
    """iozone over sizes of records and files, in the page cache and beyond it."""
    factor = rng.uniform(0.5, 2)
    tests = rng.choice((("write", "read"), ("write", "rewrite", "read", "reread")))
    sizes = [(file, record) for file in FILES for record in RECORDS if record <= file]
    cells = {(test, *size): factor * cached(test, *size) for test in tests for size in sizes}
    vm, disk = rng.choice(SETUPS) if rng.random() < 0.6 else ("", "")
    return Drawn(kind="iozone", rows=[], vm=vm, disk=disk, matrix=cells)


def _finish(rng: random.Random, kind: str, rows: list[Row], vm: str, disk: str) -> Drawn:
    """The dataset, of which the setup is stated, or is not."""
    known = rng.random() < 0.7
    vm, disk = (vm, disk) if known else ("", "")
    return Drawn(kind=kind, rows=rows, vm=vm, disk=disk, bins=rng.random() < 0.5)


_QUICK = (depths, lambda rng: depths(rng, jobs=True), blocks, repeats, changed, bursts, repeats)
# A matrix takes four times as long as any other kind.
KINDS: tuple[Callable[[random.Random], Drawn], ...] = (*_QUICK, *_QUICK, matrices)
