"""What the checks look at: the single runs of a dataset, and what is told of them already."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from azbenchlib.analyse.levels import no_sum
from azbenchlib.units import US_PER_S, format_us

# Engines of fio that read and write files by the operating system, and so may meet its page cache.
# Source: fio HOWTO, "I/O engine", fio-3.41.
FILE_ENGINES = (
    *("sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring"),
    *("mmap", "splice", "windowsaio", "solarisaio", "e4defrag", "falloc", "ftruncate"),
)


class Doubt(NamedTuple):
    """One finding under way."""

    run_id: str
    severity: str
    what: str
    advice: str


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
        single = no_sum(runs) & ~runs["run_id"].isin(self.runs_with("interim_document"))
        known = tables["setups"].dropna(subset=["setup_id"]).drop_duplicates("setup_id")
        self.runs = (
            runs[single]
            .drop_duplicates("run_id")
            .merge(known[["setup_id", "ram_bytes", "environment", "credit_s"]], on="setup_id", how="left")
            .set_index("run_id")
        )

    def runs_with(self, *codes: str) -> set[str]:
        """The runs of which the findings tell this already."""
        findings = self._tables["findings"]
        return set(findings.loc[findings["code"].isin(codes), "run_id"].dropna())

    @cached_property
    def names(self) -> dict[str, str]:
        """File and job, as messages call a run."""
        path = self.runs["source_path"].fillna("file not stated")
        return dict((path + (": job '" + self.runs["job"] + "'").fillna("")).items())

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


Check = Callable[[View], Iterable[Doubt]]


def sure(mask: pd.Series) -> pd.Series:
    """Where it is known to be true."""
    return mask.fillna(False).astype(bool)


def seconds(value: float) -> str:
    """A time given in seconds, with its unit."""
    return format_us(value * US_PER_S)


def _directions(rows: pd.DataFrame) -> pd.DataFrame:
    apart = set(rows.loc[rows["ddir"] != "mixed", "run_id"])
    return rows[(rows["ddir"] != "mixed") | ~rows["run_id"].isin(apart)]
