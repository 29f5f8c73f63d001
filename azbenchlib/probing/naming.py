"""Which documented setup it may be: probabilities, which are alike, and how far documents and disk differ.

The chains of a probe stand for what runs tell of a disk of which nothing else is thought. A documented setup
is as much likelier than such a disk as its own density, of the caps of the chains, is above theirs, on
average over the chains (importance sampling). Where no run of a chain's disk is held by a cap, what counts is
the chance that the cap is above what was reached. Where a run that a cap holds contradicts the others, half
of the probability is that of something else.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from azbenchlib.model.documented_setups import DocumentedPlace, Places
from azbenchlib.probing.explanations import WHERE, WRONG_SIZE, Explanation, Near, explanations
from azbenchlib.probing.forward import counted
from azbenchlib.probing.hypotheses import (
    BELIEFS,
    IO_UNITS,
    SAME_FOR_BOTH,
    Bools,
    Floats,
    Hypotheses,
    Setting,
    sharing_chance,
)
from azbenchlib.probing.likelihood import ProbeEvidence
from azbenchlib.probing.portrait import DiskFigure, Knowledge, Portrait, binds
from azbenchlib.verdict.likelihoods import FAR_ABOVE, FAR_SHARE, FIRM, LOOSE, ROW_WRONG, loose_share

LEAST_TOLD = 0.01  # probability of what is still told
ALIKE_NATS = math.log(10)  # of how likely the runs are: within that, nothing measured tells two setups apart
# Emulated disks, and many of Azure's, keep to their limits; others of Azure pass them (`FIRM`, `LOOSE`).
EXACT, EXACT_SHARE = NormalDist(0.0, 0.004), 0.5
# Chains stand for what lies between them too, as kernels of this power of their number times their spread do
# in four dimensions (Silverman, Density Estimation, 1986): else wide ones miss each exact limit.
BETWEEN_CHAINS = -1 / 8
SURE_MODEL = 0.999  # that reads and writes share caps, and I/Os are counted, as documents have it
CAP_ORDER = (Setting.READ_IOPS, Setting.READ_BYTES_PER_S, Setting.WRITE_IOPS, Setting.WRITE_BYTES_PER_S)
ON_HOST = ("temp", "read_write")  # the host's SSD serves both, and of most VM sizes one limit holds both
CAP_KEYS = tuple(setting.name.lower() for setting in CAP_ORDER)


@dataclass(frozen=True, kw_only=True)
class Named:
    """Documented setups of the same caps and their probability; None for `setup`: nothing documented.

    `disks` and `sizes` are the names of the disks and VM sizes, the likeliest first. `iops_ratio` and
    `bytes_ratio` are measured ÷ documented; None where no cap was found. `alike`: whether nothing that was
    measured tells it from the first one.
    """

    setup: Explanation | None
    probability: float
    disks: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    iops_ratio: float | None = None
    bytes_ratio: float | None = None
    alike: bool = False


@dataclass(frozen=True, kw_only=True)
class Believed:
    """What the chains hold of the caps, shape (n, 4) in the order of :data:`CAP_ORDER`, and of the rest.

    Parameters
    ----------
    logs : ndarray
        Natural logarithms.
    seen : ndarray of bool
        Whether a cap holds any run.
    bounds : ndarray
        Logarithms of what was reached of it: the cap is not below, where it is not seen.
    disks : Hypotheses
    is_steady : bool
        Else how caps are shared and I/Os counted tells nothing.
    """

    logs: Floats
    seen: Bools
    bounds: Floats
    disks: Hypotheses
    is_steady: bool

    @classmethod
    def of(cls, disks: Hypotheses, evidence: ProbeEvidence, is_steady: bool) -> Believed:
        """Of chains that stand for some evidence."""
        found = evidence.predict(disks)
        shares = evidence.loads.read_share
        ios = counted(disks, evidence.loads) * evidence.iops[None, :]
        moved = np.broadcast_to((evidence.loads.bs_bytes * evidence.iops)[None, :], ios.shape)
        reached = [(amount * share).max(axis=1) for share in (shares, 1 - shares) for amount in (ios, moved)]
        logs = np.stack([np.log(disks.values(setting)) for setting in CAP_ORDER], axis=1)
        lowest = np.array([BELIEFS[setting].low for setting in CAP_ORDER])
        bounds = np.log(np.maximum(np.stack(reached, axis=1), np.exp(lowest)[None, :]))
        seen = np.stack([binds(disks, evidence, found, cap).any(axis=1) for cap in CAP_ORDER], axis=1)
        return cls(logs=logs, seen=seen, bounds=np.minimum(bounds, logs), disks=disks, is_steady=is_steady)

    @property
    def near(self) -> Near:
        """Where the caps are; without an upper end where they may be anywhere above."""
        values = np.where(self.seen, self.logs, self.bounds)
        low, high = np.exp(np.quantile(values, (0.01, 0.99), axis=0))
        high[~self.seen.all(axis=0)] = math.inf
        return Near(low.tolist(), high.tolist())


def names(
    believed: Believed,
    portrait: Portrait,
    places: Places,
    size_bytes: float | None = None,
    runtime_s: float | None = None,
) -> list[Named]:
    """The documented setups that fit, most probable first; those below 1 % are left out.

    Parameters
    ----------
    believed : Believed
    portrait : Portrait
    places : Places
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
    fits = _Fits(believed, runtime_s)
    rows: dict[Hashable, list[tuple[Explanation, float]]] = defaultdict(list)
    for one in explanations(places, believed.near, size_bytes):
        rows[_row(one)].append((one, one.share * fits.likelihood(one)))
    weights = sum(weight for some in rows.values() for _, weight in some)
    doubtful = [bool({*portrait[key].runs} & {*portrait.contradictions}) for key in CAP_KEYS]
    unexplained = sum(
        weight
        for some in rows.values()
        for one, weight in some
        if any(doubt and math.isfinite(cap) for doubt, cap in zip(doubtful, one.caps, strict=True))
    )
    total = WHERE["nothing"] + unexplained + weights
    found = [(_named(some, total, portrait, size_bytes), some[0][0]) for some in rows.values()]
    likely = sorted(
        (one for one in found if one[0].probability >= LEAST_TOLD), key=lambda one: -one[0].probability
    )
    told = [
        replace(named, alike=i > 0 and abs(fits.peak(setup) - fits.peak(likely[0][1])) < ALIKE_NATS)
        for i, (named, setup) in enumerate(likely)
    ]
    nothing = Named(setup=None, probability=(WHERE["nothing"] + unexplained) / total)
    return sorted(
        [*told, nothing] if nothing.probability >= LEAST_TOLD else told, key=lambda one: -one.probability
    )


def _row(one: Explanation) -> Hashable:
    """What setups have in common that are told as one: those of any chosen limits too."""
    if one.kind == "provisioned":
        return one.kind, one.disk
    if one.kind in ON_HOST:
        return ON_HOST, one.caps
    if any(one.free):
        return one.kind, one.disk, one.caps[one.free.index(0.0)], one.free
    return one.kind, one.caps, one.disk.count if one.disk else 0


def _named(
    some: Sequence[tuple[Explanation, float]], total: float, portrait: Portrait, size_bytes: float | None
) -> Named:
    best = max(some, key=lambda entry: entry[1])[0]
    disks, sizes = _Shares(), _Shares()
    for one, weight in some:
        if one.disk:
            disks.add(one.disk, weight, size_bytes)
        if one.path:
            sizes.add(one.path, weight)
    caps = [0.0 if free else cap for free, cap in zip(best.free, best.caps, strict=False)]
    return Named(
        setup=best,
        probability=sum(weight for _, weight in some) / total,
        disks=disks.likeliest,
        sizes=sizes.likeliest,
        iops_ratio=_ratio(portrait["read_iops"], caps[0]),
        bytes_ratio=_ratio(portrait["read_bytes_per_s"], caps[1]),
    )


class _Shares:
    """Weights of names, of which those that are hardly likely are left out."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = defaultdict(float)

    def add(self, place: DocumentedPlace, weight: float, size_bytes: float | None = None) -> None:
        """Add those of a place, by the size where it tells them apart."""
        for i, name in enumerate(place.names):
            fits = size_bytes is None or not place.sizes
            if not fits and size_bytes is not None:
                low, high = place.sizes[i]
                fits = low < size_bytes / place.count <= high
            self._weights[name] += weight * (1.0 if fits else WRONG_SIZE) / len(place.names)

    @property
    def likeliest(self) -> tuple[str, ...]:
        """The names, the likeliest first."""
        least = 0.1 * max(self._weights.values(), default=0.0)
        some = [name for name, weight in self._weights.items() if weight >= least]
        return tuple(sorted(some, key=lambda name: -self._weights[name]))


def _ratio(figure: DiskFigure, limit: float) -> float | None:
    known = figure.state is Knowledge.KNOWN and figure.value and 0 < limit < math.inf
    return figure.value / limit if known and figure.value else None


class _Fits:
    """How much likelier the runs are with a documented setup than with a disk of which nothing is thought."""

    def __init__(self, believed: Believed, runtime_s: float | None) -> None:
        self._of, self._runtime_s = believed, runtime_s
        self._middle = np.exp(np.median(np.where(believed.seen, believed.logs, believed.bounds), axis=0))
        wide = np.diff(np.quantile(believed.logs, (0.16, 0.84), axis=0), axis=0)[0] / 2
        self._between = wide * len(believed.logs) ** BETWEEN_CHAINS
        self._chances = sharing_chance(believed.disks)
        self._known: dict[Hashable, Floats] = {}
        self._likelihoods: dict[Hashable, float] = {}

    def likelihood(self, one: Explanation) -> float:
        """Relative to that of a disk of which nothing is thought. Many setups differ in their names alone."""
        key = (one.caps, one.same, one.sharing, one.soft, one.free, one.unit_bytes, one.read_us, one.write_us)
        if key not in self._likelihoods:
            self._likelihoods[key] = self._likelihood(one)
        return self._likelihoods[key]

    def _likelihood(self, one: Explanation) -> float:
        of = self._of
        caps = [self._cap(i, one.caps[i], one.soft, one.free[i % 2]) for i in range(4)]
        ratios = caps[0] * caps[1]
        same = of.disks.same
        if one.same:
            ratios = np.where(same, ratios / SAME_FOR_BOTH, 0.0 if of.is_steady else ratios)
        else:
            ratios = np.where(same, 0.0, ratios * caps[2] * caps[3] / (1 - SAME_FOR_BOTH))
        return float(np.mean(ratios * self._sharing(one) * self._latency(one)))

    def peak(self, one: Explanation) -> float:
        """Logarithm of the same if its chosen limits were those that were measured."""
        chosen = [self._middle[i] if one.free[i % 2] else cap for i, cap in enumerate(one.caps)]
        fixed = replace(one, free=(0.0, 0.0), caps=(chosen[0], chosen[1], chosen[2], chosen[3]))
        if one.kind == "provisioned":
            fixed = replace(fixed, caps=(*self._middle[:2], *self._middle[:2]))
        return math.log(max(self.likelihood(fixed), 1e-300))

    def _sharing(self, one: Explanation) -> Floats | float:
        """Of how caps are shared and I/Os counted."""
        if not self._of.is_steady:
            return 1.0
        is_free = all(map(math.isinf, one.caps[2:]))  # then either way of sharing comes to the same
        disks, unit = self._of.disks, IO_UNITS.index(one.unit_bytes)
        shared = np.where(disks.sharing == one.sharing, SURE_MODEL, 1 - SURE_MODEL) / self._chances
        other = (1 - SURE_MODEL) / (len(IO_UNITS) - 1)
        counts: Floats = np.where(disks.unit == unit, SURE_MODEL, other) * len(IO_UNITS)
        return counts if is_free else counts * shared

    def _latency(self, one: Explanation) -> Floats | float:
        found: Floats | float = 1.0
        for setting, expected in ((Setting.READ_LAT_US, one.read_us), (Setting.WRITE_LAT_US, one.write_us)):
            if expected:
                key = (setting, *expected)
                if key not in self._known:
                    self._known[key] = self._of_latency(*key)
                found = found * self._known[key]
        return found

    def _of_latency(self, setting: Setting, median: float, spread: float) -> Floats:
        logs = self._of.disks.logs[:, setting]
        z = (logs - math.log(median)) / spread
        density: Floats = np.exp(-0.5 * z * z) / (spread * math.sqrt(2 * math.pi))
        return density * (BELIEFS[setting].high - BELIEFS[setting].low)

    def _cap(self, i: int, limit: float, soft: bool, free: float) -> Floats:
        """Of one cap: of each chain the density, or the chance of a cap above what was reached."""
        key = (i, limit, soft, free)
        if key not in self._known:
            self._known[key] = self._of_cap(*key)
        return self._known[key]

    def _of_cap(self, i: int, limit: float, soft: bool, free: float) -> Floats:
        from scipy.special import ndtr  # a report begins without it

        of, belief = self._of, BELIEFS[CAP_ORDER[i]]
        width = belief.high - belief.low
        flat_above = np.maximum(1e-9, (belief.high - of.bounds[:, i]) / width)
        if free:
            top = math.log(limit)
            inside = (of.logs[:, i] <= top + FIRM.mean) & (of.logs[:, i] >= top - 1 / free)
            above = np.clip((top - of.bounds[:, i]) * free, 0.0, 1.0)
            return np.where(of.seen[:, i], np.where(inside, free * width, ROW_WRONG), above / flat_above)
        if math.isinf(limit):  # what is not documented may be anything
            return np.ones(len(of.logs))
        loose = loose_share(soft, self._runtime_s)
        far = FAR_SHARE["iops" if i % 2 == 0 else "bytes_per_s"] if soft else 0.0
        x, bound = of.logs[:, i] - math.log(limit), of.bounds[:, i] - math.log(limit)
        density, above = np.zeros(len(x)), np.zeros(len(x))
        for share, spread in (
            (EXACT_SHARE, EXACT),
            ((1 - EXACT_SHARE) * (1 - loose), FIRM),
            ((1 - EXACT_SHARE) * loose, LOOSE),
        ):
            stdev = math.hypot(spread.stdev, self._between[i])
            z, above_z = (x - spread.mean) / stdev, (bound - spread.mean) / spread.stdev
            density += share * np.exp(-0.5 * z * z) / (stdev * math.sqrt(2 * math.pi))
            above += share * ndtr(-above_z)
        nearest, furthest = FAR_ABOVE
        is_far = (x >= nearest) & (x <= furthest)
        density = (1 - far) * density + far * is_far / (furthest - nearest)
        above = (1 - far) * above + far * np.clip((furthest - bound) / (furthest - nearest), 0, 1)
        density = (1 - ROW_WRONG) * density * width + ROW_WRONG
        above = (1 - ROW_WRONG) * above / flat_above + ROW_WRONG
        return np.where(of.seen[:, i], density, above)
