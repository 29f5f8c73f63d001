"""The tables that `azbench read` prints of what was read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from azbenchlib.cli.printing.rich_console import Console

if TYPE_CHECKING:
    from azbenchlib.dataset.dataset import Dataset


def print_telemetry(found: Dataset) -> None:
    """A line a device of telemetry: how long it was recorded, and what it did on average."""
    import pandas as pd

    from azbenchlib.core.printable import one_line
    from azbenchlib.core.units import format_count, format_span

    rows = found.tables["demand"]
    table = Table(box=None, pad_edge=False)
    for name in ("Host", "Device", "Tool", "Reports", "Interval", "IOPS on average"):
        table.add_column(name, justify="left" if name in ("Host", "Device", "Tool") else "right")
    for (host, device, tool), own in rows.groupby(["host", "device", "tool"], sort=False, dropna=False):
        iops = own["iops"].fillna(own["read_iops"] + own["write_iops"]).dropna()
        length = own["interval_s"].dropna()
        cells = (
            *("" if pd.isna(name) else one_line(str(name)) for name in (host, device, tool)),
            format_count(len(own)),
            format_span(float(length.median())) if len(length) else "not known",
            format_count(float(iops.mean())) if len(iops) else "not known",
        )
        table.add_row(*map(Text, cells))
    Console(highlight=False).print(table)


def _without_results(found: Dataset) -> str:
    """What there is where no output tells a rate or a percentile of a run, as of logs alone."""
    from azbenchlib.core.schema import LAT_KINDS
    from azbenchlib.core.units import format_count

    samples, bins = found.tables["samples"], found.tables["bins"]
    n = len(samples) + int(bins["n"].sum())
    if not n:
        return "No rate and no percentile of a run was read."
    what = "samples of logs were read, and no output that tells the rates of their runs."
    told = f"{format_count(n)} {what}"
    if bins.empty and not samples["metric"].isin([f"{kind}_us" for kind in LAT_KINDS]).any():
        return told
    return f"{told} --window 1s prints percentiles of latency by time, unless the samples are averages."


def print_overview(found: Dataset, wide: bool = False) -> None:
    """A line a job: what it ran and what it got; with its file and setup where there are several."""
    import pandas as pd

    from azbenchlib.analysis.summary import overview
    from azbenchlib.core.histogram import format_percentile
    from azbenchlib.core.printable import one_line
    from azbenchlib.core.units import format_count, format_mbps, format_size

    rows = overview(found.tables)
    if rows.empty:
        Console(highlight=False).print(Text(_without_results(found)))
        return
    forms = {
        "bs_bytes": ("Block", format_size),
        "queue_depth": ("Depth", format_count),
        "iops": ("IOPS", format_count),
        "bw_bytes_per_s": ("MB/s", format_mbps),
    }
    percentiles = [name for name in rows if re.fullmatch(r"p[0-9.]+_us", name)]
    for name in percentiles if wide else ("p50_us", "p99_us"):
        forms[name] = (name.removesuffix("_us"), format_percentile)
    told = {
        "job": "Job",
        "host": "Host",
        "file": "File",
        "setup": "Setup",
        "rw": "Pattern",
        "ddir": "Direction",
    }
    always = ("job", "rw", "ddir")
    several = {name for name in told if rows[name].nunique() > 1 or (wide and rows[name].notna().any())}
    shown = [name for name in told if name in always or name in several]
    table = Table(box=None, pad_edge=False)
    for name in shown:
        table.add_column(told[name], overflow="fold")
    for heading, _ in forms.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows.to_dict(orient="records"):
        if row["level"] != "job":
            row["job"] = f"{row['job']} ({row['level']})"
        if pd.notna(row["state"]):
            row["job"] = f"{row['job']} ({row['state']})"
        texts = [Text("" if pd.isna(row[name]) else one_line(str(row[name]))) for name in shown]
        table.add_row(
            *texts, *("" if pd.isna(row[name]) else form(row[name]) for name, (_, form) in forms.items())
        )
    Console(highlight=False).print(table)
