"""Dataset: the tables of one or many runs, with the manifest that says what was measured.

A dataset folder holds ``manifest.json``, ``raw/`` (untouched outputs) and ``tables/`` (Parquet, which
can always be made again from ``raw/``).
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import write_atomically, write_together
from azbenchlib.core.findings import Code
from azbenchlib.core.grouping import GroupBy
from azbenchlib.core.printable import cells, printable
from azbenchlib.core.units import format_significant
from azbenchlib.dataset import from_raw, stored
from azbenchlib.dataset.chosen import of_setups
from azbenchlib.dataset.counted_once import count_once
from azbenchlib.dataset.names import chosen_setups, find_dataset, listed, setups_of_place, sorted_out
from azbenchlib.dataset.outputs import datasets_within, outputs_at
from azbenchlib.dataset.read import Tables
from azbenchlib.dataset.stored import STAMP
from azbenchlib.formats.packed import stack

if TYPE_CHECKING:
    from azbenchlib.dataset.manifest import Manifest
    from azbenchlib.dataset.setups import Assumed

__all__ = ["STAMP", "Dataset", "find_dataset", "write_tables"]

_ABOUT = 160  # characters of a title
_NOT_SHOWN = ["source_path", "setup_id", "iodepth", "numjobs"]  # file, setup and queue depth say it shorter
_ROWS_OF_A_SHEET = 2**20 - 1  # without its head; source: Microsoft, "Excel specifications and limits", 2026


@dataclass(frozen=True, eq=False, kw_only=True)  # tables of pandas are not equal or unequal as a whole
class Dataset:
    """All tables of the schema, and the manifest where there is one.

    Attributes
    ----------
    tables : dict of str to DataFrame
    manifest : Manifest or None
    place : Path or None
        The dataset folder, or the first of the outputs that it was opened from.
    raw : mapping of str to Path, or None
        Where the raw files of outputs lie, by their names in a dataset folder made of them; None where
        `place` is a dataset folder, just as it stands.
    chosen : tuple of str
        The setups that were chosen of the dataset; empty: all.
    """

    tables: Tables
    manifest: Manifest | None = None
    place: Path | None = None
    raw: Mapping[str, Path] | None = None
    chosen: tuple[str, ...] = ()

    @classmethod
    def _of_reported(cls, reported: Tables) -> Dataset:
        """A dataset whose runs are checked when its findings, or all of its tables, are first used."""
        made = object.__new__(cls)
        tables = {  # what the caller changes in them is not what is checked
            name: table.copy(deep=False) for name, table in from_raw.at_full_speed(reported).items()
        }
        vars(made).update(
            manifest=None, place=None, raw=None, chosen=(), _reported=reported, _unchecked=tables
        )
        return made

    def __getattr__(self, name: str) -> Any:
        """A table by its name: ``dataset.results``; all of them, where the runs were not checked yet."""
        there = vars(self)
        if name == "tables" and "_reported" in there:
            found = from_raw.findings_of(there["_reported"])
            there["tables"] = there["_unchecked"] | {"findings": found}
            return there["tables"]
        if name in schema.TABLES:
            needs_checks = name == "findings" or "_unchecked" not in there
            return self.tables[name] if needs_checks else there["_unchecked"][name]
        raise AttributeError(f"a dataset has no table {name}; it has: {', '.join(schema.TABLES)}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), "tables", *schema.TABLES})

    @classmethod
    def of_frame(cls, frame: pd.DataFrame) -> Dataset:
        """Open runs that are a DataFrame already: see :func:`azbenchlib.dataset.frames.tables_of`."""
        from azbenchlib.dataset.frames import tables_of  # few users have one

        return cls._of_reported(tables_of(frame))

    @classmethod
    def read(cls, *paths: Path | str, log_unit: str | None = None, bins: bool = True) -> Dataset:
        """Read raw outputs: files, folders of them, or dataset folders.

        Parameters
        ----------
        paths : path-like
            At least one.
        log_unit : {"us", "ns"}, optional
            Unit of the latencies in fio logs that no output of their run lies beside.
        bins : bool
            Whether the latency bins of whole runs (json+) are read, which take half of the time and most of
            the memory. Logs give their bins always.

        Returns
        -------
        Dataset
            What was wrong with a file stands in ``findings``; the good part of it is there. Runs of outputs
            are checked when ``findings``, or all ``tables``, are first used.

        Raises
        ------
        InputError
            When a path does not exist, a folder holds no file, or `log_unit` is no unit of fio's logs.
        """
        names, chosen = chosen_setups(paths)
        folders, loose = sorted_out(names)
        within = datasets_within(loose.values())
        datasets = [
            cls._of_folder(folder, setups_of_place(chosen, folder), log_unit, bins)
            for folder in [*folders.values(), *within]
        ]
        # in one go, for a log may lie in another of the paths than its JSON
        good, left_out = outputs_at(list(loose.values()), within)
        some = bool(good or left_out)
        files = [cls._of_reported(from_raw.read_reported(good, log_unit, left_out, bins))] if some else []
        return cls.merge([*files, *datasets])

    @classmethod
    def _of_folder(cls, folder: Path, chosen: tuple[str, ...], log_unit: str | None, bins: bool) -> Dataset:
        """A dataset folder as its raw files tell it, with the setups that are chosen; none: with all."""
        tables, manifest = from_raw.read_folder(folder, log_unit, bins)
        kept = of_setups(tables, chosen, folder)
        return cls(tables=kept, manifest=manifest, place=folder, chosen=chosen)

    @classmethod
    def load(
        cls,
        *names: Path | str,
        assumed: Assumed | None = None,
        group_by: GroupBy | str | None = None,
    ) -> Dataset:
        """Open one dataset, with a manifest, from whatever `azbench report` takes.

        A dataset folder is opened from its Parquet files where azbench is known to have made them here; other
        tables than those of its raw files are never taken: see :mod:`azbenchlib.dataset.stored`.

        Parameters
        ----------
        names : str or path-like
            A dataset by name or folder; or outputs, folders of them and ``-``, together one dataset.
        assumed : Assumed, optional
            The setup of runs of which none is known.
        group_by : {"path", "folder", "host", "job", "setup"}, optional
            Which runs whose setup is not stated were made on one.

        Raises
        ------
        InputError
            When there is no such thing, a folder has no raw file, or it is more than one dataset.
        """
        found = cls.load_each(names, assumed=assumed, group_by=group_by)
        if len(found) > 1:
            raise InputError(f"{names[0]}: {len(found)} datasets are named; load each by itself")
        return found[0]

    @classmethod
    def load_each(
        cls,
        names: Path | str | Iterable[Path | str],
        *,
        assumed: Assumed | None = None,
        group_by: GroupBy | str | None = None,
    ) -> list[Dataset]:
        """Open what a user names: each dataset, and all outputs together as one more.

        Parameters and errors are those of :func:`azbenchlib.dataset.inputs.open_named`; a single name is a
        list of one.
        """
        from azbenchlib.dataset.inputs import open_named  # loads the model, which outputs do without

        return [
            cls(
                tables=one.tables,
                manifest=one.manifest,
                place=one.place,
                raw=None if one.is_folder else one.raw,
                chosen=one.chosen,
            )
            for one in open_named(listed(names), assumed=assumed, group_by=group_by)
        ]

    def overview(self) -> pd.DataFrame:
        """One row a run and direction with its main figures: :func:`azbenchlib.analysis.summary.overview`."""
        from azbenchlib.analysis import summary  # takes a while, and reading needs nothing of it

        return summary.overview(self.tables)

    def __repr__(self) -> str:
        """Return where the dataset is from, and how much is in it."""
        about = self.manifest.title if self.manifest else str(self.place or "benchmark outputs")
        counts = ", ".join(f"{len(table):,} {name}" for name, table in self.tables.items() if len(table))
        return printable(f"{about[:_ABOUT]}\n{counts or 'no rows'}")

    def _repr_html_(self) -> str:
        """What a notebook shows: where it is from, most of the overview, and how many findings there are."""
        import html  # for notebooks alone

        about = self.manifest.title if self.manifest else str(self.place or "benchmark outputs")
        rows = self.overview().drop(columns=_NOT_SHOWN).dropna(axis="columns", how="all")
        table = rows.to_html(index=False, max_rows=20, float_format=_six_digits)
        counts = self.findings["severity"].value_counts()
        told = ", ".join(
            f"{counts[name]:,} of severity {name}" for name in schema.SEVERITIES if name in counts
        )
        more = f"<p>Findings, in <code>.findings</code>: {told}</p>" if told else ""
        return printable(f"<p>{html.escape(about)}</p>{table}{more}")

    def add_setup(
        self, vm: str | None, disks: str | Sequence[str] = (), region: str | None = None
    ) -> Dataset:
        """The dataset with a VM and disks for the runs that state none; what is stated is kept.

        Parameters
        ----------
        vm : str or None
            VM size, such as ``Standard_E8ds_v4``.
        disks : str or sequence of str
            Such as ``P30`` or ``P30x4:ReadOnly``.
        region : str, optional
            Azure region of setups that state none.

        Raises
        ------
        InputError
            When the setup of every run is stated already, or a disk is not understood.
        """
        from azbenchlib.dataset import setups  # loads the model, which outputs do without
        from azbenchlib.model import notation

        described = notation.stated_setup(vm, disks, open_sizes=True)
        assumed = setups.Assumed(described, region)
        setups.check_needed([self.tables], assumed, None)
        told = assumed.as_manifest()
        found = self.manifest
        if found is not None and told is not None:
            found = found.model_copy(update={"setups": [*found.setups, told]})
        return replace(self, tables=setups.settled(self.tables, assumed), manifest=found)

    def to_excel(self, file: Path | str) -> Path:
        """Write a workbook (.xlsx) with a sheet a table; it needs the extra ``notebooks``.

        Cells that a spreadsheet would take for a formula have an apostrophe in front. It appears by rename.

        Raises
        ------
        InputError
            When the name does not end in .xlsx, or a table has more rows than a sheet.
        OutputError
            When the file cannot be written.
        """
        file = Path(file)
        if file.suffix.lower() != ".xlsx":
            raise InputError(f"{file}: a name that ends in .xlsx is needed")
        if long := [name for name, table in self.tables.items() if len(table) > _ROWS_OF_A_SHEET]:
            rows = len(self.tables[long[0]])
            raise InputError(
                f"{file}: the table {long[0]} has {rows:,} rows, and a sheet has room for "
                f"{_ROWS_OF_A_SHEET:,}; write it as Parquet"
            )
        book = io.BytesIO()
        with pd.ExcelWriter(book, engine="openpyxl") as writer:
            for name, table in self.tables.items():
                cells(table).to_excel(writer, sheet_name=name, index=False)
        return write_atomically(file, book.getvalue())

    def save(self, folder: Path | str) -> Path:
        """Write manifest and tables; each file appears by rename, the stamp last.

        Raises
        ------
        InputError
            When the dataset has no manifest.
        OutputError
            When the folder cannot be written.
        """
        from azbenchlib.dataset import manifest  # loads pydantic

        folder = Path(folder)
        if self.manifest is None:
            raise InputError("a dataset without a manifest cannot be saved; give it one, or print its tables")
        manifest.save(folder, self.manifest)
        findings = self.findings[
            self.findings["code"] != Code.TABLES_CHANGED
        ]  # those that are written are right
        stored.write(folder, self.tables | {"findings": findings})
        return folder

    @classmethod
    def merge(cls, datasets: Sequence[Dataset]) -> Dataset:
        """Put datasets together: rows are kept, a run that is there twice counts once.

        The manifest is kept where there is just one. Setups that share an id but come from different
        datasets get the dataset's name in front (with a number, where different datasets have one name).

        Raises
        ------
        InputError
            When there is no dataset.
        """
        if not datasets:
            raise InputError("nothing to read: at least one file, folder or dataset is needed")
        if len(datasets) == 1:
            return datasets[0]
        seen = pd.concat([part.setups[["setup_id"]] for part in datasets])["setup_id"]
        shared = set(seen[seen.duplicated()])
        named = zip(datasets, _distinct_names(datasets), strict=True)
        parts = [_rename_setups(part.tables, name, shared) for part, name in named]
        tables = {name: stack(name, [part[name] for part in parts]) for name in schema.TABLES}
        manifests = [part.manifest for part in datasets if part.manifest]
        return cls(tables=count_once(tables), manifest=manifests[0] if len(manifests) == 1 else None)


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path, kind: str) -> list[Path]:
    """Write one file a table, as ``parquet`` or ``csv``: all of them, or none.

    In CSV, a cell that a spreadsheet would take for a formula has an apostrophe in front, and control
    characters are made visible: see :func:`azbenchlib.core.printable.cell`.

    Raises
    ------
    OutputError
        When the folder cannot be written.
    """

    def encoded(table: pd.DataFrame) -> bytes:
        return stored.encoded(table) if kind == "parquet" else cells(table).to_csv(index=False).encode()

    return write_together(folder, ((f"{name}.{kind}", encoded(table)) for name, table in tables.items()))


def _six_digits(value: float) -> str:
    return format_significant(value, 6)


def _distinct_names(datasets: Sequence[Dataset]) -> list[str]:
    """What to call each dataset; copies of one are called the same, one without a manifest is nameless."""
    different: list[Manifest] = []
    names = []
    for found in (part.manifest for part in datasets):
        if found is None:
            names.append("")
            continue
        if found not in different:
            different.append(found)
        place = [other for other in different if other.name == found.name].index(found)
        names.append(f"{found.name}-{place + 1}" if place else found.name)
    return names


def _rename_setups(tables: Tables, name: str, shared: set[str]) -> Tables:
    if not name or not shared:
        return tables

    def renamed(table: pd.DataFrame) -> pd.DataFrame:
        ids = table["setup_id"]
        return table.assign(setup_id=ids.mask(ids.isin(shared), name + "/" + ids))

    return {key: renamed(table) if "setup_id" in table else table for key, table in tables.items()}
