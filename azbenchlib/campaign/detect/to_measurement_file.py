"""A measurement file of the Azure VM that this machine is, to be edited."""

from typing import Any

import yaml

from azbenchlib.campaign.detect.detect import Detected
from azbenchlib.campaign.files.disk_spec import PROVISIONED
from azbenchlib.core.units import GIB, MB
from azbenchlib.model.disk_row import DiskRow

# What a measurement file says of each role; the others come with the VM as they are.
_KEYS = {"data": ("sku", "size", "iops", "mbps", "caching"), "os": ("sku", "size", "caching")}
_INTRODUCTION = """\
# This VM as its metadata service describes it. It does not tell of a performance tier above that of the
# size, nor of the IOPS and MB/s of a Premium SSD v2: add what applies. The workload is an example; all keys
# are in docs/measurement-file.md.
"""
_EXAMPLE = {"randread-4k": {"rw": "randread", "bs": "4k", "iodepth": 32, "size": "4g", "runtime": 60}}


def measurement_file(found: Detected) -> str:
    """The text of the file, with an example of a workload."""
    machine = found.setup
    head = {
        "title": f"Disks of a {machine.vm_size}",
        "region": machine.region,
        **({"zone": machine.zone} if machine.zone else {}),
        "vm": machine.vm_size,
        "disks": {row.disk: disk_entry(row) for row in machine.disks},
        "workloads": _EXAMPLE,
    }
    return _INTRODUCTION + yaml.safe_dump(head, sort_keys=False)


def disk_entry(row: DiskRow) -> dict[str, Any]:
    """A disk as :class:`azbenchlib.campaign.files.disk_spec.DiskSpec` takes it."""
    bought = row.sku in PROVISIONED  # of the others, Azure tells the limits of the tier
    values = {
        "sku": row.sku,
        "size": row.size_bytes and f"{row.size_bytes // GIB}GiB",
        "iops": row.provisioned_iops if bought else None,
        "mbps": round((row.provisioned_bytes_per_s or 0) / MB) or None if bought else None,
        "caching": None if bought else row.host_caching,  # they have none to choose
    }
    known = {key: values[key] for key in _KEYS.get(row.role or "", ()) if values[key] is not None}
    count = {"count": row.count} if (row.count or 1) > 1 else {}
    return {"role": row.role, **known, **count}
