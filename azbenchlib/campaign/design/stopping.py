"""When a workload has been repeated often enough: its figures are known as closely as the file wants them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from azbenchlib.campaign.design import figures
from azbenchlib.campaign.design.search import Condition, Ladder, Searches
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.workloads import base
from azbenchlib.core.units import format_count, format_mbps, format_us


@dataclass(frozen=True)
class Rule:
    """How closely which figures are to be known, and how many repeats there may be."""

    until: Mapping[str, float]
    most: int


@dataclass(frozen=True)
class Stopping:
    """The rules of a campaign: by setup and workload, and by workload where setups are left aside."""

    rules: Mapping[tuple[str, str], Rule] = field(default_factory=dict)
    searches: Searches = field(default_factory=Searches)
    warm_ups: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, experiment: Experiment | None) -> "Stopping":
        """Those of a measurement file."""
        rules: dict[tuple[str, str], Rule] = {}
        ladders: dict[tuple[str, str], Ladder] = {}
        warm_ups: dict[tuple[str, str], Mapping[str, float]] = {}
        for setup in experiment.setups if experiment else ():
            for task in setup.tasks:
                name = base.workload_of(task.workload.name)
                for key in ((setup.name, name), ("", name)):
                    if setup.warm_up:
                        warm_ups.setdefault(key, setup.warm_up)
                    if task.find:
                        ladders.setdefault(key, Ladder(task.ladder, Condition.of(task.find)))
                    elif setup.until:
                        rules.setdefault(key, Rule(setup.until, setup.repeats))
        return cls(rules, Searches(ladders), warm_ups)

    def enough(self, output: Path, folder: str, dilation: float = 1) -> str:
        """Why a repeat need not be run: the figures of those before it are known well enough; else empty.

        `output` is the file that the repeat would write; those of the repeats before it lie beside it.
        `folder` is that of the outputs below ``raw/``; its first part is the setup, where there are several.
        `dilation`: by which the lab ran more slowly than the disk.
        """
        if ladder := self.searches.ladder(output, folder):
            return ladder.needless(output, dilation)
        name, number = base.warm_up_of(output.stem)
        if number:
            return figures.agreed(output, self.warm_ups[_key(folder, name)], dilation)
        name, number = base.repeat_of(output.stem)
        rule = self.rules.get(_key(folder, name))
        if rule is None or number <= figures.FIRST_LOOK:
            return ""
        before = [output.with_name(f"{base.of_repeat(name, n)}{output.suffix}") for n in range(1, number)]
        said = []
        for figure, wanted in rule.until.items():
            values = [value for path in before if (value := figures.read(path, figure, dilation))]
            if len(values) < figures.FIRST_LOOK:
                return ""
            typical, width = figures.relative(values, rule.most)
            if width > wanted:
                return ""
            said.append(f"{figure} is {_shown(figure, typical)} ± {width:.1%}")
        return f"{' and '.join(said)} after {len(values)} runs (95 %, looked at after each)"

    def waits(self, output: Path, folder: str) -> bool:
        """Whether the result of another run decides about this one."""
        if figures.waits(output):
            return True
        if self.searches.ladder(output, folder):
            return True
        name, number = base.repeat_of(output.stem)
        if number <= figures.FIRST_LOOK or _key(folder, name) not in self.rules:
            return False
        return not output.with_name(f"{base.of_repeat(name, number - 1)}{output.suffix}").is_file()

    def still_cold(self, output: Path, folder: str, dilation: float = 1) -> str:
        """What to note after the last warm-up that there may be, where no two agree; else empty."""
        name, number = base.warm_up_of(output.stem)
        after = output.with_name(f"{base.of_warm_up(name, number + 1)}{output.suffix}")
        if number != figures.MOST_WARM_UPS:
            return ""
        wanted = self.warm_ups[_key(folder, name)]
        if figures.agreed(after, wanted, dilation):
            return ""
        shares = " and ".join(f"{figure} to within {share * 100:g} %" for figure, share in wanted.items())
        return f"no two of its {number} warm-ups one after the other agree ({shares})"


def _key(folder: str, name: str) -> tuple[str, str]:
    """Of the rules: the setup, where there are several, and the workload."""
    return (Path(folder).parts[0] if folder else "", name)


def _shown(figure: str, value: float) -> str:
    if figure == "iops":
        return f"{format_count(round(value))} IOPS"
    return format_us(value) if figures.percentile_of(figure) else f"{format_mbps(value)} MB/s"
