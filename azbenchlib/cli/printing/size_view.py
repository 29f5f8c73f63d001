"""A size in a terminal: the answer first, then what cheaper ones would do, then what it is based on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core.units import format_span
from azbenchlib.sizing import device_text
from azbenchlib.sizing import text as words
from azbenchlib.sizing.percentile_rule import COMFORT, PERCENTILE

if TYPE_CHECKING:
    from azbenchlib.sizing.answer import Outcome, SizeAnswer
    from azbenchlib.sizing.busiest import LabCheck

_TIMES = 3  # of each design that are shown
_DEVICES = 6  # that are named


def show(answer: SizeAnswer, checks: Sequence[LabCheck] = ()) -> None:
    """Print all of it."""
    console = Console(highlight=False)
    console.print(Text(_what(answer), style="bold"))
    console.print(Padding(_load(answer), (0, 0, 1, 2)))
    for choice in answer.telemetry.choices.values():
        if doubt := device_text.unclear(choice):
            console.print(Text(f"Attention: {doubt}\n", style="yellow"))
    _design(console, "Cheapest that does", answer, answer.best)
    if answer.next_cheaper is None:
        console.print(Text("\nNothing is cheaper", style="bold"))
    else:
        _design(console, "The best of what costs less", answer, answer.next_cheaper)
    title = f"By the {PERCENTILE}th percentile × {COMFORT:g}, as assessments do"
    if answer.by_percentile is None:
        console.print(Text(f"\n{title}: nothing is that large", style="bold"))
    else:
        _design(console, title, answer, answer.by_percentile)
    if checks:
        _list(console, "Replayed by fio on emulated disks", [words.checked(check) for check in checks])
    devices = [device_text.sentences(*item) for item in answer.telemetry.choices.items()]
    if lines := sum(devices, ()):
        _list(console, "Devices", lines)
    _list(console, "Assumptions", words.assumptions(answer))
    _list(console, "Not modelled", words.NOT_IN_SIZES)


def _what(answer: SizeAnswer) -> str:
    telemetry, history = answer.telemetry, answer.history
    hosts = ", ".join(
        f"{host} ({', '.join(devices[:_DEVICES])}{' …' if len(devices) > _DEVICES else ''})"
        for host, devices in telemetry.devices.items()
    )
    begin = words.moment(history, 0.0)
    allowed, region = format_span(answer.requirement.throttled_s), answer.market.region
    return (
        f"{hosts}: {format_span(history.duration_s)} in intervals of {format_span(telemetry.interval_s)} "
        f"from {begin}; throttled for {allowed} at most; in {region}"
    )


def _load(answer: SizeAnswer) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "right", "right", "right"):
        table.add_column(justify=justify)
    table.add_row(*(Text(name, style="dim") for name in ("load", "median", "p95", "largest")))
    for name, *figures in words.load_figures(answer):
        table.add_row(Text(name), *(Text(words.rate(name, figure)) for figure in figures))
    return table


def _design(console: Console, title: str, answer: SizeAnswer, outcome: Outcome) -> None:
    design, market = outcome.design, answer.market
    disk = design.setup.disks[0]
    redundancy = (disk.sku or "").partition("_")[2]
    console.print(Text(f"\n{title}", style="bold"))
    line = Text("  ")
    line.append(f"{design.price:,.2f} {market.currency}", style="bold green")
    line.append(f" a month   {design.vm} with {disk.name}{f' {redundancy}' if redundancy != 'LRS' else ''}")
    console.print(line)
    console.print(Text(f"  throttled: {words.bounds(outcome)}{_share(outcome)}"))
    for one in outcome.times(_TIMES):
        console.print(Text(f"    {words.throttled_at(answer.history, one)}", style="dim"))
    more = len(outcome.replayed.throttled) - _TIMES
    if more > 0:
        console.print(Text(f"    and {more:,} more times", style="dim"))


def _share(outcome: Outcome) -> str:
    return f" ({outcome.share:.2%} of the time at least)" if outcome.at_least_s else ""


def _list(console: Console, title: str, lines: Sequence[str]) -> None:
    console.print(Text(f"\n{title}", style="bold"))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(overflow="fold")
    for line in lines:
        table.add_row(Text("·", style="dim"), Text(line))
    console.print(Padding(table, (0, 0, 0, 2)))
