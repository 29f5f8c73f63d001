"""Scripts for the VM, and what they answer. The shell functions are in ``guest.sh`` beside this file."""

import hashlib
import re
import shlex
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import PurePosixPath

from azbenchlib.campaign import device_guard
from azbenchlib.campaign.files.disk_spec import DiskSpec
from azbenchlib.campaign.targets.azure.steps import Measure, Prepare, Release
from azbenchlib.core.units import KIB

_HOME = "/var/lib/azbench"  # of the scripts on the VM, as in guest.sh
_DATA_FILE = "azbench.fio-data"
PREPARE_S = 3600  # within which tools are installed and a file system is made, at worst
CHUNK_BYTES = 2850  # in base64 3,800 characters: below the 4 KiB of which az shows the end
GUARD_LOOK_S = 600  # between looks of the VM at the tags of its group
GUARD_EARLY_S = 1800  # before the VM stops itself, after which it could delete nothing
SLOWEST_LAYOUT = 5_000_000  # bytes per second at which data is written, at worst; else the tool is ended

_FACT = re.compile(r"^azbench-fact (\w+) (.+)$", re.MULTILINE)
# Named parameters come as variables; a handler that gives them as arguments is understood, too.
_PARAMETERS = 'for word in "$@"; do case $word in azbench_sas=*) export "$word" ;; esac; done'
_HASH = "[0-9a-f]{64}"
_OUTPUT = re.compile(
    rf"^azbench-output (\S+) (\d{{1,18}}) (\d{{1,18}}) ({_HASH}) (\d{{1,18}}) ({_HASH}|-)$", re.MULTILINE
)
_BLOB = re.compile(rf"(.+)/(\d{{1,18}})-({_HASH})-({_HASH}|-)\.figures")
_CHUNK = re.compile(r"^azbench-chunk ([0-9a-f]{64}) ([A-Za-z0-9+/=]+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class GuestOutput:
    """The packed outputs of a workload on the VM: the tool's status, and the archives by name and hash.

    `figures_bytes` and `logs_bytes` are 0 where they are not known; `logs` is empty where there are none.
    """

    place: str
    status: int
    figures: str
    logs: str
    figures_bytes: int = 0
    logs_bytes: int = 0

    @property
    def archives(self) -> tuple[str, ...]:
        """Which there are: ``figures``, and ``logs`` where the workload wrote any."""
        return ("figures", "logs") if self.logs else ("figures",)

    def digest(self, which: str) -> str:
        """The hash of an archive."""
        return self.logs if which == "logs" else self.figures

    def size_bytes(self, which: str) -> int:
        """The size of an archive; 0: not known."""
        return self.logs_bytes if which == "logs" else self.figures_bytes

    def blob(self, which: str) -> str:
        """What an archive is called in the container."""
        if which == "logs":
            return f"{self.place}/{self.logs}.logs"
        return f"{self.place}/{self.status}-{self.figures}-{self.logs or '-'}.figures"


def prepare(step: Prepare, token: str) -> str:
    """Wait for the tools, say what machine it is, and make one disk ready; `token`: of the mark on it."""
    disk, mount = step.setup.disks[step.disk], step.setup.mount(step.disk)
    if disk.role in ("os", "ephemeral_os"):
        call = _quoted("prepare_os", step.disk, mount)
    elif disk.role == "temp":
        call = _quoted("prepare_temp", step.disk, mount)
    else:
        local = f"$(local_nvme | head -n {disk.count})"
        devices = [f'"$(by_lun {lun})"' for lun in step.luns] or [local]
        call = " ".join(
            [
                _quoted("prepare_data", step.disk, mount, _form(disk), disk.stripe // KIB, token),
                *devices,
            ]
        )
    return _script("ready", call, _quoted("kept", step.disk))


def release(step: Release) -> str:
    """Let go of a disk."""
    return _script(
        _quoted("release", step.disk, step.setup.mount(step.disk), _form(step.setup.disks[step.disk]))
    )


def inspect() -> str:
    """Say what machine it is, where it has the tools; nothing is installed."""
    return _script("inspect")


def use(step: Measure, lun: int | None, needed_bytes: int, words: str, token: str) -> str:
    """Make ready what a VM that is not ours has: a folder on a file system, or a bare disk that is blank."""
    disk, mount = step.setup.disks[step.disk], step.setup.mount(step.disk)
    kib = -(-needed_bytes // KIB)
    if disk.role in ("os", "ephemeral_os"):
        call = _quoted("use_folder", "/var/lib", mount, kib, words)
    elif disk.role == "temp":
        call = f'use_disk {_quoted(mount, "ext4", kib, words, token)} "$(temp_device)"'
    else:
        device = f'"$(by_lun {lun})"' if lun is not None else '"$(local_nvme | head -n 1)"'
        call = f"use_disk {_quoted(mount, _form(disk), kib, words, token)} {device}"
    return _script(call, _quoted("kept", step.disk))


def leave() -> str:
    """End what runs, and remove all that scripts put onto a VM that is not ours."""
    return _script("leave")


def agent(steps: Sequence[Measure], url: str = "") -> str:
    """Run workloads one after the other; outputs go to a container, where its URL is given.

    Where it runs already, or ran, what is done is not done again.
    """
    lines, triples = [], []
    for number, step in enumerate(steps):
        body = _item(step)
        lines += [f"item_{number}() {{", *body, "}"]
        digest = hashlib.sha256("\n".join(body).encode()).hexdigest()[:16]
        triples += [f"item_{number}", place(step), digest]
    identity = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    return _script(*lines, _PARAMETERS, _quoted("agent", identity, url, *triples))


def guard(resource_manager: str, group_id: str) -> str:
    """Have the VM look at the tags of its resource group, and delete that when its run is dead.

    It is dead when its lease has ended; and its time is over, which the run puts off while it is alive.
    """
    return _script(_quoted("guard", resource_manager.rstrip("/"), group_id, GUARD_LOOK_S, GUARD_EARLY_S))


def limit_s(step: Measure) -> int:
    """Seconds after which a workload, or the writing of its data, is ended."""
    return int(PREPARE_S + 2 * step.workload.max_duration_s + step.data_bytes / SLOWEST_LAYOUT)


def _item(step: Measure) -> list[str]:
    """Lay the data out where that was not done, run the workload, pack its outputs."""
    lines = [_quoted("need", step.workload.tool), _quoted("begin", place(step), limit_s(step))]
    *layout, run = commands(step)
    for argv in layout:
        lines.append(_quoted("lay_out", _mark(step), *argv))
    for name, text in step.workload.inputs.items():
        packed = b64encode(text.encode()).decode()
        lines.append(f"printf %s {packed} | base64 -d >{shlex.quote(name)}")
    folder = step.setup.mount(step.disk) if step.workload.runs_in_data_dir else _out(step)
    return [*lines, _quoted("work", folder, f"{step.workload.name}.txt", *run)]


def place(step: Measure) -> str:
    """Where on the VM the outputs of a workload are kept."""
    return f"{step.folder}/{step.workload.name}"


def commands(step: Measure) -> list[list[str]]:
    """The command lines of a workload as they run on the VM, those that lay the data out first."""
    data = PurePosixPath(step.setup.mount(step.disk))
    if not step.workload.own_data and not step.setup.disks[step.disk].raw:
        data /= _DATA_FILE
    return step.workload.commands(data, PurePosixPath(_out(step)), step.data_bytes)


def chunk(archive: str, offset: int, length: int) -> str:
    """A piece of an archive of outputs."""
    return _script(_quoted("chunk", archive, offset, length))


def alive() -> str:
    """Say whether a worker is at work."""
    return _script("alive")


def noted(script: str, name: str) -> str:
    """The same script, which first notes since which start of the VM it is at work."""
    return _script(_quoted("noted", name), script.removeprefix(f"{_functions()}\n"))


def restarted(name: str) -> str:
    """Say whether the VM was restarted since a script began that noted it."""
    return _script(_quoted("restarted", name))


def summary(step: Measure) -> str:
    """What is known of a workload that ended."""
    return _script(_quoted("summary", place(step)))


def hand_over(lun: int, places: Iterable[str]) -> str:
    """Write the packed outputs of workloads that ended onto a bare disk that is blank."""
    return _script(f'hand_over "$(by_lun {lun})" {_quoted(*places)}')


def _out(step: Measure) -> str:
    return f"{_HOME}/out/{place(step)}"


def _mark(step: Measure) -> str:
    """The file that tells that the data is there: on the disk itself, for that may move to another VM."""
    raw = step.setup.disks[step.disk].raw
    folder = f"{_HOME}/{step.disk}" if raw else f"{step.setup.mount(step.disk)}/azbench"
    what = f"{step.workload.tool}-{step.workload.own_bytes}" if step.workload.own_data else step.data_bytes
    return f"{folder}-{what}-laid"


def _form(disk: DiskSpec) -> str:
    return "raw" if disk.raw else "ext4"


def _quoted(*words: object) -> str:
    return shlex.join(map(str, words))


def _script(*lines: str) -> str:
    return "\n".join([_functions(), *lines, ""])


@cache
def _functions() -> str:
    own = resources.files("azbenchlib.campaign.targets.azure").joinpath("guest.sh")
    return f"{own.read_text(encoding='utf-8')}\n{device_guard.functions()}"


def facts(said: str) -> dict[str, str]:
    """What a VM said of itself: os, kernel, ram_kib, fio, iozone, worker."""
    return dict(_FACT.findall(said))


def outputs(said: str) -> dict[str, GuestOutput]:
    """What workloads left, by place, as a script told it."""
    return {
        where: GuestOutput(
            place=where,
            status=int(status),
            figures=figures,
            logs=logs.strip("-"),
            figures_bytes=int(figures_bytes),
            logs_bytes=int(logs_bytes),
        )
        for where, status, figures_bytes, figures, logs_bytes, logs in _OUTPUT.findall(said)
    }


def summed(place: str, text: str) -> dict[str, GuestOutput]:
    """What a workload left, by place, as the file beside its archives tells it."""
    return outputs(f"azbench-output {place} {text.strip()}")


def uploaded(names: Iterable[str]) -> dict[str, GuestOutput]:
    """What workloads left, by place, as the names of blobs tell it; of one that ran twice, the better."""
    found = [match for name in names if (match := _BLOB.fullmatch(name))]
    told = [
        GuestOutput(place=match[1], status=int(match[2]), figures=match[3], logs=match[4].strip("-"))
        for match in found
    ]
    return {one.place: one for one in sorted(told, key=lambda one: -one.status)}


def piece(said: str) -> bytes | None:
    """A chunk as it arrived; None where it was cut or damaged on the way."""
    match = _CHUNK.search(said)
    try:
        data = b64decode(match[2], validate=True) if match else b""
    except Base64Error:
        return None
    return data if match and hashlib.sha256(data).hexdigest() == match[1] else None
