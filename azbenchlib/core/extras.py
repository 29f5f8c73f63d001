"""The parts of azbench that need more packages than a plain installation has."""

import sys
from collections.abc import Iterable
from pathlib import Path

# What adds an extra to an environment that a tool manages, which has no pip of its own: by the file that the
# tool keeps at the root of the environment. Seen with uv 0.13 and pipx 1.18 on 2026-11-25.
_MANAGED = {"uv-receipt.toml": "uv tool install", "pipx_metadata.json": "pipx install --force"}


def install(extra: str) -> str:
    """The command that adds an extra to this installation of azbench."""
    found = (command for file, command in _MANAGED.items() if (Path(sys.prefix) / file).is_file())
    return f"{next(found, 'pip install')} 'azbench[{extra}]'"


def lacking(module: str, requirements: Iterable[str] | None = None) -> str | None:
    """A sentence for a package that is not installed and belongs to an extra of azbench.

    Parameters
    ----------
    module : str
        What could not be imported, such as ``papermill.engines``.
    requirements : iterable of str, optional
        As wheels state them (``papermill>=2.7; extra == 'notebooks'``). None: those of this installation.

    Returns
    -------
    str or None
        None: it belongs to none.

    Notes
    -----
    Source: PyPA, "Dependency specifiers" and "Names and normalization", read 2026-11-23.
    """
    from importlib import metadata  # takes a sixth of the time of the command line's start

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    package = canonicalize_name(module.partition(".")[0])
    told = metadata.requires("azbench") if requirements is None else requirements
    needs = [Requirement(text) for text in told or ()]
    extras = [
        str(need.marker).partition("extra == ")[2].strip("\"'")
        for need in needs
        if need.marker and canonicalize_name(need.name) == package
    ]
    if not any(extras):
        return None
    extra = next(filter(None, extras))
    return f"this needs the extra '{extra}' of azbench, for {package} is missing: {install(extra)}"
