"""One flow of I/O: what was measured of it, and what it drove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from azbenchlib.analysis.observation import Observation
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import US_PER_S
from azbenchlib.model.setup import Setup, Volume

if TYPE_CHECKING:
    from azbenchlib.analysis.over_time.steady import Segment

FALL = 0.7  # of the highest level
SURE_OF_LEVEL = 0.98  # of its time: where a level begins and ends is known to a sample or two
_RATES = ("iops", "bw_bytes_per_s", "device_iops")  # of an observation
LEVEL_APART = 0.03  # the longest level differs from the mean by more than this, or the mean is judged


@dataclass(frozen=True, kw_only=True)
class Flow:
    """A run, or the part of one that has a path of its own.

    Parameters
    ----------
    observation : Observation
        Its `read_share` or `bs_bytes` may be None: not known.
    volumes : tuple of str
        Names of the volumes that it drove. Empty: the data disks, or all where there are none.
    cache_hit : float, optional
        Share of reads that the host cache served. None: as the disk says, else open.
    warmed : bool, optional
        Whether the host cache had been filled before.
    credits : bool, optional
        Whether burst credits were there. None: judged by the run's length.
    demand_bytes_per_s : float, optional
        What the workload asked for; in IOPS it is the observation's `rate_iops`.
    """

    observation: Observation
    volumes: tuple[str, ...] = ()
    cache_hit: float | None = None
    warmed: bool | None = None
    credits: bool | None = None
    demand_bytes_per_s: float | None = None

    @property
    def ddir(self) -> str:
        """``read``, ``write`` or ``mixed``; also mixed where it is not known."""
        return direction(self.observation)

    @cached_property
    def levels(self) -> list[Segment]:
        """The levels of the sampled rate, in the order of time; none without samples."""
        if self.observation.samples is None:
            return []
        from azbenchlib.analysis.over_time import steady  # its libraries take a second to import

        min_s = steady.MIN_SEGMENT_S / self.observation.credits_cut
        return steady.segments(*self.observation.samples, min_s=min_s)

    @property
    def fell(self) -> bool:
        """Whether the sampled rate ended far below its highest level."""
        means = [level.mean for level in self.levels]
        return bool(means) and means[-1] < FALL * max(means)

    @property
    def settled(self) -> Flow:
        """The flow as it was on its longest level; itself where it has one level, or no samples."""
        if len(self.levels) < 2:
            return self
        longest = max(self.levels, key=lambda level: level.end_s - level.start_s)
        seen = self.observation
        part = longest.mean / seen.iops if seen.iops else 0.0
        if not part or abs(part - 1) < LEVEL_APART:
            return self
        then = {name: rate * part for name in _RATES if (rate := getattr(seen, name)) is not None}
        lasted = SURE_OF_LEVEL * (longest.end_s - longest.start_s)
        return replace(self, observation=replace(seen, **then, mean_us=None, runtime_s=lasted))

    def driven(self, setup: Setup) -> tuple[Volume, ...]:
        """The volumes that it drove.

        Raises
        ------
        InputError
            When the setup has no volume of a name.
        """
        every = setup.volumes()
        if not self.volumes:
            return tuple(v for v in every if v.disk.role != "os") or every
        known = {volume.name: volume for volume in every}
        if missing := [name for name in self.volumes if name not in known]:
            raise InputError(f"no volume '{missing[0]}' in the setup; there are: {', '.join(known)}")
        return tuple(known[name] for name in self.volumes)


@dataclass(frozen=True)
class Rates:
    """Per second: I/Os and bytes, as measured or as they follow. None: not known.

    `from_latency` says that the IOPS follow from latency and queue depth alone.
    """

    iops: float | None
    bytes_per_s: float | None
    bs_bytes: float | None
    from_latency: bool = False


def rates(observation: Observation) -> Rates:
    """The rates of a run: what is not reported follows from block size, or from latency by Little's law."""
    size = block_size(observation)
    iops, moved = observation.iops, observation.bw_bytes_per_s
    latency = mean_latency_us(observation)
    from_latency = iops is None and moved is None
    if from_latency and latency and observation.queue_depth:
        iops = observation.queue_depth * US_PER_S / latency
    if iops is None and moved is not None and size:
        iops = moved / size
    if moved is None and iops is not None and size:
        moved = iops * size
    if size is None and iops and moved:
        size = moved / iops
    return Rates(iops, moved, size, from_latency)


def direction(observation: Observation) -> str:
    """``read``, ``write`` or ``mixed``; also mixed where it is not known."""
    share = observation.read_share
    return "read" if share == 1 else "write" if share == 0 else "mixed"


def block_size(observation: Observation) -> float | None:
    """The mean block size in bytes of reads and writes. None: not known."""
    reads, writes = observation.bs_bytes, observation.bs_write_bytes
    if not reads or not writes or observation.read_share is None:
        return reads or writes
    return observation.read_share * reads + (1 - observation.read_share) * writes


def mean_latency_us(observation: Observation) -> float | None:
    """The mean latency: as reported, else estimated from the percentiles, else None."""
    if observation.mean_us:
        return observation.mean_us
    return _mean_of(observation.percentiles)


def _mean_of(percentiles: Mapping[float, float]) -> float | None:
    """The area below the quantile function, straight between the percentiles; without the largest value,
    which stands for one I/O.
    """
    points = sorted((p / 100, us) for p, us in percentiles.items() if p < 100)
    if not points:
        return None
    ends = [(0.0, points[0][1]), *points, (1.0, points[-1][1])]
    return sum((right[0] - left[0]) * (left[1] + right[1]) / 2 for left, right in pairwise(ends))


def occupancy(observation: Observation) -> float | None:
    """I/Os that were really outstanding, by Little's law, per I/O asked for. None: not known."""
    if not (observation.iops and observation.mean_us and observation.queue_depth):
        return None
    return observation.iops * observation.mean_us / US_PER_S / observation.queue_depth
