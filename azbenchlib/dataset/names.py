"""What a name on the command line or in a notebook stands for: a dataset folder, or outputs.

No output is opened here, and no large library is loaded, so that a wrong name is told at once.
"""

import os
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from azbenchlib.core.errors import InputError
from azbenchlib.core.files import read_bounded
from azbenchlib.core.locations import named_folders
from azbenchlib.core.nearest import choices
from azbenchlib.core.units import KIB

STDIN = "-"  # how standard input is named
STDIN_NAME = "stdin"  # what the outputs that came through it are called
MANIFEST_FILE = "manifest.json"
LAKE_FILE = "lake.json"  # of a lake, in which no output lies as it was
LAKE_KEY = "azbench_lake"  # in that file
RAW = "raw"  # the folder of a dataset with the untouched outputs


def is_dataset(folder: Path) -> bool:
    """Whether a folder holds a manifest, as far as it may be looked at; a link to one counts, and is judged
    where it is read.
    """
    return os.path.lexists(folder / MANIFEST_FILE)


def is_lake(folder: Path) -> bool:
    """Whether a folder is a lake of azbench, and holds no file of that name that is about something else."""
    try:
        return f'"{LAKE_KEY}"'.encode() in read_bounded(folder / LAKE_FILE, folder, KIB)
    except OSError:
        return False


def is_known(name: str) -> bool:
    """Whether it is standard input, or the name of a dataset in one of the folders that hold them."""
    return name == STDIN or _by_name(name, named_folders("datasets")) is not None


def parted(name: str | Path, is_place: Callable[[str], bool] | None = None) -> tuple[str | Path, str | None]:
    """The place that a name stands for, and the setup that is chosen of it: ``DATASET/SETUP``.

    Parameters
    ----------
    name : str or Path
        A colon does for the slash; where all of it is a path or a name, no setup is chosen.
    is_place : callable, optional
        Whether a setup can be chosen of what has this name. Default: of datasets, by name or folder.
    """
    text = str(name)
    if os.path.lexists(text) or is_known(text):
        return name, None
    for mark in "/:":
        place, _, setup = text.rpartition(mark)
        if place and setup and (is_known(place) or (is_place or _is_dataset_folder)(place)):
            return place, setup
    return name, None


def _is_dataset_folder(place: str) -> bool:
    return is_dataset(Path(place))


def chosen_setups(names: Sequence[str | Path]) -> tuple[list[str | Path], dict[str, list[str]]]:
    """The names without the setups behind them, and the chosen setups by the real path of their dataset.

    Of a dataset that is named whole too, all setups count.
    """
    pairs = [parted(name) for name in names]
    places = [place for place, _ in pairs]
    chosen: dict[str, list[str]] = defaultdict(list)
    for place, setup in pairs:
        if setup is not None:
            chosen[os.path.realpath(find_dataset(str(place)))].append(setup)
    whole = [name for name, setup in pairs if setup is None and name != STDIN]
    if chosen and whole:
        for folder in sorted_out(whole)[0].values():
            chosen.pop(os.path.realpath(folder), None)
    return places, dict(chosen)


def check_names(names: Sequence[str | Path]) -> None:
    """See that there is what is named, before anything is loaded.

    Raises
    ------
    InputError
        As of :func:`sorted_out`.
    """
    sorted_out(chosen_setups(names)[0])


def setups_of_place(chosen: Mapping[str, Sequence[str]], folder: Path) -> tuple[str, ...]:
    """The setups that are chosen of a dataset, as of :func:`chosen_setups`; empty: all."""
    return tuple(dict.fromkeys(chosen.get(os.path.realpath(folder), ())))


def with_setups(folder: Path, chosen: Sequence[str]) -> list[str]:
    """Return the names of a dataset, of which some setups are chosen; none: all."""
    return [f"{folder}/{setup}" for setup in chosen] or [str(folder)]


def listed(names: str | Path | Iterable[str | Path]) -> list[str | Path]:
    """Return names as a list; a single one, as ``papermill -p datasets NAME`` gives it, is a list of one."""
    if isinstance(names, str | Path):
        return [names] if str(names) else []
    return list(names)


def sorted_out(names: Sequence[str | Path]) -> tuple[dict[int, Path], dict[int, str | Path]]:
    """The dataset folders, and the outputs, each by its place among the names; what is named twice once.

    Raises
    ------
    InputError
        When nothing is named, there is no such dataset, file or folder, or it is a lake.
    """
    if not names:
        raise InputError("nothing is named: at least one output, folder or dataset is needed")
    if "" in names:
        raise InputError("one of the names is empty: an output, a folder or a dataset is needed")
    folders: dict[int, Path] = {}
    loose: dict[int, str | Path] = {}
    for i, name in enumerate(names):
        folder = None if name == STDIN else _dataset_folder(name)
        if folder is None and name not in loose.values():
            loose[i] = name
        if folder is not None and not any(same_place(folder, other) for other in folders.values()):
            folders[i] = folder
    return folders, loose


def find_dataset(name: str, folders: Iterable[Path] | None = None) -> Path:
    """The folder of a dataset given by path or by name.

    Parameters
    ----------
    name : str
        A folder, or the name of a dataset in one of `folders`.
    folders : iterable of Path, optional
        Folders that hold datasets; the first match wins. None: the folders ``datasets`` here and of azbench.

    Raises
    ------
    InputError
        When there is none; the sentence lists the names there are.
    """
    if Path(name).is_dir():
        return Path(name)
    searched = named_folders("datasets") if folders is None else list(folders)
    if found := _by_name(name, searched):
        return found
    known = {entry.parent.name for folder in searched for entry in folder.glob(f"*/{MANIFEST_FILE}")}
    if "/" in name:
        raise InputError(f"{name}: no such file or folder")
    raise InputError(f"no dataset '{name}': no such file or folder, and {choices(name, known)}")


def _dataset_folder(name: str | Path) -> Path | None:
    """The folder of a dataset; None for outputs."""
    path = Path(name)
    try:
        is_folder, is_there = path.is_dir(), path.is_symlink() or path.exists()
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    if is_folder and is_dataset(path):
        return path
    if is_folder and is_lake(path):
        asked = shlex.join(["azbench", "query", str(name), "FROM runs"])
        raise InputError(f"{name}: this folder is a lake; ask it with: {asked}")
    bare = str(name) == path.name  # no path, so that it may be a name
    if is_there:
        other = _by_name(str(name), named_folders("datasets")) if bare and is_folder else None
        if other is not None and not same_place(other, path):
            raise InputError(f"{name}: is a folder here and the name of a dataset; write ./{name} or {other}")
        return None
    return find_dataset(str(name))


def _by_name(name: str, folders: Iterable[Path]) -> Path | None:
    try:
        return next((folder / name for folder in folders if is_dataset(folder / name)), None)
    except (OSError, ValueError):  # too long for a name, or with a NUL
        return None


def same_place(one: Path, other: Path) -> bool:
    """Whether two paths lead to the same place when all links are followed."""
    return os.path.realpath(one) == os.path.realpath(other)
