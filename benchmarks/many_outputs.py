"""Thousands of outputs of fio for benchmarks: one real run, copied with other values.

    .venv/bin/python benchmarks/many_outputs.py FOLDER --files 1000

fio runs once and writes json+ with its latency bins. Each copy has another job name, another day and other
counts in its bins; what fio derives from these (I/Os, IOPS, bytes) changes with them, so the copies stay
consistent and each is a run of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

DAY_S = 86_400
DAYS = 10
SETUPS = 20
BLOCK_BYTES = 4096
FIO = [
    *("fio", "--name=job", "--rw=randrw", "--bs=4k", "--size=64m", "--ioengine=psync", "--direct=0"),
    *("--output-format=json+", "--time_based", "--runtime=4"),
]


def measured() -> dict[str, Any]:
    """One run of the real fio."""
    with tempfile.TemporaryDirectory(prefix="azbench-") as home:
        told = subprocess.run([*FIO, f"--directory={home}"], check=True, capture_output=True)
    document: dict[str, Any] = json.loads(told.stdout)
    return document


def copy(document: dict[str, Any], number: int) -> str:
    """The text of copy `number`: each of its bins holds up to 10 I/Os more than the measured one."""
    job = document["jobs"][0]
    told = {ddir: _more(job[ddir], number) for ddir in ("read", "write")}
    began = document["timestamp"] - (number % DAYS) * DAY_S
    stamps = {"timestamp": began, "timestamp_ms": began * 1000 + number}
    name = f"job-{number}"
    options = job["job options"] | {"name": name}
    made = document | stamps | {"jobs": [job | {"jobname": name, "job options": options, **told}]}
    return json.dumps(made, indent=2) + "\n"


def _more(rates: dict[str, Any], number: int) -> dict[str, Any]:
    """What one direction did, with more I/Os in its bins."""
    bins = rates["clat_ns"]["bins"]
    counts = {value: n + (number * 31 + place) % 11 for place, (value, n) in enumerate(bins.items())}
    ios = sum(counts.values())
    rate = ios * BLOCK_BYTES * 1000 / rates["runtime"]
    return rates | {
        "clat_ns": rates["clat_ns"] | {"N": ios, "bins": counts},
        "total_ios": ios,
        "io_bytes": ios * BLOCK_BYTES,
        "iops": ios * 1000 / rates["runtime"],
        "bw_bytes": int(rate),
        "bw": int(rate / 1024),
        "lat_ns": rates["lat_ns"] | {"N": ios},
    }


def write(folder: Path, files: int) -> int:
    """Write that many copies, a folder a setup; the bytes of one."""
    document = measured()
    size = 0
    for number in range(files):
        home = folder / f"vm-{number % SETUPS:02}"
        home.mkdir(parents=True, exist_ok=True)
        size = (home / f"run-{number:06}.json").write_text(copy(document, number))
    return size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=1000)
    chosen = parser.parse_args()
    print(f"{chosen.files:,} files of {write(chosen.folder, chosen.files):,} B")


if __name__ == "__main__":
    main()
