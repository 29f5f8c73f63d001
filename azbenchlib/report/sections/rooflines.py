"""Figures of limits: measured points under the roofline of their setup, and rates over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from azbenchlib import plots
from azbenchlib.analysis.flow import rates
from azbenchlib.analysis.over_time import token_bucket_fit
from azbenchlib.analysis.over_time.sustained import phases_of
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.answers.sayings import bar_name
from azbenchlib.core import schema
from azbenchlib.core.palette import COLOURS
from azbenchlib.core.units import GIB, KIB, MIB, US_PER_S, format_count, format_us
from azbenchlib.model import ceilings
from azbenchlib.model.ceilings import ALL_VOLUMES, Ceiling
from azbenchlib.model.credits import BURST_S
from azbenchlib.model.labels import Label
from azbenchlib.plots.points import with_points
from azbenchlib.plots.throttle import rate_over_time
from azbenchlib.report import formatting
from azbenchlib.report.figures import Group, Told, again
from azbenchlib.verdict import LimitRow
from azbenchlib.verdict import text as verdict_words

if TYPE_CHECKING:
    from azbenchlib.report.part import Part, RunVerdict

_LEAST_BS, _MOST_BS = 4 * KIB, MIB  # what a roofline shows at least
_MOST_FIGURES = 4
MOST_CAPS, _FAR = 3, 3.0  # a limit this many times above the rate would flatten the line
_OVERFULL = 1.05  # of a bucket: from there on the rate was no whole burst, and tells nothing of the credits
SETUP_LINE = len(COLOURS) - 1  # colour of the line where series are loads of one setup
_ALL = plots.Series("all", "All workloads", "All workloads", 0)  # of one setup, too many for colours
ON_THE_LINE = (
    "A marker on its line is a run at a documented limit: left of the corner IOPS, right of it MB/s. A point "
    "far below the line is limited by something else, usually latency."
)
HIGHEST = "Lines show the limits on the path of the busiest run; where that run burst, the burst limits."
LEFT_OUT = "Runs of which no limit is documented or no block size is known are left out."
UNDER_ROOF = "The most that is documented at each block size, and what was measured."
DASHED = "A dashed line is a documented limit, for the block size of this run."
USED_LIMITS = (
    "The lowest chart has what Azure Monitor counted: the share of each limit that was used, a mean a "
    "minute. At 100 % a limit is reached. A minute that the run filled only in part shows less."
)
CREDITS = (
    "Above the base limit a burst spends credits, and when they are gone the rate falls to the base. Credits "
    "at the start are worked out from the rate until it fell."
)


def roofline(
    part: Part,
    place: str,
    found: Sequence[RunVerdict],
    group: Group,
    told: Told = None,
    least_sizes: int = 1,
) -> Block | None:
    """Each setup's ceilings with its measured points, six setups a figure, all runs of one setup in one; None
    without ceilings, or where the points have fewer block sizes.
    """
    made = []
    at_once = part.arrangement.by != "setup" and len(part.entries) > len(COLOURS)
    groups = [[_ALL]] if at_once else part.groups
    left = formatting.count(sum(map(len, groups[_MOST_FIGURES:])), "setup")
    for i, series in enumerate(groups[:_MOST_FIGURES]):
        keys = {entry.key for entry in series}
        mine = [verdict for verdict in found if at_once or verdict.entry.key in keys]
        known = [verdict for verdict in mine if verdict.judged.limits]
        lines, rows = _lines(part, known, series)
        points = _points(known)
        points = points.assign(series=_ALL.key) if at_once else points
        if rows.empty or points["bs_bytes"].nunique() < least_sizes:
            continue
        name = f"{place}-roofline-{i}"
        draw = partial(_with_points, rows, lines, points, series)
        drawn = [verdict for verdict in known if _in_roofline(verdict)]
        how = [ON_THE_LINE, HIGHEST, *([LEFT_OUT] if len(drawn) < len(mine) else [])]
        how += [f"{left} more have no figure."] if len(groups) > _MOST_FIGURES else []
        svg = plots.both(draw, name)
        made.append(_figure(name, _at_limits(drawn), UNDER_ROOF, svg, how, group, "limits", told))
    return Block("\n".join(block.html for block in made)) if made else None


def over_time(
    part: Part,
    place: str,
    found: Sequence[RunVerdict],
    group: Group,
    told: Told = None,
    findings: bool = False,
) -> Block | None:
    """The rate of each run that logged it, below its limits; None where none did, or no limit is near.

    With `findings` only those whose credits were spent or whose rate had phases; where none had, the first
    that Azure Monitor knows, or the first.
    """
    made: list[Block] = []
    logged = [verdict for verdict in found if verdict.run.flows[0].observation.samples is not None]
    telling = [verdict for verdict in logged if phases_of(verdict.run)]
    telling = telling or [one for one in logged if one.run.flows[0].observation.consumed_pct][:1]
    for verdict in (telling or logged[:1]) if findings else logged:
        if len(made) == _MOST_FIGURES:
            break
        trace, fitted = _trace(verdict)
        caps, used = _caps(verdict, trace), _used(part, verdict)
        if not (caps or fitted or len(used)):
            continue
        name = f"{place}-rate-{len(made)}"
        entry = next(entry for some in part.groups for entry in some if entry.key == verdict.entry.key)
        svg = plots.both(partial(rate_over_time, trace, caps, entry, used=used), name)
        title = _fell(fitted) if fitted else verdict.judged.words
        what = f"{verdict.entry.name}, {verdict.workload}: IOPS in each interval of the log."
        how = [
            *([DASHED] if caps else []),
            *([CREDITS] if fitted else []),
            *([USED_LIMITS] if len(used) else []),
        ]
        made.append(_figure(name, title, what, svg, how, group, "time", told))
    return Block("\n".join(block.html for block in made)) if made else None


def _with_points(
    rows: pd.DataFrame,
    lines: Sequence[plots.Series],
    points: pd.DataFrame,
    series: Sequence[plots.Series],
    layout: plots.Layout,
) -> plots.Drawn:
    return with_points(plots.roofline(rows, lines, layout, list(points["iops"])), points, series)


def _figure(
    name: str, title: str, what: str, svg: str, how: Sequence[str], group: Group, kind: str, told: Told
) -> Block:
    # rates and latencies over time are read differently
    folded = again(f"rate over {kind}" if kind == "time" else kind, told)
    shown = {"title": title, "what": what, "svg": safe(svg), "how": how, "group": group}
    return render("figure", id=f"{name}-figure", kind=kind, folded=folded, **shown)


def _at_limits(found: Sequence[RunVerdict]) -> str:
    """The finding of a roofline."""
    sure = [t for t in found if t.at_limit and t.judged.probability >= verdict_words.PROBABLY]
    return f"{len(sure) or 'None'} of {formatting.count(len(found), 'run')} hit a documented limit"


def _in_roofline(verdict: RunVerdict) -> bool:
    """Whether a run has a place in it: a rate, and the size of its blocks."""
    return not _points([verdict]).empty


def _points(found: Sequence[RunVerdict]) -> pd.DataFrame:
    """Measured rates over their block sizes."""
    rows = []
    for verdict in found:
        for flow in verdict.run.flows:
            got = rates(flow.settled.observation)
            if got.iops and got.bs_bytes:
                whose = f"{verdict.entry.name}, {verdict.workload}"
                text = f"{whose}: {format_count(got.iops)} IOPS. {verdict.judged.words}"
                rows.append(
                    {"series": verdict.entry.key, "bs_bytes": got.bs_bytes, "iops": got.iops, "text": text}
                )
    return pd.DataFrame(rows, columns=["series", "bs_bytes", "iops", "text"])


def _lines(
    part: Part, found: Sequence[RunVerdict], series: Sequence[plots.Series]
) -> tuple[list[plots.Series], pd.DataFrame]:
    """A line for each setup with documented limits, that of its busiest run, as rows for the roofline."""
    by_setup = part.arrangement.by == "setup"
    whole = plots.Series("setup", "Limit of this setup", "Limit", SETUP_LINE)
    keys = list(series) if by_setup else [whole]
    tops = {}
    for entry in keys:
        mine = [verdict for verdict in found if not by_setup or verdict.entry.key == entry.key]
        if mine:
            tops[entry.key] = max(mine, key=lambda verdict: verdict.load)
    points = _points(found)
    lines = {key: _ceilings(top, [_LEAST_BS, _MOST_BS]) for key, top in tops.items()}
    sizes = _sizes(points, [row for line in lines.values() for row in line])
    rows = [
        {"series": key, "bs_bytes": row.bs_bytes, "iops": row.iops, "crossover_bytes": pd.NA}
        for key, top in tops.items()
        for row in _ceilings(top, sizes)
    ]
    columns = ["series", "bs_bytes", "iops", "crossover_bytes"]
    table = pd.DataFrame(rows, columns=columns).astype({"iops": "Float64"})
    return keys, table.dropna(subset=["iops"])


def _sizes(points: pd.DataFrame, ends: Sequence[Ceiling]) -> list[int]:
    """Block sizes of a roofline: with its corners, and wide enough that the slowest point lies in it."""
    low = min([_LEAST_BS, *points["bs_bytes"] / 2])  # so that no marker stands upon the axis
    high = max([_MOST_BS, *points["bs_bytes"] * 2])
    slowest = [row.bytes_per_s for row in ends if row.bytes_per_s]
    if slowest and len(points):
        high = max(high, min(min(slowest) / points["iops"].min(), GIB))
    first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
    corners = {round(row.crossover_bytes) for row in ends if row.crossover_bytes}
    steps = {2**power for power in range(first, last + 1)}
    return sorted(steps | {corner for corner in corners if 2**first < corner < 2**last})


def _ceilings(verdict: RunVerdict, sizes: Sequence[int]) -> list[Ceiling]:
    """The documented ceiling of what a run drove, on its likeliest path; that of bursts if it burst."""
    pairs = zip(verdict.run.flows, verdict.judged.flows, strict=True)
    flow, judged = max(pairs, key=lambda pair: pair[1].load)
    driven = flow.driven(verdict.setup)
    if not driven:  # a VM whose disks are not stated
        return []
    disks = tuple(dict.fromkeys(volume.disk for volume in driven))
    share = flow.observation.read_share
    rows = ceilings(replace(verdict.setup, disks=disks), sizes, 1.0 if share is None else share)
    scope = driven[0].name if len(driven) == 1 else ALL_VOLUMES
    mine = [row for row in rows if row.scope == scope]
    mine = [row for row in mine if row.path == judged.path] or [
        row for row in mine if row.path == mine[0].path
    ]
    labels = {row.label for row in verdict.judged.limits}
    above_base = any(label.burst and label.base not in labels for label in labels)
    bursts = [row for row in mine if row.level == "burst"] if above_base else []
    return bursts or [row for row in mine if row.level == "base"]


def _trace(verdict: RunVerdict) -> tuple[pd.DataFrame, token_bucket_fit.BucketFit | None]:
    """The logged rate, and the balance of credits where the trace shows the bucket."""
    seen = verdict.run.flows[0].observation
    assert seen.samples is not None  # noqa: S101  (over_time asked)
    t_s, iops = seen.samples
    trace = pd.DataFrame({"t_s": t_s, "iops": iops})
    fitted = token_bucket_fit.fit(t_s, iops, BURST_S / seen.credits_cut)
    if fitted:
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


def _caps(verdict: RunVerdict, trace: pd.DataFrame) -> list[tuple[str, float]]:
    """The limits near the rate, in IOPS of this block size."""
    size = rates(verdict.run.flows[0].observation).bs_bytes
    most = float(trace["iops"].max())
    found = [(bar_name(row.label), _in_iops(row, size)) for row in verdict.judged.limits]
    return [(name, value) for name, value in found if value and value <= _FAR * most][:MOST_CAPS]


def _in_iops(row: LimitRow, bs_bytes: float | None) -> float | None:
    if row.label.quantity != "mbps":
        return row.value
    return row.value / bs_bytes if bs_bytes else None
