"""Samples of Azure Monitor as rows of the table demand: of its disks, or of the VM where none is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import PurePosixPath

import numpy as np
import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.formats.azure_monitor import TOOL
from azbenchlib.sizing.sampled_rates import METRICS, wide_rates

_DISK = "disk"  # the object of a disk resource
_OS_DISK = "OS disk"
_WHOLE = ("data disks", "VM", _DISK)  # objects that tell of several disks, or of the only one
_POINT_S = 60.0  # of a point where there is but one


def of_azure_monitor(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Rows of the table demand; none where there is no answer of Azure Monitor.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        `runs` and `samples`.

    Raises
    ------
    InputError
        For an answer whose disks are not told apart: its figures are means over them.
    """
    runs = tables["runs"][(tables["runs"]["tool"] == TOOL).fillna(False)]
    parts = [_of_answer(run, tables["samples"]) for run in runs.to_dict("records")]
    rows = pd.concat(parts, ignore_index=True) if parts else schema.empty("demand")
    of_disks = rows["device"] == _DISK
    return rows if of_disks.all() else rows[~of_disks]  # what a VM tells holds what its disks tell


def _of_answer(run: Mapping[str, object], samples: pd.DataFrame) -> pd.DataFrame:
    own = samples[(samples["run_id"] == run["run_id"]) & samples["metric"].isin(METRICS)]
    objects = [str(name) for name in dict.fromkeys(own["object"].dropna())]
    of_os = [name for name in objects if name == _OS_DISK]
    data = [name for name in objects if name.startswith("LUN ")]
    wanted = [*of_os, *data] if data else [name for name in objects if name in _WHOLE] or of_os
    if "data disks" in wanted:
        raise InputError(
            f"{run['source_path']}: the figures of data disks are means over them; ask Azure again with "
            "--filter \"LUN eq '*'\""
        )
    own = own[own["object"].isin(wanted)]
    if own.empty:
        return schema.empty("demand")
    wide = wide_rates(own, ["object", "t_s"]).rename(columns={"object": "device"})
    begun = datetime.fromisoformat(str(run["started_at"])).timestamp()
    moments = np.unique(wide["t_s"].to_numpy(dtype=float))
    length = float(np.median(np.diff(moments))) if len(moments) > 1 else _POINT_S
    rows = wide.assign(
        telemetry_id=run["run_id"],
        source_path=run["source_path"],
        tool=TOOL,
        host=PurePosixPath(str(run["source_path"])).stem if pd.isna(run["host"]) else run["host"],
        seq=np.searchsorted(moments, wide["t_s"].to_numpy(dtype=float)),
        clock="utc",
        t_s=wide["t_s"] + begun,
        interval_s=length,
    )
    return schema.conform("demand", rows)
