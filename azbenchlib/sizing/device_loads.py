"""What the devices of a host read and wrote, and which of them did together what another did.

A device that lies on disks passes every byte on to them, so what both have done since the begin of the
telemetry differs by no more than what is under way. Two disks of which each has a half of a stripe also do
nearly the same in each interval, but what they have done drifts apart. Bytes are compared, for the kernel
merges and splits I/Os between the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from azbenchlib.core.units import KIB, MIB

_MOST_FIGURES = 20_000_000  # of all devices: more intervals are added up by twos, threes …
_MOST_STEPS = 200  # of the history in a search
_MOST_TRIED = 2_000  # sums in a search
# How far the bytes of a device may be from those below it: what is under way, and what is counted between
# the lines of a report. Our choice: 20 ms of I/O, and 1 ms for counters that are raised at once.
_UNDER_WAY = (MIB, 0.020, 0.02)  # bytes, s of the largest rate, at most this share of all bytes
_AT_ONCE = (64 * KIB, 0.001, 0.002)
# Steps in which tools print rates, the widest first: iostat -h, -m, and all others. Source: sysstat iostat.c
# and common.c (cprintf_unit), 12.7.
_STEPS = (0.1 * MIB, 0.01 * MIB)
_STEP = 0.01 * KIB
_ENOUGH = 4  # different figures that a step must fit
_ROUNDED_AT_MOST = 0.05  # of what a device did

Bytes = npt.NDArray[np.float64]


@dataclass(frozen=True)
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
    """

    names: tuple[str, ...]
    done: Bytes
    length_s: Bytes
    step: float

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
        return cls(tuple(names), done, length_s, _step(rates[rates > 0]))

    @property
    def has_directions(self) -> bool:
        """Whether reads are told from writes."""
        return self.done.shape[1] == len(_DIRECTIONS)

    def place(self, name: str) -> int:
        """Of a device in the arrays."""
        return self.names.index(name)

    def of_device(self, name: str) -> Bytes:
        """What a device did, shape (directions, intervals)."""
        return self.done[self.place(name)]

    def of_all(self, names: Sequence[str]) -> Bytes:
        """What some devices did together."""
        places = [self.place(name) for name in names]
        return self.done[places].sum(axis=0) if places else np.zeros(self.done.shape[1:])

    def is_idle(self, name: str) -> bool:
        """Whether a device did nothing at all."""
        return not self.of_device(name).any()

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
        busy = [name for name in candidates if not self.is_idle(name)]
        busy.sort(key=lambda name: -self.of_device(name).sum())
        if not target.any() or len(busy) < at_least:
            return ()
        search = _Search(self, target, busy, at_once, at_least)
        return search.found()

    def _slack(self, target: Bytes, parts: int, at_once: bool = False) -> Bytes:
        """How far apart what two have done may be, shape (1 or directions, intervals)."""
        flat, seconds, share = _AT_ONCE if at_once else _UNDER_WAY
        every = target.sum()
        largest = (target.sum(axis=0) / self.length_s).max()
        under_way = min(flat + seconds * largest, share * every)
        rounded = self.step / 2 * (parts + 1) * np.cumsum(self.length_s)
        return np.asarray(under_way + np.minimum(rounded, _ROUNDED_AT_MOST * every))[None, :]


class _Search:
    """Looks for a sum depth first: what is more than the rest in any step is not tried."""

    def __init__(
        self, loads: DeviceLoads, target: Bytes, names: Sequence[str], at_once: bool, at_least: int
    ) -> None:
        self._loads, self._target, self._names = loads, target, names
        self._at_once, self._at_least = at_once, at_least
        steps = np.linspace(0, target.shape[1], min(_MOST_STEPS, target.shape[1]) + 1).astype(int)[:-1]
        self._rest = np.add.reduceat(target, steps, axis=1)
        done = [np.add.reduceat(loads.of_device(name), steps, axis=1) for name in names]
        self._done = np.array(done)
        slack = loads._slack(target, len(names), at_once)
        self._slack = 2 * slack.max()
        after = np.cumsum(self._done[::-1], axis=0)[::-1]
        self._after = np.concatenate([after, np.zeros((1, *self._rest.shape))])
        self._tried = 0

    def found(self) -> tuple[str, ...]:
        """The names of the first sum."""
        return self._from(0, self._rest, ())

    def _from(self, place: int, rest: Bytes, taken: tuple[str, ...]) -> tuple[str, ...]:
        """The devices taken and some from this place on."""
        self._tried += 1
        if self._tried > _MOST_TRIED:
            return ()
        enough = len(taken) >= self._at_least
        if enough and self._loads.is_sum(self._target, taken, self._at_once):
            return taken
        if (rest > self._after[place] + self._slack).any():
            return ()
        for i in range(place, len(self._names)):
            same_as_before = i > place and np.array_equal(self._done[i], self._done[i - 1])
            left = rest - self._done[i]
            if same_as_before or (left < -self._slack).any():
                continue
            if sum_found := self._from(i + 1, left, (*taken, self._names[i])):
                return sum_found
        return ()


_DIRECTIONS = ("read", "write")


def _step(rates: Bytes) -> float:
    """In which steps rates are printed: the widest that all of them fit."""
    large = rates[rates >= MIB]
    for step in _STEPS:
        if len(np.unique(large)) >= _ENOUGH and np.allclose(large / step, np.rint(large / step), atol=1e-3):
            return step
    return _STEP
