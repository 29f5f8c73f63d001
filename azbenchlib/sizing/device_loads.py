"""What the devices of a host read and wrote, and which of them did together what another did.

A device that lies on disks passes every byte on to them, so what both have done since the begin of the
telemetry differs by no more than what is under way. Two disks of which each has a half of a stripe also do
nearly the same in each interval, but what they have done drifts apart. Bytes are compared, for the kernel
merges and splits I/Os between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from azbenchlib.core.units import GIB, KIB, MIB

_MOST_FIGURES = 20_000_000  # of all devices: more intervals are added up by twos, threes …
_MOST_STEPS = 200  # of the history in a search
_MOST_TRIED = 1_000  # sums in a search
_MOST_TRIED_IN_ALL = 30_000  # sums in all searches on a host
# How far the bytes of a device may be from those below it: what is under way, and what is counted between
# the lines of a report. Our choice: 20 ms of I/O, and 1 ms for counters that are raised at once.
_UNDER_WAY = (MIB, 0.020, 0.02)  # bytes, s of the largest rate, at most this share of all bytes
_AT_ONCE = (64 * KIB, 0.001, 0.002)
# Steps in which tools print rates: iostat -h (of the unit that a rate has), -m, and all others. Source:
# sysstat iostat.c and common.c (cprintf_unit), 12.7.
_HUMAN, _MEGA, _KILO = 0.1, 0.01 * MIB, 0.01 * KIB
_ENOUGH = 4  # different figures that a step must fit
_ROUNDED_AT_MOST = 0.05  # of what a device did

Bytes = npt.NDArray[np.float64]


@dataclass(kw_only=True)
class DeviceLoads:
    """Bytes that each device read and wrote in each interval.

    Attributes
    ----------
    names : tuple of str
    done : ndarray, shape (devices, directions, intervals)
        Bytes; one direction where some device does not tell its reads from its writes.
    length_s : ndarray, shape (intervals,)
    step : float
        In which rates are printed, in bytes per second.
    tried : int
        Sums that were tried so far.
    """

    names: tuple[str, ...]
    done: Bytes
    length_s: Bytes
    step: float
    tried: int = 0

    @classmethod
    def of(cls, rows: pd.DataFrame) -> DeviceLoads:
        """The loads in rows of the table demand of one host, whose intervals have a begin and a length."""
        device, names = pd.factorize(rows["device"])
        begin, begins = pd.factorize(rows["t_s"].to_numpy(dtype=float), sort=True)
        apart = [rows[f"{ddir}_bytes_per_s"].to_numpy(dtype=float, na_value=np.nan) for ddir in _DIRECTIONS]
        whole = rows["bw_bytes_per_s"].to_numpy(dtype=float, na_value=np.nan)
        if (np.isnan(np.array(apart)).max(axis=0) & ~np.isnan(whole)).any():
            apart = [np.where(np.isnan(whole), np.nansum(apart, axis=0), whole)]
        rates = np.nan_to_num(np.array(apart))
        seconds = rows["interval_s"].to_numpy(dtype=float)
        at_once = 1 + len(names) * len(rates) * len(begins) // _MOST_FIGURES
        place, n = begin // at_once, 1 + (len(begins) - 1) // at_once
        done = np.zeros((len(names), len(rates), n))
        for i, rate in enumerate(rates):
            np.add.at(done[:, i], (device, place), rate * seconds)
        lengths = np.zeros(len(begins))
        lengths[begin] = seconds
        length_s = np.zeros(n)
        np.add.at(length_s, np.arange(len(begins)) // at_once, lengths)
        return cls(names=tuple(names), done=done, length_s=length_s, step=_step(rates[rates > 0]))

    @property
    def has_directions(self) -> bool:
        """Whether reads are told from writes."""
        return self.done.shape[1] == len(_DIRECTIONS)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def _totals(self) -> Bytes:
        return np.asarray(self.done.sum(axis=(1, 2)))

    @cached_property
    def _begins(self) -> npt.NDArray[np.int64]:
        """Where the steps of a search begin."""
        n = self.done.shape[2]
        return np.linspace(0, n, min(_MOST_STEPS, n) + 1).astype(np.int64)[:-1]

    @cached_property
    def _in_steps(self) -> Bytes:
        return self.in_steps(self.done)

    def in_steps(self, done: Bytes) -> Bytes:
        """Bytes in the steps of a search, instead of in intervals."""
        return np.asarray(np.add.reduceat(done, self._begins, axis=-1))

    def of_device(self, name: str) -> Bytes:
        """What a device did, shape (directions, intervals)."""
        return np.asarray(self.done[self._place[name]])

    def of_all(self, names: Sequence[str]) -> Bytes:
        """What some devices did together."""
        places = [self._place[name] for name in names]
        return np.asarray(self.done[places].sum(axis=0))

    def is_idle(self, name: str) -> bool:
        """Whether a device did nothing at all."""
        return not self._totals[self._place[name]]

    def varies(self, name: str) -> bool:
        """Whether its load differs enough over time that another is not the same by chance."""
        rates = self.of_device(name).sum(axis=0) / self.length_s
        return len(np.unique(np.rint(rates / max(0.02 * rates.max(), self.step)))) >= _ENOUGH

    def is_sum(self, target: Bytes, parts: Sequence[str], at_once: bool = False) -> bool:
        """Whether some devices together have done what another has, at the end of each interval.

        Parameters
        ----------
        target : ndarray, shape (directions, intervals)
        parts : sequence of str
        at_once : bool
            Whether the counters of both are raised at once, as those of a disk and its partition.
        """
        apart = np.cumsum(target - self.of_all(parts), axis=1)
        return bool((np.abs(apart) <= self._slack(target, len(parts), at_once)).all())

    def exceeds(self, target: Bytes, parts: Sequence[str]) -> bool:
        """Whether a load cannot be part of what some devices did: in some interval it is clearly more."""
        more = (target - self.of_all(parts)).sum(axis=0)
        slack = self._slack(target, len(parts)).sum(axis=0)
        rounded = np.diff(slack, prepend=slack[0])
        return bool((more > 2 * slack[0] + rounded + 0.05 * target.sum(axis=0)).any())

    def parts_of(
        self, target: Bytes, candidates: Sequence[str], at_once: bool = False, at_least: int = 1
    ) -> tuple[str, ...]:
        """Some of the devices that together have done just this; none: there are none, or too many to try.

        Parameters
        ----------
        target : ndarray, shape (directions, intervals)
        candidates : sequence of str
            Idle ones are in no sum; of those with the same load the first ones are taken.
        at_once : bool
            As of :meth:`is_sum`.
        at_least : int
            How many they must be.
        """
        total = target.sum()
        busy = [name for name in candidates if not self.is_idle(name)]
        if not total or len(busy) < at_least or self.tried > _MOST_TRIED_IN_ALL:
            return ()
        places = np.array(
            sorted((self._place[name] for name in busy), key=lambda place: -self._totals[place])
        )
        slack = 2 * float(self._slack(target, len(busy), at_once).max())
        rest, done = self.in_steps(target), self._in_steps[places]
        fitting = (done <= rest + slack).all(axis=(1, 2))
        names = [self.names[place] for place in places[fitting]]
        search = _Search(
            rest, done[fitting], slack, at_least, lambda taken: self._are(target, names, taken, at_once)
        )
        found = search.places()
        self.tried += search.tried
        return tuple(names[place] for place in found)

    def _are(self, target: Bytes, names: Sequence[str], taken: Sequence[int], at_once: bool) -> bool:
        return self.is_sum(target, [names[place] for place in taken], at_once)

    def _slack(self, target: Bytes, parts: int, at_once: bool = False) -> Bytes:
        """How far apart what two have done may be, shape (1 or directions, intervals)."""
        flat, seconds, share = _AT_ONCE if at_once else _UNDER_WAY
        every = target.sum()
        rates = target.sum(axis=0) / self.length_s
        under_way = min(flat + seconds * rates.max(), share * every)
        steps = np.where((rates >= GIB) & (self.step > _MEGA), _HUMAN * GIB, self.step)
        rounded = (parts + 1) / 2 * np.cumsum(steps * self.length_s)
        return np.asarray(under_way + np.minimum(rounded, _ROUNDED_AT_MOST * every))[None, :]


class _Search:
    """Looks for a sum depth first: what is more than the rest in any step is not tried."""

    def __init__(
        self,
        target: Bytes,
        done: Bytes,
        slack: float,
        at_least: int,
        is_sum: Callable[[Sequence[int]], bool],
    ) -> None:
        self.tried = 0
        self._target, self._done, self._slack = target, done, slack
        self._at_least, self._is_sum = at_least, is_sum
        after = np.cumsum(done[::-1], axis=0)[::-1]
        self._after = np.concatenate([after, np.zeros((1, *target.shape))])
        self._as_before = np.concatenate([[False], (done[1:] == done[:-1]).all(axis=(1, 2))])[: len(done)]

    def places(self) -> tuple[int, ...]:
        """Which of the devices make the first sum."""
        return self._from(0, self._target, ())

    def _from(self, place: int, rest: Bytes, taken: tuple[int, ...]) -> tuple[int, ...]:
        """The devices taken and some from this place on."""
        self.tried += 1
        if self.tried > _MOST_TRIED:
            return ()
        is_near = bool((rest <= self._slack).all())
        if is_near and len(taken) >= self._at_least and self._is_sum(taken):
            return taken
        if (rest > self._after[place] + self._slack).any():
            return ()
        fitting = (self._done[place:] <= rest + self._slack).all(axis=(1, 2))
        for i in np.flatnonzero(fitting) + place:
            if i > place and self._as_before[i]:
                continue  # the one before was not in the sum either
            if found := self._from(int(i) + 1, rest - self._done[i], (*taken, int(i))):
                return found
        return ()


_DIRECTIONS = ("read", "write")


def _step(rates: Bytes) -> float:
    """In which steps rates below 1 GiB/s are printed: the widest that all of them fit."""
    for step, least in ((_HUMAN * MIB, MIB), (_MEGA, 0.0)):
        some = rates[rates >= least]
        if len(np.unique(some)) >= _ENOUGH and np.allclose(some / step, np.rint(some / step), atol=1e-3):
            return step
    return _KILO
