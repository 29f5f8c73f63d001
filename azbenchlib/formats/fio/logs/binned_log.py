"""A long log of latencies as fio's bins of some hundred windows: all that a figure shows of it."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pandas as pd

from azbenchlib.core import histogram, schema, units
from azbenchlib.formats.fio.logs import log_lines
from azbenchlib.formats.fio.logs.log_lines import LineDamage, LogColumns
from azbenchlib.formats.source import Source

LONG_LOG = 64 * units.MIB  # some two million lines
_WINDOWS = 600  # at most, and a few more where the log does not end with its latest line
_CODES = 4  # more than there are directions
_BINS = 1 << 14  # more than there are bins
LONGEST_NS = 2**53  # some hundred days; fio's bins go no further
_TOGETHER = 32  # blocks whose counts are put together
_TIME = re.compile(r"[ \t]*([0-9]{1,15}),")

Counts = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]  # window, direction and bin in one; I/Os


def is_long(source: Source, kind: str | None) -> bool:
    """Whether a log is too long to keep each of its latencies, and has those of single I/Os."""
    single = kind in log_lines.FIO_LATENCIES and not log_lines.averaged(source.opening)
    return source.size_bytes > LONG_LOG and single


def width_ms(source: Source) -> int:
    """How long a window is: whole seconds, so that there are some hundred at most."""
    span_ms = max(_time_ms(source.closing.splitlines()[::-1]) - _time_ms(source.opening.splitlines()), 0)
    return max(1, -(-span_ms // (_WINDOWS * units.MS_PER_S))) * units.MS_PER_S


def _time_ms(lines: list[str]) -> int:
    return next((int(found[1]) for line in lines if (found := _TIME.match(line))), 0)


def read_bins(source: Source, ns_per_unit: int) -> tuple[pd.DataFrame, list[LineDamage]]:
    """The bins of each window.

    Parameters
    ----------
    source : Source
    ns_per_unit : int
        ns in the unit of the log.

    Returns
    -------
    bins : DataFrame
        Columns ddir, t_s (the end of the window), bin_ns and n.
    damage : list of LineDamage
        Of each block.
    """
    width, first = width_ms(source), _time_ms(source.opening.splitlines())
    start = first if first > log_lines.EPOCH_MS else 0
    held: list[Counts] = []
    damage = []
    for block in log_lines.blocks(source, sizes=False):
        held.append(_counts(block, start, width, ns_per_unit))
        damage.append(LineDamage(block.n_lines, block.damaged))
        if len(held) > _TOGETHER:
            held = [_together(held)]
    return _table(_together(held), width), damage


def _counts(block: LogColumns, start_ms: int, width: int, ns_per_unit: int) -> Counts:
    ns = np.minimum(np.round(block.value * ns_per_unit).astype(np.int64), LONGEST_NS)
    windows = np.maximum(block.t_ms - start_ms, 0) // width
    return np.unique((windows * _CODES + block.code) * _BINS + histogram.index_of(ns), return_counts=True)


def _together(held: list[Counts]) -> Counts:
    keys, places = np.unique(np.concatenate([keys for keys, _ in held]), return_inverse=True)
    counts = np.bincount(places, np.concatenate([n for _, n in held]), minlength=keys.size)
    return keys, counts.astype(np.int64)


def _table(counts: Counts, width: int) -> pd.DataFrame:
    keys, n = counts
    windows, codes = np.divmod(keys // _BINS, _CODES)
    return pd.DataFrame(
        {
            "ddir": pd.Series(np.array(log_lines.FIO_DDIRS)[codes], dtype=schema.TEXT),
            "t_s": (windows + 1) * width / units.MS_PER_S,
            "bin_ns": histogram.value_of(keys % _BINS),
            "n": n,
        }
    )
