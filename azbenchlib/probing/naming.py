"""Which documented disk or VM it may be: probabilities, and how far documents and disk differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from azbenchlib.model.documented_limits import DocumentedLimits
from azbenchlib.probing.hypotheses import BELIEFS, Setting
from azbenchlib.probing.portrait import DiskFigure, Knowledge, Portrait
from azbenchlib.verdict.likelihoods import unloaded
from azbenchlib.verdict.naming import LEAST_WEIGHT, Reached, caps_weight

LEAST_TOLD = 0.01  # probability of what is still told
NOTHING_DOCUMENTED = 0.1
WRONG_SIZE = 0.05  # that a disk has a tier of another size, as a performance tier has


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
    iops, rate = _reached(portrait["read_iops"]), _reached(portrait["read_bytes_per_s"])
    weight = caps_weight(one, iops, rate, runtime_s) / alike
    if portrait.steady:  # else these hang on differences that mean nothing
        weight *= max(portrait.same * (1 - portrait.apart), LEAST_WEIGHT)
        weight *= max(portrait.units[one.unit_bytes or math.inf], LEAST_WEIGHT)
    for key, expected in (("read_p50_us_4k", one.read_us), ("write_p50_us_4k", one.write_us)):
        value = portrait[key].value
        if expected and value:
            weight *= unloaded(expected, "remote", None, None).pdf(math.log(value)) / _flat(
                Setting.READ_LAT_US
            )
    if size_bytes is not None and one.sizes:
        weight *= 1.0 if one.sizes[0] < size_bytes <= one.sizes[1] else WRONG_SIZE
    return weight


def _reached(figure: DiskFigure) -> Reached:
    return Reached(figure.value if figure.state is Knowledge.KNOWN else None, figure.low)


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
