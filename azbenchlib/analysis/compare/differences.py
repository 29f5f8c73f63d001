"""What else differs between the sides of a comparison, besides what was to be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from azbenchlib.analysis.compare.matching import SideRuns
from azbenchlib.core.units import format_mbps, format_size

Tables = Mapping[str, pd.DataFrame]
_NOT_STATED = "not stated"
_MOST = 4  # values of one fact that are listed

_SETUP: dict[str, tuple[str, Callable[[Any], str]]] = {
    "environment": ("environment", str),
    "region": ("region", str),
    "zone": ("availability zone", str),
    "vm_size": ("VM size", str),
    "ram_bytes": ("main memory", format_size),
    "os": ("operating system", str),
    "kernel": ("kernel", str),
    "time_scale": ("dilation factor", "{:g}".format),
    "credit_s": ("time that full burst credits last", "{:g} s".format),
    "as_of": ("date of the documented limits", str),
}
_DISK: dict[str, tuple[str, Callable[[Any], str]]] = {
    "role": ("role of the disk", str),
    "sku": ("disk SKU", str),
    "tier": ("performance tier", str),
    "size_bytes": ("disk size", format_size),
    "host_caching": ("host caching", str),
    "provisioned_iops": ("provisioned IOPS", "{:,}".format),
    "provisioned_bytes_per_s": ("provisioned throughput", lambda value: f"{format_mbps(value)} MB/s"),
    "count": ("number of disks", str),
    "stripe": ("stripe", str),
    "bursting": ("bursting", lambda value: "on" if value else "off"),
}
_RUN: dict[str, tuple[str, Callable[[Any], str]]] = {
    "tool": ("tool", str),
    "tool_version": ("tool version", str),
    "ioengine": ("I/O engine", str),
    "direct": ("page cache", lambda value: "bypassed" if value else "in use"),
    "host": ("host", str),
    "target": ("target", str),
    "numjobs": ("jobs", str),
    "working_set_bytes": ("working set", format_size),
    "runtime_limit_s": ("requested run time", "{:g} s".format),
    "ramp_s": ("ramp time", "{:g} s".format),
    "time_based": ("time-based", lambda value: "yes" if value else "no"),
    "idle_before_s": ("rest before a run", "{:g} s".format),
}


@dataclass(frozen=True)
class Difference:
    """A fact that the sides do not share; texts for both."""

    fact: str
    a: str
    b: str

    @property
    def sentence(self) -> str:
        """``kernel: 5.15 and 6.1``."""
        return f"{self.fact}: {self.a} and {self.b}"


def differences(a: Tables, b: Tables, runs_a: SideRuns, runs_b: SideRuns) -> list[Difference]:
    """All facts that the runs that are compared do not share; what one side does not state differs too."""
    told = [_facts(tables, side) for tables, side in ((a, runs_a), (b, runs_b))]
    facts = dict.fromkeys([*told[0], *told[1]])
    found = [
        Difference(fact, told[0].get(fact, _NOT_STATED), told[1].get(fact, _NOT_STATED)) for fact in facts
    ]
    order = _order(a, b, runs_a, runs_b)
    return [one for one in found if one.a != one.b] + ([order] if order else [])


def _facts(tables: Tables, side: SideRuns) -> dict[str, str]:
    """Fact to its values in words; facts that are not stated are left out."""
    ids = side.runs.loc[side.runs["stated"], "setup_id"].unique()
    setups = tables["setups"][tables["setups"]["setup_id"].isin(ids)]
    disks = tables["disks"][tables["disks"]["setup_id"].isin(ids)]
    runs = tables["runs"][tables["runs"]["run_id"].isin(side.runs["run_id"])]
    found: dict[str, str] = {}
    for table, names in ((setups, _SETUP), (disks, _DISK), (runs, _RUN)):
        for column, (fact, form) in names.items():
            values = list(dict.fromkeys(form(value) for value in table[column].dropna()))
            if values:
                found[fact] = _listed(sorted(values))
    return found | _credits(tables, runs)


def _listed(values: Sequence[str]) -> str:
    more = f" and {len(values) - _MOST} more" if len(values) > _MOST else ""
    return ", ".join(values[:_MOST]) + more


def _credits(tables: Tables, runs: pd.DataFrame) -> dict[str, str]:
    """Burst credits at the start, where the lab logged them: the least and the most of all runs."""
    samples = tables["samples"]
    mine = samples[(samples["metric"] == "credits") & samples["run_id"].isin(runs["run_id"])]
    if mine.empty:
        return {}
    first = mine.sort_values("seq").groupby(["run_id", "object"], dropna=False)["value"].first().dropna()
    if first.empty:
        return {}
    low, high = (f"{value:,.0f}" for value in (first.min(), first.max()))
    return {"burst credits at the start": low if low == high else f"{low} to {high}"}


def _order(a: Tables, b: Tables, runs_a: SideRuns, runs_b: SideRuns) -> Difference | None:
    """That one side ran before the other, where all starts are known: time differs with the side."""
    spans = []
    for tables, side in ((a, runs_a), (b, runs_b)):
        starts = side.starts_of(tables)
        if starts.empty or starts.isna().any():
            return None
        spans.append((starts.min(), starts.max()))
    (first_a, last_a), (first_b, last_b) = spans
    if last_a >= first_b and last_b >= first_a:
        return None
    texts = [
        " to ".join(f"{datetime.fromtimestamp(end, UTC):%Y-%m-%d %H:%M:%S}" for end in span) + " UTC"
        for span in spans
    ]
    return Difference("time of the runs, which were not interleaved", *texts)
