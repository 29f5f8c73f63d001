"""Amounts of money of a setup: what it costs, what it delivers for it, what would be cheaper."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from readback import figures, money
from readback.figures import Figure
from readback.known import ELSEWHERE
from readback.naming import Topic
from readback.reckoning import Fact

if TYPE_CHECKING:
    from readback.check import Checker


class Priced:
    """Amounts of money of a setup."""

    def __init__(self, checker: Checker, topic: Topic, place: str) -> None:
        self.checker, self.topic, self.place = checker, topic, place

    @cached_property
    def months(self) -> list[tuple[float, float]]:
        """What the setups in question cost, and their disks."""
        part = self.checker.part
        named = self.topic.setups or {str(name) for name in part.tables["setups"]["setup_id"]}
        return [month for name in named if (month := part.month(name)) is not None]

    def rates(self, kind: str) -> list[Fact]:
        facts = self.checker.part.facts
        return [f for f in facts if f.pooled and f.kind == kind and f.is_of(self.topic) and not f.mean]

    def cell(self, title: str, text: str) -> None:
        """A column of the price table."""
        for figure in figures.find(text):
            if "1,000 IOPS" in title:
                self.per(figure, "iops", 1000.0, text)
            elif "100 MB/s" in title:
                self.per(figure, "bytes_per_s", 100e6, text)
            else:
                values = [disks if "disks" in title else total for total, disks in self.months]
                self.amount(figure, values, f"{title}: {text}")

    def per(self, figure: Figure, kind: str, many: float, text: str) -> None:
        turned = {"<": ">", ">": "<"}
        values = [
            (total * many / fact.value, fact.within)
            for total, _ in self.months
            for fact in self.rates(kind)
            if fact.value and not fact.mean and turned.get(fact.bound, fact.bound) == figure.bound
        ]
        near = any(figure.shows(v) or abs(figure.value - v) <= figure.half + w * v for v, w in values)
        self.checker.accept(near, figure, self.place, text, [value for value, _ in values], "money")

    def sentence(self, figure: Figure, text: str, per: str, currency: str) -> None:
        printed = self.checker.part.tables["published"]
        printed = printed[printed["unit"].fillna("").str.startswith(f"{currency}/")]
        if currency != "USD" or "ublished" in text:
            self.amount(figure, printed["value"].dropna().tolist(), text)
        elif per:
            self.per(figure, *(("iops", 1000.0) if "IOPS" in per else ("bytes_per_s", 100e6)), text)
        else:
            self.amount(figure, [total for total, _ in self.months], text)

    def amount(self, figure: Figure, values: list[float], text: str) -> None:
        self.checker.accept(any(figure.shows(v) for v in values), figure, self.place, text, values, "money")

    def cheaper(self, text: str) -> None:
        """A design: what it costs, how much less that is, and whether it gives what was measured."""
        words, _, rest = text.partition(": ")
        amount, less = list(figures.find(rest))[:2]
        size, disk = money.design(words)
        part = self.checker.part
        setup = part.setup(next(iter(self.topic.setups or [""])))
        region = str(setup.get("region", ELSEWHERE))
        found = money.setup_month(part.root, size, [disk], region)
        values = [found[0]] if found else []
        self.amount(amount, values, text)
        saved = [100 * (1 - value / total) for value in values for total, _ in self.months]
        self.checker.accept(
            any(abs(less.value - s) <= 0.51 for s in saved), less, self.place, text, saved, "money"
        )
        self.gives(disk, text)

    def gives(self, disk: dict[str, object], text: str) -> None:
        """A design gives the rates of the row that is priced, or the limit that these lie just above."""
        count = float(str(disk["count"]))
        for kind, column in (("iops", "iops"), ("bytes_per_s", "bytes_per_s")):
            sold = disk.get(f"provisioned_{column}") or next(
                (
                    float(t[column])
                    for t in money.tiers(self.checker.part.root)
                    if t["name"] == disk.get("tier")
                ),
                None,
            )
            asked = [
                fact.value
                for place, fact in self.checker.shown
                if fact.kind == kind
                and ("price, row" in place or place.startswith("card '"))
                and fact.is_of(self.topic)
            ]
            if sold is not None and asked and count * float(str(sold)) * 1.05 < max(asked):
                self.checker.fault(
                    self.place,
                    f"'{text}' gives {count * float(str(sold)):,.0f} ({kind}), measured {max(asked):,.0f}",
                )
