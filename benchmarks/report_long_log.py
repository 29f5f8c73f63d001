"""What a report takes whose latency log has millions of lines: time, memory and size.

    .venv/bin/python benchmarks/report_long_log.py [--lines 5000000] [--format both]

The log is written beside an output of fio: an hour of reads and writes with a step in the middle.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

OUTPUT = Path(__file__).parents[1] / "tests" / "data" / "fio" / "randrw.json"
HOUR_MS = 3_600_000
LARGEST = 3_000_000  # bytes that the page may have


def write(folder: Path, lines: int) -> None:
    """An output of fio and its log of completion latencies, as `--write_lat_log=long` names it."""
    output = json.loads(OUTPUT.read_text())
    (job,) = output["jobs"]
    job["job options"] = {**job.get("job options", {}), "write_lat_log": "long"}
    (folder / "long.json").write_text(json.dumps(output))
    random = np.random.default_rng(1)
    t_ms = np.sort(random.integers(0, HOUR_MS, lines))
    level_ns = np.where(t_ms < HOUR_MS // 2, 400_000, 9_000_000)
    log = pd.DataFrame(
        {
            "t_ms": t_ms,
            "ns": (level_ns * random.lognormal(0, 0.3, lines)).astype(np.int64),
            "ddir": random.integers(0, 2, lines),
            "bs": 4096,
            "prio": 0,
        }
    )
    log.to_csv(folder / "long_clat.1.log", header=False, index=False)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--format", default="html", choices=("html", "both"))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="azbench-") as name:
        folder = Path(name)
        write(folder, chosen.lines)
        start = time.monotonic()
        program = str(Path(sys.executable).with_name("azbench"))
        command = [program, "report", str(folder), "-o", str(folder / "report"), "--format", chosen.format]
        code = subprocess.run(command, check=False).returncode
        taken = resource.getrusage(resource.RUSAGE_CHILDREN)
        page = folder / "report" / "report.html"
        size = page.stat().st_size if page.is_file() else 0
        print(
            f"{chosen.lines:,} lines: exit code {code}, {time.monotonic() - start:.0f} s "
            f"({taken.ru_utime + taken.ru_stime:.0f} s of CPU), {taken.ru_maxrss / 1024:,.0f} MiB, "
            f"page of {size:,} bytes"
        )
        return int(code != 0 or not 0 < size < LARGEST)


if __name__ == "__main__":
    sys.exit(main())
