"""How well the limits of a documented disk or VM fit what was measured of an unknown one."""

from __future__ import annotations

from dataclasses import dataclass

from azbenchlib.model.documented_setups import DocumentedPlace
from azbenchlib.verdict.likelihoods import bound, holds, loose_share

# How likely each is before any run; our judgement.
_SHARES = {"disk": 0.6, "burst": 0.6, "vm": 0.15}


@dataclass(frozen=True)
class Reached:
    """A plateau of IOPS or bytes per second: `value` where one was seen; else its limit is above `low`."""

    value: float | None
    low: float


def caps_weight(limits: DocumentedPlace, iops: Reached, rate: Reached, runtime_s: float | None) -> float:
    """How likely two plateaus are if these are the limits, with the share of their kind.

    Parameters
    ----------
    limits : DocumentedPlace
    iops, rate : Reached
        Of IOPS and of bytes per second.
    runtime_s : float, optional
        Of the runs: short ones show more than documented.
    """
    loose = loose_share(limits.soft, runtime_s)
    fits = _held(iops, limits.iops, "iops", loose)
    return _SHARES[limits.kind] * fits * _held(rate, limits.bytes_per_s, "bytes_per_s", loose)


def _held(reached: Reached, limit: float, quantity: str, loose: float) -> float:
    """Density of the log of what was measured, if this is the limit; or the chance that it is not below."""
    if reached.value:
        return bound(reached.value / limit, loose, quantity)
    return holds(reached.low / limit, loose, quantity)
