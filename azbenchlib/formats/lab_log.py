"""Reader of the lab's own log: what the emulated VM and its disks did while a run lasted.

The first line names the log and says when its time begins; then one line an interval, each a JSON object
with the clock on the wall and, for every disk (``data``) and every bucket (``data disk_burst_iops``), the
metrics of that moment. Times here are real ones: time dilation is undone with that of the whole dataset.

A log that was appended to another begins with such a first line of its own. The first belongs to the run that
lies beside the file; each of the others is a run of its own.
"""

import json
from typing import Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.findings import Code
from azbenchlib.formats.base import Beside, Records
from azbenchlib.formats.source import Source

MARK = '{"azbench_lab": 1,'  # how the first line begins
START = "started_unix_s"
_METRICS = ("credits", "cache_hit_ratio", "queue_depth", "throttled_share")  # rates are in fio's own logs


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
    return _Reader(source, beside).read()


class _Reader:
    """A file on its way into the table of samples, some megabytes of lines at a time."""

    def __init__(self, source: Source, beside: Beside | None) -> None:
        self.source, self.beside, self.records = source, beside, Records(source)
        self.run_id = ""
        self.start: float | None = None
        self.doc = -1
        self.broken = self.unstarted = 0
        self.rows: list[dict[str, Any]] = []
        self.places: dict[str, int] = {}
        self.filled: set[int] = set()

    def read(self) -> Records:
        for block in self.source.blocks():
            for line in block.splitlines():
                if line.startswith(MARK) or (self.doc < 0 and line.strip()):
                    self._begin(line)
                elif line.strip():
                    self._line(line)
            self._flush()
        self._report()
        return self.records

    def _begin(self, line: str) -> None:
        """The first line of a log."""
        self.doc, self.start, self.places = self.doc + 1, _start(line), dict.fromkeys(_METRICS, 0)
        self.unstarted += self.start is None
        its = self.beside.run_id if self.beside and self.doc == 0 else None
        self.run_id = its or self.source.run_id(self.doc, "log")
        if self.doc > 0:
            self.records.add(
                "runs",
                run_id=self.run_id,
                level="job",
                job=f"log {self.doc + 1}",
                source_path=self.source.path,
                source_sha256=self.source.sha256,
                source_doc=self.doc,
            )

    def _line(self, line: str) -> None:
        found = None if self.start is None else _samples(line, self.start)
        self.broken += found is None
        for row in found or []:
            self.rows.append({"run_id": self.run_id, "seq": self.places[row["metric"]], **row})
            self.places[row["metric"]] += 1
            self.filled.add(self.doc)

    def _flush(self) -> None:
        if self.rows:
            self.records.add_frame("samples", pd.DataFrame(self.rows))
        self.rows = []

    def _report(self) -> None:
        path, run_id = self.source.path, self.beside.run_id if self.beside else None
        if self.unstarted:
            message = f"{path}: the first line does not say when the log begins"
            advice = "Its samples are left out, for they have no times"
            self.records.finding(Code.NO_START, message, advice, run_id=run_id)
        if self.broken:
            message = f"{path}: {self.broken} broken lines left out"
            self.records.finding(Code.BROKEN_LINES, message, run_id=run_id)
        if self.doc > 0:
            message = f"{path}: {self.doc + 1} logs in one file; all but the first are runs of their own"
            self.records.finding(Code.SEVERAL_LOGS, message)
        if empty := self.doc + 1 - len(self.filled):
            message = f"{path}: {empty} of {self.doc + 1} logs hold no sample"
            self.records.finding(Code.NO_FIGURES, message, run_id=run_id)


def _start(line: str) -> float | None:
    """When a log begins; None where its first line does not tell."""
    try:
        start = float(json.loads(line)[START])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return start if abs(start) <= schema.LARGEST_VALUE else None


def _samples(line: str, start: float) -> list[dict[str, Any]] | None:
    """The samples of one line, or None where it is none of such a log."""
    try:
        content = json.loads(line)
        seconds = float(content["unix_s"]) - start
        pairs = [(name, *pair) for name, state in content["objects"].items() for pair in state.items()]
        values = [(name, metric, float(value)) for name, metric, value in pairs if metric in _METRICS]
        _ = [name.encode() for name, _, _ in values]  # JSON can spell what is no text
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None
    if (
        not all(abs(value) <= schema.LARGEST_VALUE for _, _, value in values)
        or not 0 <= seconds < schema.LARGEST_VALUE
    ):
        return None
    return [
        {"t_s": seconds, "object": name, "metric": metric, "value": value} for name, metric, value in values
    ]
