"""Which logs of rates are of the jobs that one row sums: fio may report jobs together and log each of them.

Such a log is a run of its own without results. It has the folder, the name and the host of the row; what
belongs to which run is decided in ``dataset.log_matching``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePath
from typing import Any

RATE_LOG = re.compile(r"_(?:bw|iops)(?:\.\d{1,9})?\.log(?:\.[^/\\]*)?$")
Row = Mapping[str, Any]


def logs_of_jobs(runs: Iterable[Row], with_results: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The runs of the logs of all jobs of a row, by its run_id; none where logs are missing or too many.

    Parameters
    ----------
    runs : iterable of mapping
        Rows of the table runs as plain values.
    with_results : collection of str
        The runs that have results.
    """
    logs: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    rows: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for run in runs:
        if run["tool"] != "fio":
            continue
        path = run["source_path"] or ""
        key = (str(PurePath(path).parent), run["host"], run["job"])
        if run["run_id"] in with_results:
            rows[key].append(run)
        elif run["numjobs"] == 1 and RATE_LOG.search(path):
            logs[key].append(str(run["run_id"]))
    return {
        str(row["run_id"]): tuple(ids)
        for key, ids in logs.items()
        for row in rows[key]
        if len(rows[key]) == 1 and _may_be_all(row, len(ids))
    }


def _may_be_all(row: Row, n: int) -> bool:
    """Whether so many logs are of all jobs of a row; a row may sum more jobs than its options tell."""
    told = row["numjobs"] or 1
    return bool(n == told or (n > told and row["level"] == "job"))
