"""The verb that finds out what a disk is: `azbench probe`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from azbenchlib.cli.options.azure_options import ResultsGroupOption, VmIdOption, check_vm_id
from azbenchlib.cli.options.demand_options import SizeOption
from azbenchlib.cli.options.setup_options import DayOption, DiskOption, VmOption, described_setup
from azbenchlib.cli.printing.answer_output import FormatOption, OutputFormat, show
from azbenchlib.cli.printing.console import notes, print_json
from azbenchlib.core.printable import one_line


def probe(
    target: Annotated[
        str,
        typer.Argument(
            help="A directory or a block device of this machine, ssh:USER@HOST[:PORT], exec:COMMAND, azure "
            "with --vm-id, or lab with --disk."
        ),
    ],
    minutes: Annotated[float, typer.Option(min=0.1, help="How long all runs may take together.")] = 12.0,
    runs: Annotated[int, typer.Option(min=1, max=200, help="How many runs there may be.")] = 12,
    seconds: Annotated[float, typer.Option(min=1, max=600, help="How long each run lasts.")] = 10.0,
    size: SizeOption[str] = "1GiB",
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
        str, typer.Option(help="With ssh and exec: an absolute path on the host; default: the home there.")
    ] = "",
    vm_id: VmIdOption = "",
    results_group: ResultsGroupOption = False,
    vm: VmOption = None,
    disk: DiskOption = None,
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
    format_: FormatOption = OutputFormat.text,
) -> None:
    """Find out what a disk is: its caps, latencies and how it counts I/Os, each with a 95 % interval.

    Short fio runs, each of which is the one that is expected to tell most per second. The data of a block
    device is overwritten; one that holds any is refused.

    With lab, --disk is what is emulated. With azure, it is the name of a data disk of the VM, lun0, os, temp
    or nvme; default: the only data disk.
    """
    check_vm_id(vm_id, target, results_group)
    from azbenchlib.answers.probe import ProbeAnswer
    from azbenchlib.campaign.probing import probe_into
    from azbenchlib.campaign.stated_probe import LAB_TARGET, ProbeTerms, stated_request

    asked = stated_request(
        target,
        setup=described_setup(None, vm, disk or [], as_of) if target == LAB_TARGET else None,
        vm=vm,
        disks=disk or [],
        size=size,
        seconds=seconds,
        directory=directory,
        vm_id=vm_id,
        raw=raw,
        results_group=results_group,
        allow=allow,
        dashes="--",
    )
    terms = ProbeTerms(
        minutes=minutes, runs=runs, drain=drain, cache=cache, fsync=fsync, jobs=jobs, as_of=as_of
    )
    answer = ProbeAnswer.load(probe_into(output, asked, terms, _tell, fresh))
    if format_ is OutputFormat.json:
        print_json(answer.to_dict())  # its texts are those of the dataset, to the letter
    else:
        show(answer, format_)
    notes.print(f"Dataset: {answer.dataset}")


def _tell(done: int, total: int, text: str) -> None:
    """How far it is; on stderr, so that stdout is the result alone."""
    notes.sentence(one_line(text))
