"""What of a dataset is kept where some of its setups are chosen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from azbenchlib.core.errors import InputError
from azbenchlib.dataset.read import Tables


def of_setups(tables: Tables, setups: Sequence[str], place: str | Path) -> Tables:
    """Return the tables with what some setups have; findings about no run are kept.

    Parameters
    ----------
    tables : dict of str to DataFrame
    setups : sequence of str
        Values of setup_id; none: all.
    place : str or Path
        What the dataset is called in a refusal.

    Raises
    ------
    InputError
        When the dataset has no such setup.
    """
    if not setups:
        return tables
    known = list(dict.fromkeys(tables["setups"]["setup_id"].dropna()))
    if wrong := [setup for setup in setups if setup not in known]:
        raise InputError(f"{place}: no setup '{wrong[0]}'; there are: {', '.join(known) or 'none'}")
    runs = tables["runs"]
    ids = set(runs.loc[runs["setup_id"].isin(setups), "run_id"])
    kept = {}
    for name, table in tables.items():
        if "setup_id" in table:
            table = table[table["setup_id"].isin(setups)]
        elif "run_id" in table:
            of_dataset = table["run_id"].isna() if name == "findings" else False
            table = table[table["run_id"].isin(ids) | of_dataset]
        kept[name] = table.reset_index(drop=True)
    return kept
