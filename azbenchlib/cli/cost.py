"""The verb that knows prices: `azbench cost`."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azbenchlib.azure.prices.rows import MONTH_HOURS
from azbenchlib.cli.options.demand_options import BsOption, IopsOption, RegionOption
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
from azbenchlib.cli.options.setup_options import (
    DayOption,
    DiskOption,
    VmOption,
    checked_setup,
    described_setup,
)
from azbenchlib.cli.printing.answer_output import FormatOption, OutputFormat, show
from azbenchlib.cli.printing.console import notes
from azbenchlib.core import stated_values
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MB, SIZE_RULE, stated_rate

if TYPE_CHECKING:
    from azbenchlib.azure.prices.book import PriceBook
    from azbenchlib.azure.prices.rows import Meter
    from azbenchlib.cost.bill import Bill
    from azbenchlib.cost.operations import Burst
    from azbenchlib.model import Setup


def cost(
    setup: Annotated[
        str | None, typer.Argument(help="A dataset, or DATASET/SETUP_ID where it has several setups.")
    ] = None,
    region: RegionOption[str] = ...,  # type: ignore[assignment]
    vm: VmOption = None,
    disk: DiskOption = None,
    hours: Annotated[float, typer.Option(help="The period; a month has 730 hours.")] = float(MONTH_HOURS),
    vm_hours: VmHoursOption = None,
    prices: PricesOption = None,
    as_of: DayOption = None,
    pay: PayOption = Pay.payg,
    disk_pay: DiskPayOption = DiskPay.payg,
    system: SystemOption = System.linux,
    discount: DiscountOption = "0",
    currency: CurrencyOption = "USD",
    iops: IopsOption = None,
    bs: BsOption[str] = "4k",
    transaction_cap: Annotated[
        int | None,
        typer.Option(min=1, help="Transactions of a Standard SSD that are billed in an hour at most."),
    ] = None,
    burst: Annotated[
        list[str] | None,
        typer.Option(
            "--burst",
            help="A burst of each bursting disk in the period: SECONDS:IOPS[:MBPS]; repeatable.",
        ),
    ] = None,
    snapshots: Annotated[
        str | None, typer.Option(help=f"Used size of all snapshots, such as 120GiB. {SIZE_RULE}.")
    ] = None,
    snapshot_sku: Annotated[str, typer.Option(help="Where snapshots are kept.")] = "Standard_LRS",
    ultra_enabled: Annotated[
        bool, typer.Option("--ultra-enabled", help="The VM is enabled for Ultra Disks.")
    ] = False,
    format_: FormatOption = OutputFormat.text,
) -> None:
    """Show what a VM with its disks costs: every meter with its quantity, price, source and date."""
    if setup is not None:
        checked_setup(setup)
    from azbenchlib.answers.bill import BillAnswer
    from azbenchlib.azure.prices.book import book
    from azbenchlib.cost.bill import bill
    from azbenchlib.cost.payments import check_payments, discounted
    from azbenchlib.cost.priced_setups import Priced
    from azbenchlib.cost.usage import Use, charges, check_bursts, doubts

    full = _resolved(setup, vm, disk or [], as_of)
    paid = payment(pay, disk_pay, system, vm_hours, currency, discount)
    check_payments(full, paid.pay, paid.disk_pay)
    check_bursts(full, bool(burst))
    there = book(region, prices, as_of, paid.currency)
    used = Use(
        pay=paid.pay,
        disk_pay=paid.disk_pay,
        os=paid.os,
        vm_hours=paid.vm_hours,
        vcpus=_vcpus(full),
        ultra_enabled=ultra_enabled,
        ios_per_s=None if iops is None else stated_values.number("--iops", iops),
        bs_bytes=stated_values.block("--bs", bs),
        transaction_cap=transaction_cap,
        bursts=tuple(_burst(text) for text in burst or []),
        snapshot_bytes=stated_values.size("--snapshots", snapshots) if snapshots else 0,
        snapshot_sku=snapshot_sku,
    )
    period = Decimal(str(_positive("--hours", hours)))
    charged = charges(full, there.region, period, used)
    billed = bill(charged, discounted(there.prices, paid.discount), period, paid.vm_hours)
    _refuse(billed, there, prices)
    left_out = tuple(doubts(full, used))
    priced = Priced(setup=full, region=there.region, bill=billed, doubts=left_out)
    show(BillAnswer(priced, paid), format_)
    if format_ in (OutputFormat.json, OutputFormat.csv):
        for doubt in left_out:
            notes.print(f"Note: {doubt}")


def _resolved(setup: str | None, vm: str | None, disks: list[str], as_of: str | None) -> Setup:
    """The setup with the catalogue's numbers; a VM alone is one too."""
    from azbenchlib.cost.priced_setups import resolved

    described = described_setup(setup, vm, disks, as_of, vm_is_enough=True)
    return resolved(described, as_of or date.today().isoformat())


def _vcpus(setup: Setup) -> int | None:
    from azbenchlib.azure import catalog

    return catalog.vm(setup.vm.size, setup.as_of).vcpus if setup.vm.size else None


def _positive(option: str, value: float) -> float:
    if not math.isfinite(value) or value <= 0:
        raise InputError(f"{option} {value}: a number above 0 is needed")
    return value


def _burst(text: str) -> Burst:
    from azbenchlib.cost.operations import Burst

    try:
        seconds, iops, *rest = map(stated_rate, text.split(":"))
        (mbps,) = rest or [0.0]
    except (ValueError, InputError):
        raise InputError(f"--burst '{text}': write SECONDS:IOPS[:MBPS], such as 60:7000") from None
    return Burst(_positive("--burst", seconds), iops, mbps * MB)


def _refuse(found: Bill, there: PriceBook, own: Path | None) -> None:
    """One sentence about the prices that are missing: no total without them."""
    if not found.missing and not found.lines:
        raise InputError("nothing is billed: local disks cost nothing of their own; add --vm or --disk P30")
    if found.missing:
        said = "; ".join(_missing(meter, there, own) for meter in found.missing)
        raise InputError(f"no total, prices are missing in {there.region}: {said}")


def _missing(meter: Meter, there: PriceBook, own: Path | None) -> str:
    from azbenchlib.azure.prices.book import elsewhere, sizes_like
    from azbenchlib.azure.prices.rows import VM_PRODUCT

    if own is not None and meter.product != VM_PRODUCT:
        alike = sorted(p.name for known, p in there.prices.items() if known.product == meter.product)
        return f"{meter} ({own} has there: {', '.join(alike) or 'none of this product'})"
    regions = [name for name in elsewhere(meter) if name != there.region]
    said = f"priced in: {', '.join(regions)}" if regions else "priced in no other region"
    said += f"; `azbench catalog refresh --retail-prices --region {there.region}` reads Azure's"
    near = sizes_like(meter, there) if meter.product == VM_PRODUCT else []
    return f"{meter} ({said}{'; near it there: ' if near else ''}{', '.join(near)})"
