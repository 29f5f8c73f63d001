"""Values of a setting that are worth trying: near what single runs would imply if it alone decided them.

An independence sampler (Tierney, Annals of Statistics 22, 1994) draws from them, or anew from what is thought
before any run, so that chains change freely between explanations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from azbenchlib.core.units import US_PER_S
from azbenchlib.probing.forward import Loads, counted, median_us
from azbenchlib.probing.hypotheses import (
    BELIEFS,
    SMALLEST_BYTES,
    Bools,
    Floats,
    Hypotheses,
    Ints,
    Setting,
    Sharing,
)
from azbenchlib.probing.likelihood import ProbeEvidence

WRITE_CAPS = (Setting.WRITE_IOPS, Setting.WRITE_BYTES_PER_S)
READ_CAPS = (Setting.READ_IOPS, Setting.READ_BYTES_PER_S)
CAP_SETTINGS = (*WRITE_CAPS, *READ_CAPS)
OTHER_WAY = dict(zip(CAP_SETTINGS, (*READ_CAPS, *WRITE_CAPS), strict=True))
_ANEW = 0.3  # share of proposals from the belief
_WIDTH = 0.006  # of the logarithm, around what a run implies
_WIDE = 0.06  # ... and one proposal in five so far
_WIDE_SHARE = 0.2
_OUTERMOST = 0.5  # share of those near what runs imply that take the outermost run
_FROM_ABOVE = (Setting.READ_LAT_US, Setting.WRITE_LAT_US, Setting.READ_SKEW, Setting.WRITE_SKEW)


@dataclass(frozen=True, kw_only=True)
class _Telling:
    """The runs that can tell of a setting, shape (k,) each; `share` is of the setting's direction."""

    loads: Loads
    share: Floats
    iops: Floats
    p50_us: Floats


class Proposals:
    """Those that follow from some evidence.

    Parameters
    ----------
    rng : numpy.random.Generator
    evidence : ProbeEvidence
    """

    def __init__(self, rng: np.random.Generator, evidence: ProbeEvidence) -> None:
        self._rng = rng
        self._telling = {setting: _telling(evidence, setting) for setting in Setting}

    def implied(self, disks: Hypotheses, setting: Setting, given: bool) -> Floats:
        """Logarithms of a setting that runs would imply, were it decided by each alone; NaN: none, (n, k).

        They depend on other settings of each disk, never on the one that is proposed; `given`: also on the
        same cap of the other direction.
        """
        told, write = self._telling[setting], _of_writes(setting)
        iops, p50_us, sizes = told.iops[None, :], told.p50_us[None, :], told.loads.bs_bytes
        more = np.maximum(0.0, sizes - SMALLEST_BYTES)[None, :]
        with np.errstate(invalid="ignore", divide="ignore"):
            match setting:
                case Setting.READ_IOPS | Setting.WRITE_IOPS:
                    whole = _of_mix(disks, setting, told, iops * counted(disks, told.loads), given)
                case Setting.READ_BYTES_PER_S | Setting.WRITE_BYTES_PER_S:
                    whole = _of_mix(disks, setting, told, iops * sizes[None, :], given)
                case Setting.READ_LAT_US | Setting.WRITE_LAT_US:
                    stream = disks.values(Setting.WRITE_STREAM if write else Setting.READ_STREAM)
                    whole = np.log(p50_us - more / stream[:, None] * US_PER_S)
                case Setting.READ_STREAM | Setting.WRITE_STREAM:
                    small = disks.values(Setting.WRITE_LAT_US if write else Setting.READ_LAT_US)
                    whole = np.log(more * US_PER_S / (p50_us - small[:, None]))
                case Setting.READ_SKEW | Setting.WRITE_SKEW:
                    mean_us = told.loads.depth[None, :] * US_PER_S / iops
                    whole = np.log(mean_us) - np.log(median_us(disks, write, sizes))
                case _:
                    whole = np.empty((len(disks), 0))
        return np.where(np.isfinite(whole), whole, np.nan)

    def near(self, setting: Setting, centres: Floats) -> Floats:
        """A proposal for each disk: near one of its centres, or anew."""
        n = len(centres)
        anew = BELIEFS[setting].draw(self._rng, (n,))
        if not centres.shape[1]:
            return anew
        one = self._rng.integers(0, centres.shape[1], n)
        outermost = self._rng.random(n) < _OUTERMOST
        chosen = centres[np.arange(n), np.where(outermost, _outermost(setting, centres), one)]
        width = np.where(self._rng.random(n) < _WIDE_SHARE, _WIDE, _WIDTH)
        near = chosen + width * self._rng.normal(size=n)
        return np.where((self._rng.random(n) < _ANEW) | np.isnan(near), anew, near)


def log_near(setting: Setting, centres: Floats, values: Floats) -> Floats:
    """Logarithm of the density of such a proposal, shape (n,)."""
    belief = np.exp(BELIEFS[setting].log_density(values))
    if not centres.shape[1]:
        return np.log(belief)
    known = ~np.isnan(centres)
    z = np.where(known, values[:, None] - centres, np.inf)
    each = (1 - _WIDE_SHARE) * _normal(z, _WIDTH) + _WIDE_SHARE * _normal(z, _WIDE)
    first = np.arange(len(centres)), _outermost(setting, centres)
    near = (1 - _OUTERMOST) * each.mean(axis=1) + _OUTERMOST * each[first]
    share = (1 - _OUTERMOST) * known.mean(axis=1) + _OUTERMOST * known[first]
    return np.log((1 - (1 - _ANEW) * share) * belief + (1 - _ANEW) * near + 1e-300)


def _outermost(setting: Setting, centres: Floats) -> Ints:
    """Which centre is the bound that the others keep to, of each disk, shape (n,).

    No run passes a cap, or is faster than the unloaded latency: what it would imply is too low, or too high.
    """
    if setting in _FROM_ABOVE:
        return np.where(np.isnan(centres), np.inf, centres).argmin(axis=1)
    return np.where(np.isnan(centres), -np.inf, centres).argmax(axis=1)


def _normal(z: Floats, spread: float) -> Floats:
    density: Floats = np.exp(-0.5 * (z / spread) ** 2) / (spread * math.sqrt(2 * math.pi))
    return density


def _of_writes(setting: Setting) -> bool:
    return setting.name.startswith("WRITE")


def _telling(evidence: ProbeEvidence, setting: Setting) -> _Telling:
    """The runs that can tell of a setting."""
    loads, write = evidence.loads, _of_writes(setting)
    share = 1 - loads.read_share if write else loads.read_share
    p50_us = evidence.p50_us(write)
    tells: Bools = (share > 0) | (setting in READ_CAPS)  # which may be those of writes
    if setting in (Setting.READ_SKEW, Setting.WRITE_SKEW):
        tells = tells & np.isinf(loads.rate_iops)  # the rate of a paced run is no latency
    elif setting not in CAP_SETTINGS:
        tells = tells & ~np.isnan(p50_us)
    if setting in (Setting.READ_STREAM, Setting.WRITE_STREAM):
        tells = tells & (loads.bs_bytes > SMALLEST_BYTES)
    which = np.flatnonzero(tells)
    return _Telling(
        loads=loads.some(which), share=share[which], iops=evidence.iops[which], p50_us=p50_us[which]
    )


def _of_mix(disks: Hypotheses, setting: Setting, told: _Telling, rate: Floats, given: bool) -> Floats:
    """Logarithm of the cap of one direction, where runs, some of them mixed, are at that rate."""
    share = told.share[None, :]
    other = disks.values(OTHER_WAY[setting])[:, None] if given else np.nan
    own = share / (1 / rate - (1 - share) / other)
    same = disks.same[:, None]
    shared = np.where(same | (share == 1.0) | np.isnan(own), rate, own)
    sharing, mixed = disks.sharing[:, None], (share > 0) & (share < 1)
    apart = mixed & ((sharing == Sharing.APART) | (sharing == Sharing.BEHIND) & _of_writes(setting))
    found = np.where(apart, rate * share, np.where(mixed & (sharing == Sharing.BEHIND), rate, shared))
    return np.log(np.where((share == 0) & ~same, np.nan, found))
