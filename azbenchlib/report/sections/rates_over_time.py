"""Figures of rates over time: what all jobs did together, below the limits that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from azbenchlib import plots
from azbenchlib.analysis.flow import rates
from azbenchlib.analysis.over_time import token_bucket_fit
from azbenchlib.analysis.over_time.rate_samples import IOPS_METRIC, THROUGHPUT_METRIC
from azbenchlib.analysis.over_time.sustained import course_of, phases_of
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.answers.sayings import REACHED, bar_name
from azbenchlib.core import schema
from azbenchlib.core.units import US_PER_S, format_count, format_mbps, format_us
from azbenchlib.model.credits import BURST_S
from azbenchlib.model.labels import Label
from azbenchlib.plots import timeline
from azbenchlib.plots.throttle import Cap, rate_over_time
from azbenchlib.report import formatting
from azbenchlib.report.figures import MOST_FIGURES, Group, Panel, Told, again, panels
from azbenchlib.verdict import LimitRow

if TYPE_CHECKING:
    from azbenchlib.report.part import Part, RunVerdict

MOST_CAPS, _FAR = 3, 3.0  # a limit this many times above the rate would flatten the line
_OVERFULL = 1.05  # of a bucket: from there on the rate was no whole burst, and tells nothing of the credits
_SAME_SIZE = 0.05  # bytes an I/O that vary no more are of one block size: logs are in whole IOPS and KiB/s
_LOW = 1 / 3  # of the median: from there on an interval is worth a headline
_STALL_S = 0.1  # without I/O: a shorter pause is the latency of few
DASHED = "A dashed line is a documented limit, for the block size of this run."
USED_LIMITS = (
    "The lowest chart has what Azure Monitor counted: the share of each limit that was used, a mean a "
    "minute. At 100 % a limit is reached. A minute that the run filled only in part shows less."
)
CREDITS = (
    "Above the base limit a burst spends credits, and when they are gone the rate falls to the base. Credits "
    "at the start are worked out from the rate until it fell."
)
SUMMED = (
    "A line is the rate of all jobs that ran at once, reads and writes together, from what the tool logged. "
    "The shade reaches from the least to the largest value of a short span of time, or of repeats."
)
RATE_LEVEL = "A level line is a steady disk; a step is a limit that began or ended; a gap to zero is a stall."
_PER_THOUSAND = 1000
ALL_LOADS = "All loads together"


def figures_over_time(
    part: Part,
    place: str,
    found: Sequence[RunVerdict],
    group: Group,
    told: Told = None,
    steady: bool | None = None,
) -> Block | None:
    """Rates over time: runs below their limits, then workloads whose rates were logged; None without samples.

    With `steady` only the workloads whose rates stayed as they were; where it is False only those where
    something happened, with the runs whose rate had phases, else the first that Azure Monitor knows.
    """
    frame = part.rate_courses
    if frame.empty:
        return None
    logged = [verdict for verdict in found if course_of(verdict.run) is not None]
    limited = [one for one in logged if _is_limited(part, one)] if steady is None else _telling(logged)
    alone = limited[:MOST_FIGURES]
    every = _workloads(part, frame, {(verdict.entry.key, verdict.workload) for verdict in alone})
    if steady is not None:
        changed = {facet for facet, _, rows in every if _slowest(rows)}
        every = [panel for panel in every if (panel[0] not in changed) == steady]
    shown = [] if steady else [_of_run(part, verdict) for verdict in alone]
    drawn = every[: MOST_FIGURES - len(shown)]
    shown += [_of_workload(part, logged, one, frame) for one in drawn]
    more = (0 if steady else len(limited) - len(alone)) + len(every) - len(drawn)
    if more and shown:
        shown[-1]["how"].append(f"Without a figure: {formatting.count(more, 'more workload')}.")
    return Block("\n".join(_render(f"{place}-rate-{i}", one, group, told) for i, one in enumerate(shown)))


def _render(name: str, shown: dict[str, Any], group: Group, told: Told) -> str:
    svg = safe(plots.both(shown.pop("draw"), name))
    # rates and latencies over time are read differently
    folded = again("rate over time", told)
    block = render("figure", id=f"{name}-figure", kind="time", folded=folded, svg=svg, group=group, **shown)
    return block.html


def _telling(logged: Sequence[RunVerdict]) -> list[RunVerdict]:
    """The runs whose rate had phases; where none had, the first that Azure Monitor knows."""
    telling = [verdict for verdict in logged if phases_of(verdict.run)]
    return telling or [one for one in logged if one.run.flows[0].observation.consumed_pct][:1]


def _is_limited(part: Part, verdict: RunVerdict) -> bool:
    """Whether there is more to draw of a run than its rate."""
    trace, fitted = _trace(verdict)
    return bool(_caps(verdict, float(trace["iops"].max())) or fitted or len(_used(part, verdict)))


def _of_run(part: Part, verdict: RunVerdict) -> dict[str, Any]:
    """The figure of a run below its limits."""
    trace, fitted = _trace(verdict)
    caps, used = _caps(verdict, float(trace["iops"].max())), _used(part, verdict)
    entry = next(entry for some in part.groups for entry in some if entry.key == verdict.entry.key)
    return {
        "draw": partial(rate_over_time, trace, caps, entry, used=used),
        "title": _fell(fitted) if fitted else verdict.judged.words,
        "what": f"{verdict.entry.name}, {verdict.workload}: IOPS in each interval of the log.",
        "how": [
            *([DASHED] if caps else []),
            *([CREDITS] if fitted else []),
            *([USED_LIMITS] if len(used) else []),
        ],
    }


def _workloads(part: Part, frame: pd.DataFrame, drawn: set[tuple[str, str]]) -> list[Panel]:
    """A panel a workload, of those that are not drawn yet: IOPS, or MB/s where these are all there is."""
    keys = pd.MultiIndex.from_frame(frame[["series", "facet"]])
    rest = frame[~keys.isin(list(drawn))] if drawn else frame
    rated = rest.loc[rest["metric"] == IOPS_METRIC, ["series", "facet"]].drop_duplicates()
    with_iops = pd.MultiIndex.from_frame(rest[["series", "facet"]]).isin(pd.MultiIndex.from_frame(rated))
    found: list[Panel] = []
    for rows in (rest[rest["metric"] == IOPS_METRIC], rest[~with_iops]):
        found += panels(part, rows, None)
    for facet, series, rows in list(found):
        if (moved := _of_varying_size(part, frame, rows)) is not None:
            found.append((facet, series, moved))
    return found


def _of_varying_size(part: Part, frame: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame | None:
    """The MB/s of IOPS where they say something else, as the bytes of an I/O vary; None where they do not."""
    if (rows["metric"] != IOPS_METRIC).any():
        return None
    keys = {(row.series, row.facet) for row in rows[["series", "facet"]].drop_duplicates().itertuples()}
    varying = [key for key in keys if _size(part, frame, key) == 0.0]
    if not varying:
        return None
    moved = frame[frame["metric"] == THROUGHPUT_METRIC]
    return moved[pd.MultiIndex.from_frame(moved[["series", "facet"]]).isin(varying)]


def _size(part: Part, frame: pd.DataFrame, key: tuple[str, str]) -> float | None:
    """The bytes of an I/O where they are the same throughout; 0 where they vary, None where nothing tells.

    What a run states counts before its logs, whose short intervals have few I/Os.
    """
    runs = part.arrangement.runs
    mine = runs[(runs["series"] == key[0]) & (runs["whole"] == key[1])]
    if (
        mine["bs_bytes"].notna().all()
        and mine["bs_bytes"].nunique() == 1
        and mine["bs_write_bytes"].isna().all()
    ):
        return float(mine["bs_bytes"].iloc[0])
    rows = frame[(frame["series"] == key[0]) & (frame["facet"] == key[1])]
    moved, done = (
        rows.loc[rows["metric"] == name, "value"].to_numpy() for name in (THROUGHPUT_METRIC, IOPS_METRIC)
    )
    if moved.size != done.size or not moved.size or not (done > 0).any():
        return None
    sizes = moved[done > 0] / done[done > 0]
    return float(np.median(sizes)) if sizes.max() <= (1 + _SAME_SIZE) * sizes.min() else 0.0


def _of_workload(
    part: Part, logged: Sequence[RunVerdict], panel: Panel, frame: pd.DataFrame
) -> dict[str, Any]:
    """The figure of a workload: all series that ran it, below the limits that they share."""
    facet, series, rows = panel
    runs = part.arrangement.runs
    if runs.loc[runs["whole"] == facet, "series"].nunique() > len(series):  # loads that ran at once
        series = [replace(entry, label=ALL_LOADS, short=ALL_LOADS) for entry in series]
    names = {entry.key: entry.short for entry in series}
    mine = [one for one in logged if one.workload == facet and one.entry.key in names]
    quantity = (
        timeline.IOPS_QUANTITY if rows["metric"].iloc[0] == IOPS_METRIC else timeline.THROUGHPUT_QUANTITY
    )
    caps = _shared_caps(mine, rows) if quantity is timeline.IOPS_QUANTITY else []
    sizes = {_size(part, frame, (key, facet)) for key in rows["series"].unique()}
    what = f"{facet[:1].upper()}{facet[1:]}: {quantity.title} over time"
    if quantity is timeline.IOPS_QUANTITY and len(sizes) == 1 and (size := sizes.pop()):
        what += f"; {_PER_THOUSAND:,} IOPS are {format_mbps(_PER_THOUSAND * size)} MB/s"
    return {
        "draw": partial(plots.rates_over_time, rows, series, quantity=quantity, caps=caps),
        "title": _title(rows, names, quantity),
        "what": f"{what}.",
        "how": [SUMMED, RATE_LEVEL, *([DASHED] if caps else [])],
    }


def _shared_caps(found: Sequence[RunVerdict], rows: pd.DataFrame) -> list[Cap]:
    """The limits near the rates that all runs of a figure have, in IOPS."""
    each = [_caps(verdict, float(rows["value"].max())) for verdict in found]
    if len({verdict.entry.key for verdict in found}) < rows["series"].nunique():
        return []
    return [cap for cap in each[0] if all(cap in caps for caps in each)] if each else []


def _slowest(rows: pd.DataFrame) -> tuple[float, str] | None:
    """The slowest interval, with its series, where it was far below the others for long enough to be no
    latency, which the percentiles have.
    """
    lowest = []
    for key, line in rows.groupby("series", sort=False):
        line = line.sort_values("t_s").iloc[1:-1]  # a load gets going, and ends
        values, lasted_s = line["value"], line["t_s"].diff().median()
        if len(values) and values.median():
            share = values.min() / values.median()
            stalled = share <= _LOW and not (1 - share) * lasted_s < _STALL_S
            lowest += [(share, values.min(), str(key))] if stalled else []
    return min(lowest)[1:] if lowest else None


def _title(rows: pd.DataFrame, names: dict[str, str], quantity: timeline.Quantity) -> str:
    """What there is to say of rates over time: an interval far below the others."""
    slowest = _slowest(rows)
    if slowest is None:
        if rows["series"].nunique() > 1:
            return f"{quantity.title} over time"
        least, most = (
            format_count(end / quantity.divisor) for end in (rows["low"].min(), rows["high"].max())
        )
        if least == most:
            return f"{least} {quantity.title} in every interval"
        return f"From {least} to {most} {quantity.title} in an interval"
    value, key = slowest
    return (
        f"The slowest interval has {format_count(value / quantity.divisor)} {quantity.title} ({names[key]})"
    )


def _trace(verdict: RunVerdict) -> tuple[pd.DataFrame, token_bucket_fit.BucketFit | None]:
    """The logged rate; where it shows the bucket, in the time of Azure and with the balance of credits."""
    course = course_of(verdict.run)
    assert course is not None  # noqa: S101  (figures_over_time asked)
    t_s, iops = course
    trace = pd.DataFrame({"t_s": t_s, "iops": iops})
    in_azure_s = t_s * verdict.run.flows[0].observation.credits_cut
    fitted = token_bucket_fit.fit(in_azure_s, iops, BURST_S)
    if fitted:
        trace["t_s"] = t_s = in_azure_s
        spent = np.cumsum((iops - fitted.base) * np.diff(t_s, prepend=0.0))
        trace["credits"] = np.where(t_s < fitted.empty_s, np.clip(fitted.balance - spent, 0, None), 0.0)
    return trace, fitted


def _used(part: Part, verdict: RunVerdict) -> pd.DataFrame:
    """What Azure Monitor counted during the run, by the names of the limits."""
    rows = part.dataset.runs
    (job,) = schema.records(rows[rows["run_id"] == verdict.run.run_ids[0]])
    used = part.monitor.over_time(job, verdict.run.flows[0].observation.runtime_s)
    return used.assign(name=[bar_name(Label(label)) for label in used["label"]])


def _fell(fitted: token_bucket_fit.BucketFit) -> str:
    minutes = fitted.empty_s / 60
    when = f"{minutes:.0f} min" if minutes >= 3 else format_us(fitted.empty_s * US_PER_S)
    rates = f"from {format_count(fitted.burst)} IOPS to {format_count(fitted.base)}"
    told = f"Credits were spent after {when}: {rates}"
    if fitted.filled > _OVERFULL:
        return told
    return f"{told}; burst credits started at {100 * min(1.0, fitted.filled):.0f} %"


def _caps(verdict: RunVerdict, most: float) -> list[Cap]:
    """The limits near the rate, in IOPS of this block size, without a base that its burst limit let it pass;
    those of several loads at once are none of it.
    """
    if len(verdict.run.flows) > 1:
        return []
    size = rates(verdict.run.flows[0].observation).bs_bytes
    limits = verdict.judged.limits
    bursts = {row.label.base for row in limits if row.label.burst}
    passed = [row for row in limits if row.label in bursts and row.utilisation < REACHED]
    found = [(bar_name(row.label), _in_iops(row, size)) for row in limits if row not in passed]
    return [(name, value) for name, value in found if value and value <= _FAR * most][:MOST_CAPS]


def _in_iops(row: LimitRow, bs_bytes: float | None) -> float | None:
    if row.label.quantity != "mbps":
        return row.value
    return row.value / bs_bytes if bs_bytes else None
