"""Hidden setups: arrays with one entry a setup, drawn from wider ranges than a verdict may assume.

Measured: caps lie at 1.00 to 1.03 times the documented figure, and at up to 1.12 in short runs. Drawn:
0.98 to 1.12. Measured: the buckets refill about every 50 ms. Drawn: 30 to 80 ms.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
RESOURCES = ("disk_iops", "disk_mbps", "vm_uncached_iops", "vm_uncached_mbps", "local_iops", "local_mbps")
UNLIMITED = 1e18  # finite, so that 0 × it is 0
PATHS = ("remote", "read_only", "read_write", "temp", "nvme", "ephemeral")
KIB, MB, GIB = 1024, 1e6, 1024**3
COLD = 0.3  # of buffered workloads
BURST_S = 1800  # a full bucket lasts that long at the whole burst
UNIT = 256 * KIB  # Premium and Standard SSD count larger I/Os as several


@dataclass(frozen=True)
class Hidden:
    """Setups and workloads; every array has shape (n,), those of limits (n, 6) in the order of RESOURCES.

    Limits are per second, in I/Os or bytes; times in s. `nominal` and `nominal_burst` are documented (NaN:
    not), `base` and `burst` what really holds. `credits` is the share of the bucket that is full. `merged`
    is how many I/Os the device does for one of the workload. A `synchronous` submission lets each job have
    one I/O outstanding. The rate rises over `start_s`, unless `ramp_s` went by before it was measured.
    Documented NVMe limits are those of all `devices`, of which `devices_used` were driven. `monitor_off` is
    what Azure Monitor sees of a limit that is used. What `hides_…` is not told to the verdict: host caching,
    number of devices, VM, figures of the disk, and whether the VM bursts.
    """

    path: npt.NDArray[np.int64]
    nominal: Array
    nominal_burst: Array
    base: Array
    burst: Array
    credits: Array
    tick_s: Array
    latency_hit_s: Array
    latency_disk_s: Array
    sigma: Array
    drift: Array
    crowding: Array
    bs_bytes: Array
    bs_write_bytes: Array
    read_share: Array
    queue_depth: Array
    numjobs: Array
    runtime_s: Array
    rate_iops: Array
    think_s: Array
    cpu_s: Array
    plateau_iops: Array
    hit: Array
    cache_bytes: Array
    working_set_bytes: Array
    ram_bytes: Array
    page_hit: Array
    direct: npt.NDArray[np.bool_]
    counted_in_units: npt.NDArray[np.bool_]
    count: npt.NDArray[np.int64]
    stale: npt.NDArray[np.bool_]
    merged: Array
    synchronous: npt.NDArray[np.bool_]
    start_s: Array
    ramp_s: Array
    devices: npt.NDArray[np.int64]
    devices_used: npt.NDArray[np.int64]
    monitor_off: Array
    hides_caching: npt.NDArray[np.bool_]
    hides_devices: npt.NDArray[np.bool_]
    hides_vm: npt.NDArray[np.bool_]
    hides_figures: npt.NDArray[np.bool_]
    hides_burst: npt.NDArray[np.bool_]
    knows_unloaded: npt.NDArray[np.bool_]
    knows_cpu: npt.NDArray[np.bool_]
    knows_mean: npt.NDArray[np.bool_]
    knows_samples: npt.NDArray[np.bool_]
    knows_hit: npt.NDArray[np.bool_]
    knows_slat: npt.NDArray[np.bool_]
    knows_device: npt.NDArray[np.bool_]
    knows_monitor: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.path)

    def take(self, index: npt.NDArray[np.int64]) -> Hidden:
        """These setups only."""
        return Hidden(**{part.name: getattr(self, part.name)[index] for part in fields(self)})

    @property
    def remote(self) -> npt.NDArray[np.bool_]:
        """Whether a managed disk is behind it."""
        return self.path <= 2

    def wants(self, hit: Array | float, destaged: npt.NDArray[np.bool_] | bool) -> Array:
        """What one I/O takes of each resource, shape (n, 6).

        A read that the host cache serves, and a write into a ReadWrite cache that is not full, leave the
        disk and the VM's uncached limit alone; what a guest's page cache serves takes nothing.
        """
        reads, writes = self.read_share, 1 - self.read_share
        far_reads = np.where(self.path == 0, reads, reads * (1 - hit)) * self.remote
        lazy = (self.path == 2) & ~np.asarray(destaged)
        far_writes = np.where(lazy, 0.0, writes) * self.remote
        near = (self.path != 0).astype(float)
        units = [
            self.merged * np.where(self.counted_in_units, np.ceil(size / self.merged / UNIT), 1.0)
            for size in (self.bs_bytes, self.bs_write_bytes)
        ]
        far_bytes = far_reads * self.bs_bytes + far_writes * self.bs_write_bytes
        all_bytes = reads * self.bs_bytes + writes * self.bs_write_bytes
        taken = [
            far_reads * units[0] + far_writes * units[1],
            far_bytes,
            (far_reads + far_writes) * self.merged,
            far_bytes,
            near * self.merged,
            near * all_bytes,
        ]
        return np.stack(taken, axis=1) * (1 - self.page_hit)[:, None]

    def latency(self, destaged: npt.NDArray[np.bool_] | bool, queue_depth: Array | float) -> Array:
        """Mean seconds of one I/O without any throttle, at a queue depth."""
        far_reads = np.where(self.path == 0, 1.0, 1 - self.hit) * self.remote
        far_writes = np.where((self.path == 2) & ~np.asarray(destaged), 0.0, 1.0) * self.remote
        far = self.read_share * far_reads + (1 - self.read_share) * far_writes
        storage = far * self.latency_disk_s + (1 - far) * self.latency_hit_s
        mixed = self.page_hit * self.memory_s + (1 - self.page_hit) * storage
        return mixed * (1 + self.crowding * np.log2(np.maximum(queue_depth, 1)) / 10)

    @property
    def memory_s(self) -> Array:
        """Seconds of one I/O that the guest's page cache serves."""
        return 1e-6 + self.mean_bytes / 6e9

    @property
    def depth(self) -> Array:
        """I/Os that are outstanding at once."""
        return np.where(self.synchronous, self.numjobs, self.queue_depth)

    @property
    def hides(self) -> npt.NDArray[np.bool_]:
        """Whether the verdict is not told all of the setup."""
        told_less = self.hides_caching | self.hides_devices | self.hides_vm
        return told_less | self.hides_figures | self.hides_burst

    @property
    def mean_bytes(self) -> Array:
        """Bytes of one I/O."""
        return self.read_share * self.bs_bytes + (1 - self.read_share) * self.bs_write_bytes


def draw(n: int, rng: np.random.Generator) -> Hidden:
    """So many random setups and workloads."""
    path = rng.choice(len(PATHS), n, p=[0.4, 0.13, 0.12, 0.15, 0.12, 0.08])
    bs = 2.0 ** rng.integers(9, 21, n)
    read_share = rng.choice([0.0, 1.0, np.nan], n, p=[0.35, 0.4, 0.25])
    read_share = np.where(np.isnan(read_share), rng.random(n), read_share)
    depth = np.maximum(1, np.rint(2 ** rng.uniform(0, 10, n)))
    numjobs = np.minimum(2.0 ** rng.integers(0, 5, n), 2 ** np.floor(np.log2(depth)))
    depth = np.rint(depth / numjobs) * numjobs
    cache, working, hit = _caching(n, rng)
    far = _log_uniform(rng, 0.6e-3, 6e-3, n) + bs / 400e6
    near = _log_uniform(rng, 30e-6, 1000e-6, n) + bs / 2e9
    direct = rng.random(n) > 0.05
    is_cold = rng.random(n) < COLD  # the page cache was dropped before, or its data is written through
    ram = _log_uniform(rng, 4 * GIB, 256 * GIB, n)
    working = np.where(direct, working, ram * _log_uniform(rng, 0.02, 8, n))
    setups = Hidden(
        path=path,
        tick_s=rng.uniform(0.03, 0.08, n),
        latency_hit_s=near,
        latency_disk_s=far,
        sigma=rng.uniform(0.1, 0.6, n),
        drift=rng.uniform(0.01, 0.08, n),
        crowding=rng.uniform(0, 0.12, n),
        bs_bytes=bs,
        bs_write_bytes=np.where(rng.random(n) < 0.1, 2.0 ** rng.integers(9, 21, n), bs),
        read_share=read_share,
        queue_depth=depth,
        numjobs=numjobs,
        runtime_s=_log_uniform(rng, 10, 1800, n),
        rate_iops=np.full(n, UNLIMITED),
        think_s=np.where(rng.random(n) < 0.05, _log_uniform(rng, 1e-4, 2e-2, n), 0.0),
        cpu_s=_log_uniform(rng, 1.5e-6, 40e-6, n),
        plateau_iops=np.full(n, UNLIMITED),
        hit=np.where((path == 1) | (path == 2), hit, 0.0),
        cache_bytes=cache,
        working_set_bytes=working,
        ram_bytes=ram,
        page_hit=np.where(direct | is_cold, 0.0, np.clip(0.8 * ram / working, 0, 1)),
        direct=direct,
        **_limits(path, n, rng),
        **_open_facts(path, n, rng),
        **_submission(bs, depth > numjobs, n, rng),
        **{f"knows_{what}": rng.random(n) < p for what, p in _KNOWN.items()},
    )
    return _with_less_told(_self_limited(setups, rng), rng)


_KNOWN = {"unloaded": 0.6, "cpu": 0.8, "mean": 0.9, "samples": 0.5, "hit": 0.6}
_KNOWN |= {"slat": 0.7, "device": 0.8, "monitor": 0.1}


def fixed(n: int = 1, **values: object) -> Hidden:
    """Setups with these values and, for the rest, those of a quiet remote disk that nothing limits."""
    limits = {"base": UNLIMITED, "burst": UNLIMITED, "nominal": np.nan, "nominal_burst": np.nan}
    plain: dict[str, object] = limits | {"credits": 1.0, "path": 0, "tick_s": 0.05, "sigma": 0.1}
    plain |= {"latency_hit_s": 1e-4, "latency_disk_s": 2e-3, "drift": 0.02, "crowding": 0.0}
    plain |= {"bs_bytes": 4096.0, "bs_write_bytes": 4096.0, "read_share": 1.0, "queue_depth": 1.0}
    plain |= {"numjobs": 1.0, "runtime_s": 60.0, "rate_iops": UNLIMITED, "think_s": 0.0, "cpu_s": 2e-6}
    plain |= {"plateau_iops": UNLIMITED, "hit": 0.0, "cache_bytes": 100.0 * GIB, "page_hit": 0.0}
    plain |= {"working_set_bytes": 10.0 * GIB, "ram_bytes": 16.0 * GIB, "direct": True, "count": 1}
    plain |= {"counted_in_units": True, "stale": False, "merged": 1.0, "synchronous": False, "start_s": 0.0}
    plain |= {"ramp_s": 0.0, "devices": 1, "devices_used": 1, "monitor_off": 1.0}
    plain |= {"hides_caching": False, "hides_devices": False, "hides_vm": False}
    plain |= {"hides_figures": False, "hides_burst": False}
    plain |= {f"knows_{what}": True for what in _KNOWN}
    plain |= values
    wide = {"nominal", "nominal_burst", "base", "burst", "credits"}
    return Hidden(
        **{
            name: np.array(np.broadcast_to(value, (n, 6) if name in wide else (n,)))
            for name, value in plain.items()
        }
    )


def _open_facts(
    path: npt.NDArray[np.int64], n: int, rng: np.random.Generator
) -> dict[str, npt.NDArray[np.generic]]:
    """How many NVMe devices there are and were driven, and what the verdict is not told."""
    devices = np.where(path == 4, rng.choice([1, 2, 4, 8], n, p=[0.4, 0.3, 0.2, 0.1]), 1)
    used = np.where(rng.random(n) < 0.5, devices, 1)
    silent = np.array([0.12, 0.12, 0.04, 0.0, 0.0, 0.0])[path]  # who caches writes mostly says so
    return {
        "devices": devices,
        "devices_used": used,
        "hides_caching": rng.random(n) < silent,
        "hides_devices": (path == 4) & (devices > 1) & (rng.random(n) < 0.5),
        "hides_vm": rng.random(n) < 0.05,
        "hides_figures": np.zeros(n, bool),
        "hides_burst": np.zeros(n, bool),
        "monitor_off": np.where(rng.random(n) < 0.15, rng.uniform(0.6, 0.95, n), 1.0),
    }


def _submission(
    bs: Array, deep: npt.NDArray[np.bool_], n: int, rng: np.random.Generator
) -> dict[str, npt.NDArray[np.generic]]:
    """What the kernel makes of the I/Os, whether it takes them one by one, and how a run starts."""
    kind = rng.random(n)
    joins, splits = (kind < 0.03) & (bs <= 64 * KIB), (kind > 0.97) & (bs >= 128 * KIB)
    merged = np.where(
        joins, _log_uniform(rng, 0.03, 0.7, n), np.where(splits, rng.choice([2.0, 4.0], n), 1.0)
    )
    ramps = rng.random(n)
    return {
        "merged": merged,
        "synchronous": deep & (rng.random(n) < 0.04),
        "start_s": np.where(ramps < 0.2, rng.uniform(0.3, 3.0, n), 0.0),
        "ramp_s": np.where(rng.random(n) < 0.3, 10.0, 0.0),
    }


def _log_uniform(rng: np.random.Generator, low: float, high: float, n: int) -> Array:
    return np.exp(rng.uniform(np.log(low), np.log(high), n))


def _caching(n: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Cache size, working set, and the share of reads that hit: all that fits, once it is warm."""
    cache = _log_uniform(rng, 10 * GIB, 1000 * GIB, n)
    working = cache * _log_uniform(rng, 0.02, 10, n)
    warm = rng.choice([0.0, 1.0], n, p=[0.2, 0.8])
    return cache, working, np.minimum(1, cache / working) * warm


def _limits(
    path: npt.NDArray[np.int64], n: int, rng: np.random.Generator
) -> dict[str, npt.NDArray[np.generic]]:
    count = rng.choice([1, 2, 3, 4, 6, 8, 10], n, p=[0.6, 0.12, 0.05, 0.1, 0.04, 0.05, 0.04])
    disk = np.round(_log_uniform(rng, 120, 20_000, n), -1) * count
    uncached = np.round(_log_uniform(rng, 1_600, 90_000, n), -2)
    local = np.round(_log_uniform(rng, 3_000, 200_000, n), -2) * np.where(path == 4, 4, 1)
    nominal = np.stack(
        [part for iops in (disk, uncached, local) for part in (iops, iops * _log_uniform(rng, 6e3, 80e3, n))],
        axis=1,
    )
    nominal[:, 1::2] = np.round(nominal[:, 1::2], -6).clip(1e6)
    burst = nominal.copy()
    bursts = rng.random((n, 3)) < [0.5, 0.4, 0.25]
    for stage in range(3):
        times = rng.uniform(1.2, 5, (n, 2)) if stage else _log_uniform(rng, 1.5, 30, 2 * n).reshape(n, 2)
        pair = slice(2 * stage, 2 * stage + 2)
        burst[:, pair] = np.where(
            bursts[:, stage, None], np.round(nominal[:, pair] * times), nominal[:, pair]
        )
    burst[:, 4:] = np.where(np.isin(path, (3, 4))[:, None], nominal[:, 4:], burst[:, 4:])
    loose = rng.random((n, 6)) < 0.25
    factor = np.where(
        loose, rng.uniform(0.98, 1.12, (n, 6)), rng.normal(1.017, 0.013, (n, 6)).clip(0.98, 1.12)
    )
    credits = np.where(rng.random((n, 6)) < 0.75, 1.0, rng.random((n, 6)) * (rng.random((n, 6)) < 0.5))
    stale = rng.random(n) < 0.04
    wrong = np.where(stale[:, None], rng.uniform(0.4, 0.75, (n, 1)), 1.0)
    silent = np.where(rng.random((n, 3)).repeat(2, axis=1) < 0.04, np.nan, 1.0)
    return {
        "base": nominal * factor,
        "burst": burst * factor,
        "nominal": np.round(nominal * wrong) * silent,
        "nominal_burst": np.round(burst * wrong) * silent,
        "credits": credits,
        "counted_in_units": rng.random(n) < 0.7,
        "count": count,
        "stale": stale,
    }


def _self_limited(setups: Hidden, rng: np.random.Generator) -> Hidden:
    """Some workloads with a rate of their own, and some setups with a plateau that no document knows."""
    n = len(setups)
    wants = setups.wants(setups.hit, False)
    tightest = (setups.base / np.maximum(wants, 1e-12)).min(axis=1)
    reach = np.minimum(tightest, setups.queue_depth / setups.latency(False, setups.queue_depth))
    own = np.maximum(10, np.round(reach * rng.uniform(0.1, 1.4, n)))
    part = (setups.devices_used / setups.devices)[:, None] * np.ones(6)
    vm = setups.hides_vm[:, None] & (np.arange(6) >= 2)
    return replace(
        setups,
        base=setups.base * part,
        burst=setups.burst * part,
        nominal=np.where(vm, np.nan, setups.nominal * part),
        nominal_burst=np.where(vm, np.nan, setups.nominal_burst * part),
        rate_iops=np.where(rng.random(n) < 0.1, own, UNLIMITED),
        plateau_iops=np.where(rng.random(n) < 0.05, reach * rng.uniform(0.2, 0.9, n), UNLIMITED),
    )


def _with_less_told(setups: Hidden, rng: np.random.Generator) -> Hidden:
    """Some managed disks of which no figure is told, and some VMs whose burst is not told."""
    n = len(setups)
    figures, burst = (setups.remote & (rng.random(n) < share) for share in (0.08, 0.08))
    places = np.arange(len(RESOURCES))
    disk, uncached = figures[:, None] & (places < 2), burst[:, None] & np.isin(places, (2, 3))
    return replace(
        setups,
        hides_figures=figures,
        hides_burst=burst & ~setups.hides_vm,
        nominal=np.where(disk, np.nan, setups.nominal),
        nominal_burst=np.where(disk | uncached, np.nan, setups.nominal_burst),
    )
