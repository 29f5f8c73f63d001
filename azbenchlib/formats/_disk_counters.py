r"""Counters of disks of Windows and of esxtop by their paths, whichever case these have.

A path is ``\\HOST\Object(instance)\Counter``. Of several objects one counts: PhysicalDisk; LogicalDisk, whose
volumes may share a disk, only where that is absent; in files of esxtop the SCSI devices, else the virtual
disks. ``_Total`` repeats the others.

Source: learn.microsoft.com, "Performance counters: PhysicalDisk" (read 2026-11); notes of VMware on esxtop's
batch mode, whose megabytes are taken to be 2**20 bytes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from azbenchlib.core.units import MIB, US_PER_MS, US_PER_S

_PATH = re.compile(
    r"\\\\(?P<host>[^\\]{1,255})\\(?P<object>[^\\(]{1,255})(?:\((?P<instance>.{0,999})\))?"
    r"\\(?P<counter>[^\\]{1,255})"
)
OBJECTS = ("physicaldisk", "physical disk scsi device", "virtual disk", "logicaldisk")  # the first counts
OF_ESXTOP = frozenset(OBJECTS[1:3])
DISK_RATES = {"iops", "read_iops", "write_iops", "bw_bytes_per_s", "read_bytes_per_s", "write_bytes_per_s"}
_TOTAL = "_total"
# Name -> column of the table demand, factor.
_COLUMNS = {
    "disk reads/sec": ("read_iops", 1),
    "disk writes/sec": ("write_iops", 1),
    "disk transfers/sec": ("iops", 1),
    "disk read bytes/sec": ("read_bytes_per_s", 1),
    "disk write bytes/sec": ("write_bytes_per_s", 1),
    "disk bytes/sec": ("bw_bytes_per_s", 1),
    "avg. disk sec/read": ("read_lat_us", US_PER_S),
    "avg. disk sec/write": ("write_lat_us", US_PER_S),
    "avg. disk sec/transfer": ("lat_us", US_PER_S),
    "avg. disk queue length": ("queue_depth", 1),
    "reads/sec": ("read_iops", 1),
    "writes/sec": ("write_iops", 1),
    "commands/sec": ("iops", 1),
    "mbytes read/sec": ("read_bytes_per_s", MIB),
    "mbytes written/sec": ("write_bytes_per_s", MIB),
    "average guest millisec/read": ("read_lat_us", US_PER_MS),
    "average guest millisec/write": ("write_lat_us", US_PER_MS),
    "average guest millisec/command": ("lat_us", US_PER_MS),
}
_COLUMN_OF = {name.replace(" ", ""): column for name, column in _COLUMNS.items()}  # a path may be wrapped


@dataclass(frozen=True, kw_only=True)
class DiskCounter:
    """What one path stands for: of which host, object and disk, in which column of the table demand."""

    host: str
    of: str
    instance: str
    column: str
    factor: float


def disk_counter(path: str) -> DiskCounter | None:
    """The counter of a path; None where it tells nothing of disks."""
    match = _PATH.fullmatch(path.strip())
    found = _COLUMN_OF.get(match["counter"].replace(" ", "").lower()) if match else None
    if match is None or found is None or (of := match["object"].strip().lower()) not in OBJECTS:
        return None
    instance = match["instance"] or "_Total"
    return DiskCounter(host=match["host"], of=of, instance=instance, column=found[0], factor=found[1])


def that_count(counters: Iterable[DiskCounter]) -> set[DiskCounter]:
    """Those of the object that counts, without the total where there are others."""
    every = list(counters)
    seen = {counter.of for counter in every}
    of = next((name for name in OBJECTS if name in seen), None)
    some = {counter for counter in every if counter.of == of}
    return {counter for counter in some if counter.instance.lower() != _TOTAL} or some
