"""The command lines of workloads on this machine, and what the tools are told of where data is."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath

from azbenchlib.campaign.targets.local import data as local
from azbenchlib.campaign.targets.local.plan import LocalPlan
from azbenchlib.campaign.workloads.base import Work
from azbenchlib.core import privacy


@dataclass(frozen=True)
class CommandLines:
    """Those of a plan; `over_mounted`: the words for overwriting a device in use were given."""

    plan: LocalPlan
    over_mounted: bool

    def layout(self) -> list[str]:
        """The command that writes the shared data, with the first workload's way of doing I/O."""
        first = next(work for work in self.plan.workloads if not work.own_data)
        return self.of(first)[0]

    def of(self, workload: Work, out: PurePath | None = None) -> list[list[str]]:
        """The commands of a workload, the one that measures last; `out`: where outputs go, if elsewhere."""
        if workload.own_data:
            data = self._called(self.plan.target / local.JOBS_FOLDER)
            return workload.commands(data, out or PurePath(), 0)
        data = self._called(local.data_path(self.plan.target))
        made = workload.commands(data, PurePath(), self.plan.size_bytes)
        return [argv + self._mounted() for argv in made]

    @contextmanager
    def within_reach(self, part: Path) -> Iterator[None]:
        """Have links meanwhile in a folder to data that the tools are not told the whole path of."""
        places = (local.data_path(self.plan.target), self.plan.target / local.JOBS_FOLDER)
        links = {part / data.name: data for data in places if privacy.tells(data)}
        for link, data in links.items():
            link.symlink_to(data)
        try:
            yield
        finally:
            for link in links:
                link.unlink(missing_ok=True)

    def _called(self, data: Path) -> PurePath:
        """What the tools are told of where data is: they write it into their outputs.

        A path that tells whose it is stays out of those: a link in the folder that a tool is started in leads
        there.
        """
        return PurePath(data.name) if privacy.tells(data) else data

    def _mounted(self) -> list[str]:
        return ["--allow_mounted_write=1"] if self.over_mounted else []
