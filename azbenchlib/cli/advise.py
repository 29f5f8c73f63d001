"""The verb that advises: `azbench advise`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from azbenchlib.advisor.demands import demand_file
from azbenchlib.advisor.demands.presets import PRESETS
from azbenchlib.cli import advise_many
from azbenchlib.cli.options import demand_options
from azbenchlib.cli.options.measuring_options import JobOption
from azbenchlib.cli.options.payment_options import (
    CurrencyOption,
    DiscountOption,
    DiskPay,
    DiskPayOption,
    Pay,
    PayOption,
    PricesOption,
    System,
    SystemOption,
    VmHoursOption,
    payment,
)
from azbenchlib.cli.options.setup_options import DayOption, VmOption, opened
from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.answer_output import FormatOption, OutputFormat, show
from azbenchlib.cli.printing.console import notes, say, working, write_job
from azbenchlib.core.choices import DEFAULT_REGION
from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.advisor.advise import Advice
    from azbenchlib.advisor.demands.achieved import AchievedRates
    from azbenchlib.advisor.demands.demand import Demand
    from azbenchlib.advisor.offers.market import Market
    from azbenchlib.answers.document import Sentence
    from azbenchlib.cost.payments import Payment
    from azbenchlib.dataset.dataset import Dataset

_OF_VM = {"os_disk", *demand_file.SHARED_COLUMNS}  # what states no data


def advise(
    iops: demand_options.IopsOption = None,
    mbps: Annotated[str | None, typer.Option(help="MB/s.")] = None,
    size: demand_options.SizeOption[str | None] = None,
    bs: demand_options.BsOption[str | None] = None,
    read_share: demand_options.ReadShareOption = None,
    latency: demand_options.LatencyOption = None,
    zrs: demand_options.ZrsOption = False,
    not_persistent: Annotated[
        bool,
        typer.Option(
            "--not-persistent", help="Allow local disks, whose data is lost when the VM is deallocated."
        ),
    ] = False,
    hit: demand_options.HitOption = None,
    headroom: demand_options.HeadroomOption = None,
    vcpus: demand_options.VcpusOption = None,
    ram: demand_options.RamOption = None,
    ram_per_vcpu: Annotated[
        str | None, typer.Option(help="Least memory for each vCPU, such as 8GiB.")
    ] = None,
    vm: VmOption = None,
    family: Annotated[str | None, typer.Option(help="Only these VM families, such as E or D,F.")] = None,
    arch: demand_options.ArchOption = None,
    arm: Annotated[bool, typer.Option("--arm", help="Arm CPUs too.")] = False,
    burstable: demand_options.BurstableOption = False,
    any_family: demand_options.AnyFamilyOption = False,
    max_disks: demand_options.MaxDisksOption = None,
    with_nvme: demand_options.WithNvmeOption = False,
    strictly_cheapest: demand_options.StrictlyCheapestOption = False,
    preset: Annotated[
        str | None, typer.Option(help=f"What is not stated, as of: {', '.join(PRESETS)}.")
    ] = None,
    peak: Annotated[
        str | None,
        typer.Option(
            help="A peak, SECONDS/PERIOD:IOPS[:MBPS]: 600/3600:20000 is 20,000 IOPS for 10 min of each hour."
        ),
    ] = None,
    region: demand_options.RegionOption[list[str] | None] = None,
    zone: Annotated[
        str | None,
        typer.Option(help="Availability zone; known of a region after `azbench catalog refresh`."),
    ] = None,
    vm_hours: VmHoursOption = None,
    pay: PayOption = Pay.payg,
    disk_pay: DiskPayOption = DiskPay.payg,
    system: SystemOption = System.linux,
    discount: DiscountOption = "0",
    currency: CurrencyOption = "USD",
    prices: PricesOption = None,
    as_of: DayOption = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="A dataset, outputs or -; the demand is what its largest sustained run achieved, "
            "in its region where no --region is given.",
        ),
    ] = None,
    run: Annotated[str | None, typer.Option(help="Name or id of the run of --from.")] = None,
    workloads: Annotated[
        Path | None,
        typer.Option(
            help=f"CSV with one demand per row; columns: name, {', '.join(demand_file.DEMAND_COLUMNS)}."
        ),
    ] = None,
    volume: Annotated[
        list[str] | None,
        typer.Option(
            help="One of several volumes on one VM, such as log:iops=4000,size=256GiB,bs=60KiB; repeatable."
        ),
    ] = None,
    os_disk: Annotated[
        str | None,
        typer.Option(
            help="The OS disk too: its size, such as 64GiB, and its rates where they are known, such as "
            "64GiB,iops=2000; not-persistent=yes allows an ephemeral one. Default: it is not in the price."
        ),
    ] = None,
    instead_of: Annotated[
        str | None,
        typer.Option(
            help="Compare this disk, such as P30 or P30x2:ZRS, with other kinds over the load: which costs "
            "less up to which load. The load is what the disk has, or --iops, --mbps, --bs and --size."
        ),
    ] = None,
    job: JobOption = None,
    why: Annotated[
        bool,
        typer.Option(
            "--why", help="Alternatives, limits, why cheaper ones fail, assumptions, sources, the fio job."
        ),
    ] = False,
    quota: Annotated[
        bool,
        typer.Option(
            "--quota",
            help="Say what the subscription has left of vCPUs for that VM; az asks Azure, and needs a login.",
        ),
    ] = False,
    report: demand_options.ReportOption = None,
    format_: FormatOption = OutputFormat.text,
) -> None:
    """Recommend a VM and disks that meet the demand, the fewest disks within 5 % of the cheapest; name the
    binding limit, and explain why cheaper configurations fail.

    The exit code is 2 if an output of --from is damaged and gives no run; the answer is from the others.
    """
    stated = {
        "iops": iops, "mbps": mbps, "size": size, "bs": bs, "read_share": read_share, "latency": latency,
        "zrs": "yes" if zrs else None, "not_persistent": "yes" if not_persistent else None, "hit": hit,
        "headroom": headroom, "vcpus": vcpus, "ram": ram, "ram_per_vcpu": ram_per_vcpu, "vm": vm,
        "arch": arch, "peak": peak, "family": family, "max_disks": max_disks, "zone": zone,
        "preset": preset, "arm": "yes" if arm else None, "burstable": "yes" if burstable else None,
        "any_family": "yes" if any_family else None,
        "strictly_cheapest": "yes" if strictly_cheapest else None, "os_disk": os_disk,
    }  # fmt: skip
    given = {name: text for name, text in stated.items() if text is not None}
    paid = payment(pay, disk_pay, system, vm_hours, currency, discount)
    source = prices, as_of, with_nvme
    _refuse_contradictions(given, from_, run, workloads, volume)
    is_os_disk_alone = os_disk is not None and not (given.keys() - _OF_VM or from_ or workloads)
    several = bool(volume) or is_os_disk_alone
    for option, wanted_too in (("--quota", quota), ("--why", why), ("--report", report is not None)):
        if wanted_too:
            _refuse_several(option, workloads, several, region)
    _tell_what_is_left_out(preset)
    if instead_of is not None:
        explains = why or quota or report is not None
        _refuse_with_instead_of(from_, workloads, several or bool(os_disk), job, explains, region)
        market = _market(_only(region), paid, *source)
        return advise_many.instead(instead_of, given, market, format_)
    if workloads is not None:
        _refuse_with_workloads(from_, job, region)
        wanted = advise_many.read_workloads(workloads, given)
        market = _market(_only(region), paid, *source)
        advise_many.check_sizes(workloads, wanted, market)
        advise_many.workloads(wanted, market, format_)
        return
    if several:
        _refuse_with_volumes("--volume" if volume else "--os-disk", from_, job, region)
        market = _market(_only(region), paid, *source)
        advise_many.volumes(volume or (), given, market, format_)
        return
    measured: dict[str, Any] = {}
    read: list[Dataset] = []
    doubts: list[Sentence] = []
    if from_ is not None:
        read = [_opened(from_)]
        achieved = _achieved(read[0], from_, run)
        measured, region = achieved.as_demand(), region or ([achieved.region] if achieved.region else None)
        doubts = _doubts(read[0], achieved)
    demand = demand_file.demand(given, measured=measured)
    if not {"read_share", "preset"} & {*measured, *given}:
        notes.print(f"Note: {demand.read_share:.0%} reads, as no --read-share is given", markup=False)
    if region is not None and _several(region):
        if job is not None:
            raise InputError("--job writes the job of one answer: name one region")
        _note(doubts)
        with working("Searching"):
            advise_many.regions(demand, region, paid, source, format_)
        return findings.end(read)
    with working("Searching"):
        answer = _advice(demand, _market(_only(region), paid, *source))
    _print(answer, doubts, format_, why)
    _write_report(answer, report, prices, as_of)
    _beside(answer, job, quota)
    return findings.end(read)


def _tell_what_is_left_out(preset: str | None) -> None:
    """What an answer for a preset has not; that there is no such preset is told later."""
    if preset in PRESETS and PRESETS[preset].left_out:
        notes.print(f"Note: {PRESETS[preset].left_out}")


def _write_report(answer: Advice, folder: Path | None, prices: Path | None, as_of: str | None) -> None:
    if folder is None:
        return
    from azbenchlib.answers.advice import AdviceAnswer
    from azbenchlib.views import advice_report

    with working("Writing the report"):
        written = advice_report.write(AdviceAnswer(answer), folder, prices, as_of)
    notes.print(f"HTML: {written.html}\nPDF:  {written.pdf}")


def _beside(answer: Advice, job: Path | None, quota: bool) -> None:
    """What is wanted besides the answer: the fio job, and what is left of the quota."""
    if job is not None:
        write_job(job, answer.best.fio_job)
    if quota:
        from azbenchlib.azure.prices.rows import SPOT
        from azbenchlib.campaign.targets.azure.preflight import quota_left

        left = quota_left(answer.market.region, answer.best.vm, answer.market.pay == SPOT)
        notes.print(left.sentence, markup=False, soft_wrap=True)


def _refuse_contradictions(
    given: dict[str, str],
    from_: str | None,
    run: str | None,
    workloads: Path | None,
    volume: list[str] | None,
) -> None:
    """What cannot be meant together, or would be passed over."""
    if run is not None and from_ is None:
        raise InputError(f"--run '{run}' is a run of a dataset: name it with --from")
    if workloads is not None and volume:
        raise InputError("give either --workloads or --volume, not both")
    if "arm" in given and given.get("arch") == "x64":
        raise InputError("--arm allows Arm CPUs too, and --arch x64 none: leave one of them out")


def _refuse_several(option: str, workloads: Path | None, several: bool, region: list[str] | None) -> None:
    if workloads is not None or several or _several(region):
        raise InputError(
            f"{option} is told of one answer: state one demand and region, leave out --workloads and --volume"
        )


def _refuse_with_volumes(option: str, from_: str | None, job: Path | None, region: list[str] | None) -> None:
    if from_ is not None or job is not None:
        raise InputError(f"{option} states the demand of each volume: leave out --from and --job")
    _refuse_regions(option, region)


def _refuse_with_workloads(from_: str | None, job: Path | None, region: list[str] | None) -> None:
    if from_ is not None:
        raise InputError("give either --from or --workloads, not both")
    if job is not None:
        raise InputError("--job writes the job of one demand; with --workloads, take --format json")
    _refuse_regions("--workloads", region)


def _refuse_with_instead_of(
    from_: str | None,
    workloads: Path | None,
    several: bool,
    job: Path | None,
    explains: bool,
    region: list[str] | None,
) -> None:
    if from_ is not None or workloads is not None or several or job is not None or explains:
        others = "--from, --workloads, --volume, --os-disk, --job, --report, --why and --quota"
        raise InputError(f"--instead-of compares disks without their VM: leave out {others}")
    _refuse_regions("--instead-of", region)


def _refuse_regions(option: str, region: list[str] | None) -> None:
    if _several(region):
        raise InputError(f"{option} is answered for one region: give --region once")


def _several(region: list[str] | None) -> bool:
    return region is not None and (len(region) > 1 or region[0].lower() == "world")


def _only(region: list[str] | None) -> str | None:
    return region[0] if region else None


def _market(
    region: str | None, paid: Payment, own: Path | None, as_of: str | None, with_nvme: bool
) -> Market:
    from azbenchlib.advisor.offers.load_market import market

    if not region:
        notes.print(f"Note: prices of {DEFAULT_REGION}, as no --region is given")
    return market(region or DEFAULT_REGION, own=own, as_of=as_of, payment=paid, with_nvme=with_nvme)


def _opened(name: str) -> Dataset:
    """The dataset, or the one that the outputs make; findings about files are told."""
    found_there = opened([name])
    from azbenchlib.dataset.inputs import the_only

    dataset = the_only(found_there, name)
    findings.tell_of_files(dataset.tables)
    return dataset


def _achieved(dataset: Dataset, name: str, run: str | None) -> AchievedRates:
    """What a run of a dataset achieved; said, with its caveats."""
    from azbenchlib.advisor.demands.achieved import achieved

    found = achieved(dataset.tables, run)
    for text in (f"the demand is what the run '{found.run}' of {name} achieved", *found.caveats):
        notes.print(f"Note: {text}")
    return found


def _doubts(dataset: Dataset, achieved: AchievedRates) -> list[Sentence]:
    """What is to be known of the demand that a run is taken for."""
    from azbenchlib.answers.capped_demand import capped_demand

    capped = capped_demand(dataset.tables, achieved.run_ids)
    return [] if capped is None else [capped]


def _note(doubts: Sequence[Sentence]) -> None:
    """Tell them where the answer is many."""
    for doubt in doubts:
        notes.print(f"Note: {doubt.text}")


def _print(advice: Advice, doubts: Sequence[Sentence], format_: OutputFormat, why: bool) -> None:
    from azbenchlib.answers.advice import AdviceAnswer

    show(AdviceAnswer(advice, is_full=why, doubts=doubts), format_)
    if format_ is OutputFormat.text and not why:
        say("--why tells the alternatives, limits, assumptions and sources")


def _advice(demand: Demand, market: Market) -> Advice:
    from azbenchlib.advisor.advise import advise as ask
    from azbenchlib.advisor.offers.load_market import check_offered

    check_offered(demand.vm, market)
    return ask(demand, market)
