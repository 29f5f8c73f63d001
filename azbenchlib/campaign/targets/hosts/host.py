"""Scripts for a host, what they answer, and the plan that is made of it.

The shell functions are in ``host.sh`` beside this file.
"""

import hashlib
import io
import shlex
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Self

from pydantic import Field

from azbenchlib.campaign import device_guard, safety
from azbenchlib.campaign.host import Storage
from azbenchlib.campaign.planning.plan import now
from azbenchlib.campaign.safety import TargetFacts
from azbenchlib.campaign.targets.hosts.transport import Transport
from azbenchlib.campaign.targets.one_target import OneTargetPlan, as_they_can_run
from azbenchlib.campaign.workloads.base import Work
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.campaign.workloads.program import GIVEN_UP, Fio
from azbenchlib.core import privacy
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError
from azbenchlib.dataset.manifest import ManifestSetup

# In the folder of ours; each run has a link to it, for tools write its name down.
HOST_DATA = "azbench.fio-data"
_TERMINATED = 143  # how a shell tells of what ended by SIGTERM; coreutils tells its own number
HOST_JOBS = "azbench.fio-jobs"
OUT = "azbench.out"  # in the folder of data of its own: a link to that of the outputs
SAID_FILE = "azbench.words"  # what tools say on the host
_OUTPUTS = b"azbench-outputs\n"
_GZIP = b"\x1f\x8b"  # how what is packed begins. Source: RFC 1952, section 2.3.1


def machine(target: str) -> str:
    """Tell what host it is, and what is known of a target; the login's home where none is named."""
    return _script("machine", f"look {shlex.quote(target)}" if target else 'look "$HOME"')


def call(function: str, *words: object) -> str:
    """Call a function of ``host.sh``, which says there what it does."""
    return _script(shlex.join([function, *map(str, words)]))


def start(token: str, name: str, lines: Sequence[str]) -> str:
    """Begin a run, unless it was begun before: it lives on the host, whatever becomes of us."""
    body = "\n".join(lines)
    mark = f"end-{hashlib.sha256(body.encode()).hexdigest()}"  # no line of the script can be it
    return _script(
        f"write_script() {{ cat <<'{mark}'\n{body}\n{mark}\n}}", shlex.join(["start", token, name])
    )


def socket_of(token: str, member: str) -> PurePosixPath:
    """Where fio's server listens on the host: in a folder of ours, with a name short enough for a socket."""
    return PurePosixPath("/tmp") / f"azbench-{token}" / member  # noqa: S108  only its login may enter the folder


def lines(
    commands: Sequence[Sequence[str]], work: Work | None, data: PurePosixPath, device: bool, limit_s: float
) -> list[str]:
    """The script of a run: links to the data, commands until one fails, the status at the end.

    `work`: whose commands they are; None: they lay out the shared data. `data`: the folder of ours, or the
    device. `limit_s`: after which a command is ended, also where nobody looks on any more; where the host has
    timeout(1).
    """
    own = work is not None and work.own_data
    made = ['run=$1; cd "$run/out" || exit 3', f": >{SAID_FILE}"]
    if not device:
        name = HOST_JOBS if own else HOST_DATA
        place = shlex.quote(str(data / name))
        made += [f"mkdir -p {shlex.quote(str(data))}"]
        made += [f"rm -rf -- {place}; mkdir {place}"] if own else []
        made += [f'ln -sfn "$run/out" {place}/{OUT}'] if own else []
        made += [f"ln -sfn {place} {name}"]
    for name, text in (work.inputs if work else {}).items():
        made += [f"printf %s {shlex.quote(text)} >{shlex.quote(name)}"]
    enter = f"cd {HOST_JOBS} && " if work and work.runs_in_data_dir else ""
    said = f'"$run/out/{work.output}"' if work and work.tool != "fio" else f'"$run/out/{SAID_FILE}"'
    kinds = ("--foreground -k 30", "-k 30")  # of coreutils, of busybox
    tried = " ".join(f"'timeout {kind} {limit_s:.0f}'" for kind in kinds)
    made += [f"for limit in {tried} ''; do $limit true 2>/dev/null && break; done"]
    steps = " && ".join(f"({enter}$limit {shlex.join(argv)}) >{said} 2>&1" for argv in commands)
    made += [f"{steps}", f"status=$?; [ $status != {_TERMINATED} ] || status={GIVEN_UP}"]  # of busybox
    if not device:
        made += [f"rm -f {name}", *([f"rm -rf -- {place}"] if own else [])]
    return [*made, 'printf %s "$status" >"$run/status.part" && mv "$run/status.part" "$run/status"']


def target_facts(path: str, told: dict[str, list[str]]) -> TargetFacts:
    """What is known of a target on the host, as far as it was told."""

    def one(name: str) -> str:
        return told.get(name, [""])[0]

    return TargetFacts(
        path=path or one("real"),
        real=one("real"),
        kind=one("kind"),
        writable=bool(one("writable")),
        free_bytes=_number(one("free_bytes")),
        total_bytes=_number(one("total_bytes")),
    )


def storage(told: dict[str, list[str]]) -> Storage:
    """Memory and file systems of the host, as far as they were told."""
    return Storage.told(
        ram_kib=told.get("ram_kib", [""])[0], mounts=told.get("mount", ()), loops=told.get("loop", ())
    )


def outputs(said: bytes, most: int) -> dict[str, bytes]:
    """The outputs that a script printed, by name.

    Raises an AzbenchError when they did not come whole, or are more than `most` bytes.
    """
    _, mark, data = said.partition(_OUTPUTS)
    files: dict[str, bytes] = {}
    try:
        if data.startswith(_GZIP):
            packed = zlib.decompressobj(zlib.MAX_WBITS | 16)
            data = packed.decompress(data, most + 1)
            mark = mark if packed.eof or len(data) > most else b""
        stream = io.BytesIO(data)
        while head := stream.readline():
            size, _, name = head.decode().rstrip("\n").partition(" ")
            files[Path(name).name] = stream.read(_number(size))
            if len(files[Path(name).name]) != int(size):
                mark = b""
    except (ValueError, OverflowError, zlib.error):
        mark = b""
    if len(data) > most:
        raise AzbenchError(f"the outputs are more than {most} B")
    if not mark or not files.keys().isdisjoint({"", ".", ".."}):
        raise AzbenchError("the outputs did not arrive whole")
    return files


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _script(*calls: str) -> str:
    return "\n".join([device_guard.functions(), _functions(), *calls, ""])


@cache
def _functions() -> str:
    return resources.files(__package__).joinpath("host.sh").read_text(encoding="utf-8")


class HostPlan(OneTargetPlan):
    """What is measured on a host, with what, and what has to be said about it."""

    where: str  # which host and target, as a hash
    told: dict[str, str] = Field(default_factory=dict)  # of the host, by the names of _KEPT
    pod: ManifestSetup | None = None  # what the cluster tells of it, where it is one

    def same_as(self, other: Self) -> bool:
        """Whether both measure the same workloads on the same target with the same tools."""
        return self.where == other.where and super().same_as(other)

    @property
    def brief(self) -> str:
        """In a few words."""
        return self.brief_on("a host")


def look(
    transport: Transport, directory: str, workloads: Sequence[AnyWorkload], allow: str
) -> tuple[TargetFacts, Storage, HostPlan]:
    """What is known of a target on a host and of what it lies on, and the workloads as they can run there.

    A note says what had to be changed of them.

    Raises a MissingToolError when something is not on the host that is needed; an InputError when azbench can
    keep nothing in the home there, or a workload cannot be run; an UnsafeTargetError as of
    :func:`.safety.judge`.
    """
    told = device_guard.facts(transport.ask(machine(directory)))
    known = {name: values[0] for name, values in told.items()}
    _check_host(str(transport.address), told, workloads)
    target = target_facts(directory, told)
    safety.judge(target, 0, allow)
    stored, device = storage(told), target.kind == "device"
    known["fstype"] = "block device" if device else stored.mount_of(PurePosixPath(target.real)).fstype
    fio = Fio("fio", known["fio"], tuple(told.get("engine", ())))
    adapted, notes = as_they_can_run(
        workloads,
        fio,
        direct=device or "direct" in known,
        device=target.real if device else "",
        fstype=known["fstype"],
    )
    plan = HostPlan(
        where=hashlib.sha256(f"{transport.address.identity}:{target.real}".encode()).hexdigest()[:16],
        workloads=adapted,
        fio=fio.version,
        started=now(),
        iozone=known["iozone"] if any(work.tool == "iozone" for work in workloads) else "",
        told={name: privacy.masked(known[name]) for name in _KEPT if name in known},
        notes=notes,
    )
    return target, stored, plan


def _check_host(called: str, told: Mapping[str, list[str]], workloads: Sequence[AnyWorkload]) -> None:
    """Refuse a host that lacks a tool, or whose home takes nothing."""
    for tool in dict.fromkeys(["fio", *(work.tool for work in workloads)]):
        if tool not in told:
            raise MissingToolError(
                f"{called}: has no {tool}; `apt install {_PACKAGES.get(tool, tool)}` there"
            )
    if missing := told.get("missing"):
        raise MissingToolError(
            f"{called}: has no {', '.join(missing)}; coreutils or busybox, and /proc, are needed there"
        )
    if unwritable := told.get("unwritable"):
        raise InputError(
            f"{called}: nothing can be kept in {unwritable[0]}; let HOME name another folder there, as "
            "`env HOME=/mnt/data` does in a command"
        )


_KEPT = ("os", "kernel", "ram_kib", "fstype", "total_bytes")
_PACKAGES = {"iozone": "iozone3"}
