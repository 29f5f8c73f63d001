"""fio's normal output of a job, written from its JSON as fio writes it: for exercises on simulated runs.

As `show_ddir_status`, `display_lat` and `show_clat_percentiles` of fio's `stat.c` and `num2str` of its
`lib/num2str.c` do (3.33); a test holds it against what real fio writes of the same run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from azbenchlib.core.units import KIB, MILLION, MS_PER_S, NS_PER_US

_LISTED = (1, 5, *range(10, 100, 10), 95, 99, 99.5, 99.9, 99.95, 99.99)  # fio's own
_DIRECTIONS = ("read", "write")
_DIGITS = 4  # of a rate, with its point
_LATENCY_DIGITS = 6
_LINE = 73  # columns that percentiles fill
_POWERS = {1000: ("", "k", "M", "G"), KIB: ("", "Ki", "Mi", "Gi")}
# From these smallest and largest values on (and this deviation) fio writes a coarser unit.
_COARSER = ((2_000_000, 99_999_999, 1_000_000.0, "msec"), (2_000, 99_999, 1_000.0, "usec"))
_NSEC = {"msec": MILLION, "usec": NS_PER_US, "nsec": 1}


def simulated(
    lat_us: NDArray[np.float64], *, iops: float, bs_bytes: int, runtime_ms: int, slat_us: float
) -> dict[str, Any]:
    """One direction of a job as fio's JSON has it, of latencies that were simulated.

    Parameters
    ----------
    lat_us : array
        Total latencies of a sample of the I/Os.
    iops : float
    bs_bytes, runtime_ms : int
    slat_us : float
        What it took to submit one; 0 of engines that know no submission.
    """
    ios = round(iops * runtime_ms / MS_PER_S)
    lat, slat = lat_us * NS_PER_US, np.linspace(0.6, 1.4, len(lat_us)) * slat_us * NS_PER_US
    clat = lat - slat
    percentiles = np.percentile(clat, _LISTED)
    return {
        "total_ios": ios,
        "io_bytes": ios * bs_bytes,
        "runtime": runtime_ms,
        "iops": ios * MS_PER_S / runtime_ms,
        "bw_bytes": ios * bs_bytes * MS_PER_S // runtime_ms,
        "slat_ns": _summary(slat),
        "clat_ns": _summary(clat)
        | {"percentile": {f"{p:.6f}": int(ns) for p, ns in zip(_LISTED, percentiles, strict=True)}},
        "lat_ns": _summary(lat),
    }


def paragraph(job: Mapping[str, Any], jobs: int = 1) -> str:
    """The lines of a job up to its percentiles, and that of its processor time.

    Parameters
    ----------
    job : mapping
        Of fio's JSON: jobname, read, write, and usr_cpu, sys_cpu and ctx where they are known.
    jobs : int
        How many are reported as one.
    """
    lines = [f"{job['jobname']}: (groupid={job.get('groupid', 0)}, jobs={jobs}): err= 0"]
    for ddir in _DIRECTIONS:
        if ddir in job and job[ddir]["total_ios"]:
            lines += _direction(ddir, job[ddir])
    if "usr_cpu" in job:
        shares = f"usr={job['usr_cpu']:3.2f}%, sys={job['sys_cpu']:3.2f}%"
        lines.append(f"  cpu          : {shares}, ctx={job['ctx']}, majf={job['majf']}, minf={job['minf']}")
    return "\n".join(lines)


def rate(number: int, thousand: int, unit: str, digits: int = _DIGITS) -> str:
    """A number with a prefix, so short that it has these digits, its point among them."""
    prefixes, power, rest = _POWERS[thousand], 0, 0
    while len(str(number)) > digits and power < len(prefixes) - 1:
        number, rest = divmod(number, thousand)
        power += 1
    room = max(0, digits - len(str(number)) - 1) if power else 0
    if not room:
        return f"{number + (rest >= thousand // 2)}{prefixes[power]}{unit}"
    return f"{number + rest / thousand:.{room}f}{prefixes[power]}{unit}"


def _summary(ns: NDArray[np.float64]) -> dict[str, Any]:
    return {
        "min": int(ns.min()),
        "max": int(ns.max()),
        "mean": float(ns.mean()),
        "stddev": float(ns.std()),
        "N": len(ns) if ns.any() else 0,
    }


def _direction(ddir: str, part: Mapping[str, Any]) -> list[str]:
    ms = part["runtime"]
    iops, per_s = (part[key] * MS_PER_S // ms for key in ("total_ios", "io_bytes"))
    zones = "; 0 zone resets" if ddir == "write" else ""
    bw = f"BW={rate(per_s, KIB, 'B/s')} ({rate(per_s, 1000, 'B/s')})"
    moved = f"({rate(part['io_bytes'], KIB, 'B')}/{ms}msec)"
    lines = [f"  {ddir}: IOPS={rate(iops, 1000, '')}, {bw}{moved}{zones}"]
    kinds = (("slat", "slat_ns"), ("clat", "clat_ns"), (" lat", "lat_ns"))
    lines += [_latency(name, part[key]) for name, key in kinds if part[key]["N"]]
    return [*lines, *_percentiles(part["clat_ns"]["percentile"])]


def _latency(name: str, found: Mapping[str, Any]) -> str:
    low, high, off = found["min"], found["max"], found["stddev"]
    unit = next((u for a, b, c, u in _COARSER if low > a and high > b and off > c), "nsec")
    size = _NSEC[unit]
    low, high = (rate(int(value) // size, 1000, "", _LATENCY_DIGITS) for value in (low, high))
    mean = f"avg={found['mean'] / size:5.2f}, stdev={off / size:5.2f}"
    return f"    {name} ({unit}): min={low}, max={high}, {mean}"


def _percentiles(found: Mapping[str, int]) -> list[str]:
    low, high = min(found.values()), max(found.values())
    unit = next((u for a, b, _, u in _COARSER if low > a and high > b), "nsec")
    size = _NSEC[unit]
    width = max(5, int(math.log10(high / size) + 1))
    cells = [f"{float(p):5.2f}th=[{_up(ns, size):{width}d}]" for p, ns in found.items()]
    a_line = _LINE // (2 + 10 + width)
    rows = [", ".join(cells[i : i + a_line]) for i in range(0, len(cells), a_line)]
    return [f"    clat percentiles ({unit}):", *(f"     | {row}," for row in rows[:-1]), f"     | {rows[-1]}"]


def _up(ns: int, size: int) -> int:
    """Rounded up, a thousand after the other."""
    while size > 1:
        ns, size = -(-ns // NS_PER_US), size // NS_PER_US
    return ns
