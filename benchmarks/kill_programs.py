"""Signals to fio, its parent, its jobs and their groups: no run counts that did not end, nothing is left.

    nice -n 19 .venv/bin/python benchmarks/kill_programs.py --kills 300

Each campaign is begun with azbench's own command, one of its processes gets SIGKILL, SIGTERM, SIGHUP or
SIGINT at a random moment, and the same command is given again until it is finished. Then the journal must
tell all runs, each kept once and as it was kept; each output must be whole; no command may last longer than
the deadline of its longest run; and a while after each of them, no process of it may be there.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from kill_campaigns import faults

from azbenchlib.campaign import outputs
from azbenchlib.campaign.experiment import Todo
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.workloads.limits import MARGIN_S

FILE = """\
title: Killed again and again
region: westeurope
vm: Standard_D4as_v5
repeats: 2
seed: {seed}
disks:
  data: {{sku: Premium_LRS, size: 128GiB}}
workloads:
  tiny: {{rw: [randread, randwrite], size: 64k, bs: 4k, runtime: 1, numjobs: 2, ioengine: psync}}
"""
RUNTIME_S, ENDING_S = 1.0, 15.0  # of a run; until the processes of a command are gone
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
VICTIMS = ("azbench", "fio's parent", "fio", "job", "group of fio", "group of job", "all jobs")
AZBENCH = Path(sys.executable).with_name("azbench")


@dataclass
class Outcome:
    """What came of the campaigns."""

    kills: Counter[str] = field(default_factory=Counter)  # by victim and signal
    campaigns: int = 0
    longest_s: float = 0.0  # that a command lasted
    faults: list[str] = field(default_factory=list)


def processes(home: Path) -> dict[int, str]:
    """The processes that work below a folder, or name it: numbers and programs, the oldest first."""
    found: dict[int, str] = {}
    for one in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (one / "cmdline").read_bytes()
            below = (one / "cwd").readlink().is_relative_to(home)
            if command and int(one.name) != os.getpid() and (below or str(home).encode() in command):
                found[int(one.name)] = command.split(b"\0")[0].decode()
    return dict(sorted(found.items()))


def strike(rng: random.Random, azbench: int, home: Path) -> str:
    """Send a signal to a process, as far as there is one; its name and that of the signal, or empty."""
    victim, number = rng.choice(VICTIMS), rng.choice(SIGNALS)
    tools = [pid for pid, name in processes(home).items() if name == "fio"]
    with suppress(OSError, IndexError):
        if victim == "azbench":
            os.kill(azbench, number)
        elif victim == "fio's parent":
            os.kill(parent(tools[0]), number)
        elif victim == "fio":
            os.kill(tools[0], number)
        elif victim == "job":
            os.kill(rng.choice(tools[1:] or [tools[99]]), number)
        elif victim == "group of fio":
            os.killpg(os.getpgid(tools[0]), number)
        elif victim == "group of job":
            os.killpg(os.getpgid((tools[1:] or [tools[99]])[0]), number)
        else:
            for pid in tools[1:] or [tools[99]]:
                os.kill(pid, number)
        return f"{victim}, {number.name}"
    return ""


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def disturb(rng: random.Random, home: Path, most: int, outcome: Outcome) -> None:
    """One campaign with signals until it ends, or there were enough of them."""
    seed = rng.randrange(2**32)
    file = home / "m.yaml"
    file.write_text(FILE.format(seed=seed))
    found = measurement_file.load(file)
    expected = [work.name for work in Todo(found.workloads(), found).workloads]
    data = home / "data"
    data.mkdir()
    command = [str(AZBENCH), "run", str(file), "--target", "local"]
    command += ["-o", str(home / "ds"), "-p", f"directory={data}"]
    while True:
        begun, struck = time.monotonic(), ""
        with (home / "said").open("w") as said:
            child = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True)
            if outcome.kills.total() < most:
                time.sleep(rng.uniform(0.3, 9))
                while child.poll() is None and not (struck := strike(rng, child.pid, home)):
                    time.sleep(rng.uniform(0, 0.1))
            limit_s = len(expected) * (RUNTIME_S + MARGIN_S)
            try:
                status = child.wait(limit_s)
            except subprocess.TimeoutExpired:
                outcome.faults.append(f"seed {seed}: {struck}: still there after {limit_s:g} s")
                child.kill()
                return
        outcome.longest_s = max(outcome.longest_s, time.monotonic() - begun)
        outcome.kills[struck] += bool(struck)
        ends = time.monotonic() + ENDING_S
        while (left := processes(home)) and time.monotonic() < ends:
            time.sleep(0.05)
        if left:
            outcome.faults.append(f"seed {seed}: {struck}: {sorted(left.values())} left")
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if not status:
            break
        if not struck:
            outcome.faults.append(f"seed {seed}: ended with {status}: {(home / 'said').read_text()[-500:]}")
            return
    outcome.campaigns += 1
    outcome.faults += [f"seed {seed}: {fault}" for fault in faults(home / "ds", expected)]
    raw = sorted((home / "ds/raw").glob("*.json"))
    outcome.faults += [f"seed {seed}: {path.name}: {why}" for path in raw if (why := outputs.flaw(path))]


def run(kills: int, seed: int, home: Path, say: bool = False) -> Outcome:
    """So many signals over as many campaigns as it takes."""
    rng, outcome = random.Random(seed), Outcome()  # noqa: S311
    while outcome.kills.total() < kills:
        folder = home / "one"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        before = len(outcome.faults)
        disturb(rng, folder, kills, outcome)
        if say:
            told = f"{outcome.kills.total()} kills in {outcome.campaigns} campaigns"
            told += f", {len(outcome.faults)} faults, longest {outcome.longest_s:.0f} s"
            print(told, *outcome.faults[before:], sep="\n  ", flush=True)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    with tempfile.TemporaryDirectory() as home:
        outcome = run(asked.kills, asked.seed, Path(home), say=True)
    for what, count in sorted(outcome.kills.items()):
        print(f"{count:5} {what}")
    print(f"{outcome.kills.total()} kills, {outcome.campaigns} campaigns, longest {outcome.longest_s:.0f} s")
    print("\n".join(outcome.faults) or "every run that counted had ended, no process left, all finished")
    return bool(outcome.faults)


if __name__ == "__main__":
    raise SystemExit(main())
