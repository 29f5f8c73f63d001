"""A setup as the tables of a dataset describe it: only what they state; the rest comes from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.model.disk_row import DiskRow
from azbenchlib.model.setup import VM, Disk, Setup

_ELSEWHERE = ("local", "other")  # environments whose disks need not be Azure's


def from_rows(setup: Mapping[str, Any], disks: pd.DataFrame) -> Setup:
    """The setup of one row of the table setups with its rows of the table disks.

    Parameters
    ----------
    setup : mapping
        Columns vm_size, as_of and environment; each may be NA.
    disks : DataFrame
        The table disks; rows of other setups must be left out.
    """
    size, as_of = (None if pd.isna(setup.get(name)) else str(setup[name]) for name in ("vm_size", "as_of"))
    found = [DiskRow.from_row(row).to_disk() for row in schema.records(disks)]
    if str(setup.get("environment")) in _ELSEWHERE:
        found = [_as_it_is(disk) for disk in found]
    return Setup(VM(size=size), tuple(found), as_of)


def _as_it_is(disk: Disk) -> Disk:
    """A disk of a machine that may be anywhere: one of Azure only where its kind or its tier says so."""
    return disk if disk.kind or disk.tier or disk.local else replace(disk, in_azure=False, unstated=())


def stated_setup(tables: Mapping[str, pd.DataFrame], name: str | None) -> Setup:
    """The setup as the dataset describes it; an empty one where it does not."""
    setups = tables["setups"]
    mine = setups[setups["setup_id"] == name] if name is not None else setups[:0]
    if mine.empty:
        return Setup()
    disks = tables["disks"]
    return from_rows(mine.iloc[0].to_dict(), disks[disks["setup_id"] == name])
