"""What both sides of a comparison look like: latency by percentile, and rates, workload by workload."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from azbenchlib.analysis import concurrency
from azbenchlib.analysis.compare import matching
from azbenchlib.analysis.compare.comparison import ComparedSide
from azbenchlib.analysis.distribution import KINDS
from azbenchlib.analysis.grouping import CURVE
from azbenchlib.analysis.percentiles import merged, once
from azbenchlib.analysis.repeats import RATE_COLUMNS
from azbenchlib.core import schema

_RATES = list(RATE_COLUMNS)


def sides_curves(sides: Sequence[ComparedSide]) -> pd.DataFrame:
    """Latency by percentile of every workload that all sides have.

    Parameters
    ----------
    sides : sequence of ComparedSide

    Returns
    -------
    DataFrame
        Columns series (the name of the side), facet (the workload), lat_kind, percentile, lat_us, n. Runs of
        a side are merged from their bins; without bins a single run has what it reported, several have none.
    """
    parts = [
        rows.assign(series=side.name, facet=name)
        for side, units in zip(sides, _units(sides), strict=True)
        for name, some in units.groupby("workload", sort=False)
        if len(rows := _curve(side, some))
    ]
    columns = ["series", "facet", "lat_kind", "percentile", "lat_us", "n"]
    if not parts:
        return pd.DataFrame(columns=columns)
    found = pd.concat(parts, ignore_index=True)[columns]
    kinds = found.groupby("facet")["lat_kind"].transform("min")  # clat sorts before lat
    return found[found["lat_kind"] == kinds].astype({"lat_us": schema.FLOAT, "n": schema.INT})


def sides_rates(sides: Sequence[ComparedSide]) -> pd.DataFrame:
    """The rates of every workload that all sides have.

    Returns
    -------
    DataFrame
        Columns series, facet, iops, bw_bytes_per_s (medians of the runs; NA where a run has none), runs.
    """
    rows = []
    for side, units in zip(sides, _units(sides), strict=True):
        for name, some in units.groupby("workload", sort=False):
            medians = {rate: some[rate].median() if some[rate].notna().all() else pd.NA for rate in _RATES}
            rows.append({"series": side.name, "facet": name, **medians, "runs": len(some)})
    found = pd.DataFrame(rows, columns=["series", "facet", *_RATES, "runs"])
    return found.astype(dict.fromkeys(_RATES, schema.FLOAT))


def _units(sides: Sequence[ComparedSide]) -> list[pd.DataFrame]:
    """The units of each side with workload (its name) and rates, of the workloads that all sides have."""
    runs = [matching.side_runs(side.tables, side.setup) for side in sides]
    keys = matching.keyed(runs)
    names = matching.named(runs, keys)
    common = set.intersection(*({*own} for own in keys))
    found = []
    for side, own in zip(runs, keys, strict=True):
        units = side.units.assign(workload=[names[key].name if key in common else None for key in own])
        sums = side.runs.groupby("unit")[_RATES].sum(skipna=False)
        found.append(units.dropna(subset="workload").join(sums, on="unit"))
    return found


def _curve(side: ComparedSide, units: pd.DataFrame) -> pd.DataFrame:
    """The curve of a workload of a side; empty where its runs cannot be merged."""
    ids = {run_id for own in units["run_ids"] for run_id in own}
    ddir = units["ddir"].iloc[0]
    for kind in KINDS:
        bins, told = (
            table[table["run_id"].isin(ids) & (table["ddir"] == ddir) & (table["lat_kind"] == kind)]
            for table in (once(side.tables["bins"]), side.tables["percentiles"])
        )
        if bins["run_id"].nunique() == len(ids):
            curve = merged(bins, CURVE, by=("ddir", "lat_kind"))
            return curve.assign(n=int(bins["n"].sum()))
        wholes = concurrency.sums(side.tables) if len(units) == 1 < len(ids) else {}
        whole = next(iter(ids)) if len(ids) == 1 else wholes.get((frozenset(ids), str(ddir)))
        if whole is not None and len(own := told[told["run_id"] == whole]):
            return own[["lat_kind", "percentile", "lat_us"]].assign(n=pd.NA)
    return pd.DataFrame()
