"""The verb that sizes from telemetry: `azbench size`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from azbenchlib.cli.options import demand_options
from azbenchlib.cli.options.payment_options import PricesOption
from azbenchlib.cli.options.setup_options import DayOption, VmOption, opened
from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.answer_output import FormatOption, OutputFormat, show
from azbenchlib.cli.printing.console import notes, working
from azbenchlib.core.choices import DEFAULT_REGION
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import parse_duration

if TYPE_CHECKING:
    from azbenchlib.dataset.dataset import Dataset
    from azbenchlib.sizing.answer import SizeAnswer
    from azbenchlib.sizing.busiest import LabCheck
    from azbenchlib.sizing.telemetry import Telemetry


def size(
    telemetry: Annotated[
        list[str],
        typer.Argument(
            help="Outputs of iostat, sar, sadf, nmon, dstat, vmstat, node_exporter, perfmon or az monitor "
            "metrics list, averaged logs of fio; "
            "folders of them, or - for standard input. The loads of several hosts are added up, as on one VM."
        ),
    ],
    held_back: Annotated[
        str | None,
        typer.Option(
            help="How long the load may be throttled in all, such as 60s. Default: 60s, of longer telemetry."
        ),
    ] = None,
    within: Annotated[
        str | None, typer.Option(help="The same as a share of the time, such as 1%; with both, the less.")
    ] = None,
    headroom: demand_options.HeadroomOption = None,
    growth: Annotated[
        str | None, typer.Option(help="By how much the load will grow, such as 20%. Default: 0.")
    ] = None,
    size: demand_options.SizeOption[str | None] = None,
    latency: demand_options.LatencyOption = None,
    zrs: demand_options.ZrsOption = False,
    hit: demand_options.HitOption = None,
    vcpus: demand_options.VcpusOption = None,
    ram: demand_options.RamOption = None,
    vm: VmOption = None,
    arch: demand_options.ArchOption = None,
    burstable: demand_options.BurstableOption = False,
    any_family: demand_options.AnyFamilyOption = False,
    max_disks: demand_options.MaxDisksOption = None,
    strictly_cheapest: demand_options.StrictlyCheapestOption = False,
    device: Annotated[
        list[str] | None,
        typer.Option(
            help="Count only these devices, such as sdc or 'nvme*'; repeatable. Default: all disks."
        ),
    ] = None,
    interval: Annotated[
        str | None, typer.Option(help="How long each report is, such as 60s, where none has a time.")
    ] = None,
    burst_factor: Annotated[
        str | None,
        typer.Option(
            help="How many times the mean of its interval the load may be at a moment, such as 5. Default: "
            "not known."
        ),
    ] = None,
    probability: Annotated[
        str | None,
        typer.Option(
            help="Least probability that the load is throttled no longer; 0: as if the load of each interval "
            "came evenly. Default: 95%."
        ),
    ] = None,
    verify: Annotated[
        str | None,
        typer.Option(
            help="lab: fio replays the busiest hour on emulated disks of the recommended design and of the "
            "best cheaper one, in two minutes each."
        ),
    ] = None,
    region: demand_options.RegionOption[str | None] = None,
    prices: PricesOption = None,
    as_of: DayOption = None,
    report: demand_options.ReportOption = None,
    format_: FormatOption = OutputFormat.text,
) -> None:
    """Find a VM and disks for a system from its telemetry, the fewest disks within 5 % of the cheapest.

    Every interval is replayed in its order through all limits and credits. The answer tells how long the load
    is throttled, what the best of the cheaper designs would do and when, and what a percentile leads to.
    The exit code is 2 if a file is damaged and gives no report; the answer is from the others.
    """
    from azbenchlib.dataset.names import sorted_out

    sorted_out(telemetry)  # a wrong name is told before anything is loaded
    if verify not in (None, "lab"):
        raise InputError(f"--verify '{verify}' is not known; there is: lab")
    if interval is not None and not parse_duration(interval):
        raise InputError(f"--interval '{interval}' is not above 0")
    from azbenchlib.sizing.stated import terms

    stated = {
        "held_back": held_back, "within": within, "headroom": headroom, "growth": growth, "size": size,
        "latency": latency, "zrs": "yes" if zrs else None, "hit": hit, "vcpus": vcpus, "ram": ram, "vm": vm,
        "arch": arch, "burstable": "yes" if burstable else None, "any_family": "yes" if any_family else None,
        "max_disks": max_disks, "strictly_cheapest": "yes" if strictly_cheapest else None,
        "burst_factor": burst_factor, "probability": probability,
    }  # fmt: skip
    asked = terms(stated, dashes="--")
    read = _opened(telemetry)
    recorded = _recorded(read, device or [], interval)
    for missing, what in ((size, "--size"), (region, "--region")):
        if not missing:
            default = "any disk has room for the data" if what == "--size" else f"prices of {DEFAULT_REGION}"
            notes.print(f"Note: {default}, as no {what} is given")
    from azbenchlib.advisor.offers.load_market import market
    from azbenchlib.answers.size import Sized

    there = market(region or DEFAULT_REGION, own=prices, as_of=as_of)
    with working("Searching"):
        answer = asked.answer(recorded, there)
    show(Sized(answer, _checked(answer) if verify else ()), format_)
    if report is not None:
        from azbenchlib.views import size_report

        with working("Writing the report"):
            written = size_report.write(answer, report)
        notes.print(f"HTML: {written.html}\nPDF:  {written.pdf}")
    findings.end([read])


def _checked(answer: SizeAnswer) -> list[LabCheck]:
    """The recommended design and the best cheaper one, replayed on emulated disks."""
    from azbenchlib.campaign.lab_replay.lab_check import check_in_lab

    def tell(done: int, total: int, text: str) -> None:
        notes.print(text)

    return [
        check_in_lab(outcome.design, progress=tell)
        for outcome in (answer.best, answer.next_cheaper)
        if outcome is not None
    ]


def _opened(names: list[str]) -> Dataset:
    """All telemetry as one dataset; findings about files are told."""
    found = opened(names)
    from azbenchlib.dataset.dataset import Dataset

    merged = Dataset.merge(found)
    findings.tell_of_files(merged.tables)
    return merged


def _recorded(read: Dataset, devices: list[str], interval: str | None) -> Telemetry:
    """The load that the telemetry tells."""
    from azbenchlib.sizing.telemetry import telemetry

    return telemetry(read.tables, devices, None if interval is None else parse_duration(interval))
