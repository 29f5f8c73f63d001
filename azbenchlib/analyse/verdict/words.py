"""A verdict in words, by its probability."""

from __future__ import annotations

from collections.abc import Sequence

BOUND, PROBABLY = 0.95, 0.8

_OWNERS = {
    "disk": "the disk",
    "vm_uncached": "the VM's uncached",
    "vm_cached": "the VM's cached",
    "temp": "the temp disk",
    "nvme": "the NVMe disk",
}
_OTHERS = {
    "latency_qd": "latency at this queue depth",
    "host_cpu": "the CPU of the host that measures",
    "page_cache": "the page cache",
    "cache_exhaustion": "the host cache, once it is full",
    "workload_demand": "what the workload asks for",
    "above_documented_limit": "a limit above the documented one",
    "unknown": "an unknown cause",
}


def name(label: str) -> str:
    """A label in words: ``vm_uncached_burst_mbps`` -> the VM's uncached burst MB/s limit."""
    if label in _OTHERS:
        return _OTHERS[label]
    owner, _, quantity = label.rpartition("_")
    burst = owner.endswith("_burst")
    whose = _OWNERS[owner.removesuffix("_burst")]
    possessive = whose if whose.endswith("uncached") or whose.endswith("cached") else f"{whose}'s"
    return f"{possessive} {'burst ' if burst else ''}{'IOPS' if quantity == 'iops' else 'MB/s'} limit"


def names(labels: Sequence[str]) -> str:
    """Several labels in words, as one thing."""
    found = [name(label) for label in labels]
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]} at once"


def words(binding: Sequence[str], probability: float, runner_up: str | None, rerun: str | None) -> str:
    """The verdict in one sentence.

    Parameters
    ----------
    binding : sequence of str
        The labels at the top; several tie.
    probability : float
        Of all of them.
    runner_up : str, optional
    rerun : str, optional
        What to run to settle it, as the end of a sentence.
    """
    if probability >= BOUND:
        return _sure(binding)
    if probability >= PROBABLY:
        return f"Probably {_lower(_sure(binding))}"
    rather = f" and {name(runner_up)}" if runner_up else ""
    settle = f": {rerun}" if rerun else ""
    return f"Cannot tell between {names(binding)}{rather}{settle}"


def _sure(binding: Sequence[str]) -> str:
    if binding[0] == "unknown":
        return "No documented limit explains the rate"
    if binding[0] == "above_documented_limit":
        return "Above the documented limit"
    return f"Bound by {names(binding)}"


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
