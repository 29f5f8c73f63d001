"""`azbench advise` for many workloads in one region, or for one in many regions: a line an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azbenchlib.cli.printing.answer_output import OutputFormat, show
from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.advisor.demands.demand import Demand
    from azbenchlib.advisor.offers.market import Market
    from azbenchlib.advisor.reasons.cautions import Caution
    from azbenchlib.cost.payments import Payment

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


def workloads(wanted: Iterable[tuple[str, Demand]], market: Market, form: OutputFormat) -> None:
    """The cheapest configuration of each workload; what cannot be met says so in its row."""
    from azbenchlib.advisor.advise import recommended
    from azbenchlib.advisor.offers.load_market import check_offered
    from azbenchlib.advisor.reasons import relaxation
    from azbenchlib.answers.many_advices import ConfigurationsAnswer

    rows: Rows = []
    cautions: list[Sequence[Caution]] = []
    for name, demand in wanted:
        try:
            check_offered(demand.vm, market)
            best = recommended(demand, market)
            if best is None:
                raise InputError(relaxation.sentence(demand, market))
            rows.append({"name": name, "error": "", **best.record()})
            cautions.append(best.cautions)
        except InputError as error:
            rows.append({"name": name, "error": str(error)})
    show(ConfigurationsAnswer(rows, "Workload", market.currency, cautions), form)


def regions(
    demand: Demand,
    names: Sequence[str],
    payment: Payment,
    source: tuple[Path | None, str | None, bool],
    form: OutputFormat,
) -> None:
    """The cheapest configuration in each region, the cheapest region first."""
    from azbenchlib.advisor import text as words
    from azbenchlib.advisor.regions import over_regions
    from azbenchlib.answers.many_advices import ConfigurationsAnswer

    found = over_regions(demand, names, payment, *source)
    rows: Rows = []
    for one in found:
        told = {"name": one.region, "region": one.region, "error": one.why}
        rows.append(told | (words.summary(one.configuration) if one.configuration else {}))
    if all(row["error"] for row in rows):
        raise InputError(f"no region has an answer; in {rows[0]['name']}: {rows[0]['error']}")
    cautions = [one.configuration.cautions for one in found if one.configuration]
    show(ConfigurationsAnswer(rows, "Region", payment.currency, cautions), form)


def volumes(texts: Sequence[str], given: Mapping[str, str], market: Market, form: OutputFormat) -> None:
    """The cheapest VM with disks for several volumes, and for the OS disk of `given`; or for that alone."""
    from azbenchlib.advisor.demands import demand_file
    from azbenchlib.advisor.offers.load_market import check_offered
    from azbenchlib.advisor.volumes import advise_volumes
    from azbenchlib.answers.many_advices import VolumesAnswer

    common = {column: text for column, text in given.items() if column != "os_disk"}
    wanted = [demand_file.volume(text, common) for text in texts]
    if "os_disk" in given:
        wanted.append((demand_file.OS_DISK, demand_file.os_disk(given["os_disk"], common)))
    names = [name for name, _ in wanted]
    if len(set(names)) < len(names):
        raise InputError(f"--volume: the names {', '.join(names)} are not all different")
    if form is OutputFormat.csv:
        raise InputError(f"{'--volume' if texts else 'an OS disk alone'} has no CSV: take --format json")
    demands = dict(wanted)
    check_offered(next(iter(demands.values())).vm, market)
    show(VolumesAnswer(advise_volumes(demands, market)), form)


def instead(text: str, stated: Mapping[str, str], market: Market, form: OutputFormat) -> None:
    """Which disks could stand instead of one, and up to which load each kind costs less."""
    from azbenchlib.advisor.instead import substitutes
    from azbenchlib.answers.instead import SubstitutesAnswer

    show(SubstitutesAnswer(substitutes(text, stated, market)), form)
