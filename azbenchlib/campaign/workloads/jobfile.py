"""A fio job file as a workload: kept as it is, but for where its data lies when that must be elsewhere."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, ClassVar

import pandas as pd

from azbenchlib.campaign.workloads import base, fio_options, job_syntax
from azbenchlib.campaign.workloads.base import Work
from azbenchlib.campaign.workloads.grid import check_job_name, check_seconds, seconds_of
from azbenchlib.campaign.workloads.job_syntax import UnknownSizeError, bytes_written
from azbenchlib.campaign.workloads.limits import RunLimits, delay_s
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MS_PER_S, fio_size, fio_size_text
from azbenchlib.formats.fio._options import seconds
from azbenchlib.formats.fio.job_lines import GLOBAL, canonical
from azbenchlib.formats.fio.jobfile import read_fio_jobfile
from azbenchlib.formats.source import Source

_LARGEST = 64 * 1024  # of a job file, in bytes; more is no job file
_PLACES = ("directory", "filename")  # what a job file may say of where its data lies
OWN_FILES = "a job file of your own is taken as it is with --trust-job-files"
_KEYS = ("job", "runtime")  # of a measurement file


@dataclass(frozen=True)
class JobFile(Work):
    """A fio job file to run.

    Parameters
    ----------
    name : str
        Letters, digits, ``-`` and ``_``; the raw files are called by it.
    text : str
        The job file.
    runtime_s : float, optional
        Seconds after which fio stops each job, as ``fio --runtime`` does.
    trusted : bool
        Whether it is a file of one's own, which may use every option and engine of fio.

    Raises
    ------
    InputError
        When it has no job, or a line that is not allowed; `keys` holds the number of the line.
    """

    own_data: ClassVar[bool] = True
    runs_in_data_dir: ClassVar[bool] = True
    name: str
    text: str
    runtime_s: float | None = None
    trusted: bool = False

    def __post_init__(self) -> None:
        check_job_name(self.name)
        jobs = [line.section for line in self._lines() if line.section]
        if not [job for job in jobs if not job.startswith(GLOBAL)]:
            raise InputError("the job file has no job: a section such as [randread] is needed")
        if self.runtime_s is not None:
            check_seconds("runtime", self.runtime_s, 1 / MS_PER_S)

    @classmethod
    def load(cls, name: str, given: Mapping[str, Any], folder: Path, trusted: bool = False) -> "JobFile":
        """A workload from the keys ``job`` (a path within `folder`) and ``runtime`` of a measurement file.

        Raises an InputError when the file is not there, lies elsewhere, or is no job file; with the line that
        is not allowed.
        """
        if unknown := [key for key in given if key not in _KEYS]:
            raise InputError(
                f"no key '{unknown[0]}'; with a job file there are: {', '.join(_KEYS)}, disks",
                keys=(unknown[0],),
            )
        text = _text(str(given["job"]), folder)
        runtime = seconds_of(given.get("runtime"))
        if runtime is not None:
            check_seconds("runtime", runtime, 1 / MS_PER_S)
        try:
            return cls(name, text, runtime, trusted)
        except InputError as error:
            line = "".join(f":{number}" for number in error.keys)
            own = f"; {OWN_FILES}" if line and not trusted else ""
            raise InputError(f"job file {given['job']}{line}: {error}{own}", keys=("job",)) from error

    @property
    def title(self) -> str:
        """How progress and reports call it."""
        return base.workload_of(self.name) + base.which(self.name)

    @property
    def max_duration_s(self) -> float:
        """How long it takes, as far as the measurement file or the job file says; else 0."""
        stated = self._runs()["runtime_limit_s"].max()
        return self.runtime_s or (0.0 if pd.isna(stated) else float(stated))

    def facts(self) -> dict[str, object]:
        """What a table of workloads says of it, as far as its jobs agree."""
        runs = self._runs()
        alike = ("rw", "rwmix_read_pct", "bs_bytes", "iodepth")
        names = {**dict(zip(alike, alike, strict=True)), "working_set_bytes": "size_bytes"}
        same = {shown: runs[name].iloc[0] for name, shown in names.items() if runs[name].nunique() == 1}
        return {**same, "numjobs": int(runs["numjobs"].fillna(1).sum())}

    @property
    def inputs(self) -> dict[str, str]:
        """The job file."""
        return {f"{self.name}.fio": self.text}

    @property
    def own_bytes(self) -> int:
        """How much data its jobs write together at most; 0 where :attr:`size_unknown` says why."""
        try:
            return bytes_written(self._jobs())
        except UnknownSizeError:
            return 0

    @property
    def size_unknown(self) -> str:
        """Why nobody can tell how much it writes; empty: :attr:`own_bytes`."""
        try:
            bytes_written(self._jobs())
        except UnknownSizeError as error:
            return f"workload '{self.name}': {error}"
        return ""

    @property
    def limits(self) -> RunLimits:
        """At what a run of it is ended: what its jobs take one after the other, and what it writes."""
        return self.limits_within(self.runtime_s, 1)

    def limits_within(self, runtime_s: float | None, slower: float) -> RunLimits:
        """The same, where its jobs have another run time, or all but that takes so many times as long."""
        jobs = self._jobs()
        if any(options.keys() - fio_options.IN_JOB_FILES.keys() for options in jobs):
            return RunLimits(data_bytes=self.own_bytes)  # of a trusted file: it may do anything
        times = [_seconds_of(options, runtime_s, slower) for options in jobs]
        known = None if None in times else sum(time for time in times if time is not None)
        return RunLimits(seconds=known, data_bytes=2 * self.own_bytes)  # it may be verified

    def places(self) -> list[str]:
        """Where the job file says that its data lies."""
        return [line.value for line in self._lines() if line.option in _PLACES]

    def fits(self, folder: str, device: bool) -> "JobFile":
        """The same, or an InputError when its data would lie outside a folder."""
        return super().fits(folder, device).within(folder)

    def within(self, mount: str) -> "JobFile":
        """The same, or an InputError when its data would lie outside a mount point."""
        for place in self.places():
            inside = place == mount or place.startswith(f"{mount}/") or not place.startswith("/")
            if not inside or ".." in Path(place).parts or ":" in place:
                raise InputError(
                    f"workload '{self.name}': the job file's data lies in {place}, and the disk's mount is "
                    f"{mount}; set mount of the disk to the job file's directory"
                )
        return self

    def rebased(self, folder: str, elsewhere: str) -> "JobFile":
        """The job file with its data in another folder."""

        def change(name: str, value: str) -> str:
            return (
                elsewhere + value.removeprefix(folder)
                if name in _PLACES and value.startswith(folder)
                else value
            )

        return self._with(change)

    def shortened(self, runtime_s: float, size_bytes: int) -> "JobFile":
        """The same for at most so long, on at most so much data; a size that is no number stays."""

        def change(name: str, value: str) -> str:
            if name != "size" or not value.isalnum():
                return value
            return fio_size_text(min(fio_size(value), size_bytes))

        return replace(self._with(change), runtime_s=min(self.runtime_s or runtime_s, runtime_s))

    def commands(self, data: PurePath, out: PurePath, shared_bytes: int) -> list[list[str]]:
        """The fio that measures; its jobs lay out what they need."""
        return [self.arguments(str(out / f"{self.name}.fio"), str(out / self.output))]

    def arguments(self, job_file: str, output: str) -> list[str]:
        """The fio command line; fio is started in the folder of the data."""
        runtime = [f"--runtime={self.runtime_s:g}"] if self.runtime_s else []
        return ["fio", *runtime, "--output-format=json+", f"--output={output}", job_file]

    def _jobs(self) -> list[dict[str, str]]:
        """The options of each job, with those of the [global] sections before it."""
        shared: dict[str, str] = {}
        jobs: list[dict[str, str]] = []
        own = shared
        for line in self._lines():
            if line.section and line.section.startswith(GLOBAL):
                own = shared
            elif line.section:
                own = dict(shared)
                jobs.append(own)
            elif line.option:
                name = canonical(line.option)
                more = name == "filename" and name in own and name not in shared  # each adds a file
                own[name] = f"{own[name]}:{line.value}" if more else line.value
        return jobs

    def _runs(self) -> pd.DataFrame:
        return read_fio_jobfile(Source(f"{self.name}.fio", self.text.encode())).frames()["runs"]

    def _lines(self) -> list[job_syntax.StrictLine]:
        return job_syntax.read(self.text, self.trusted)

    def _with(self, change: Callable[[str, str], str]) -> "JobFile":
        lines = self._lines()
        values = (change(canonical(line.option), line.value) for line in lines if line.option)
        return replace(self, text=job_syntax.rewritten(lines, values))


def _seconds_of(options: Mapping[str, str], runtime_s: float | None, slower: float) -> float | None:
    """How long a job takes at most, but for its data; None where it ends with that."""
    names = ("ramp_time", *(() if runtime_s else ("runtime",)))
    try:
        times = {name: seconds(options[name]) for name in names if name in options}
        loops = int(options.get("loops", "1"), 0)
    except ValueError:
        return None
    measured_s = runtime_s or times.get("runtime", 0.0)
    if not measured_s:
        return None
    besides = times.get("ramp_time", 0.0) + delay_s(options.get("startdelay", ""))
    return max(1, loops) * (measured_s + slower * besides)


def _text(job: str, folder: Path) -> str:
    """The text of a job file in a folder or below it."""
    what = f"job file {fio_options.shown(job)}"
    if not job.isprintable() or job.startswith("-"):
        raise InputError(f"{what}: is not the name of a file", keys=("job",))
    path = folder / job
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{what}: must lie in the measurement file's folder or below", keys=("job",))
        if path.exists() and not path.is_file():
            raise InputError(f"{what}: is not a file", keys=("job",))
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        why = getattr(error, "strerror", None) or "its links lead in a circle"
        raise InputError(f"{what}: cannot be read: {why}", keys=("job",)) from error
    if len(data) > _LARGEST:
        raise InputError(f"{what}: is larger than {_LARGEST} B", keys=("job",))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{what}: cannot be read: is not text", keys=("job",)) from error
