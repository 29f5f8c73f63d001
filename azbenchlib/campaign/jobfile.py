"""A fio job file as a workload: kept as it is, but for where its data lies when that must be elsewhere."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any, ClassVar

import pandas as pd

from azbenchlib.campaign.work import Work
from azbenchlib.campaign.workloads import check_job_name, check_option
from azbenchlib.errors import InputError
from azbenchlib.formats.base import Source
from azbenchlib.formats.fio_jobfile import read_fio_jobfile
from azbenchlib.units import fio_size, fio_size_text

LARGEST = 64 * 1024  # of a job file, in bytes; more is no job file
PLACES = ("directory", "filename")  # what a job file may say of where its data lies

_OPTION = re.compile(r"^(?P<before>\s*(?P<name>[a-zA-Z0-9_]+)\s*=\s*)(?P<value>.*?)(?P<after>\s*)$")
_SECTION = re.compile(r"^\s*\[(?P<name>[^\]]+)\]\s*$")
_COMMENT = ("#", ";")


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

    Raises
    ------
    InputError
        When it sets an option that starts programs or writes elsewhere, or has no job.
    """

    apart: ClassVar[bool] = True
    in_data: ClassVar[bool] = True
    name: str
    text: str
    runtime_s: float | None = None

    def __post_init__(self) -> None:
        check_job_name(self.name)
        jobs = [match["name"] for line in self._lines() if (match := _SECTION.match(line))]
        if not [job for job in jobs if job != "global"]:
            raise InputError("the job file has no job: a section such as [randread] is needed")
        for name, _ in self._options():
            if name not in PLACES:
                check_option(name)

    @classmethod
    def load(cls, name: str, given: Mapping[str, Any], folder: Path) -> "JobFile":
        """A workload from the keys ``job`` (a path within `folder`) and ``runtime`` of a measurement file.

        Raises
        ------
        InputError
            When the file is not there, lies elsewhere, or is no job file.
        """
        if unknown := [key for key in given if key not in ("job", "runtime")]:
            raise InputError(f"no key '{unknown[0]}'; with a job file there are: job, runtime, disks")
        path = folder / str(given["job"])
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"job file {given['job']}: must lie in the measurement file's folder or below")
        try:
            data = path.read_bytes()
            text = data[: LARGEST + 1].decode()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "is not text"
            raise InputError(f"job file {given['job']}: cannot be read: {why}") from error
        if len(data) > LARGEST:
            raise InputError(f"job file {given['job']}: is larger than {LARGEST} B")
        runtime = given.get("runtime")
        return cls(name, text, None if runtime is None else float(runtime))

    @property
    def title(self) -> str:
        """How progress and reports call it."""
        return self.name

    @property
    def lasts_s(self) -> float:
        """How long it takes, as far as the measurement file or the job file says; else 0."""
        stated = self._runs()["runtime_limit_s"].max()
        return self.runtime_s or (0.0 if pd.isna(stated) else float(stated))

    def facts(self) -> dict[str, object]:
        """What a table of workloads says of it, as far as its jobs agree."""
        runs = self._runs()
        names = {"rw": "rw", "bs_bytes": "bs_bytes", "iodepth": "iodepth", "working_set_bytes": "size_bytes"}
        same = {shown: runs[name].iloc[0] for name, shown in names.items() if runs[name].nunique() == 1}
        return {**same, "numjobs": int(runs["numjobs"].fillna(1).sum())}

    @property
    def inputs(self) -> dict[str, str]:
        """The job file."""
        return {f"{self.name}.fio": self.text}

    @property
    def own_bytes(self) -> int:
        """How much data its jobs touch together, as far as the job file says."""
        runs = self._runs()
        return int(runs["working_set_bytes"].fillna(0).sum())

    def places(self) -> list[str]:
        """Where the job file says that its data lies."""
        return [value for name, value in self._options() if name in PLACES]

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

    def moved(self, folder: str, elsewhere: str) -> "JobFile":
        """The job file with its data in another folder."""

        def change(name: str, value: str) -> str:
            return (
                elsewhere + value.removeprefix(folder)
                if name in PLACES and value.startswith(folder)
                else value
            )

        return self._with(change)

    def shortened(self, runtime_s: float, size_bytes: int) -> "JobFile":
        """The same for at most so long, on at most so much data."""

        def change(name: str, value: str) -> str:
            return fio_size_text(min(fio_size(value), size_bytes)) if name == "size" else value

        return replace(self._with(change), runtime_s=min(self.runtime_s or runtime_s, runtime_s))

    def commands(self, data: PurePath, out: PurePath, shared_bytes: int) -> list[list[str]]:
        """The fio that measures; its jobs lay out what they need."""
        return [self.arguments(str(out / f"{self.name}.fio"), str(out / self.output))]

    def arguments(self, job_file: str, output: str) -> list[str]:
        """The fio command line; fio is started in the folder of the data."""
        runtime = [f"--runtime={self.runtime_s:g}"] if self.runtime_s else []
        return ["fio", *runtime, "--output-format=json+", f"--output={output}", job_file]

    def _runs(self) -> pd.DataFrame:
        return read_fio_jobfile(Source(f"{self.name}.fio", self.text.encode())).frames()["runs"]

    def _lines(self) -> list[str]:
        return [line for line in self.text.splitlines() if not line.lstrip().startswith(_COMMENT)]

    def _options(self) -> list[tuple[str, str]]:
        found = []
        for line in self._lines():
            if match := _OPTION.match(line):
                found.append((match["name"].lower(), match["value"]))
            elif line.strip() and not _SECTION.match(line):
                found.append((line.split()[0].lower(), ""))
        return found

    def _with(self, change: Any) -> "JobFile":
        lines = []
        for line in self.text.splitlines():
            match = None if line.lstrip().startswith(_COMMENT) else _OPTION.match(line)
            if match:
                value = change(match["name"].lower(), match["value"])
                line = f"{match['before']}{value}{match['after']}"
            lines.append(line)
        return replace(self, text="\n".join(lines) + "\n")
