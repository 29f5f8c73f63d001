"""What is measured on a host, and what has to be remembered about it, without its name and its users'."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Self

from pydantic import Field

from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.safety import TargetFacts
from azbenchlib.campaign.targets.one_target import OneTargetPlan, as_they_can_run
from azbenchlib.campaign.targets.ssh.host import storage
from azbenchlib.campaign.workloads.fio import Fio
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.core import privacy
from azbenchlib.core.errors import MissingToolError
from azbenchlib.core.targets import SshAddress


class SshPlan(OneTargetPlan):
    """What is measured on a host, with what, and what has to be said about it."""

    where: str  # which host and target, as a hash
    told: dict[str, str] = Field(
        default_factory=dict
    )  # of the host: os, kernel, ram_kib, fstype, total_bytes

    def same_as(self, other: Self) -> bool:
        """Whether both measure the same workloads on the same target with the same tools."""
        return self.where == other.where and super().same_as(other)

    @property
    def brief(self) -> str:
        """In a few words."""
        return self.brief_on("a host")


def make(
    address: SshAddress, target: TargetFacts, told: Mapping[str, list[str]], workloads: Sequence[AnyWorkload]
) -> SshPlan:
    """The workloads as they can run on the host, with a note for each thing that had to be changed.

    Raises a MissingToolError when a tool is not on the host that a workload needs; an InputError when a
    workload cannot be run there.
    """
    known = {name: values[0] for name, values in told.items() if values}
    real, device = PurePosixPath(target.real), target.kind == "device"
    known["fstype"] = "block device" if device else storage(dict(told)).mount_of(real).fstype
    for tool in dict.fromkeys(["fio", *(work.tool for work in workloads)]):
        if tool not in known:
            raise MissingToolError(
                f"{address}: has no {tool}; `apt install {_PACKAGES.get(tool, tool)}` there"
            )
    fio = Fio("fio", known["fio"], tuple(told.get("engine", ())))
    adapted, notes = as_they_can_run(
        workloads,
        fio,
        direct=device or "direct" in known,
        device=target.real if device else "",
        fstype=known["fstype"],
    )
    identity = f"{address.user}@{address.host}:{address.port or ''}:{target.real}"
    return SshPlan(
        where=hashlib.sha256(identity.encode()).hexdigest()[:16],
        workloads=adapted,
        fio=fio.version,
        started=plan.now(),
        iozone=known["iozone"] if any(work.tool == "iozone" for work in workloads) else "",
        told={name: privacy.masked(known[name]) for name in _KEPT if name in known},
        notes=notes,
    )


_KEPT = ("os", "kernel", "ram_kib", "fstype", "total_bytes")
_PACKAGES = {"iozone": "iozone3"}
