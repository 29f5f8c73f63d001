"""The five shipped experiments on the lab, each workload three times, to a report with ranges.

    .venv/bin/python benchmarks/shipped_campaigns.py --seconds 1 -o /tmp/shipped

Workloads last so many real seconds; iozone, which needs a file system, is left out on the lab. Told are, for
each campaign, its runs, and how far the repeats of a workload lie apart; the report stands in the folder.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

from azbenchlib.analysis import grouping
from azbenchlib.campaign import experiment
from azbenchlib.dataset.dataset import Dataset

ROOT = Path(__file__).parents[1]
FILES = ("host-cache", "l-series-ssd", "local-disks", "ultra-disk", "zone-redundant-disks")
REPEATS = 3


def measured(name: str, folder: Path, seconds: float, quick: bool) -> Path:
    """The dataset of a campaign; one that is there already is taken up."""
    asked = experiment.load(ROOT / "campaigns" / f"{name}.yaml", quick=quick, repeats=REPEATS)
    return experiment.run(asked, folder / name, target="lab", longest_s=seconds)


def rates(dataset: Path) -> pd.DataFrame:
    """The rates of a dataset, repeats taken together."""
    tables = Dataset.load(dataset).tables
    return grouping.rates(grouping.arrange(tables))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="real seconds a workload lasts")
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    wrong = []
    for name in FILES:
        begun = time.monotonic()
        dataset = measured(name, asked.output, asked.seconds, quick=False)
        found = rates(dataset)
        apart = ((found["iops_high"] - found["iops_low"]) / found["iops"]).median()
        print(
            f"{name}: {int(found['repeats'].sum())} rates in {len(found)} rows, median range {apart:.1%}, "
            f"{time.monotonic() - begun:.0f} s",
            flush=True,
        )
        wrong += [name] if (found["repeats"] != REPEATS).any() else []
    azbench = Path(sys.executable).with_name("azbench")
    folders = [str(asked.output / name) for name in FILES]
    subprocess.run([azbench, "report", *folders, "-o", asked.output / "report"], check=True)
    print(f"not {REPEATS} repeats of each: {wrong}" if wrong else f"all workloads {REPEATS} times")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
