"""What is asked of a design: how long its load may be held back, and what else it must have."""

from __future__ import annotations

import math
from dataclasses import dataclass

from azbenchlib.advisor.demand import Demand
from azbenchlib.core.errors import InputError
from azbenchlib.model.load_history import LoadHistory

HELD_BACK_S = 60.0  # where nothing is stated: a minute in all, however long the telemetry is


@dataclass(frozen=True, kw_only=True)
class Requirement:
    """What is asked of a design.

    Parameters
    ----------
    history : LoadHistory
        With growth and headroom in it.
    demand : Demand
        Its mean, and what is asked for beside the load: size, latency, redundancy, VM, memory.
    held_back_s : float
        In all of the history, at most.
    most_disks : int, optional
        At most so many.

    Raises
    ------
    InputError
        For a time that is negative or none.
    """

    history: LoadHistory
    demand: Demand
    held_back_s: float = HELD_BACK_S
    most_disks: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.held_back_s < math.inf:
            raise InputError(f"held back for at most {self.held_back_s} s: it must be 0 or more")
        if self.most_disks is not None and self.most_disks < 1:
            raise InputError(f"at most {self.most_disks} disks: it must be 1 or more")


def allowed_s(history: LoadHistory, held_back_s: float | None, within: float | None) -> float:
    """Seconds in which a load may be held back: so many, or such a share of the time, or the less of both."""
    if within is not None and not 0 <= within <= 1:
        raise InputError(f"within {within} is not between 0 and 1")
    found = [] if held_back_s is None else [held_back_s]
    found += [] if within is None else [within * history.duration_s]
    return min(found, default=HELD_BACK_S)
