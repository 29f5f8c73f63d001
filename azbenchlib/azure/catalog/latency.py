"""How long an unthrottled I/O takes, by kind of disk: percentiles, each with its source and day.

Of some kinds publications have measured them (`kind` is ``published``); of others typical values are our
assumption within what Microsoft's pages promise (``assumed``). Published are mostly the percentiles of 8 KiB
random writes with one outstanding; reads and other sizes take the same, for want of better.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from azbenchlib.azure.catalog.files import own_file, rows_of
from azbenchlib.core.errors import InputError

LATENCY_FILE = "unloaded_latency.csv"
PUBLISHED = "published"  # the kind of rows that were measured by others
# Tables of places, beside those of the kinds of disks (:mod:`azbenchlib.azure.disk_kinds`).
HOST_CACHE, EPHEMERAL = "host-cache", "ephemeral"
ZRS_BY_ZONE = ("premium-zrs-zone1", "premium-zrs-zone2", "premium-zrs-zone3")  # from a VM in that zone
# What the SSD of a host serves: host cache, temp disk and ephemeral OS disk, each as one VM was measured.
HOST_SSD = (HOST_CACHE, "temp", "temp-amd", EPHEMERAL)


def tables() -> tuple[str, ...]:
    """The tables that there are."""
    return tuple(_tables(own_file(LATENCY_FILE)))


def percentiles(table: str, write: bool) -> Mapping[float, float]:
    """The latency in µs of writes, else of reads, by percentile (0 to 100).

    Raises
    ------
    InputError
        For a table that there is not.
    """
    known = _tables(own_file(LATENCY_FILE))
    if table not in known:
        raise InputError(f"no latency table '{table}'; there are: {', '.join(known)}")
    return known[table]["write" if write else "read"]


def origins(table: str) -> frozenset[str]:
    """The publications, as the shipped datasets are called, that a table is taken from.

    Returns
    -------
    frozenset of str
        Empty where it is our assumption, or there is no such table.
    """
    published = (row for row in rows_of(LATENCY_FILE) if row["profile"] == table and row["kind"] == PUBLISHED)
    return frozenset(row["source"].partition(":")[0] for row in published)


@cache
def _tables(_own: Path | None) -> Mapping[str, Mapping[str, Mapping[float, float]]]:
    """Percentiles by table and direction; read again where the user's own file has come or gone."""
    found: dict[str, dict[str, dict[float, float]]] = defaultdict(lambda: {"read": {}, "write": {}})
    for row in rows_of(LATENCY_FILE):
        for ddir in [row["serves"]] if row["serves"] else ["read", "write"]:
            found[row["profile"]][ddir][float(row["percentile"])] = float(row["lat_us"])
    return dict(found)
