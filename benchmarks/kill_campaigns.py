"""Random SIGKILLs of a campaign at any moment: no run is lost, none is measured twice, the order holds.

    .venv/bin/python benchmarks/kill_campaigns.py --kills 1000
    .venv/bin/python benchmarks/kill_campaigns.py --kills 300 --device  # as root: on a loop device of its own

Each campaign is begun in a process of its own, killed after a random time, and begun again with the same
command until it is finished. Then its journal must tell the runs of an undisturbed campaign, in order, each
kept once, and every raw file must be as it was when it was kept. On a device, nothing may stand behind what
the workloads touch but the mark of the campaign, and another campaign must be refused.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from azbenchlib.campaign import LocalTarget, measure
from azbenchlib.campaign.experiment import Todo
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.core.errors import AzbenchError
from azbenchlib.dataset.files import sha256

# Real fio, over and done with in a moment; the seed makes another order of each campaign.
FILE = """\
title: Killed again and again
region: westeurope
vm: Standard_D4as_v5
repeats: 2
seed: {seed}
disks:
  data: {{sku: Premium_LRS, size: 128GiB}}
workloads:
  tiny: {{rw: [randread, randwrite], size: 64k, bs: 4k, runtime: 0.03, ioengine: psync, direct: false}}
"""


DEVICE_BYTES, TOUCHED_BYTES, MARK_BYTES = 8 * 2**20, 64 * 1024, 4096


@dataclass
class Tally:
    """What came of the campaigns."""

    kills: int = 0
    campaigns: int = 0
    faults: list[str] = field(default_factory=list)
    at: dict[str, int] = field(default_factory=dict)  # what the journal said last before a kill


def order(seed: int, folder: Path) -> list[str]:
    """The runs of an undisturbed campaign, in order."""
    return [work.name for work in todo(seed, folder).workloads]


def todo(seed: int, folder: Path) -> Todo:
    path = folder / f"{seed}.yaml"
    path.write_text(FILE.format(seed=seed))
    found = measurement_file.load(path)
    return Todo(found.workloads(), found)


def begin(seed: int, folder: Path, device: Path | None = None) -> int:
    """Begin a campaign in a folder or on a device, or take it up, in a new process; its number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        works = todo(seed, folder).workloads
        measure(LocalTarget(directory=device or folder, workloads=works), folder / "ds")
        status = 0
    except AzbenchError as error:
        (folder / "fault").write_text(str(error))
    finally:
        os._exit(status)


def disturb(
    rng: random.Random,
    folder: Path,
    most_kills: int,
    longest_s: float,
    tally: Tally,
    device: Path | None = None,
) -> None:
    """One campaign, killed again and again until it ends or there were kills enough."""
    seed = rng.randrange(2**32)
    expected = order(seed, folder)
    while True:
        child = begin(seed, folder, device)
        kill = threading.Timer(rng.uniform(0, longest_s), os.kill, (child, signal.SIGKILL))
        if tally.kills < most_kills:
            kill.start()
        _, status = os.waitpid(child, 0)
        kill.cancel()
        if not os.WIFSIGNALED(status):
            break
        tally.kills += 1
        events = Journal(folder / "ds").events()
        last = events[-1]["event"] if events else "nothing"
        tally.at[last] = tally.at.get(last, 0) + 1
    tally.campaigns += 1
    if os.waitstatus_to_exitcode(status):
        tally.faults.append(f"seed {seed}: ended with {(folder / 'fault').read_text()}")
        return
    there = faults(folder / "ds", expected) + (faults_of(device, seed, folder) if device else [])
    tally.faults += [f"seed {seed}: {fault}" for fault in there]


def faults(dataset: Path, expected: list[str]) -> list[str]:
    """What a finished campaign has that an undisturbed one would not have."""
    events = Journal(dataset).events()
    kept = [event["run"] for event in events if event["event"] == JournalEvent.KEPT]
    told = [
        [run["run"] for run in event["runs"]] for event in events if event["event"] == JournalEvent.PLANNED
    ]
    found = [] if kept == expected else [f"kept {kept} instead of {expected}"]
    found += [f"planned {runs}" for runs in told if runs != expected]
    files = {name: sha for event in events if "files" in event for name, sha in event["files"].items()}
    raw = {path.name: sha256(path) for path in (dataset / "raw").iterdir()}
    found += [] if raw == files else [f"raw/ differs from the journal in {raw.items() ^ files.items()}"]
    return found


def faults_of(device: Path, seed: int, folder: Path) -> list[str]:
    """What is on a device that should not be, and whether another campaign would write to it."""
    with device.open("rb") as file:
        file.seek(TOUCHED_BYTES)
        *blank, mark = (file.read(DEVICE_BYTES - TOUCHED_BYTES - MARK_BYTES), file.read())
    found = ["something was written behind the data"] if any(blank[0]) else []
    found += [] if mark.startswith(b"azbench-mark ") else ["the mark is gone"]
    try:
        measure(LocalTarget(directory=device, workloads=todo(seed, folder).workloads), folder / "other")
    except AzbenchError:
        return found
    return [*found, "another campaign wrote to the device"]


@contextmanager
def loop_device(home: Path) -> Iterator[Path]:
    """A loop device of zeros, for one campaign."""
    image = home / "image"
    image.unlink(missing_ok=True)
    image.touch()
    os.truncate(image, DEVICE_BYTES)
    made = subprocess.run(["losetup", "--show", "-f", image], capture_output=True, text=True, check=True)
    try:
        yield Path(made.stdout.strip())
    finally:
        subprocess.run(["losetup", "-d", made.stdout.strip()], check=True)


def run(kills: int, seed: int, home: Path, say: bool = False, on_device: bool = False) -> Tally:
    """So many kills over as many campaigns as it takes."""
    rng, tally = random.Random(seed), Tally()  # noqa: S311

    def where() -> AbstractContextManager[Path | None]:
        return loop_device(home) if on_device else nullcontext()

    begun = time.monotonic()
    with where() as device:
        os.waitpid(begin(0, _new(home), device), 0)
    longest_s = 0.6 * (time.monotonic() - begun)
    while tally.kills < kills:
        with where() as device:
            disturb(rng, _new(home), kills, longest_s, tally, device)
        if say:
            print(
                f"{tally.kills} kills in {tally.campaigns} campaigns, {len(tally.faults)} faults", flush=True
            )
    return tally


def _new(home: Path) -> Path:
    shutil.rmtree(home / "one", ignore_errors=True)
    (home / "one").mkdir()
    return home / "one"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--device", action="store_true", help="on a loop device; needs root")
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    with tempfile.TemporaryDirectory() as home:
        tally = run(asked.kills, asked.seed, Path(home), say=True, on_device=asked.device)
    print(f"{tally.kills} kills, {tally.campaigns} campaigns; the journal's last word: {tally.at}")
    print("\n".join(tally.faults) or "no run lost, none twice, every order as planned")
    return bool(tally.faults)


if __name__ == "__main__":
    raise SystemExit(main())
