"""Runs whose setup is not stated: which documented disk or VM has the plateaus that they show.

Local SSDs and the page cache reach any rate, and one of many documented figures is always near. So a
plateau counts where several loads share it, or where a deep queue holds a rate that is within 2 % of a
documented one; and VM sizes, whose figures are many, only where IOPS and MB/s both fit, each shared and
within 2 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from azbenchlib.analysis.flow import Flow, occupancy, rates
from azbenchlib.analysis.observation import Observation
from azbenchlib.azure import disk_kinds
from azbenchlib.core.findings import Code, Finding
from azbenchlib.core.units import format_count, format_mbps
from azbenchlib.model.documented_setups import DocumentedPlace, documented_places
from azbenchlib.model.labels import Label
from azbenchlib.verdict import evidence
from azbenchlib.verdict.judgement import Judgement
from azbenchlib.verdict.naming import Reached, caps_weight

_SHARED = 0.02  # relative: rates of several loads that differ by less are one plateau
_NEAR, _NEAR_ALONE = (
    0.045,
    0.02,
)  # relative to a documented figure; the latter of a plateau that one run shows
_DEEP = 16  # outstanding I/Os from which on a single run may show a plateau
_ALIKE = 0.2  # of the likeliest: what is as likely is named too
_MOST_NAMES = 3  # of one kind of disk, beside which a range is said
_BUFFERED = 0.05  # chance that the page cache answered, from which on a run shows no disk
_STATE = "state --vm and --disk to be sure"
_NAME_IT = "state --vm and --disk to learn which limit binds"


@dataclass(frozen=True)
class Plateau:
    """A rate that more load does not raise, and whether several loads show it."""

    value: float
    shared: bool


@dataclass(frozen=True, kw_only=True)
class LikelySetup:
    """Documented disks or VM sizes that fit equally well, and the plateaus by which they do.

    `apart` is how far the plateaus are from the documented figures at most, relative.
    """

    limits: tuple[DocumentedPlace, ...]
    iops: Plateau | None
    bytes_per_s: Plateau | None
    apart: float

    def words(self) -> str:
        """Such as: a P30: 5,000 IOPS and 200 MB/s, within 2 %."""
        by_caps: dict[tuple[str, str], list[DocumentedPlace]] = {}
        for one in self.limits:
            by_caps.setdefault((self._caps(one), one.kind), []).append(one)
        kinds = "; or ".join(f"{_a(_names(some))}: {caps}" for (caps, _), some in by_caps.items())
        return f"{kinds}, within {max(1, math.ceil(100 * self.apart - 0.05))} %"

    def explains(self, seen: Observation) -> bool:
        """Whether a run reached one of the plateaus."""
        got = rates(seen)
        pairs = ((got.iops, self.iops), (got.bytes_per_s, self.bytes_per_s))
        return any(value and plateau and _same(value, plateau.value) for value, plateau in pairs)

    def _caps(self, one: DocumentedPlace) -> str:
        parts = [f"{format_count(one.iops)} IOPS"] if self.iops else []
        parts += [f"{format_mbps(one.bytes_per_s)} MB/s"] if self.bytes_per_s else []
        return " and ".join(parts)


def without_setup(judged: Judgement, flows: Sequence[Flow], likely: LikelySetup | None) -> Judgement:
    """The judgement of a run whose setup is not stated, with what it looks like.

    Parameters
    ----------
    judged : Judgement
    flows : sequence of Flow
        Of the run.
    likely : LikelySetup, optional
        Of all runs of the setup.
    """
    named = likely.words() if likely else None
    what = f"no setup is stated; the runs look like {named}" if named else "no setup is stated"
    stated = Finding.of(Code.SETUP_NOT_KNOWN, f"{what}: {_STATE if named else _NAME_IT}")
    findings = [
        stated if finding.code == stated.code else finding
        for finding in judged.findings
        if finding.code != Code.NO_DOCUMENTED_LIMIT
    ]
    sentence = judged.words
    if judged.binding[:1] == (Label.UNKNOWN,):
        sentence = f"No setup is stated, so no limit can be compared with the rate: {_NAME_IT}"
        if likely and named and any(likely.explains(flow.observation) for flow in flows):
            sentence = f"As {named}; {_STATE}"
    return replace(judged, words=sentence, findings=tuple(findings), likely_setup=named)


def likely_setup(flows: Iterable[Flow], as_of: str) -> LikelySetup | None:
    """The documented disk or VM that runs look like; None where they show no plateau, or none fits.

    Parameters
    ----------
    flows : iterable of Flow
        Of runs on one setup.
    as_of : str
        ISO day whose documents apply.
    """
    seen = [flow.observation for flow in flows if _shows_a_disk(flow.observation)]
    found: list[tuple[float, LikelySetup]] = []
    every = documented_places(as_of).plain
    for iops, moved in _readings(seen):
        some = [one for one in every if one.kind != "vm" or (iops and moved)]
        found += _fitting(some, iops, moved, seen)
    if not found:
        return None
    return max(found, key=lambda entry: entry[0])[1]


def _shows_a_disk(seen: Observation) -> bool:
    """Whether a limit of a disk or VM may have set the rate, as far as the run itself tells."""
    got = rates(seen)
    if got.iops is None or not got.bs_bytes or got.from_latency:
        return False
    idle = (occupancy(seen) or 1.0) < evidence.IDLE
    own = bool(seen.rate_iops) and got.iops >= evidence.RATE_KEPT * (seen.rate_iops or 0.0)
    return not (idle or own or evidence.flat(seen)) and evidence.buffered(seen) < _BUFFERED


def _readings(seen: Sequence[Observation]) -> Iterator[tuple[Plateau | None, Plateau | None]]:
    """What may be a plateau: of IOPS at small blocks, of bytes at large ones, or either at one block size."""
    iops = _plateau([(rates(one).iops or 0.0, one) for one in seen])
    moved = _plateau([(rates(one).bytes_per_s or 0.0, one) for one in seen])
    if iops and moved and _sizes(seen, iops, moved):
        yield iops, moved
        return
    if iops:
        yield iops, None
    if moved:
        yield None, moved


def _plateau(points: Sequence[tuple[float, Observation]]) -> Plateau | None:
    """The highest rate, where several loads reach it, or one with a deep queue does."""
    most = max((value for value, _ in points), default=0.0)
    top = [seen for value, seen in points if _same(value, most)]
    if not most:
        return None
    loads = {(one.queue_depth, one.numjobs, one.bs_bytes, one.read_share) for one in top}
    if len(loads) > 1 and any((one.queue_depth or 0) > 1 for one in top):
        return Plateau(most, True)
    return Plateau(most, False) if any((one.queue_depth or 0) >= _DEEP for one in top) else None


def _sizes(seen: Sequence[Observation], iops: Plateau, moved: Plateau) -> bool:
    """Whether the plateaus of IOPS and of bytes are those of different block sizes."""
    small = {rates(one).bs_bytes or 0.0 for one in seen if _same(rates(one).iops or 0.0, iops.value)}
    large = {rates(one).bs_bytes or 0.0 for one in seen if _same(rates(one).bytes_per_s or 0.0, moved.value)}
    return max(small) < min(large)


def _fitting(
    some: Sequence[DocumentedPlace], iops: Plateau | None, moved: Plateau | None, seen: Sequence[Observation]
) -> Iterator[tuple[float, LikelySetup]]:
    """Those whose figures are near, with their weight."""
    reached = (
        Reached(iops.value if iops else None, max(rates(one).iops or 0.0 for one in seen)),
        Reached(moved.value if moved else None, max(rates(one).bytes_per_s or 0.0 for one in seen)),
    )
    runtime_s = max((one.runtime_s for one in seen if one.runtime_s), default=None)
    weights = {
        one: caps_weight(one, *reached, runtime_s)
        for one in some
        if _is_near(iops, one.iops, reached[0].low, one.kind)
        and _is_near(moved, one.bytes_per_s, reached[1].low, one.kind)
    }
    most = max(weights.values(), default=0.0)
    alike = [one for one in sorted(weights, key=lambda one: -weights[one]) if weights[one] >= _ALIKE * most]
    if alike:
        pairs = [
            (p.value, cap) for one in alike for p, cap in ((iops, one.iops), (moved, one.bytes_per_s)) if p
        ]
        apart = max(abs(value / cap - 1) for value, cap in pairs)
        yield most, LikelySetup(limits=tuple(alike), iops=iops, bytes_per_s=moved, apart=apart)


def _is_near(plateau: Plateau | None, documented_cap: float, low: float, kind: str) -> bool:
    """Whether a plateau is that of a documented figure; without one, whether the figure is not below."""
    if plateau is None:
        return low <= (1 + _NEAR_ALONE) * documented_cap
    if kind == "vm" and not plateau.shared:
        return False
    most = _NEAR if plateau.shared and kind != "vm" else _NEAR_ALONE
    return -_NEAR_ALONE <= plateau.value / documented_cap - 1 <= most


def _same(value: float, most: float) -> bool:
    return value >= (1 - _SHARED) * most


def _names(some: Sequence[DocumentedPlace]) -> str:
    """Disks that have the same limits, by kind: P40 or P50, P1 to P20; or the first VM size of several."""
    every = [name for one in some for name in one.names]
    if some[0].kind == "vm":
        also = len(every) - 1
        return f"VM of the size {every[0]}" + (f" (or one of {also} more)" if also else "")
    by_kind: dict[str, list[str]] = {}
    for name in sorted(every, key=disk_kinds.tier_number):
        by_kind.setdefault(name[:1], []).append(name)
    parts = [
        f"{names[0]} to {names[-1]}" if len(names) > _MOST_NAMES else " or ".join(names)
        for names in by_kind.values()
    ]
    return " or ".join(parts) + (" while it bursts" if some[0].kind == "burst" else "")


def _a(names: str) -> str:
    """With the article, as the first letter is spoken: an E30, a P30."""
    return f"{'an' if names[:1] in 'EFS' else 'a'} {names}"
