"""Advice for many workloads, for one workload in many regions, and for several volumes on one VM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azbenchlib.advisor.text import described
from azbenchlib.answers.advice import csv_columns, flat, flat_frame, paid_words
from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import (
    Document,
    FigureTable,
    Listing,
    Part,
    Sentence,
    TableColumn,
    TableRow,
    Tone,
)
from azbenchlib.answers.figures import Figure, money
from azbenchlib.core.printable import plain

if TYPE_CHECKING:
    import pandas as pd

    from azbenchlib.advisor.reasons.cautions import Caution
    from azbenchlib.advisor.volumes import Volumes

_KEYS = {"Workload": "demands", "Region": "regions"}  # of to_dict, by what a row is of


class ConfigurationsAnswer(Answer):
    """The cheapest configuration of each of several questions.

    Parameters
    ----------
    result : list of dict
        A record a question, with ``name`` and ``error``, which is empty where there is an answer.
    of : {"Workload", "Region"}
        What the questions differ in.
    currency : str
    cautions : sequence of sequence of Caution
        Of each answer.
    """

    result: list[dict[str, Any]]

    def __init__(
        self,
        result: list[dict[str, Any]],
        of: str,
        currency: str,
        cautions: Sequence[Sequence[Caution]],
    ) -> None:
        self.result = result
        self._of, self._currency, self._cautions = of, currency, cautions

    @cached_property
    def document(self) -> Document:
        """A row an answer, what to know before it is ordered, and which questions have none."""
        columns = (
            TableColumn("name", self._of),
            TableColumn("price_per_month", f"{self._currency} a month", money(self._currency, "month")),
            TableColumn("vm", "VM"),
            TableColumn("disks", "Disks"),
            *([TableColumn("os_disk", "OS disk")] if self._has_os_disks else []),
            TableColumn("binding_limit", "Binding limit"),
        )
        rows = [self._row(record) for record in self.result if not record["error"]]
        parts: list[Part] = [FigureTable(columns=columns, rows=rows)]
        if self._cautions:
            parts.append(Sentence(f"before you order: {'; '.join(_counted(self._cautions))}"))
        refused: dict[str, list[str]] = {}
        for record in self.result:
            if record["error"]:
                refused.setdefault(record["error"], []).append(record["name"])
        parts += [Sentence(f"{', '.join(names)}: {why}", tone=Tone.DOUBT) for why, names in refused.items()]
        return Document(None, parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the records below ``demands`` or ``regions``."""
        return {_KEYS[self._of]: plain(self.result)}

    def to_frame(self) -> pd.DataFrame:
        """Return a row a question, with ``error`` where there is no answer."""
        return flat_frame(self.result, ("name", "error"))

    def csv_rows(self) -> tuple[Sequence[str], Iterable[Mapping[str, Any]]]:
        """Return the same rows with exact decimals."""
        return csv_columns(("name", "error")), map(flat, self.result)

    def _row(self, record: Mapping[str, Any]) -> TableRow:
        bound = "≤ " if record["price_bound"] == "<=" else ""
        price = record["price_per_month"]
        shown = Figure(price, money(self._currency, "month"), text=f"{bound}{price:,.2f}")
        of_os = [record["os_disk"] or "–"] if self._has_os_disks else []
        binding = record["binding_limit"].display_name
        return TableRow((record["name"], shown, record["vm"], record["disks"], *of_os, binding))

    @property
    def _has_os_disks(self) -> bool:
        return any(record.get("os_disk") for record in self.result)


class VolumesAnswer(Answer):
    """A VM with the disks of several volumes."""

    result: Volumes

    def __init__(self, result: Volumes) -> None:
        self.result = result

    @cached_property
    def document(self) -> Document:
        """The price, then the VM and each volume with its disks."""
        volumes, market = self.result, self.result.market
        month = money(market.currency, "month")
        is_bound = any(option.at_most for option in volumes.options.values())
        text = f"{'≤ ' if is_bound else ''}{volumes.price:,.2f} {market.currency} a month"
        parts: list[Part] = [
            Sentence(
                "{price}: {vm}",
                {"price": Figure(volumes.price, month, text=text), "vm": volumes.vm_size.size},
                Tone.STRONG,
            ),
            self._table(),
        ]
        if volumes.cautions:
            parts.append(Listing("Before you order", [Sentence(caution) for caution in volumes.cautions]))
        return Document(Sentence(f"{', '.join(volumes.options)} on one VM; in {market.region}"), parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the VM, the volumes with their disks and jobs, and their demands."""
        return dict(plain(self.result.record()))

    def _table(self) -> FigureTable:
        volumes, market = self.result, self.result.market
        month = money(market.currency, "month")
        vm = market.vm_bill(volumes.vm_index).total
        prices = {"VM": vm, **{name: volumes.options[name].price for name in volumes.parts}}
        disks = {name: described(option) for name, option in volumes.options.items()}
        words = {"VM": paid_words(market), **disks}
        columns = (
            TableColumn("volume", "Volume"),
            TableColumn("price_per_month", f"{market.currency} a month", month),
            TableColumn("disks", "What it has"),
        )
        rows = [
            TableRow((name, Figure(price, month, text="" if price is None else f"{price:,.2f}"), words[name]))
            for name, price in prices.items()
        ]
        return FigureTable(columns=columns, rows=rows)


def _counted(cautions: Sequence[Sequence[Caution]]) -> Iterator[str]:
    """Yield what is to be known before it is ordered, and of how many answers where not of all."""
    counts = Counter(brief for some in cautions for brief in dict.fromkeys(caution.brief for caution in some))
    for brief, many in counts.most_common():
        yield brief if many == len(cautions) else f"{brief} ({many} of {len(cautions)})"
