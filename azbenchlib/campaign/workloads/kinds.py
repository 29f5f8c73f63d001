"""The kinds of workloads that a measurement file can name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.iozone import Iozone
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import InputError

AnyWorkload = Workload | JobFile | Iozone


def of(name: str, options: Mapping[str, Any], folder: Path, trusted: bool = False) -> AnyWorkload:
    """A workload from what a measurement file says of it; job files lie in `folder` or below.

    `trusted`: whether job files are one's own and may use every option of fio.

    Raises an InputError when it cannot be run.
    """
    if "job" in options:
        return JobFile.load(name, options, folder, trusted)
    if "iozone" not in options:
        return Workload.of(name, options)
    if more := [key for key in options if key != "iozone"]:
        raise InputError(f"no key '{more[0]}'; with iozone there are: iozone, disks", keys=(more[0],))
    if not isinstance(options["iozone"], dict):
        raise InputError("iozone: must be names with values, such as {file_sizes: [1GiB]}", keys=("iozone",))
    try:
        return Iozone.of(name, options["iozone"])
    except InputError as error:
        raise InputError(str(error), keys=("iozone", *error.keys)) from error
