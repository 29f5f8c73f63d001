"""Outputs of fio by the dozen: a real one of this project, copied with other counts in its bins."""

import json
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "data" / "fio" / "group_jsonplus.json"
DAY_S = 86_400


def document(number: int) -> dict[str, Any]:
    """Copy `number` of one output: ten seconds after the one before on its day, other counts of I/Os."""
    made = json.loads(SOURCE.read_text())
    stamp = made["timestamp"] + number % 3 * DAY_S + number // 3 * 10
    made |= {"timestamp": stamp, "timestamp_ms": stamp * 1000}
    for job in made["jobs"]:
        for ddir in ("read", "write"):
            for kind in ("clat_ns", "lat_ns", "slat_ns"):
                bins = job[ddir].get(kind, {}).get("bins", {})
                for place, value in enumerate(bins):
                    bins[value] += (number * 7 + place) % 5
    return made


def write_runs(folder: Path, count: int, first: int = 0) -> list[Path]:
    """So many outputs in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(first, first + count):
        path = folder / f"run-{number:04}.json"
        path.write_text(json.dumps(document(number)))
        paths.append(path)
    return paths


def pooled(paths: list[Path]) -> dict[tuple[str, str], dict[int, int]]:
    """The counts of all bins of these outputs, by direction and kind of latency, read without azbench."""
    found: dict[tuple[str, str], dict[int, int]] = {}
    for path in paths:
        for job in json.loads(path.read_text())["jobs"]:
            for ddir in ("read", "write"):
                for kind in ("clat", "lat", "slat"):
                    bins = job[ddir].get(f"{kind}_ns", {}).get("bins", {})
                    counts = found.setdefault((ddir, kind), {}) if bins else {}
                    for value, n in bins.items():
                        counts[int(value)] = counts.get(int(value), 0) + n
    return found
