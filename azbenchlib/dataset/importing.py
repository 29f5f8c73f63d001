"""A dataset folder made of outputs: to keep, or for the time of a report."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from azbenchlib.core.errors import InputError, OutputError
from azbenchlib.core.files import fault_of_name, flush, make_folder
from azbenchlib.core.temporary import temporary_folder
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.names import MANIFEST_FILE, is_dataset


def import_outputs(dataset: Dataset, folder: Path, title: str = "") -> Path:
    """Make a dataset folder of outputs: their files untouched, a manifest, and the tables.

    It appears by rename, whole or not at all.

    Parameters
    ----------
    dataset : Dataset
        As :meth:`~azbenchlib.dataset.dataset.Dataset.load` opened it.
    folder : Path
        Where it goes; its name is that of the dataset.
    title : str
        Instead of the derived one.

    Raises
    ------
    InputError
        When something is there already, the name cannot be that of a dataset, it is a dataset already, or
        there is no run in it.
    OutputError
        When it cannot be written.
    """
    if dataset.manifest is None or dataset.raw is None:
        raise InputError(f"{dataset.place}: is a dataset already; copy its folder")
    check_free(folder)
    if dataset.runs.empty:
        raise InputError(f"{dataset.place}: no run could be read, so there is nothing to import")
    _check_labs(dataset)
    found = dataset.manifest.model_copy(
        update={"name": folder.name, "title": title or dataset.manifest.title}
    )
    try:
        make_folder(folder.parent)
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
        try:
            part.chmod(0o777 & ~_umask())
            _put(dataset.raw, part, copied=True)
            manifest.save(part, found)
            Dataset.load(part).save(part)
            check_free(folder)
            part.rename(folder)
            flush(folder.parent)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return folder


@contextmanager
def as_folders(datasets: Sequence[Dataset]) -> Iterator[list[Path]]:
    """The folders of datasets, for another process; those of outputs are there as long as the context is.

    Parameters
    ----------
    datasets : sequence of Dataset
        As :meth:`~azbenchlib.dataset.dataset.Dataset.load_each` opened them.
    """
    with temporary_folder() as home:
        folders = []
        for i, dataset in enumerate(datasets):
            if dataset.manifest is None or dataset.place is None:
                raise InputError("a dataset without a manifest has no folder; open it by its name")
            if dataset.raw is None:
                folders.append(dataset.place)
                continue
            folder = home / str(i)
            _put(dataset.raw, folder, copied=False)
            folders.append(Dataset(tables=dataset.tables, manifest=dataset.manifest).save(folder))
        yield folders


def check_free(folder: Path) -> None:
    """Refuse a folder that cannot become that of a dataset.

    Raises
    ------
    InputError
        When something is there, or the name begins with a dot or holds a slash.
    """
    name = folder.name
    if fault := "is no name of a dataset" if name.startswith(".") or not name else fault_of_name(name):
        raise InputError(f"--name '{name}' {fault}; take letters, digits and -")
    if os.path.lexists(folder):
        what = "dataset" if is_dataset(folder) else "file or folder"
        raise InputError(f"{folder}: a {what} of that name is there already; choose another --name")


def _put(raw: Mapping[str, Path], folder: Path, copied: bool) -> None:
    """The raw files in a folder: copies, or links where that will do."""
    for name, file in raw.items():
        target = folder / name
        make_folder(target.parent)
        if not copied:
            try:
                os.link(os.path.realpath(file), target)
                continue
            except OSError:  # another file system, or somebody else's file
                pass
        shutil.copy(file, target)
        if copied:
            flush(target)


def _check_labs(dataset: Dataset) -> None:
    """Refuse outputs out of a dataset of the lab: only its manifest tells how fast each ran."""
    scaled = dataset.setups[dataset.setups["time_scale"].notna()]
    if len(scaled) and any(env == "lab" for env in scaled["environment"]):
        homes = {
            str(parent)
            for file in (dataset.raw or {}).values()
            for parent in file.resolve().parents
            if (parent / MANIFEST_FILE).is_file()
        }
        if homes:
            raise InputError(
                f"{dataset.place}: is of the dataset {min(homes)}, which tells its setups; copy that"
            )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
