"""Published cases of Azure disks (JSON): what was set up, driven and measured, as setups, loads and flows.

A case is judged by what it states: nothing here knows a case, a source or a size by name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from azbenchlib.analysis.flow import Flow
from azbenchlib.analysis.mix import read_share
from azbenchlib.analysis.observation import Observation
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB, MIB, MS_PER_S, US_PER_MS, US_PER_S, parse_size
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import Delivered, deliver
from azbenchlib.model.setup import VM, BurstKind, Cap, Disk, Setup, Volume
from azbenchlib.verdict.cases import monitored

Case = Mapping[str, Any]

SNAPSHOT = "2026-08-17"  # the catalogue's newest reading
_QUANTITIES = (("iops", 1), ("mbps", MB))
WITHOUT_STORAGE = ("cost_example", "catalogue")
LOCAL = ("temp", "nvme")
_IOPS = ("iops", "iops_mean", "iops_avg", "iops_median", "total_iops", "total")
_BYTES = {
    **dict.fromkeys(("mbps", "mb_s", "bw_mbps"), MB),
    **dict.fromkeys(("mib_s", "bw_mib_s", "mibps"), MIB),
    **dict.fromkeys(("kib_s", "bw_kib", "bw_kib_s"), KIB),
    **dict.fromkeys(("bps", "bytes_per_s"), 1),
}
_US = {"us": 1, "ms": US_PER_MS, "s": US_PER_S}
_MEAN = re.compile(r"^(?:(?:lat_|latency_)?(?:mean|avg)|lat|latency)_(?P<unit>us|ms|s)$")
_CLAT = re.compile(r"^clat(?:_mean|_avg)?_(?P<unit>us|ms|s)$")
_SLAT = re.compile(r"^slat(?:_mean|_avg)?_(?P<unit>us|ms|s)$")
_DEVICES = ("devices", "nvme_devices", "nvme_count")  # of a job: how many local disks it drove at once
_PERCENTILE = re.compile(r"^(?:c?lat_)?p(\d+(?:_\d+)?)_(us|ms|s)$")
_LONGEST = re.compile(r"^(?:c?lat_)?max_(us|ms|s)$")


def cap(numbers: Case | None, prefix: str = "", burst: Case | None = None) -> Cap:
    """A limit as a case states it; MB/s is 10⁶ B/s."""
    get, more = numbers or {}, burst or {}
    base = [get.get(f"{prefix}{name}", get.get(f"read_{name}")) for name, _ in _QUANTITIES]
    over = [more.get(name, get.get(f"burst_{name}")) for name, _ in _QUANTITIES]
    own = [get.get(f"write_{name}", math.inf if f"read_{name}" in get else None) for name, _ in _QUANTITIES]
    scales = [scale for _, scale in _QUANTITIES] * 3
    return Cap.of(
        *(v * s if v is not None else None for v, s in zip([*base, *over, *own], scales, strict=True))
    )


def stated_setup(case: Case) -> Setup:
    """The setup with the numbers of the case alone."""
    vm, job = case.get("vm") or {}, case.get("job") or {}
    paths = ("uncached", "cached", "temp", "nvme")
    limits: dict[str, Any] = {
        name: replace(cap(vm.get(name), burst=vm.get(f"{name}_burst")), burst_kind=BurstKind.VM_CREDITS)
        for name in paths
    }
    counts: dict[str, int] = {}
    disks = []
    for row in case.get("disks") or ():
        role = row.get("role", "data")
        counts[role] = counts.get(role, 0) + 1
        disks.append(_disk(row, f"{role}{counts[role]}", role, job))
    if job.get("target") in LOCAL:
        disks = [_local(job["target"], case)]
    if job.get("target") == "ephemeral_os":
        disks = [Disk(name="os", role="ephemeral_os", placement="temp" if vm.get("temp") else "cache")]
    return Setup(replace(VM(size=vm.get("size")), **limits), tuple(disks), _day(case))


def setup_of(case: Case) -> Setup:
    """The setup with the numbers of the case; what it only names comes from the catalogue of its day."""
    return resolve(stated_setup(case), SNAPSHOT)


def _local(target: str, case: Case) -> Disk:
    """The local disk that a case drove, or as many as it says of them."""
    rows = [row for row in case.get("disks") or () if row.get("role") == target]
    stated = [*(row.get("count") for row in rows), *(case["job"].get(name) for name in _DEVICES)]
    count = next((int(n) for n in stated if n), None)
    unstated = () if count else ("count",)
    return Disk(name=target, role=target, count=count or 1, striped=(count or 1) > 1, unstated=unstated)


def _day(case: Case) -> str:
    """The day whose limits apply: as the case says, else as its source does."""
    if case.get("as_of"):
        return str(case["as_of"])
    found = re.search(r"ms\.date (\d{4}-\d\d-\d\d)", str(case.get("source", "")))
    return found[1] if found else SNAPSHOT


def _disk(row: Case, name: str, role: str, job: Case) -> Disk:
    return Disk(
        name=name,
        role=role,
        sku=row.get("sku"),
        tier=row.get("tier"),
        size_bytes=row["size_gib"] * GIB if row.get("size_gib") else None,
        caching=row.get("cache") or "None",
        cap=cap(row),
        count=row.get("count") or 1,
        striped=bool(job.get("striped")),
        cache_hit=job.get("cache_hit"),
        bursting=row.get("bursting"),
        unstated=() if row.get("cache") else ("caching",),
    )


def deliver_case(case: Case) -> Delivered:
    """What the model delivers in a case: its demand, split as it says, else evenly over the volumes."""
    job = case["job"]
    setup = setup_of(case)
    latency = job["lat_ms"] / MS_PER_S if job.get("lat_ms") else None
    return deliver(
        setup,
        loads_of(case, setup),
        bursting=has_credits(case) is not False,
        queue_depth=job.get("qd_total", 1) if latency else None,
        latency_s=latency,
    )


def has_credits(case: Case) -> bool | None:
    """Whether there were burst credits, as far as the case says."""
    job = case.get("job") or {}
    if job.get("bursting") is False or job.get("credits") == 0:
        return False
    return True if job.get("bursting") else None


def loads_of(case: Case, setup: Setup) -> list[Load]:
    """One load a volume; where reads and writes flow at once, reads on cached disks, writes on the others."""
    job, demand = case["job"], case["demand"] or {}
    size = job["bs_kib"] * KIB if job.get("bs_kib") else None
    rw = job.get("rw", "randread")
    target = demand.get("target")
    volumes = [v for v in setup.volumes() if not target or v.disk.role == target or v.name.startswith(target)]
    if "," in rw:
        readers, writers = apart(volumes)
        most = demand["write_iops"] / len(writers)
        reads = [Load(volume=volume.name, read_share=1.0, bs_bytes=size, cache_hit=1.0) for volume in readers]
        return reads + [
            Load(volume=volume.name, read_share=0.0, bs_bytes=size, iops=most) for volume in writers
        ]
    share = read_share(rw)
    quantity, field, scale = ("mbps", "bytes_per_s", MB) if "mbps" in demand else ("iops", "iops", 1)
    if quantity not in demand:
        return [Load(volume=volume.name, read_share=share or 0.0, bs_bytes=size) for volume in volumes]
    parts = demand.get("split") or [demand[quantity] / len(volumes)] * len(volumes)
    return [
        Load(volume=volume.name, read_share=share or 0.0, bs_bytes=size, **{field: part * scale})
        for volume, part in zip(volumes, parts, strict=True)
    ]


def apart(volumes: list[Volume]) -> tuple[list[Volume], list[Volume]]:
    """The volumes that are read and those that are written, where both flow at once: cached and not."""
    writers = [volume for volume in volumes if volume.disk.caching == "None"]
    readers = [volume for volume in volumes if volume not in writers]
    return readers or volumes, writers or volumes


def sweep_of(case: Case) -> list[Case]:
    """The case once for each of its points; itself where it has none."""
    observed = case["observed"]
    if "points" not in observed:
        return [case]
    rows = [dict(zip(observed["columns"], values, strict=True)) for values in observed["points"]]
    found: list[Case] = []
    for row in rows:
        job = {**case["job"], **{name: row[name] for name in ("bs_kib", "rw", "runtime_s") if name in row}}
        for name in ("qd", "qd_total"):
            if row.get(name) is not None:
                job["qd_total"] = row[name]
        if row.get("jobs") is not None:
            job["jobs"] = row["jobs"]
        found.append({**case, "job": job, "observed": row})
    return found


def flows_of(case: Case, setup: Setup) -> list[Flow]:
    """The flows that a case measured at once: one, or reads and writes on disks of their own.

    Raises
    ------
    InputError
        When nothing of it is a rate or a latency.
    """
    job, demand = case["job"] or {}, case["demand"] or {}
    rw, observed = job.get("rw") or "", case["observed"]
    volumes = _driven(setup, job.get("target"), demand.get("target"))
    names = tuple(volume.name for volume in volumes)
    if "," in rw:
        readers, writers = apart(list(volumes))
        rate = job.get("write_rate_iops", demand.get("write_iops"))
        return [
            _flow(case, _part(observed, "read"), 1.0, tuple(v.name for v in readers), None, 1.0),
            _flow(case, _part(observed, "write"), 0.0, tuple(v.name for v in writers), rate),
        ]
    parts = {side: found for side in ("read", "write") if (found := _part(observed, side))}
    share = _reads(rw, observed)
    if not parts:
        return [_flow(case, observed, share, names, demand.get("iops"))]
    if len(parts) == 2 and rw:
        both = {
            name: sum(part[name] for part in parts.values())
            for name in parts["read"]
            if name in parts["write"]
        }
        return [_flow(case, {**observed, **both}, share, names, demand.get("iops"))]
    return [
        _flow(case, part, float(side == "read"), names, demand.get("iops")) for side, part in parts.items()
    ]


def _driven(setup: Setup, *targets: str | None) -> tuple[Volume, ...]:
    """The volumes that a target names; the data disks, or all, where it names none."""
    every = setup.volumes()
    for target in filter(None, targets):
        if named := tuple(v for v in every if v.disk.role == target or v.name == target):
            return named
    return tuple(v for v in every if v.disk.role != "os") or every


def _part(observed: Case, side: str) -> dict[str, Any]:
    return {
        name.removeprefix(f"{side}_"): value
        for name, value in observed.items()
        if name.startswith(f"{side}_")
    }


def _reads(rw: str, observed: Case) -> float | None:
    """The share of reads: as observed, else as the pattern says."""
    reads, writes = observed.get("read_iops"), observed.get("write_iops")
    return read_share(rw, None, reads, reads + writes if reads and writes else None)


def _flow(
    case: Case,
    observed: Case,
    read_share: float | None,
    volumes: tuple[str, ...],
    rate_iops: float | None,
    cache_hit: float | None = None,
) -> Flow:
    job, demand = case["job"] or {}, case["demand"] or {}
    size = job.get("bs_kib")
    seen = Observation(
        read_share=read_share,
        bs_bytes=size * KIB if isinstance(size, int | float) else None,
        iops=_first(observed, dict.fromkeys(_IOPS, 1)),
        bw_bytes_per_s=_first(observed, _BYTES),
        queue_depth=job.get("qd_total"),
        numjobs=job.get("jobs") or 1,
        runtime_s=job.get("runtime_s"),
        direct=None if job.get("direct") is None else bool(job["direct"]),
        mean_us=_mean_us(observed, _MEAN) or _mean_us(observed, _CLAT),
        percentiles=_percentiles(observed),
        cpu_pct=observed.get("cpu_pct"),
        rate_iops=rate_iops,
        working_set_bytes=_span(job),
        tool=job.get("tool"),
        slat_us=_mean_us(observed, _SLAT),
        ramp_s=job.get("ramp_s"),
        device_iops=_device_iops(job, observed),
        consumed_pct=monitored.consumed(case),
        credits_used_pct=monitored.credits_used(case),
    )
    if seen.iops is None and seen.bw_bytes_per_s is None and seen.mean_us is None and not seen.percentiles:
        raise InputError(f"observed has no rate or latency; it has: {', '.join(observed) or 'nothing'}")
    if seen.iops is None and seen.bw_bytes_per_s is None and seen.queue_depth is None:
        seen = replace(seen, queue_depth=1)  # as the cases' documentation says of a latency alone
    asked = demand["mbps"] * MB if demand.get("mbps") else None
    return Flow(
        observation=seen,
        volumes=volumes,
        cache_hit=cache_hit,
        warmed=job.get("warmed"),
        credits=has_credits(case),
        demand_bytes_per_s=asked,
    )


def _first(observed: Case, scales: Mapping[str, float]) -> float | None:
    return next(
        (observed[n] * s for n, s in scales.items() if isinstance(observed.get(n), int | float)), None
    )


def _mean_us(observed: Case, pattern: re.Pattern[str]) -> float | None:
    for name, value in observed.items():
        if isinstance(value, int | float) and (match := pattern.match(name)):
            return float(value * _US[match["unit"]])
    return None


def _device_iops(job: Case, observed: Case) -> float | None:
    """I/Os per second of the device, by its own count of a run whose length is known."""
    ios, seconds = observed.get("disk_ios"), job.get("runtime_s")
    return ios / seconds if isinstance(ios, int | float) and ios and seconds else None


def _percentiles(observed: Case) -> dict[float, float]:
    found = {}
    for name, value in observed.items():
        if not isinstance(value, int | float):
            continue
        if match := _PERCENTILE.match(name):
            found[float(match[1].replace("_", "."))] = float(value * _US[match[2]])
        if match := _LONGEST.match(name):
            found[100.0] = float(value * _US[match[1]])
    return found


def _span(job: Case) -> float | None:
    for name in ("span_gib", "size_gib", "file_gib", "working_set_gib"):
        if job.get(name):
            return float(job[name] * GIB)
    return float(parse_size(job["size"])) if isinstance(job.get("size"), str) else None
