"""The verb that says what this machine is: `azbench setup detect`."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from azbenchlib.cli.printing.console import print_json, say, working
from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.units import format_count, format_mbps, format_size

if TYPE_CHECKING:
    from azbenchlib.campaign.detect.detect import Detected

setup = typer.Typer(no_args_is_help=True, help="Describe the VM and the disks that are measured.")


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
    """Show which Azure VM this machine is, with its disks, their caching and their devices.

    The exit code is 2 if this machine is no Azure VM.
    """
    from azbenchlib.campaign.detect import detect as library
    from azbenchlib.campaign.detect.to_measurement_file import measurement_file

    with working("Asking the metadata service"):
        found = library.detect()
    if found is None:
        raise AzbenchError(
            "no Azure metadata service answered: this is not an Azure VM, or access to 169.254.169.254 is "
            "blocked"
        )
    if format_ is DetectFormat.json:
        print_json(_document(found))
    elif format_ is DetectFormat.yaml:
        say(measurement_file(found).rstrip("\n"))
    else:
        _print_table(found)


def _document(found: Detected) -> dict[str, Any]:
    """The row of the table setups, with those of the table disks and the devices of each; null: not told."""
    machine = found.setup.model_dump(exclude={"disks", "folder"})
    return machine | {"disks": [row | {"devices": _devices(found, row["disk"])} for row in _disks(found)]}


def _disks(found: Detected) -> list[dict[str, Any]]:
    """Every column of the table disks, checked."""
    from azbenchlib.core import schema

    rows = schema.records(schema.frame("disks", [disk.to_row() for disk in found.setup.disks]))
    return [{name: value for name, value in row.items() if name != "setup_id"} for row in rows]


def _devices(found: Detected, disk: str) -> list[str]:
    return [str(device) for device in found.devices[disk]]


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
