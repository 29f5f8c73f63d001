"""EmulatedVolume a machine in emulated time alone: a minute of I/O takes as long as computing it does."""

from __future__ import annotations

import heapq
import math
import random
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

import numpy as np
import pandas as pd

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB, US_PER_S
from azbenchlib.lab.engine.virtual_machine import READ, WRITE, Machine

MOST_IOS = 5_000_000
_EXACT = 1e-9  # rounding of floating-point sums


@dataclass(frozen=True, kw_only=True)
class SimulatedJob:
    """A load that keeps a number of I/Os outstanding.

    Parameters
    ----------
    volume : str
    queue_depth : int
        I/Os outstanding; each that completes is followed by the next at once.
    bs_bytes : int
    read_share : float
        0 to 1. Reads and writes alternate in this proportion, so that short runs have it too.
    sequential : bool
        One after the other from the start, else at random, aligned to the block size.
    working_set_bytes : int, optional
        What is touched, from the volume's start. None: all of it.

    Raises
    ------
    InputError
        For a number outside its range.
    """

    volume: str
    queue_depth: int = 1
    bs_bytes: int = 4 * KIB
    read_share: float = 1.0
    sequential: bool = False
    working_set_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.queue_depth < 1 or self.bs_bytes < 1 or not 0 <= self.read_share <= 1:
            raise InputError(
                f"job on '{self.volume}': queue depth {self.queue_depth}, block size {self.bs_bytes}, read "
                f"share {self.read_share}; the first two must be at least 1, the last between 0 and 1"
            )


def simulate(
    machine: Machine,
    jobs: SimulatedJob | Sequence[SimulatedJob],
    seconds: float,
    *,
    start: float = 0.0,
    seed: int = 1,
) -> pd.DataFrame:
    """Run loads at once.

    Parameters
    ----------
    machine : Machine
        Keeps its credits and its cache: the next run goes on with them.
    jobs : Job or sequence of Job
    seconds : float
        Emulated; nothing is submitted after that.
    start : float
        Emulated time of the first I/O; not before the end of the previous run.
    seed : int
        Of the offsets.

    Returns
    -------
    DataFrame
        A row an I/O that completed in time, as this became known: ``job`` (place in `jobs`),
        ``volume``, ``ddir``, ``bs_bytes``, ``t_s`` (of completion, since `start`), ``lat_us``, and
        ``wait_us`` (of it, before all limits had let the I/O pass).

    Raises
    ------
    InputError
        For a volume that the machine does not have, a working set smaller than a block, or more than five
        million I/Os (nothing limits them).
    """
    jobs = [jobs] if isinstance(jobs, SimulatedJob) else list(jobs)
    loop = _Loop(machine, jobs, seed)
    end = start + seconds
    for i, job in enumerate(jobs):
        for _ in range(job.queue_depth):
            loop.issue(i, start)
    while (now := loop.next()) <= end:
        loop.step(now)
    return loop.frame(start, end)


def per_second(ios: pd.DataFrame) -> pd.DataFrame:
    """I/Os and bytes per second of each volume, second by second.

    Parameters
    ----------
    ios : DataFrame
        From `simulate`.

    Returns
    -------
    DataFrame
        ``volume``, ``t_s`` (the end of the second), ``iops``, ``bw_bytes_per_s``; the last second of a run
        that is no whole number of seconds is not full.
    """
    second = np.ceil(ios["t_s"]).clip(lower=1).rename("t_s")
    groups = ios.groupby(["volume", second], observed=True)["bs_bytes"]
    return groups.agg(iops="size", bw_bytes_per_s="sum").reset_index()


def rate(ios: pd.DataFrame, volume: str, after_s: float, until_s: float) -> float:
    """I/Os per second of a volume, from one time to another (since the start of the run)."""
    inside = (ios["volume"] == volume) & (ios["t_s"] > after_s) & (ios["t_s"] <= until_s)
    return float(inside.sum() / (until_s - after_s))


class _Loop:
    """The jobs' I/Os, as they come and go."""

    def __init__(self, machine: Machine, jobs: Sequence[SimulatedJob], seed: int) -> None:
        self.machine, self.jobs = machine, jobs
        self.requests = [_requests(machine, job, seed + i) for i, job in enumerate(jobs)]
        self.volumes = [machine.volumes[job.volume] for job in jobs]
        self.completions: list[tuple[float, int, int]] = []
        self.order = count()
        self.job, self.write = array("H"), array("B")
        self.done_s, self.lat_s, self.wait_s = array("d"), array("d"), array("d")

    def issue(self, i: int, now: float) -> None:
        op, offset = next(self.requests[i])
        job = self.jobs[i]
        done = partial(self.complete, i, op, now)
        self.machine.submit(job.volume, op, offset, job.bs_bytes, now, done)

    def complete(self, i: int, op: int, submitted: float, due: float) -> None:
        heapq.heappush(self.completions, (due, next(self.order), i))
        self.job.append(i)
        self.write.append(op == WRITE)
        self.done_s.append(due)
        self.lat_s.append(due - submitted)
        self.wait_s.append(self.volumes[i].passed_s - submitted)
        if len(self.done_s) > MOST_IOS:
            raise InputError(
                f"simulation: more than {MOST_IOS:,} I/Os; nothing limits them, or it is too long"
            )

    def next(self) -> float:
        """When something happens next."""
        event = self.machine.next_event()
        completion = self.completions[0][0] if self.completions else math.inf
        return completion if event is None else min(event, completion)

    def step(self, now: float) -> None:
        self.machine.advance(now)
        while self.completions and self.completions[0][0] <= now:
            self.issue(heapq.heappop(self.completions)[2], now)

    def frame(self, start: float, end: float) -> pd.DataFrame:
        job = np.array(self.job)
        found = pd.DataFrame(
            {
                "job": job,
                "volume": np.array([job.volume for job in self.jobs])[job],
                "ddir": np.where(np.array(self.write) == 1, "write", "read"),
                "bs_bytes": np.array([job.bs_bytes for job in self.jobs])[job],
                "t_s": np.array(self.done_s) - start,
                "lat_us": np.array(self.lat_s) * US_PER_S,
                "wait_us": np.array(self.wait_s) * US_PER_S,
            }
        )
        return found[found["t_s"] <= end - start].reset_index(drop=True)


def _requests(machine: Machine, job: SimulatedJob, seed: int) -> Iterator[tuple[int, int]]:
    """Operations and offsets of a job, for ever."""
    if job.volume not in machine.volumes:
        raise InputError(f"no volume '{job.volume}'; there are: {', '.join(machine.volumes)}")
    size = job.working_set_bytes or machine.volumes[job.volume].size_bytes
    blocks = size // job.bs_bytes
    if not 0 < blocks * job.bs_bytes <= machine.volumes[job.volume].size_bytes:
        raise InputError(
            f"job on '{job.volume}': {size} bytes are not at least a block of {job.bs_bytes} and at most the "
            f"volume's {machine.volumes[job.volume].size_bytes}"
        )
    return _draw(job, blocks, random.Random(seed))  # noqa: S311  not for secrets


def _draw(job: SimulatedJob, blocks: int, rng: random.Random) -> Iterator[tuple[int, int]]:
    due = 0.0  # reads that are due: the share of the I/Os so far, less those that were read
    for i in count():
        due += job.read_share
        read = due >= 1 - _EXACT
        due -= read
        block = i % blocks if job.sequential else int(rng.random() * blocks)
        yield READ if read else WRITE, block * job.bs_bytes
