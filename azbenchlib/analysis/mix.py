"""The share of reads among the I/Os of a workload: the one place that tells it."""

import pandas as pd

MIXED = ("rw", "readwrite", "randrw")
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
