"""Samples of IOPS and throughput by direction, as columns of the table demand."""

from collections.abc import Sequence

import pandas as pd

METRICS = ("iops", "bw_bytes_per_s")
LOAD_COLUMNS = {
    ("iops", "read"): "read_iops",
    ("iops", "write"): "write_iops",
    ("bw_bytes_per_s", "read"): "read_bytes_per_s",
    ("bw_bytes_per_s", "write"): "write_bytes_per_s",
}
LOAD_RATES = tuple(LOAD_COLUMNS.values())


def wide_rates(samples: pd.DataFrame, index: Sequence[str]) -> pd.DataFrame:
    """One row for each value of the index, with the rates of reads and writes that are told.

    Parameters
    ----------
    samples : DataFrame
        Rows of the table samples of :data:`METRICS`, of reads and writes.
    index : sequence of str
        Columns of it that tell the rows apart.
    """
    told = samples[samples["ddir"].isin(["read", "write"])]
    names = [LOAD_COLUMNS[pair] for pair in zip(told["metric"], told["ddir"], strict=True)]
    wide = told.assign(column=names).pivot_table(
        index=list(index), columns="column", values="value", aggfunc="last"
    )
    return wide.rename_axis(columns=None).reset_index()
