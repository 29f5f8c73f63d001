"""The verb that advises: `azbench advise`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from azbenchlib.advisor import demand_file
from azbenchlib.azure.prices.rows import MONTH_HOURS
from azbenchlib.cli import findings
from azbenchlib.cli.console import notes, print_json, print_rows, working, write_job
from azbenchlib.cli.cost import Pay, PayOption, PriceDayOption, PricesOption
from azbenchlib.cli.setup_options import opened
from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.advisor.achieved import AchievedRates
    from azbenchlib.advisor.advise import Advice
    from azbenchlib.advisor.demand import Demand
    from azbenchlib.advisor.market import Market

REGION = "westeurope"  # prices of everything are shipped for it
FLAT = (
    "vm", "disks", "redundancy", "caching", "price_per_month", "currency", "binding_limit", "headroom",
    "why_not_cheaper", "labels", "kind", "bursts", "region", "hours", "pay",
)  # fmt: skip


class AdviceFormat(StrEnum):
    """What `azbench advise` prints."""

    text = "text"
    json = "json"
    csv = "csv"


def _help(column: str) -> str:
    _, _, text = demand_file.DEMAND_COLUMNS[column]
    return f"{text[0].upper()}{text[1:]}."


def advise(
    iops: Annotated[str | None, typer.Option(help=_help("iops"))] = None,
    mbps: Annotated[str | None, typer.Option(help=_help("mbps"))] = None,
    size: Annotated[str | None, typer.Option(help=_help("size"))] = None,
    bs: Annotated[str | None, typer.Option("--bs", help=_help("bs") + " Default: 4KiB.")] = None,
    read_share: Annotated[
        str | None,
        typer.Option(help=_help("read_share") + " Default: 70% (`azbench limits` assumes 100%)."),
    ] = None,
    latency: Annotated[str | None, typer.Option(help=_help("latency") + " Default: any.")] = None,
    zrs: Annotated[bool, typer.Option("--zrs", help="Zone-redundant disks only.")] = False,
    not_persistent: Annotated[
        bool,
        typer.Option(
            "--not-persistent", help="Allow local disks, whose data is lost when the VM is deallocated."
        ),
    ] = False,
    hit: Annotated[str | None, typer.Option(help=_help("hit") + " Default: 0.")] = None,
    headroom: Annotated[str | None, typer.Option(help=_help("headroom") + " Default: 1.2.")] = None,
    vcpus: Annotated[str | None, typer.Option(help="Least number of vCPUs.")] = None,
    ram: Annotated[str | None, typer.Option(help="Least memory, such as 64GiB.")] = None,
    vm: Annotated[str | None, typer.Option("--vm", help=_help("vm"))] = None,
    arch: Annotated[
        str | None, typer.Option(help="CPU architecture: any, x64 or arm64. Default: any.")
    ] = None,
    burst: Annotated[
        str | None,
        typer.Option(
            help="A peak, SECONDS/PERIOD:IOPS[:MBPS]: 600/3600:20000 is 20,000 IOPS for 10 min of each hour."
        ),
    ] = None,
    region: Annotated[
        str | None, typer.Option(help=f"Azure region. Default: that of --from, else {REGION}.")
    ] = None,
    zone: Annotated[
        str | None, typer.Option(help="Availability zone; not checked, as no catalogue has it.")
    ] = None,
    hours: Annotated[float, typer.Option(help="Hours a month.")] = float(MONTH_HOURS),
    pay: PayOption = Pay.payg,
    prices: PricesOption = None,
    as_of: PriceDayOption = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", help="A dataset, outputs or -; the demand is what its largest sustained run achieved."
        ),
    ] = None,
    run: Annotated[str | None, typer.Option(help="Name or id of the run of --from.")] = None,
    workloads: Annotated[
        Path | None,
        typer.Option(
            help=f"CSV with one demand per row; columns: name, {', '.join(demand_file.DEMAND_COLUMNS)}."
        ),
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option(help="Write the fio job that verifies the cheapest configuration to this file."),
    ] = None,
    format_: Annotated[AdviceFormat, typer.Option("--format", help="What to print.")] = AdviceFormat.text,
) -> None:
    """Find the cheapest VM and disks that meet the demand, name the binding limit, and explain why cheaper
    configurations fail.
    """
    stated = {
        "iops": iops, "mbps": mbps, "size": size, "bs": bs, "read_share": read_share, "latency": latency,
        "zrs": "yes" if zrs else None, "not_persistent": "yes" if not_persistent else None, "hit": hit,
        "headroom": headroom, "vcpus": vcpus, "ram": ram, "vm": vm, "arch": arch, "burst": burst,
    }  # fmt: skip
    given = {name: text for name, text in stated.items() if text is not None}
    measured: dict[str, Any] = {}
    if workloads is not None:
        if from_ is not None:
            raise InputError("give either --from or --workloads, not both")
        if job is not None:
            raise InputError("--job writes the job of one demand; with --workloads, take --format json")
        wanted = demand_file.read(workloads, given)
        market = _market(region, pay, hours, prices, as_of)
        _answer_all(wanted, market, format_)
        return
    if from_ is not None:
        achieved = _achieved(from_, run)
        measured, region = achieved.as_demand(), region or achieved.region
    demand = demand_file.demand(given, measured=measured)
    if "read_share" not in {**measured, **given}:
        notes.print(f"Note: {demand.read_share:.0%} reads, as no --read-share is given", markup=False)
    if zone is not None:
        notes.print(f"Note: whether a size is offered in zone {zone} is not known here")
    with working("Searching"):
        answer = _advice(demand, _market(region, pay, hours, prices, as_of))
    _print(answer, format_)
    if job is not None:
        write_job(job, answer.best.fio_job)


def _market(region: str | None, pay: Pay, hours: float, own: Path | None, as_of: str | None) -> Market:
    from azbenchlib.advisor.load_market import market
    from azbenchlib.azure.prices.rows import PAYMENTS

    if region is None:
        notes.print(f"Note: prices of {REGION}, as no --region is given")
    return market(region or REGION, PAYMENTS[pay], Decimal(str(hours)), own, as_of)


def _achieved(name: str, run: str | None) -> AchievedRates:
    """What a run of a dataset achieved; said, with its caveats."""
    found_there = opened([name])
    from azbenchlib.dataset.inputs import the_only

    dataset = the_only(found_there, name)
    from azbenchlib.advisor.achieved import achieved

    tables = dataset.tables
    findings.tell_of_files(tables)
    found = achieved(tables, run)
    for text in (f"the demand is what the run '{found.run}' of {name} achieved", *found.caveats):
        notes.print(f"Note: {text}")
    return found


def _print(answer: Advice, format_: AdviceFormat) -> None:
    from azbenchlib.cli import advice_view

    if format_ is AdviceFormat.json:
        print_json({"configurations": [_plain(row) for row in answer.records()]})
    elif format_ is AdviceFormat.csv:
        print_rows(FLAT, (_flat(row) for row in answer.records()))
    else:
        advice_view.show(answer)


def _answer_all(wanted: list[tuple[str, Demand]], market: Market, format_: AdviceFormat) -> None:
    """The cheapest configuration of each; what cannot be met says so in its row."""
    from azbenchlib.cli import advice_view

    rows: list[dict[str, Any]] = []
    for name, demand in wanted:
        try:
            best = _advice(demand, market).best
            rows.append({"name": name, "error": "", **best.record()})
        except InputError as error:
            rows.append({"name": name, "error": str(error)})
    if format_ is AdviceFormat.json:
        print_json({"demands": [_plain(row) for row in rows]})
    elif format_ is AdviceFormat.csv:
        print_rows(("name", *FLAT, "error"), (_flat(row) for row in rows))
    else:
        advice_view.show_all(rows, market)


def _advice(demand: Demand, market: Market) -> Advice:
    from azbenchlib.advisor.advise import advise as ask
    from azbenchlib.advisor.load_market import check_offered

    check_offered(demand.vm, market)
    return ask(demand, market)


def _plain(value: Any) -> Any:
    """Amounts have ten decimals at most: a float holds them."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return float(value) if isinstance(value, Decimal) else value


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A record in cells: of the headroom that of the binding limit, lists in one text."""
    cells = dict(row)
    for name in ("why_not_cheaper", "labels"):
        cells[name] = "; ".join(row.get(name, ()))
    if "headroom" in row:
        cells["headroom"] = row["headroom"][row["binding_limit"]]
    return cells
