"""The jobs of one log: with ``per_job_logs=0`` fio writes the lines of all jobs into one file, job by job.

Nothing marks where the next job begins but its clock, which begins anew. Lines of single I/Os may come a
little out of order, as their ends are seen, so a small step back is none.

Source: fio iolog.c (flush_log: the file is opened for appending where jobs share it), read at fio-3.41.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

_STEP_BACK = 0.5  # of the usual interval, in a log of averages; of what the clock was, in one of single I/Os
_DISORDER_MS = 100  # lines of single I/Os are at most so far out of order; our choice


def job_of_line(t_ms: npt.NDArray[np.int64], averaged: bool) -> npt.NDArray[np.int64]:
    """Which job each line is of, from 0.

    Parameters
    ----------
    t_ms : ndarray of int64, shape (n,)
        Times of all lines in their order.
    averaged : bool
        Whether each is an average over an interval.
    """
    steps = np.diff(t_ms)
    if averaged:
        forward = steps[steps > 0]
        begins = -steps > (_STEP_BACK * np.median(forward) if forward.size else 0)
    else:
        begins = (-steps > _DISORDER_MS) & (t_ms[1:] < _STEP_BACK * t_ms[:-1])
    return np.concatenate([np.zeros(min(t_ms.size, 1), dtype=np.int64), np.cumsum(begins)])


def run_of_job(run_id: str, job: int) -> str:
    """The run of one of the jobs of a log, by that of the first of them."""
    return run_id if job == 0 else hashlib.sha256(f"{run_id}:{job}".encode()).hexdigest()[:16]
