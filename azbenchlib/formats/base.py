"""What every reader gives: records per table."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code, Finding, Severity
from azbenchlib.formats.packed import ColumnBlock, PackedRows, Rows, stack
from azbenchlib.formats.source import Source

LONGEST_MESSAGE = 2000  # characters of what a finding says
# What a direction that did I/O has more than none of, with its words; a tool prints a zero where it lost the
# figure.
_SURELY_SOME = {
    "io_bytes": "bytes",
    "runtime_s": "run time",
    "iops": "IOPS",
    "bw_bytes_per_s": "throughput",
}


@dataclass(frozen=True)
class Beside:
    """What the files beside a log tell of it.

    Attributes
    ----------
    run_id : str
        The run that it belongs to.
    tool_version : str or None
        Version that wrote it, where an output of the run tells.
    log_unit : {"us", "ns"} or None
        Unit of its latencies, where the user says it.
    jobs_apart : bool
        Whether a log that several jobs share is a run for each of them.
    """

    run_id: str
    tool_version: str | None = None
    log_unit: str | None = None
    jobs_apart: bool = False


class Records:
    """Rows under way: one list a table; `source` is the file that they are read from."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.begins_as = ""  # the format that claimed the file
        self.is_all_read = False  # nothing but white space is left that another format could claim
        self._rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._blocks: dict[str, list[ColumnBlock]] = defaultdict(list)
        self._frames: dict[str, list[pd.DataFrame]] = defaultdict(list)

    def add(self, table: str, **row: Any) -> None:
        """One row; values that are None or left out become NA."""
        self._rows[table].append(row)

    def add_result(self, label: str, ddir: str, *, run_id: str, **row: Any) -> None:
        """A row of results of a direction that did I/O; a zero of it is NA, and a finding says so.

        Parameters
        ----------
        label : str
            What the finding calls the job.
        ddir : str
            Direction.
        run_id : str
            The run.
        **row
            Columns of the table results.
        """
        zeros = [name for name in _SURELY_SOME if row.get(name) == 0]
        self.add("results", run_id=run_id, ddir=ddir, **{**row, **dict.fromkeys(zeros)})
        if zeros:
            lost = ", ".join(_SURELY_SOME[name] for name in zeros)
            count = f" ({row['ios']:,} I/Os)" if row.get("ios") else ""
            message = f"{label}: {ddir} did I/O{count}, so the zero that stands for its {lost} is no figure"
            self.finding(Code.IO_WITHOUT_FIGURES, message, run_id=run_id)

    def add_columns(self, table: str, shared: dict[str, Any], **columns: Sequence[Any] | np.ndarray) -> None:
        """Rows that agree in the columns `shared`; the others as a sequence a column, all of one length."""
        if len(next(iter(columns.values()))):
            self._blocks[table].append(ColumnBlock(shared, columns))

    def add_frame(self, table: str, data: pd.DataFrame) -> None:
        """Many rows at once; columns that are left out become NA, and so do values that do not fit."""
        try:
            self._frames[table].append(schema.conform(table, data))
        except InputError:
            self._frames[table].append(self._fitting(table, data))

    def finding(
        self,
        code: Code,
        message: str,
        advice: str | None = None,
        *,
        run_id: str | None = None,
        severity: Severity | None = None,
    ) -> None:
        """What is wrong or doubtful, with the file's name filled in; see :meth:`Finding.of`."""
        found = Finding.of(code, message, advice, severity, source_path=self.source.path, run_id=run_id)
        self.add_finding(found)

    def add_finding(self, finding: Finding) -> None:
        """A row of the table findings, of a length that can be read, in text that can be written."""
        advice, message = _writable(finding.advice), _writable(finding.message)
        self.add("findings", **replace(finding, message=message, advice=advice).row())

    def frames(self) -> dict[str, pd.DataFrame]:
        """A frame for every table of the schema, empty ones included.

        A value that its column cannot hold is left out, and a finding names it; so does one a file that holds
        nothing of the format that it begins as.
        """
        tables = {table: self._frame(table) for table in schema.TABLES if table != "findings"}
        self._tell_if_nothing(any(len(rows) for rows in tables.values()))
        return tables | {"findings": self._frame("findings")}

    def rename(self, names: Mapping[str, str]) -> None:
        """Give runs other names, in the rows of all tables; `names`: the new one by the old one."""
        for rows in self._rows.values():
            for row in rows:
                if "run_id" in row and row["run_id"] in names:
                    row["run_id"] = names[row["run_id"]]
        for block in chain.from_iterable(self._blocks.values()):
            if block.shared["run_id"] in names:
                block.shared["run_id"] = names[block.shared["run_id"]]
        for table, frames in self._frames.items():
            self._frames[table] = [
                frame.assign(run_id=frame["run_id"].replace(dict(names))) if "run_id" in frame else frame
                for frame in frames
            ]

    def count_documents_on(self, so_far: dict[str, int]) -> None:
        """Count the documents of a part of a file on from those of the parts before.

        Parameters
        ----------
        so_far : dict of str to int
            How many documents each file has, which becomes more.
        """
        rows = [row for row in self._rows["runs"] if row.get("source_doc") is not None]
        first = so_far.get(self.source.path, 0)
        for row in rows if first else ():
            row["source_doc"] += first
        last = max((row["source_doc"] for row in rows), default=first - 1)
        so_far[self.source.path] = int(last) + 1

    def drop_findings(self, code: Code, run_ids: Collection[str]) -> None:
        """Take back what was found of some runs."""
        if run_ids:
            kept = [
                row for row in self._rows["findings"] if row["code"] != code or row["run_id"] not in run_ids
            ]
            self._rows["findings"] = kept

    @property
    def rows(self) -> Mapping[str, list[dict[str, Any]]]:
        """The rows of each table that came one by one."""
        return self._rows

    @property
    def is_plain(self) -> bool:
        """Whether there are no frames, and something is kept, or a finding tells why not."""
        kept = any(rows for table, rows in self._rows.items() if table != "findings") or any(
            self._blocks.values()
        )
        return not any(self._frames.values()) and not self._is_hollow(kept)

    @property
    def weight(self) -> int:
        """About how much is held: rows, and half KiB of the file."""
        blocks = sum(len(block) for some in self._blocks.values() for block in some)
        return sum(map(len, self._rows.values())) + blocks + self.source.size_bytes // 512

    @property
    def blocks(self) -> Mapping[str, Sequence[ColumnBlock]]:
        """Further rows of each table, by columns."""
        return self._blocks

    def _is_hollow(self, kept: bool) -> bool:
        """Whether nothing is kept of a file of a known format, and nothing tells why."""
        told = any(row["severity"] != Severity.INFO for row in self._rows["findings"])
        return bool(self.begins_as) and not (kept or told)

    def _tell_if_nothing(self, kept: bool) -> None:
        if self._is_hollow(kept):
            message = (
                f"{self.source.path}: it begins as {self.begins_as} does, and holds nothing that can be kept"
            )
            self.finding(Code.NO_FIGURES, message, "Measure again, or compare it with a whole one")
            self.begins_as = ""

    def _frame(self, table: str) -> pd.DataFrame:
        parts = [part for part in self._frames[table] if len(part)]
        if blocks := self._blocks[table]:
            try:
                parts.insert(0, PackedRows.of(table, blocks).frame())
            except InputError:
                parts.insert(0, self._fitting(table, [row for block in blocks for row in block.rows()]))
                self._frames[table], self._blocks[table] = list(parts), []
        if self._rows[table] or not parts:
            try:
                parts.insert(0, schema.frame(table, self._rows[table]))
            except InputError:
                parts.insert(0, self._fitting(table, self._rows[table]))
                self._frames[table], self._rows[table] = list(parts), []
        return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)

    def _fitting(self, table: str, data: Iterable[Mapping[str, Any]] | pd.DataFrame) -> pd.DataFrame:
        """The rows without the values that no column holds; a finding names them."""
        rows, misfits = schema.fitting(table, data)
        for misfit in misfits:
            message = f"{self.source.path}: {misfit}; left out"
            self.finding(Code.VALUE_OUT_OF_RANGE, message)
        return rows


def frames_of(several: Sequence[Records]) -> list[dict[str, Rows]]:
    """The tables of several files in their order, each as :meth:`Records.frames` makes them, or packed.

    Those of files with rows alone are made together: a table takes about as long to make as a hundred rows.
    """
    found: list[dict[str, Rows]] = []
    for is_plain, group in groupby(several, key=lambda records: records.is_plain):
        some = list(group)
        together = _together(some) if is_plain else None
        if together is None:
            found += [{**records.frames()} for records in some]
        else:
            found.append(together)
    return found


def _together(several: Sequence[Records]) -> dict[str, Rows] | None:
    """The tables of all; None where a value fits no column, which is told by its file."""
    every_row: dict[str, list[dict[str, Any]]] = defaultdict(list)
    every_block: dict[str, list[ColumnBlock]] = defaultdict(list)
    for records in several:
        for table, some in records.rows.items():
            every_row[table] += some
        for table, blocks in records.blocks.items():
            every_block[table] += blocks
    made: dict[str, Rows] = {}
    try:
        for table in schema.TABLES:
            rows, blocks = schema.frame(table, every_row[table]), every_block[table]
            packed = PackedRows.of(table, blocks) if blocks else rows
            made[table] = stack(table, [rows, packed]) if blocks and len(rows) else packed
    except InputError:
        return None
    return made


def _writable(text: str) -> str:
    """A sentence that can be written in UTF-8, of a length that can be read."""
    half = LONGEST_MESSAGE // 2
    short = text if len(text) <= LONGEST_MESSAGE else f"{text[:half]} … {text[-half:]}"
    return short.encode("utf-8", "backslashreplace").decode()
