"""From raw files to tables: which files there are, which format each has, what is read of it.

Memory, as measured: files are read one at a time, and told by their first 64 KiB; what nobody claims is not
read further. A log is read some megabytes at a time and needs 200 bytes a line (a tenth of a gigabyte for
500,000 lines), however long its lines are; a file that is read whole needs about 13 times its size. Ones
larger than ``LARGEST_LOG`` and ``LARGEST_SOURCE`` of ``formats.source`` are left out with a finding, so one
file needs at most some 8 GB; logs of latencies longer than ``LONG_LOG`` become bins of some hundred windows
while they are read, and may have any length. What stays are the tables: 100 bytes a row of samples.
"""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.core.units import MIB
from azbenchlib.dataset.counted_once import count_once, other_forms, same_content, without
from azbenchlib.dataset.files import Obstacle
from azbenchlib.dataset.log_matching import Kin, described_only
from azbenchlib.dataset.log_names import LOG_NAME, Log
from azbenchlib.formats import registry
from azbenchlib.formats.base import Beside, Records, frames_of
from azbenchlib.formats.fio.logs.log_lines import began_at
from azbenchlib.formats.packed import Rows, stack
from azbenchlib.formats.registry import Format
from azbenchlib.formats.source import LARGEST_LOG, LARGEST_SOURCE, Source

LOG_UNITS = ("us", "ns")
_TOGETHER = 150_000  # rows, and half KiB of files, whose tables are made at once
Tables = dict[str, pd.DataFrame]

SHEET_TOLERANCE = 1e-6  # iozone prints what the cell of its spreadsheet holds with two decimals


@contextmanager
def without_collections() -> Iterator[None]:
    """Nothing that is read refers to itself, and looking for what does takes a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@without_collections()
def read_files(
    files: Sequence[tuple[Path, str]],
    log_unit: str | None = None,
    left_out: Mapping[Path, Obstacle] | None = None,
    bins: bool = True,
) -> Tables:
    """All tables of these files.

    Parameters
    ----------
    files : sequence of (Path, str)
        Where each is, and the name it goes by.
    log_unit : {"us", "ns"}, optional
        Unit of latencies in logs that no output tells the unit of.
    left_out : mapping of Path to Obstacle, optional
        Files that are not read, and why; each is a finding.
    bins : bool
        Whether the latency bins of whole runs are read; those of logs always are.

    Raises
    ------
    InputError
        When `log_unit` is another one.
    """
    if log_unit not in (None, *LOG_UNITS):
        raise InputError(f"log unit '{log_unit}' is not one of: {', '.join(LOG_UNITS)}")
    return _tables(files, log_unit, left_out or {}, bins)


def _tables(
    files: Sequence[tuple[Path, str]], log_unit: str | None, left_out: Mapping[Path, Obstacle], bins: bool
) -> Tables:
    read = [_not_read(str(path), why) for path, why in left_out.items()]
    logs: dict[Log, tuple[Source, Format]] = {}
    parts: list[dict[str, Rows]] = []
    held = 0
    for file, shown in files:
        for records in _records(Source(shown, file=file, with_bins=bins), logs):
            read.append(records)
            held += records.weight
            if held > _TOGETHER:
                parts += frames_of(read)
                read, held = [], 0
    parts += frames_of(read)
    if logs:
        tables = {name: stack(name, [part.pop(name) for part in parts]) for name in schema.TABLES}
        kin = Kin(tables["runs"], list(logs), log_unit, other_forms(tables))
        logged = _read_logs(logs, kin)
        tables["samples"] = _without_logged(tables["samples"], logged)
        parts = [{**part} for part in (tables, *logged)]
    tables = {name: stack(name, [part.pop(name) for part in parts]) for name in schema.TABLES}
    tables["findings"] = _without_included(tables["findings"])
    return count_once(_without_sheets(_without_descriptions(tables)))


def _records(source: Source, logs: dict[Log, tuple[Source, Format]]) -> Iterator[Records]:
    """The rows of the outputs in a file; logs, which are read when all runs are known, go to `logs`."""
    layer = registry.unwrapping()
    n_documents: dict[str, int] = {}  # of each file of an archive
    try:
        for part in layer.parts(source):
            if part.format and (log := _as_log(part.source, part.format)):
                logs[log] = (part.source, part.format)
                part.source.forget()
                continue
            records = _read(part.source, part.format)
            if part.source is not source:
                records.count_documents_on(n_documents)
            yield records
            part.source.forget()  # or the texts of a thousand files are kept until their tables are made
    except OSError as error:
        yield _not_read(source.path, Obstacle(error.strerror or str(error)))
    source.forget()
    yield from registry.records_of(source, layer.findings)


def _as_log(source: Source, fmt: Format) -> Log | None:
    """A log that is named as fio names them, and not too large; None for every other file."""
    if not fmt.needs_beside or _is_too_large(source, fmt):
        return None
    return Log.named(source.path, source.content_sha256)


def _largest(fmt: Format) -> int:
    return LARGEST_LOG if fmt.needs_beside else LARGEST_SOURCE


def _is_too_large(source: Source, fmt: Format) -> bool:
    """Whether a file takes too much memory; a long log of latencies takes little."""
    if source.size_bytes <= _largest(fmt):
        return False
    from azbenchlib.formats.fio.logs import binned_log, log_lines  # what few files need

    return not binned_log.is_long(source, log_lines.kind_of(source.path))


def _read(source: Source, fmt: Format | None, beside: Beside | None = None) -> Records:
    """The rows of one file, unless it is empty, compressed or too large."""
    records = Records(source)
    if source.size_bytes == 0 and LOG_NAME.match(Path(source.path).name):
        records.finding(Code.EMPTY_LOG, f"{source.path}: an empty log; fio had nothing to write")
    elif ".log.fz" in source.path and ".log.fz" in (name := Path(source.path).name):
        message = f"{source.path}: a compressed log, which fio alone can unpack"
        advice = f"fio --inflate-log={name} > {name.replace('.log.fz', '.log')}"
        records.finding(Code.COMPRESSED_LOG, message, advice)
    elif fmt and _is_too_large(source, fmt):
        size, most = source.size_bytes / MIB, _largest(fmt) / MIB
        message = f"{source.path}: {size:,.0f} MiB are too much to read at once; at most {most:,.0f}"
        records.finding(Code.TOO_LARGE, message)
    else:
        return registry.records_as(fmt, source, beside)
    return records


def _read_logs(logs: Mapping[Log, tuple[Source, Format]], kin: Kin) -> list[Tables]:
    """The tables of the logs, and the runs that they are of their own."""
    parts: list[Tables] = []
    seen = set()
    for log, (source, fmt) in logs.items():
        beside = kin.beside(log)
        content = (beside.run_id, log.kind, log.job, log.sha256)
        if content in seen:
            parts.append(_tables_with(findings=[same_content(beside.run_id, log.path)]))
        else:
            kin.add_begin(beside.run_id, began_at(source.opening))
            parts.append(_read_log(source, fmt, beside))
            source.forget()
            kin.add_jobs(beside.run_id, list(dict.fromkeys(parts[-1]["samples"]["run_id"])))
        seen.add(content)
    told = {run for part in parts for table in ("samples", "bins") for run in part[table]["run_id"].unique()}
    own = [row for run_id, row in kin.own.items() if run_id in told]
    return [_of_one_run(parts), _tables_with(runs=own)]


def _without_logged(samples: pd.DataFrame, logged: Sequence[Tables]) -> pd.DataFrame:
    """The samples of outputs without those that a log of the same run tells more finely."""
    keys = ["run_id", "metric"]
    told = pd.MultiIndex.from_frame(pd.concat([part["samples"][keys] for part in logged]).drop_duplicates())
    again = samples["object"].isna() & pd.MultiIndex.from_frame(samples[keys]).isin(told)
    return samples[~again].reset_index(drop=True)


def _read_log(source: Source, fmt: Format, beside: Beside) -> Tables:
    """The tables of a log, which may have gone meanwhile."""
    try:
        return _read(source, fmt, beside).frames()
    except OSError as error:
        return _not_read(source.path, Obstacle(error.strerror or str(error))).frames()


def _of_one_run(parts: list[Tables]) -> Tables:
    """The logs' tables in one: places count on, and bins add up, where several logs are of one run."""
    tables = {name: stack(name, [part[name] for part in parts]) for name in schema.TABLES}
    keys = ["run_id", "ddir", "metric"]
    first = [part["samples"].drop_duplicates(keys)[keys] for part in parts if len(part["samples"])]
    if stack("samples", first).duplicated(keys).any():
        seq = tables["samples"].groupby(keys).cumcount()
        tables["samples"] = tables["samples"].assign(seq=seq.astype(schema.INT))
    keys = list(schema.TABLES["bins"].key)
    if tables["bins"].duplicated(keys).any():
        summed = tables["bins"].groupby(keys, as_index=False, dropna=False, sort=False)["n"].sum()
        tables["bins"] = schema.conform("bins", summed)
    return tables


def _tables_with(**rows: list[dict[str, Any]]) -> Tables:
    return {name: schema.frame(name, rows.get(name, [])) for name in schema.TABLES}


def _not_read(path: str, obstacle: Obstacle) -> Records:
    records = Records(Source(path))
    message = f"{records.source.path}: not read: {obstacle.why}"
    records.finding(Code.NOT_READ, message, severity=obstacle.severity)
    return records


def _without_included(findings: pd.DataFrame) -> pd.DataFrame:
    """A file that a job file includes is no file that nobody knows."""
    included = findings["source_path"].isin(findings.loc[findings["code"] == Code.INCLUDED, "source_path"])
    return findings[~(included & (findings["code"] == Code.NOT_RECOGNISED))]


def _without_descriptions(tables: Tables) -> Tables:
    """Leave out what a job file describes where the output of that job is there."""
    known = described_only(tables["runs"], tables["findings"])
    if not known.any():
        return tables
    ids = set(tables["runs"].loc[known, "run_id"])
    about = tables["findings"]["run_id"].isin(ids)
    return tables | {"runs": tables["runs"][~known], "findings": tables["findings"][~about]}


def _without_sheets(tables: Tables) -> Tables:
    """Leave out the figures of a spreadsheet of iozone (-b) that the text beside it tells too."""
    runs = tables["runs"]
    runs = runs[(runs["tool"] == "iozone").fillna(False) & runs["source_path"].notna()]
    if not runs["source_path"].str.endswith(".xls").any():
        return tables
    rates = tables["results"][["run_id", "bw_bytes_per_s", "iops"]]
    rows = runs.merge(rates, on="run_id", how="left")
    rows = rows.merge(tables["latency"][["run_id", "lat_mean_us"]], on="run_id", how="left")
    rows["place"] = rows["source_path"].map(lambda path: str(Path(path).with_suffix("")))
    rows["figure"] = rows["bw_bytes_per_s"].fillna(rows["iops"]).fillna(rows["lat_mean_us"]).astype(float)
    keys = ["place", "rw", "bs_bytes", "working_set_bytes", "numjobs"]
    sheets = rows["source_path"].str.endswith(".xls").astype(bool)
    both = rows[sheets].merge(rows[~sheets][[*keys, "figure"]], on=keys, suffixes=("", "_text"))
    again = both[np.isclose(both["figure"], both["figure_text"], rtol=SHEET_TOLERANCE)]
    left = {name: without(table, set(again["run_id"])) for name, table in tables.items()}
    notes = [same_content(None, path) for path in again["source_path"].unique()]
    return left | {"findings": stack("findings", [left["findings"], schema.frame("findings", notes)])}
