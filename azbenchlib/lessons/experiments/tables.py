"""Pieces that several lessons share: tables of texts, and queue depths against rates and latencies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from azbenchlib.azure.catalog.files import rows_of
from azbenchlib.azure.catalog.latency import LATENCY_FILE, PUBLISHED
from azbenchlib.core.units import US_PER_S, format_count, format_size, format_us
from azbenchlib.lessons.measure import Ran
from azbenchlib.plots.confronted import Chart

TOO_LATE_S = 0.002  # real time; what came so much too late makes a measurement doubtful
LADDER_DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
FEW_DEPTHS = (1, 4, 16, 64)
IN_PLACES = (
    "Each line is a place of the queue, each bar an I/O: when one completes, the next takes its place. Drawn "
    "from the emulated disk in calculated time."
)


def by_depth(title: str, latency: bool = False) -> Chart:
    """A chart over queue depth: of IOPS, or of latency."""
    return Chart(
        x_title="Outstanding I/Os (queue depth)",
        y_title=title,
        x_text=format_count,
        y_text=format_us if latency else format_count,
        x_ticks=LADDER_DEPTHS,
        y_log=True,
    )


def origin(name: str, table: str, write: bool) -> str:
    """Say where the latencies of a table come from: publication, direction, block size, year, how many.

    Parameters
    ----------
    name : str
        Of the disk or cache, as the figure calls it.
    table : str
        Of the catalogue's unloaded latencies.
    write : bool
        Whether it serves writes here.
    """
    serves = "write" if write else "read"
    rows = [row for row in rows_of(LATENCY_FILE) if row["profile"] == table and row["serves"] in ("", serves)]
    first, n = rows[0], len(rows)
    if first["kind"] != PUBLISHED:
        return f"Latency of {name}: {first['source']}, {first['date'][:4]}."
    values = f"{n} percentiles" if n > 1 else "one value"
    size = format_size(int(first["bs_bytes"]))
    return f"Latency of {name}: {first['source']}; {first['ddir']}s of {size}, {first['date'][:4]}, {values}."


def told(first: str, names: Sequence[str], rows: pd.DataFrame, spread: bool = True) -> pd.DataFrame:
    """Rates and latencies of jobs as texts, a row a job.

    Parameters
    ----------
    first : str
        Title of the first column.
    names : sequence of str
        What stands in it.
    rows : DataFrame
        Columns iops, lat_mean_us, p50, p99.
    spread : bool
        Whether percentiles are shown. In short runs of a deep queue they say more of how a throttle and the
        end of a run are emulated than of the disk: at its end fio waits for all that is under way, and
        starts nothing.
    """
    table = pd.DataFrame(
        {
            first: list(names),
            "IOPS": [format_count(iops) for iops in rows["iops"]],
            "Mean latency": [format_us(us) for us in rows["lat_mean_us"]],
            "p50": [format_us(us) for us in rows["p50"]],
            "p99": [format_us(us) for us in rows["p99"]],
        }
    )
    return table if spread else table.drop(columns=["p50", "p99"])


def notes(*ran: Ran) -> list[str]:
    """What makes measurements doubtful: that this machine was too busy to complete I/Os in time."""
    late_s = max((one.late_s for one in ran if not math.isnan(one.late_s)), default=0.0)
    if late_s <= TOO_LATE_S:
        return []
    return [
        f"This machine was busy: one completion in a hundred came {format_us(late_s * US_PER_S)} late or "
        "more, so latencies are too long, and rates at small queue depths too low. Close other programs "
        "and measure again."
    ]
