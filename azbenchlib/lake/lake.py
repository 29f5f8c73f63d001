"""Lake: what a lake answers, in Python as on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from azbenchlib.analysis.merge import USUAL
from azbenchlib.core import histogram, schema
from azbenchlib.core.errors import InputError
from azbenchlib.lake import merging, parts, sql
from azbenchlib.lake.collect import Collected, collect
from azbenchlib.lake.place import Folder, ObjectStore, place_at
from azbenchlib.lake.workers import DaskCluster, Processes, Workers
from azbenchlib.model.disk_row import OF_SETUP

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

USUAL_GROUPS = (OF_SETUP, "ddir", "lat_kind")


@dataclass(frozen=True)
class Lake:
    """The tables of any number of outputs as Parquet, in a folder or in Azure.

    Parameters
    ----------
    address : str or Path
        A folder, or ``abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/FOLDER``.
    """

    address: str | Path
    place: Folder | ObjectStore = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", place_at(str(self.address)))

    def collect(
        self,
        *names: str | Path,
        processes: int = 1,
        dask: str | None = None,
        setup_id: str | None = None,
        log_unit: str | None = None,
    ) -> Collected:
        """Add outputs; what is there already, by content, is not added again.

        Parameters
        ----------
        names : str or path-like
            Outputs, folders or trees of them, datasets.
        processes : int
            How many read. More than one need a program whose main module can be imported.
        dask : str, optional
            The address of a Dask scheduler whose workers read instead.
        setup_id, log_unit : str, optional
            As of :func:`azbenchlib.lake.collect.collect`, with its errors.
        """
        return collect(self.place, names, workers_of(processes, dask), setup_id=setup_id, log_unit=log_unit)

    def query(self, select: str) -> pd.DataFrame:
        """The answer to a SELECT, in SQL of DuckDB.

        There is a view for each table of the schema, with ``day`` and ``setup_id`` in each that belongs to
        runs; ``histograms`` are the bins that count each I/O once. ``percentiles_of('NAME', [50, 99])`` adds
        up the histograms of a view, a table or a part of the query (WITH) that agree in all columns but
        ``bin_ns`` and ``n``, and tells their percentiles by nearest rank.

        Raises
        ------
        InputError
            When it is no SELECT, DuckDB refuses it, or this is no lake.
        MissingToolError
            When DuckDB is not installed (extra ``lake``).
        """
        with self._connected() as connection:
            return sql.answer(connection, select)

    def _connected(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        there = parts.parts_of(self.place)
        files = {
            name: [file for part in there for file in parts.files_of(part, name)] for name in schema.TABLES
        }
        return sql.connected(self.place, {name: sorted(set(found)) for name, found in files.items()})

    def percentiles(
        self,
        by: Sequence[str] = USUAL_GROUPS,
        percentiles: Sequence[float] = USUAL,
        *,
        processes: int | None = None,
        dask: str | None = None,
    ) -> pd.DataFrame:
        """Latency percentiles of all runs that agree in some columns, exact to the bin of their histograms.

        Parameters
        ----------
        by : sequence of str
            Columns of histograms and runs, such as setup_id, day, ddir, lat_kind, rw, bs_bytes.
        percentiles : sequence of float
            Above 0, at most 100.
        processes : int, optional
            Merge with that many processes of this machine instead of DuckDB.
        dask : str, optional
            Merge on the workers of this Dask scheduler instead.

        Returns
        -------
        DataFrame
            `by`, n (I/Os), percentile, lat_us; sorted by `by` and percentile. The same figures in the same
            order from every engine and however the lake is divided into parts.

        Raises
        ------
        InputError
            For an unknown column or a percentile out of range.
        """
        histogram.shares(percentiles)
        known = {**dict.fromkeys(merging.OF_BINS), **dict.fromkeys(schema.TABLES["runs"].columns)}
        if unknown := [name for name in by if name not in known]:
            raise InputError(f"there is no column '{unknown[0]}' to group by; there are: {', '.join(known)}")
        wanted = sorted(set(percentiles))
        if processes is None and dask is None:
            with self._connected() as connection:
                found = merging.by_duckdb(connection, by)
        else:
            workers = workers_of(processes or 1, dask)
            found = merging.by_workers(self.place, parts.parts_of(self.place), workers, by)
        return merging.percentiles_of(found, by, wanted)


def workers_of(processes: int = 1, dask: str | None = None) -> Workers:
    """Processes of this machine, or those of a Dask scheduler."""
    if processes < 1:
        raise InputError(f"at least one process is needed, not {processes}")
    return Processes(processes) if dask is None else DaskCluster(dask)
