"""The parts of azbench that need more packages than a plain installation has."""

from collections.abc import Iterable


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
    return (
        f"this needs the extra '{extra}' of azbench, for {package} is missing: pip install 'azbench[{extra}]'"
    )
