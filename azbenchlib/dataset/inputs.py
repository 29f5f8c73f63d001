"""What a user names becomes datasets that have a manifest: the one place where names are understood.

A name is that of a dataset or its folder, an output file, a folder or tree of outputs, or ``-`` for
standard input. All outputs that are named together are one dataset, with a manifest that is derived from
them: a log may lie elsewhere than the output that it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azbenchlib.core.errors import InputError
from azbenchlib.core.grouping import GroupBy
from azbenchlib.dataset import setups
from azbenchlib.dataset.chosen import of_setups
from azbenchlib.dataset.derived import derived, raw_names, worth_keeping
from azbenchlib.dataset.files import regular_files
from azbenchlib.dataset.from_raw import read_folder, read_loose
from azbenchlib.dataset.names import (
    RAW,
    STDIN,
    STDIN_NAME,
    chosen_setups,
    same_place,
    setups_of_place,
    sorted_out,
)
from azbenchlib.dataset.outputs import Files, datasets_within, outputs_at
from azbenchlib.dataset.read import Tables
from azbenchlib.dataset.setups import Assumed
from azbenchlib.dataset.stored import Stored
from azbenchlib.formats.source import Source

if TYPE_CHECKING:
    from azbenchlib.dataset.manifest import Manifest


@dataclass(frozen=True, kw_only=True)
class _Read:
    """What was read of a dataset folder, or of outputs, whose files are listed by their `source_path`."""

    tables: Tables
    named: tuple[str, ...]
    manifest: Manifest | None = None
    files: dict[str, Path] = field(default_factory=dict)
    chosen: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What was named, as tables with a manifest.

    Attributes
    ----------
    tables : dict of str to DataFrame
    manifest : Manifest
        That of the dataset folder, or a derived one.
    place : Path
        The dataset folder, or the first of the outputs that were named.
    is_folder : bool
        Whether it is a dataset folder, just as that stands.
    raw : dict of str to Path
        Where each raw file lies, by its name in the dataset folder that could be made of it.
    chosen : tuple of str
        The setups that are chosen of the dataset; empty: all.
    """

    tables: Tables
    manifest: Manifest
    place: Path
    is_folder: bool
    raw: dict[str, Path] = field(default_factory=dict)
    chosen: tuple[str, ...] = ()


def open_named(
    names: Sequence[str | Path],
    *,
    assumed: Assumed | None = None,
    group_by: GroupBy | str | None = None,
    log_unit: str | None = None,
) -> list[Opened]:
    """Open what a user names.

    Parameters
    ----------
    names : sequence of str or path-like
        Each a dataset by name or folder, with ``/SETUP`` behind it where one of its setups is chosen, an
        output, a folder or tree of outputs, or ``-``.
    assumed : Assumed, optional
        The setup of runs of which none is known; what the data tell is kept.
    group_by : {"path", "folder", "host", "job", "setup"}, optional
        Which of the runs whose setup is not stated were made on one setup, and so can be repeats of each
        other: those of one host, or job, or all. By path, the default, each run stands for itself.
    log_unit : {"us", "ns"}, optional
        Unit of the latencies in fio logs that no output of their run lies beside.

    Returns
    -------
    list of Opened
        In the order of the names; each dataset once, and all outputs together where the first was named, with
        the datasets that lie among them behind.

    Raises
    ------
    InputError
        When there is no such dataset, file or folder, a folder holds no file, standard input is empty, or
        `assumed` has no run to be said of.
    """
    said, by = assumed or Assumed(), None if group_by is None else _group_by(group_by)
    names, chosen = chosen_setups(names)
    folders, loose = sorted_out(names)
    read = {
        (i, 0): _folder(folder, log_unit, setups_of_place(chosen, folder)) for i, folder in folders.items()
    }
    if loose:
        within = datasets_within(loose.values())
        outputs = outputs_at(list(loose.values()), within)
        if any(outputs) or not within:
            read[min(loose), 0] = _outputs(list(loose.values()), outputs, log_unit)
        new = [place for place in within if not any(same_place(place, one) for one in folders.values())]
        read |= {(min(loose), i): _folder(place, log_unit) for i, place in enumerate(new, 1)}
    found = [one for _, one in sorted(read.items(), key=lambda placed: placed[0])]
    if said == Assumed() and by is None:
        return [_opened(one, one.tables, said, by) for one in found]
    setups.check_needed([one.tables for one in found], said, by)
    opened = []
    for one in found:
        wanted = by or setups.side_by_side(one.tables, one.named, said)
        opened.append(_opened(one, setups.settled(one.tables, said, wanted), said, wanted))
    return opened


def setups_of(name: str) -> Tables:
    """The tables setups and disks of a dataset, or of outputs that tell their setup.

    Parameters
    ----------
    name : str
        As of :func:`open_named`.

    Raises
    ------
    InputError
        As of :func:`open_named`.
    """
    folders, _ = sorted_out([name])
    if folders:
        return _manifest(folders[0]).tables()
    return the_only(open_named([name]), name).manifest.tables()


def the_only(found: Sequence[Any], name: str | Path) -> Any:
    """The only one of the datasets that a name stands for.

    Raises
    ------
    InputError
        When it is a tree that holds several.
    """
    if len(found) > 1:
        raise InputError(f"{name}: {len(found)} datasets are in there; name one of them")
    return found[0]


def _manifest(folder: Path) -> Manifest:
    from azbenchlib.dataset.manifest import load  # loads pydantic, which outputs do without

    return load(folder)


def _group_by(text: GroupBy | str) -> GroupBy:
    try:
        return GroupBy(text)
    except ValueError:
        raise InputError(f"group_by '{text}' is not one of: {', '.join(GroupBy)}") from None


def _folder(folder: Path, log_unit: str | None, chosen: tuple[str, ...] = ()) -> _Read:
    """A dataset folder: from its Parquet files where azbench is known to have made them here."""
    there = _manifest(folder)
    tables = Stored.of(folder).tables() if log_unit is None else None
    if tables is None:
        tables, there = read_folder(folder, log_unit)
    if chosen:
        tables = of_setups(tables, chosen, folder)
        kept = [setup for setup in there.setups if setup.setup_id in chosen]
        there = there.model_copy(update={"setups": kept})
    return _Read(tables=tables, named=(str(folder),), manifest=there, chosen=chosen)


def _outputs(names: Sequence[str | Path], outputs: Files, log_unit: str | None) -> _Read:
    good, left_out = outputs
    tables = read_loose(good, log_unit, left_out)
    named = tuple(STDIN_NAME if name == STDIN else str(name) for name in names)
    return _Read(tables=tables, named=named, files={Source(shown).path: file for file, shown in good})


def _opened(read: _Read, tables: Tables, said: Assumed, by: GroupBy | None) -> Opened:
    """What was read, with the setups that were settled; a manifest says what was stated."""
    place = Path(read.named[0])
    if read.manifest is None:
        kept = worth_keeping(tables, read.files)
        raw = {name: kept[path] for path, name in raw_names(kept).items()}
        there = derived(tables, read.files, read.named, said, by)
        return Opened(tables=tables, manifest=there, place=place, is_folder=False, raw=raw)
    if tables is read.tables:
        return Opened(tables=tables, manifest=read.manifest, place=place, is_folder=True, chosen=read.chosen)
    given = [setup] if (setup := said.as_manifest()) else []
    there = read.manifest.model_copy(update={"group_by": by, "setups": [*read.manifest.setups, *given]})
    raw = {file.relative_to(place).as_posix(): file for file in regular_files(place / RAW)}
    return Opened(tables=tables, manifest=there, place=place, is_folder=False, raw=raw, chosen=read.chosen)
