"""Where files lie: those that come with azbench, beside the package in a checkout or within it when
installed, and those that it may lose, in the user's cache.
"""

import os
from functools import cache
from pathlib import Path
from typing import Literal

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped(kind: str) -> list[Path]:
    """The folders of ``notebooks``, ``datasets`` or ``campaigns`` that come with azbench.

    Parameters
    ----------
    kind : str
        Name of the folder.

    Returns
    -------
    list of Path
        Those that may be there, the checkout's first.
    """
    return [_PACKAGE.parent / kind, _PACKAGE / "share" / kind]


def user_folder(kind: Literal["cache", "data"]) -> Path | None:
    """The user's folder for what azbench keeps, which need not exist.

    Parameters
    ----------
    kind : {"cache", "data"}
        What azbench can make again, or what it cannot.

    Returns
    -------
    Path or None
        As the operating system wants it (on Linux the XDG Base Directory Specification 0.8); None where the
        user has no home.
    """
    return _user_folder(kind, os.environ.get("HOME"), os.environ.get(f"XDG_{kind.upper()}_HOME"))


@cache
def _user_folder(kind: Literal["cache", "data"], _home: str | None, _xdg: str | None) -> Path | None:
    """The same, found once for what the environment says: judging a run asks a dozen times."""
    import platformdirs  # most commands keep nothing

    named = {"cache": platformdirs.user_cache_path, "data": platformdirs.user_data_path}[kind]
    found = named("azbench", appauthor=False)
    return found if found.is_absolute() else None


def named_folders(kind: str) -> list[Path]:
    """Folders in which a dataset or a campaign is looked for by its name: here, then those of azbench."""
    return [Path(kind), *shipped(kind)]
