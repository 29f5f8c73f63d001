"""What is measured on this machine: the workloads as they can run here."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pydantic import field_serializer

from azbenchlib.campaign import host
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.targets.local import data
from azbenchlib.campaign.targets.one_target import OneTargetPlan
from azbenchlib.campaign.workloads.fio import Fio
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.core import privacy


class LocalPlan(OneTargetPlan):
    """What is measured on this machine, with what, and what has to be said about it."""

    target: Path

    def same_as(self, other: Self) -> bool:
        """Whether both measure the same workloads on the same target with the same tools."""
        mine, its = ((plan.told, plan.fio, plan.iozone, plan.workloads) for plan in (self, other))
        return mine == its

    @property
    def told(self) -> str:
        """The target as the stored plan tells it: without the home folder."""
        return privacy.without_homes(str(self.target))

    @field_serializer("target")
    def _target(self, _: Path) -> str:
        return self.told

    def taken_up(self, asked: Self) -> Self:
        """The plan of an earlier run, on the target as it is asked for now."""
        return self.model_copy(update={"target": asked.target})

    @property
    def brief(self) -> str:
        """In a few words."""
        count = len(self.workloads)
        return f"{count} workload{'s' if count != 1 else ''} on {self.told} with {self.fio}"


def make(target: Path, workloads: Sequence[AnyWorkload], fio: Fio, iozone: str = "") -> LocalPlan:
    """The workloads as they can run here, with a note for each thing that had to be changed."""
    direct, device = data.direct_works(target), target.is_block_device()
    notes = []
    resolved: list[AnyWorkload] = []
    for asked in workloads:
        work, changed = asked.adapt_to_host(fio.engine, direct)
        resolved.append(work.fits(str(target) if device else ".", device))
        notes += changed
    if not device and host.mount_of(target).fstype in host.MEMORY_FILE_SYSTEMS:
        notes.append(host.MEMORY_NOTE)
    return LocalPlan(
        target=target,
        fio=fio.version,
        workloads=resolved,
        started=plan.now(),
        notes=list(dict.fromkeys(notes)),
        iozone=iozone,
    )
