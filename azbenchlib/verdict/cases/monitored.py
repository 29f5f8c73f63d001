"""The percentages of Azure Monitor that a case gives, by the limit that each is of.

They stand in `observed`, or in a part of it, of the case or of `job` that is called as below, under names
such as ``VM Uncached IOPS Consumed Percentage`` or ``vm_uncached_iops_consumed_pct``: the words count, not
how they are joined. ``VM Remote`` and ``VM Local`` are what REST calls the uncached and the cached path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_PARTS = ("azure_monitor", "monitor", "metrics", "azure_metrics")
_OWNERS = (
    ({"vm", "uncached"}, "vm_uncached"),
    ({"vm", "remote"}, "vm_uncached"),
    ({"vm", "cached"}, "vm_cached"),
    ({"vm", "local"}, "vm_cached"),
    ({"disk"}, "disk"),
)
_QUANTITIES = (({"iops", "io"}, "iops"), ({"bandwidth", "bw", "bps", "mbps", "throughput"}, "mbps"))
_WORD = re.compile(r"[a-z]+")


def consumed(case: Mapping[str, Any]) -> dict[str, float]:
    """Consumed percentages by base label, such as ``vm_uncached_iops``."""
    return _found(case, {"consumed"})


def credits_used(case: Mapping[str, Any]) -> dict[str, float]:
    """Percentages of used burst credits by base label."""
    return _found(case, {"credits", "used"})


def _found(case: Mapping[str, Any], needed: set[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in _figures(case):
        words = set(_WORD.findall(name.lower()))
        owner = next((stem for some, stem in _OWNERS if some <= words), None)
        quantity = next((unit for some, unit in _QUANTITIES if some & words), None)
        if needed <= words and owner and quantity:
            label = f"{owner}_{quantity}"
            found[label] = max(float(value), found.get(label, 0.0))
    return found


def _figures(case: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    places = [case.get("observed"), case, case.get("job")]
    for place in filter(None, places):
        inner = [place.get(name) for name in _PARTS]
        for part in (*((place,) if place is places[0] else ()), *inner):
            if isinstance(part, Mapping):
                yield from (
                    (name, value)
                    for name, value in part.items()
                    if isinstance(value, int | float) and not isinstance(value, bool)
                )
