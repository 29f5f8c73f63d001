"""What is compared, from what a user names: the one place that opens a side of a comparison."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from azbenchlib.analysis.compare import ComparedSide
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.names import parted


def load_side(name: str) -> ComparedSide:
    """A side: a dataset, an output, a folder of outputs or ``-``; ``/SETUP`` behind it chooses a setup.

    Raises
    ------
    InputError
        When nothing of that name can be read, or it has no such setup.
    """
    place, setup = parted(name, os.path.lexists)
    found = Dataset.load(place)
    if setup is not None:
        known = list(dict.fromkeys(found.tables["setups"]["setup_id"].dropna()))
        if setup not in known:
            raise InputError(f"{place}: no setup '{setup}'; there are: {', '.join(known) or 'none'}")
    return ComparedSide(name=name, tables=found.tables, setup=setup)


def side_of(given: Dataset | pd.DataFrame | str | Path | Sequence[str | Path], name: str) -> ComparedSide:
    """Return a side: a dataset, whose name is its place or else `name`; runs in a frame; a path; several."""
    if isinstance(given, str | Path):
        return load_side(str(given))
    if isinstance(given, pd.DataFrame):
        return ComparedSide(name=name, tables=Dataset.of_frame(given).tables)
    if isinstance(given, Dataset):
        return ComparedSide(name=str(given.place or name), tables=given.tables)
    return ComparedSide(name=", ".join(map(str, given)), tables=Dataset.load(*given).tables)
