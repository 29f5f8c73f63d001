"""What Azure Monitor says of a run: the samples of its minutes, by the limit that each percentage is of.

An answer of Azure Monitor speaks of the runs whose outputs lie in its folder or below, as far as their times
overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.units import sum_known
from azbenchlib.formats.azure_monitor import TOOL

Row = Mapping[str, Any]
POINT_S = 60.0  # that a point tells of
_CONSUMED = {"iops_consumed_pct": "iops", "bw_consumed_pct": "mbps"}
_CREDITS = {"iops_credits_used_pct": "iops", "bw_credits_used_pct": "mbps"}
_PATHS = {"VM uncached": "vm_uncached", "VM cached": "vm_cached"}
_ROLES = {"os": "OS disk", "temp": "temp disk"}


@dataclass(frozen=True, kw_only=True)
class Monitored:
    """What Azure Monitor says of a run: percentages by base label, and the rates of the disks that it drove.

    Parameters
    ----------
    consumed_pct, credits_used_pct : mapping of str to float
        The largest of its minutes, by base label such as ``vm_uncached_iops``.
    iops : float, optional
        Mean I/Os per second of the minutes that lie within the run, reads and writes, of the disks it drove.
    """

    consumed_pct: Mapping[str, float] = field(default_factory=dict)
    credits_used_pct: Mapping[str, float] = field(default_factory=dict)
    iops: float | None = None


NOTHING = Monitored()


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """One answer: the folder whose runs it speaks of, when it begins, and its samples."""

    folder: PurePosixPath
    begun: float
    rows: pd.DataFrame


class Monitor:
    """All that Azure Monitor says of a dataset."""

    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        runs, samples = tables["runs"], tables["samples"]
        told = runs[(runs["tool"] == TOOL).fillna(False) & runs["started_at"].notna()]
        self._answers = [
            _Answer(
                folder=PurePosixPath(row["source_path"] or "").parent,
                begun=begun,
                rows=samples[(samples["run_id"] == row["run_id"]) & samples["t_s"].notna()],
            )
            for row in schema.records(told)
            if (begun := _moment(row["started_at"])) is not None
        ]
        self._disks = {(row["setup_id"], row["disk"]): row for row in schema.records(tables["disks"])}

    def of(self, job: Row, runtime_s: float | None) -> Monitored:
        """What it says of a run.

        Parameters
        ----------
        job : mapping
            A row of the table runs.
        runtime_s : float, optional
            How long it lasted, in s.
        """
        span = _span(job, runtime_s)
        if span is None:
            return NOTHING
        parts = [(one.rows, _minutes(one, *span)) for one in self._near(job)]
        rows = [found[within] for found, within in parts if within is not None]
        if not rows:
            return NOTHING
        mine = self._objects(job, pd.concat(rows))
        return Monitored(
            consumed_pct=_largest(rows, _CONSUMED, mine),
            credits_used_pct=_largest(rows, _CREDITS, mine),
            iops=_rate(rows, mine),
        )

    def over_time(self, job: Row, runtime_s: float | None) -> pd.DataFrame:
        """How much of each limit it counted as used, in each minute that a run filled at least in part.

        The parameters are those of :meth:`of`.

        Returns
        -------
        DataFrame
            Columns label (a base label such as ``vm_uncached_iops``), t_s (when the minute began, in s since
            the start of the run) and percent, in the order of time; empty where it says nothing of the run.
        """
        span, near = _span(job, runtime_s), self._near(job)
        if span is None or not near:
            return pd.DataFrame({"label": [], "t_s": [], "percent": []})
        begun, ended = span
        parts = [one.rows.assign(t_s=one.rows["t_s"].astype(float) + one.begun - begun) for one in near]
        rows = pd.concat(parts)
        rows = rows[(rows["t_s"] < ended - begun) & (rows["t_s"] > -POINT_S)]
        points = _percentages(rows, _CONSUMED, self._objects(job, rows))
        found = pd.DataFrame(points, columns=["label", "t_s", "percent"])
        return found.groupby(["label", "t_s"], as_index=False)["percent"].max().sort_values(["t_s", "label"])

    def _near(self, job: Row) -> list[_Answer]:
        """The answers that speak of a run: those in the folder of its output, or above."""
        if job["source_path"] is None:
            return []
        path = PurePosixPath(job["source_path"])
        return [one for one in self._answers if path.is_relative_to(one.folder)]

    def _objects(self, job: Row, rows: pd.DataFrame) -> set[str]:
        """What Azure Monitor calls the disks that a run drove; a LUN that is the only one is theirs."""
        names = [part.strip() for part in (job["disks"] or "").split(",") if part.strip()]
        disks = [self._disks.get((job["setup_id"], name), {}) for name in names]
        found = {_ROLES[disk["role"]] for disk in disks if disk.get("role") in _ROLES}
        found |= {f"LUN {disk['lun']}" for disk in disks if disk.get("lun") is not None}
        luns = {name for name in rows["object"].dropna().unique() if str(name).startswith("LUN ")}
        unknown = any(disk.get("lun") is None and disk.get("role") in (None, "data") for disk in disks)
        return found | (luns if len(luns) == 1 and (unknown or not names) else set()) | {"data disks"}


def _moment(text: str | None) -> float | None:
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _span(job: Row, runtime_s: float | None) -> tuple[float, float] | None:
    """When a run began and ended, as far as its output tells; the ramp before it is no part of it."""
    begun, ended = _moment(job["started_at"]), _moment(job["ended_at"])
    if ended is not None and runtime_s:
        return ended - runtime_s, ended
    if begun is not None and (ended is not None or runtime_s):
        return begun, begun + runtime_s if runtime_s else float(ended or begun)
    return None


def _minutes(answer: _Answer, begun: float, ended: float) -> pd.Series | None:
    """Which points lie within a run; where none does, which it touches; None where it touches none."""
    first = answer.rows["t_s"].astype(float) + answer.begun
    last = first + POINT_S
    for chosen in ((first >= begun) & (last <= ended), (first < ended) & (last > begun)):
        if chosen.any():
            return chosen
    return None


def _largest(parts: Iterable[pd.DataFrame], metrics: Mapping[str, str], disks: set[str]) -> dict[str, float]:
    """The largest percentage by base label."""
    found: dict[str, float] = {}
    for rows in parts:
        for label, _, value in _percentages(rows, metrics, disks):
            found[label] = max(value, found.get(label, 0.0))
    return found


def _percentages(
    rows: pd.DataFrame, metrics: Mapping[str, str], disks: set[str]
) -> list[tuple[str, float, float]]:
    """Base label, time and value of each percentage of a limit on the path to these disks."""
    known = schema.records(rows[rows["metric"].isin(metrics) & rows["value"].notna()])
    owners = {**_PATHS, **dict.fromkeys(disks, "disk")}
    return [
        (f"{owners[row['object']]}_{metrics[row['metric']]}", float(row["t_s"]), float(row["value"]))
        for row in known
        if row["object"] in owners
    ]


def _rate(parts: Iterable[pd.DataFrame], disks: set[str]) -> float | None:
    """Mean I/Os per second of the disks, reads and writes together."""
    means = []
    for rows in parts:
        mine = rows[(rows["metric"] == "iops") & rows["object"].isin(disks) & rows["value"].notna()]
        means += [float(group.mean()) for _, group in mine.groupby(["object", "ddir"])["value"]]
    return sum_known(means)
