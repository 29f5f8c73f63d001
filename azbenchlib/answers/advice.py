"""Advice: the recommended VM with disks for a demand, then what holds it back and what else there is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azbenchlib.advisor.advise import ONE_DISK
from azbenchlib.advisor.configuration import CHEAPEST, FEWEST
from azbenchlib.advisor.document import document as advice_record
from azbenchlib.advisor.text import amount, broken, described
from azbenchlib.advisor.verify import PlaceLimit
from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import (
    Bar,
    Bars,
    CodeBlock,
    Document,
    FigureTable,
    Listing,
    Part,
    Section,
    Sentence,
    TableColumn,
    TableRow,
    Tone,
)
from azbenchlib.answers.drawing import horizontal_bars
from azbenchlib.answers.figures import (
    AS_BYTES,
    AS_BYTES_PER_S,
    AS_COUNT,
    AS_IOPS,
    AS_SECONDS,
    AS_SHARE,
    Figure,
    FigureUnit,
    money,
)
from azbenchlib.azure.catalog import OVER_NVME
from azbenchlib.azure.disk_kinds import NVME
from azbenchlib.azure.prices.rows import PAYG, PAYMENT_WORDS
from azbenchlib.core.printable import plain
from azbenchlib.core.units import format_count, format_mbps, format_size
from azbenchlib.model.fill_from_catalogue import statements

if TYPE_CHECKING:
    from decimal import Decimal

    import pandas as pd
    from matplotlib.axes import Axes

    from azbenchlib.advisor.advise import Advice
    from azbenchlib.advisor.configuration import Configuration
    from azbenchlib.advisor.demands.demand import Demand
    from azbenchlib.advisor.offers.market import Market
    from azbenchlib.advisor.reasons.savings import Saving
    from azbenchlib.advisor.verify import CheckedLimit

_LIMITS = 8  # that are shown
_NAMES = 3  # of many that have no price
_MOST_SHARE = 9.99  # headroom that is shown as a share
_UNITS = {
    "iops": AS_IOPS,
    "bytes_per_s": AS_BYTES_PER_S,
    "bytes": AS_BYTES,
    "disks": AS_COUNT,
    "credit_s": AS_SECONDS,
}
_COLUMNS = {
    "vm": "string",
    "disks": "string",
    "os_disk": "string",
    "redundancy": "string",
    "caching": "string",
    "price_per_month": "Float64",
    "price_bound": "string",
    "currency": "string",
    "binding_limit": "string",
    "headroom": "Float64",
    "why_not_cheaper": "string",
    "labels": "string",
    "recommended": "boolean",
    "kind": "string",
    "bursts": "boolean",
    "region": "string",
    "hours": "Float64",
    "vm_hours": "Float64",
    "pay": "string",
    "disk_pay": "string",
    "os": "string",
    "cautions": "string",
}
SENSITIVITY = "Sensitivity"  # title of a section
_LISTS = ("why_not_cheaper", "labels", "cautions")


class AdviceAnswer(Answer):
    """The recommended configuration for one demand, with alternatives.

    Parameters
    ----------
    result : Advice
        With ``best``, ``configurations``, ``savings``, ``records()``; the answer has these names, too.
    is_full : bool
        Whether the document has alternatives, limits, assumptions, sources and the fio job.
    doubts : sequence of Sentence
        What is to be known of the demand.
    """

    result: Advice

    def __init__(self, result: Advice, *, is_full: bool = False, doubts: Sequence[Sentence] = ()) -> None:
        self.result = result
        self._is_full = is_full
        self._doubts = tuple(doubts)

    def explained(self) -> AdviceAnswer:
        """Return the same with all that it rests on: what ``--why`` prints."""
        return AdviceAnswer(self.result, is_full=True, doubts=self._doubts)

    @cached_property
    def document(self) -> Document:
        """The demand, the recommended configuration with its price, and what is to be known of it."""
        advice = self.result
        head = _priced(advice.best, advice.market)
        rest = _explanation(advice) if self._is_full else _in_short(advice)
        return Document(Sentence(_wanted(advice.demand, advice.market)), [*self._doubts, *head, *rest])

    def to_dict(self) -> dict[str, Any]:
        """Return the configurations, what the answer assumes, leaves out and depends on."""
        doubts = {"doubts": [one.text for one in self._doubts]} if self._doubts else {}
        return dict(plain(advice_record(self.result))) | doubts

    def to_frame(self) -> pd.DataFrame:
        """Return a row a configuration, the recommended one first; lists are texts with ``; `` between."""
        return flat_frame(self.result.records())

    def csv_rows(self) -> tuple[Sequence[str], Iterable[Mapping[str, Any]]]:
        """Return the same rows with exact decimals."""
        return csv_columns(), map(flat, self.result.records())

    def draw(self, axes: Axes) -> None:
        """Draw what the configurations cost a month as horizontal bars."""
        shown = self.result.configurations
        names = [f"{_short(one.vm)}, {one.setup.disks[0].name}" for one in shown]
        prices = [float(one.price) for one in shown]
        horizontal_bars(axes, names, prices, f"{self.result.market.currency} a month")


def csv_columns(around: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns of configurations with further ones: the first in front, the others behind."""
    return (*around[:1], *_COLUMNS, *around[1:])


def flat_frame(records: Sequence[Mapping[str, Any]], around: Sequence[str] = ()) -> pd.DataFrame:
    """Return records of configurations as a table.

    Parameters
    ----------
    records : sequence of mapping
    around : sequence of str
        Columns of text, as :func:`csv_columns` places them.
    """
    import pandas as pd

    dtypes = {name: _COLUMNS.get(name, "string") for name in csv_columns(around)}
    rows = [plain(flat(record)) for record in records]
    return pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes)


def flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record in cells: of the headroom that of the binding limit, lists in one text."""
    cells = {**record, **{name: "; ".join(record[name]) for name in _LISTS if name in record}}
    if "headroom" in record:
        cells["headroom"] = record["headroom"][record["binding_limit"]]
    return cells


def _priced(best: Configuration, market: Market) -> Iterator[Part]:
    os_option, of_vm = best.candidate.os_option, best.candidate.vm_bill.total
    month = money(market.currency, "month")
    prices = (line.price for line in best.bill.lines)
    source = "; ".join(dict.fromkeys(f"{price.source_id} of {price.as_of}" for price in prices))
    size = best.candidate.vm_size
    vcpus = f"{size.vcpus} vCPU{'s' if size.vcpus > 1 else ''}" if size.vcpus else ""
    about = ", ".join(filter(None, (vcpus, format_size(size.memory_bytes) if size.memory_bytes else "")))
    price = Figure(best.price, month, source, text=f"{_bounded(best)} {market.currency} a month")
    yield Sentence(
        "{price}: {vm}{about}",
        {"price": price, "vm": best.vm, "about": f" ({about})" if about else ""},
        Tone.STRONG,
    )
    yield Sentence(described(best.candidate.option))
    if os_option:
        yield Sentence("OS disk: {disk}", {"disk": described(os_option)})
    is_plain = market.disk_pay == PAYG and market.pay == PAYG
    yield Sentence(
        "VM {vm} ({paid}), disks {disks}{disks_paid}" + (", OS disk {os_disk}" if os_option else ""),
        {
            "vm": _amount(of_vm, month, source),
            "paid": paid_words(market),
            "disks": _amount(best.candidate.option.price, month, source),
            "disks_paid": "" if is_plain else f" ({PAYMENT_WORDS[market.disk_pay]})",
            **({"os_disk": _amount(os_option.price, month, source)} if os_option else {}),
        },
        Tone.FAINT,
    )


def _amount(price: Decimal | None, unit: FigureUnit, source: str) -> Figure:
    return Figure(price, unit, source, text="" if price is None else f"{price:,.2f}")


def _in_short(advice: Advice) -> Iterator[Part]:
    """Yield what holds it back, what would cost less, and what must be known before it is ordered."""
    best = advice.best
    first = next(one for one in best.limits if one.label == best.binding)
    above = Figure(first.headroom, AS_SHARE, text=f"{first.headroom:+.0%}")
    yield Sentence(
        "first limit: {limit}, {above} above the demand", {"limit": best.binding.display_name, "above": above}
    )
    yield from _fewer_and_more_disks(advice)
    cheaper = "; ".join(f"{one.option} {one.share:.0%} less" for one in advice.savings)
    if cheaper:
        yield Sentence(f"would cost less: {cheaper}")
    no_os_disk = () if advice.demand.os_disk else ("no OS disk in the price (see --os-disk)",)
    cautions = (*(caution.brief for caution in best.cautions), *no_os_disk)
    yield Sentence(f"before you order: {'; '.join(cautions)}")
    yield from (Sentence(f"not ranked: {_unpriced(one)}") for one in advice.unpriced if one.at_least)


def _fewer_and_more_disks(advice: Advice) -> Iterator[Sentence]:
    """Yield what the cheapest costs less, and what one disk costs more, than the recommended one."""
    best = advice.best
    for label, sentence in (
        (CHEAPEST, "the cheapest is {share} less, with more disks: {vm}{disk}"),
        (ONE_DISK, "with one disk {share} more: {vm}{disk}"),
    ):
        for one in advice.configurations:
            if label in one.labels and one is not best:
                share = abs(float(one.price / best.price) - 1)
                vm = "" if one.vm == best.vm else f"{one.vm}, "
                figure = Figure(share, AS_SHARE, text=f"{share:.1%}")
                yield Sentence(sentence, {"share": figure, "vm": vm, "disk": described(one.candidate.option)})


def _explanation(advice: Advice) -> Iterator[Part]:
    best = advice.best
    yield from _listed("Would cost less", [_saving(one) for one in advice.savings])
    yield from _listed("Before you order", [*(one.text for one in best.cautions), *advice.notes])
    yield Section("Binding limits", [_limits(best)])
    yield Section("Alternatives", [_alternatives(advice)])
    if best.why_not_cheaper:
        yield Section("Why cheaper configurations fail", [_misses(advice)])
    yield Section(SENSITIVITY, list(_changes(advice)))
    yield from _listed("Not ranked", [_unpriced(one) for one in advice.unpriced])
    yield from _listed("Assumptions", advice.assumptions)
    yield from _listed("Not modelled", advice.not_modelled)
    yield from _listed("Sources", _sources(advice))
    yield CodeBlock(best.fio_job, "To verify it, run fio on the volume:", "ini")


def _listed(title: str, lines: Sequence[str]) -> Iterator[Part]:
    if lines:
        yield Listing(title, [Sentence(line) for line in lines])


def _limits(best: Configuration) -> Bars:
    ordered = sorted(best.limits, key=lambda one: isinstance(one.label, PlaceLimit))
    return Bars([_bar(one, one.label == best.binding) for one in ordered[:_LIMITS]])


def _bar(one: CheckedLimit, binds: bool) -> Bar:
    """Return how much of the limit is wanted, in figures of the limit rather than as a share."""
    wanted = f"{one.wanted / 60:.1f} min" if one.unit == "credit_s" else amount(one, one.wanted)
    room = f"{one.headroom:+.0%}" if one.headroom < _MOST_SHARE else ">999%"
    share = Figure(one.wanted / one.limit if one.limit else None, AS_SHARE, text=wanted)
    of = Figure(one.limit, _UNITS[one.unit], text=f"{amount(one, one.limit)}, {room}")
    return Bar(one.label.display_name, share, of, binds)


def _columns(market: Market, *more: TableColumn) -> tuple[TableColumn, ...]:
    price = TableColumn("price_per_month", f"{market.currency} a month", money(market.currency, "month"))
    return (TableColumn("vm", "VM"), price, TableColumn("disks", "Disks"), *more)


def _alternatives(advice: Advice) -> FigureTable:
    market, recommended = advice.market, float(advice.best.price)
    month = money(market.currency, "month")
    rows = []
    for one in advice.configurations:
        more = float(one.price) / recommended - 1
        price = Figure(one.price, month, text=_bounded(one))
        share = Figure(more, AS_SHARE, text=f"{more:+.0%}")
        tone = Tone.SURE if one is advice.best else Tone.PLAIN
        cells = (_short(one.vm), price, share, one.setup.disks[0].name, _said(one))
        rows.append(TableRow(cells, tone=tone))
    vm, price_column, disks = _columns(market)
    more_column, labels = TableColumn("more", "More", AS_SHARE), TableColumn("labels", "What it is")
    return FigureTable(columns=(vm, price_column, more_column, disks, labels), rows=rows)


def _misses(advice: Advice) -> FigureTable:
    month = money(advice.market.currency, "month")
    rows = [
        TableRow(
            (
                _short(miss.candidate.setup.vm.size or ""),
                Figure(miss.candidate.price, month, text=f"{miss.candidate.price:,.2f}"),
                miss.candidate.option.disk.name,
                broken(miss),
            )
        )
        for miss in advice.best.why_not_cheaper
    ]
    return FigureTable(columns=_columns(advice.market, TableColumn("why", "What is in the way")), rows=rows)


def _changes(advice: Advice) -> Iterator[Part]:
    """Yield what stays recommended in one sentence, and what becomes it after which change."""
    month = money(advice.market.currency, "month")
    steps: dict[str, list[str]] = {}
    rows = []
    for one in advice.sensitivity:
        if one.same:
            steps.setdefault(one.what, []).append(one.step)
        elif one.configuration is None:
            rows.append(
                TableRow(
                    (one.change, Figure(None, month, text="–"), "", "no configuration meets it"),
                    tone=Tone.DOUBT,
                )
            )
        else:
            price = Figure(one.configuration.price, month, text=f"{one.configuration.price:,.2f}")
            disks = one.configuration.setup.disks[0].name
            rows.append(TableRow((one.change, price, _short(one.configuration.vm), disks)))
    if steps:
        same = (f"{what} {'±' + some[0][1:] if len(some) > 1 else some[0]}" for what, some in steps.items())
        yield Sentence(f"the same configuration stays recommended: {', '.join(same)}")
    if rows:
        vm, price_column, disks_column = _columns(advice.market)
        yield FigureTable(
            columns=(TableColumn("change", "Change"), price_column, vm, disks_column), rows=rows
        )


def _short(size: str) -> str:
    return size.removeprefix("Standard_")


def _saving(one: Saving) -> str:
    size = one.candidate.vm_size.size.removeprefix("Standard_")
    what = f"{size} and {one.candidate.option.disk.name}"
    return f"{one.what} ({one.option}): {one.share:.0%} less, {one.candidate.price:,.2f} with {what}"


def _wanted(demand: Demand, market: Market) -> str:
    iops, size = demand.steady
    rate = f"{format_count(iops)} IOPS of" if demand.iops else f"{format_mbps(size)} MB/s in I/Os of"
    parts = [f"{rate} {format_size(demand.block)}, {demand.read_share:.0%} reads"]
    if len(demand.moments()) > 1:
        parts.append(f"{format_mbps(size)} MB/s")
    if demand.peak:
        most, mbps = demand.highest
        length = f"{demand.peak.seconds / 60:g} of every {demand.peak.period_s / 60:g} min"
        parts.append(f"{format_count(most)} IOPS and {format_mbps(mbps)} MB/s for {length}")
    parts.append(format_size(demand.size_bytes))
    parts += [f"OS disk of {format_size(demand.os_disk.size_bytes)}"] if demand.os_disk else []
    parts += [f"{demand.cache_hit:.0%} cache hits"] if demand.cache_hit else []
    parts += ["ZRS"] if demand.redundancy == "ZRS" else []
    return f"{'; '.join(parts)}; in {market.region}"


def paid_words(market: Market) -> str:
    """Return how the VM is paid, and for how long."""
    system = f"{market.os}, " if market.os != "linux" else ""
    hours = f", {market.running.normalize():f} h" if market.running != market.hours else ""
    return f"{system}{PAYMENT_WORDS[market.pay]}{hours}"


def _bounded(one: Configuration) -> str:
    """The price, with a sign where it is the most that it can be."""
    return f"{'≤ ' if one.bound == '<=' else ''}{one.price:,.2f}"


def _said(one: Configuration) -> str:
    """Its labels in short: what is cheapest needs not be told to be it with its own disks."""
    first, *more = one.labels
    if first in (CHEAPEST, FEWEST):
        more = [label for label in more if " with " not in label or "ZRS" in label]
    return ", ".join((first, *(label.removeprefix("cheapest ") for label in more)))


def _unpriced(one: Any) -> str:
    names = ", ".join(one.missing[:_NAMES])
    more = f" and {len(one.missing) - _NAMES} more" if len(one.missing) > _NAMES else ""
    least = f", at least {one.at_least:,.2f} a month without it" if one.at_least is not None else ""
    return f"{one.what}, for a price is missing: {names}{more}{least}"


def _sources(answer: Advice) -> list[str]:
    """Which rows of price book and catalogue the answer is made from."""
    best, market = answer.best, answer.market
    rows: dict[str, list[str]] = {}
    for line in best.bill.lines:
        source = f"prices of {line.price.as_of} ({line.price.source_id})"
        rows.setdefault(source, []).append(f"{line.price.name} {line.price.unit_price:f}/{line.price.unit}")
    paths = _paths(best)
    stated = {limit.name: limit for limit in statements(best.vm, market.as_of)}
    for name, limit in stated.items():
        if paths.isdisjoint((name.rpartition("_bytes_per_s")[0], name.rpartition("_iops")[0])):
            continue
        if not _is_of_interface(name, stated, market.with_nvme):
            continue
        rows.setdefault(f"limits of {best.vm} ({limit.source_id})", []).append(name)
    disk = best.setup.disks[0]
    named = {row.name: row.source_id for row in market.tiers} | {
        row.sku: row.source_id for row in market.rules
    }
    name = disk.tier or (disk.sku or "").partition("_")[0]
    if name in named:
        rows[f"rules of {name} ({named[name]})"] = [f"as of {market.as_of}"]
    return [f"{source}: {', '.join(names)}" for source, names in rows.items()]


def _is_of_interface(name: str, stated: Collection[str], with_nvme: bool) -> bool:
    """Whether a limit is that of the interface that counts: over NVMe, where it is stated apart, or SCSI."""
    return name + OVER_NVME not in stated if with_nvme else not name.endswith(OVER_NVME)


def _paths(best: Configuration) -> set[str]:
    """Which of a VM's limits the configuration passes, as the catalogue calls them."""
    vm, kind = best.setup.vm, best.kind
    if kind is NVME:
        stems = [("nvme", ("read", "write"))]
    elif kind.local:
        stems = [("temp" if vm.temp else "cached", ("", "write"))]
    else:
        v2 = kind.separate_vm_limits and vm.uncached_v2
        also = ("", "write", *(("burst",) if best.demand.peak else ()))
        stems = [("uncached_v2" if v2 else "uncached", also)]
        stems += [("cached", also)] if best.caching != "None" else []
    return {"_".join(filter(None, (stem, part))) for stem, parts in stems for part in parts}
