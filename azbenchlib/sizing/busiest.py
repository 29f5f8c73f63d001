"""The busiest stretch of a history on a design, and what a replay of it by real I/O came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from azbenchlib.core.units import S_PER_HOUR
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.passed_limits import PassedLimit
from azbenchlib.sizing.design import Design

MOST_INTERVALS = 120  # of the stretch: a burst of one interval is then still long enough to be measured
AGREES = 0.05  # of the longer of both times, or an interval: then a replay agrees


@dataclass(frozen=True, kw_only=True)
class LabCheck:
    """A stretch of a history on a design: what the replay says, and what emulated disks did.

    Parameters
    ----------
    design : Design
    stretch : LoadHistory
        With full credits at its begin.
    shortest_s : float
        Seconds of the history that some I/O must wait for a time to be measured as throttled; what waits less
        cannot be told from waits for this machine, so it is not counted in the prediction either.
    predicted_s, measured_s : float
        Seconds of the history in which the load was throttled.
    busy : bool
        Whether this machine was too busy for what was measured to count.
    """

    design: Design
    stretch: LoadHistory
    shortest_s: float
    predicted_s: float
    measured_s: float
    busy: bool = False

    @property
    def agrees(self) -> bool:
        """Whether both are the same within 5 %, or within an interval."""
        within = max(AGREES * max(self.predicted_s, self.measured_s), float(self.stretch.interval_s.max()))
        return abs(self.predicted_s - self.measured_s) <= within


def busiest(limits: Sequence[PassedLimit], history: LoadHistory) -> LoadHistory:
    """The hour, of at most 120 intervals, in which the limits are needed most.

    Parameters
    ----------
    limits : sequence of PassedLimit
        Of the history on a design; at least one.
    history : LoadHistory

    Returns
    -------
    LoadHistory
        All of it, where it is no longer.
    """
    used_s = np.max([limit.need for limit in limits], axis=0) * history.interval_s
    ends = np.cumsum(history.interval_s)
    begins = ends - history.interval_s
    lasts = np.searchsorted(begins, begins + S_PER_HOUR, side="left")
    lasts = np.minimum(lasts, np.arange(len(ends)) + MOST_INTERVALS)
    total = np.concatenate([[0.0], np.cumsum(used_s)])
    first = int(np.argmax(total[lasts] - total[:-1]))
    return history.between(first, int(lasts[first]))
