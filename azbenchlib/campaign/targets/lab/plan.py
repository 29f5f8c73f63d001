"""What is emulated and measured: setups with their workloads, made slower and shorter, and what is noted."""

import math
import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Self

from pydantic import BaseModel, Field

from azbenchlib import model
from azbenchlib.campaign.files.spec import Experiment, whole_setup
from azbenchlib.campaign.planning.plan import StoredPlan
from azbenchlib.campaign.workloads import job_syntax
from azbenchlib.campaign.workloads.fio_options import EMULATED_ENGINE
from azbenchlib.campaign.workloads.grid import Workload, fio_arguments
from azbenchlib.campaign.workloads.iozone import Iozone
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.campaign.workloads.limits import RunLimits
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import fio_size, fio_size_text
from azbenchlib.dataset import manifest
from azbenchlib.formats.fio.job_lines import canonical
from azbenchlib.model.disk_row import DiskRow
from azbenchlib.model.fill_from_catalogue import resolve

# Options of fio that are times or rates. Source: fio HOWTO, read at fio-3.41.
TIMES = ("startdelay", "thinktime", "thinktime_spin")
OURS = ("runtime", "ramp_time", "time_based")  # how long it lasts is said on the command line
_RATES = ("rate", "rate_min", "rate_iops", "rate_iops_min")
# Where a job file says that its data lies, and logs, which would stand beside those of other workloads.
LOGS = ("write_bw_log", "write_hist_log", "write_iops_log", "write_lat_log")
_ELSEWHERE = ("directory", "filename", "ioengine", "uri", *LOGS)
_NUMBER = re.compile(r"^(\d+)(.*)$")


@dataclass(frozen=True)
class Place:
    """An emulated disk: its address, its size, its dilation factor, and how long a workload may last.

    `time_scale` is a whole number; `longest_s` is real time.
    """

    uri: str
    size_bytes: int
    time_scale: int
    longest_s: float

    def emulated_s(self, workload: Workload | JobFile) -> float:
        """How long a workload is measured for the emulated disk, in seconds."""
        asked = workload.max_duration_s if isinstance(workload, JobFile) else workload.runtime_s
        return min(asked or math.inf, self.longest_s / self.time_scale)

    def ramp_s(self, workload: Workload | JobFile) -> float:
        """Real seconds that are left out before that: cut in the same proportion.

        None unless asked for: with a ramp, fio counts the I/Os that it began and the bytes that it ended
        in the time after it, so its IOPS are low by the queue depth. Seen with fio 3.33.
        """
        if isinstance(workload, JobFile) or not workload.ramp_s:
            return 0.0
        return workload.ramp_s * self.emulated_s(workload) / workload.runtime_s * self.time_scale


def command(workload: Workload | JobFile, place: Place) -> list[str]:
    """The fio command line; fio is started in the folder that its outputs go to."""
    if isinstance(workload, Workload):
        return [*fio_arguments(_slow(workload, place), None, PurePath()), f"--uri={place.uri}"]
    seconds = place.emulated_s(workload) * place.time_scale
    return [
        "fio",
        f"--runtime={round(seconds * 1000)}ms",
        "--time_based=1",
        "--output-format=json+",
        f"--output={workload.name}.json",
        f"{workload.name}.fio",
    ]


def limits_of(workload: Workload | JobFile, place: Place) -> RunLimits:
    """At what a run of it is ended, in real time; an emulated disk needs no layout."""
    if isinstance(workload, Workload):
        return replace(_slow(workload, place).limits, data_bytes=0)
    return replace(
        workload.limits_within(place.emulated_s(workload) * place.time_scale, place.time_scale), data_bytes=0
    )


def write_job_file(workload: Workload | JobFile, place: Place, folder: Path) -> None:
    """Put a job file, as it runs on the emulated disk, beside the outputs."""
    if isinstance(workload, JobFile):
        (folder / f"{workload.name}.fio").write_text(job_text(workload.text, place))


def job_text(text: str, place: Place) -> str:
    """A job file with its data on the emulated disk, its times made longer and its rates smaller."""
    lines: list[str] = []
    for line in job_syntax.read(text, trusted=True):
        name = canonical(line.option.lower())
        if line.section:
            lines += [f"[{line.section}]", f"ioengine={EMULATED_ENGINE}", f"uri={place.uri}"]
        elif not name:
            lines.append(line.text)
        elif name not in (*_ELSEWHERE, *OURS):
            lines.append(f"{line.option}={_option(name, line.value, place)}" if line.value else line.option)
    return "\n".join(lines) + "\n"


def _slow(workload: Workload, place: Place) -> Workload:
    seconds = place.emulated_s(workload) * place.time_scale
    options = {name: _option(canonical(name), value, place) for name, value in workload.options.items()}
    if workload.bs_bytes > place.size_bytes:
        raise InputError(f"workload '{workload.name}': its block size is larger than the emulated disk")
    return replace(
        workload,
        ioengine=EMULATED_ENGINE,
        runtime_s=seconds,
        ramp_s=place.ramp_s(workload),
        size_bytes=min(workload.size_bytes, place.size_bytes),
        options=options,
    )


def _option(name: str, value: str, place: Place) -> str:
    """The value of an option under time dilation; most stay as they are."""
    if name == "size" and not value.endswith("%"):
        return fio_size_text(min(fio_size(value), place.size_bytes))
    if name in TIMES:
        return _each(name, value, lambda number, unit: f"{number * place.time_scale}{unit}")
    if name in _RATES:
        return _each(
            name,
            value,
            lambda number, unit: str(max(1, round(fio_size(f"{number}{unit}") / place.time_scale))),
        )
    return value


def _each(name: str, value: str, change: Callable[[int, str], str]) -> str:
    """Every number of a list such as ``100m,50m``."""
    parts = []
    for part in value.split(","):
        match = _NUMBER.match(part.strip())
        if match is None and part.strip():
            raise InputError(f"option {name}: '{value}' is no number that time dilation could scale")
        parts.append(change(int(match[1]), match[2]) if match else "")
    return ",".join(parts)


class EmulatedTask(BaseModel):
    """A workload on a disk."""

    disk: str
    workload: Workload | JobFile


class EmulatedSetup(BaseModel):
    """A VM with its disks, and what runs on them, one workload after the other."""

    setup: manifest.ManifestSetup
    tasks: list[EmulatedTask]
    left_out: list[str] = Field(default_factory=list)  # workloads that need more than a disk

    def folder(self, task: EmulatedTask) -> str:
        """Below ``raw/``: where the outputs of this setup and disk go."""
        return f"{self.setup.setup_id}/{task.disk}"

    def title(self, task: EmulatedTask) -> str:
        """How progress and reports call a workload."""
        return f"{self.setup.setup_id}, {task.disk}: {task.workload.title}"

    def resolved(self, as_of: str) -> model.Setup:
        """The setup with the limits that were documented on a day.

        Raises an InputError when the catalogue does not know them, or Azure would refuse the setup.
        """
        disks = tuple(row.to_disk() for row in self.setup.disks)
        return resolve(model.Setup(model.VM(size=self.setup.vm_size), disks, self.setup.as_of), as_of)


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

    def place(self, one: EmulatedSetup, uri: str, size_bytes: int) -> Place:
        """Where workloads of a setup run."""
        return Place(uri, size_bytes, self.time_scale[one.setup.setup_id], self.longest_s)


def emulated(experiment: Experiment) -> list[EmulatedSetup]:
    """What a measurement file asks for, as it is emulated: what fio does; iozone needs a file system.

    Raises an InputError when nothing is left.
    """
    found = []
    for setup in experiment.setups:
        driven = [(disk, task.workload) for task in setup.tasks for disk in setup.driven(task)]
        tasks = [
            EmulatedTask(disk=disk, workload=work) for disk, work in driven if not isinstance(work, Iozone)
        ]
        left_out = [work.name for _, work in driven if isinstance(work, Iozone)]
        told = {"environment": "lab", "os": None, "as_of": setup.as_of}
        whole = whole_setup(experiment, setup).model_copy(update=told)
        found.append(EmulatedSetup(setup=whole, tasks=tasks, left_out=list(dict.fromkeys(left_out))))
    if not any(one.tasks for one in found):
        raise InputError(
            "nothing to emulate: iozone needs a file system, and an emulated disk has none; take --target "
            "local or azure, or see `azbench lab mount`"
        )
    return found


def in_words(setup: model.Setup, workloads: Sequence[Workload | JobFile], name: str = "") -> EmulatedSetup:
    """Workloads on every disk of a setup, as the command line describes it; its VM and disks are its name."""
    names = _names(setup.disks)
    disks = [DiskRow.from_disk(*pair) for pair in zip(setup.disks, names, strict=True)]
    size = _slug((setup.vm.size or "").removeprefix("Standard_"))
    rows = manifest.ManifestSetup(
        setup_id=name or "-".join(filter(None, [size, *names])),
        environment="lab",
        vm_size=setup.vm.size,
        as_of=setup.as_of,
        disks=disks,
    )
    tasks = [EmulatedTask(disk=row.disk, workload=work) for row in disks for work in workloads]
    return EmulatedSetup(setup=rows, tasks=tasks)


def _names(disks: Iterable[model.Disk]) -> list[str]:
    """Names that can be those of files: ``p4-none``; a number behind those that several have."""
    names = [_slug(disk.name) for disk in disks]
    return [
        name if names.count(name) == 1 else f"{name}-{names[: i + 1].count(name)}"
        for i, name in enumerate(names)
    ]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
