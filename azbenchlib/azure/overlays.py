"""What `azbench catalog refresh` read for this user: files DAY_REGION.csv, used before the shipped ones."""

from pathlib import Path
from typing import Literal

from azbenchlib.core.errors import OutputError
from azbenchlib.core.locations import user_folder

Kind = Literal["catalog", "prices"]


def folder(kind: Kind) -> Path | None:
    """Where they are; None where the user has no home."""
    home = user_folder("data")
    return None if home is None else home / kind


def files(kind: Kind) -> tuple[Path, ...]:
    """All of a kind, oldest first."""
    place = folder(kind)
    return () if place is None else tuple(sorted(place.glob("????-??-??_*.csv")))


def new(kind: Kind, name: str) -> Path:
    """The path of a new one.

    Raises
    ------
    OutputError
        When the user has no home folder.
    """
    place = folder(kind)
    if place is None:
        raise OutputError("there is no home folder to keep what was read; set HOME or XDG_DATA_HOME")
    return place / f"{name}.csv"
