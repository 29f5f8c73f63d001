"""Random faults of Azure, of the network and of VMs in a measurement with the real az against the fake Azure.

    .venv/bin/python benchmarks/azure_weather.py --sequences 300 --at-once 2 --state weather.jsonl

The state file has a line a finished sequence. The same command leaves those out and goes on with the others,
also after it was killed; with --again, those that went wrong are run anew. The summary at the end counts all.

In every third sequence, the VM is a spot VM that Azure takes back once or twice; in every fourth, the file
names a resource group that is there already, with a disk of somebody else in it. In most, one of EVENTS
happens.
After each sequence: no finished result is lost, none is measured twice, what was made is gone or named, and
no command took longer than BOUND_S.
What ends a run is followed by the same command again, in fair weather, which must give the whole dataset.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from fake_azure.campaigns import SMALL  # noqa: E402
from fake_azure.identity import SUBSCRIPTION  # noqa: E402
from fake_azure.login import Azure, environment, find_az, warm, write_config  # noqa: E402
from fake_azure.machines import remove_machine, restart  # noqa: E402
from fake_azure.server import Server  # noqa: E402

from azbenchlib import campaign  # noqa: E402
from azbenchlib.azure import az as deadlines  # noqa: E402
from azbenchlib.azure import retries  # noqa: E402
from azbenchlib.azure.az_errors import Passing  # noqa: E402
from azbenchlib.campaign.progress import Progress  # noqa: E402
from azbenchlib.campaign.targets.azure import outcome, steps, target, vm  # noqa: E402
from azbenchlib.campaign.targets.azure.ending import orphans  # noqa: E402
from azbenchlib.campaign.targets.azure.money import Budget  # noqa: E402
from azbenchlib.core.errors import AzbenchError  # noqa: E402
from azbenchlib.core.files import append  # noqa: E402
from azbenchlib.dataset.dataset import Dataset  # noqa: E402

FILE = SMALL + "  second: {rw: randwrite, bs: 4k, size: 4m, runtime: 1}\n"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/theirs"
THIRD = "  third: {rw: randread, bs: 8k, size: 4m, runtime: 1}\n"
GROUPS = r"resourceGroups/[^/]+$"
CALLS = (
    *(("PUT", GROUPS), ("GET", GROUPS), ("DELETE", GROUPS)),
    *(("PUT", "/virtualNetworks/"), ("PUT", "/deployments/"), ("PUT", "/schedules/"), ("PUT", "/disks/")),
    *(("PUT", r"/virtualMachines/[^/]+$"), ("GET", r"/virtualMachines/[^/]+$"), ("PUT", "/runCommands/")),
    *(
        ("GET", "/runCommands/"),
        ("POST", "/runCommand$"),
        ("PUT", "/storageAccounts/"),
        ("POST", "/listKeys"),
    ),
    *(
        ("GET", "/results"),
        ("GET", "/usages$"),
        ("PUT", "/roleAssignments/"),
        ("PUT", "/providers/Microsoft.Network/"),
    ),
)
REFUSALS = (
    *(("AnotherOperationInProgress", 409), ("Conflict", 409), ("InternalServerError", 500)),
    *(("ServiceUnavailable", 503), ("TooManyRequests", 429), ("ExpiredAuthenticationToken", 401)),
    *(("ResourceNotFound", 404), ("QuotaExceeded", 409), ("RequestDisallowedByPolicy", 403)),
)
# What is waited for in Azure for seconds and minutes is here for tenths of a second: module, name, value.
SHORT: tuple[tuple[object, str, object], ...] = (
    (retries, "FIRST_TRY_PAUSE_S", 0.1),
    (target, "WHILE_MEASURING", {**dict.fromkeys(retries.WHILE_MEASURING, 30), Passing.not_there_yet: 10}),
    (deadlines, "CALL_LIMITS_S", {"": 60.0}),
    (orphans, "DELETION_PATIENCE_S", 20.0),
    (outcome, "QUIET_S", 2.0),
    (Budget, "check", lambda self: None),  # what is reckoned is for Azure
    (orphans, "FIRST_LOOK_S", 0.1),
    (orphans, "LONGEST_LOOK_S", 0.5),
    (orphans, "FIRST_PAUSE_S", 0.1),
    (orphans, "LONGEST_PAUSE_S", 0.5),
    (steps, "EVICTION_PAUSES_S", (0.1, 0.1, 0.1)),
    (vm, "FIRST_WAIT_S", 0.2),
)


BOUND_S, MAX_HOURS = 240.0, 0.025  # of a command; and what it is told, which is less
AHEAD = timedelta(hours=30)
DISK = ["-t", "tmpfs", "-o", "size=8m", "tmpfs"]  # on which a sequence measures


class Clock(datetime):
    """A clock that may be wrong."""

    wrong_by = timedelta()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + cls.wrong_by


def jump(azure: Azure, out: Path) -> None:
    """Have the clock of this machine jump ahead, as far as azbench sees it."""
    Clock.wrong_by = AHEAD
    for name, module in list(sys.modules.items()):
        if name.startswith("azbenchlib") and getattr(module, "datetime", None) is datetime:
            module.datetime = Clock  # type: ignore[attr-defined]


def fill(azure: Azure, out: Path) -> None:
    """Leave no room on the disk of the dataset."""
    with suppress(OSError), (out.parent / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def restart_all(azure: Azure, out: Path) -> None:
    """Restart the VM."""
    with azure.arm.lock:
        for path in list(azure.arm.machines):
            restart(azure.arm, path)


def evict(azure: Azure, out: Path) -> None:
    """Take the VM back."""
    with azure.arm.lock:
        for path in list(azure.arm.machines):
            remove_machine(azure.arm, path)


def rewrite_tags(azure: Azure, out: Path) -> None:
    """Change the tags of all groups, and of what is in them, as a policy does."""
    with azure.arm.lock:
        for one in azure.arm.resources.values():
            tags = one.get("tags") or {}
            if tags.get("tool") == "azbench":
                one["tags"] = {**tags, "owner": "policy", "lease": "", "cost-center": "7"}


# What happens when the run has told so many lines; `azure`, and the dataset.
EVENTS: dict[str, Callable[[Azure, Path], object]] = {
    "the clock is 30 hours ahead": jump,
    "the local disk is full": fill,
    "the VM is restarted": restart_all,
    "a policy changes tags": rewrite_tags,
    "the deletion is slow": lambda azure, out: setattr(azure.arm, "deletion_s", 8.0),
    "the deletion never ends": lambda azure, out: setattr(azure.arm, "deletion_s", 1e6),
    "the group is locked": lambda azure, out: azure.faults.refuse(
        "DELETE", GROUPS, "ScopeLocked", times=10**6
    ),
    "the sign-in expires": lambda azure, out: azure.faults.refuse(
        "*", "/subscriptions/", "ExpiredAuthenticationToken", status=401, times=10**6
    ),
    "an operation never ends": lambda azure, out: azure.faults.hold("PUT", "/providers/", "", 504),
    "Retry-After is an hour": lambda azure, out: azure.faults.wait("PUT", "/providers/", 3600),
}


def plan(azure: Azure, seed: int) -> str:
    """Plan one to four faults; what they are, in words."""
    chance, told = random.Random(seed), []  # noqa: S311  not for secrets
    for _ in range(chance.randint(1, 4)):
        (method, path), nth, times = chance.choice(CALLS), chance.randint(1, 3), chance.randint(1, 5)
        kind = chance.choice(("refuse", "refuse", "page", "away", "lose", "fail", "kill"))
        when = {"nth": nth, "times": times}
        if kind == "refuse":
            code, status = chance.choice(REFUSALS)
            azure.faults.refuse(method, path, code, status=status, **when)
            kind = code
        elif kind == "page":
            azure.faults.page(method, path, chance.choice((200, 403, 404, 407, 502)), **when)
        elif kind == "fail":
            azure.faults.fail("PUT", path, "InternalServerError", **when)
        elif kind == "kill":
            azure.faults.kill_script("/runCommands/", **when)
        else:
            getattr(azure.faults, kind)(method, path, **when)
        told.append(f"{kind} {method} {path} from {nth} {times} times")
    told += [f"{what} at {line}" for line, what in happening(seed)]
    return "; ".join(told)


def is_spot(seed: int) -> bool:
    """Whether the VM of a sequence is one that Azure takes back."""
    return seed % 3 == 2


def is_given(seed: int) -> bool:
    """Whether a sequence is measured in a resource group that is there already."""
    return seed % 4 == 3


def happening(seed: int) -> list[tuple[int, str]]:
    """What happens, and when a run has told so many lines."""
    chance = random.Random(-1 - seed)  # noqa: S311  not for secrets
    events = [(chance.randint(1, 24), chance.choice([*EVENTS]))] * (chance.random() < 0.8)
    return events + [(chance.randint(6, 30), "Azure takes the VM back") for _ in range(2)] * is_spot(seed)


def happens(azure: Azure, out: Path, events: Sequence[tuple[int, str]]) -> Progress:
    """Have it happen."""
    told: list[str] = []

    def progress(done: int, total: int, text: str) -> None:
        told.append(text)
        for line, what in events:
            if line == len(told):
                EVENTS.get(what, evict)(azure, out)

    return progress


@contextmanager
def bounded(wrong: list[str]) -> Iterator[None]:
    """End what takes too long, and note that."""

    def end(*_: object) -> None:
        wrong.append(f"a command took longer than {BOUND_S:.0f} s")
        raise KeyboardInterrupt("it took too long")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, BOUND_S, BOUND_S / 10)
    try:
        yield
    except KeyboardInterrupt:
        if not wrong:
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A disk that can be filled."""
    place.mkdir()
    subprocess.run(["mount", *DISK, place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def carry_out(azure: Azure, folder: Path, seed: int) -> list[str]:
    """One sequence; what went wrong that may not."""
    azure.arm.reset()
    for name, tags in ((GROUP, {"team": "storage"}), (f"{GROUP}/providers/Microsoft.Compute/disks/data", {})):
        azure.arm.put(name, {"location": "westeurope", "tags": tags})
    others = {**azure.arm.resources}
    file = folder / "file.yaml"
    text = FILE.replace("zone: 1", "zone: 1\npriority: spot") if is_spot(seed) else FILE
    text = text.replace("zone: 1", "zone: 1\ngroup: theirs") if is_given(seed) else text
    file.write_text(text + THIRD * (seed % 2))  # three workloads take the container, two come in pieces
    wrong: list[str] = []
    with small_disk(folder / "disk") as disk:
        wrong += _in_weather(azure, campaign.load(file), disk / "out", seed, others)
    return wrong


def _in_weather(azure: Azure, todo: Any, out: Path, seed: int, others: Mapping[str, Any]) -> list[str]:
    """A command with faults, and the same again in fair weather; what went wrong."""
    wrong: list[str] = []
    plan(azure, seed)
    progress = happens(azure, out, happening(seed))
    said = ""
    try:
        with bounded(wrong):
            campaign.run(todo, out, target="azure", progress=progress, max_hours=MAX_HOURS)
    except AzbenchError as error:
        said = str(error)
    except Exception as error:
        wrong.append(f"{type(error).__name__}: {error}")
    wrong += [f"{group} is left and not named: {said}" for group in made(azure, others) if group not in said]
    kept = {path: path.stat().st_mtime_ns for path in out.glob("raw/*/*/*.json")}
    clear_up(azure, out)
    try:
        with bounded(wrong):
            done = campaign.run(todo, out, target="azure")
            jobs = set(Dataset.load(done).runs["job"])
            wrong += [] if jobs == {"first", "second", *(["third"] * (seed % 2))} else [f"only {jobs}"]
    except AzbenchError as error:
        wrong.append(f"in fair weather: {error}")
    if not {*kept.items()} <= {(path, path.stat().st_mtime_ns) for path in out.glob("raw/*/*/*.json")}:
        wrong.append("a finished result was lost or measured anew")
    wrong += [f"{group} is left in fair weather" for group in made(azure, others)]
    wrong += [f"{path} is not as it was" for path, one in others.items() if azure.arm.find(path) != one]
    return wrong


def clear_up(azure: Azure, out: Path) -> None:
    """Have fair weather from here on."""
    azure.faults.planned.clear()
    Clock.wrong_by, azure.arm.deletion_s = timedelta(), 0.0
    azure.arm.let_go.set()
    (out.parent / "filler").unlink(missing_ok=True)


def made(azure: Azure, others: Mapping[str, object]) -> set[str]:
    """The groups in which something is that was not there; the history of deployments is nothing."""
    found = azure.arm.resources.keys() - others.keys()
    return {path.split("/")[4] for path in found if GROUP.lower() not in path or "/deployments/" not in path}


@contextmanager
def weather(folder: Path) -> Iterator[Azure]:
    """A fake Azure with this process logged in, where waiting is short."""
    az = find_az()
    if az is None:
        raise SystemExit("az is not installed: `make azure` gets it")
    place = folder / "azure"
    place.mkdir()
    for module, name, value in SHORT:
        setattr(module, name, value)
    with Server(place) as server:
        write_config(place / "config", server.base)
        os.environ.update(environment(place / "config", server.certificate))
        with warm(az, place / "config", place / "warm") as loaded:
            os.environ["AZBENCH_AZ"] = str(loaded)
            yield Azure(loaded, dict(os.environ), server.arm)


def finished(state: Path) -> dict[int, dict[str, Any]]:
    """What the state file tells of each sequence; its latest line counts, one that is cut off not."""
    found: dict[int, dict[str, Any]] = {}
    for line in state.read_text().splitlines() if state.is_file() else ():
        try:
            told = json.loads(line)
            found[told["seed"]] = told
        except (ValueError, KeyError, TypeError):
            continue
    return found


def run(seeds: Sequence[int], state: Path) -> None:
    """Run sequences one after the other, and write down of each what went wrong."""
    with tempfile.TemporaryDirectory() as folder, weather(Path(folder)) as azure:
        for seed in seeds:
            place = Path(folder) / str(seed)
            place.mkdir()
            begun = time.monotonic()
            wrong = carry_out(azure, place, seed)
            azure.faults.planned.clear()
            told = {"seed": seed, "seconds": round(time.monotonic() - begun), "wrong": wrong}
            told["faults"] = plan(azure, seed)
            print(f"{seed} {told['seconds']} s {told['faults']} -> {wrong or 'good'}", flush=True)
            append(state, f"\n{json.dumps(told)}")  # apart from a line that is cut off


def summary(seeds: Sequence[int], state: Path) -> tuple[str, bool]:
    """How many sequences were run, those that went wrong in words, and whether all were run and are good."""
    found = finished(state)
    done = [found[seed] for seed in seeds if seed in found]
    bad = [one for one in done if one["wrong"]]
    lines = [f"{one['seed']}: {'; '.join(one['wrong'])} ({one['faults']})" for one in bad]
    lines.append(f"{len(done)} of {len(seeds)} sequences were run; bad: {len(bad)}")
    return "\n".join(lines), len(done) == len(seeds) and not bad


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sequences", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="of the first sequence")
    parser.add_argument("--at-once", type=int, default=1, help="processes, each with an Azure of its own")
    parser.add_argument("--state", type=Path, default=Path("azure_weather.jsonl"), help="what is finished")
    parser.add_argument("--again", action="store_true", help="also those that are finished and bad")
    parser.add_argument("--only", type=int, nargs="*", help=argparse.SUPPRESS)  # a process's share
    asked = parser.parse_args()
    if asked.only is not None:
        run(asked.only, asked.state)
        return 0
    seeds = range(asked.seed, asked.seed + asked.sequences)
    found = finished(asked.state)
    left = [seed for seed in seeds if seed not in found or (asked.again and found[seed]["wrong"])]
    shares = [share for number in range(asked.at_once) if (share := left[number :: asked.at_once])]
    command = [sys.executable, __file__, "--state", str(asked.state), "--only"]
    processes = [subprocess.Popen([*command, *map(str, share)]) for share in shares]
    ended = [process.wait() for process in processes]
    told, good = summary(seeds, asked.state)
    print(told, flush=True)
    return int(any(ended) or not good)


if __name__ == "__main__":
    sys.exit(main())
