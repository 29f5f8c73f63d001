"""fio's log-linear latency bins: index and value, merge, percentiles, error bound.

fio counts each completion into bins: 64 of width 1, then 64 for every doubling
(``FIO_IO_U_PLAT_BITS = 6``). A bin is named by its midpoint, so a value read back is off by at most
half a bin: 1/128 = 0.78 %. The bins of several jobs, hosts or repeats add up exactly; their percentiles
do not, so merging goes over the bins. Source: fio ``stat.h`` and ``stat.c`` (``plat_idx_to_val``,
``calc_clat_percentiles``), fio-3.41.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import NBSP, format_us

if TYPE_CHECKING:
    import pandas as pd

BITS = 6
PER_OCTAVE = 1 << BITS
REL_ERROR = 1 / (2 * PER_OCTAVE)  # 0.78 %: half a bin

# Where fio's histogram ends, in µs: the value of its last bin, before fio 3.0 (19 groups of 64 bins, of µs)
# and since (29, of ns). Source: fio stat.h, FIO_IO_U_PLAT_GROUP_NR, and stat.c, plat_val_to_idx, fio-3.41.
LAST_BINS_US = (16_711_680.0, 17_112_760.32)

IntArray = npt.NDArray[np.int64]
Shares = npt.NDArray[np.longdouble]


def index_of(value_ns: npt.ArrayLike) -> IntArray:
    """Bin index of each value from 0 to 2**53 ns (for fio before 3.0: µs).

    fio's own list ends at 17 s, where it counts all that took longer; this one goes on.
    """
    values = np.asarray(value_ns, dtype=np.int64)
    top = np.frexp(np.maximum(values, 1).astype(np.float64))[1].astype(np.int64) - 1  # highest set bit
    shift = np.maximum(top - BITS, 0)
    return np.where(values < PER_OCTAVE, values, (shift << BITS) + (values >> shift))


def value_of(index: npt.ArrayLike) -> IntArray:
    """The value that names each bin: exact below 128, else the bin's midpoint."""
    idx = np.asarray(index, dtype=np.int64)
    shift = np.maximum((idx >> BITS) - 1, 0)
    base = (idx - (shift << BITS)) << shift
    return base + np.where(shift > 0, np.int64(1) << np.maximum(shift - 1, 0), 0)


def edge_of(index: npt.ArrayLike) -> IntArray:
    """The smallest value that belongs to each bin; that of the next bin is its end."""
    idx = np.asarray(index, dtype=np.int64)
    shift = np.maximum((idx >> BITS) - 1, 0)
    return (idx - (shift << BITS)) << shift


def on_grid(value_ns: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether each value is one that fio could have printed."""
    values = np.asarray(value_ns, dtype=np.int64)
    return value_of(index_of(values)) == values


def is_last_bin(lat_us: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether each percentile, in µs, is that of fio's last bin, which means that or longer."""
    values = np.asarray(lat_us, dtype=float)
    return np.isclose(values[..., None], LAST_BINS_US, rtol=5e-5, atol=0).any(axis=-1)  # text rounds to ms


def format_percentile(lat_us: float) -> str:
    """A percentile in µs as a reader sees it: ``2.47 ms``; at the end of fio's histogram ``≥ 17.1 s``."""
    return f"≥{NBSP}{format_us(lat_us)}" if is_last_bin(lat_us) else format_us(lat_us)


def merge(bins: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Add up histograms over everything but `by`.

    Parameters
    ----------
    bins : DataFrame
        Columns ``bin_ns`` and ``n`` and those named in `by`.
    by : sequence of str
        What is kept apart.

    Returns
    -------
    DataFrame
        Columns `by`, ``bin_ns``, ``n``; sorted; exact, since counts are whole.
    """
    keys = [*by, "bin_ns"]
    return bins.groupby(keys, as_index=False, dropna=False)["n"].sum().sort_values(keys, ignore_index=True)


def percentile(bin_ns: npt.ArrayLike, n: npt.ArrayLike, percentiles: Sequence[float]) -> IntArray:
    """Percentiles of one histogram, by fio's own rule.

    The first bin, in order, whose cumulated count reaches ``p / 100 * total``.

    Parameters
    ----------
    bin_ns, n : array-like, shape (m,)
        Bins (in any order, each once) and their counts.
    percentiles : sequence of float
        Each above 0 and at most 100.

    Returns
    -------
    ndarray of int64, shape (len(percentiles),)
        In ns, each within 0.78 % (:data:`REL_ERROR`) of the sample at that rank.

    Raises
    ------
    InputError
        When the histogram is empty or a percentile is out of range.
    """
    values, counts = np.asarray(bin_ns, dtype=np.int64), np.asarray(n, dtype=np.int64)
    if counts.sum() <= 0:
        raise InputError("a histogram without I/Os has no percentiles")
    order = np.argsort(values)
    cumulated = np.cumsum(counts[order])
    return values[order][np.searchsorted(cumulated, ranks(shares(percentiles), int(cumulated[-1])))]


def shares(percentiles: Sequence[float]) -> Shares:
    """Percentiles as shares of 1, in fio's arithmetic.

    Parameters
    ----------
    percentiles : sequence of float
        Each above 0 and at most 100.

    Raises
    ------
    InputError
        When one is out of range.
    """
    wanted = np.asarray(percentiles, dtype=float)
    if not ((wanted > 0) & (wanted <= 100)).all():
        raise InputError(f"percentiles must be above 0 and at most 100, not {list(percentiles)}")
    # In fio's arithmetic, long double: 99.9 as a double is a little more than 99.9, so p99.9 of 1,000
    # I/Os is the 1,000th and not the 999th. Rounding it away would differ from what fio prints.
    return wanted.astype(np.longdouble) / 100


def ranks(of: Shares, n: int) -> IntArray:
    """Which of n sorted values, from 1, each share is: the first that it reaches."""
    return np.ceil(of * n).astype(np.int64)
