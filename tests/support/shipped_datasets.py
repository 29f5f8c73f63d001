"""The shipped datasets that reports are about: all but the telemetry, in which no run is."""

from pathlib import Path

TELEMETRY = "iostat-fio-load-2026"
MEASURED = sorted(
    path.parent
    for path in (Path(__file__).parents[2] / "datasets").glob("*-20*/manifest.json")
    if path.parent.name != TELEMETRY
)
