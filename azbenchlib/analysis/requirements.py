"""Requirements such as ``p99<2ms``: whether what was measured meets them, workload by workload."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import pandas as pd

from azbenchlib.analysis import totals
from azbenchlib.analysis.compare.metrics import RATES, Metric, parse_metric
from azbenchlib.analysis.grouping import TIMED_KINDS, Arrangement, curves
from azbenchlib.analysis.repeats import RATE_COLUMNS
from azbenchlib.core.errors import InputError
from azbenchlib.core.histogram import is_last_bin
from azbenchlib.core.nearest import choices
from azbenchlib.core.patterns import DIRECTIONS, MIXED
from azbenchlib.core.units import parse_size, stated_latency, stated_rate, stated_throughput

_MEAN = "lat_mean"
_RULE = (
    "METRIC OP VALUE, such as 'p99<2ms', 'iops>5000', 'bw>=200MB/s' or 'p99<2ms for 4k randread'; metrics "
    "are iops, bw, lat_mean and percentiles such as p50 or p99.9"
)
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_FORM = re.compile(r"([a-z_]+[\d.]*)\s*(<=|>=|<|>)\s*([^<>=]+)", re.IGNORECASE | re.ASCII)
_DEPTH = re.compile(r"qd\s?(\d{1,7})", re.IGNORECASE | re.ASCII)
_LONGEST = 100  # characters of a requirement
_PATTERNS = sorted({*DIRECTIONS, *MIXED})
_EXACT = ["=", "~"]  # bounds of a rate that is one; any other says only where it lies
_PARTS = ["at_once", "facet", "ddir"]


class RequirementState(StrEnum):
    """Whether a requirement is met; what was not measured is never met."""

    NOT_MET = "not met"
    NOT_MEASURED = "not measured"
    MET = "met"


@dataclass(frozen=True, kw_only=True)
class RequiredBound:
    """A bound on a figure of every workload, or of those that are named.

    Attributes
    ----------
    text : str
        As a user writes it.
    metric : Metric
        A rate, a percentile of latency, or ``lat_mean``.
    sign : {"<", "<=", ">", ">="}
    bound : float
        I/Os or bytes per second, or µs.
    workload : mapping of str to str or float
        What the workloads have that it is for: ``rw``, ``bs_bytes``, ``queue_depth``; empty: it is for all.
    """

    text: str
    metric: Metric
    sign: str
    bound: float
    workload: Mapping[str, str | float]

    @property
    def is_upper(self) -> bool:
        """Whether it says how large a figure may be, not how small."""
        return self.sign.startswith("<")

    def outcome(self, worst: float | None, is_whole: bool) -> RequirementState:
        """Return whether the worst of some figures meets it, `is_whole` if none of them is missing."""
        if worst is None:
            return RequirementState.NOT_MEASURED
        if not _COMPARE[self.sign](worst, self.bound):
            return RequirementState.NOT_MET
        is_open = self.metric.percentile is not None and bool(
            is_last_bin(worst)
        )  # it may be any latency above
        return (
            RequirementState.MET
            if is_whole and not (is_open and self.is_upper)
            else RequirementState.NOT_MEASURED
        )


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A requirement and one workload.

    Attributes
    ----------
    requirement : RequiredBound
    setup : str
        What the setup is called, where there are several; else empty.
    workload : str
        With the direction, where it has several and a latency is required.
    value : float or None
        Of the worst run, in the unit of the metric; None where none has the figure.
    runs : int
        How many repeats there are.
    outcome : RequirementState
    """

    requirement: RequiredBound
    setup: str = ""
    workload: str
    value: float | None = None
    runs: int = 0
    outcome: RequirementState = RequirementState.NOT_MEASURED


def parse_requirement(text: str) -> RequiredBound:
    """Return a requirement from its text.

    Raises
    ------
    InputError
        When it does not have the form, names no metric or workload, or its value has no unit or two readings.
    """
    condition, _, workload = " ".join(text.split()).partition(" for ")
    match = _FORM.fullmatch(condition.strip()) if len(text) <= _LONGEST else None
    if not match:
        raise InputError(f"requirement '{text[:_LONGEST]}' does not have the form {_RULE}")
    name, sign, value = match[1].lower(), match[2], match[3].strip()
    try:
        metric = Metric(_MEAN) if name == _MEAN else parse_metric(name)
        read = stated_rate if metric.name == "iops" else stated_throughput if name == "bw" else stated_latency
        bound, wanted = read(value), dict(map(_word, workload.split()))
    except InputError as error:
        raise InputError(f"requirement '{text}': {error}") from error
    shown = f"{name} {sign} {value}" + (f" for {workload}" if workload else "")
    return RequiredBound(text=shown, metric=metric, sign=sign, bound=bound, workload=wanted)


def _word(text: str) -> tuple[str, str | float]:
    """A word that says which workloads: a pattern, a queue depth or a block size."""
    if text.lower() in _PATTERNS:
        return "rw", text.lower()
    if depth := _DEPTH.fullmatch(text):
        return "queue_depth", float(depth[1])
    if not text[0].isdigit():
        raise InputError(f"'{text}' is no pattern, block size or queue depth; {choices(text, _PATTERNS)}")
    return "bs_bytes", float(parse_size(text))


def check(
    requirements: Sequence[RequiredBound], arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]
) -> list[Checked]:
    """Compare the figures of each workload with requirements.

    Of repeats the worst counts, for a percentile of several runs is no percentile of anything. Latencies are
    those of each direction by itself: completion latency, where the tool gave it.

    Parameters
    ----------
    requirements : sequence of RequiredBound
    arrangement : Arrangement
        Of the runs.
    tables : mapping of str to DataFrame

    Returns
    -------
    list of Checked
        One a requirement and workload; one of no value, where a requirement is for a workload that there is
        not.
    """
    return [one for each in requirements for one in _checked(each, arrangement, tables)]


def _checked(
    requirement: RequiredBound, arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]
) -> Iterator[Checked]:
    chosen = replace(arrangement, runs=_of_workload(arrangement.runs, requirement.workload))
    if chosen.runs.empty:
        named = requirement.text.partition(" for ")[2] or "no workload"
        yield Checked(requirement=requirement, workload=named)
        return
    names = dict(zip(arrangement.series["key"], arrangement.series["label"], strict=True))
    figures = _figures(requirement.metric, chosen, tables)
    for (series, workload), rows in figures.groupby(["series", "workload"], sort=False):
        known = rows["value"].dropna().astype(float)
        worst = None if known.empty else float(known.max() if requirement.is_upper else known.min())
        yield Checked(
            requirement=requirement,
            setup=names[series] if arrangement.by == "setup" else "",
            workload=str(workload),
            value=worst,
            runs=rows["at_once"].nunique(),
            outcome=requirement.outcome(worst, len(known) == len(rows)),
        )


def _of_workload(runs: pd.DataFrame, wanted: Mapping[str, str | float]) -> pd.DataFrame:
    """The rows of some workloads; what ran beside them is not theirs."""
    mine = pd.Series(True, runs.index)
    for column, value in wanted.items():
        mine &= (runs[column] == value).fillna(False)
    others = set(runs.loc[~mine, "at_once"])
    alone = runs["whole"].where(~runs["at_once"].isin(others), runs["workload"])
    return runs.assign(whole=alone)[mine]


def _figures(metric: Metric, arrangement: Arrangement, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The figure of each run: series, workload (as it is shown), at_once and value, which may be NA."""
    if column := RATES.get(metric.name):
        rates = totals.each(arrangement)
        value = rates[column].where(rates[RATE_COLUMNS[column]].isin(_EXACT))
        names = _named(rates["facet"], rates["series"], arrangement.by, rates["workloads"] > 1)
        return rates[["series", "at_once"]].assign(workload=names, value=value)
    runs = arrangement.runs
    if metric.percentile is None:
        known = _means(runs, tables["latency"])
    else:
        apart = replace(arrangement, runs=runs.assign(series=runs["at_once"]))
        each = curves(apart, tables, [metric.percentile])
        known = each[each["percentile"] == metric.percentile].rename(
            columns={"series": "at_once", "lat_us": "value"}
        )
    rows = runs.drop_duplicates(_PARTS).merge(known[[*_PARTS, "value"]], on=_PARTS, how="left")
    names = _named(rows["facet"], rows["series"], arrangement.by, pd.Series(False, rows.index))
    return rows[["series", "at_once", "value"]].assign(workload=names)


def _named(facet: pd.Series, series: pd.Series, by: str, names_load: pd.Series) -> pd.Series:
    """What workloads are called: with the load or pattern that their series is, unless the name has it."""
    if by == "setup":
        return facet
    return facet.where(names_load, facet + ", " + series if by == "load" else series + ", " + facet)


def _means(runs: pd.DataFrame, latency: pd.DataFrame) -> pd.DataFrame:
    """The mean latency of all I/Os that ran at once, each direction by itself; NA where a part of it is."""
    timed = latency[latency["lat_kind"].isin(TIMED_KINDS)].sort_values("lat_kind")
    rows = runs.merge(timed.drop_duplicates(["run_id", "ddir"]), on=["run_id", "ddir"], how="left")
    keys = [rows[name] for name in _PARTS]
    groups = rows.groupby(_PARTS, dropna=False)["run_id"]
    share = rows["n"].astype("Float64").where(groups.transform("size") > 1, 1.0)
    weighed = pd.DataFrame({"total": rows["lat_mean_us"] * share, "n": share})
    sums = weighed.groupby(keys, dropna=False).sum(skipna=False)
    kinds = rows["lat_kind"].groupby(keys, dropna=False).nunique()
    return (sums["total"] / sums["n"]).where(kinds == 1).rename("value").reset_index()
