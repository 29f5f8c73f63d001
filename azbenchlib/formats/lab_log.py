"""Reader of the lab's own log: what the emulated VM and its disks did while a run lasted.

The first line names the log and says when its time begins; then one line an interval, each a JSON object
with the clock on the wall and, for every disk (``data``) and every bucket (``data disk_burst_iops``), the
metrics of that moment. Times here are real ones: slow motion is undone with that of the whole dataset.
"""

import json
from typing import Any

from azbenchlib import schema
from azbenchlib.formats.base import Beside, Records, Source

MARK = '{"azbench_lab": 1,'  # how the first line begins
START = "started_unix_s"
METRICS = ("credits", "cache_hit_ratio", "queue_depth", "throttled_share")  # rates are in fio's own logs


def sniff(opening: str) -> bool:
    """Whether the first line is that of a lab's log."""
    return opening.startswith(MARK)


def read_lab_log(source: Source, beside: Beside | None) -> Records:
    """The samples of a lab's log.

    Parameters
    ----------
    source : Source
        Lines of JSON.
    beside : Beside or None
        The run that the log belongs to.

    Returns
    -------
    Records
        Rows of samples with `object` naming the disk or the bucket, and findings.
    """
    records = Records(source)
    run_id = beside.run_id if beside else source.run_id(0, "log")
    rows: list[dict[str, Any]] = []
    lines = (line for block in source.blocks() for line in block.splitlines() if line.strip())
    start, broken = _start(next(lines, "")), 0
    for line in lines:
        found = _samples(line, start)
        broken += found is None
        rows += found or []
    places = dict.fromkeys(METRICS, 0)
    for row in rows:
        records.add("samples", run_id=run_id, seq=places[row["metric"]], **row)
        places[row["metric"]] += 1
    if broken:
        message = f"{source.path}: {broken} broken lines left out"
        records.finding("warning", "broken_lines", message, run_id=run_id)
    return records


def _start(line: str) -> float:
    try:
        start = json.loads(line)[START]
    except (ValueError, TypeError, KeyError):
        return 0.0
    return float(start) if isinstance(start, int | float) else 0.0


def _samples(line: str, start: float) -> list[dict[str, Any]] | None:
    """The samples of one line, or None where it is none of such a log."""
    try:
        content = json.loads(line)
        seconds = float(content["unix_s"]) - start
        pairs = [(name, *pair) for name, state in content["objects"].items() for pair in state.items()]
        values = [(name, metric, float(value)) for name, metric, value in pairs if metric in METRICS]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    if not all(abs(value) <= schema.LARGEST for _, _, value in values) or not 0 <= seconds < schema.LARGEST:
        return None
    return [
        {"t_s": seconds, "object": name, "metric": metric, "value": value} for name, metric, value in values
    ]
