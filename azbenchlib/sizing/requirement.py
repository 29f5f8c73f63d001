"""What is asked of a design: how long its load may be throttled, and what else it must have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from azbenchlib.advisor.demands.demand import MOST_DISKS, Demand
from azbenchlib.advisor.offers.vm_choice import SERVER_CHOICE
from azbenchlib.core.errors import InputError
from azbenchlib.model.load_history import LoadHistory

CONFIDENCE = 0.95  # where nothing is stated
THROTTLED_S = 60.0  # where nothing is stated: a minute in all of what is longer, else none


@dataclass(frozen=True, kw_only=True)
class SizeRequirement:
    """What is asked of a design.

    Parameters
    ----------
    history : LoadHistory
        With growth and headroom in it.
    demand : Demand
        Its mean, and what is asked for beside the load: size, latency, redundancy, VM, memory.
    throttled_s : float
        In all of the history, at most.
    confidence : float
        The least probability that it is throttled no longer, of what is known of loads within intervals
        (:mod:`azbenchlib.model.burstiness`); 0: as if the load of each interval came evenly.
    burst_factor : float
        How many times the mean of its interval a load may be at a moment; infinite: not known.
    most_disks : int, optional
        At most so many.

    Raises
    ------
    InputError
        For a time that is negative or none.
    """

    history: LoadHistory
    demand: Demand
    throttled_s: float = THROTTLED_S
    confidence: float = 0.0
    burst_factor: float = math.inf
    most_disks: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.throttled_s < math.inf:
            raise InputError(f"throttled for at most {self.throttled_s} s: it must be 0 or more")
        if not 0 <= self.confidence < 1:
            raise InputError(f"confidence {self.confidence} is not between 0 and 1, without 1")
        if self.most_disks is not None and not 1 <= self.most_disks <= MOST_DISKS:
            raise InputError(f"at most {self.most_disks} disks: it must be 1 to {MOST_DISKS}")


def requirement(
    history: LoadHistory,
    throttled_s: float | None,
    within: float | None,
    most_disks: int | None,
    wanted: Mapping[str, Any],
    confidence: float = CONFIDENCE,
    burst_factor: float = math.inf,
) -> SizeRequirement:
    """What is asked of a design for a history.

    Parameters
    ----------
    history : LoadHistory
    throttled_s, within : float, optional
        Seconds in which the load may be throttled, and the share of the time; the less counts. None for both:
        60 s, of telemetry that is no longer than that none.
    most_disks : int, optional
    confidence, burst_factor : float
        As :class:`SizeRequirement` has them.
    wanted : mapping of str to Any
        Fields of :class:`~azbenchlib.advisor.demands.demand.Demand` beside the load.

    Raises
    ------
    InputError
        For a history without any load, a value that is none, or a time in which all of it may be throttled.
    """
    if within is not None and not 0 <= within <= 1:
        raise InputError(f"within {within} is not between 0 and 1")
    iops, rate = history.mean(history.iops), history.mean(history.bytes_per_s)
    if not iops or not rate:
        raise InputError("the telemetry tells of no load: all its rates are 0")
    choice = replace(SERVER_CHOICE, arm=wanted.get("architecture") in ("any", "arm64"))
    demand = Demand(
        iops=iops,
        bs_bytes=rate / iops,
        read_share=history.mean(history.read_iops) / iops,
        headroom=1.0,
        **{"choice": choice, **wanted},
    )
    stated = [throttled_s, None if within is None else within * history.duration_s]
    usual = THROTTLED_S if history.duration_s > THROTTLED_S else 0.0
    allowed = min((seconds for seconds in stated if seconds is not None), default=usual)
    if allowed >= history.duration_s:
        raise InputError(
            f"the load may be throttled for {allowed:g} s, and the telemetry lasts {history.duration_s:g} s: "
            "any disks would do; allow less, such as --held-back 0s"
        )
    return SizeRequirement(
        history=history,
        demand=demand,
        throttled_s=allowed,
        confidence=confidence,
        burst_factor=burst_factor,
        most_disks=most_disks,
    )
