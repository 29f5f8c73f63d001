"""What many write first: fio's JSON to a DataFrame by a loop, nothing checked.

    python benchmarks/plain_json_loop.py FOLDER [bins]

With `bins` as second argument, those too.
"""

import json
import sys
from pathlib import Path

import pandas as pd


def main() -> None:
    rows, bins = [], []
    for path in sorted(Path(sys.argv[1]).rglob("*.json")):
        with path.open() as file:
            document = json.load(file)
        for job in document["jobs"]:
            for ddir in ("read", "write"):
                told = job[ddir]
                if not told["total_ios"]:
                    continue
                clat = told["clat_ns"]
                row = {"file": str(path), "job": job["jobname"], "ddir": ddir, "mean": clat["mean"]}
                row |= {name: told[name] for name in ("iops", "bw_bytes", "total_ios", "runtime")}
                rows.append(row | {f"p{name}": value for name, value in clat["percentile"].items()})
                if sys.argv[2:] == ["bins"]:
                    bins += [(str(path), ddir, int(value), n) for value, n in clat["bins"].items()]
    print(len(pd.DataFrame(rows)), len(pd.DataFrame(bins)))


if __name__ == "__main__":
    main()
