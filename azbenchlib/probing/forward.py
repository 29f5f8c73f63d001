"""What a disk of given settings does in a run: the physics of :mod:`azbenchlib.model`, of many disks at once.

A closed loop of N I/Os does N ÷ latency per second (Little's law) until a cap holds it. An I/O counts as
ceil(size ÷ unit) against the IOPS; reads and writes share caps in one of the ways of :class:`.Sharing`, of
which the first is what :class:`azbenchlib.model.io_path.Leg` assumes. `tests/probing` compares both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from azbenchlib.core.units import US_PER_S
from azbenchlib.probing.hypotheses import SMALLEST_BYTES, Floats, Hypotheses, Ints, Setting
from azbenchlib.probing.runs import ProbeRun


@dataclass(frozen=True, kw_only=True)
class Loads:
    """Runs as columns of numbers, shape (m,) each."""

    read_share: Floats
    bs_bytes: Floats
    depth: Floats
    seconds: Floats
    rate_iops: Floats

    @classmethod
    def of(cls, runs: Sequence[ProbeRun]) -> Loads:
        """Those of some runs."""
        return cls(
            read_share=np.array([run.read_share for run in runs]),
            bs_bytes=np.array([float(run.bs_bytes) for run in runs]),
            depth=np.array([float(run.depth) for run in runs]),
            seconds=np.array([run.seconds for run in runs]),
            rate_iops=np.array([float(run.rate_iops or np.inf) for run in runs]),
        )

    def some(self, which: Ints) -> Loads:
        """Some of them, by their places."""
        return Loads(**{one.name: getattr(self, one.name)[which] for one in fields(self)})


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """What n disks do in m runs, shape (n, m) each: I/Os per second and µs.

    `unheld` is what the latency alone would allow, and what the load asks for; `cap` is what the limits
    allow; `iops` is the smaller one. The medians are those of an unloaded disk.
    """

    iops: Floats
    unheld: Floats
    cap: Floats
    read_p50_us: Floats
    write_p50_us: Floats

    def some(self, which: Ints) -> Predicted:
        """What they do in some of the runs, by their places."""
        return Predicted(**{one.name: getattr(self, one.name)[:, which] for one in fields(self)})


def counted(disks: Hypotheses, loads: Loads) -> Floats:
    """How many I/Os one I/O of a run counts as, shape (n, m)."""
    unit = disks.unit_bytes()[:, None]
    return np.maximum(1.0, np.ceil(loads.bs_bytes[None, :] / unit))


def predict(disks: Hypotheses, loads: Loads) -> Predicted:
    """What each of some disks does in each of some runs."""
    reads, size = loads.read_share[None, :], loads.bs_bytes[None, :]
    read_p50_us, write_p50_us = (median_us(disks, write, loads.bs_bytes) for write in (False, True))
    mean_us = reads * read_p50_us * np.exp(disks.logs[:, Setting.READ_SKEW, None])
    mean_us = mean_us + (1 - reads) * write_p50_us * np.exp(disks.logs[:, Setting.WRITE_SKEW, None])
    ios = counted(disks, loads)
    cap = np.minimum(
        _held(disks, Setting.READ_IOPS, Setting.WRITE_IOPS, reads) / ios,
        _held(disks, Setting.READ_BYTES_PER_S, Setting.WRITE_BYTES_PER_S, reads) / size,
    )
    unheld = np.minimum(loads.depth[None, :] * US_PER_S / mean_us, loads.rate_iops[None, :])
    return Predicted(
        iops=np.minimum(unheld, cap),
        unheld=unheld,
        cap=cap,
        read_p50_us=read_p50_us,
        write_p50_us=write_p50_us,
    )


def median_us(disks: Hypotheses, write: bool, bs_bytes: Floats) -> Floats:
    """Unloaded median latency in µs of I/Os of these sizes, shape (n, m)."""
    small = disks.values(Setting.WRITE_LAT_US if write else Setting.READ_LAT_US)
    stream = disks.values(Setting.WRITE_STREAM if write else Setting.READ_STREAM)
    more = np.maximum(0.0, bs_bytes - SMALLEST_BYTES)
    return small[:, None] + more[None, :] / stream[:, None] * US_PER_S


def _held(disks: Hypotheses, reads: Setting, writes: Setting, read_share: Floats) -> Floats:
    """What limits of reads and writes let pass of a mix, shape (n, m)."""
    use_reads = read_share / disks.values(reads)[:, None]
    use_writes = (1 - read_share) / disks.values(writes)[:, None]
    of_all = 1 / disks.values(reads)[:, None]
    used = (use_reads + use_writes, np.maximum(use_reads, use_writes), np.maximum(of_all, use_writes))
    return 1 / np.choose(disks.sharing[:, None], used)
