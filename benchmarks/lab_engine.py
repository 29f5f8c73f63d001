"""What the lab's server costs and how exact it is on this machine: ratios, printed as JSON.

    python benchmarks/lab_engine.py

- ``load``: IOPS that real fio reaches without limits, against the 77,000 of a Standard_E8ds_v4's temp disk.
- ``idle_connection_kib``: memory of one of 1,000 idle connections.
- ``rate``: measured IOPS over the limit, at the time scale that was chosen for it.
- ``latency``: measured p50, p95 and p99 over the table that is emulated, the median of three short runs, for
  each of the six profiles that the dataset azure-local-disks-2020 publishes.
"""

import json
import math
import resource
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from lab_tools import SIZE, connect, fio, free, status

from azbenchlib.lab import calibrate
from azbenchlib.lab.engine.latency import SAMPLE_SIZE, sampler
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.server import live_log
from azbenchlib.model.setup import Cap, Disk, Setup

TEMP_IOPS = 77_000  # Source: resource-SKU API, Standard_E8ds_v4, CombinedTempDiskAndCachedIOPS, 2020-07
QUANTILES = ("50.000000", "95.000000", "99.000000")
RUN_S = 3
TABLES = ("temp-amd", "temp", "host-cache", "premium", "ephemeral", "nvme")


def load() -> dict[str, float]:
    found = calibrate.measure()
    return {
        "load": round(found.iops / TEMP_IOPS, 2),
        "gigabytes_per_s": round(found.bytes_per_s / 1e9, 2),
        "floor_us": round(found.floor_s * 1e6, 1),
        "jitter_us": round(found.jitter_s * 1e6, 1),
    }


def idle_connection_kib() -> float:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with Lab(*free("data"), time_scale=1) as lab:
        before = status(lab.pid or 0, "VmRSS")
        clients = [connect(lab, "data") for _ in range(1000)]
        used = status(lab.pid or 0, "VmRSS") - before
        for client in clients:
            client.close()
    return used / 1000


def rate(iops: float) -> dict[str, float]:
    """Between two lines of the live log; the first second is left out, in which a bucket is still full."""
    setup = Setup(disks=(Disk(name="data", size_bytes=SIZE, cap=Cap(iops=iops)),))
    with Lab(setup, Options(latency={"data": "none"})) as lab:
        fio(lab.uri("data"), "--rw=randread", "--bs=4k", "--iodepth=32", "--time_based", "--runtime=4")
        k, late_s, lines = lab.time_scale, live_log.lateness_s(lab.log)[1], live_log.read(lab.log).lines
    busy = [line for line in lines if line.late_us is not None][5:-1]
    ios = busy[-1].done["data"][0] - busy[0].done["data"][0]
    measured = ios / (busy[-1].t_s - busy[0].t_s)
    return {"of_limit": round(measured / iops, 4), "k": k, "late_p99_us": round(late_s * 1e6, 1)}


def latency(table: str) -> dict[str, Any]:
    """Each is a run of three real seconds, in which a whole deck is dealt.

    It has many jobs with one I/O each: a job with several waits at its end for all of them, and takes that as
    the latency of each.
    """
    setup = Setup(disks=(Disk(name="data", size_bytes=SIZE),))
    draw = sampler(table, True, 1)
    deck = sorted(draw() for _ in range(SAMPLE_SIZE))
    expected = [deck[round(float(name) / 100 * (SAMPLE_SIZE - 1))] for name in QUANTILES]
    runs = []
    for seed in (1, 2, 3):
        with Lab(setup, Options(latency={"data": table}, seed=seed)) as lab:
            k = lab.time_scale
            jobs = math.ceil(1.1 * sum(deck) * k / RUN_S)
            job = fio(
                lab.uri("data"),
                *("--rw=randwrite", "--bs=8k", "--size=64m", "--time_based", f"--runtime={RUN_S}"),
                *(f"--numjobs={jobs}", "--group_reporting"),
            )
            runs.append([job["write"]["clat_ns"]["percentile"][name] / k / 1e9 for name in QUANTILES])
    medians = [statistics.median(column) for column in zip(*runs, strict=True)]
    ratios = [round(got / want, 3) for got, want in zip(medians, expected, strict=True)]
    return {"k": k, **dict(zip(("p50", "p95", "p99"), ratios, strict=True))}


if __name__ == "__main__":
    version = subprocess.run(["fio", "--version"], capture_output=True, text=True).stdout.strip()
    report = {
        "fio": version,
        **load(),
        "idle_connection_kib": idle_connection_kib(),
        "rate": {f"{iops:,.0f}": rate(iops) for iops in (3_500, 20_000, 80_000)},
        "latency": {name: latency(name) for name in TABLES},
    }
    json.dump(report, sys.stdout, indent=1)
    sys.stdout.write("\n")
