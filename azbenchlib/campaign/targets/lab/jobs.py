"""Workloads as they run on an emulated disk: through fio's NBD engine, under time dilation, and shortened."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from azbenchlib.campaign.workloads import job_syntax
from azbenchlib.campaign.workloads.arguments import fio_arguments
from azbenchlib.campaign.workloads.fio_options import EMULATED_ENGINE
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.campaign.workloads.limits import RunLimits
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import fio_size, fio_size_text
from azbenchlib.formats.fio.job_lines import canonical

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


def limits(workload: Workload | JobFile, place: Place) -> RunLimits:
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
