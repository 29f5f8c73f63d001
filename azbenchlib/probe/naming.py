"""Which documented disk or VM it may be: probabilities, and how far documents and disk differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from azbenchlib.probe.hypotheses import BELIEFS, Setting
from azbenchlib.probe.portrait import DiskFigure, Knowledge, Portrait
from azbenchlib.verdict.likelihoods import bound, holds, loose_share, unloaded

LEAST_TOLD = 0.01  # probability of what is still told
# How likely each is before any run; our judgement. What is not documented keeps its share.
SHARES = {"disk": 0.6, "burst": 0.6, "provisioned": 0.15, "vm": 0.15}
NOTHING_DOCUMENTED = 0.1
WRONG_SIZE = 0.05  # that a disk has a tier of another size, as a performance tier has
_ROUNDING = 1e-6  # lest a figure that rules something out does so for ever


@dataclass(frozen=True, kw_only=True)
class DocumentedLimits:
    """What documents say of a disk, or of a VM's path to its disks.

    Parameters
    ----------
    name : str
        Such as ``P30``, or a VM size.
    kind : {"disk", "burst", "provisioned", "vm"}
        ``burst``: the limits of a disk as long as it has credits.
    iops, bytes_per_s : float
        Of provisioned disks, the largest.
    least_iops, least_bytes_per_s : float, optional
        Of provisioned disks: any limits from these up may be chosen.
    unit_bytes : float, optional
        Up to this size an I/O counts as one. None: any size does.
    read_us, write_us : tuple of float, optional
        Median unloaded latency, and the spread of its logarithm.
    soft : bool
        Whether such disks were measured above their limits.
    sizes : tuple of float, optional
        Bytes: more than the first and at most the second has this tier.
    also : int
        How many others have the same limits.
    """

    name: str
    kind: str
    iops: float
    bytes_per_s: float
    least_iops: float | None = None
    least_bytes_per_s: float | None = None
    unit_bytes: float | None = None
    read_us: tuple[float, float] | None = None
    write_us: tuple[float, float] | None = None
    soft: bool = False
    sizes: tuple[float, float] | None = None
    also: int = 0


@dataclass(frozen=True, kw_only=True)
class Named:
    """A documented disk and its probability; None for `limits`: nothing documented.

    `iops_ratio` and `bytes_ratio` are measured ÷ documented; None where no cap was found.
    """

    limits: DocumentedLimits | None
    probability: float
    iops_ratio: float | None = None
    bytes_ratio: float | None = None


def names(
    portrait: Portrait,
    documented: Sequence[DocumentedLimits],
    size_bytes: float | None = None,
    runtime_s: float | None = None,
) -> list[Named]:
    """The documented disks that fit, most probable first; those below 1 % are left out.

    Parameters
    ----------
    portrait : Portrait
    documented : sequence of DocumentedLimits
        Of one day.
    size_bytes : float, optional
        Of the whole disk, where it is known.
    runtime_s : float, optional
        Of the runs: short ones show more than documented.

    Returns
    -------
    list of Named
        None where the page cache was measured.
    """
    if portrait.buffered:
        return []
    weights = [(one, _weight(portrait, one, documented, size_bytes, runtime_s)) for one in documented]
    nothing = NOTHING_DOCUMENTED * _anything(portrait)
    total = nothing + sum(weight for _, weight in weights)
    found = [
        Named(
            limits=one,
            probability=weight / total,
            iops_ratio=_ratio(portrait["read_iops"], one.iops),
            bytes_ratio=_ratio(portrait["read_bytes_per_s"], one.bytes_per_s),
        )
        for one, weight in weights
    ]
    found.append(Named(limits=None, probability=nothing / total))
    likely = [one for one in found if one.probability >= LEAST_TOLD]
    return sorted(likely, key=lambda one: -one.probability)


def _ratio(figure: DiskFigure, limit: float) -> float | None:
    return figure.value / limit if figure.state is Knowledge.KNOWN and figure.value else None


def _weight(
    portrait: Portrait,
    one: DocumentedLimits,
    documented: Sequence[DocumentedLimits],
    size_bytes: float | None,
    runtime_s: float | None,
) -> float:
    alike = sum(other.kind == one.kind for other in documented)
    weight = SHARES[one.kind] / alike
    loose = loose_share(one.soft, runtime_s)
    if one.kind == "provisioned":
        weight *= _chosen(portrait["read_iops"], one.least_iops, one.iops)
        weight *= _chosen(portrait["read_bytes_per_s"], one.least_bytes_per_s, one.bytes_per_s)
    else:
        weight *= _held(portrait["read_iops"], one.iops, "iops", loose)
        weight *= _held(portrait["read_bytes_per_s"], one.bytes_per_s, "bytes_per_s", loose)
    if portrait.steady:  # else these hang on differences that mean nothing
        weight *= max(portrait.same * (1 - portrait.apart), _ROUNDING)
        weight *= max(portrait.units[one.unit_bytes or math.inf], _ROUNDING)
    for key, expected in (("read_p50_us_4k", one.read_us), ("write_p50_us_4k", one.write_us)):
        value = portrait[key].value
        if expected and value:
            weight *= unloaded(expected, "remote", None, None).pdf(math.log(value)) / _flat(
                Setting.READ_LAT_US
            )
    if size_bytes is not None and one.sizes:
        weight *= 1.0 if one.sizes[0] < size_bytes <= one.sizes[1] else WRONG_SIZE
    return weight


def _held(figure: DiskFigure, limit: float, quantity: str, loose: float) -> float:
    """Density of the log of what was found, if this is the limit; or the chance that it is not below."""
    if figure.state is Knowledge.KNOWN and figure.value:
        return bound(figure.value / limit, loose, quantity)
    return holds(figure.low / limit, loose, quantity)


def _chosen(figure: DiskFigure, least: float | None, most: float) -> float:
    """The same, if the limit may be any in a range."""
    least = least or 1.0
    if figure.state is Knowledge.KNOWN and figure.value:
        inside = least * 0.98 <= figure.value <= most * 1.05
        return 1 / math.log(most / least) if inside else _ROUNDING
    return float(figure.low <= most)


def _anything(portrait: Portrait) -> float:
    """The same for a disk of which nothing is documented."""
    density = portrait.units[math.inf] * 0.5 + 0.5 / len(portrait.units) if portrait.steady else 1.0
    for key, setting in (
        ("read_iops", Setting.READ_IOPS),
        ("read_bytes_per_s", Setting.READ_BYTES_PER_S),
    ):
        known = portrait[key].state is Knowledge.KNOWN
        density *= _flat(setting) if known else 1.0
    return density


def _flat(setting: Setting) -> float:
    """Density of the logarithm of a setting before any run."""
    return 1 / (BELIEFS[setting].high - BELIEFS[setting].low)
