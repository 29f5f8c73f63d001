"""Sides of a comparison as tables: runs of which rates and latencies are given, as if they were read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.analysis.compare import ComparedSide
from azbenchlib.core import histogram, schema

Tables = dict[str, pd.DataFrame]
READS = {"rw": "randread", "bs_bytes": 4096, "queue_depth": 8, "iodepth": 8}
RUN = {
    **{"level": "job", "tool": "fio", "tool_version": "fio-3.36", "direct": True, "ioengine": "libaio"},
    **{"source_doc": 0, "group_id": 0, "job": "j"},
}


def bins_of(samples_us: Sequence[float], **row: object) -> list[dict[str, Any]]:
    index = histogram.index_of(np.round(np.asarray(samples_us) * 1000).astype(np.int64))
    values, counts = np.unique(histogram.value_of(index), return_counts=True)
    return [row | {"bin_ns": int(v), "n": int(n)} for v, n in zip(values, counts, strict=True)]


def side(
    name: str,
    runs: Sequence[Mapping[str, Any]],
    setup: Mapping[str, Any] | None = None,
    samples: Sequence[Mapping[str, Any]] = (),
) -> ComparedSide:
    """A side of runs, each of its own file.

    A run has iops, bw_bytes_per_s, samples_us (its latencies), percentiles (as reported, in µs), ddir, and
    columns of the table runs.
    """
    rows: dict[str, list[dict[str, Any]]] = {table: [] for table in schema.TABLES}
    for i, run in enumerate(runs):
        columns = {key: value for key, value in run.items() if key in schema.TABLES["runs"].columns}
        known = {"run_id": f"{name}-{i}", "source_sha256": f"{name}{i}", "source_path": f"{name}/{i}.json"}
        rows["runs"].append(RUN | known | READS | columns)
        key = {"run_id": rows["runs"][-1]["run_id"], "ddir": run.get("ddir", "read")}
        rates = {rate: run[rate] for rate in ("iops", "bw_bytes_per_s") if rate in run}
        rows["results"].append(key | rates)
        if "samples_us" in run:
            rows["bins"] += bins_of(run["samples_us"], lat_kind="clat", **key)
        for percentile, value in run.get("percentiles", {}).items():
            rows["percentiles"].append(key | {"lat_kind": "clat", "percentile": percentile, "lat_us": value})
    if setup is not None:
        rows["setups"] = [{"setup_id": "s"} | dict(setup)]
        for run_row in rows["runs"]:
            run_row.setdefault("setup_id", "s")
    rows["samples"] = [dict(sample) for sample in samples]
    tables: Tables = {table: schema.frame(table, rows[table]) for table in schema.TABLES}
    return ComparedSide(name=name, tables=tables)


def rates(name: str, values: Sequence[float], **columns: Any) -> ComparedSide:
    """A side of one workload with these IOPS, a run each."""
    return side(name, [{"iops": value} | columns for value in values])


def fio_outputs(folder: Path, values: Sequence[float], job: str = "j", version: str = "fio-3.36") -> Path:
    """fio's JSON of one run a file with these IOPS."""
    folder.mkdir()
    for i, iops in enumerate(values):
        options = {"rw": "randread", "bs": "4k", "iodepth": "8", "ioengine": "libaio", "direct": "1"}
        rate = {"iops": iops, "bw_bytes": int(4096 * iops), "total_ios": int(10 * iops)}
        read = rate | {"io_bytes": int(40960 * iops), "runtime": 10000}
        one = {"jobname": job, "groupid": 0, "error": 0, "job options": options, "read": read}
        document = {"fio version": version, "timestamp": 1_700_000_000 + i, "jobs": [one]}
        (folder / f"{i}.json").write_text(json.dumps(document))
    return folder
