"""What is asked of a size as people state it: options of `azbench size`, and arguments in Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from azbenchlib.advisor.demands.demand_file import disks, yes
from azbenchlib.advisor.offers.load_market import check_offered
from azbenchlib.advisor.offers.market import Market
from azbenchlib.advisor.offers.vm_choice import SERVER_CHOICE
from azbenchlib.core import stated_values
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, parse_duration
from azbenchlib.sizing.answer import SizeAnswer, size
from azbenchlib.sizing.requirement import CONFIDENCE, requirement
from azbenchlib.sizing.telemetry import Telemetry

_LEAST_BYTES = GIB  # where no size is stated: any disk has room
_MOST_DISKS = 8
_UNITS = {"size": "B", "ram": "B", "held_back": "s"}  # of numbers
_YES_OR_NO = ("zrs", "burstable", "any_family", "strictly_cheapest")
STATED = (
    *("held_back", "within", "headroom", "growth", "size", "latency", "zrs", "hit", "vcpus", "ram", "vm"),
    *("arch", "burstable", "any_family", "max_disks", "strictly_cheapest", "burst_factor", "probability"),
)


@dataclass(frozen=True, kw_only=True)
class SizeTerms:
    """What is asked of a design for whatever telemetry.

    Parameters
    ----------
    throttled_s, within : float, optional
        As :func:`~azbenchlib.sizing.requirement.requirement` takes them.
    factor : float
        Growth and headroom.
    burst_factor, confidence : float
        As :class:`~azbenchlib.sizing.requirement.SizeRequirement` has them.
    most_disks : int
    wanted : mapping of str to Any
        Fields of :class:`~azbenchlib.advisor.demands.demand.Demand` beside the load.
    """

    throttled_s: float | None
    within: float | None
    factor: float
    burst_factor: float
    confidence: float
    most_disks: int
    wanted: Mapping[str, Any]

    def answer(self, recorded: Telemetry, market: Market) -> SizeAnswer:
        """Return the cheapest design for a telemetry.

        Raises
        ------
        InputError
            When nothing meets the requirement, or it can be none.
        """
        history = recorded.history.times(self.factor)
        limits = (self.throttled_s, self.within, self.most_disks)
        wanted = {**self.wanted, **self._of_hosts(recorded)}
        asked = requirement(history, *limits, wanted, self.confidence, self.burst_factor)
        check_offered(asked.demand.vm, market)
        return size(recorded, asked, market, self.factor)

    def _of_hosts(self, recorded: Telemetry) -> dict[str, float]:
        """What the recorded hosts have and nobody states otherwise; nothing where the VM itself is stated."""
        hosts = {"vcpus": recorded.cpus, "memory_bytes": recorded.memory_bytes}
        if self.wanted["vm"] != "*":
            return {}
        return {
            name: value for name, value in hosts.items() if value is not None and self.wanted[name] is None
        }


def terms(stated: Mapping[str, Any], dashes: str = "") -> SizeTerms:
    """Read what is stated.

    Parameters
    ----------
    stated : mapping of str to Any
        By the names of :data:`STATED`: texts as the options take them, or numbers in bytes and seconds; None
        is not stated.
    dashes : str
        In front of the names in sentences; with them, names have dashes for underscores.

    Raises
    ------
    InputError
        For a name that there is not, or a value that cannot be read.
    """
    if unknown := [name for name in stated if name not in STATED]:
        raise InputError(f"a size has no '{unknown[0]}'; it has: {', '.join(STATED)}")
    values = _Values({key: value for key, value in stated.items() if value is not None}, dashes)
    burst = values.read("burst_factor", stated_values.number, math.inf)
    if burst < 1:
        name, text = values.named("burst_factor")
        raise InputError(f"{name} '{text}' is not 1 or more; 5 is five times the mean")
    arch = str(stated.get("arch") or "x64")
    choice = replace(
        SERVER_CHOICE,
        arm=arch != "x64",
        burstable=values.read("burstable", yes, False),
        any_family=values.read("any_family", yes, False),
    )
    return SizeTerms(
        throttled_s=values.read("held_back", _duration, None),
        within=values.read("within", stated_values.share, None),
        factor=_factor(values),
        burst_factor=burst,
        confidence=values.read("probability", _probability, CONFIDENCE),
        most_disks=values.read("max_disks", disks, _MOST_DISKS),
        wanted={
            "choice": choice,
            "size_bytes": values.read("size", stated_values.size, _LEAST_BYTES),
            "latency": str(stated.get("latency") or "premium"),
            "redundancy": "ZRS" if values.read("zrs", yes, False) else "LRS",
            "cache_hit": values.read("hit", stated_values.share, 0.0),
            "vcpus": values.read("vcpus", stated_values.number, None),
            "memory_bytes": values.read("ram", stated_values.size, None),
            "vm": str(stated.get("vm") or "*"),
            "architecture": arch,
            "strictly_cheapest": values.read("strictly_cheapest", yes, False),
        },
    )


@dataclass(frozen=True)
class _Values:
    """Stated values as texts, with the names that sentences call them by."""

    stated: Mapping[str, Any]
    dashes: str

    def named(self, key: str) -> tuple[str, str]:
        value = self.stated[key]
        name = f"{self.dashes}{key.replace('_', '-')}" if self.dashes else key
        is_yes_or_no = isinstance(value, bool) and key in _YES_OR_NO
        return name, str(value) if is_yes_or_no else stated_values.as_text(name, value, _UNITS.get(key, ""))

    def read(self, key: str, parse: Any, default: Any) -> Any:
        return parse(*self.named(key)) if key in self.stated else default


def _duration(_name: str, text: str) -> float:
    return parse_duration(text)


def _probability(name: str, text: str) -> float:
    share = stated_values.share(name, text)
    if share >= 1:
        raise InputError(f"{name} '{text}' is not below 1: no recording of means makes certain; 95% is usual")
    return share


def _factor(values: _Values) -> float:
    """Growth and headroom together."""
    factor: float = values.read("headroom", stated_values.number, 1.0)
    if factor < 1:
        name, text = values.named("headroom")
        raise InputError(f"{name} '{text}' is not 1 or more; 1.2 keeps a sixth of each limit free")
    return factor * (1 + values.read("growth", _growth, 0.0))


def _growth(name: str, text: str) -> float:
    bare = text.strip().removesuffix("%")
    try:
        growth = float(bare) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        growth = math.nan
    if not -1 < growth < math.inf:
        raise InputError(f"{name} '{text}' is no growth; write one such as 20% or 0.2")
    return growth
