"""What a running lab does, as a screen that is kept up to date."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core.units import format_count, format_mbps, format_us
from azbenchlib.lab.server import live_log
from azbenchlib.lab.server.live_log import LiveObject, State

_POLL_S = 0.25
_TAIL_BYTES = 64 * 1024
_BAR = 30  # characters of full credits


def follow(log: Path) -> None:
    """Show the newest state of a lab until its server ends."""
    with Live(view(live_log.read(log, _TAIL_BYTES)), console=Console(), auto_refresh=False) as screen:
        while live_log.alive(log):
            screen.update(view(live_log.read(log, _TAIL_BYTES)), refresh=True)
            time.sleep(_POLL_S)


def view(state: State) -> Group:
    """One screen: a table of the volumes, bars of the credits, and whether this machine keeps up.

    Rates and credits are those of the real disks: time dilation is undone.
    """
    k = state.header.time_scale
    head = f"{state.header.setup}, time dilation {k:g}x" if k != 1 else f"{state.header.setup}, real time"
    if not state.lines:
        return Group(Text(head))
    last = state.lines[-1]
    late = last.late_us
    foot = "" if late is None else f"1 in 100 completions is more than {format_us(late)} late on this machine"
    return Group(Text(head), _volumes(state), Text(), _credits(state), Text(foot, style="dim"))


def _volumes(state: State) -> Table:
    last = state.lines[-1]
    table = Table(box=None, pad_edge=False)
    table.add_column("Volume")
    for name in ("IOPS", "MB/s", "Queue", "Cache hits"):
        table.add_column(name, justify="right", min_width=8)
    table.add_column("Limited by")
    for name in last.done:
        now = last.objects.get(name, LiveObject())
        iops, rate = state.rates(name)
        hits, depth = now.cache_hit_ratio, now.queue_depth or 0
        cells = (format_count(round(iops)), format_mbps(rate), format_count(depth))
        hit_text = "" if hits is None else f"{hits:.0%}"
        limits = state.binding_limits(name) if iops or depth else {}
        limited = [f"{limit.display_name} {share:.0%}" for limit, share in limits.items()]
        table.add_row(*map(Text, (name, *cells, hit_text, ", ".join(limited))))
    return table


def _credits(state: State) -> Table:
    """How much is left of the credits with which the lab started full."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, overflow="ellipsis")
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    for name, full in state.header.full_credits.items():
        known = state.lines[-1].objects.get(name, LiveObject()).credits
        level = full if known is None else known
        share = level / full if full else 0.0
        filled = round(_BAR * min(max(share, 0.0), 1.0))
        owner, label = live_log.limit_of(name)
        in_bytes = label is not None and label.quantity == "mbps"
        amount = f"{format_mbps(level)} MB" if in_bytes else f"{format_count(round(level))} I/Os"
        shown = f"{owner} {label.display_name}" if label else name
        bar = Text("█" * filled, style="green" if share > 0.2 else "red") + Text("░" * (_BAR - filled))
        table.add_row(Text(f"credits {shown}"), bar, Text(f"{share:.0%}, {amount}"))
    return table
