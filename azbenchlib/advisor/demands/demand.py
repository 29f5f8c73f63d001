"""What a workload needs of a VM and its disks, in numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from azbenchlib.advisor.offers.vm_choice import ANYTHING, VmChoice
from azbenchlib.azure import disk_kinds
from azbenchlib.azure.disk_kinds import IO_UNIT_BYTES, LATENCY_CLASSES, DiskKind
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, format_size
from azbenchlib.model.io_path import QUANTITIES

REDUNDANCIES = ("LRS", "ZRS")
ZONES = ("1", "2", "3")  # of a region; source: azure-docs reliability/availability-zones-overview.md
ARCHITECTURES = ("any", "x64", "arm64")
MOST_DISKS = 64  # of the largest VM sizes; source: resource-SKU API, MaxDataDiskCount
# Of an OS disk; source: azure-compute-docs managed-disks-overview.md@5db40702 (2025-04-01)
OS_DISK_BYTES = 4_095 * GIB
SMALL_BS, LARGE_BS = 4 * KIB, IO_UNIT_BYTES  # where only IOPS, or only MB/s are known
_EXACT = 1e-12


@dataclass(frozen=True)
class Peak:
    """More than the steady load, for `seconds` of every `period_s`; None: as in the steady load."""

    seconds: float
    period_s: float
    iops: float | None = None
    bytes_per_s: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.seconds < self.period_s < math.inf:
            raise InputError(
                f"a peak of {self.seconds:g} s in {self.period_s:g} s: it must be above 0 and below that"
            )
        given = [rate for rate in (self.iops, self.bytes_per_s) if rate is not None]
        if not given:
            raise InputError("a peak needs IOPS, MB/s or both")
        for rate in given:
            if not 0 < rate < math.inf:
                raise InputError(f"a peak's rate {rate} is not above 0")


@dataclass(frozen=True)
class Moment:
    """I/Os per second of one size."""

    iops: float
    bs_bytes: float

    @property
    def bytes_per_s(self) -> float:
        """Throughput."""
        return self.iops * self.bs_bytes


@dataclass(frozen=True)
class Need:
    """What has to pass one limit, headroom included: all the time, and in the peak (the same if there is
    none). `write_share` is that of the writes in it.
    """

    steady: float
    peak: float
    write_share: float


@dataclass(frozen=True, kw_only=True)
class Demand:
    """What is wanted. At least `iops` or `bytes_per_s`, and the size.

    Parameters
    ----------
    size_bytes : float
        Room for data.
    iops : float, optional
        I/Os per second of `bs_bytes` each. None: as many as `bytes_per_s` makes.
    bytes_per_s : float, optional
        None: what `iops` makes. More than that: it is wanted too, at another moment, in I/Os of 256 KiB.
    bs_bytes : float, optional
        None: 4 KiB; 256 KiB where no IOPS are given.
    read_share, cache_hit : float
        0 to 1: of the I/Os, and of the reads those that a host cache would serve.
    latency : {"any", "ssd", "premium", "submillisecond", "local"}
        None promised, below 10 ms for 99 % of the time, below 10 ms, below 1 ms, on the host.
    redundancy : {"LRS", "ZRS"}
        At least.
    persistent : bool
        Whether data must survive the VM's stop: not on local disks.
    headroom : float
        Every limit is at least so many times the rates, the peak's too.
    peak : Peak, optional
    vcpus, memory_bytes, memory_per_vcpu_bytes : float, optional
        At least.
    vm : str
        Name of a VM size, or a pattern such as ``Standard_E*s_v5``.
    architecture : {"any", "x64", "arm64"}
    is_os_disk : bool
        Whether it is the VM's OS disk: one disk, of a kind that may be one, which takes no place of a data
        disk; where it is not `persistent`, an ephemeral one on the host too. It may be without rates: any
        disk with room.
    os_disk : Demand, optional
        What the VM's OS disk needs beside this. None: the OS disk is not part of the answer.
    strictly_cheapest : bool
        Whether a stripe is recommended where fewer disks cost little more
        (:data:`azbenchlib.advisor.search.FEWER_DISKS_WITHIN`).

    Raises
    ------
    InputError
        For a value that is no such demand.
    """

    size_bytes: float
    iops: float | None = None
    bytes_per_s: float | None = None
    bs_bytes: float | None = None
    read_share: float = 0.7
    cache_hit: float = 0.0
    latency: str = "any"
    redundancy: str = "LRS"
    persistent: bool = True
    headroom: float = 1.2
    peak: Peak | None = None
    vcpus: float | None = None
    memory_bytes: float | None = None
    memory_per_vcpu_bytes: float | None = None
    vm: str = "*"
    architecture: str = "any"
    choice: VmChoice = ANYTHING
    most_disks: int = MOST_DISKS
    is_os_disk: bool = False
    os_disk: "Demand | None" = None
    strictly_cheapest: bool = False
    zone: str | None = None

    def __post_init__(self) -> None:
        self._check_choices()
        if self.is_os_disk:
            self._check_os_disk()
        elif not self.has_rates:
            raise InputError("a demand needs IOPS, MB/s or both")
        if self.peak and self.os_disk and self.os_disk.has_rates:
            raise InputError("a peak and rates of the OS disk have no answer together: leave out one")
        self._check_figures()

    def _check_figures(self) -> None:
        memory = ("memory_bytes", "memory_per_vcpu_bytes")
        for name in ("size_bytes", "iops", "bytes_per_s", "bs_bytes", "vcpus", *memory):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"{name} {value} is not above 0")
        for name in ("read_share", "cache_hit"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} {getattr(self, name)} is not between 0 and 1")
        if self.zone is not None and self.zone not in ZONES:
            raise InputError(f"zone '{self.zone}' is not one of: {', '.join(ZONES)}")
        if not 1 <= self.most_disks <= MOST_DISKS:
            raise InputError(f"most_disks {self.most_disks} is not between 1 and {MOST_DISKS}")
        if not 1 <= self.headroom < math.inf:
            raise InputError(
                f"headroom {self.headroom} is not 1 or more; 1.2 keeps a sixth of each limit free"
            )

    def _check_choices(self) -> None:
        for name, choices in (
            ("latency", LATENCY_CLASSES),
            ("redundancy", REDUNDANCIES),
            ("architecture", ARCHITECTURES),
        ):
            if getattr(self, name) not in choices:
                raise InputError(f"{name} '{getattr(self, name)}' is not one of: {', '.join(choices)}")

    def _check_os_disk(self) -> None:
        if self.most_disks != 1:
            raise InputError(f"most_disks {self.most_disks}: a VM has 1 OS disk")
        if self.size_bytes > OS_DISK_BYTES:
            stated, most = format_size(self.size_bytes), f"{OS_DISK_BYTES // GIB} GiB"
            raise InputError(f"size {stated}: an OS disk has at most {most}")
        is_billed_by_use = any(kind.billing and kind.billing.operations_tier for kind in self.kinds)
        if is_billed_by_use and not self.has_rates:
            raise InputError("the I/Os of Standard disks are billed: state the IOPS of the OS disk too")

    @property
    def has_rates(self) -> bool:
        """Whether IOPS or bytes per second are stated."""
        return self.iops is not None or self.bytes_per_s is not None

    @property
    def block(self) -> float:
        """Bytes of an I/O."""
        return self.bs_bytes or (SMALL_BS if self.iops else LARGE_BS)

    @property
    def small(self) -> bool:
        """Whether its I/Os are below 256 KiB: what a rotating disk is slow at."""
        return self.block < LARGE_BS

    @property
    def kinds(self) -> tuple[DiskKind, ...]:
        """The kinds of disks that it allows, the fastest first."""
        allowed = [kind for kind in disk_kinds.kinds() if kind.serves(self.latency)]
        if self.persistent or self.redundancy == "ZRS":
            allowed = [kind for kind in allowed if not kind.local]
        if self.is_os_disk:
            allowed = [kind for kind in allowed if not (kind.local or kind.no_os_source)]
        redundant = (kind for kind in allowed if self.redundancy in ("LRS", *kind.redundancies))
        return tuple(sorted(redundant, key=lambda kind: LATENCY_CLASSES.index(kind.latency_class)))

    @property
    def steady(self) -> tuple[float, float]:
        """IOPS and bytes per second, each made from the other where it is not given."""
        iops = self.iops or (self.bytes_per_s or 0) / self.block
        return iops, max(self.bytes_per_s or 0, iops * self.block)

    @property
    def highest(self) -> tuple[float, float]:
        """The same in the peak."""
        iops, size = self.steady
        if self.peak is None:
            return iops, size
        iops = max(iops, self.peak.iops or 0)
        return iops, max(size, self.peak.bytes_per_s or 0, iops * self.block)

    def moments(self, peak: bool = False) -> tuple[Moment, ...]:
        """What has to be delivered, each alone: the IOPS, and the MB/s where those do not make them."""
        iops, size = self.highest if peak else self.steady
        small = Moment(iops, self.block)
        if size <= small.bytes_per_s * (1 + _EXACT):
            return (small,)
        return small, Moment(size / LARGE_BS, LARGE_BS)

    @property
    def duty(self) -> float:
        """Share of the time in which the load is at its peak."""
        return self.peak.seconds / self.peak.period_s if self.peak else 0.0

    @property
    def mean(self) -> tuple[float, float]:
        """IOPS and bytes per second on average."""
        (iops, size), (most_iops, most) = self.steady, self.highest
        return iops + (most_iops - iops) * self.duty, size + (most - size) * self.duty

    def behind_cache(self, cached: bool) -> float:
        """Share of the I/Os that a host cache lets through to the disks: misses and writes."""
        return 1 - self.read_share * self.cache_hit if cached else 1.0

    def needs(self, cached: bool, remote: bool = True, unit: float | None = None) -> Mapping[str, Need]:
        """What passes a limit, by ``iops`` and ``bytes_per_s``.

        Parameters
        ----------
        cached : bool
            Whether there is a host cache.
        remote : bool
            Whether the limit is behind the cache: hits do not come there.
        unit : float, optional
            Bytes up to which an I/O counts as one. None: any counts as one.
        """
        key = (cached and remote, unit)
        if key not in self._needs:
            self._needs[key] = self._counted(*key)
        return self._needs[key]

    @cached_property
    def _needs(self) -> dict[tuple[bool, float | None], Mapping[str, Need]]:
        """What was asked for before: every disk that is priced asks for the same."""
        return {}

    def _counted(self, cached: bool, unit: float | None) -> Mapping[str, Need]:
        share = self.behind_cache(cached)
        found = {}
        for quantity in QUANTITIES:
            steady, peak = (
                max(_amount(moment, quantity, unit) for moment in self.moments(at_peak)) * share
                for at_peak in (False, True)
            )
            mix = (1 - self.read_share) / share if share else 0.0
            found[quantity] = Need(steady * self.headroom, peak * self.headroom, mix)
        return found

    def times(self, factor: float) -> "Demand":
        """The same with so many times the rates, those of the peak too."""

        def scaled(value: float | None) -> float | None:
            return None if value is None else value * factor

        peak = self.peak and replace(
            self.peak, iops=scaled(self.peak.iops), bytes_per_s=scaled(self.peak.bytes_per_s)
        )
        return replace(self, iops=scaled(self.iops), bytes_per_s=scaled(self.bytes_per_s), peak=peak)

    def without_peak(self) -> "Demand":
        """The same with the peak all the time."""
        iops, size = self.highest
        return replace(self, iops=iops, bytes_per_s=size, bs_bytes=self.block, peak=None)


def _amount(moment: Moment, quantity: str, unit: float | None) -> float:
    if quantity == "bytes_per_s":
        return moment.bytes_per_s
    return moment.iops * (max(1, math.ceil(moment.bs_bytes / unit)) if unit else 1)
