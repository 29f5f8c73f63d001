"""The verbs of the emulated disk: `azbench lab start` and `azbench lab watch`."""

from __future__ import annotations

import shlex
import signal
import time
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from azbenchlib.cli import lab_run
from azbenchlib.cli.options.measuring_options import CreditSecondsOption, TimeScaleOption
from azbenchlib.cli.options.setup_options import (
    DayOption,
    DiskOption,
    SetupArgument,
    VmOption,
    described_setup,
)
from azbenchlib.cli.printing.console import notes
from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core import stated_values
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.core.units import KIB, MIB, US_PER_S, format_count, format_mbps, format_size, format_us

if TYPE_CHECKING:
    from azbenchlib.lab.lab import Lab
    from azbenchlib.model import Ceiling

app = typer.Typer(no_args_is_help=True, help="Emulated Azure disks on this machine, for fio to drive.")

_TICK_S = 0.05  # how often I/Os that must wait pass with --tick; our assumption
_POLL_S = 0.25
_BLOCK_SIZES = (4 * KIB, MIB)  # at the first IOPS are largest, at the last MB/s


@app.command()
def start(
    setup: SetupArgument = None,
    vm: VmOption = None,
    disk: DiskOption = None,
    as_of: DayOption = None,
    credit_seconds: CreditSecondsOption[float] = 1800,
    time_scale: TimeScaleOption = None,
    tick: Annotated[bool, typer.Option("--tick", help="Release waiting I/Os only every 50 ms.")] = False,
    cache_size: Annotated[
        str | None, typer.Option(help="Size of the host cache, such as 1GiB; default: the VM's own.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Also listen on this port, where every local user can connect."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Folder of data, socket and live log; default: a temporary one.")
    ] = None,
) -> None:
    """Emulate a VM with its disks until Ctrl-C, and print what fio needs to drive them."""
    from azbenchlib.lab import dilation
    from azbenchlib.lab.engine.virtual_machine import Options
    from azbenchlib.lab.lab import Lab
    from azbenchlib.model.fill_from_catalogue import resolve, unknown_figures

    dilation.check(time_scale)
    full = resolve(described_setup(setup, vm, disk or [], as_of), as_of or date.today().isoformat())
    for one in unknown_figures(full):
        notes.print(f"Note: {one}; it is emulated with those that its size includes")
    options = Options(
        credit_s=credit_seconds,
        tick_s=_TICK_S if tick else 0.0,
        cache_bytes=stated_values.size("--cache-size", cache_size) if cache_size else None,
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite end is an interrupt
    try:
        with Lab(full, options, time_scale=time_scale, folder=folder, port=port) as lab:
            _print(lab)
            _wait(lab)
    except KeyboardInterrupt:
        notes.print("The lab has ended.")


@app.command()
def watch(
    path: Annotated[
        Path | None, typer.Argument(help="Socket, folder or live log of a lab; default: the one that runs.")
    ] = None,
) -> None:
    """Show what a running lab does: rates, queues, cache hits, credits, and which limits bind."""
    from azbenchlib.cli.printing.lab_view import follow

    log = _log_of(path)
    notes.print(f"{log}, until Ctrl-C")
    try:
        follow(log)
    except KeyboardInterrupt:
        return
    notes.print("The lab has ended.")


app.command()(lab_run.run)
app.command()(lab_run.mount)


def _log_of(path: Path | None) -> Path:
    from azbenchlib.lab.server import live_log

    if path is None:
        found = live_log.running()
        if not found:
            raise InputError("no lab is running in a temporary folder; start one with `azbench lab start`")
        if len(found) > 1:
            notes.print(f"{len(found)} labs are running; this is the newest")
        return found[0]
    if path.is_dir():
        return path / live_log.LIVE_LOG
    return path.with_name(live_log.LIVE_LOG) if path.is_socket() else path


def _wait(lab: Lab) -> None:
    """Pass on what the server has to say, until it ends or we are interrupted."""
    while lab.alive():
        for sentence in lab.warnings():
            notes.print(sentence)
        time.sleep(_POLL_S)
    raise AzbenchError(lab.fault())


def _print(lab: Lab) -> None:
    from azbenchlib.campaign import doctor

    console = Console(highlight=False)
    setup = lab.setup
    title = f"{setup.vm.size or 'No VM limits'}, emulated with the limits of {setup.as_of}"
    console.print(
        Panel(Group(_table(lab), Text(f"\n{_dilation(lab)}")), title=Text(title), title_align="left")
    )
    if lab.port is not None:
        notes.print(f"Port {lab.port} of 127.0.0.1 is open: every user of this machine can connect.")
    for volume in lab.sizes:
        console.print(f"\n{shlex.join(_fio(lab, volume))}", markup=False, soft_wrap=True)
    console.print(f"\nazbench lab watch {shlex.quote(str(lab.folder))}", markup=False, soft_wrap=True)
    check = doctor.fio_nbd()
    if not check.ok:
        notes.print(
            f"\nThis machine's fio has no nbd engine, which these commands need; {check.remedy}", markup=False
        )
    notes.print("\nThe lab runs until Ctrl-C; its data is deleted then.")


def _table(lab: Lab) -> Table:
    """A line a volume: size, caching, and the most that it alone delivers."""
    from azbenchlib.model import ceilings

    caching = {volume.name: volume.disk.caching for volume in lab.setup.volumes()}
    rows = ceilings(lab.setup, _BLOCK_SIZES)
    table = Table(box=None, pad_edge=False)
    for name in ("Volume", "Size", "Caching", "IOPS", "MB/s"):
        table.add_column(name, justify="left" if name in ("Volume", "Caching") else "right")
    for volume, size in lab.sizes.items():
        own = [row for row in rows if row.scope == volume]
        iops, rate = _most(own, "iops"), _most(own, "bytes_per_s")
        table.add_row(*map(Text, (volume, format_size(size), caching[volume], iops, rate)))
    return table


def _most(rows: list[Ceiling], quantity: str) -> str:
    """The most in IOPS or MB/s, with the burst where that is more; what is not documented limits nothing."""
    form = format_count if quantity == "iops" else format_mbps
    levels = {}
    for level in ("base", "burst"):
        known = [getattr(row, quantity) for row in rows if row.level == level]
        levels[level] = max((value for value in known if value), default=None)
    base, burst = levels["base"], levels["burst"]
    if base is None:
        return "no limit"
    return f"{form(base)}, burst {form(burst)}" if burst and burst > base else form(base)


def _dilation(lab: Lab) -> str:
    """What time dilation means here, in a sentence."""
    floor = f"the way to the disk and back takes {format_us(lab.floor_s * US_PER_S)} here"
    if lab.time_scale == 1:
        return f"Real time: this machine keeps up with these disks; {floor}."
    k = format_count(lab.time_scale)
    return (
        f"Time dilation {k}x: everything takes {k} times as long as on the real disks, so that this machine "
        f"keeps up; {floor}. Divide latencies by {k} and multiply IOPS and MB/s by {k}."
    )


def _fio(lab: Lab, volume: str) -> list[str]:
    """A command line that works as it is; `azbench read` understands what it prints."""
    size = min(lab.sizes[volume], 1024 * MIB) // MIB
    return [
        *("fio", "--name=lab", "--ioengine=nbd", f"--uri={lab.uri(volume)}"),
        *("--rw=randread", "--bs=4k", "--iodepth=32", f"--size={size}m"),
        *("--time_based", "--runtime=30"),
    ]
