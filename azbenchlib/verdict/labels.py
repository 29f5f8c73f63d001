"""What a verdict may name as binding: a documented limit, or another cause."""

from __future__ import annotations

from enum import StrEnum


class Label(StrEnum):
    """The name of what binds. In JSON, "mbps" is 10⁶ B/s.

    Attributes
    ----------
    scope : str or None
        What a limit belongs to: disk, vm_uncached, vm_cached, temp or nvme. None: no documented limit.
    quantity : str or None
        What it limits: iops or mbps.
    burst : bool
        Whether it holds only as long as there are burst credits.
    """

    scope: str | None
    quantity: str | None
    burst: bool

    def __new__(
        cls, name: str, scope: str | None = None, quantity: str | None = None, burst: bool = False
    ) -> Label:
        """A label with what it says."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.scope, member.quantity, member.burst = scope, quantity, burst
        return member

    DISK_IOPS = "disk_iops", "disk", "iops"
    DISK_MBPS = "disk_mbps", "disk", "mbps"
    DISK_BURST_IOPS = "disk_burst_iops", "disk", "iops", True
    DISK_BURST_MBPS = "disk_burst_mbps", "disk", "mbps", True
    VM_UNCACHED_IOPS = "vm_uncached_iops", "vm_uncached", "iops"
    VM_UNCACHED_MBPS = "vm_uncached_mbps", "vm_uncached", "mbps"
    VM_UNCACHED_BURST_IOPS = "vm_uncached_burst_iops", "vm_uncached", "iops", True
    VM_UNCACHED_BURST_MBPS = "vm_uncached_burst_mbps", "vm_uncached", "mbps", True
    VM_CACHED_IOPS = "vm_cached_iops", "vm_cached", "iops"
    VM_CACHED_MBPS = "vm_cached_mbps", "vm_cached", "mbps"
    VM_CACHED_BURST_IOPS = "vm_cached_burst_iops", "vm_cached", "iops", True
    VM_CACHED_BURST_MBPS = "vm_cached_burst_mbps", "vm_cached", "mbps", True
    TEMP_IOPS = "temp_iops", "temp", "iops"
    TEMP_MBPS = "temp_mbps", "temp", "mbps"
    NVME_IOPS = "nvme_iops", "nvme", "iops"
    NVME_MBPS = "nvme_mbps", "nvme", "mbps"
    LATENCY_QD = "latency_qd"
    HOST_CPU = "host_cpu"
    PAGE_CACHE = "page_cache"
    CACHE_EXHAUSTION = "cache_exhaustion"
    WORKLOAD_DEMAND = "workload_demand"
    ABOVE_DOCUMENTED_LIMIT = "above_documented_limit"
    UNKNOWN = "unknown"

    @property
    def is_limit(self) -> bool:
        """Whether it is a documented limit, and not another cause."""
        return self.scope is not None

    @property
    def above(self) -> Label:
        """The burst limit that goes with a base limit."""
        return next(label for label in Label if label.burst and label.base == self)

    @property
    def base(self) -> Label:
        """The limit that holds when burst credits are spent; itself where it is no burst limit."""
        if not self.burst:
            return self
        return next(
            label
            for label in Label
            if (label.scope, label.quantity) == (self.scope, self.quantity) and not label.burst
        )
