"""Percentiles by second of a latency log, as one writes them with pandas or polars; nothing is checked.

    python benchmarks/log_by_library.py pandas|polars LOG

It prints what benchmarks/plain_log_reader.c prints: second, direction, I/Os, and four nearest ranks in ns.
"""

import sys
from collections.abc import Iterator

import numpy as np

PERCENTILES = (50, 95, 99, 99.9)
NAMES = ["t_ms", "ns", "ddir"]
Group = tuple[int, int, np.ndarray]


def by_pandas(log: str) -> Iterator[Group]:
    import pandas as pd

    rows = pd.read_csv(log, header=None, usecols=[0, 1, 2], names=NAMES, skipinitialspace=True)
    for (second, ddir), values in rows.groupby([rows["t_ms"] // 1000, "ddir"])["ns"]:
        yield second, ddir, values.to_numpy()


def by_polars(log: str) -> Iterator[Group]:
    import polars as pl

    text = pl.scan_csv(log, has_header=False, infer_schema=False).select(
        pl.nth(i).str.strip_chars().cast(pl.Int64).alias(name) for i, name in enumerate(NAMES)
    )
    by = [(pl.col("t_ms") // 1000).alias("second"), pl.col("ddir")]
    for second, ddir, values in text.group_by(by).agg("ns").sort("second", "ddir").collect().iter_rows():
        yield second, ddir, np.array(values)


def main() -> None:
    library, log = sys.argv[1:]
    for second, ddir, values in {"pandas": by_pandas, "polars": by_polars}[library](log):
        ordered = np.sort(values)
        # as fio counts them: 99.9 is a little more in binary
        ranks = [int(np.ceil(np.longdouble(one) / 100 * len(ordered))) for one in PERCENTILES]
        print(second, ddir, len(ordered), *(ordered[rank - 1] for rank in ranks), sep=",")


if __name__ == "__main__":
    main()
