"""What is measured on a host, and what has to be remembered about it, without its name and its users'."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Self

from pydantic import Field

from azbenchlib.campaign import device_guard, safety
from azbenchlib.campaign.host import Storage
from azbenchlib.campaign.planning.plan import now
from azbenchlib.campaign.safety import TargetFacts
from azbenchlib.campaign.targets.hosts import host
from azbenchlib.campaign.targets.hosts.transport import Transport
from azbenchlib.campaign.targets.one_target import OneTargetPlan, as_they_can_run
from azbenchlib.campaign.workloads.fio import Fio
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.core import privacy
from azbenchlib.core.errors import InputError, MissingToolError
from azbenchlib.dataset.manifest import ManifestSetup


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
    told = device_guard.facts(transport.ask(host.machine(directory)))
    known = {name: values[0] for name, values in told.items()}
    _check_host(str(transport.address), told, workloads)
    target = host.target_facts(directory, told)
    safety.judge(target, 0, allow)
    stored, device = host.storage(told), target.kind == "device"
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
