"""What percentiles by second of a long latency log cost, beside a plain reader in C: CPU, memory, growth.

    .venv/bin/python benchmarks/log_windows.py [--lines 5000000] [--pairs 5]

Both read the same log, one after the other, and must print the same percentiles. Targets: at most five times
the CPU of the plain reader, which checks nothing; a log twenty times as long within 1 GiB, its time linear
within 15 %.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

HERE = Path(__file__).parent
AZBENCH = Path(sys.executable).with_name("azbench")
PER_MS = 8  # I/Os
BLOCK = 5_000_000


def write(path: Path, lines: int) -> None:
    """A log as fio writes it, of reads and writes, 8,000 I/Os a second."""
    import numpy as np  # not by the process that measures: a program's memory is at least its parent's
    import pyarrow as pa
    from pyarrow import csv

    random = np.random.default_rng(1)
    with path.open("wb") as file:
        for begin in range(0, lines, BLOCK):
            n = min(BLOCK, lines - begin)
            rows = {
                "t_ms": np.sort(random.integers(begin // PER_MS, (begin + n) // PER_MS, n)),
                "ns": (400_000 * random.lognormal(0, 0.6, n)).astype(np.int64),
                "ddir": random.integers(0, 2, n),
                "bs": np.full(n, 4096),
                "prio": np.zeros(n, np.int64),
            }
            text = pa.BufferOutputStream()
            csv.write_csv(pa.table(rows), text, csv.WriteOptions(include_header=False))
            file.write(text.getvalue().to_pybytes().replace(b",", b", "))


def write_apart(path: Path, lines: int) -> None:
    """The same in another process."""
    writer = get_context("spawn").Process(target=write, args=(path, lines))
    writer.start()
    writer.join()


def run(command: list[str], out: Path) -> tuple[float, float]:
    """CPU seconds and MiB at most, of a program whose output goes into a file."""
    with out.open("wb") as file:
        started = subprocess.Popen(command, stdout=file)
        _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def same(plain: Path, ours: Path) -> bool:
    """Whether both tables have the same figures."""
    words = {"read": 0, "write": 1}
    expected = {tuple(map(int, line.split(","))) for line in plain.read_text().splitlines()}
    found = set()
    for line in ours.read_text().splitlines()[1:]:
        t_s, ddir, n, *us = line.split(",")
        found.add((round(float(t_s)), words[ddir], int(n), *(round(float(one) * 1000) for one in us)))
    return found == expected


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--growth", type=int, default=20, help="how many times as long the long log is")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="azbench-") as name:
        folder = Path(name)
        program, log = str(folder / "plain"), folder / "long_clat.1.log"
        subprocess.run(["cc", "-O2", "-o", program, str(HERE / "plain_log_reader.c"), "-lm"], check=True)
        write_apart(log, chosen.lines)
        ours = [str(AZBENCH), "read", str(log), "--window", "1s", "--format", "csv", "--log-unit", "ns"]
        ratios = []
        for _ in range(chosen.pairs):
            plain_s, _ = run([program, str(log)], folder / "plain.csv")
            our_s, our_mib = run(ours, folder / "ours.csv")
            ratios.append(our_s / plain_s)
            times = f"{ratios[-1]:.1f} times"
            print(f"plain {plain_s:.2f} s, azbench {our_s:.2f} s and {our_mib:.0f} MiB: {times}")
        equal = same(folder / "plain.csv", folder / "ours.csv")
        print(f"median {statistics.median(ratios):.1f} times; same percentiles: {equal}")
        write_apart(log, chosen.lines * chosen.growth)
        long_s, long_mib = run(ours, folder / "ours.csv")
        linear = long_s / (our_s * chosen.growth)
        lines = chosen.lines * chosen.growth
        print(f"{lines:,} lines: {long_s:.1f} s, {long_mib:.0f} MiB, {linear:.2f} of linear")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
