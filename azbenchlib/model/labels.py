"""What may bind a run: a documented limit, or another cause; each with its name for people."""

from __future__ import annotations

from enum import StrEnum

_SCOPES = {
    "disk": "disk",
    "vm_uncached": "VM uncached",
    "vm_cached": "VM cached",
    "temp": "temp disk",
    "nvme": "NVMe disk",
}
UNITS = {"iops": "IOPS", "mbps": "MB/s"}
# Other causes: the article that they have in a sentence, and the name.
_CAUSES = {
    "latency_qd": ("", "latency at this queue depth"),
    "host_cpu": ("the ", "CPU of the host that measures"),
    "page_cache": ("the ", "page cache"),
    "cache_exhaustion": ("the ", "full host cache"),
    "workload_demand": ("", "what the workload asks for"),
    "above_documented_limit": ("a ", "limit above the documented one"),
    "unknown": ("an ", "unknown cause"),
}


class Label(StrEnum):
    """The name of what binds. In JSON, "mbps" is 10⁶ B/s.

    Its value is the form in JSON, in tables and in logs of the lab; people see `display_name`,
    and `phrase` in a sentence.

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

    @classmethod
    def of(cls, scope: str, quantity: str, burst: bool = False) -> Label:
        """Give the label of a limit."""
        return _LIMITS[scope, quantity, burst]

    @classmethod
    def named(cls, text: str) -> Label | None:
        """Give the label that is written so; None: there is no such label."""
        return _BY_VALUE.get(text)

    @property
    def is_limit(self) -> bool:
        """Whether it is a documented limit, and not another cause."""
        return self.scope is not None

    @property
    def above(self) -> Label:
        """The burst limit that goes with a base limit."""
        return _LIMITS[self.scope, self.quantity, True]

    @property
    def base(self) -> Label:
        """The limit that holds when burst credits are spent; itself where it is no burst limit."""
        return _LIMITS[self.scope, self.quantity, False] if self.burst else self

    @property
    def owner(self) -> str:
        """Whose limit it is and of which kind, without its unit: ``VM uncached burst``."""
        return f"{_SCOPES[self.scope or '']}{' burst' if self.burst else ''}"

    @property
    def display_name(self) -> str:
        """Its one name for people, as it stands alone: ``VM uncached burst MB/s``, ``page cache``."""
        return f"{self.owner} {self.unit}" if self.is_limit else _CAUSES[self.value][1]

    @property
    def unit(self) -> str:
        """The unit of its figures: IOPS or MB/s."""
        return UNITS[self.quantity or "iops"]

    def phrase(self, figure: str = "", *, on_demand: bool = False) -> str:
        """Name it in a sentence.

        Parameters
        ----------
        figure : str
            Of the limit, with its unit: ``the VM uncached limit of 768 MB/s``; without it ``the VM uncached
            MB/s limit``.
        on_demand : bool
            Whether a burst limit is one of on-demand bursting.
        """
        if not self.is_limit:
            return "".join(_CAUSES[self.value])
        owner = _SCOPES[self.scope or ""]
        bursting = f" {'on-demand ' if on_demand else ''}burst" if self.burst else ""
        return (
            f"the {owner}{bursting} limit of {figure}"
            if figure
            else f"the {owner}{bursting} {self.unit} limit"
        )


_LIMITS = {(label.scope, label.quantity, label.burst): label for label in Label if label.is_limit}
_BY_VALUE = {label.value: label for label in Label}
