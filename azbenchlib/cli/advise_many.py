"""`azbench advise` for many workloads in one region, or for one in many regions: a line an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azbenchlib.cli.printing.console import plain, print_json, print_rows
from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.advisor.demands.demand import Demand
    from azbenchlib.advisor.offers.market import Market
    from azbenchlib.advisor.reasons.cautions import Caution
    from azbenchlib.cost.payments import Payment

FLAT = (
    "vm", "disks", "redundancy", "caching", "price_per_month", "price_bound", "currency", "binding_limit",
    "headroom", "why_not_cheaper", "labels", "kind", "bursts", "region", "hours", "vm_hours", "pay",
    "disk_pay", "os", "cautions",
)  # fmt: skip
_LISTS = ("why_not_cheaper", "labels", "cautions")
Rows = list[dict[str, Any]]


def read_workloads(path: Path, common: Mapping[str, str]) -> list[tuple[str, Demand]]:
    """The workloads of a CSV file, by name."""
    from azbenchlib.advisor.demands import demand_file

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return demand_file.workloads(path, file, common)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read as workloads: {reason}") from error


def check_sizes(path: Path, wanted: Iterable[tuple[str, Demand]], market: Market) -> None:
    """Refuse a file of workloads with VM sizes that there are not: all of them are named."""
    from azbenchlib.advisor.offers.load_market import check_exists

    wrong: dict[str, list[str]] = {}
    for name, demand in wanted:
        try:
            check_exists(demand.vm, market)
        except InputError as error:
            wrong.setdefault(str(error), []).append(name)
    if wrong:
        told = "; ".join(f"{', '.join(names)}: {why}" for why, names in wrong.items())
        raise InputError(f"{path}: {told}")


def workloads(wanted: Iterable[tuple[str, Demand]], market: Market, form: str) -> None:
    """The cheapest configuration of each workload; what cannot be met says so in its row."""
    from azbenchlib.advisor.advise import cheapest
    from azbenchlib.advisor.offers.load_market import check_offered
    from azbenchlib.advisor.reasons import relaxation

    rows: Rows = []
    cautions: list[Sequence[Caution]] = []
    for name, demand in wanted:
        try:
            check_offered(demand.vm, market)
            best = cheapest(demand, market)
            if best is None:
                raise InputError(relaxation.sentence(demand, market))
            rows.append({"name": name, "error": "", **best.record()})
            cautions.append(best.cautions)
        except InputError as error:
            rows.append({"name": name, "error": str(error)})
    _print(rows, "demands", "Workload", market.currency, form, cautions)


def regions(
    demand: Demand,
    names: Sequence[str],
    payment: Payment,
    prices: tuple[Path | None, str | None],
    form: str,
) -> None:
    """The cheapest configuration in each region, the cheapest region first."""
    from azbenchlib.advisor import text as words
    from azbenchlib.advisor.regions import over_regions

    found = over_regions(demand, names, payment, *prices)
    rows: Rows = []
    for one in found:
        told = {"name": one.region, "region": one.region, "error": one.why}
        rows.append(told | (words.summary(one.configuration) if one.configuration else {}))
    if all(row["error"] for row in rows):
        raise InputError(f"no region has an answer; in {rows[0]['name']}: {rows[0]['error']}")
    cautions = [one.configuration.cautions for one in found if one.configuration]
    _print(rows, "regions", "Region", payment.currency, form, cautions)


def volumes(texts: Sequence[str], common: Mapping[str, str], market: Market, form: str) -> None:
    """The cheapest VM with disks for several volumes."""
    from azbenchlib.advisor.demands import demand_file
    from azbenchlib.advisor.offers.load_market import check_offered
    from azbenchlib.advisor.volumes import advise_volumes

    wanted = [demand_file.volume(text, common) for text in texts]
    names = [name for name, _ in wanted]
    if len(set(names)) < len(names):
        raise InputError(f"--volume: the names {', '.join(names)} are not all different")
    if form == "csv":
        raise InputError("--volume has no CSV: take --format json")
    demands = dict(wanted)
    check_offered(next(iter(demands.values())).vm, market)
    found = advise_volumes(demands, market)
    if form == "json":
        print_json(plain(found.record()))
        return
    from azbenchlib.cli.printing import advice_view

    advice_view.show_volumes(found)


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A record in cells: of the headroom that of the binding limit, lists in one text."""
    cells = dict(row)
    for name in _LISTS:
        cells[name] = "; ".join(row.get(name, ()))
    if "headroom" in row:
        cells["headroom"] = row["headroom"][row["binding_limit"]]
    return cells


def _print(
    rows: Rows, key: str, heading: str, currency: str, form: str, cautions: Sequence[Sequence[Caution]]
) -> None:
    if form == "json":
        print_json({key: [plain(row) for row in rows]})
    elif form == "csv":
        print_rows(("name", *FLAT, "error"), (flat(row) for row in rows))
    else:
        _show(rows, heading, currency, cautions)


def _show(rows: Rows, heading: str, currency: str, cautions: Sequence[Sequence[Caution]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from azbenchlib.cli.printing.rich_console import Console

    table = Table(box=None, pad_edge=False)
    for name, justify in ((heading, "left"), (f"{currency} a month", "right"), ("VM", "left")):
        table.add_column(name, justify=justify, no_wrap=name != "Workload")  # type: ignore[arg-type]
    for name in ("Disks", "Binding limit"):
        table.add_column(name, overflow="fold")
    refused: dict[str, list[str]] = {}
    for row in rows:
        if row["error"]:
            refused.setdefault(row["error"], []).append(row["name"])
        else:
            bound = "≤ " if row["price_bound"] == "<=" else ""
            cells = (
                row["name"],
                f"{bound}{row['price_per_month']:,.2f}",
                row["vm"],
                f"{row['disks']} {row['redundancy'].removeprefix('LRS')}".strip(),
                row["binding_limit"],
            )
            table.add_row(*map(Text, cells))
    console = Console(highlight=False)
    console.print(table)
    if cautions:
        console.print(f"before you order: {'; '.join(_counted(cautions))}", soft_wrap=True)
    for why, names in refused.items():
        console.print(Text(f"{', '.join(names)}: {why}", style="yellow"), soft_wrap=True)


def _counted(cautions: Sequence[Sequence[Caution]]) -> Iterator[str]:
    """What is to be known before it is ordered, in few words, and of how many answers where not of all."""
    found = Counter(brief for some in cautions for brief in dict.fromkeys(caution.brief for caution in some))
    for brief, many in found.most_common():
        yield brief if many == len(cautions) else f"{brief} ({many} of {len(cautions)})"
