"""What a system asked of its disks, interval by interval."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from azbenchlib.core.errors import InputError

Series = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class LoadHistory:
    """Loads that are constant within each interval, one after the other.

    Parameters
    ----------
    t_s : ndarray
        Begin of each interval, shape (n,), in s, in their order. Between two intervals there may be time
        of which nothing is known.
    interval_s : ndarray
        Their lengths in s, shape (n,).
    read_iops, write_iops, read_bytes_per_s, write_bytes_per_s : ndarray
        Means over each interval, shape (n,).
    clock : {"utc", "local", "elapsed"}
        What `t_s` counts: s since 1970 in UTC or of an unstated zone, or from 0.

    Raises
    ------
    InputError
        When the shapes differ, there is no interval, or a figure is no such.
    """

    t_s: Series
    interval_s: Series
    read_iops: Series
    write_iops: Series
    read_bytes_per_s: Series
    write_bytes_per_s: Series
    clock: str = "elapsed"

    def __post_init__(self) -> None:
        if not len(self.t_s):
            raise InputError("a history needs at least one interval")
        for name, values in self._figures().items():
            if values.shape != self.t_s.shape:
                raise InputError(
                    f"{name} has {values.shape} values, not {self.t_s.shape} as there are intervals"
                )
            if not (np.isfinite(values).all() and (values >= 0).all()):
                raise InputError(f"{name}: a figure is negative or missing")
        if not (self.interval_s > 0).all():
            raise InputError("interval_s: an interval is not longer than 0 s")

    def _figures(self) -> dict[str, Series]:
        names = ("interval_s", "read_iops", "write_iops", "read_bytes_per_s", "write_bytes_per_s")
        return {name: getattr(self, name) for name in names}

    @property
    def iops(self) -> Series:
        """Reads and writes, 1/s."""
        return self.read_iops + self.write_iops

    @property
    def bytes_per_s(self) -> Series:
        """Reads and writes, B/s."""
        return self.read_bytes_per_s + self.write_bytes_per_s

    @property
    def duration_s(self) -> float:
        """Of all intervals."""
        return float(self.interval_s.sum())

    def moment(self, seconds: float) -> float:
        """The time on the clock so many seconds after the begin, where gaps are left out."""
        ends = np.cumsum(self.interval_s)
        place = min(int(np.searchsorted(ends, seconds, side="right")), len(ends) - 1)
        return float(self.t_s[place] + seconds - (ends[place] - self.interval_s[place]))

    def mean(self, values: Series) -> float:
        """Of a figure over all intervals, by their lengths."""
        return float(np.average(values, weights=self.interval_s))

    def between(self, first: int, last: int) -> LoadHistory:
        """The intervals from the first one up to, but without, the last one."""
        part = {name: values[first:last] for name, values in self._figures().items()}
        return LoadHistory(t_s=self.t_s[first:last], clock=self.clock, **part)

    def repeated(self, times: int) -> LoadHistory:
        """The same so many times, one after the other."""
        span_s = self.t_s[-1] + self.interval_s[-1] - self.t_s[0]
        figures = {name: np.tile(values, times) for name, values in self._figures().items()}
        t_s = np.concatenate([self.t_s + number * span_s for number in range(times)])
        return LoadHistory(t_s=t_s, clock=self.clock, **figures)

    def times(self, factor: float) -> LoadHistory:
        """The same with so many times the rates."""
        return replace(
            self,
            read_iops=self.read_iops * factor,
            write_iops=self.write_iops * factor,
            read_bytes_per_s=self.read_bytes_per_s * factor,
            write_bytes_per_s=self.write_bytes_per_s * factor,
        )
