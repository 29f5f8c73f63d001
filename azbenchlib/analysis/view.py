"""What the checks look at: the single runs of a dataset, and what is told of them already.

Few rows a run (runs, results, latencies) are plain rows, for a frame takes longer to make than a hundred of
them; percentiles are arrays.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from azbenchlib.analysis import concurrency, mix
from azbenchlib.analysis.observation import Observation
from azbenchlib.core import schema
from azbenchlib.core.findings import Code, Finding, job_label
from azbenchlib.core.units import sum_known

# Engines of fio that read and write files by the operating system, and so may meet its page cache.
# Source: fio HOWTO, "I/O engine", fio-3.41.
FILE_ENGINES = (
    *("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring"),
    *("mmap", "splice", "windowsaio", "solarisaio", "e4defrag", "falloc", "ftruncate"),
)
_OF_SETUP = ("ram_bytes", "environment", "credit_s")

Row = Mapping[str, Any]
LatencyKey = tuple[str, str, str]  # run_id, ddir, lat_kind
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
_LATENCY_KEY = ["run_id", "ddir", "lat_kind"]


@dataclass(frozen=True)
class Percentiles:
    """The table percentiles as arrays of shape (n,); NaN: not known.

    Attributes
    ----------
    blocks : list of (str, str, str)
        The runs, directions and kinds of latency that there are, in the order of the table.
    block : ndarray of int
        The place of each row's block among `blocks`.
    percentile, lat_us : ndarray of float
    """

    blocks: list[LatencyKey]
    block: IntArray
    percentile: FloatArray
    lat_us: FloatArray

    def of(self, keep: Callable[[LatencyKey], bool]) -> BoolArray:
        """Which rows are of the blocks that are to be kept."""
        return np.fromiter(map(keep, self.blocks), bool, len(self.blocks))[self.block]

    def where(self, mask: BoolArray) -> "Percentiles":
        """Some of the rows; the blocks keep their places."""
        return Percentiles(self.blocks, self.block[mask], self.percentile[mask], self.lat_us[mask])

    def ordered(self) -> "Percentiles":
        """The rows in the order of the blocks' names, and of the percentiles in each."""
        ranks = np.empty(len(self.blocks), dtype=np.int64)
        ranks[sorted(range(len(self.blocks)), key=self.blocks.__getitem__)] = np.arange(len(self.blocks))
        return self.where(np.lexsort((self.percentile, ranks[self.block])))  # type: ignore[arg-type]


class View:
    """The tables of a dataset without sums of other rows and interim states.

    Attributes
    ----------
    runs : dict of str to dict
        The rows of the table runs as plain values, by run_id, with ``ram_bytes``, ``environment`` and
        ``credit_s`` of their setup. ``direct`` is also true where fio's engine opens no file, and so never
        meets the page cache.
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        self._tables = tables
        self._rows: dict[str, Sequence[Row]] = {}
        self._filtered: dict[str, pd.DataFrame] = {}
        self._own = tables["runs"][concurrency.counted(tables)]
        setups: dict[Any, Row] = {}
        for setup in schema.records(tables["setups"][["setup_id", *_OF_SETUP]]):
            setups.setdefault(setup["setup_id"], setup)
        self.runs = {str(row["run_id"]): _with_setup(row, setups) for row in schema.records(self._own)}

    @cached_property
    def together(self) -> dict[str, str]:
        """A name for all runs that were measured at the same time, by run_id."""
        return dict(zip(self._own["run_id"], concurrency.at_once(self._own), strict=True))

    @cached_property
    def told(self) -> Mapping[str, set[str]]:
        """The runs of which the findings tell something already, by its code."""
        found: dict[str, set[str]] = defaultdict(set)
        findings = self._tables["findings"]
        for code, run_id in zip(findings["code"], findings["run_id"], strict=True):
            if isinstance(run_id, str):
                found[code].add(run_id)
        return found

    def runs_with(self, *codes: Code) -> set[str]:
        """The runs of which the findings tell one of these already."""
        return {run_id for code in codes for run_id in self.told.get(code, ())}

    @cached_property
    def names(self) -> dict[str, str]:
        """File and job, as messages call a run."""
        return {
            run_id: job_label(row["source_path"] or "file not stated", row["job"])
            for run_id, row in self.runs.items()
        }

    @cached_property
    def failed(self) -> set[str]:
        """Runs that ended with an error."""
        return {run_id for run_id, row in self.runs.items() if row["error"]}

    @cached_property
    def verified(self) -> set[str]:
        """The runs that read back what they wrote."""
        return mix.verified(self._own, self._tables["results"])

    @cached_property
    def _ids(self) -> pa.Array:
        return pa.array(self.runs, pa.large_string())

    def table(self, name: str) -> pd.DataFrame:
        """The rows of a table that belong to these runs."""
        if name not in self._filtered:
            rows = self._tables[name]
            # pandas's isin makes two objects of each id, which takes ten times as long
            ids = pa.array(rows["run_id"], self._ids.type)
            own = np.asarray(pc.is_in(ids, value_set=self._ids))
            self._filtered[name] = rows if own.all() else rows[own]
        return self._filtered[name]

    def of_load(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows (with run_id and ddir) without reads that verify what a run wrote."""
        if not self.verified:
            return rows
        return [row for row in rows if row["ddir"] != "read" or row["run_id"] not in self.verified]

    def rows(self, name: str) -> Sequence[Row]:
        """The rows of a table that belong to these runs, as plain values."""
        if name not in self._rows:
            self._rows[name] = schema.records(self.table(name))
        return self._rows[name]

    def single(self, name: str) -> Sequence[Row]:
        """As :meth:`rows`, without directions that sum the others of their run."""
        table = self.table(name)
        once = concurrency.counts_once(table)
        return self.rows(name) if once.all() else schema.records(table[once])

    @cached_property
    def results(self) -> Sequence[Row]:
        """Results of each direction; mixed only where a run has nothing else, for it sums the others."""
        return self.single("results")

    @cached_property
    def latency(self) -> Sequence[Row]:
        """The table latency."""
        return self.rows("latency")

    @cached_property
    def counted(self) -> Sequence[Row]:
        """Latencies without mixed sums; a missing n is that of the bins, or of the I/Os done."""
        rows = self.single("latency")
        if all(row["n"] is not None for row in rows):
            return rows
        bins = self.table("bins")
        in_bins = bins[bins["t_s"].isna()].groupby(["run_id", "ddir", "lat_kind"])["n"].sum().to_dict()
        done = {(row["run_id"], row["ddir"]): row["ios"] for row in self.results}

        def n(row: Row) -> int | None:
            ios = done.get((row["run_id"], row["ddir"]))
            known = (row["n"], in_bins.get(_block(row)), ios)
            return next((value for value in known if value is not None), None)

        return [{**row, "n": n(row)} for row in rows]

    @cached_property
    def percentiles(self) -> Percentiles:
        """The table percentiles."""
        rows = self.table("percentiles")
        block = rows.groupby(_LATENCY_KEY, sort=False, dropna=False).ngroup().to_numpy()
        blocks = list(rows[_LATENCY_KEY].drop_duplicates().fillna("").itertuples(index=False, name=None))
        percentile, lat_us = (
            rows[name].to_numpy(dtype=float, na_value=np.nan) for name in ("percentile", "lat_us")
        )
        return Percentiles(blocks, block, percentile, lat_us)

    @cached_property
    def observations(self) -> dict[str, Observation]:
        """What was measured of each run, by run_id, without latencies but the mean, and without samples."""
        means = {_block(row)[:2]: row["lat_mean_us"] for row in self.counted if row["lat_kind"] == "lat"}
        rates: dict[str, list[Row]] = defaultdict(list)
        for row in self.of_load(self.results):
            rates[row["run_id"]].append({**row, "mean_us": means.get((row["run_id"], row["ddir"]))})
        return {run_id: self._observation(run_id, row, rates[run_id]) for run_id, row in self.runs.items()}

    def _observation(self, run_id: str, row: Row, results: Sequence[Row]) -> Observation:
        iops, mean_us = _total([(part["iops"], part["mean_us"]) for part in results])
        failed = run_id in self.failed
        took = [part["runtime_s"] for part in results if part["runtime_s"] is not None and not failed]
        known = {name: row[name] for name in _OBSERVED}
        if failed:  # how long it was to last says nothing of it
            known["runtime_limit_s"] = None
        return Observation(
            iops=iops,
            mean_us=mean_us,
            runtime_s=max(took, default=None),
            is_emulated=row["environment"] == "lab",
            **known,
        )


# Columns of a run that an observation takes as they are.
_OBSERVED = (
    *("direct", "tool", "working_set_bytes", "ram_bytes", "queue_depth", "rate_iops"),
    *("time_based", "runtime_limit_s"),
)

Check = Callable[[View], Iterable[Finding]]


def _with_setup(row: dict[str, Any], setups: Mapping[Any, Row]) -> Row:
    setup = setups.get(row["setup_id"] or "", {})
    engine = row["ioengine"]
    direct = row["direct"] if engine is None or engine in FILE_ENGINES else True
    return {**row, **{name: setup.get(name) for name in _OF_SETUP}, "direct": direct}


def _block(row: Row) -> LatencyKey:
    return row["run_id"], row["ddir"], row["lat_kind"]


def _total(parts: Sequence[tuple[float | None, float | None]]) -> tuple[float | None, float | None]:
    """IOPS of all directions, and the mean latency over all I/Os; None where one of them is not known."""
    iops = sum_known([part for part, _ in parts])
    outstanding = sum_known([None if i is None or us is None else i * us for i, us in parts])
    return iops, outstanding / iops if outstanding is not None and iops else None
