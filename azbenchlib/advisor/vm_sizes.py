"""VM sizes as arrays: what each of them carries of a demand."""

import fnmatch
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from azbenchlib.advisor.demand import Demand, Need, Peak
from azbenchlib.azure.disk_kinds import NVME, DiskKind
from azbenchlib.model.credits import BURST_S
from azbenchlib.model.io_path import QUANTITIES
from azbenchlib.model.setup import VM, Cap

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_PREFIX = "standard_"
# Family, vCPUs, features: a p among these is an Arm CPU. Source: azure-compute-docs vm-naming-conventions.md.
_NAME = re.compile(r"^standard_[A-Z]+\d+(?:-\d+)?(?P<features>[a-z]*)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class VmSize:
    """A VM size with what decides whether it suits.

    Parameters
    ----------
    vm : VM
        With its limits. What is not documented is not taken for enough.
    vcpus : int, optional
        That the guest sees.
    memory_bytes : float, optional
    premium_io : bool
        Whether it takes Premium SSD, Premium SSD v2 and Ultra Disks, as far as is known.
    caching : bool
        Whether data disks can be cached, as far as is known.
    temp_bytes, nvme_bytes : float, optional
        Size of the temp disk, and of each local NVMe disk.
    """

    vm: VM
    vcpus: int | None = None
    memory_bytes: float | None = None
    premium_io: bool = True
    caching: bool = False
    temp_bytes: float | None = None
    nvme_bytes: float | None = None

    @property
    def size(self) -> str:
        """The name."""
        return self.vm.size or ""

    @property
    def architecture(self) -> str:
        """``x64`` or ``arm64``, by the name."""
        match = _NAME.match(self.size)
        return "arm64" if match and "p" in match["features"].lower() else "x64"


@dataclass(frozen=True)
class VmLimits:
    """One limit of every VM size, shape (sizes,): base, burst (at least the base) and, NaN where they have
    none of their own, writes. NaN in `base`: not documented.
    """

    base: Floats
    burst: Floats
    write: Floats

    def of(self, need: Need) -> tuple[Floats, Floats]:
        """Base and burst for a mix of reads and writes."""
        own = np.isfinite(self.write) | (np.isinf(self.write) & (need.write_share > 0))
        writes = np.where(np.isinf(self.write), np.nan, self.write)  # infinite: not documented
        with np.errstate(divide="ignore", invalid="ignore"):
            base, burst = (
                np.where(own, 1 / ((1 - need.write_share) / reads + need.write_share / writes), reads)
                for reads in (self.base, self.burst)
            )
        return base, burst


class VmSizes:
    """VM sizes, in the order in which they came."""

    def __init__(self, sizes: tuple[VmSize, ...]) -> None:
        self.sizes = sizes

    @cached_property
    def max_disks(self) -> Floats:
        """Data disks; 0 where the number is not documented."""
        return np.array([vm_size.vm.max_data_disks or 0 for vm_size in self.sizes], dtype=float)

    def allowed(self, kind: DiskKind, cached: bool) -> Bools:
        """Whether it takes disks of this kind."""
        return (self._flags["premium_io"] | (not kind.needs_premium_io)) & (
            self._flags["caching"] | (not cached)
        )

    def suits(self, demand: Demand) -> Bools:
        """Whether it is one of those that the demand allows, whatever its disks."""
        vcpus, memory = demand.vcpus or 0, demand.memory_bytes or 0
        found = self._like(demand.vm)
        if vcpus:
            found &= self._sizes["vcpus"] >= vcpus
        if memory:
            found &= self._sizes["memory_bytes"] >= memory
        if demand.architecture != "any":
            found &= self._arm == (demand.architecture == "arm64")
        return found

    def named(self, pattern: str) -> list[VmSize]:
        """The sizes with a name, or names like a pattern, with or without ``Standard_``, in any case."""
        return [self.sizes[i] for i in np.flatnonzero(self._like(pattern))]

    def utilisation(self, kind: DiskKind, cached: bool, demand: Demand) -> Floats:
        """How many times of the tightest limit are wanted: 1 is all of it; infinite where none is
        documented.
        """
        remote = "uncached_v2" if kind.separate_vm_limits else "uncached"
        path = kind.key if kind.local else remote
        found = _utilisation(self._limits[path], demand.needs(cached), demand.peak)
        if cached:
            before = demand.needs(cached, remote=False)
            found = np.maximum(found, _utilisation(self._limits["cached"], before, demand.peak))
        return found

    def local_bytes(self, kind: DiskKind) -> Floats:
        """Size of the temp disk, or of all local NVMe disks; 0 where there is none."""
        if kind is not NVME:
            return self._sizes["temp_bytes"]
        return self._sizes["nvme_bytes"] * np.array([vm_size.vm.nvme_count or 1 for vm_size in self.sizes])

    def _like(self, pattern: str) -> Bools:
        wanted = re.compile(fnmatch.translate(_bare(pattern))).match
        return np.array([wanted(name) is not None for name in self._names], dtype=bool)

    @cached_property
    def _names(self) -> list[str]:
        return [_bare(vm_size.size) for vm_size in self.sizes]

    @cached_property
    def _arm(self) -> Bools:
        return np.array([vm_size.architecture == "arm64" for vm_size in self.sizes], dtype=bool)

    @cached_property
    def _flags(self) -> Mapping[str, Bools]:
        names = ("premium_io", "caching")
        return {
            name: np.array([getattr(vm_size, name) for vm_size in self.sizes], dtype=bool) for name in names
        }

    @cached_property
    def _sizes(self) -> Mapping[str, Floats]:
        names = ("vcpus", "memory_bytes", "temp_bytes", "nvme_bytes")
        return {
            name: np.array([getattr(vm_size, name) or 0 for vm_size in self.sizes], dtype=float)
            for name in names
        }

    @cached_property
    def _limits(self) -> Mapping[str, Mapping[str, VmLimits]]:
        """By path and quantity."""
        found = {}
        for path in ("uncached", "uncached_v2", "cached", "temp", "nvme"):
            caps = [_cap(vm_size.vm, path) for vm_size in self.sizes]
            found[path] = {quantity: _arrays(caps, quantity) for quantity in QUANTITIES}
        return found


def utilisation(base: Floats, burst: Floats, need: Need, peak: Peak | None) -> Floats:
    """How many times of a limit are wanted; 1 is all of it.

    Parameters
    ----------
    base, burst : ndarray
        Per second; `burst` is the base where there is none.
    need : Need
    peak : Peak, optional
        When the need is at its peak. Bursting has to last as long, on credits that have come back in the
        rest of the time (:mod:`azbenchlib.model.credits`).
    """
    plain = need.peak / base
    if peak is None or need.peak <= need.steady:
        return plain
    spent = peak.seconds * (need.peak - base)
    gained = (peak.period_s - peak.seconds) * (base - need.steady)
    with np.errstate(divide="ignore", invalid="ignore"):
        credit = spent / ((burst - base) * BURST_S)
        refill = np.where(gained > 0, spent / gained, math.inf)
        bursting = np.maximum.reduce([need.peak / burst, need.steady / base, credit, refill])
    return np.where((plain > 1) & (burst > base), np.minimum(plain, bursting), plain)


def _utilisation(limits: Mapping[str, VmLimits], needs: Mapping[str, Need], peak: Peak | None) -> Floats:
    parts = [utilisation(*limits[quantity].of(need), need, peak) for quantity, need in needs.items()]
    worst: Floats = np.nan_to_num(np.maximum(*parts), nan=math.inf, posinf=math.inf)
    return worst


def _cap(vm: VM, path: str) -> Cap:
    if path == "uncached_v2":
        return vm.uncached_v2 or vm.uncached
    if path == "temp":
        return vm.temp or vm.cached
    found: Cap = getattr(vm, path)
    return found


def _arrays(caps: list[Cap], quantity: str) -> VmLimits:
    def column(values: Iterator[float | None]) -> Floats:
        return np.array([math.nan if value is None else value for value in values], dtype=float)

    return VmLimits(
        column(getattr(cap, quantity) for cap in caps),
        column(cap.limit(quantity, bursting=True) for cap in caps),
        column(getattr(cap, f"write_{quantity}") for cap in caps),
    )


def _bare(name: str) -> str:
    return name.lower().removeprefix(_PREFIX)
