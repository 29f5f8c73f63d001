"""The percentages of Azure Monitor that a case gives, by the limit that each is of.

They stand in `observed`, or beside it in a part that is called as below, under names such as ``VM Uncached
IOPS Consumed Percentage`` or ``vm_uncached_iops_consumed_pct``: the words count, not how they are joined or
nested. ``VM Remote`` and ``VM Local`` are what REST calls the uncached and the cached path.
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
_PERCENT, _CREDITS = {"consumed", "pct", "percent", "percentage"}, {"credit", "credits"}
_WORD = re.compile(r"[a-z]+")


def consumed(case: Mapping[str, Any]) -> dict[str, float]:
    """Consumed percentages by base label, such as ``vm_uncached_iops``."""
    return _found(case, of_credits=False)


def credits_used(case: Mapping[str, Any]) -> dict[str, float]:
    """Percentages of used burst credits by base label."""
    return _found(case, of_credits=True)


def _found(case: Mapping[str, Any], of_credits: bool) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in _figures(case):
        words = set(_WORD.findall(name.lower()))
        owner = next((stem for some, stem in _OWNERS if some <= words), None)
        quantity = next((unit for some, unit in _QUANTITIES if some & words), None)
        if words & _PERCENT and bool(words & _CREDITS) == of_credits and owner and quantity:
            label = f"{owner}_{quantity}"
            found[label] = max(value, found.get(label, 0.0))
    return found


def _figures(case: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    yield from _flat("", case.get("observed"))
    for place in (case, case.get("job") or {}):
        for name in _PARTS:
            yield from _flat("", place.get(name))


def _flat(above: str, part: Any) -> Iterator[tuple[str, float]]:
    """The numbers of a part and of the parts in it, with the names of all that they are in."""
    if isinstance(part, Mapping):
        for name, value in part.items():
            yield from _flat(f"{above} {name}", value)
    elif isinstance(part, int | float) and not isinstance(part, bool):
        yield above, float(part)
