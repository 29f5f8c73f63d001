"""The share of reads of a workload, and reads that are none of it: the one place that tells."""

import pandas as pd

from azbenchlib.core.patterns import DIRECTIONS, MIXED

_WRITING = [pattern for pattern, ddirs in DIRECTIONS.items() if "read" not in ddirs]
# What fio does with a mixed pattern that states no share. Source: fio HOWTO, "rwmixread", fio-3.41.
DEFAULT_READ_PCT = 50.0


def read_share(
    rw: object, rwmix_read_pct: object = None, reads: object = None, total: object = None
) -> float | None:
    """The share of reads: as measured, else as stated, else fio's default.

    Parameters
    ----------
    rw : str or NA
        Pattern (fio's), test (iozone's), or several of them with commas between.
    rwmix_read_pct : float or NA, optional
        Stated share of reads of a mixed pattern, in %.
    reads, total : float or NA, optional
        Reads and all I/Os that were done, or their rates.

    Returns
    -------
    float or None
        0 to 1; None where nothing tells.
    """
    done = _number(total)
    if done and (read := _number(reads)) is not None:
        return min(read / done, 1.0)
    shares = (
        {_of_pattern(part.strip(), rwmix_read_pct) for part in str(rw).split(",")} if _known(rw) else set()
    )
    if not shares and (stated := _number(rwmix_read_pct)) is not None:
        return stated / 100
    return shares.pop() if len(shares) == 1 else None


def verified(runs: pd.DataFrame, results: pd.DataFrame) -> set[str]:
    """The runs that wrote and then read it back: fio's ``verify``, whose reads are no part of the load.

    They follow the writes (or stand between them), so that rates of both do not add up to one that there was.

    Parameters
    ----------
    runs : DataFrame
        Columns run_id, rw.
    results : DataFrame
        Columns run_id, ddir.
    """
    writing = set(runs.loc[runs["rw"].isin(_WRITING), "run_id"])
    if not writing:
        return set()
    rows = results[results["run_id"].isin(writing)]
    wrote, read = (set(rows.loc[rows["ddir"] == ddir, "run_id"]) for ddir in ("write", "read"))
    return wrote & read


def of_load(rows: pd.DataFrame, verifying: set[str]) -> pd.DataFrame:
    """The rows (with run_id and ddir) without the reads of runs that read back what they wrote."""
    if not verifying:
        return rows
    return rows[~(rows["run_id"].isin(verifying) & (rows["ddir"] == "read"))]


def _of_pattern(rw: str, rwmix_read_pct: object) -> float | None:
    if rw in MIXED:
        stated = _number(rwmix_read_pct)
        return (DEFAULT_READ_PCT if stated is None else stated) / 100
    if "write" in rw or "trim" in rw:
        return 0.0
    return 1.0 if "read" in rw else None


def _known(value: object) -> bool:
    return value is not None and not pd.isna(value) and value != ""


def _number(value: object) -> float | None:
    return float(value) if _known(value) else None  # type: ignore[arg-type]
