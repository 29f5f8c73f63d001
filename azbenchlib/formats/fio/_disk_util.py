"""What the block devices did for the jobs, by fio's ``disk_util``: limits count the devices' I/Os.

The kernel merges small I/Os that follow each other, and splits large ones. Source: fio ``diskutil.c`` and
``stat.c`` (``show_disk_util``), read at fio-3.41.
"""

from dataclasses import replace

from azbenchlib.core import schema
from azbenchlib.formats._json_values import Complaints, Fields
from azbenchlib.formats.fio._jobs import SUM_OF_CLIENTS, FioJob, Key, Printed
from azbenchlib.formats.fio._json_documents import JsonDocument

_STACKED = "aggr_util"  # only a device of others (md, dm) has it; the others are listed too
_IOS = ("read_ios", "write_ios")
_ROUGHEST = 0.02  # by which a number of I/Os that follows from a truncated rate may be off


def device_ios_per_io(document: JsonDocument) -> float | None:
    """I/Os of the devices for one I/O of the jobs.

    Returns
    -------
    float or None
        None where the devices' counts are not those of the jobs' I/Os alone: of jobs one after the other, of
        clients, of a document that is damaged, or where one of the two counts is missing.
    """
    complaints = Complaints()
    listed = document.root.get("disk_util")
    if not isinstance(listed, list) or document.damage or "client_stats" in document.root:
        return None
    jobs = [Fields(entry, "", complaints) for _, entry in document.entries]
    devices = [Fields(entry, "", complaints) for entry in listed]
    if len({job.whole("groupid") for job in jobs}) != 1:
        return None
    own = [job.at(ddir).whole("total_ios") for job in jobs for ddir in _directions(job)]
    theirs = [device.whole(name) for device in devices if _STACKED not in device for name in _IOS]
    asked = sum(count for count in own if count is not None)
    if not theirs or not asked or complaints.unexpected or None in own or None in theirs:
        return None
    return sum(count for count in theirs if count is not None) / asked


def _directions(job: Fields) -> tuple[str, ...]:
    """Those that a job has, without the sum of the others."""
    return tuple(ddir for ddir in schema.DDIRS[:3] if ddir in job) or schema.DDIRS[3:]


def with_devices(jobs: tuple[FioJob, ...], device_ios: int | None) -> tuple[FioJob, ...]:
    """The jobs of one printed report with the devices' I/Os for one of theirs.

    They stay as they are where the jobs did not run at once, or their I/Os are not known well enough.
    """
    asked = [_ios(job, ddir) for job in jobs for ddir in _own_directions(job)]
    at_once = len({job.group_id for job in jobs}) == 1 and not any(
        job.host or job.name == SUM_OF_CLIENTS for job in jobs
    )
    counted = [ios for ios in asked if ios is not None]
    total, slack = (sum(ios[i] for ios in counted) for i in range(2))
    if device_ios is None or not at_once or None in asked or not total or slack > _ROUGHEST * total:
        return jobs
    ratio = device_ios / total
    told = {Key("runs", "", "device_ios_per_io"): Printed(ratio, ratio * slack / total)}
    return tuple(replace(job, figures=job.figures | told) for job in jobs)


def _own_directions(job: FioJob) -> list[str]:
    """Those that did something, without the sum of the others."""
    return [ddir for ddir in job.directions if ddir in schema.DDIRS[:3]] or job.directions


def _ios(job: FioJob, ddir: str) -> Printed | None:
    """How many I/Os a direction did: as printed, or by its truncated rate and its time."""
    printed = job.figures.get(Key("results", ddir, "ios"))
    rate, seconds = (job.figures.get(Key("results", ddir, name)) for name in ("iops", "runtime_s"))
    if printed or rate is None or seconds is None:
        return printed
    return Printed(rate.value * seconds.value, rate.slack * seconds.value)
