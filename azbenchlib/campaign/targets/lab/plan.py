"""What is measured on emulated disks, and what has to be remembered about it."""

from collections.abc import Container
from typing import Self

from pydantic import Field

from azbenchlib.campaign.planning.plan import StoredPlan
from azbenchlib.campaign.targets.lab import jobs
from azbenchlib.campaign.targets.lab.setup import EmulatedSetup


class LabPlan(StoredPlan):
    """What is measured on emulated disks, and what has to be remembered about it."""

    title: str
    about: str
    emulated: list[EmulatedSetup]
    longest_s: float
    asked_credit_s: float | None = None
    asked_cache_bytes: float | None = None
    asked_scale: int | None = None
    fio: str
    started: str
    credit_s: dict[str, float] = Field(default_factory=dict)  # setup -> how long its credits last
    late_s: dict[str, dict[str, float]] = Field(default_factory=dict)  # setup -> run -> lateness, if worth it
    time_scale: dict[str, int] = Field(default_factory=dict)  # setup -> how much slower than the disk it runs

    def only(self, names: Container[str]) -> Self:
        """The same with some of the workloads."""
        some = [
            one.model_copy(update={"tasks": [task for task in one.tasks if task.workload.name in names]})
            for one in self.emulated
        ]
        return self.model_copy(update={"emulated": some})

    def same_as(self, other: Self) -> bool:
        """Whether both measure the same workloads, as long, on the same setups, equally dilated."""
        names = ("emulated", "longest_s", "asked_credit_s", "asked_cache_bytes", "asked_scale")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    @property
    def brief(self) -> str:
        """In a few words."""
        return f"'{self.title}' on emulated disks"

    def place(self, one: EmulatedSetup, uri: str, size_bytes: int) -> jobs.Place:
        """Where workloads of a setup run."""
        return jobs.Place(uri, size_bytes, self.time_scale[one.setup.setup_id], self.longest_s)
