"""What the catalogue says of a VM size's host caching, for a setup whose disks use it.

Sources: the pages of the VM series ("Premium Storage caching") and the cache size of the resource-SKU API,
which fills the limit of cache and temp disk also where it states no cache: it may not hold for cached disks.
"""

from __future__ import annotations

from dataclasses import replace

from azbenchlib.azure import catalog
from azbenchlib.azure.catalog.rows import VmRow
from azbenchlib.core.errors import InputError
from azbenchlib.model.setup import Setup


def check(setup: Setup, row: VmRow) -> None:
    """Refuse host caching of a data disk on a size that does not support it.

    Raises
    ------
    InputError
        With the page that says so.
    """
    if (cached := _cached(setup, "data")) and (why := denied(row)):
        raise InputError(f"disk '{cached[0]}': {why}; use None")


def denied(row: VmRow) -> str | None:
    """That a size does not support host caching of data disks, with the source; None: it may."""
    if row.caching is not False:
        return None
    return f"{row.size} does not support host caching of data disks{_cited(row)}"


def denied_of(size: str) -> str | None:
    """The same by the name of a size; None also where the catalogue does not have it."""
    row = _row(size, None)
    return denied(row) if row else None


def without_denied(setup: Setup, as_of: str) -> Setup:
    """The setup, without host caching of data disks where the size does not support it."""
    row = _row(setup.vm.size, setup.as_of or as_of) if setup.vm.size and not setup.vm.stated else None
    if row is None or denied(row) is None:
        return setup
    disks = (replace(disk, caching="None") if disk.role == "data" else disk for disk in setup.disks)
    return replace(setup, disks=tuple(disks))


def remark(setup: Setup, as_of: str) -> str | None:
    """A sentence where host caching is not supported, or its limit is not documented.

    Parameters
    ----------
    setup : Setup
        As it is described: where it states limits of the VM, these count, and there is nothing to say.
    as_of : str
        ISO day, where the setup has none.
    """
    if not setup.vm.size or setup.vm.stated or not _cached(setup, "data", "os"):
        return None
    row = _row(setup.vm.size, setup.as_of or as_of)
    if row is None:
        return None
    if row.caching is False:
        return denied(row) if _cached(setup, "data") else None
    if row.cached_limit_documented:
        return None
    supported = (
        f"{row.size} supports host caching{_cited(row)}, but its cached limit is not documented"
        if row.caching
        else f"whether {row.size} supports host caching is not documented"
    )
    doubtful = "; the API's limit of cache and temp disk may not hold for cached disks"
    return supported + (doubtful if row.best("cached_iops") else "")


def _row(size: str, as_of: str | None) -> VmRow | None:
    try:
        return catalog.vm(size, as_of)
    except InputError:
        return None


def _cached(setup: Setup, *roles: str) -> list[str]:
    """Names of the disks with host caching."""
    return [disk.name for disk in setup.disks if disk.role in roles and disk.caching != "None"]


def _cited(row: VmRow) -> str:
    """Where it is written, in brackets."""
    return f" ({catalog.source(row.caching_source).cited})" if row.caching_source else ""
