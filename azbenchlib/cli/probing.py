"""The verb that finds out what a disk is: `azbench probe`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from azbenchlib.cli.options.azure_options import ResultsGroupOption, VmIdOption, check_vm_id
from azbenchlib.cli.options.setup_options import (
    DayOption,
    PrintFormat,
    PrintOption,
    VmOption,
    described_setup,
)
from azbenchlib.cli.printing.console import notes, print_json, say
from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core import stated_values
from azbenchlib.core.errors import InputError
from azbenchlib.core.printable import one_line
from azbenchlib.core.units import S_PER_MIN

if TYPE_CHECKING:
    from azbenchlib.model import Setup
    from azbenchlib.probing.naming import Named
    from azbenchlib.probing.portrait import Portrait
    from azbenchlib.probing.session import Probe
    from azbenchlib.probing.stages import Stages

AZURE = "azure"


def probe(
    target: Annotated[
        str,
        typer.Argument(
            help="A directory or a block device of this machine, ssh:USER@HOST[:PORT], azure with --vm-id, "
            "or lab with --disk."
        ),
    ],
    minutes: Annotated[float, typer.Option(min=0.1, help="How long all runs may take together.")] = 12.0,
    runs: Annotated[int, typer.Option(min=1, max=200, help="How many runs there may be.")] = 12,
    seconds: Annotated[float, typer.Option(min=1, max=600, help="How long each run lasts.")] = 10.0,
    size: Annotated[str, typer.Option(help="How much data is touched, such as 8GiB.")] = "1GiB",
    drain: Annotated[
        float,
        typer.Option(
            min=0,
            max=600,
            help="Minutes at full load, for each of two caps, in which burst credits are spent; 0: none.",
        ),
    ] = 0.0,
    cache: Annotated[
        bool, typer.Option("--cache", help="Look for a cache that holds less than the data (--size).")
    ] = False,
    fsync: Annotated[
        bool, typer.Option("--fsync", help="Measure what an fsync after each write costs.")
    ] = False,
    jobs: Annotated[
        bool, typer.Option("--jobs", help="Compare one job with four, on the same data and on a file each.")
    ] = False,
    directory: Annotated[
        str, typer.Option(help="With ssh: an absolute path on the host; default: the home of the login.")
    ] = "",
    vm_id: VmIdOption = "",
    results_group: ResultsGroupOption = False,
    vm: VmOption = None,
    disk: Annotated[
        list[str] | None,
        typer.Option(
            help="With lab: what is emulated, such as P30. With azure: the name of a data disk of the VM, "
            "lun0, os, temp or nvme; default: the only data disk."
        ),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="With azure: drive the bare disk, without a file system.")
    ] = False,
    as_of: DayOption = None,
    allow: Annotated[
        str, typer.Option(help="The words that permit a target which is refused; the refusal names them.")
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Dataset folder to write; an unfinished probe is taken up."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Probe anew where the folder holds a probe.")
    ] = False,
    format_: PrintOption = PrintFormat.text,
) -> None:
    """Find out what a disk is: its caps, latencies and how it counts I/Os, each with a 95 % interval.

    Short fio runs, each of which is the one that is expected to tell most per second. The data of a block
    device is overwritten; one that holds any is refused.
    """
    check_vm_id(vm_id, target, results_group)
    described = _setup(target, vm, disk or [], raw, as_of)
    size_bytes = stated_values.size("--size", size)
    from azbenchlib.campaign import probing
    from azbenchlib.model.documented_limits import documented
    from azbenchlib.probing import text
    from azbenchlib.probing.naming import names
    from azbenchlib.probing.runs import candidates
    from azbenchlib.probing.session import Probe
    from azbenchlib.probing.to_json import document

    limits = documented(as_of or date.today().isoformat())  # a wrong day is told before anything is measured
    asked = probing.ProbeRequest(
        target=target,
        directory=directory,
        vm_id=vm_id,
        disk="".join(disk or []) if target == AZURE else "",
        raw=raw,
        results_group=results_group,
        setup=described,
        size_bytes=size_bytes,
        seconds=seconds,
        allow_unsafe=allow,
    )
    session = Probe(runs=candidates(seconds), most_runs=runs, most_s=minutes * S_PER_MIN)
    folder = output or Path("datasets") / probing.dataset_name(target)
    stages = probing.stages_of(asked, cache=cache, fsync=fsync, jobs=jobs, drain_minutes=drain)
    if stages.drain:
        notes.sentence(text.drain_cost(stages.drain))
    found = probing.probe(asked, folder, session, _tell, fresh, stages.all_)
    named = names(found, limits, probing.disk_bytes(target, folder), seconds)
    told = document(session, found, named, stages)
    probing.keep(folder, told)
    if format_ is PrintFormat.json:
        print_json({"dataset": str(folder), **told})
    else:
        _print(session, found, named, stages)
    notes.print(f"Dataset: {folder}")


def _tell(done: int, total: int, text: str) -> None:
    """How far it is; on stderr, so that stdout is the result alone."""
    notes.print(one_line(text))


def _setup(target: str, vm: str | None, disks: Sequence[str], raw: bool, as_of: str | None) -> Setup | None:
    """What is emulated; what is for another target is refused."""
    if raw and target != AZURE:
        raise InputError(f"target '{target}': --raw is for the target azure")
    if target == "lab":
        return described_setup(None, vm, list(disks), as_of)
    if vm:
        raise InputError(f"target '{target}': --vm is for the target lab")
    if disks and target != AZURE:
        raise InputError(f"target '{target}': --disk is for the targets lab and azure")
    if len(disks) > 1:
        raise InputError(f"--disk {' --disk '.join(disks)}: a probe is of one disk; name one")
    return None


def _print(session: Probe, found: Portrait, named: Sequence[Named], stages: Stages) -> None:
    from azbenchlib.probing import text

    console = Console(highlight=False)
    numbers = {shown.run.name: str(i) for i, shown in enumerate(session.shown, 1)}
    table = _table(("Property", "left"), ("Value", "right"), ("95 % interval", "left"), ("Runs", "left"))
    for figure in found.figures:
        value, between = text.told(figure)
        runs = ", ".join(numbers[name] for name in figure.runs)
        table.add_row(*map(Text, (text.label(figure.key), value, between, runs)))
    console.print(table)
    say("")
    for sentence in text.sentences(found):
        console.print(Text(sentence))
    for sentence in text.told_by(stages, found):
        console.print(Text(sentence))
    if named:
        say("\nIt may be")
    for one in named:
        console.print(Text(f"  {text.sure(one.probability)} {text.name_of(one)}"))
    say("\nNot learnt")
    for what, minutes in text.unlearnt(found, session.spent_s, stages):
        cost = f" To learn it: about {minutes:.0f} min." if minutes and minutes >= 1 else ""
        console.print(Text(f"  {what}{cost}"))
    _print_runs(console, session)


def _print_runs(console: Console, session: Probe) -> None:
    from azbenchlib.probing import text

    say("")
    table = _table(("Run", "right"), ("Load", "left"), ("Showed", "right"), ("Nats expected", "right"))
    for i, (shown, worth) in enumerate(zip(session.shown, session.worth, strict=True), 1):
        table.add_row(*map(Text, text.run_line(i, shown, worth)))
    console.print(table)


def _table(*columns: tuple[str, str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name, justify in columns:
        table.add_column(name, justify="right" if justify == "right" else "left")
    return table
