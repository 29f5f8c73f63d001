"""The verb that advises: `azbench advise`."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from azbenchlib.cli import workload
from azbenchlib.cli.console import notes
from azbenchlib.cli.cost import MONTH_HOURS, Pay, PayOption, PriceDayOption, PricesOption
from azbenchlib.errors import InputError
from azbenchlib.units import MB

if TYPE_CHECKING:
    from azbenchlib.model.advise import Advice
    from azbenchlib.model.demand import Demand
    from azbenchlib.model.market import Market

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
    _, _, text = workload.COLUMNS[column]
    return f"{text[0].upper()}{text[1:]}."


def advise(
    iops: Annotated[str | None, typer.Option(help=_help("iops"))] = None,
    mbps: Annotated[str | None, typer.Option(help=_help("mbps"))] = None,
    size: Annotated[str | None, typer.Option(help=_help("size"))] = None,
    bs: Annotated[str | None, typer.Option("--bs", help=_help("bs") + " Default: 4KiB.")] = None,
    read_share: Annotated[str | None, typer.Option(help=_help("read_share") + " Default: 70%.")] = None,
    latency: Annotated[str | None, typer.Option(help=_help("latency") + " Default: any.")] = None,
    zrs: Annotated[bool, typer.Option("--zrs", help="Zone-redundant disks only.")] = False,
    not_persistent: Annotated[
        bool, typer.Option("--not-persistent", help="Local disks may do, which lose their data.")
    ] = False,
    hit: Annotated[str | None, typer.Option(help=_help("hit") + " Default: 0.")] = None,
    headroom: Annotated[str | None, typer.Option(help=_help("headroom") + " Default: 1.2.")] = None,
    vcpus: Annotated[str | None, typer.Option(help="vCPUs, at least.")] = None,
    ram: Annotated[str | None, typer.Option(help="Memory, at least, such as 64GiB.")] = None,
    vm: Annotated[str | None, typer.Option("--vm", help=_help("vm"))] = None,
    arch: Annotated[str | None, typer.Option(help="CPU: any, x64 or arm64. Default: any.")] = None,
    burst: Annotated[
        str | None,
        typer.Option(
            help="A peak, SECONDS/PERIOD:IOPS[:MBPS]: 600/3600:20000 is 20,000 IOPS for 10 min of each hour."
        ),
    ] = None,
    region: Annotated[
        str | None, typer.Option(help=f"Azure region. Default: that of --from, else {REGION}.")
    ] = None,
    zone: Annotated[str | None, typer.Option(help="Zone; stated, not checked: no catalogue has it.")] = None,
    hours: Annotated[float, typer.Option(help="Hours a month.")] = MONTH_HOURS,
    pay: PayOption = Pay.payg,
    prices: PricesOption = None,
    as_of: PriceDayOption = None,
    from_: Annotated[
        str | None, typer.Option("--from", help="A dataset: as much as its largest lasting run was given.")
    ] = None,
    run: Annotated[str | None, typer.Option(help="Name of the run of --from.")] = None,
    workloads: Annotated[
        Path | None,
        typer.Option(help=f"CSV, a demand a row; columns: name, {', '.join(workload.COLUMNS)}."),
    ] = None,
    format_: Annotated[AdviceFormat, typer.Option("--format", help="What to print.")] = AdviceFormat.text,
) -> None:
    """Say which VM with which disks is the cheapest that does, what holds it, and why nothing cheaper is."""
    stated = {
        "iops": iops, "mbps": mbps, "size": size, "bs": bs, "read_share": read_share, "latency": latency,
        "zrs": "yes" if zrs else None, "not_persistent": "yes" if not_persistent else None, "hit": hit,
        "headroom": headroom, "vcpus": vcpus, "ram": ram, "vm": vm, "arch": arch, "burst": burst,
    }  # fmt: skip
    given = {name: text for name, text in stated.items() if text is not None}
    if workloads is not None:
        if from_ is not None:
            raise InputError("give either --from or --workloads, not both")
        wanted = workload.read(workloads, given)
        market = _market(region, pay, hours, prices, as_of)
        _answer_all(wanted, market, format_)
        return
    if from_ is not None:
        measured, measured_in = _delivered(from_, run)
        given, region = {**measured, **given}, region or measured_in
    demand = workload.demand(given)
    if zone is not None:
        notes.print(f"Note: whether a size is offered in zone {zone} is not known here", markup=False)
    _answer(demand, _market(region, pay, hours, prices, as_of), format_)


def _market(region: str | None, pay: Pay, hours: float, own: Path | None, as_of: str | None) -> Market:
    from azbenchlib.analyse.market import market
    from azbenchlib.catalog.price_rows import PAYMENTS

    if region is None:
        notes.print(f"Note: prices of {REGION}, as no --region is given", markup=False)
    return market(region or REGION, PAYMENTS[pay], Decimal(str(hours)), own, as_of)


def _delivered(name: str, run: str | None) -> tuple[dict[str, str], str | None]:
    """What a run was given, as options; and where it was."""
    from azbenchlib import dataset
    from azbenchlib.analyse.delivered import delivered
    from azbenchlib.report import content

    path = Path(name)
    found = delivered(
        dataset.Dataset.read(path if path.exists() else dataset.resolve(name, content.homes())).tables, run
    )
    alone = found.iops is None and found.bytes_per_s is not None
    texts = {
        "iops": found.iops,
        "mbps": found.bytes_per_s / MB if alone and found.bytes_per_s else None,
        "size": None if found.size_bytes is None else round(found.size_bytes),
        "bs": None if found.bs_bytes is None else round(found.bs_bytes),
        "read_share": found.read_share,
    }
    for text in (f"as much as the run '{found.run}' of {name} was given", *found.doubts):
        notes.print(f"Note: {text}", markup=False)
    return {column: str(value) for column, value in texts.items() if value is not None}, found.region


def _answer(demand: Demand, market: Market, format_: AdviceFormat) -> None:
    from azbenchlib.cli import advice_text

    answer = _advice(demand, market)
    if format_ is AdviceFormat.json:
        _json([_plain(row) for row in answer.records()])
    elif format_ is AdviceFormat.csv:
        _csv(FLAT, (_flat(row) for row in answer.records()))
    else:
        advice_text.show(answer)


def _answer_all(wanted: list[tuple[str, Demand]], market: Market, format_: AdviceFormat) -> None:
    """The cheapest design of each; what cannot be met says so in its row."""
    from azbenchlib.cli import advice_text

    rows: list[dict[str, Any]] = []
    for name, demand in wanted:
        try:
            best = _advice(demand, market).best
            rows.append({"name": name, "error": "", **best.record()})
        except InputError as error:
            rows.append({"name": name, "error": str(error)})
    if format_ is AdviceFormat.json:
        _json([_plain(row) for row in rows])
    elif format_ is AdviceFormat.csv:
        _csv(("name", *FLAT, "error"), (_flat(row) for row in rows))
    else:
        advice_text.show_all(rows, market)


def _advice(demand: Demand, market: Market) -> Advice:
    from azbenchlib.analyse.market import check_offered
    from azbenchlib.model.advise import advise as ask

    check_offered(demand.vm, market)
    return ask(demand, market)


def _json(document: object) -> None:
    json.dump(document, sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    """Amounts have ten decimals at most: a float holds them."""
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return float(value) if isinstance(value, Decimal) else value


def _csv(columns: tuple[str, ...], rows: Iterator[dict[str, Any]]) -> None:
    writer = csv.DictWriter(sys.stdout, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A record in cells: of the headroom that of the binding limit, lists in one text."""
    cells = dict(row)
    for name in ("why_not_cheaper", "labels"):
        cells[name] = "; ".join(row.get(name, ()))
    if "headroom" in row:
        cells["headroom"] = row["headroom"][row["binding_limit"]]
    return cells
