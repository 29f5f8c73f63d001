"""Telemetry on its way into a lake: the day of each interval, and the setup that it tells of."""

from __future__ import annotations

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.dataset.from_raw import setups_by_path
from azbenchlib.dataset.manifest import Manifest
from azbenchlib.dataset.read import Tables
from azbenchlib.lake.parts import DAY
from azbenchlib.model.disk_row import OF_SETUP


def dated(demand: pd.DataFrame) -> pd.DataFrame:
    """The rows with the day on which each interval began, by the clock of its file; NA where none is stated.

    Parameters
    ----------
    demand : DataFrame
        The table of that name.
    """
    stated = demand["t_s"].where(demand["clock"] != "elapsed")
    begins = pd.to_datetime(stated.astype("float64"), unit="s", errors="coerce")
    return demand.assign(**{DAY: begins.dt.strftime("%Y-%m-%d").astype(schema.TEXT)})


def of_dataset(tables: Tables, manifest: Manifest) -> Tables:
    """The tables of a dataset, with the setup of its telemetry: that of its folder, or the only one."""
    demand = tables["demand"]
    stated = demand.assign(**{OF_SETUP: setups_by_path(demand["source_path"], manifest)})
    only = manifest.setups[0].setup_id if len(manifest.setups) == 1 else None
    return tables | {"demand": called(stated, only)}


def called(demand: pd.DataFrame, setup_id: str | None) -> pd.DataFrame:
    """The rows with a name for the setup where none is stated."""
    stated = demand[OF_SETUP] if OF_SETUP in demand else pd.Series(pd.NA, demand.index, schema.TEXT)
    return demand.assign(**{OF_SETUP: stated if setup_id is None else stated.fillna(setup_id)})
