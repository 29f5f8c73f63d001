"""Outputs into a lake: looked at, read and written by several processes, each output once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from azbenchlib.analysis import concurrency
from azbenchlib.analysis.percentiles import once
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError, MissingToolError, OutputError
from azbenchlib.core.findings import Code, Finding
from azbenchlib.dataset import manifest
from azbenchlib.dataset.derived import days_of, worth_keeping
from azbenchlib.dataset.files import Obstacle
from azbenchlib.dataset.from_raw import read_folder, read_loose
from azbenchlib.dataset.names import MANIFEST_FILE, same_place, sorted_out
from azbenchlib.dataset.outputs import datasets_within, outputs_at
from azbenchlib.dataset.read import Tables
from azbenchlib.formats.packed import stack
from azbenchlib.lake import parts, telemetry
from azbenchlib.lake.batches import (
    Looked,
    OutputBatch,
    batch_of_dataset,
    batches_of,
    chunks,
    look,
    not_read,
    with_kin,
)
from azbenchlib.lake.failures import divided
from azbenchlib.lake.parts import BY_RUN, DAY, IS_COUNTED, WITH_COUNTED
from azbenchlib.lake.place import LakePlace
from azbenchlib.lake.workers import Workers
from azbenchlib.model.disk_row import OF_SETUP

_WITH_FIGURES = ("runs", "demand")
_LOOKED_AT_ONCE = 2000  # files; fewer take less time than the start of a process

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What was added to a lake.

    Attributes
    ----------
    outputs : int
        Files with figures that were added.
    runs : int
        Rows of the table runs that were added.
    telemetry_rows : int
        Rows of the table demand that were added.
    there_already : int
        Files whose content the lake had.
    findings : DataFrame
        What is to be said of whole files, such as that one could not be read.
    """

    outputs: int
    runs: int
    telemetry_rows: int
    there_already: int
    findings: pd.DataFrame


@dataclass(frozen=True, kw_only=True)
class _Added:
    """What one batch added."""

    outputs: int = 0
    runs: int = 0
    telemetry_rows: int = 0
    findings: pd.DataFrame


def collect(
    place: LakePlace,
    names: Sequence[str | Path],
    workers: Workers,
    *,
    setup_id: str | None = None,
    log_unit: str | None = None,
    progress: Progress = lambda done, of: None,
) -> Collected:
    """Add outputs to a lake, which is made where there is none.

    Parameters
    ----------
    place : LakePlace
    names : sequence of str or path-like
        Outputs, folders or trees of them, and datasets by name or folder.
    workers : Workers
        The processes that read.
    setup_id : str, optional
        What to call the setup of outputs that state none. Those of a dataset are called DATASET/SETUP.
    log_unit : {"us", "ns"}, optional
        Unit of the latencies in fio logs that no output of their run lies beside.
    progress : callable, optional
        Called with the batches that are done and how many there are.

    Raises
    ------
    InputError
        When there is no such output, or the place is no lake.
    OutputError
        When the lake cannot be written.
    """
    folders, loose = sorted_out(names)
    if setup_id is not None:
        parts.setup_folder(setup_id)  # is refused where no folder can be called so
    parts.found_lake(place)
    there = parts.parts_of(place)
    known = parts.collected(there)
    within = datasets_within(loose.values())
    datasets = [
        *folders.values(),
        *(one for one in within if not any(same_place(one, f) for f in folders.values())),
    ]
    good, left_out = outputs_at(list(loose.values()), within) if loose else ([], {})
    looked = _all_looked(with_kin(good), workers)
    left_out |= not_read(looked)
    readable = [one for one in looked if not one.why_not]
    batches = batches_of(readable, known)
    of_datasets, refused = _batches_of_datasets(datasets, place, there)
    batches += of_datasets
    task = partial(_add, place, setup_id, log_unit)
    findings = [read_loose([], log_unit, left_out)["findings"], refused]
    added = []
    for done, (batch, result) in enumerate(workers.map(task, batches), 1):
        added.append(_lost(batch) if result is None else result)
        progress(done, len(batches))
    whole = _summed(added)
    return Collected(
        outputs=whole.outputs,
        runs=whole.runs,
        telemetry_rows=whole.telemetry_rows,
        there_already=sum(one.sha256 in known for one in readable),
        findings=stack("findings", [*findings, whole.findings]),
    )


def _all_looked(files: Sequence[tuple[Path, str]], workers: Workers) -> list[Looked]:
    found: list[Looked] = []
    for some, result in workers.map(look, list(chunks(files, _LOOKED_AT_ONCE))):
        found += look(some) if result is None else result
    return found


def _batches_of_datasets(
    folders: Iterable[Path], place: LakePlace, there: Sequence[parts.PartRecord]
) -> tuple[list[OutputBatch], pd.DataFrame]:
    """The datasets with something new, and findings on those whose setups the lake knows as other ones."""
    known, setups = parts.collected(there), parts.known_setups(place, there)
    batches, refused = [], []
    for folder in folders:
        batch = batch_of_dataset(folder, known)
        if batch is None:
            continue
        if why := _why_refused(folder, setups):
            what, advice = f"{folder}: not collected: {why}", f"Change the name in its {MANIFEST_FILE}"
            refused.append(Finding.of(Code.NOT_READ, what, advice, source_path=str(folder)).row())
        else:
            batches.append(batch)
    return batches, schema.frame("findings", refused)


def _why_refused(folder: Path, setups: dict[str, str]) -> str:
    """Why the setups of a dataset cannot be in a lake; empty where they can, and they are known then."""
    for name, told in _facts(folder).items():
        try:
            known = setups.setdefault(parts.setup_folder(name), told)
        except InputError as error:
            return str(error)
        if known != told:
            return f"the lake knows the setup {name} with other facts"
    return ""


def _facts(folder: Path) -> dict[str, str]:
    """What a dataset tells of each of its setups, as a hash, by the name of the setup in a lake."""
    found = manifest.load(folder)
    tables = found.tables()
    return {
        _name_in_lake(found.name, setup_id): parts.facts_hash(
            [tables[name][tables[name]["setup_id"] == setup_id] for name in ("setups", "disks")]
        )
        for setup_id in tables["setups"]["setup_id"]
    }


def _name_in_lake(dataset: str, setup_id: str) -> str:
    return f"{dataset}/{setup_id}"


def _add(place: LakePlace, setup_id: str | None, log_unit: str | None, batch: OutputBatch) -> _Added:
    """Read a batch and write it as a part; an output on which that fails costs no other."""
    try:
        tables, kept = _read(setup_id, log_unit, batch)
        return _written(place, tables, batch, kept)
    except (OutputError, MissingToolError):  # would be the same with any other output
        raise
    except Exception as error:
        batches, failed = divided(batch, error, partial(_tried, setup_id, log_unit))
        added = [_add(place, setup_id, log_unit, one) for one in batches]
        return _summed([*added, _Added(findings=read_loose([], None, failed)["findings"])])


def _tried(setup_id: str | None, log_unit: str | None, batch: OutputBatch) -> None:
    """Do all that is done with a batch but writing it."""
    tables, _ = _read(setup_id, log_unit, batch)
    for _ in parts.encoded(_for_lake(tables)):
        pass


def _read(setup_id: str | None, log_unit: str | None, batch: OutputBatch) -> tuple[Tables, set[str]]:
    """The tables of a batch, and which of its files are outputs."""
    if batch.dataset is None:
        tables = _called(read_loose(batch.files, log_unit, {}), setup_id)
        return tables, set(worth_keeping(tables, {name: Path(name) for name in batch.hashes}))
    tables, found = read_folder(batch.dataset, log_unit)
    return _renamed(telemetry.of_dataset(tables, found), found.name), set(batch.hashes)


def _written(place: LakePlace, tables: Tables, batch: OutputBatch, kept: set[str]) -> _Added:
    """Write a batch as a part; what gives no figures is left for another time."""
    findings = tables["findings"]
    whole_files = findings[findings["run_id"].isna() | (findings["code"] == Code.COUNTED_ONCE)]
    if not any(len(tables[name]) for name in _WITH_FIGURES):
        return _Added(findings=whole_files)
    parts.write_part(place, _for_lake(tables), [batch.hashes[name] for name in kept])
    runs, telemetry_rows = (len(tables[name]) for name in _WITH_FIGURES)
    outputs = len(kept - {MANIFEST_FILE})
    return _Added(outputs=outputs, runs=runs, telemetry_rows=telemetry_rows, findings=whole_files)


def _summed(added: Sequence[_Added]) -> _Added:
    return _Added(
        outputs=sum(one.outputs for one in added),
        runs=sum(one.runs for one in added),
        telemetry_rows=sum(one.telemetry_rows for one in added),
        findings=stack("findings", [one.findings for one in added]),
    )


def _renamed(tables: Tables, dataset: str) -> Tables:
    """The tables of a dataset with its name before those of its setups."""

    def named(rows: pd.DataFrame) -> pd.DataFrame:
        ids = rows[OF_SETUP].map(partial(_name_in_lake, dataset), na_action="ignore")
        return rows.assign(setup_id=ids.fillna(dataset).astype(schema.TEXT))

    return tables | {name: named(tables[name]) for name in ("runs", "demand", "setups", "disks")}


def _called(tables: Tables, setup_id: str | None) -> Tables:
    """The tables with a name for the setup of runs that state none."""
    runs = tables["runs"]
    tables = tables | {"demand": telemetry.called(tables["demand"], setup_id)}
    if setup_id is None or not runs[OF_SETUP].isna().any():
        return tables
    row = schema.frame("setups", [{"setup_id": setup_id, "environment": "other"}])
    setups = stack("setups", [tables["setups"], row]).drop_duplicates(OF_SETUP, ignore_index=True)
    return tables | {"runs": runs.assign(setup_id=runs[OF_SETUP].fillna(setup_id)), "setups": setups}


def _for_lake(tables: Tables) -> Tables:
    """The tables as a lake has them: each row with the day and setup of its run, and whether it counts."""
    runs = tables["runs"]
    runs = runs.assign(day=days_of(runs))
    single = set(runs.loc[concurrency.counted(tables), "run_id"])
    of_run = runs.drop_duplicates("run_id").set_index("run_id")[[DAY, OF_SETUP]]
    made: Tables = {}
    for name, rows in tables.items():
        if name in BY_RUN and name != "runs":
            told = of_run.reindex(rows["run_id"])
            rows = rows.assign(**{key: told[key].array for key in told})
        made[name] = runs if name == "runs" else telemetry.dated(rows) if name == "demand" else rows
        if name in WITH_COUNTED:
            made[name] = made[name].assign(**{IS_COUNTED: _counted(name, made[name], single)})
    return made


def _counted(table: str, rows: pd.DataFrame, single: set[str]) -> pd.Series:
    """Which rows count what no other row counts."""
    counts = rows["run_id"].isin(single)
    if table == "runs":
        return counts
    counts &= concurrency.counts_once(rows)
    return counts & rows.index.isin(once(rows).index) if table == "bins" else counts


def _lost(batch: OutputBatch) -> _Added:
    """The findings on a batch during which every process that read it was ended."""
    why = Obstacle("each process that read it was ended, perhaps for want of memory")
    files = {file: why for file, _ in batch.files} or {batch.dataset or Path(): why}
    return _Added(findings=read_loose([], None, files)["findings"])
