"""VM sizes as arrays: what each of them carries of a demand."""

import fnmatch
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from azbenchlib.advisor.demands.demand import Demand, Need, Peak
from azbenchlib.advisor.offers.vm_choice import SizeName, VmChoice
from azbenchlib.azure.catalog.rows import Offer
from azbenchlib.azure.disk_kinds import NVME, ULTRA, DiskKind
from azbenchlib.core.name_forms import squeezed
from azbenchlib.core.units import GIB
from azbenchlib.model.credits import BURST_S
from azbenchlib.model.io_path import QUANTITIES
from azbenchlib.model.setup import VM, Cap

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_PREFIX = "standard_"
EVERY = "*"  # pattern of all names
# Of an ephemeral OS disk; source: azure-compute-docs ephemeral-os-disks.md@48af4dd8 (2025-10-08)
EPHEMERAL_BYTES = 2_040 * GIB
FULL = 1 + 1e-10  # of a limit, with the rounding of sums


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
        Whether data disks can be cached, up to a documented limit.
    caching_supported : bool, optional
        Whether data disks can be cached at all, as far as is known.
    temp_bytes, nvme_bytes : float, optional
        Size of the temp disk, and of each local NVMe disk.
    ephemeral_placements : tuple of {"cache", "temp", "nvme"}
        Where an ephemeral OS disk may lie; empty: nowhere, as far as is known.
    cpu : {"x64", "arm64"}, optional
        As the API states it.
    gpus : int, optional
    interface : tuple of str
        SCSI, NVMe or both; empty: not stated.
    ultra : bool, optional
        Whether it takes Ultra Disks, as far as is known; with `offer`, whether it does there.
    retires_on : str, optional
        ISO day from which Azure no longer runs it.
    pages_only : bool
        Whether documentation pages alone know it, and no list of what Azure offers.
    offer : Offer, optional
        What the region has of it. None: the region was not asked.
    gone : str
        Why it cannot be bought, in a sentence's end such as ``was retired on 2026-06-30``; empty: it can.
    """

    vm: VM
    vcpus: int | None = None
    memory_bytes: float | None = None
    premium_io: bool = True
    caching: bool = False
    caching_supported: bool | None = None
    temp_bytes: float | None = None
    nvme_bytes: float | None = None
    ephemeral_placements: tuple[str, ...] = ()
    cpu: str | None = None
    gpus: int | None = None
    interface: tuple[str, ...] = ()
    ultra: bool | None = None
    retires_on: str | None = None
    pages_only: bool = False
    offer: Offer | None = None
    gone: str = ""

    @property
    def larger_first(self) -> tuple[float, float, str]:
        """The order of sizes that cost the same: more vCPUs, then more memory, then by name."""
        return -(self.vcpus or 0), -(self.memory_bytes or 0.0), self.size

    @property
    def size(self) -> str:
        """The name."""
        return self.vm.size or ""

    def place_bytes(self, placement: str) -> float | None:
        """Size of the cache, the temp disk or one NVMe disk. None: there is none, or it is not known."""
        sizes = {"cache": self.vm.cache_bytes, "temp": self.temp_bytes, "nvme": self.nvme_bytes}
        return sizes[placement]

    @property
    def architecture(self) -> str:
        """``x64`` or ``arm64``; where it is not stated, by the name."""
        return self.cpu or ("arm64" if self.name.arm else "x64")

    @cached_property
    def name(self) -> SizeName:
        """What its name tells."""
        return SizeName.of(self.size)

    @property
    def current(self) -> bool:
        """Whether it is for servers, of a current generation, and without a day of retirement."""
        return self.name.current and not self.gpus and self.retires_on is None


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
        if not self._any_own:
            return self.base, self.burst
        own = np.isfinite(self.write) | (np.isinf(self.write) & (need.write_share > 0))
        writes = np.where(np.isinf(self.write), np.nan, self.write)  # infinite: not documented
        with np.errstate(divide="ignore", invalid="ignore"):
            base, burst = (
                np.where(own, 1 / ((1 - need.write_share) / reads + need.write_share / writes), reads)
                for reads in (self.base, self.burst)
            )
        return base, burst

    @cached_property
    def _any_own(self) -> bool:
        """Whether writes have limits of their own anywhere; those of managed disks have none."""
        return not np.isnan(self.write).all()


class VmSizes:
    """VM sizes, in the order in which they came."""

    def __init__(self, sizes: tuple[VmSize, ...]) -> None:
        self.sizes = sizes
        self._chosen: dict[tuple[str, VmChoice], Bools] = {}

    @cached_property
    def max_disks(self) -> Floats:
        """Data disks; 0 where the number is not documented."""
        return np.array([vm_size.vm.max_data_disks or 0 for vm_size in self.sizes], dtype=float)

    def allowed(self, kind: DiskKind, cached: bool) -> Bools:
        """Whether it takes disks of this kind. An Ultra Disk is refused only where the region says so."""
        found: Bools = self._flags["premium_io"] | (not kind.needs_premium_io)
        if cached:
            found = found & self._flags["caching"]
        return found & self._flags["may_ultra"] if kind is ULTRA else found

    def suits(self, demand: Demand) -> Bools:
        """Whether it is one of those that the demand allows, whatever its disks."""
        vcpus, memory = demand.vcpus or 0, demand.memory_bytes or 0
        found = self.chosen(demand.vm, demand.choice)
        if vcpus:
            found = found & (self._sizes["vcpus"] >= vcpus)
        if memory:
            found = found & (self._sizes["memory_bytes"] >= memory)
        if demand.memory_per_vcpu_bytes:
            least = demand.memory_per_vcpu_bytes * self._sizes["vcpus"]
            found = found & (least > 0) & (self._sizes["memory_bytes"] >= least)
        if demand.architecture != "any":
            found = found & (self._flags["arm"] == (demand.architecture == "arm64"))
        if demand.zone is not None:
            found = found & self._in_zone(demand.zone)
        return found

    def chosen(self, pattern: str, choice: VmChoice) -> Bools:
        """The sizes that can be bought, are like a pattern, and suit a choice.

        A condition of the choice that none of the sizes meets which a pattern names does not count: who
        writes Standard_B2ms wants a burstable size. It does count among all sizes, and families always do.
        """
        if (pattern, choice) not in self._chosen:
            self._chosen[pattern, choice] = self._choose(pattern, choice)
        return self._chosen[pattern, choice]

    def _choose(self, pattern: str, choice: VmChoice) -> Bools:
        found = self._like(pattern) & self._flags["sold"]
        for name in choice.conditions():
            suiting = self._families(choice.families) if name == "families" else self._flags[name]
            if name == "families" or pattern == EVERY or (found & suiting).any():
                found = found & suiting
        return found

    def _families(self, wanted: tuple[str, ...]) -> Bools:
        names = {family.upper() for family in wanted}
        return np.array([one.name.family in names for one in self.sizes], dtype=bool)

    def _in_zone(self, zone: str) -> Bools:
        """Whether it is offered in a zone, or the region was not asked."""
        return np.array([one.offer is None or zone in one.offer.zones for one in self.sizes], dtype=bool)

    def named(self, pattern: str) -> list[VmSize]:
        """The sizes with a name, in any spelling, or with names like a pattern, in any case."""
        return [self.sizes[i] for i in np.flatnonzero(self._like(pattern))]

    def utilisation(self, kind: DiskKind, cached: bool, demand: Demand, credits_count: bool = True) -> Floats:
        """How many times of the tightest limit are wanted: 1 is all of it; infinite where none is
        documented. Without `credits_count` as :func:`uncredited_utilisation`.
        """
        remote = "uncached_v2" if kind.separate_vm_limits else "uncached"
        path = kind.key if kind.local else remote
        found = _utilisation(self._limits[path], demand.needs(cached), demand.peak, credits_count)
        if cached:
            before = demand.needs(cached, remote=False)
            behind = _utilisation(self._limits["cached"], before, demand.peak, credits_count)
            found = np.maximum(found, behind)
        return found

    def shares(self, kind: DiskKind, cached: bool, demand: Demand) -> tuple[Floats, Floats]:
        """What a lasting load takes of each VM's uncached and cached limits: of IOPS and of bytes per second,
        shape (2, sizes) each; infinite where a limit is not documented, zero where it is not passed.
        """
        remote = self._shares("uncached_v2" if kind.separate_vm_limits else "uncached", demand.needs(cached))
        if not cached:
            return remote, np.zeros_like(remote)
        return remote, self._shares("cached", demand.needs(cached, remote=False))

    def ephemeral_shares(self, placement: str, demand: Demand) -> tuple[Floats, Bools]:
        """What an ephemeral OS disk takes of each VM's cached limit, as :meth:`shares` tells it, and which
        VMs may have it at a placement.
        """
        path = {"cache": "cached"}.get(placement, placement)
        many = [one.vm.nvme_count or 1 if placement == "nvme" else 1 for one in self.sizes]
        shares = self._shares(path, demand.needs(False)) * many  # one of the devices
        able = [
            placement in one.ephemeral_placements
            and min(one.place_bytes(placement) or 0, EPHEMERAL_BYTES) >= demand.size_bytes
            for one in self.sizes
        ]
        shared = [
            placement == "cache" or (placement == "temp" and one.vm.temp_shares_cache) for one in self.sizes
        ]
        return np.where(shared, shares, 0.0), np.array(able) & (np.max(shares, axis=0) <= FULL)

    def _shares(self, path: str, needs: Mapping[str, Need]) -> Floats:
        parts = [
            utilisation(*self._limits[path][name].of(needs[name]), needs[name], None)
            if needs[name].peak
            else np.zeros(len(self.sizes))
            for name in QUANTITIES
        ]
        return _undocumented_is_infinite(np.array(parts))

    def local_bytes(self, kind: DiskKind) -> Floats:
        """Size of the temp disk, or of all local NVMe disks; 0 where there is none."""
        if kind is not NVME:
            return self._sizes["temp_bytes"]
        return self._sizes["nvme_bytes"] * np.array([vm_size.vm.nvme_count or 1 for vm_size in self.sizes])

    def _like(self, pattern: str) -> Bools:
        like = re.compile(fnmatch.translate(_bare(pattern))).match
        found = np.array([like(name) is not None for name in self._names], dtype=bool)
        if found.any():
            return found
        letters = squeezed(pattern).removeprefix("standard")
        return np.array([squeezed(name) == letters for name in self._names], dtype=bool)

    @cached_property
    def _names(self) -> list[str]:
        return [_bare(vm_size.size) for vm_size in self.sizes]

    @cached_property
    def _flags(self) -> Mapping[str, Bools]:
        columns = {
            "premium_io": (one.premium_io for one in self.sizes),
            "caching": (one.caching for one in self.sizes),
            "arm": (one.architecture == "arm64" for one in self.sizes),
            "not_arm": (one.architecture != "arm64" for one in self.sizes),
            "not_burstable": (not one.name.burstable for one in self.sizes),
            "current": (one.current for one in self.sizes),
            "sold": (not one.gone for one in self.sizes),
            "may_ultra": (one.offer is None or one.ultra is not False for one in self.sizes),
        }
        return {name: np.fromiter(values, dtype=bool) for name, values in columns.items()}

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


def uncredited_utilisation(base: Floats, burst: Floats, need: Need) -> Floats:
    """The same without asking how long credits last: never more than all that is lacking; without a peak
    the same.
    """
    return np.maximum(need.peak / burst, need.steady / base)


def _utilisation(
    limits: Mapping[str, VmLimits], needs: Mapping[str, Need], peak: Peak | None, credits_count: bool
) -> Floats:
    parts = [
        utilisation(*limits[quantity].of(need), need, peak)
        if credits_count
        else uncredited_utilisation(*limits[quantity].of(need), need)
        for quantity, need in needs.items()
    ]
    return _undocumented_is_infinite(np.maximum(*parts))


def _undocumented_is_infinite(found: Floats) -> Floats:
    found[np.isnan(found)] = math.inf
    return found


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
