"""What the checks look at: the single runs of a dataset, and what is told of them already."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import pandas as pd

from azbenchlib.analysis import concurrency
from azbenchlib.analysis.observation import Observation
from azbenchlib.core.findings import Code, Finding, job_label
from azbenchlib.core.units import sum_known

# Engines of fio that read and write files by the operating system, and so may meet its page cache.
# Source: fio HOWTO, "I/O engine", fio-3.41.
FILE_ENGINES = (
    *("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring"),
    *("mmap", "splice", "windowsaio", "solarisaio", "e4defrag", "falloc", "ftruncate"),
)


class View:
    """The tables of a dataset without sums of other rows and interim states.

    Attributes
    ----------
    runs : DataFrame
        The table runs, by run_id, with ``ram_bytes``, ``environment`` and ``credit_s`` of their setup.
        ``direct`` is also true where fio's engine opens no file, and so never meets the page cache.
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame]) -> None:
        self._tables = tables
        self._own: dict[str, pd.DataFrame] = {}
        runs = tables["runs"]
        no_file = runs["ioengine"].notna() & ~runs["ioengine"].isin(FILE_ENGINES)
        runs = runs.assign(direct=runs["direct"].mask(no_file, True))
        known = tables["setups"].dropna(subset=["setup_id"]).drop_duplicates("setup_id")
        self.runs = (
            runs[concurrency.counted(tables)]
            .merge(known[["setup_id", "ram_bytes", "environment", "credit_s"]], on="setup_id", how="left")
            .set_index("run_id")
        )

    def runs_with(self, *codes: Code) -> set[str]:
        """The runs of which the findings tell this already."""
        findings = self._tables["findings"]
        return set(findings.loc[findings["code"].isin(codes), "run_id"].dropna())

    @cached_property
    def names(self) -> dict[str, str]:
        """File and job, as messages call a run."""
        rows = self.runs[["source_path", "job"]].astype(object)
        known = rows.where(rows.notna(), None)
        return {
            str(run_id): job_label(path or "file not stated", job) for run_id, path, job in known.itertuples()
        }

    @cached_property
    def failed(self) -> set[str]:
        """Runs that ended with an error."""
        return set(self.runs.index[sure(self.runs["error"].ne(0))])

    def table(self, name: str) -> pd.DataFrame:
        """The rows of a table that belong to these runs."""
        if name not in self._own:
            rows = self._tables[name]
            self._own[name] = rows[rows["run_id"].isin(self.runs.index)]
        return self._own[name]

    @cached_property
    def results(self) -> pd.DataFrame:
        """Results of each direction; mixed only where a run has nothing else, for it sums the others."""
        return _directions(self.table("results"))

    @cached_property
    def counted(self) -> pd.DataFrame:
        """The table latency without mixed sums; a missing n is that of the bins, or of the I/Os done."""
        rows = _directions(self.table("latency"))
        if not rows["n"].isna().any():
            return rows
        bins = self.table("bins")
        in_bins = bins[bins["t_s"].isna()].groupby(["run_id", "ddir", "lat_kind"])["n"].sum()
        done = self.results.set_index(["run_id", "ddir"])["ios"]
        filled = rows.join(in_bins.rename("binned"), on=in_bins.index.names).join(done, on=done.index.names)
        n = filled["n"].fillna(filled["binned"]).fillna(filled["ios"])
        return rows.assign(n=n.array)

    @cached_property
    def runtime_s(self) -> pd.Series:
        """Seconds that each run took, by run_id; NA where no direction tells."""
        longest = self.results.groupby("run_id")["runtime_s"].max()
        return longest.reindex(self.runs.index).astype("Float64")

    @cached_property
    def observations(self) -> dict[str, Observation]:
        """What was measured of each run, by run_id, without latencies but the mean, and without samples."""
        rates = {run_id: _total(rows) for run_id, rows in _rows_by_run(self._measured).items()}
        columns = [name for name in _OBSERVED if name in self.runs]
        rows = self.runs[[*columns, "environment"]].astype(object)
        known = rows.where(rows.notna(), None).to_dict(orient="index")
        return {str(run_id): self._observation(str(run_id), row, rates) for run_id, row in known.items()}

    @property
    def _measured(self) -> pd.DataFrame:
        """Results with the mean total latency of each direction."""
        means = self.counted.loc[self.counted["lat_kind"] == "lat", ["run_id", "ddir", "lat_mean_us"]]
        return self.results[["run_id", "ddir", "iops"]].merge(means, on=["run_id", "ddir"], how="left")

    def _observation(
        self, run_id: str, row: dict[str, Any], rates: Mapping[str, tuple[float | None, float | None]]
    ) -> Observation:
        iops, mean_us = rates.get(run_id, (None, None))
        is_emulated = row.pop("environment") == "lab"
        runtime_s = None if run_id in self.failed else _known(self.runtime_s[run_id])
        if run_id in self.failed:  # how long it was to last says nothing of it
            row["runtime_limit_s"] = None
        return Observation(iops=iops, mean_us=mean_us, runtime_s=runtime_s, is_emulated=is_emulated, **row)


# Columns of a run that an observation takes as they are.
_OBSERVED = (
    *("direct", "tool", "working_set_bytes", "ram_bytes", "queue_depth", "rate_iops"),
    *("time_based", "runtime_limit_s"),
)

Check = Callable[[View], Iterable[Finding]]


def sure(mask: pd.Series) -> pd.Series:
    """Where it is known to be true."""
    return mask.fillna(False).astype(bool)


def _known(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _rows_by_run(rows: pd.DataFrame) -> dict[str, list[tuple[float | None, float | None]]]:
    """IOPS and mean latency of each direction, by run."""
    found: dict[str, list[tuple[float | None, float | None]]] = {}
    for run_id, iops, mean_us in rows[["run_id", "iops", "lat_mean_us"]].itertuples(index=False):
        found.setdefault(run_id, []).append((_known(iops), _known(mean_us)))
    return found


def _total(parts: Sequence[tuple[float | None, float | None]]) -> tuple[float | None, float | None]:
    """IOPS of all directions, and the mean latency over all I/Os; None where one of them is not known."""
    iops = sum_known([part for part, _ in parts])
    outstanding = sum_known([None if i is None or us is None else i * us for i, us in parts])
    return iops, outstanding / iops if outstanding is not None and iops else None


def _directions(rows: pd.DataFrame) -> pd.DataFrame:
    apart = set(rows.loc[rows["ddir"] != "mixed", "run_id"])
    return rows[(rows["ddir"] != "mixed") | ~rows["run_id"].isin(apart)]
