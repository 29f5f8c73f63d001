"""Which run a log of fio belongs to that was not found beside it: one of its name that it agrees with.

A log without an output beside it is a run of its own. Where its run is there too, from another folder or
collected at another time, both would count the same I/Os. A name such as ``job_clat.1.log`` is no proof, so
the figures must agree: no log of the job may contradict the directions, times and the range of latencies of
the run; and one of them must show that it is of this run: the extremes of single latencies are those of the
run, the bins reach up to one of them, there are as many entries as I/Os, or the mean or the rate is that of
the run. Just one run may agree. What a run has already, entry by entry, is a copy of its log, and so is what
another log apart has; rates may be alike by chance, as below a limit, and need more entries that differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.analysis.same_runs import RunFigures
from azbenchlib.core import histogram, schema
from azbenchlib.core.units import NS_PER_US

Row = Mapping[str, Any]
Tables = Mapping[str, pd.DataFrame]

_LATER_S = 1.0  # a log may end so much after its run
_SHORTER = 0.5  # or so much of the run before its end, where it is of averages over long intervals
_ROUNDED_US = 1.0  # logs of older versions are in whole microseconds
_NEAR = 0.05  # the mean of a log of averages is that far from that of the run
_LATENCIES = tuple(f"{kind}_us" for kind in schema.LAT_KINDS)
_RATES = {"iops": "iops", "bw_bytes_per_s": "bw_bytes_per_s"}
# How many entries of a log must differ for it to be no chance that another log has the same.
_FEWEST_ENTRIES = dict.fromkeys(_LATENCIES, 3) | dict.fromkeys(_RATES, 4)


def owners(
    runs: pd.DataFrame,
    with_results: set[str],
    named: pd.DataFrame,
    rows: Callable[[str, Collection[str]], pd.DataFrame],
    figures: RunFigures,
) -> dict[str, str]:
    """Return the run that each log belongs to, or has the copy of, by the run_id of the log.

    Parameters
    ----------
    runs : DataFrame
        Rows of the table runs.
    with_results : set of str
        The runs that outputs tell of.
    named : DataFrame
        As :func:`by_name` takes it.
    rows : callable
        Called with ``samples`` or ``bins`` and ids of runs: the rows of that table that are theirs.
    figures : RunFigures
    """
    logs = log_runs(runs, with_results)
    if logs.empty:
        return {}
    ids = set(logs["run_id"])
    called = by_name(named[~named["run_id"].isin(ids)])
    jobs = dict(zip(logs["run_id"], logs["job"].fillna(""), strict=True))
    alike = ids.union(*(called.get(job, set()) for job in jobs.values()))
    samples = rows("samples", alike)
    summed = summaries({"samples": samples, "bins": rows("bins", ids)}, ids)
    run_of = runs_of_logs(logs, summed, called, figures)
    copied = copies(samples, runs, jobs)
    return {log: run_of.get(run, run) for log, run in copied.items()} | run_of


def log_runs(runs: pd.DataFrame, with_results: set[str]) -> pd.DataFrame:
    """The rows of runs that logs alone tell of; not those of single jobs of a row beside them.

    Parameters
    ----------
    runs : DataFrame
        Rows of the table runs.
    with_results : set of str
        The runs that outputs tell of.
    """
    apart = [run_id not in with_results for run_id in runs["run_id"]]
    if not any(apart):  # as nearly always
        return runs[:0]
    runs = runs[apart]
    named = runs["source_path"].fillna("").str.contains(r"_(?:bw|iops|slat|clat|lat|clat_hist)\.", regex=True)
    return runs[(runs["tool"] == "fio").fillna(False) & named & runs["numjobs"].isna()]


def by_name(rows: pd.DataFrame) -> dict[str, set[str]]:
    """The runs of one job by each name of it and of every output that tells of them.

    Parameters
    ----------
    rows : DataFrame
        Columns run_id, job, numjobs and source_path; a run may have several rows.
    """
    found: dict[str, set[str]] = defaultdict(set)
    several = set(rows.loc[(rows["numjobs"] > 1).fillna(False), "run_id"])
    rows = rows[~rows["run_id"].isin(several)]
    for run_id, job, path in rows[["run_id", "job", "source_path"]].itertuples(index=False):
        for name in (job, PurePath(path).stem if pd.notna(path) else pd.NA):
            if pd.notna(name):
                found[name].add(run_id)
    return found


def summaries(tables: Tables, ids: set[str]) -> list[dict[str, Any]]:
    """What logs tell, a row a run, direction and metric: n, mean, least, most (in its unit), last_s.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        At least samples and bins.
    ids : set of str
        The runs of logs.
    """
    samples, bins = (tables[name][tables[name]["run_id"].isin(ids)] for name in ("samples", "bins"))
    found = []
    each = dict(iter(samples.groupby(["run_id", "ddir", "metric"])))
    for (run_id, ddir, metric), rows in each.items():
        values = rows["value"].astype(float)
        mean = _mean(values, each.get((run_id, ddir, "iops")) if metric in _LATENCIES else None)
        told = {"run_id": run_id, "ddir": ddir, "metric": metric, "n": len(rows), "mean": mean}
        found.append(told | {"least": values.min(), "most": values.max(), "last_s": rows["t_s"].max()})
    for (run_id, ddir, kind), rows in bins.groupby(["run_id", "ddir", "lat_kind"]):
        told = {
            "run_id": run_id,
            "ddir": ddir,
            "metric": f"{kind}_bins",
            "n": int(rows["n"].sum()),
            "mean": None,
        }
        low, high = (float(end) / NS_PER_US for end in (rows["bin_ns"].min(), rows["bin_ns"].max()))
        found.append(told | {"least": low, "most": high, "last_s": rows["t_s"].max()})
    return found


def copies(samples: pd.DataFrame, runs: pd.DataFrame, logs: Mapping[str, str]) -> dict[str, str]:
    """Return the run that has the entries of a log already, all of them, by the run_id of that log.

    Parameters
    ----------
    samples : DataFrame
        Rows of the table samples.
    runs : DataFrame
        Rows of the table runs; logs of jobs with two numbers are no copies of each other.
    logs : mapping of str to str
        The job of each run of logs, by its run_id; nor are logs of jobs with two names.

    Returns
    -------
    dict of str to str
        A run that is none of logs; where there is none, the first in the order of the table.
    """
    of_logs = samples[samples["metric"].isin(list(_FEWEST_ENTRIES))]
    numbers = dict(zip(runs["run_id"], runs["job_index"], strict=True))
    order = {run_id: place for place, run_id in enumerate(numbers)}
    holders: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for (run_id, ddir, metric), rows in of_logs.groupby(["run_id", "ddir", "metric"], sort=False):
        if rows["value"].nunique() >= _FEWEST_ENTRIES[metric]:
            holders[ddir, metric, numbers.get(run_id), _digest(rows)].append(run_id)
    found: dict[str, str] = {}
    for same in holders.values():
        mine = sorted((run_id for run_id in same if run_id in logs), key=order.__getitem__)
        owners = [run_id for run_id in same if run_id not in logs]
        if len(owners) <= 1 and len({logs[run_id] for run_id in mine}) == 1:
            first, *others = [*owners, *mine]
            found = dict.fromkeys(others, first) | found
    return {run_id: _original(found, run_id) for run_id in found}


def _digest(rows: pd.DataFrame) -> bytes:
    """Return what tells the entries of a log from those of others."""
    entries = rows[["t_s", "value"]].to_numpy(dtype=float, na_value=np.nan)
    return sha256(entries.tobytes()).digest()


def _original(copied: Mapping[str, str], run_id: str) -> str:
    """Follow copies of copies to the run that is none."""
    passed = {run_id}
    while (following := copied.get(run_id, run_id)) not in passed:
        passed.add(following)
        run_id = following
    return run_id


def _mean(values: pd.Series, rates: pd.DataFrame | None) -> float:
    """Return the mean of the entries; of latencies that are means themselves, by the I/Os behind each."""
    if rates is None or len(rates) != len(values) or not (weights := rates["value"].astype(float)).sum():
        return float(values.mean())
    return float(np.average(values, weights=weights))


def runs_of_logs(
    logs: pd.DataFrame, summed: Sequence[Row], called: Mapping[str, set[str]], figures: RunFigures
) -> dict[str, str]:
    """The run of each log that just one run agrees with.

    Parameters
    ----------
    logs : DataFrame
        Rows of runs, as of :func:`log_runs`.
    summed : sequence of mapping
        As of :func:`summaries`.
    called : mapping of str to set of str
        The other runs, as of :func:`by_name`.
    figures : RunFigures

    Returns
    -------
    dict of str to str
        run_id of the run, by that of the log.
    """
    names = {log["run_id"]: called.get(log["job"], set()) for log in schema.records(logs)}
    wanted = set().union(*names.values())
    results: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in schema.records(figures.rows("results", wanted)):
        results[row["run_id"]][row["ddir"]] = row
    latencies: dict[str, dict[tuple[str, str], Row]] = defaultdict(dict)
    for row in schema.records(figures.rows("latency", wanted)):
        latencies[row["run_id"]][row["ddir"], row["lat_kind"]] = row
    found = {}
    for log_id, ids in names.items():
        mine = [row for row in summed if row["run_id"] == log_id]
        some = sorted(ids & results.keys())
        agreeing = [run_id for run_id in some if _are_of(mine, results[run_id], latencies[run_id])]
        if len(agreeing) == 1:
            found[log_id] = agreeing[0]
    return found


def _are_of(logs: Sequence[Row], rates: Mapping[str, Row], latencies: Mapping[tuple[str, str], Row]) -> bool:
    """Whether the logs of a job can all be of a run with these figures, and one of them shows that it is."""
    proofs = [_proves(log, rates.get(log["ddir"]), latencies) for log in logs]
    return None not in proofs and any(proofs)


def _proves(log: Row, rates: Row | None, latencies: Mapping[tuple[str, str], Row]) -> bool | None:
    """Whether one metric of a log shows that it is of this run; None: it shows that it is not."""
    if rates is None or not rates["runtime_s"]:
        return None
    if pd.notna(log["last_s"]) and not (
        _SHORTER * rates["runtime_s"] <= log["last_s"] <= rates["runtime_s"] + _LATER_S
    ):
        return None
    if (rate := _RATES.get(log["metric"])) is not None:
        return _is_each(log["n"], rates) or _is_near(log["mean"], rates[rate])
    kind, _, what = str(log["metric"]).rpartition("_")
    moments = latencies.get((log["ddir"], kind))
    if moments is None or None in (moments["lat_min_us"], moments["lat_max_us"]):
        return None
    low, high = moments["lat_min_us"], moments["lat_max_us"]
    if rates["ios"] is not None and log["n"] > rates["ios"]:
        return None
    wide = 1 + 2 * histogram.REL_ERROR if what == "bins" else 1.0
    if not low / wide - _ROUNDED_US <= log["least"] <= log["most"] <= high * wide + _ROUNDED_US:
        return None
    reaches = log["least"] <= low * wide + _ROUNDED_US, log["most"] >= high / wide - _ROUNDED_US
    if what == "bins":
        return any(reaches) or _is_near(log["n"] / log["last_s"], rates["iops"])
    return all(reaches) or (not _is_each(log["n"], rates) and _is_near(log["mean"], moments["lat_mean_us"]))


def _is_each(n: int, rates: Row) -> bool:
    """Whether so many entries are one an I/O."""
    if rates["ios"] is not None or rates["iops"] is None:
        return bool(n == rates["ios"])
    return _is_near(n / rates["runtime_s"], rates["iops"])


def _is_near(mean: float, known: float | None) -> bool:
    return known is not None and abs(mean - known) <= _NEAR * known
