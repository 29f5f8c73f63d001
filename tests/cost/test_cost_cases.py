"""Published examples of cost: each is reckoned from what the case states, with today's code.

Which figure a case expects decides what is reckoned; nothing here knows a case, a source or a size by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from published_cases import cases, cases_files

from azbenchlib.azure import catalog
from azbenchlib.azure.prices.rows import Meter, Price
from azbenchlib.core.units import GIB, MB, parse_size
from azbenchlib.cost.bill import bill
from azbenchlib.cost.operations import Burst, burst_transactions, burst_units
from azbenchlib.cost.usage import Charge, Use, charges
from azbenchlib.model.rules import bytes_per_s_range, iops_range
from azbenchlib.model.setup import Cap, Disk, Setup
from azbenchlib.verdict.cases.read import setup_of

Case = dict[str, Any]
COST = [case for case in cases() if set(case["expected"]["binding"]) & {"cost", "catalogue"}]
PV2 = "PremiumV2_LRS"
# "10 s @6,000 IOPS", "20 s @300 MB/s"
STRETCH = re.compile(r"([\d,.]+) s @ ?([\d,.]+) (IOPS|MB/s|MBps)")


def number(text: str) -> float:
    return float(text.replace(",", ""))


def bursts(case: Case) -> list[Burst]:
    found = [
        Burst(number(seconds), **{"iops" if unit == "IOPS" else "bytes_per_s": number(rate) * scale})
        for seconds, rate, unit in STRETCH.findall(case["demand"]["profile"])
        for scale in (1 if unit == "IOPS" else MB,)
    ]
    assert found, case["demand"]["profile"]
    return found


def bursting(case: Case) -> tuple[list[Burst], Disk]:
    (disk,) = setup_of(case).disks
    return bursts(case), disk


def transactions(case: Case) -> float:
    asked, disk = bursting(case)
    own = disk.cap.iops or 0, disk.cap.bytes_per_s or 0
    return burst_transactions(asked, *own)


def units(case: Case) -> float:
    asked, disk = bursting(case)
    return burst_units(asked, disk.cap.iops or 0, disk.cap.bytes_per_s or 0)


def reservation(case: Case, *disks: Disk) -> list[Charge]:
    setup = setup_of(case)
    vcpus = catalog.vm(setup.vm.size or "", setup.as_of).vcpus
    use = Use(vcpus=vcpus, ultra_enabled=True)
    found = charges(Setup(setup.vm, disks, setup.as_of), "nowhere", Decimal(1), use)
    return [one for one in found if "Reservation" in one.meter.name]


def vcpus_billed(case: Case) -> float:
    (fee,) = reservation(case)
    return float(fee.quantity)


def rules(case: Case) -> Any:
    return catalog.provisioned_rules(PV2, setup_of(case).as_of)


def max_iops(case: Case) -> dict[str, float]:
    sizes = case["expected"]["achieved"]["max_iops"]
    return {size: iops_range(rules(case), parse_size(size)).high for size in sizes}


def max_mbps(case: Case) -> dict[str, float]:
    return {
        text: bytes_per_s_range(rules(case), number(text.removesuffix("iops"))).high / MB
        for text in case["expected"]["achieved"]["max_mbps"]
    }


FIGURES: dict[str, Callable[[Case], Any]] = {
    "burst_transactions": transactions,
    "units_of_10k": units,
    "vcpus_billed": vcpus_billed,
    "max_iops": max_iops,
    "max_mbps": max_mbps,
    "free_iops": lambda case: rules(case).baseline_iops,
    "free_mbps": lambda case: rules(case).baseline_bytes_per_s / MB,
}
TOLD = "charged_when"  # in words: what is charged then, and not else, is a test of its own


def test_the_cost_cases_are_there() -> None:
    if not cases_files():
        pytest.skip("AZBENCH_CORPUS is not set, or there is no folder cases beside it")
    assert {case["kind"] for case in COST} >= {"cost_example", "catalogue"}


@pytest.mark.parametrize("case", COST, ids=lambda case: case["id"])
def test_a_cost_case_is_as_published(case: Case) -> None:
    achieved = {name: value for name, value in case["expected"]["achieved"].items() if name != TOLD}
    assert achieved
    for name, value in achieved.items():
        assert FIGURES[name](case) == pytest.approx(value, rel=case["expected"]["tol_rel"] or 1e-12), name


@pytest.mark.parametrize(
    "case", [case for case in COST if TOLD in case["expected"]["achieved"]], ids=lambda case: case["id"]
)
def test_the_reservation_is_for_a_vm_that_is_ready_and_has_no_ultra_disk(case: Case) -> None:
    attached = Disk(name="data", sku="UltraSSD_LRS", size_bytes=4 * GIB, cap=Cap(iops=100, bytes_per_s=MB))
    setup = setup_of(case)
    assert reservation(case) and not reservation(case, attached)
    assert [one.meter.product for one in charges(setup, "nowhere", Decimal(1))] == ["Virtual Machines"]


def test_two_amounts_of_a_table_of_2015_add_up() -> None:
    """1,003.66 for the VM and 544.34 for its disks are 1,548.00; the table printed 1,544.34."""
    vm, disks = Meter.of_vm("Standard_DS14"), Meter("Premium Storage", "disks")
    amounts = {vm: "1003.66", disks: "544.34"}
    prices = {
        meter: Price(
            meter=meter,
            name=meter.name,
            region="nowhere",
            currency="USD",
            unit_price=Decimal(amount),
            unit="1/Month",
            as_of="2015-01-01",
            source_id="table",
        )
        for meter, amount in amounts.items()
    }
    found = bill([Charge(meter, Decimal(1), "") for meter in amounts], prices, Decimal(730))
    assert found.total == Decimal("1548.00")
