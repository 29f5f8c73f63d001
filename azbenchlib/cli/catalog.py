"""The verbs of the catalogue: `azbench catalog show`, `refresh` and `drift`."""

from __future__ import annotations

from typing import Annotated

import typer

from azbenchlib.azure import disk_kinds
from azbenchlib.cli.drift import drift
from azbenchlib.cli.options.demand_options import RegionOption
from azbenchlib.cli.options.payment_options import CurrencyOption
from azbenchlib.cli.options.setup_options import DayOption
from azbenchlib.cli.printing.answer_output import FormatOption, OutputFormat
from azbenchlib.cli.printing.answer_output import show as show_answer
from azbenchlib.cli.printing.console import notes
from azbenchlib.core.errors import InputError

catalog = typer.Typer(no_args_is_help=True, help="Azure's documented limits, with their dates and sources.")
catalog.command()(drift)


@catalog.command()
def show(
    name: Annotated[str, typer.Argument(help="A VM size, a disk tier, or UltraSSD or PremiumV2.")],
    as_of: DayOption = None,
    format_: FormatOption = OutputFormat.text,
) -> None:
    """Show the limits of a VM size (E8ds_v4), a disk tier (P30) or a provisioned disk (UltraSSD)."""
    from azbenchlib.answers.catalog import CatalogAnswer
    from azbenchlib.azure.catalog import disk_tier, provisioned_rules, vm

    is_tier = disk_kinds.of_tier(name) is not None
    lookup = disk_tier if is_tier else provisioned_rules if _is_provisioned(name) else vm
    show_answer(CatalogAnswer(lookup(name, as_of)), format_)


@catalog.command()
def refresh(
    region: RegionOption[str],
    retail_prices: Annotated[
        bool,
        typer.Option("--retail-prices", help="Read its prices (public, no login) instead of its VM sizes."),
    ] = False,
    currency: CurrencyOption = "USD",
) -> None:
    """Ask Azure for the VM sizes of a region, with limits, zones and restrictions, or for its prices; lookups
    use the answer from then on.
    """
    if retail_prices:
        from azbenchlib.azure.prices.refresh import refresh as read_prices

        notes.print(f"Prices: {read_prices(region, currency=currency.upper())}")
        return
    if currency != "USD":
        raise InputError("--currency is of prices: write --retail-prices too")
    from azbenchlib.azure.az import Az
    from azbenchlib.azure.catalog.refresh import refresh as read_region

    written = read_region(region, Az.find())
    notes.print(f"Catalogue: {written}")


def _is_provisioned(name: str) -> bool:
    """Whether a name is meant for a kind of provisioned disks: its word or its SKU, with or without more."""
    starts = (start for kind in disk_kinds.managed() if kind.provisioned for start in (kind.word, kind.sku))
    return name.lower().startswith(tuple(start.lower() for start in starts if start))
