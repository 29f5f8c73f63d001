"""What a running lab does, as a screen that is kept up to date."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from azbenchlib.lab import live
from azbenchlib.lab.live import State
from azbenchlib.units import format_count, format_mbps, format_us

_POLL_S = 0.25
_TAIL_BYTES = 64 * 1024
_SPAN_S = 1.0  # real seconds that a rate is taken over
_BAR = 30  # characters of full credits


def follow(log: Path) -> None:
    """Show the newest state of a lab until its server ends."""
    with Live(view(live.read(log, _TAIL_BYTES)), auto_refresh=False) as screen:
        while live.alive(log):
            screen.update(view(live.read(log, _TAIL_BYTES)), refresh=True)
            time.sleep(_POLL_S)


def view(state: State) -> Group:
    """One screen: a table of the volumes, bars of the credits, and whether this machine keeps up.

    Rates and credits are those of the real disks: slow motion is undone.
    """
    k = state.header["time_scale"]
    head = f"{state.header['setup']}, slow motion {k:g}x" if k != 1 else f"{state.header['setup']}, real time"
    if not state.lines:
        return Group(Text(head))
    last = state.lines[-1]
    late = last["late_us"]
    foot = "" if late is None else f"1 in 100 completions is more than {format_us(late)} late on this machine"
    return Group(Text(head), _volumes(state), Text(), _credits(state), Text(foot, style="dim"))


def _volumes(state: State) -> Table:
    last = state.lines[-1]
    table = Table(box=None, pad_edge=False)
    table.add_column("Volume")
    for name in ("IOPS", "MB/s", "Queue", "Cache hits"):
        table.add_column(name, justify="right", min_width=8)
    table.add_column("Held back by")
    for name in last["done"]:
        now = last["objects"].get(name, {})
        iops, rate = _rates(state, name)
        hits = now.get("cache_hit_ratio")
        cells = (format_count(round(iops)), format_mbps(rate), format_count(now.get("queue_depth", 0)))
        hit_text = "" if hits is None else f"{hits:.0%}"
        holding = _holding(last["objects"], name) if iops or now.get("queue_depth") else []
        table.add_row(*map(Text, (name, *cells, hit_text, ", ".join(holding))))
    return table


def _rates(state: State, volume: str) -> tuple[float, float]:
    """I/Os and bytes per emulated second, over the last real one."""
    last = state.lines[-1]
    span = [line for line in state.lines if line["unix_s"] >= last["unix_s"] - _SPAN_S]
    seconds = last["t_s"] - span[0]["t_s"]
    if not seconds:
        return 0.0, 0.0
    iops, rate = (
        (new - old) / seconds
        for new, old in zip(last["done"][volume], span[0]["done"].get(volume, (0, 0)), strict=True)
    )
    return iops, rate


def _holding(objects: dict[str, dict[str, float]], volume: str) -> list[str]:
    """The limits that a good part of the requests had to wait for, of the volume and of the VM."""
    shares = {
        name: state["throttled_share"]
        for name, state in objects.items()
        if state.get("throttled_share", 0) > 0.1
    }
    mine = {name: share for name, share in shares.items() if name.rpartition(" ")[0] in (volume, "vm")}
    return [f"{name.rpartition(' ')[2]} {share:.0%}" for name, share in sorted(mine.items(), key=_largest)]


def _largest(item: tuple[str, float]) -> float:
    return -item[1]


def _credits(state: State) -> Table:
    """How much is left of the credits with which the lab started full."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True, overflow="ellipsis")
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    objects: dict[str, Any] = state.lines[-1]["objects"]
    for name, full in state.header["full_credits"].items():
        level = objects.get(name, {}).get("credits", full)
        share = level / full if full else 0.0
        filled = round(_BAR * share)
        amount = f"{format_mbps(level)} MB" if name.endswith("mbps") else f"{format_count(round(level))} I/Os"
        bar = Text("█" * filled, style="green" if share > 0.2 else "red") + Text("░" * (_BAR - filled))
        table.add_row(Text(f"credits {name}"), bar, Text(f"{share:.0%}, {amount}"))
    return table
