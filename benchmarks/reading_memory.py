"""What reading takes: memory and time for huge and hostile files, each in a process of its own.

    .venv/bin/python benchmarks/reading_memory.py [--mib 1000]

Sparse files stand for lines of NULs, so a gigabyte of them takes no room on the disk; the log and the JSON
are a tenth and a fiftieth of the size.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

MIB = 1 << 20
JSON = Path(__file__).parents[1] / "tests" / "data" / "fio" / "group_jsonplus.json"
READ = """
import resource, sys, time
import pandas, pyarrow.csv
from azbenchlib.dataset.dataset import Dataset
before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
found = Dataset.read(sys.argv[1])
took = time.perf_counter() - began
taken = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
codes = dict(found.findings["code"].value_counts())
print(f"{taken:,.0f} MiB, {took:.1f} s, {len(found.samples):,} samples, {len(found.runs):,} runs, {codes}")
"""


def garbage(path: Path, mib: int) -> None:
    path.write_bytes(b"x")
    os.truncate(path, mib * MIB)


def long_line(path: Path, mib: int) -> None:
    path.write_bytes(b"1, 5, 0, 4096\n" * 100)
    os.truncate(path, mib * MIB)
    with path.open("ab") as file:
        file.write(b"\n9, 9, 0, 4096\n")


def log(path: Path, mib: int) -> None:
    block = "".join(
        f"{at // 50}, {at * 7919 % 1000000}, {at % 2}, 4096, 0\n" for at in range(100_000)
    ).encode()
    with path.open("wb") as file:
        for _ in range(mib * MIB // 10 // len(block)):
            file.write(block)


def documents(path: Path, mib: int) -> None:
    one = JSON.read_bytes()
    path.write_bytes(one * (mib * MIB // 50 // len(one)))


FILES: dict[str, Callable[[Path, int], None]] = {
    "garbage.json": garbage,
    "line_lat.1.log": long_line,
    "long_lat.1.log": log,
    "many.json": documents,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=1000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, write in FILES.items():
            path = Path(folder) / name
            write(path, args.mib)
            print(f"{name}: {path.stat().st_size / MIB:,.0f} MiB:", end=" ", flush=True)
            subprocess.run([sys.executable, "-c", READ, str(path)], check=True)
            path.unlink()


if __name__ == "__main__":
    main()
