"""From raw files to tables: which files there are, which format each has, what is read of it.

Memory, as measured: files are read one at a time, and told by their first 64 KiB; what nobody claims is not
read further. A log is read some megabytes at a time and needs 200 bytes a line (a tenth of a gigabyte for
500,000 lines), however long its lines are; a file that is read whole needs about 13 times its size. Ones
larger than ``LARGEST_LOG`` and ``LARGEST`` of ``formats.base`` are left out with a finding, so one file needs
at most some 8 GB. What stays are the tables: 100 bytes a row of samples.
"""

import errno
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib import formats
from azbenchlib.core import folders, schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import ERROR, INFO, Code, Finding, Severity
from azbenchlib.core.units import MIB
from azbenchlib.dataset.log_matching import LOG_NAME, Kin, Log, described_only
from azbenchlib.formats import Format
from azbenchlib.formats.base import LARGEST_LOG, LARGEST_SOURCE, Beside, Records, Source

LOG_UNITS = ("us", "ns")
SHEET_TOLERANCE = 1e-6  # iozone prints what the cell of its spreadsheet holds with two decimals

Tables = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Obstacle:
    """Why a file is not read, as the end of a sentence, and how much that matters."""

    why: str
    severity: Severity = ERROR


LINK_OUT = Obstacle("a link that leads out of the folder", INFO)
LOOP = Obstacle("a loop of links")


def files_at(path: Path) -> dict[Path, Obstacle | None]:
    """The file itself, or all files below a folder, each with why it is not read; None where it is.

    Hidden files are left out. Links are followed only to files within the folder.

    Raises
    ------
    InputError
        When there is no such file or folder, or the folder holds no file.
    """
    try:
        is_folder, is_there = path.is_dir(), path.is_symlink() or path.exists()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    if is_folder:
        found = dict(_walk(path))
        if not found:
            raise InputError(
                f"{path}: the folder holds no file; benchmark outputs are needed, such as fio's JSON"
            )
        return found
    if not is_there:
        raise InputError(f"{path}: no such file or folder")
    return {path: _obstacle(path)}


def _walk(folder: Path) -> Iterator[tuple[Path, Obstacle | None]]:
    home = folder.resolve()
    closed: list[OSError] = []
    for place, inner, names in folders.walk(folder, onerror=closed.append):
        yield from ((path, why) for name in inner if (why := _leads_astray(path := place / name, home)))
        for path in (place / name for name in names):
            yield path, _leads_astray(path, home) or _obstacle(path)
    for error in closed:
        yield Path(str(error.filename)), Obstacle(error.strerror or str(error))


def _leads_astray(path: Path, home: Path) -> Obstacle | None:
    """Why a link is not followed; None for what is no link, or leads to something within the folder."""
    try:
        return None if not path.is_symlink() or path.resolve().is_relative_to(home) else LINK_OUT
    except (OSError, RuntimeError):  # RuntimeError: before Python 3.13, and where links are too many
        return LOOP


def _obstacle(path: Path) -> Obstacle | None:
    """Why a path cannot be read, as far as it can be told without opening it."""
    try:
        path.stat()
        return None if path.is_file() else Obstacle("a pipe, a socket or a device")
    except FileNotFoundError:
        return Obstacle("a link to nowhere")
    except OSError as error:
        return LOOP if error.errno == errno.ELOOP else Obstacle(error.strerror or str(error))


def read_files(
    files: Sequence[tuple[Path, str]],
    log_unit: str | None = None,
    left_out: Mapping[Path, Obstacle] | None = None,
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

    Raises
    ------
    InputError
        When `log_unit` is another one.
    """
    if log_unit not in (None, *LOG_UNITS):
        raise InputError(f"log unit '{log_unit}' is not one of: {', '.join(LOG_UNITS)}")
    parts = [_not_read(str(path), why) for path, why in (left_out or {}).items()]
    logs: dict[Log, tuple[Path, Format]] = {}
    for file, shown in files:
        source = Source(shown, file=file)
        try:
            fmt = formats.recognise(source)
            if fmt and (log := _as_log(source, fmt)):
                logs[log] = (file, fmt)
            else:
                parts.append(_read(source, fmt))
        except OSError as error:
            parts.append(_not_read(shown, Obstacle(error.strerror or str(error))))
    parts += _read_logs(logs, stack("runs", [part["runs"] for part in parts]), log_unit)
    tables = {name: stack(name, [part[name] for part in parts]) for name in schema.TABLES}
    tables["findings"] = _without_included(tables["findings"])
    return count_once(_without_sheets(_without_descriptions(tables)))


def _as_log(source: Source, fmt: Format) -> Log | None:
    """A log that is named as fio names them, and not too large; None for every other file."""
    if not fmt.needs_beside or source.size_bytes > LARGEST_LOG:
        return None
    return Log.named(source.path, source.sha256)


def _read(source: Source, fmt: Format | None, beside: Beside | None = None) -> Tables:
    """The tables of one file, unless it is empty, compressed or too large."""
    name = Path(source.path).name
    records = Records(source)
    largest = LARGEST_LOG if fmt and fmt.needs_beside else LARGEST_SOURCE
    if source.size_bytes == 0 and LOG_NAME.match(name):
        records.finding(Code.EMPTY_LOG, f"{source.path}: an empty log; fio had nothing to write")
    elif ".log.fz" in name:
        message = f"{source.path}: a compressed log, which fio alone can unpack"
        advice = f"fio --inflate-log={name} > {name.replace('.log.fz', '.log')}"
        records.finding(Code.COMPRESSED_LOG, message, advice)
    elif fmt and source.size_bytes > largest:
        size, most = source.size_bytes / MIB, largest / MIB
        message = f"{source.path}: {size:,.0f} MiB are too much to read at once; at most {most:,.0f}"
        records.finding(Code.TOO_LARGE, message)
    else:
        return formats.read_as(fmt, source, beside)
    return records.frames()


def _read_logs(
    logs: Mapping[Log, tuple[Path, Format]], runs: pd.DataFrame, log_unit: str | None
) -> list[Tables]:
    """The tables of the logs, and the runs that they are of their own."""
    kin = Kin(runs, list(logs), log_unit)
    parts: list[Tables] = []
    seen = set()
    for log, (file, fmt) in logs.items():
        beside = kin.beside(log)
        content = (beside.run_id, log.kind, log.job, log.sha256)
        if content in seen:
            parts.append(_tables_with(findings=[_same_content(beside.run_id, log.path)]))
        else:
            parts.append(_read_log(Source(log.path, file=file), fmt, beside))
        seen.add(content)
    told = {run for part in parts for table in ("samples", "bins") for run in part[table]["run_id"].unique()}
    own = [row for run_id, row in kin.own.items() if run_id in told]
    return [_of_one_run(parts), _tables_with(runs=own)]


def _read_log(source: Source, fmt: Format, beside: Beside) -> Tables:
    """The tables of a log, which may have gone meanwhile."""
    try:
        return _read(source, fmt, beside)
    except OSError as error:
        return _not_read(source.path, Obstacle(error.strerror or str(error)))


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


def _not_read(path: str, obstacle: Obstacle) -> Tables:
    records = Records(Source(path))
    message = f"{records.source.path}: not read: {obstacle.why}"
    records.finding(Code.NOT_READ, message, severity=obstacle.severity)
    return records.frames()


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
    left = {name: _but(table, set(again["run_id"])) for name, table in tables.items()}
    notes = [_same_content(None, path) for path in again["source_path"].unique()]
    return left | {"findings": stack("findings", [left["findings"], schema.frame("findings", notes)])}


def _but(table: pd.DataFrame, ids: set[str]) -> pd.DataFrame:
    return table[~table["run_id"].isin(ids)] if "run_id" in table else table


def stack(name: str, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The parts of a table, one below the other."""
    filled = [part for part in parts if len(part)]
    if len(filled) == 1:
        return filled[0].reset_index(drop=True)
    return pd.concat(filled, ignore_index=True) if filled else schema.empty(name)


def count_once(tables: Tables) -> Tables:
    """Drop rows of runs that are there twice (the same file in two places), and say so."""
    runs = tables["runs"]
    twice = runs[runs.duplicated("run_id")]
    notes = [_same_content(run.run_id, run.source_path) for run in twice.itertuples()]
    again = set(twice["run_id"])
    single = {name: _once(name, table, again) for name, table in tables.items()}
    return single | {"findings": stack("findings", [single["findings"], schema.frame("findings", notes)])}


def _same_content(run_id: str | None, path: str) -> dict[str, Any]:
    message = f"{path}: the same content as another file; counted once"
    return Finding.of(Code.COUNTED_ONCE, message, source_path=path, run_id=run_id).row()


def _once(name: str, table: pd.DataFrame, again: set[str]) -> pd.DataFrame:
    """The rows of a table, those of runs that are there twice once."""
    if name == "findings" or "run_id" not in table:
        keys = None if name == "findings" else list(schema.TABLES[name].key)
        return table.drop_duplicates(keys, ignore_index=True)
    rows = table[table["run_id"].isin(again)]
    # printed figures may share a key and yet differ
    surplus = rows.index[rows.duplicated(None if name == "published" else list(schema.TABLES[name].key))]
    return table.drop(index=surplus).reset_index(drop=True) if len(surplus) else table
