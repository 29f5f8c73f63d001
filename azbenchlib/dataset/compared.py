"""What is compared, from what a user names: the one place that opens a side of a comparison."""

from __future__ import annotations

from pathlib import Path

from azbenchlib.analysis.compare import ComparedSide
from azbenchlib.core.errors import InputError
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset, find_dataset


def load_side(name: str) -> ComparedSide:
    """A side: a dataset by name or folder, an output, or a folder of outputs; ``:SETUP`` chooses a setup.

    Raises
    ------
    InputError
        When nothing of that name can be read, or it has no such setup.
    """
    place, setup = _parted(name)
    if Path(place).is_file():
        found = Dataset.read(place)
    else:
        folder = find_dataset(place)
        found = Dataset.load(folder) if manifest.is_in(folder) else Dataset.read(folder)
    if setup is not None:
        known = list(dict.fromkeys(found.tables["setups"]["setup_id"].dropna()))
        if setup not in known:
            raise InputError(f"{place}: no setup '{setup}'; there are: {', '.join(known) or 'none'}")
    return ComparedSide(name=name, tables=found.tables, setup=setup)


def _parted(name: str) -> tuple[str, str | None]:
    """The place, and the setup behind the last colon; a colon may be part of a path."""
    if Path(name).exists() or ":" not in name:
        return name, None
    place, setup = name.rsplit(":", 1)
    return place, setup
