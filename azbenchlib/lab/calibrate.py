"""How fast an emulated disk can be on this machine: measured with the server itself, and remembered."""

from __future__ import annotations

import contextlib
import json
import math
import random
import shutil
import statistics
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from azbenchlib.azure.catalog.latency import HOST_CACHE
from azbenchlib.core import locations
from azbenchlib.core.errors import AzbenchError, OutputError
from azbenchlib.core.files import write_atomically
from azbenchlib.core.temporary import temporary_folder
from azbenchlib.core.units import GIB, KIB, MIB, MS_PER_S, NS_PER_US, US_PER_S
from azbenchlib.lab.client import Client
from azbenchlib.lab.engine import latency
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.server import live_log
from azbenchlib.lab.server.serve import SOCKET, ServerConfig
from azbenchlib.lab.server.server_process import Process
from azbenchlib.model.setup import Cap, Disk, Setup

VALID_S = 600.0  # how long a calibration holds; other programs come and go
_RUN_S = 0.3
_TABLES = {"at-once": latency.NONE, "timed": HOST_CACHE}  # latencies of two volumes


@dataclass(frozen=True)
class Calibration:
    """What this machine does, in real time.

    `floor_s` is how long a request takes at the least (the median, one at a time), `jitter_s` how much
    longer one in a hundred takes, `iops` and `bytes_per_s` what is reached with many at once.
    """

    floor_s: float
    jitter_s: float
    iops: float
    bytes_per_s: float


def calibration() -> Calibration:
    """That of this machine: measured in two or three seconds, and remembered for ten minutes.

    Raises
    ------
    AzbenchError
        When the server cannot run here.
    """
    cache = locations.user_folder("cache")
    if cache is None:
        return measure()
    path = cache / "lab-calibration.json"
    try:
        known = json.loads(path.read_text())
        if known.pop("boot") == _boot() and 0 <= time.time() - known.pop("unix_s") < VALID_S:
            return Calibration(**known)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    found = measure()
    _remember(path, asdict(found) | {"boot": _boot(), "unix_s": time.time()})
    return found


def measure() -> Calibration:
    """Measure this machine: the real server with a real machine behind it, driven by fio where that can.

    On a volume without limits and latency, all that is left is this machine; on one with a latency, the
    server tells how late it wakes up.
    """
    with temporary_folder("azbench-calibrate-") as folder:
        config = _config(folder)
        server = Process(config)
        try:
            shortest = _run(config.folder, "at-once", 4 * KIB, 1)
            many = _run(config.folder, "at-once", 4 * KIB, 64)
            large = _run(config.folder, "at-once", 128 * KIB, 16)
            begun = time.time()
            _run(config.folder, "timed", 4 * KIB, 1)
            late_p50_s, late_p99_s = live_log.lateness_s(config.folder / live_log.LIVE_LOG, begun)
            if math.isnan(late_p50_s):
                said = ": ".join(["the emulated disks completed no I/O", *server.warnings()[-1:]])
                raise AzbenchError(f"this machine cannot be measured: {said}")
        except (AzbenchError, OSError) as error:
            if fault := server.fault():  # it says why nothing answers
                raise AzbenchError(fault) from error
            raise
        finally:
            server.stop()
    return Calibration(
        floor_s=shortest.p50_s + late_p50_s,
        jitter_s=shortest.p99_s - shortest.p50_s + late_p99_s - late_p50_s,
        iops=many.iops,
        bytes_per_s=large.iops * 128 * KIB,
    )


def _config(folder: Path) -> ServerConfig:
    return ServerConfig(
        setup=Setup(
            disks=tuple(
                Disk(name=name, size_bytes=GIB, cap=Cap(iops=1e9, bytes_per_s=1e12)) for name in _TABLES
            )
        ),
        options=Options(latency=_TABLES),
        time_scale=1,
        floor_s=0.0,
        folder=folder,
        temporary=False,
    )


@dataclass(frozen=True)
class _Figures:
    iops: float
    p50_s: float
    p99_s: float


def _run(folder: Path, volume: str, bs_bytes: int, queue_depth: int) -> _Figures:
    """By fio, else by our own client."""
    fio = shutil.which("fio")
    if fio is not None:
        done = subprocess.run(  # noqa: S603  an argument list, no shell
            [fio, *_arguments(folder / SOCKET, volume, bs_bytes, queue_depth)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return _figures(done.stdout)
    return _by_client(folder / SOCKET, volume, bs_bytes, queue_depth)


def _arguments(path: Path, volume: str, bs_bytes: int, queue_depth: int) -> list[str]:
    return [
        "--name=calibrate",
        "--ioengine=nbd",
        f"--uri=nbd+unix:///{volume}?socket={path}",
        f"--bs={bs_bytes}",
        f"--iodepth={queue_depth}",
        "--rw=randrw" if queue_depth > 1 else "--rw=randread",
        "--size=64m",
        "--thread",
        "--time_based",
        f"--runtime={_RUN_S * MS_PER_S:.0f}ms",
        "--output-format=json",
    ]


def _figures(text: str) -> _Figures:
    job = json.loads(text[text.index("{") :])["jobs"][0]
    quantiles = job["read"]["clat_ns"]["percentile"]
    p50, p99 = (quantiles[name] / NS_PER_US / US_PER_S for name in ("50.000000", "99.000000"))
    return _Figures(job["read"]["iops"] + job["write"]["iops"], p50, p99)


def _by_client(path: Path, volume: str, bs_bytes: int, queue_depth: int) -> _Figures:
    waits: list[float] = []
    places = range(0, 64 * MIB, bs_bytes)
    draw = random.Random(1)  # noqa: S311  no secret
    with Client(path, volume) as client:
        while sum(waits) < _RUN_S:
            begun = time.perf_counter()
            client.read_many(draw.choices(places, k=queue_depth), bs_bytes)
            waits.append(time.perf_counter() - begun)
    return _Figures(
        queue_depth * len(waits) / sum(waits),
        statistics.median(waits),
        statistics.quantiles(waits, n=100)[98],
    )


def _boot() -> str:
    """What changes when the machine is started anew; empty where that is not told."""
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else ""


def _remember(path: Path, content: dict[str, object]) -> None:
    """Write it down; a cache that cannot be written costs the next start two seconds and nothing else."""
    with contextlib.suppress(OutputError):
        write_atomically(path, json.dumps(content).encode())
