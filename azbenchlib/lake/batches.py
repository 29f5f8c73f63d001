"""What is read at once on the way into a lake, and what of it is new.

Most outputs tell everything of themselves and are read by the hundred. A log belongs to a run that another
file of its folder tells of, and so do job files and the spreadsheets of iozone: a folder with such a file is
read as a whole whenever one of its files is new. A dataset is read by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.printable import one_line
from azbenchlib.dataset import manifest
from azbenchlib.dataset.files import Obstacle, regular_files, sha256
from azbenchlib.dataset.log_names import log_name
from azbenchlib.dataset.names import MANIFEST_FILE, RAW
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.formats.unwrap.compressed_names import bare_name

_AT_ONCE = 250  # outputs that are read together
_BESIDE = (".xls", ".fio")  # spreadsheets of iozone, job files

Item = TypeVar("Item")
File = tuple[Path, str]  # where it is, and the name it goes by


@dataclass(frozen=True, kw_only=True)
class Looked:
    """What a look at a file tells.

    Attributes
    ----------
    file : tuple of Path and str
    sha256 : str
        Empty where it cannot be read.
    alone : bool
        Whether it tells everything of itself.
    why_not : str
        Why it cannot be read.
    """

    file: File
    sha256: str = ""
    alone: bool = True
    why_not: str = ""


@dataclass(frozen=True, kw_only=True)
class OutputBatch:
    """Outputs that are read at once, or a dataset folder; with the sha256 of each file."""

    files: tuple[File, ...] = ()
    together: bool = False  # whether some of the files tell of others
    dataset: Path | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)  # by the name that a file goes by


def with_kin(files: Sequence[File]) -> list[File]:
    """Files, with those beside them that belong to them by name: logs and their output, spreadsheets and job
    files. So what is collected file by file is read as where its folder is named.
    """
    named = {path for path, _ in files}
    folders: dict[Path, list[Path]] = defaultdict(list)
    for path, shown in files:
        if str(path) == shown:
            folders[path.parent].append(path)
    more: list[File] = []
    for folder, mine in folders.items():
        stems = {_stem(path) for path in mine}
        there = (path for path in _beside(folder) if path not in named and _stem(path) in stems)
        more += [(path, str(path)) for path in there if _has_kin(path, mine)]
    return [*files, *more]


def _beside(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())
    except OSError:
        return []


def _stem(path: Path) -> str:
    """What a file is called after: the prefix of a log, else its name without the suffix."""
    log = log_name(path)
    return log["prefix"] if log else path.stem


def _has_kin(path: Path, named: Sequence[Path]) -> bool:
    """Whether a file tells of one of those that are called like it, or one of those of it."""
    like = [one for one in named if _stem(one) == _stem(path)]
    return _tells_of_others(path) or any(map(_tells_of_others, like))


def _is_compressed_log(path: str) -> bool:
    return bare_name(path) != path and log_name(path) is not None


def _tells_of_others(path: Path) -> bool:
    return bool(log_name(path)) or path.suffix in _BESIDE


def look(files: Sequence[File]) -> list[Looked]:
    """Look at files: what their content hashes to, and whether they tell everything of themselves."""
    return [_look(file) for file in files]


def _look(file: File) -> Looked:
    source = Source(file[1], file=file[0])
    try:
        fmt = registry.recognise(source)
        return Looked(
            file=file,
            sha256=source.sha256,
            alone=not (_is_compressed_log(file[1]) or (fmt and (fmt.needs_beside or fmt.tells_of_others))),
        )
    except OSError as error:
        return Looked(file=file, why_not=error.strerror or str(error))
    except Exception as error:  # of one file, which is to cost no other
        return Looked(file=file, why_not=why_failing(error))


def why_failing(error: Exception) -> str:
    """Why a file cannot be read, as the end of a sentence."""
    if isinstance(error, AzbenchError):
        return one_line(str(error))
    told = f"{type(error).__name__}: {one_line(str(error))}"
    return f"azbench fails on it, which is a fault of azbench; please report it with these words: {told}"


def chunks(items: Sequence[Item], count: int) -> Iterator[Sequence[Item]]:
    """Items, so many at a time."""
    return (items[begin : begin + count] for begin in range(0, len(items), count))


def batches_of(looked: Iterable[Looked], known: set[str]) -> list[OutputBatch]:
    """The batches with something new.

    Parameters
    ----------
    looked : iterable of Looked
        Files that can be read.
    known : set of str
        The sha256 of what is there already.
    """
    folders: dict[Path, list[Looked]] = defaultdict(list)
    for one in looked:
        folders[one.file[0].parent].append(one)
    batches: list[OutputBatch] = []
    single: dict[str, Looked] = {}
    for mine in folders.values():
        new = [one for one in mine if one.sha256 not in known]
        if all(one.alone for one in mine):
            for one in new:
                single.setdefault(one.sha256, one)  # a copy counts once
        elif new:
            batches.append(_batch(mine, together=True))
    alone = list(single.values())
    return batches + [_batch(some) for some in chunks(alone, _AT_ONCE)]


def batch_of_dataset(folder: Path, known: set[str]) -> OutputBatch | None:
    """A dataset folder as a batch; None where it is known as it stands, with its manifest.

    Raises
    ------
    InputError
        When its manifest is wrong.
    """
    manifest.load(folder)
    files = [folder / MANIFEST_FILE, *regular_files(folder / RAW)]
    hashes = {file.relative_to(folder).as_posix(): sha256(file) for file in files}
    return None if known.issuperset(hashes.values()) else OutputBatch(dataset=folder, hashes=hashes)


def _batch(looked: Sequence[Looked], together: bool = False) -> OutputBatch:
    return OutputBatch(
        together=together,
        files=tuple(one.file for one in looked),
        hashes={Source(one.file[1]).path: one.sha256 for one in looked},
    )


def not_read(looked: Iterable[Looked]) -> dict[Path, Obstacle]:
    """The files that cannot be read, and why."""
    return {one.file[0]: Obstacle(one.why_not) for one in looked if one.why_not}
