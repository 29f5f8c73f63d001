"""What a user names becomes datasets that have a manifest: the one place where names are understood.

A name is that of a dataset or its folder, an output file, a folder or tree of outputs, or ``-`` for
standard input. All outputs that are named together are one dataset, with a manifest that is derived from
them: a log may lie elsewhere than the output that it belongs to.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azbenchlib.core.errors import InputError
from azbenchlib.core.folders import walk
from azbenchlib.core.grouping import GroupBy
from azbenchlib.core.units import MIB
from azbenchlib.dataset import setups
from azbenchlib.dataset.derived import STDIN_NAME, derived, raw_names, worth_keeping
from azbenchlib.dataset.files import Obstacle, files_at, regular_files
from azbenchlib.dataset.from_raw import read_folder, read_loose
from azbenchlib.dataset.names import MANIFEST_FILE, RAW, STDIN, same_place, sorted_out
from azbenchlib.dataset.read import Tables
from azbenchlib.dataset.setups import Assumed
from azbenchlib.dataset.stored import Stored
from azbenchlib.formats.source import LARGEST_LOG, Source

if TYPE_CHECKING:
    from azbenchlib.dataset.manifest import Manifest

# Files that are read, each with the name that it goes by, and those that are not, with the reason.
Files = tuple[list[tuple[Path, str]], dict[Path, Obstacle]]


@dataclass(frozen=True, kw_only=True)
class _Read:
    """What was read of a dataset folder, or of outputs, whose files are listed by their `source_path`."""

    tables: Tables
    named: tuple[str, ...]
    manifest: Manifest | None = None
    files: dict[str, Path] = field(default_factory=dict)


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
    """

    tables: Tables
    manifest: Manifest
    place: Path
    is_folder: bool
    raw: dict[str, Path] = field(default_factory=dict)


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
        Each a dataset by name or folder, an output, a folder or tree of outputs, or ``-``.
    assumed : Assumed, optional
        The setup of runs of which none is known; what the data tell is kept.
    group_by : {"path", "host", "job", "setup"}, optional
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
    folders, loose = sorted_out(names)
    read = {(i, 0): _folder(folder, log_unit) for i, folder in folders.items()}
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
    return [_opened(one, setups.settled(one.tables, said, by), said, by) for one in found]


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


def datasets_within(names: Iterable[str | Path]) -> list[Path]:
    """The dataset folders below folders of outputs; what holds a manifest of something else is none.

    Parameters
    ----------
    names : iterable of str or path-like
        Of outputs, as :func:`~azbenchlib.dataset.names.sorted_out` gives them.
    """
    found: list[Path] = []
    for name in names:
        if name == STDIN or not Path(name).is_dir():
            continue
        for place, inner, files in walk(Path(name)):
            if (
                MANIFEST_FILE in files
                and RAW in inner
                and not any(place.is_relative_to(one) for one in found)
            ):
                try:
                    _manifest(place)
                except InputError:
                    continue
                found.append(place)
    return found


def outputs_at(names: Sequence[str | Path], but: Sequence[Path] = ()) -> Files:
    """The files of outputs, each with the name that it goes by, and those that are not read.

    Parameters
    ----------
    names : sequence of str or path-like
    but : sequence of Path
        Folders whose files are left out, which are datasets of their own.

    Raises
    ------
    InputError
        As of :func:`open_named`.
    """
    found: dict[Path, Obstacle | None] = {}
    shown: dict[Path, str] = {}
    for name in names:
        if name == STDIN:
            path = _standard_input()
            found[path], shown[path] = None, STDIN_NAME
        else:
            every = files_at(Path(name))
            found |= {f: why for f, why in every.items() if not any(f.is_relative_to(one) for one in but)}
    good = [(file, shown.get(file, str(file))) for file, why in found.items() if why is None]
    return good, {file: why for file, why in found.items() if why}


def _manifest(folder: Path) -> Manifest:
    from azbenchlib.dataset.manifest import load  # loads pydantic, which outputs do without

    return load(folder)


def _group_by(text: GroupBy | str) -> GroupBy:
    try:
        return GroupBy(text)
    except ValueError:
        raise InputError(f"group_by '{text}' is not one of: {', '.join(GroupBy)}") from None


def _folder(folder: Path, log_unit: str | None) -> _Read:
    """A dataset folder: from its Parquet files where azbench is known to have made them here."""
    there = _manifest(folder)
    tables = Stored.of(folder).tables() if log_unit is None else None
    if tables is None:
        tables, there = read_folder(folder, log_unit)
    return _Read(tables=tables, named=(str(folder),), manifest=there)


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
        return Opened(tables=tables, manifest=read.manifest, place=place, is_folder=True)
    given = [setup] if (setup := said.as_manifest()) else []
    there = read.manifest.model_copy(update={"group_by": by, "setups": [*read.manifest.setups, *given]})
    raw = {file.relative_to(place).as_posix(): file for file in regular_files(place / RAW)}
    return Opened(tables=tables, manifest=there, place=place, is_folder=False, raw=raw)


def _standard_input() -> Path:
    """What came through standard input, as a file that is there until this process ends."""
    return _spooled()[1]


@cache
def _spooled() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise InputError(
            "-: nothing is piped into standard input; write: fio … --output-format=json+ | azbench"
        )
    home = tempfile.TemporaryDirectory(prefix="azbench-")
    path = Path(home.name) / STDIN_NAME
    with path.open("wb") as file:
        left = LARGEST_LOG
        while left > 0 and (block := stream.buffer.read(min(left, MIB))):
            file.write(block)
            left -= len(block)
        too_long = left == 0 and stream.buffer.read(1)
    if too_long:
        raise InputError(
            f"-: standard input is longer than {LARGEST_LOG // MIB:,} MiB; name the files instead"
        )
    if not path.stat().st_size:
        raise InputError("-: nothing came through standard input; did the program before the pipe fail?")
    return home, path
