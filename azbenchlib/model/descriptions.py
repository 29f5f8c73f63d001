"""A setup as the tables of a dataset describe it: only what they state; the rest comes from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.model.disk_row import DiskRow
from azbenchlib.model.setup import VM, Setup


def from_rows(setup: Mapping[str, Any], disks: pd.DataFrame) -> Setup:
    """The setup of one row of the table setups with its rows of the table disks.

    Parameters
    ----------
    setup : mapping
        Columns vm_size and as_of; either may be NA.
    disks : DataFrame
        The table disks; rows of other setups must be left out.
    """
    size, as_of = (None if pd.isna(setup.get(name)) else str(setup[name]) for name in ("vm_size", "as_of"))
    rows = map(DiskRow.from_row, schema.records(disks))
    return Setup(VM(size=size), tuple(row.to_disk() for row in rows), as_of)


def stated_setup(tables: Mapping[str, pd.DataFrame], name: str | None) -> Setup:
    """The setup as the dataset describes it; an empty one where it does not."""
    setups = tables["setups"]
    mine = setups[setups["setup_id"] == name] if name is not None else setups[:0]
    if mine.empty:
        return Setup()
    disks = tables["disks"]
    return from_rows(mine.iloc[0].to_dict(), disks[disks["setup_id"] == name])
