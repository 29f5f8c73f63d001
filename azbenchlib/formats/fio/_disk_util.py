"""What the block devices did for the jobs, by fio's ``disk_util``: limits count the devices' I/Os.

The kernel merges small I/Os that follow each other, and splits large ones. Source: fio ``diskutil.c`` and
``stat.c`` (``show_disk_util``), read at fio-3.41.
"""

from azbenchlib.core import schema
from azbenchlib.formats._json_values import Complaints, Fields
from azbenchlib.formats.fio._json_documents import Document

_STACKED = "aggr_util"  # only a device of others (md, dm) has it; the others are listed too
_IOS = ("read_ios", "write_ios")


def device_ios_per_io(document: Document) -> float | None:
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
