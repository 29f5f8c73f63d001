"""What is compared, from what a user names: the one place that opens a side of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from azbenchlib.analysis.compare import ComparedSide
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.names import is_known


def load_side(name: str) -> ComparedSide:
    """A side: a dataset, an output, a folder of outputs or ``-``; ``/SETUP`` behind it chooses a setup.

    Raises
    ------
    InputError
        When nothing of that name can be read, or it has no such setup.
    """
    place, setup = _parted(name)
    found = Dataset.load(place)
    if setup is not None:
        known = list(dict.fromkeys(found.tables["setups"]["setup_id"].dropna()))
        if setup not in known:
            raise InputError(f"{place}: no setup '{setup}'; there are: {', '.join(known) or 'none'}")
    return ComparedSide(name=name, tables=found.tables, setup=setup)


def side_of(given: Dataset | str | Path | Sequence[str | Path], name: str) -> ComparedSide:
    """A side from what Python has: a dataset, whose name is its place or else `name`; a path; or several."""
    if isinstance(given, str | Path):
        return load_side(str(given))
    if isinstance(given, Dataset):
        return ComparedSide(name=str(given.place or name), tables=given.tables)
    return ComparedSide(name=", ".join(map(str, given)), tables=Dataset.load(*given).tables)


def _parted(name: str) -> tuple[str, str | None]:
    """The place, and the setup behind the last slash, or colon; either may be part of a path."""
    if Path(name).exists() or is_known(name):
        return name, None
    for mark in "/:":
        place, _, setup = name.rpartition(mark)
        if place and setup and (Path(place).exists() or is_known(place)):
            return place, setup
    return name, None
