"""A lake of many runs: how long percentiles by setup take, and how much memory, by DuckDB and by processes.

    .venv/bin/python benchmarks/lake_percentiles.py [--runs 100000] [--parts 400]

Some hundred outputs of a real fio are read once; the lake is written from their tables again and again, each
time with other names of runs, on 20 setups. Each engine computes in a process of its own; all must print the
same bytes. Targets: 100,000 runs in less than 60 s and 1 GiB.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

SETUPS = 20
ASK = """
import sys
from azbenchlib import Lake
if __name__ == "__main__":
    by = ["setup_id", "ddir", "lat_kind"]
    print(Lake(sys.argv[1]).percentiles(by, [50, 99, 99.9], processes={processes}).to_csv())
"""


def write_lake(folder: Path, runs: int, parts: int) -> None:
    """Write a lake with that many runs; by another process than that which measures."""
    from many_outputs import write

    from azbenchlib import Lake
    from azbenchlib.lake.parts import write_part

    each = runs // parts
    write(folder / "outputs", each)
    lake = Lake(folder / "first")
    lake.collect(folder / "outputs")
    names = ("runs", "results", "latency", "percentiles", "bins")
    tables = {name: lake.query(f"FROM {name}") for name in names}
    again = Lake(folder / "lake")
    again.collect(next((folder / "outputs").rglob("*.json")))  # which makes it a lake
    for part in range(parts):
        ids = tables["runs"]["run_id"]
        new = dict(
            zip(ids, (hashlib.sha256(f"{part}:{one}".encode()).hexdigest()[:16] for one in ids), strict=True)
        )
        written = {}
        for name, rows in tables.items():
            own = rows.assign(
                run_id=rows["run_id"].map(new).astype("string"), setup_id=f"vm-{part % SETUPS:02}"
            )
            written[name] = own.assign(n=own["n"] + part % 7) if name == "bins" else own
        write_part(again.place, written, list(new.values()))
    print(f"{runs:,} runs, {len(tables['bins']) * parts:,} rows of bins", end=", ", flush=True)


def asked(lake: Path, processes: int | None) -> bytes:
    """The answer, after a line that tells what it took."""
    began = time.perf_counter()
    command = [sys.executable, "-c", ASK.format(processes=processes), str(lake)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        told = started.stdout.read() if started.stdout else b""
        _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit("no answer")
    seconds, mib = time.perf_counter() - began, used.ru_maxrss / 1024
    engine = "DuckDB" if processes is None else f"{processes} processes"
    print(
        f"{engine}: {seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of CPU, {mib:,.0f} MiB", flush=True
    )
    return told


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--parts", type=int, default=400)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="azbench-") as name:
        writer = get_context("spawn").Process(target=write_lake, args=(Path(name), chosen.runs, chosen.parts))
        writer.start()
        writer.join()
        lake = Path(name) / "lake"
        size = sum(path.stat().st_size for path in lake.rglob("*.parquet"))
        print(f"{size:,} B of Parquet", flush=True)
        answers = {asked(lake, processes) for processes in (None, 1, 2)}
    print("the same bytes" if len(answers) == 1 else "the answers differ")
    return 0 if len(answers) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
