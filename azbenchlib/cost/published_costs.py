"""What a publication says that its disks cost, recomputed from its own unit prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import pandas as pd

from azbenchlib.azure import catalog, disk_kinds
from azbenchlib.azure.prices.rows import Meter, Price
from azbenchlib.core.units import format_count
from azbenchlib.cost.bill import BillLine, bill
from azbenchlib.cost.priced_setups import resolved
from azbenchlib.cost.usage import VCPU_FEE, Use, charges
from azbenchlib.model.descriptions import stated_setup
from azbenchlib.model.setup import Setup

HOUR = Decimal(1)
RESERVATION = "vcpu_reservation"
# The published statistic of an Ultra Disk's price, its meter, and the unit of both.
METERS = {
    "capacity": ("Ultra LRS Provisioned Capacity", "1 GiB/Hour"),
    "iops": ("Ultra LRS Provisioned IOPS", "1/Hour"),
    "mbps": ("Ultra LRS Provisioned Throughput (MBps)", "1/Hour"),
    RESERVATION: (VCPU_FEE, "1/Hour"),
}
Tables = Mapping[str, pd.DataFrame]


@dataclass(frozen=True, kw_only=True)
class Recount:
    """A printed cost compared with what its own unit prices come to.

    Parameters
    ----------
    what : str
        Such as ``Total``.
    printed, computed : Decimal
    unit : str
        As printed: USD/h.
    how : str
        The sum, in figures.
    claim : str
        What the publication says of it; empty: nothing.
    """

    what: str
    printed: Decimal
    computed: Decimal
    unit: str
    how: str
    claim: str

    @property
    def right(self) -> bool:
        """Whether both agree."""
        return self.printed == self.computed


def recounts(tables: Tables) -> list[Recount]:
    """Every printed cost of an Ultra Disk whose unit prices are printed too: parts, total and reservation.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of a dataset: ``published`` has quantity ``unit_price`` and ``cost``, by run.
    """
    rows = tables["published"].merge(tables["runs"][["run_id", "setup_id"]], on="run_id")
    found: list[Recount] = []
    for (_, setup_id), mine in rows.groupby(["run_id", "setup_id"], sort=False):
        priced = mine[(mine["quantity"] == "unit_price") & mine["stat"].isin(list(METERS))]
        printed = mine[mine["quantity"] == "cost"].set_index("stat")
        if len(priced) and len(printed):
            setup = stated_setup(tables, str(setup_id))
            found += _recounts(resolved(setup, str(setup.as_of)), _prices(priced), printed)
    return found


def vm_prices(tables: Tables) -> pd.DataFrame:
    """The VM prices that a publication states.

    Returns
    -------
    DataFrame
        One row a VM size: vm_size, setup_id, unit (EUR/month), and a column for each payment option (payg,
        1y_reserved) as printed.
    """
    rows = tables["published"]
    rows = rows[rows["quantity"] == "vm_price"].merge(tables["runs"][["run_id", "setup_id"]], on="run_id")
    rows = rows.merge(tables["setups"][["setup_id", "vm_size"]], on="setup_id")
    keys = ["vm_size", "setup_id", "unit"]
    return rows.pivot(index=keys, columns="stat", values="value").rename_axis(columns=None).reset_index()


def _prices(rows: pd.DataFrame) -> dict[Meter, Price]:
    found = {}
    for row in rows.itertuples():
        name, unit = METERS[str(row.stat)]
        meter = Meter(disk_kinds.ULTRA.product, name)
        currency = str(row.unit).partition("/")[0]
        found[meter] = Price(
            meter=meter,
            name=name,
            region="",
            currency=currency,
            unit_price=_exact(row.value),
            unit=unit,
            as_of="",
            source_id=f"line {row.source_line}",
        )
    return found


def _recounts(setup: Setup, prices: Mapping[Meter, Price], printed: pd.DataFrame) -> list[Recount]:
    disks = bill(charges(replace(setup, vm=replace(setup.vm, size=None)), "", HOUR), prices, HOUR)
    by_name = {line.price.name: line for line in disks.lines}
    parts = {stat: by_name[name] for stat, (name, _) in METERS.items() if name in by_name}
    stated = {stat: part for stat, part in parts.items() if stat in printed.index}
    found = [_recount(stat, printed.loc[stat], [part]) for stat, part in stated.items()]
    if "total_as_printed" in printed.index:
        found.append(_recount("total", printed.loc["total_as_printed"], disks.lines))
    if RESERVATION in printed.index and setup.vm.size:
        row = catalog.vm(setup.vm.size, setup.as_of)
        use = Use(vcpus=row.vcpus, ultra_enabled=True)
        bare = charges(Setup(setup.vm, as_of=setup.as_of), "", HOUR, use)
        fee = bill((one for one in bare if one.meter.product == disk_kinds.ULTRA.product), prices, HOUR)
        found.append(_recount("reservation", printed.loc[RESERVATION], fee.lines))
    return found


def _recount(what: str, printed: pd.Series, lines: tuple[BillLine, ...] | list[BillLine]) -> Recount:
    computed = sum((line.amount for line in lines), Decimal(0))
    if len(lines) == 1:
        (line,) = lines
        how = f"{format_count(float(line.quantity))} × {line.price.unit_price}"
    else:
        how = " + ".join(f"{line.amount.normalize():f}" for line in lines)
    claim = "" if pd.isna(printed["claim"]) else str(printed["claim"])
    return Recount(
        what=what,
        printed=_exact(printed["value"]),
        computed=computed.normalize(),
        unit=str(printed["unit"]),
        how=how,
        claim=claim,
    )


def _exact(value: object) -> Decimal:
    """The figure as it was printed: a float of few digits prints as it was read."""
    return Decimal(str(value)).normalize()
