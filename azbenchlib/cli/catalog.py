"""The verbs of the catalogue: `azbench catalog show`, `refresh` and `drift`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from azbenchlib.azure import disk_kinds
from azbenchlib.cli.drift import drift
from azbenchlib.cli.options.payment_options import CurrencyOption
from azbenchlib.cli.printing.console import notes, print_json
from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.azure.catalog import Limit, ProvisionedRules, TierRow, VmRow

catalog = typer.Typer(no_args_is_help=True, help="Azure's documented limits, with their dates and sources.")
catalog.command()(drift)

# A page's "MB" may be one of these in the API, of the same figure. Source: the API's values beside the
# pages', 2026-08-17.
_MB_READINGS = {1.024: "MB of 1,024,000 B", 1.048576: "MiB"}


class ShowFormat(StrEnum):
    """What `azbench catalog show` prints."""

    table = "table"
    json = "json"


@catalog.command()
def show(
    name: Annotated[str, typer.Argument(help="A VM size, a disk tier, or UltraSSD or PremiumV2.")],
    as_of: Annotated[str | None, typer.Option(help="Day for which to answer; default today.")] = None,
    format_: Annotated[ShowFormat, typer.Option("--format", help="What to print.")] = ShowFormat.table,
) -> None:
    """Show the limits of a VM size (E8ds_v4), a disk tier (P30) or a provisioned disk (UltraSSD)."""
    from azbenchlib.azure.catalog import disk_tier, provisioned_rules, vm

    tier = disk_kinds.of_tier(name) is not None
    if tier or _provisioned(name):
        row = disk_tier(name, as_of) if tier else provisioned_rules(name, as_of)
        if format_ is ShowFormat.json:
            _print_json(asdict(row) | {"source": _source(row.source_id)})
        else:
            _print_disk(row)
        return
    size = vm(name, as_of)
    if format_ is ShowFormat.json:
        _print_json(_vm_document(size))
    else:
        _print_vm(size)


@catalog.command()
def refresh(
    location: Annotated[
        str, typer.Option("--location", "--region", help="Region to read, such as westeurope.")
    ],
    prices: Annotated[
        bool, typer.Option("--prices", help="Read its prices (public, no login) instead of its VM sizes.")
    ] = False,
    currency: CurrencyOption = "USD",
) -> None:
    """Ask Azure for the VM sizes of a region, with limits, zones and restrictions, or for its prices; lookups
    use the answer from then on.
    """
    if prices:
        from azbenchlib.azure.prices.refresh import refresh as read_prices

        notes.print(f"Prices: {read_prices(location, currency=currency.upper())}")
        return
    if currency != "USD":
        raise InputError("--currency is of prices: write --prices too")
    from azbenchlib.azure.az import Az
    from azbenchlib.azure.catalog.refresh import refresh as read_region

    written = read_region(location, Az.find())
    notes.print(f"Catalogue: {written}")


def _source(source_id: str) -> dict[str, str]:
    from azbenchlib.azure.catalog import source

    return asdict(source(source_id))


def _print_json(document: dict[str, Any]) -> None:
    print_json(document)


def _vm_document(row: VmRow) -> dict[str, Any]:
    """The size; of each limit the statement that counts (null: none on that day) and the others."""
    document = asdict(row)
    document["limits"] = {}
    for name in dict.fromkeys(limit.name for limit in row.limits):
        best = row.best(name)
        document["limits"][name] = {
            "best": best and best._asdict(),
            "conflicts": [limit._asdict() for limit in row.conflicts(name)],
        }
    sources = {row.caching_source or "", *(limit.source_id for limit in row.limits)} - {""}
    document["sources"] = {used: _source(used) for used in sorted(sources)}
    return document


def _print_vm(row: VmRow) -> None:
    from azbenchlib.azure.catalog import LIMITS

    table = _table("limit")
    remarks: dict[str, list[str]] = defaultdict(list)
    for name in LIMITS:
        best, others = row.best(name), row.conflicts(name)
        if best is not None:
            table.add_row(Text(name), *_cells(best))
        elif others:
            table.add_row(Text(name), f"not stated for {row.as_of}", "", "", "")
        for other in others:
            label = "  also" if other.holds(row.as_of) else "  another time"
            table.add_row(label, *_cells(other, best), style="dim")
        for limit in filter(None, (best, *others)):
            if limit.note and name not in remarks[limit.note]:
                remarks[limit.note].append(name)
    console = Console(highlight=False)
    console.print(f"{row.size} on {row.as_of}: {', '.join(_properties(row))}", markup=False, soft_wrap=True)
    console.print(table)
    for remark, names in remarks.items():
        console.print(f"{remark}: {', '.join(names)}", markup=False, style="dim", soft_wrap=True)


def _properties(row: VmRow) -> list[str]:
    """What is known of the size beside its limits."""
    from azbenchlib.core.units import format_size

    caching = {True: "caches data disks", False: "no cache for data disks", None: "caching not stated"}
    cache = caching[row.caching] + (f" ({row.caching_source})" if row.caching_source else "")
    if row.caching and not row.cached_limit_documented:
        cache += " with no documented cached limit"
    vcpus = f"{row.vcpus_available or row.vcpus} vCPUs" if row.vcpus else ""
    if vcpus and row.vcpus_available not in (None, row.vcpus):
        vcpus += f" of {row.vcpus}"
    known = (
        vcpus,
        f"{format_size(row.memory_bytes)} memory" if row.memory_bytes else "",
        f"{row.max_data_disks} data disks" if row.max_data_disks else "",
        "no Premium storage" if row.premium_io is False else "",
        cache,
        f"ephemeral OS disk on {', '.join(row.ephemeral_placements)}" if row.ephemeral_placements else "",
        f"{' or '.join(row.interface)}" if row.interface else "",
        f"{row.architecture} CPU" if row.architecture else "",
        f"retires on {row.retires_on} ({row.retirement_source})" if row.retires_on else "",
        f"limits of {row.parent}" if row.parent else "",
    )
    return [text for text in known if text]


def _provisioned(name: str) -> bool:
    """Whether a name is meant for a kind of provisioned disks: its word or its SKU, with or without more."""
    starts = (start for kind in disk_kinds.managed() if kind.provisioned for start in (kind.word, kind.sku))
    return name.lower().startswith(tuple(start.lower() for start in starts if start))


def _print_disk(row: TierRow | ProvisionedRules) -> None:
    """One line a figure; what has no figure is not stated."""
    from azbenchlib.azure.catalog import TierRow

    table = _table("limit")
    for name in (field.name for field in fields(row)):
        value = getattr(row, name)
        if isinstance(value, int | float):
            human, exact = _figure(value, name)
            table.add_row(Text(name), human, exact, _span(row.valid_from, row.valid_to), _said(row.source_id))
    console = Console(highlight=False)
    console.print(f"{row.name}, {row.sku}" if isinstance(row, TierRow) else row.sku)
    console.print(table)
    if row.note:
        console.print(row.note, markup=False, style="dim", soft_wrap=True)


def _table(first: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(first, no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("exactly", justify="right", no_wrap=True)
    table.add_column("valid")
    table.add_column("source", overflow="fold")
    return table


def _cells(limit: Limit, best: Limit | None = None) -> tuple[Text, ...]:
    human, exact = _figure(limit.value, limit.name)
    reading = _reading(limit.value, best.value) if best and limit.unit == "B/s" else ""
    return tuple(
        map(Text, (human, exact, _span(limit.valid_from, limit.valid_to), _said(limit.source_id) + reading))
    )


def _figure(value: float, name: str) -> tuple[str, str]:
    """The value as people say it, and in base units where that is something else."""
    from azbenchlib.azure.catalog.rows import OVER_NVME
    from azbenchlib.core.units import format_count, format_mbps, format_size

    kind = name.removesuffix(OVER_NVME)
    if "bytes_per_s" in kind:
        unit = "MB/s per IOPS" if kind.endswith("per_iops") else "MB/s"
        return f"{format_mbps(value)} {unit}", f"{value:,.10g} B/s"
    if kind.endswith("_bytes"):
        return format_size(value), f"{value:,} B"
    if kind.endswith("_s"):
        return f"{value:,} s", ""
    unit = " IOPS/GiB" if kind.endswith("per_gib") else " IOPS" if "iops" in kind else ""
    return f"{format_count(value)}{unit}", ""


def _span(valid_from: str | None, valid_to: str | None) -> str:
    if valid_from and valid_to:
        return f"{valid_from} to {valid_to}"
    return f"from {valid_from}" if valid_from else f"until {valid_to}" if valid_to else "no change known"


def _said(source_id: str) -> str:
    return f"{source_id}, {_source(source_id)['date']}"


def _reading(value: float, best: float) -> str:
    """Whether two values are one printed figure in two units of "MB"."""
    for factor, unit in _MB_READINGS.items():
        if value and abs(best / value / factor - 1) < 1e-4:
            return f"; the same figure, as {unit}"
    return ""
