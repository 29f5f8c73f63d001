"""Figures of limits: measured points under the roofline of their setup."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib import plots
from azbenchlib.analysis.flow import rates
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.core.palette import COLOURS
from azbenchlib.core.units import GIB, KIB, MIB, format_count
from azbenchlib.model import ceilings
from azbenchlib.model.ceilings import ALL_VOLUMES, Ceiling
from azbenchlib.plots.points import with_points
from azbenchlib.report import formatting
from azbenchlib.report.figures import Group, Told, again

if TYPE_CHECKING:
    from azbenchlib.report.part import Part, RunVerdict

_LEAST_BS, _MOST_BS = 4 * KIB, MIB  # what a roofline shows at least
_MOST_FIGURES = 4
SETUP_LINE = len(COLOURS) - 1  # colour of the line where series are loads of one setup
_ALL = plots.Series("all", "All workloads", "All workloads", 0)  # of one setup, too many for colours
ON_THE_LINE = (
    "A marker on its line is a run at a documented limit: left of the corner IOPS, right of it MB/s. A point "
    "far below the line is limited by something else, usually latency."
)
HIGHEST = "Lines show the limits on the path of the busiest run; where that run burst, the burst limits."
LEFT_OUT = "Runs of which no limit is documented or no block size is known are left out."
UNDER_ROOF = "The most that is documented at each block size, and what was measured."


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
        shown = {"title": _at_limits(drawn), "what": UNDER_ROOF, "svg": safe(svg), "how": how, "group": group}
        folded = again("limits", told)
        made.append(render("figure", id=f"{name}-figure", kind="limits", folded=folded, **shown))
    return Block("\n".join(block.html for block in made)) if made else None


def _with_points(
    rows: pd.DataFrame,
    lines: Sequence[plots.Series],
    points: pd.DataFrame,
    series: Sequence[plots.Series],
    layout: plots.Layout,
) -> plots.Drawn:
    return with_points(plots.roofline(rows, lines, layout, list(points["iops"])), points, series)


def _at_limits(found: Sequence[RunVerdict]) -> str:
    """The finding of a roofline."""
    n = sum(verdict.at_limit for verdict in found)
    return f"{n or 'None'} of {formatting.count(len(found), 'run')} hit a documented limit"


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
