"""What a report says to change: Azure sells such a part, it gives that much and costs that much more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from readback import figures, money
from readback.known import ELSEWHERE, documented
from readback.naming import Topic

if TYPE_CHECKING:
    from readback.check import Checker

IS_CHANGE = re.compile(r"\bgives? (?:up to|as much)\b")
_WHAT = re.compile(r"^(?:An? |(?P<count>\d+) × )?(?P<name>.+?)$")
_TIER = re.compile(r"[PES]\d+\b")
_ANEW = re.compile(r"^With (?:[\d.,]+ [GT]iB, )?(?P<iops>[\d,]+) IOPS and (?P<mbps>[\d.,]+) MB/s provisioned")
_MORE = re.compile(r"(?:USD )?([\d.,]+) (more|less) a month")
_INSTEAD = re.compile(r"\(([\d.,]+) instead of ([\d.,]+)\)")
_LEAST = 0.97  # of what was measured, that a change must give: disks give a few per cent above their limit


class Change:
    """One sentence on one change."""

    def __init__(self, checker: Checker, topic: Topic, place: str) -> None:
        self.checker, self.topic, self.place = checker, topic, place
        self.root, self.part = checker.part.root, checker.part

    def read(self, text: str) -> None:
        """Check every rate and every amount."""
        for said in re.split(r"(?<=\.) (?=[A-Z\d])", text):
            if IS_CHANGE.search(said):
                self._one(said)

    def _one(self, text: str) -> None:
        what, _, rest = text.partition(" give")
        anew = _ANEW.match(what)
        sold = self._sold(what)
        for figure in figures.find(rest):
            if figure.kind in ("iops", "bytes_per_s"):
                values = {*documented(self.part, self.topic.setups)[figure.kind], *sold[figure.kind]}
                self.checker.accept(
                    any(figure.shows(one) for one in values),
                    figure,
                    self.place,
                    text,
                    sorted(values),
                    "limit",
                )
        if anew is None:
            self._money(text, what)
        elif not _MORE.search(text):
            self.checker.fault(self.place, f"'{text}' has no price")

    def _sold(self, what: str) -> dict[str, list[float]]:
        """The limits of the new part."""
        found: dict[str, list[float]] = {"iops": [], "bytes_per_s": []}
        named = _WHAT.match(what.partition(" the disk")[0].partition(" on each")[0])
        count = float(named["count"] or 1) if named else 1.0
        if tier := _TIER.search(what):
            for row in money.tiers(self.root):
                for kind in found:
                    cells = (row[kind], row[f"burst_{kind}"], row[f"on_demand_burst_{kind}"])
                    found[kind] += [count * float(cell) for cell in cells if cell and row["name"] == tier[0]]
        for figure in figures.find(what):
            if figure.kind in found:
                found[figure.kind] += [figure.base, figure.base * 2]
        size = f"standard_{what.rpartition(' ')[2]}".lower()
        for table in money.documented(self.root):
            rows = table[table["size"].str.lower() == size]
            for kind in found:
                for column in (name for name in table.columns if name.endswith(kind)):
                    found[kind] += rows[column].dropna().astype(float).tolist()
        return found

    def _money(self, text: str, what: str) -> None:
        """What the new part costs, and what that is above the old one."""
        words = re.sub(r"^An? ", "", what)
        months = []
        for name in self.topic.setups or {str(one) for one in self.part.tables["setups"]["setup_id"]}:
            row = self.part.setup(name)
            region = str(row.get("region", ELSEWHERE))
            if _TIER.search(words) or "(" in words:
                _, disk = money.design(f"X with {words}")
                new = money.disk_month(self.root, disk, region)
                olds = [money.disk_month(self.root, one, region) for one in self.part.disks(name)]
            else:
                new = money.vm_month(self.root, f"Standard_{words}", region)
                olds = [money.vm_month(self.root, str(row.get("vm_size")), region)]
            months += [(new, old) for old in olds if new is not None and old is not None]
        for figure in (one for one in figures.find(text) if one.kind == "money"):
            values = [value for new, old in months for value in (new, abs(new - old))]
            self.checker.accept(
                any(figure.shows(one) for one in values), figure, self.place, text, values, "money"
            )
        if pair := _INSTEAD.search(text):
            shown = [float(one.replace(",", "")) for one in pair.groups()]
            near = any(abs(new - shown[0]) < 1 and abs(old - shown[1]) < 1 for new, old in months)
            if not near:
                self.checker.fault(self.place, f"'{text}': {pair[0]}, but {months}")
