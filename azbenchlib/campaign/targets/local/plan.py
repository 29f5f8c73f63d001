"""What is measured on this machine: the workloads as they can run here."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pydantic import field_serializer

from azbenchlib.campaign import host
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.targets.local import data
from azbenchlib.campaign.targets.one_target import OneTargetPlan, as_they_can_run
from azbenchlib.campaign.workloads.fio import Fio
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.core import privacy


class LocalPlan(OneTargetPlan):
    """What is measured on this machine, with what, and what has to be said about it."""

    target: Path

    def same_as(self, other: Self) -> bool:
        """Whether both measure the same workloads on the same target with the same tools."""
        return self.told == other.told and super().same_as(other)

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
        return self.brief_on(self.told)


def make(target: Path, workloads: Sequence[AnyWorkload], fio: Fio, iozone: str = "") -> LocalPlan:
    """The workloads as they can run here, with a note for each thing that had to be changed."""
    device = str(target) if target.is_block_device() else ""
    adapted, notes = as_they_can_run(
        workloads,
        fio,
        direct=data.direct_works(target),
        device=device,
        fstype="" if device else host.mount_of(target).fstype,
    )
    return LocalPlan(
        target=target,
        fio=fio.version,
        workloads=adapted,
        started=plan.now(),
        notes=notes,
        iozone=iozone,
    )
