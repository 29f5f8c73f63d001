"""The kinds of workloads that a measurement file can name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from azbenchlib.campaign.iozone import Iozone
from azbenchlib.campaign.jobfile import JobFile
from azbenchlib.campaign.workloads import Workload
from azbenchlib.errors import InputError

AnyWorkload = Workload | JobFile | Iozone


def of(name: str, options: Mapping[str, Any], folder: Path) -> AnyWorkload:
    """A workload from what a measurement file says of it; job files lie in `folder` or below.

    Raises
    ------
    InputError
        When it cannot be run.
    """
    if "job" in options:
        return JobFile.load(name, options, folder)
    if "iozone" not in options:
        return Workload.of(name, options)
    if more := [key for key in options if key != "iozone"]:
        raise InputError(f"no key '{more[0]}'; with iozone there are: iozone, disks")
    if not isinstance(options["iozone"], dict):
        raise InputError("iozone: must be names with values, such as {file_sizes: [1GiB]}")
    return Iozone.of(name, options["iozone"])
