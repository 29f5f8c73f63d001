"""The verb that knows ceilings: `azbench limits`."""

from __future__ import annotations

import math
from datetime import date
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from azbenchlib.cli.options.setup_options import (
    DayOption,
    DiskOption,
    SetupArgument,
    VmOption,
    checked_setup,
    described_setup,
)
from azbenchlib.cli.printing.console import notes, print_json
from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core import stated_values
from azbenchlib.core.units import MB, format_count, format_mbps, format_size

if TYPE_CHECKING:
    from azbenchlib.model import Ceiling, Setup

_READS = 1.0  # the share of reads where none is given: reads have the highest ceilings
BLOCK_SIZES = "4k,8k,16k,64k,256k,1M"
_BAR = 24  # characters of the longest bar
_WIDE = 116  # characters of a table of base and burst with the bars
_DRAWN = 6  # lines that one figure tells apart


class LimitsFormat(StrEnum):
    """What `azbench limits` prints."""

    table = "table"
    json = "json"


def limits(
    setup: SetupArgument = None,
    vm: VmOption = None,
    disk: DiskOption = None,
    bs: Annotated[
        str, typer.Option("--bs", help="Block sizes such as 4k, which is 4KiB, comma-separated.")
    ] = BLOCK_SIZES,
    read_share: Annotated[
        str | None,
        typer.Option(
            help="Share of reads, 0.7 or 70%; writes are the rest. Default: 100%, reads only "
            "(`azbench advise` assumes 70%)."
        ),
    ] = None,
    as_of: DayOption = None,
    format_: Annotated[LimitsFormat, typer.Option("--format", help="What to print.")] = LimitsFormat.table,
    plot: Annotated[Path | None, typer.Option(help="Write the roofline as SVG to this file.")] = None,
) -> None:
    """Show the most that a VM with its disks can deliver, and which limit binds at each block size."""
    if setup is not None:
        checked_setup(setup)
    from azbenchlib.model import ceilings, host_caching, size_remarks
    from azbenchlib.model.fill_from_catalogue import resolve, unknown_figures

    sizes = sorted({stated_values.block("--bs", part) for part in bs.split(",")})
    stated, day = described_setup(setup, vm, disk or [], as_of), as_of or date.today().isoformat()
    full, remark = resolve(stated, day, open_figures=True), host_caching.remark(stated, day)
    remarks = [remark] if remark else []
    remarks += [f"{one}, so its own limits are not among these" for one in unknown_figures(full)]
    remarks += [finding.message for finding in size_remarks.findings(stated, day)]
    share = _READS if read_share is None else stated_values.share("--read-share", read_share)
    if read_share is None:
        notes.print(f"Note: {_READS:.0%} reads, as no --read-share is given")
    for remark in remarks:
        notes.print(f"Note: {remark}")
    found = ceilings(full, sizes, share)
    if format_ is LimitsFormat.json:
        print_json(_document(full, found) | {"notes": remarks})
    else:
        _print_tables(full, found, share)
    if plot is not None:
        _plot(full, found, share, plot)


def _document(setup: Setup, found: list[Ceiling]) -> dict[str, Any]:
    """MB/s is 10⁶ B/s; what is not documented is null."""
    return {
        "as_of": setup.as_of,
        "vm_size": setup.vm.size,
        "disks": [_disk_record(disk) for disk in setup.disks],
        "ceilings": [_record(row) for row in found],
        "vm_limits": [limit._asdict() for limit in _statements(setup)],
    }


def _record(row: Ceiling) -> dict[str, Any]:
    mbps = None if row.bytes_per_s is None else row.bytes_per_s / MB
    record = {**vars(row), "mbps": mbps, "binding": list(row.binding)}
    del record["bytes_per_s"]
    return record


def _disk_record(disk: Any) -> dict[str, Any]:
    bursts = any(disk.cap.bursts(quantity) for quantity in ("iops", "bytes_per_s"))
    shown = {name: value for name, value in vars(disk).items() if name != "on_demand_cap"}
    return {
        **shown,
        "cap": {name: getattr(disk.cap, name) for name in disk.cap.names()}
        | {"burst_kind": str(disk.cap.burst_kind) if bursts else None},
    }


def _statements(setup: Setup) -> list[Any]:
    from azbenchlib.model.fill_from_catalogue import statements

    return statements(setup.vm.size, setup.as_of) if setup.vm.size and setup.as_of else []


def _print_tables(setup: Setup, found: list[Ceiling], share: float) -> None:
    """A table a volume and path: base, and burst beside it where there is one."""
    console = Console(highlight=False)
    most = max((row.iops for row in found if row.iops), default=1.0)
    console.print(f"{setup.vm.size or 'No VM limits'}, limits of {setup.as_of}, {share:.0%} reads")
    for title, group in groupby(found, key=_title):
        console.print(f"\n{title}")
        console.print(_table(list(group), most, not console.is_terminal or console.width >= _WIDE))
    _tell_sources(setup)


def _title(row: Ceiling) -> str:
    return row.scope if row.path == row.scope else f"{row.scope}, {row.path}"


def _table(rows: list[Ceiling], most: float, wide: bool) -> Table:
    """A row a block size; the bars only where they leave the names of the limits whole."""
    table = Table(box=None, pad_edge=False, caption=_crossovers(rows), caption_justify="left")
    levels = [list(group) for _, group in groupby(rows, key=lambda row: row.level)]
    table.add_column("Block", justify="right", no_wrap=True)
    for level in levels:
        before = "Burst " if level[0].level == "burst" else ""
        table.add_column(f"{before}IOPS", justify="right", no_wrap=True)
        table.add_column("MB/s", justify="right", no_wrap=True)
        table.add_column("Bound by", overflow="fold")
    bars = wide or len(levels) == 1
    if bars:
        table.add_column("Roofline (log)", no_wrap=True)
    for same_size in zip(*levels, strict=True):
        cells = [format_size(same_size[0].bs_bytes)]
        for row in same_size:
            cells += [
                _text(row.iops, format_count),
                _text(row.bytes_per_s, format_mbps),
                ", ".join(label.display_name for label in row.binding),
            ]
        if bars:
            cells.append(_bar(same_size[-1].iops, most))
        table.add_row(*map(Text, cells))
    return table


def _crossovers(rows: list[Ceiling]) -> str:
    """Where each level turns from IOPS to MB/s, in words."""
    turns = {row.level: row.crossover_bytes for row in rows if row.crossover_bytes}
    return "; ".join(
        f"{level}: IOPS limit up to {format_size(size)}, then MB/s" for level, size in turns.items()
    )


def _text(value: float | None, form: Any) -> str:
    return "not documented" if value is None else str(form(value))


def _bar(iops: float | None, most: float) -> str:
    """A bar on a log scale from 10 IOPS up."""
    if iops is None or iops <= 10:
        return ""
    return "█" * max(1, round(_BAR * math.log10(iops / 10) / math.log10(max(most, 100) / 10)))


def _tell_sources(setup: Setup) -> None:
    """Which catalogue rows the VM's limits are from, to stderr."""
    from azbenchlib.azure import catalog

    by_source: dict[str, list[str]] = {}
    for limit in _statements(setup):
        by_source.setdefault(limit.source_id, []).append(limit.name)
    for source, names in by_source.items():
        notes.sentence(f"{source} of {catalog.source(source).date}: {', '.join(names)}")


def _plot(setup: Setup, found: list[Ceiling], read_share: float, path: Path) -> None:
    """The first six lines, with the corners among their points."""
    import pandas as pd

    from azbenchlib.core.files import write_atomically
    from azbenchlib.model import ceilings
    from azbenchlib.plots.drawing.style import WIDE, Series
    from azbenchlib.plots.roofline import roofline, standalone

    low, high = min(row.bs_bytes for row in found), max(row.bs_bytes for row in found)
    corners = {round(row.crossover_bytes) for row in found if row.crossover_bytes}
    steps = {2**power for power in range(9, 31)} | corners | {row.bs_bytes for row in found}
    rows = pd.DataFrame(
        [
            vars(row) | {"series": _line(row)}
            for row in ceilings(setup, sorted(s for s in steps if low <= s <= high), read_share)
        ]
    )
    names = list(dict.fromkeys(rows["series"]))
    if len(names) > _DRAWN:
        notes.print(
            f"the figure shows {_DRAWN} of {len(names)} lines; left out: {', '.join(names[_DRAWN:])}",
        )
    series = [Series(name, name, name, i) for i, name in enumerate(names[:_DRAWN])]
    write_atomically(path, standalone(roofline(rows, series, WIDE)).encode())
    notes.print(f"Roofline: {path}")


def _line(row: Ceiling) -> str:
    return _title(row) + (", burst" if row.level == "burst" else "")
