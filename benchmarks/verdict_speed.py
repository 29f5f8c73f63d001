"""How long a verdict on one fio JSON takes, once everything is imported.

    .venv/bin/python benchmarks/verdict_speed.py [FIO_JSON]

Target: below one second. Without a file, fio's output of tests/data is judged.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median

from azbenchlib.dataset.dataset import Dataset
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.setup import VM, Setup
from azbenchlib.verdict.run_verdicts import judge_runs

TARGET_S = 1.0
DEFAULT = Path(__file__).parents[1] / "tests" / "data" / "fio" / "randrw.json"


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    setup = Setup(VM(size="Standard_D8s_v3"), parse_disks(["P30:ReadOnly"]))
    took = []
    for _ in range(5):
        start = time.perf_counter()
        judged = judge_runs(Dataset.read(path).tables, setup, "2026-08-17")
        took.append(time.perf_counter() - start)
    first, typical = took[0], median(took[1:])
    print(f"{path.name}: {len(judged)} runs, first {first:.3f} s, then {typical:.3f} s (target {TARGET_S} s)")


if __name__ == "__main__":
    main()
