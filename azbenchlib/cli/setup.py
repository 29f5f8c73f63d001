"""The verb that says what this machine is: `azbench setup detect`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from azbenchlib.errors import AzbenchError
from azbenchlib.units import GIB, MB, format_count, format_mbps, format_size

if TYPE_CHECKING:
    from azbenchlib.campaign.detect import Detected

setup = typer.Typer(no_args_is_help=True, help="What is measured: a VM with its disks.")

# What a measurement file says of each role; the others come with the VM as they are.
_SAID = {"data": ("sku", "size", "iops", "mbps", "caching"), "os": ("sku", "size", "caching")}
_INTRODUCTION = """\
# This VM as its metadata service describes it. It does not tell of a performance tier above that of the
# size, nor of the IOPS and MB/s of a Premium SSD v2: add what applies. The workload is an example; all keys
# are in docs/measurement-file.md.
"""
_EXAMPLE = {"randread-4k": {"rw": "randread", "bs": "4k", "iodepth": 32, "size": "4g", "runtime": 60}}


class DetectFormat(StrEnum):
    """What `azbench setup detect` prints."""

    table = "table"
    json = "json"
    yaml = "yaml"


@setup.callback()
def _group() -> None:
    pass  # without it, typer drops the name of a single verb


@setup.command()
def detect(
    format_: Annotated[
        DetectFormat, typer.Option("--format", help="What to print; yaml is a measurement file to edit.")
    ] = DetectFormat.table,
) -> None:
    """Say which Azure VM this machine is, with its disks, their caching and their devices.

    Exit code 2 where this is no Azure VM.
    """
    from azbenchlib.campaign import detect as library

    found = library.detect()
    if found is None:
        raise AzbenchError(
            "no Azure metadata service answered, so this is no Azure VM, or it is kept from asking"
        )
    if format_ is DetectFormat.json:
        json.dump(_document(found), sys.stdout, ensure_ascii=False, allow_nan=False)
        sys.stdout.write("\n")
    elif format_ is DetectFormat.yaml:
        sys.stdout.write(_file(found))
    else:
        _print_table(found)


def _document(found: Detected) -> dict[str, Any]:
    """The row of the table setups, with those of the table disks and the devices of each; null: not told."""
    machine = found.setup.model_dump(exclude={"disks", "folder"})
    return machine | {"disks": [row | {"devices": _devices(found, row["disk"])} for row in _disks(found)]}


def _disks(found: Detected) -> list[dict[str, Any]]:
    """Every column of the table disks, checked."""
    from azbenchlib import schema

    rows = schema.records(schema.frame("disks", found.setup.disks))
    return [{name: value for name, value in row.items() if name != "setup_id"} for row in rows]


def _devices(found: Detected, disk: str) -> list[str]:
    return [str(device) for device in found.devices[disk]]


def _file(found: Detected) -> str:
    """A measurement file of this VM, to be edited."""
    import yaml

    machine = found.setup
    head = {
        "title": f"Disks of a {machine.vm_size}",
        "region": machine.region,
        **({"zone": machine.zone} if machine.zone else {}),
        "vm": machine.vm_size,
        "disks": {row["disk"]: _entry(row) for row in _disks(found)},
        "workloads": _EXAMPLE,
    }
    return _INTRODUCTION + yaml.safe_dump(head, sort_keys=False)


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    """A disk as :class:`azbenchlib.campaign.spec.Disk` takes it."""
    from azbenchlib.campaign.spec import PROVISIONED

    size, rate, caching = row["size_bytes"], row["provisioned_bytes_per_s"], row["host_caching"]
    told = {
        "sku": row["sku"],
        "size": size and f"{size // GIB}GiB",
        "iops": row["provisioned_iops"],
        "mbps": rate and round(rate / MB),
        "caching": None if row["sku"] in PROVISIONED else caching,  # they have none to choose
    }
    said = {key: told[key] for key in _SAID.get(row["role"], ()) if told[key] is not None}
    count = {"count": row["count"]} if (row["count"] or 1) > 1 else {}
    return {"role": row["role"], **said, **count}


def _print_table(found: Detected) -> None:
    machine = found.setup
    console = Console(highlight=False)
    zone = f", zone {machine.zone}" if machine.zone else ""
    console.print(f"{machine.vm_size} in {machine.region}{zone}; {machine.os}", markup=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for name in ("Disk", "SKU", "Tier", "Size", "Caching", "IOPS", "MB/s", "Device"):
        table.add_column(name, justify="right" if name in ("Size", "IOPS", "MB/s") else "left")
    for row in _disks(found):
        cells = (
            row["disk"] if row["role"] != "ephemeral_os" else f"{row['disk']} (ephemeral)",
            row["sku"],
            row["tier"],
            _shown(row["size_bytes"], format_size),
            row["host_caching"],
            _shown(row["provisioned_iops"], format_count),
            _shown(row["provisioned_bytes_per_s"], format_mbps),
            ", ".join(_devices(found, row["disk"])) or "not found",
        )
        table.add_row(*(Text(cell or "") for cell in cells))
    console.print(table)


def _shown(value: float | None, form: Callable[[float], str]) -> str:
    return "" if value is None else form(value)
