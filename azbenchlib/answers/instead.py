"""The answer which disks could stand instead of one: prices over the load, and what else differs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azbenchlib.advisor.instead import SHARES
from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import Document, FigureTable, Part, Sentence, TableColumn, TableRow, Tone
from azbenchlib.answers.figures import AS_BYTES_PER_S, AS_IOPS, Figure, money
from azbenchlib.core.printable import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from azbenchlib.advisor.demands.demand import Demand
    from azbenchlib.advisor.instead import Substitutes
    from azbenchlib.advisor.offers.disk_options import DiskOption
    from azbenchlib.azure.disk_kinds import DiskKind

_LEFT_OUT = (
    "The VM is left out: its limits hold with each of these disks, and some sizes have higher ones for "
    "Premium SSD v2 and Ultra Disk. Bursts are left out. The load lasts all the time, and transactions are "
    "billed for it."
)
_DIFFERENCES = (
    TableColumn("kind", "Kind"),
    TableColumn("latency_class", "Latency class"),
    TableColumn("host_caching", "Host caching"),
    TableColumn("is_os_disk", "As OS disk"),
    TableColumn("zone", "Zone"),
    TableColumn("sla", "SLA of a single VM"),
)


class SubstitutesAnswer(Answer):
    """Which disks could stand instead of one.

    Parameters
    ----------
    result : Substitutes
    """

    result: Substitutes

    def __init__(self, result: Substitutes) -> None:
        self.result = result

    @cached_property
    def document(self) -> Document:
        """The cheapest instead, up to which load each kind costs less, prices over the load, differences."""
        compared = self.result
        text = "Instead of {disk} ({iops} and {rate}): {price}; in {region}"
        values: dict[str, Figure | str] = {
            "disk": compared.disk.name,
            "price": self._price(compared.option),
            "region": compared.market.region,
        }
        parts: list[Part] = [self._best(), *self._up_to(), self._prices(), self._differences()]
        parts += [
            Sentence(f"{kind.label} has no price in {compared.market.region}") for kind in compared.unpriced
        ]
        parts += [Sentence(f"Attention: {text}", tone=Tone.DOUBT) for text in compared.doubts]
        parts.append(Sentence(_LEFT_OUT))
        return Document(Sentence(text, values | self._load(compared.demand)), parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the disk, the cheapest of each kind for each load, and up to which one it costs less."""
        compared = self.result
        return {
            "instead_of": compared.disk.name,
            "region": compared.market.region,
            "limits_as_of": compared.market.as_of,
            "size_bytes": compared.demand.size_bytes,
            "best": None if compared.best is None else compared.best.disk.name,
            "costs_no_more_up_to": {
                kind.key: None
                if load is None
                else dict(zip(("iops", "bytes_per_s"), load.steady, strict=True))
                for kind, load in self._limits.items()
            },
            "prices": plain(self._records()),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row a load and kind.

        Returns
        -------
        DataFrame
            share (of the load), iops, bytes_per_s, kind, disks, redundancy, price_per_month, currency.
        """
        import pandas as pd

        from azbenchlib.core import schema

        texts = ("kind", "disks", "redundancy", "currency")
        table = pd.DataFrame(self._records())
        return table.astype({name: schema.TEXT if name in texts else schema.FLOAT for name in table})

    def draw(self, axes: Axes) -> None:
        """Draw the price of each kind over the IOPS of the load."""
        rows = self.to_frame()
        for kind, own in rows.groupby("kind", sort=False):
            axes.plot(own["iops"], own["price_per_month"], marker="o", label=self._labels[str(kind)])
        axes.set(xlabel="IOPS", ylabel=f"{self.result.market.currency} a month", title=self.result.disk.name)
        axes.set_ylim(bottom=0)
        axes.legend()

    @cached_property
    def _labels(self) -> dict[str, str]:
        return {kind.key: kind.label for kind in self.result.kinds}

    @cached_property
    def _limits(self) -> dict[DiskKind, Demand | None]:
        """Up to which load each other kind costs no more; empty where the price of the disk grows with it."""
        if self.result.is_billed_by_use:
            return {}
        return {kind: self.result.cheaper_up_to(kind) for kind in self.result.kinds[1:]}

    def _best(self) -> Sentence:
        compared = self.result
        if compared.best is None:
            return Sentence("no other kind of disk that is as fast meets this load", tone=Tone.STRONG)
        change = float(compared.best.price / compared.option.price) - 1
        values: dict[str, Figure | str] = {
            "disks": compared.best.disk.name,
            "price": self._price(compared.best),
        }
        more = f"{abs(change):.1%} {'less' if change < 0 else 'more'}"
        return Sentence(f"{compared.best.kind.label} {{disks}}: {{price}}, {more}", values, Tone.STRONG)

    def _up_to(self) -> Iterator[Sentence]:
        for kind, load in self._limits.items():
            if load is None:
                yield Sentence(f"{kind.label} costs more at any load")
            else:
                yield Sentence(f"{kind.label} costs no more up to {{iops}} and {{rate}}", self._load(load))

    def _load(self, demand: Demand) -> dict[str, Figure | str]:
        iops, rate = demand.steady
        return {"iops": Figure(iops, AS_IOPS), "rate": Figure(rate, AS_BYTES_PER_S)}

    def _price(self, option: DiskOption) -> Figure:
        market = self.result.market
        bound = "≤ " if option.at_most else ""
        unit = money(market.currency, "month")
        text = f"{bound}{option.price:,.2f} {unit.suffix}"
        return Figure(option.price, unit, f"prices in {market.region}", text=text)

    def _prices(self) -> FigureTable:
        """A row a load, a column a kind."""
        compared = self.result
        unit = money(compared.market.currency, "month")
        columns = (
            TableColumn("iops", "IOPS", AS_IOPS),
            TableColumn("bytes_per_s", "MB/s", AS_BYTES_PER_S),
            *(TableColumn(kind.key, kind.label, unit) for kind in compared.kinds),
        )
        rows = []
        for share in SHARES:
            iops, rate = compared.loaded(share).steady
            prices = (self._cell(compared.at(kind, share)) for kind in compared.kinds)
            rows.append(TableRow((Figure(iops, AS_IOPS), Figure(rate, AS_BYTES_PER_S), *prices)))
        note = f"{compared.market.currency} a month for the cheapest disks of a kind; none: none have as much"
        return FigureTable(columns=columns, rows=rows, note=note)

    def _cell(self, option: DiskOption | None) -> Figure:
        """A price, with the disks where they are of a tier."""
        unit = money(self.result.market.currency, "month")
        if option is None:
            return Figure(None, unit, text="none")
        disks = f" {option.disk.name}" if option.kind.tiered else ""
        bound = "≤ " if option.at_most else ""
        return Figure(option.price, unit, text=f"{bound}{option.price:,.2f}{disks}")

    def _differences(self) -> FigureTable:
        """What the kinds differ in beside the price."""
        rows = [
            TableRow(
                (
                    kind.label,
                    kind.latency_class,
                    "yes" if kind.cacheable else "no",
                    "no" if kind.no_os_source else "yes",
                    "needed" if kind.zonal else "",
                    f"{kind.single_vm_sla * 100:g}%",
                )
            )
            for kind in self.result.kinds
        ]
        return FigureTable(columns=_DIFFERENCES, rows=rows)

    def _records(self) -> list[dict[str, Any]]:
        compared = self.result
        records = []
        for share in SHARES:
            iops, rate = compared.loaded(share).steady
            for kind in compared.kinds:
                if (option := compared.at(kind, share)) is None:
                    continue
                records.append(
                    {
                        "share": share,
                        "iops": iops,
                        "bytes_per_s": rate,
                        "kind": kind.key,
                        "disks": option.disk.name,
                        "redundancy": (option.disk.sku or "").partition("_")[2],
                        "price_per_month": option.price,
                        "currency": compared.market.currency,
                    }
                )
        return records
