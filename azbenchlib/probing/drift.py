"""Where a disk differs from what documents say of it, and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from azbenchlib.model.documented_setups import DocumentedPlace
from azbenchlib.probing.portrait import Knowledge

CAPS_OF = {
    "read_iops": "iops",
    "write_iops": "iops",
    "read_bytes_per_s": "bytes_per_s",
    "write_bytes_per_s": "bytes_per_s",
}


@dataclass(frozen=True, kw_only=True)
class Cap95:
    """A cap that was measured: its key, such as ``read_iops``, value and 95 % interval in base units."""

    key: str
    state: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Drift:
    """One documented limit and what was measured of it, with the 95 % interval, in base units."""

    name: str
    kind: str
    key: str
    documented: float
    measured: float
    low: float
    high: float

    @property
    def ratio(self) -> float:
        """Measured ÷ documented."""
        return self.measured / self.documented


def drifts(caps: Iterable[Cap95], name: str, limits: DocumentedPlace) -> list[Drift]:
    """The caps that are known, each beside what documents say of the disk or VM size of that name."""
    return [
        Drift(
            name=name,
            kind=limits.kind,
            key=cap.key,
            documented=getattr(limits, CAPS_OF[cap.key]),
            measured=cap.value,
            low=cap.low,
            high=cap.high,
        )
        for cap in caps
        if cap.key in CAPS_OF and cap.state == Knowledge.KNOWN and cap.value and cap.low and cap.high
    ]


def nearest(caps: Sequence[Cap95], alike: Sequence[DocumentedPlace]) -> DocumentedPlace:
    """Of several limits of one name, as of a disk with and without credits, those that are nearest."""

    def away(limits: DocumentedPlace) -> float:
        return sum(abs(math.log(one.ratio)) for one in drifts(caps, "", limits))

    return min(alike, key=away)
