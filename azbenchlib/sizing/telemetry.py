"""From tables of telemetry to one history: which devices count, and all hosts on one line of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_span
from azbenchlib.model.load_history import LoadHistory, Series
from azbenchlib.sizing.counted_devices import DeviceChoice, choose
from azbenchlib.sizing.fio_logs import jobs_with_one_log, of_fio_logs
from azbenchlib.sizing.monitor import of_azure_monitor
from azbenchlib.sizing.sampled_rates import LOAD_RATES
from azbenchlib.sizing.saturation import HeldBack, held_back

_TOGETHER_S = 1e-3  # ends and begins of intervals that are nearer are the same moment


@dataclass(frozen=True, kw_only=True)
class Telemetry:
    """What was recorded, as one history.

    Parameters
    ----------
    history : LoadHistory
        The sum over all hosts.
    choices : mapping of str to DeviceChoice
        By host: the devices that were added up, and those that were not.
    interval_s : float
        The usual length of an interval.
    missing_s : float
        Time between the first and the last interval of which nothing is known.
    notes : tuple of str
        What was assumed, in sentences.
    held_back : tuple of HeldBack
        Disks that gave all they could while they were recorded.
    cpus : int, optional
        Processors of all hosts together. None: not known of each of them.
    memory_bytes : float, optional
        The same of their memory.
    """

    history: LoadHistory
    choices: Mapping[str, DeviceChoice]
    interval_s: float
    missing_s: float
    notes: tuple[str, ...]
    held_back: tuple[HeldBack, ...] = ()
    cpus: int | None = None
    memory_bytes: float | None = None

    @property
    def devices(self) -> dict[str, tuple[str, ...]]:
        """Those that were added up, by host."""
        return {host: choice.counted for host, choice in self.choices.items()}


def telemetry(
    tables: Mapping[str, pd.DataFrame], devices: Sequence[str] = (), interval_s: float | None = None
) -> Telemetry:
    """The load that tables of telemetry tell of.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        `demand`, and `runs` and `samples` of Azure Monitor and of fio.
    devices : sequence of str
        Patterns of names, such as ``sd*``; none: all disks, without partitions and devices that lie on disks.
    interval_s : float, optional
        Length of the intervals of reports that state neither times nor lengths.

    Raises
    ------
    InputError
        When there is no telemetry, no device is chosen, lengths of intervals are not known, or the hosts have
        no time in common.
    """
    sampled = (of_azure_monitor(tables), of_fio_logs(tables))
    rows = pd.concat([tables["demand"], *sampled], ignore_index=True)
    if rows.empty:
        raise InputError(
            "there is no telemetry in what was named; record some with: iostat -x -t -y -o JSON 60"
        )
    rows = _placed(rows, interval_s)
    notes = [
        f"{path}: it has a log of IOPS or of bandwidth alone, and does not count"
        for path in jobs_with_one_log(tables)
    ]
    choices, counted = {}, []
    cpus, memory = _of_all_hosts(rows, "host_cpus"), _of_all_hosts(rows, "host_memory_bytes")
    for host, own in rows.groupby("host", sort=False, dropna=False):
        choice = choices[str(host)] = choose(str(host), own, devices)
        counted.append(own[own["device"].isin(choice.counted)])
    rows = _with_directions(pd.concat(counted, ignore_index=True), notes)
    clock = _clock(rows, len(choices))
    begin, length, sums = _added_up(rows)
    history = LoadHistory(
        t_s=begin, interval_s=length, clock=clock, **dict(zip(LOAD_RATES, sums, strict=True))
    )
    missing = float(begin[-1] + length[-1] - begin[0] - length.sum())
    usual = float(np.quantile(rows["interval_s"].to_numpy(dtype=float), 0.5, method="lower"))
    if missing > _TOGETHER_S:
        notes.append(
            f"of {format_span(missing)} between the first and the last report nothing is known; it is left "
            "out, and no credits come back in it"
        )
    if len(choices) > 1:
        notes.append(f"the loads of {len(choices)} hosts are added up, as on one VM")
    return Telemetry(
        history=history,
        choices=choices,
        interval_s=usual,
        missing_s=max(0.0, missing),
        notes=tuple(notes),
        held_back=held_back(tables, rows),
        cpus=None if cpus is None else int(cpus),
        memory_bytes=memory,
    )


def _of_all_hosts(rows: pd.DataFrame, column: str) -> float | None:
    """What the hosts have together, by the last report of each; None: not known of each of them."""
    last = rows.sort_values("t_s", kind="stable").groupby("host", sort=False)[column].last()
    return None if last.isna().any() else float(last.sum())


def _placed(rows: pd.DataFrame, interval_s: float | None) -> pd.DataFrame:
    """All rows with a begin and a length; reports without times follow each other."""
    rows = rows.assign(host=rows["host"].fillna("host"))
    unknown = rows["interval_s"].isna()
    if unknown.any() and interval_s is None:
        path = rows.loc[unknown, "source_path"].iloc[0]
        raise InputError(
            f"{path}: its reports have no times; state how long each of them is, such as --interval 60s"
        )
    rows = rows.assign(interval_s=rows["interval_s"].fillna(interval_s or 0.0))
    untimed = rows["t_s"].isna()
    if untimed.any():
        if rows.loc[untimed].groupby("host")["telemetry_id"].nunique().max() > 1:
            path = rows.loc[untimed, "source_path"].iloc[-1]
            raise InputError(f"{path}: several files of one host without times cannot be put in order")
        places = rows["seq"] * rows["interval_s"]
        rows = rows.assign(t_s=rows["t_s"].fillna(places))
    return rows


def _with_directions(rows: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Reads and writes of rows that tell only their sum: by bytes where these are told apart, else as writes.

    No host cache serves writes, so what is not known to be a read is not served by it.
    """
    found = rows.copy()
    iops, size = found["iops"], found["bw_bytes_per_s"]
    rest = (size - found["read_bytes_per_s"]).clip(lower=0.0)  # written or discarded, in one figure
    found["write_bytes_per_s"] = found["write_bytes_per_s"].fillna(rest)
    total = found["read_bytes_per_s"] + found["write_bytes_per_s"]
    share = (found["read_bytes_per_s"] / total.where(total > 0)).fillna(0.0)
    for part, of_all in (("read", share), ("write", 1 - share)):
        lone = found[f"{part}_iops"].isna()
        if (lone & iops.notna()).any() and part == "read":
            notes.append("reads and writes are not told apart; they are taken to be of one size")
        found[f"{part}_iops"] = found[f"{part}_iops"].fillna(iops * of_all)
    if (total.isna() & size.notna()).any():
        notes.append("bytes read and written are not told apart; they are taken as written")
    found["read_bytes_per_s"] = found["read_bytes_per_s"].fillna((size * 0).astype("Float64"))
    found["write_bytes_per_s"] = found["write_bytes_per_s"].fillna(size)
    unknown = found[list(LOAD_RATES)].isna().all(axis=0)
    if unknown.any():
        path, what = found["source_path"].iloc[0], unknown.index[unknown][0]
        raise InputError(
            f"{path}: it does not tell {what}; IOPS and bytes per second are needed, as iostat -x records "
            "them, or as Azure Monitor has them for reads and for writes"
        )
    return found


def _clock(rows: pd.DataFrame, hosts: int) -> str:
    clocks = set(rows["clock"])
    if len(clocks) > 1:
        stated = ", ".join(sorted(clocks))
        raise InputError(
            f"the times of {hosts} hosts are of different clocks ({stated}) and cannot be put side by side"
        )
    return str(clocks.pop())


def _added_up(rows: pd.DataFrame) -> tuple[Series, Series, list[Series]]:
    """Begins and lengths of the times that all hosts tell of, and the sum of each rate in them."""
    begins, lengths = (rows[name].to_numpy(dtype=float) for name in ("t_s", "interval_s"))
    edges = _edges(np.concatenate([begins, begins + lengths]))
    middles = (edges[:-1] + edges[1:]) / 2
    sums = [np.zeros(len(middles)) for _ in LOAD_RATES]
    told_by_all = np.ones(len(middles), dtype=bool)
    for _, own in rows.groupby("host", sort=False):
        told = np.zeros(len(middles), dtype=bool)
        for _, series in own.groupby("device", sort=False):
            told |= _add(series.sort_values("t_s", kind="stable"), middles, sums)
        told_by_all &= told
    told_by_all &= ~np.isnan(sums).any(axis=0)
    if not told_by_all.any():
        raise InputError("the hosts have no time in common in which all of them tell of their load")
    return (
        edges[:-1][told_by_all],
        (edges[1:] - edges[:-1])[told_by_all],
        [values[told_by_all] for values in sums],
    )


def _edges(moments: Series) -> Series:
    """The moments in order, those that are the same once."""
    ordered = np.unique(moments)
    return ordered[np.concatenate([[True], np.diff(ordered) > _TOGETHER_S])]


def _add(series: pd.DataFrame, middles: Series, sums: list[Series]) -> np.ndarray:
    """Add the rates of a device where it tells of them; which of the times these are."""
    begins, lengths = (series[name].to_numpy(dtype=float) for name in ("t_s", "interval_s"))
    places = np.searchsorted(begins, middles, side="right") - 1
    inside = (places >= 0) & (middles < (begins + lengths)[places])
    for total, values in zip(sums, _values(series), strict=True):
        total[inside] += values[places[inside]]
    return inside


def _values(series: pd.DataFrame) -> Iterator[Series]:
    for name in LOAD_RATES:
        yield series[name].to_numpy(dtype=float, na_value=np.nan)
