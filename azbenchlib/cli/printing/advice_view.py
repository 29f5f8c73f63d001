"""Advice in a terminal: the answer first, then the alternatives, then what it is based on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from azbenchlib.azure.disk_kinds import NVME
from azbenchlib.cli.printing.console import say
from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core.units import format_count, format_mbps, format_size

if TYPE_CHECKING:
    from azbenchlib.advisor.advise import Advice
    from azbenchlib.advisor.configuration import Configuration
    from azbenchlib.advisor.demands.demand import Demand
    from azbenchlib.advisor.offers.market import Market
    from azbenchlib.advisor.reasons.savings import Saving
    from azbenchlib.advisor.verify import CheckedLimit
    from azbenchlib.advisor.volumes import Volumes

_BAR = 8  # characters of a limit
_LIMITS = 8  # that are shown
_NAMES = 3  # of many that have no price


def show(answer: Advice, why: bool = False) -> None:
    """Print the answer in a few lines; with `why` all of it."""
    console = Console(highlight=False)
    best = answer.best
    console.print(Text(_wanted(answer.demand, answer.market), style="bold"))
    console.print()
    _headline(console, best, answer.market)
    if not why:
        _briefly(console, answer)
        return
    _list(console, "Would cost less", [_saving(one) for one in answer.savings])
    _list(console, "Before you order", (*(one.text for one in best.cautions), *answer.notes))
    _section(console, "Binding limits", _limits(best))
    _section(console, "Alternatives", _designs(answer))
    misses = _misses(best)
    _section(console, "Why cheaper configurations fail", misses) if misses.row_count else None
    _section(console, "Sensitivity", _changes(answer))
    _list(console, "Not ranked", [_unpriced(one) for one in answer.unpriced])
    _list(console, "Assumptions", answer.assumptions)
    _list(console, "Not modelled", answer.not_modelled)
    _list(console, "Sources", _sources(answer))
    console.print(Text("\nTo verify it, run fio on the volume:\n", style="bold"))
    say(best.fio_job)


def _briefly(console: Console, answer: Advice) -> None:
    """What holds it back, what would cost less, and what must be known before it is ordered."""
    best = answer.best
    first = next(one for one in best.limits if one.label == best.binding)
    lines = [f"first limit: {best.binding.display_name}, {first.headroom:+.0%} above the demand"]
    cheaper = "; ".join(f"{one.option} {one.share:.0%} less" for one in answer.savings)
    lines += [f"would cost less: {cheaper}"] if cheaper else []
    lines.append(f"before you order: {'; '.join(caution.brief for caution in best.cautions)}")
    lines += [f"not ranked: {_unpriced(one)}" for one in answer.unpriced if one.at_least]
    for line in lines:
        console.print(Padding(Text(line), (0, 0, 0, 2)))
    console.print("  --why tells the alternatives, limits, assumptions and sources", style="dim")


def _saving(one: Saving) -> str:
    from azbenchlib.advisor.text import disk_text

    size = one.candidate.vm_size.size.removeprefix("Standard_")
    what = f"{size} and {disk_text(one.candidate.option.disk)}"
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
    parts += [f"{demand.cache_hit:.0%} cache hits"] if demand.cache_hit else []
    parts += ["ZRS"] if demand.redundancy == "ZRS" else []
    return f"{'; '.join(parts)}; in {market.region}"


def _headline(console: Console, best: Configuration, market: Market) -> None:
    from azbenchlib.advisor.text import described
    from azbenchlib.azure.prices.rows import PAYG, PAYMENT_WORDS

    disks = best.candidate.option.price
    line = Text("  ")
    line.append(f"{_bounded(best)} {market.currency} a month", style="bold green")
    line.append("   ")
    line.append(best.vm, style="bold")
    vm_size = best.candidate.vm_size
    vcpus = f"{vm_size.vcpus} vCPU{'s' if vm_size.vcpus > 1 else ''}" if vm_size.vcpus else ""
    memory = format_size(vm_size.memory_bytes) if vm_size.memory_bytes else ""
    line.append(f" ({', '.join(filter(None, (vcpus, memory)))})" if vcpus or memory else "")
    console.print(line)
    console.print(f"  {described(best)}")
    vm = f"VM {best.price - disks:,.2f} ({_paid(market)})"
    paid = f" ({PAYMENT_WORDS[market.disk_pay]})" if market.disk_pay != PAYG or market.pay != PAYG else ""
    console.print(f"  {vm}, disks {disks:,.2f}{paid}", style="dim")


def _paid(market: Market) -> str:
    """How the VM is paid, and for how long."""
    from azbenchlib.azure.prices.rows import PAYMENT_WORDS

    system = f"{market.os}, " if market.os != "linux" else ""
    hours = f", {market.running.normalize():f} h" if market.running != market.hours else ""
    return f"{system}{PAYMENT_WORDS[market.pay]}{hours}"


def show_volumes(found: Volumes) -> None:
    """Print a VM with several volumes."""
    from azbenchlib.advisor.text import described

    console, market = Console(highlight=False), found.market
    line = Text("  ")
    bound = "≤ " if any(option.at_most for option in found.options.values()) else ""
    line.append(f"{bound}{found.price:,.2f} {market.currency} a month", style="bold green")
    line.append(f"   {found.vm_size.size}", style="bold")
    console.print(Text(f"{', '.join(found.options)} on one VM; in {market.region}", style="bold"))
    console.print()
    console.print(line)
    table = _grid("left", "left", "right", fold=1)
    table.add_row("VM", _paid(market), f"{market.vm_bill(found.vm_index).total or 0:,.2f}")
    for name, part in found.parts.items():
        table.add_row(Text(name), Text(described(part)), f"{found.options[name].price:,.2f}")
    console.print(Padding(table, (0, 0, 0, 2)))
    _list(console, "Before you order", found.cautions)


def _bounded(one: Configuration) -> str:
    """The price, with a sign where it is the most that it can be."""
    return f"{'≤ ' if one.bound == '<=' else ''}{one.price:,.2f}"


def _section(console: Console, title: str, table: Table) -> None:
    console.print(Text(f"\n{title}", style="bold"))
    console.print(Padding(table, (0, 0, 0, 2)))


def _list(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    if title:
        console.print(Text(f"\n{title}", style="bold"))
    table = _grid("left", "left", fold=1)
    for line in lines:
        table.add_row(Text("·", style="dim"), Text(line))
    console.print(Padding(table, (0, 0, 0, 2)))


def _grid(*columns: str, fold: int = -1) -> Table:
    """A table without lines; one column may be folded."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for i, justify in enumerate(columns):
        table.add_column(justify=justify, no_wrap=i != fold, overflow="fold")  # type: ignore[arg-type]
    return table


def _limits(best: Configuration) -> Table:
    from azbenchlib.advisor.text import amount
    from azbenchlib.advisor.verify import Room

    table = _grid("left", "left", "right", "left", "right")
    ordered = sorted(best.limits, key=lambda one: isinstance(one.label, Room))
    for one in ordered[:_LIMITS]:
        wanted = f"{one.wanted / 60:.1f} min" if one.unit == "credit_s" else amount(one, one.wanted)
        style = "red" if one.label == best.binding else ""
        table.add_row(
            Text(one.label.display_name, style=style),
            _bar(one, style or "cyan"),
            Text(wanted),
            Text(f"of {amount(one, one.limit)}", style="dim"),
            Text(f"{one.headroom:+.0%}" if one.headroom < 9.99 else ">999%"),
        )
    return table


def _bar(one: CheckedLimit, style: str) -> Text:
    """How much of the limit is wanted."""
    full = max(1, round(_BAR * min(1.0, one.wanted / one.limit))) if one.limit else _BAR
    bar = Text("█" * full, style=style)
    bar.append("░" * (_BAR - full), style="dim")
    return bar


def _designs(answer: Advice) -> Table:
    from azbenchlib.advisor.text import disk_text

    table = _grid("right", "right", "left", "left", "left", fold=4)
    cheapest = float(answer.best.price)
    for one in answer.configurations:
        more = float(one.price) / cheapest - 1
        table.add_row(
            Text(_bounded(one), style="green" if one is answer.best else ""),
            Text(f"{more:+.0%}" if one is not answer.best else "", style="dim"),
            Text(one.vm.removeprefix("Standard_")),
            Text(disk_text(one.setup.disks[0])),
            Text(_said(one), style="dim"),
        )
    return table


def _said(one: Configuration) -> str:
    """Its labels in short: what is cheapest needs not be told to be it with its own disks."""
    first, *more = one.labels
    if first == "cheapest":
        more = [label for label in more if " with " not in label or "ZRS" in label]
    return ", ".join((first, *(label.removeprefix("cheapest ") for label in more)))


def _misses(best: Configuration) -> Table:
    from azbenchlib.advisor.text import broken, disk_text

    table = _grid("right", "left", "left", "left", fold=3)
    for miss in best.why_not_cheaper:
        candidate = miss.candidate
        size = (candidate.setup.vm.size or "").removeprefix("Standard_")
        cells = (f"{candidate.price:,.2f}", size, disk_text(candidate.option.disk), broken(miss))
        table.add_row(*map(Text, cells))
    return table


def _changes(answer: Advice) -> Table:
    """What wins then; what changes nothing shares a line."""
    from azbenchlib.advisor.text import disk_text

    table = _grid("left", "right", "left", "left")
    steps: dict[str, list[str]] = {}
    for one in answer.sensitivity:
        if one.same:
            steps.setdefault(one.what, []).append(one.step)
    same = [f"{what} {'±' + found[0][1:] if len(found) > 1 else found[0]}" for what, found in steps.items()]
    for one in answer.sensitivity:
        if one.configuration is None:
            table.add_row(
                Text(one.change), Text(""), Text("no configuration meets it", style="yellow"), Text("")
            )
        elif not one.same:
            size = one.configuration.vm.removeprefix("Standard_")
            disks = disk_text(one.configuration.setup.disks[0])
            cells = (one.change, f"{one.configuration.price:,.2f}", size, disks)
            table.add_row(*map(Text, cells))
    if same:
        return _with_same(table, same)
    return table


def _with_same(table: Table, same: Sequence[str]) -> Table:
    whole = Table.grid()
    whole.add_column(overflow="fold")
    whole.add_row(Text(f"the same configuration stays the cheapest: {', '.join(same)}"))
    if table.row_count:
        whole.add_row(table)
    return whole


def _unpriced(one: Any) -> str:
    names = ", ".join(one.missing[:_NAMES])
    more = f" and {len(one.missing) - _NAMES} more" if len(one.missing) > _NAMES else ""
    least = f", at least {one.at_least:,.2f} a month without it" if one.at_least is not None else ""
    return f"{one.what}, for a price is missing: {names}{more}{least}"


def _sources(answer: Advice) -> list[str]:
    """Which rows of price book and catalogue the answer is made from."""
    from azbenchlib.model.fill_from_catalogue import statements

    best, market = answer.best, answer.market
    found: dict[str, list[str]] = {}
    for line in best.bill.lines:
        source = f"prices of {line.price.as_of} ({line.price.source_id})"
        found.setdefault(source, []).append(f"{line.price.name} {line.price.unit_price:f}/{line.price.unit}")
    paths = _paths(best)
    for limit in statements(best.vm, market.as_of):
        if limit.name.rpartition("_bytes_per_s")[0] in paths or limit.name.rpartition("_iops")[0] in paths:
            found.setdefault(f"limits of {best.vm} ({limit.source_id})", []).append(limit.name)
    disk = best.setup.disks[0]
    named = {row.name: row.source_id for row in market.tiers} | {
        row.sku: row.source_id for row in market.rules
    }
    name = disk.tier or (disk.sku or "").partition("_")[0]
    if name in named:
        found[f"rules of {name} ({named[name]})"] = [f"as of {market.as_of}"]
    return [f"{source}: {', '.join(names)}" for source, names in found.items()]


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
