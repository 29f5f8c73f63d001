"""What a region offers a subscription: zones and restrictions, as the last refresh of its sizes read them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from azbenchlib.azure import overlays
from azbenchlib.azure.catalog.lookup import overlay_place, overlay_rows
from azbenchlib.azure.catalog.rows import Offer, RegionalOffer

_ZONES = "restricted in every zone"


def offers(region: str) -> RegionalOffer | None:
    """What the newest `azbench catalog refresh` of a region read of its VM sizes; None: it was never read."""
    paths = [path for path in overlays.files("catalog") if overlay_place(path)[1] == region]
    return _offers(paths[-1]) if paths else None


def forget() -> None:
    """Read overlays anew on the next lookup."""
    _offers.cache_clear()


@cache
def _offers(path: Path) -> RegionalOffer:
    """A size has several rows where a limit of it is doubtful; each tells the same offer, the first all."""
    day, region = overlay_place(path)
    found: dict[str, Offer] = {}
    for row in overlay_rows(path):
        found.setdefault(row["size"].lower(), _offer(row))
    return RegionalOffer(region, day, found)


def _offer(row: Mapping[str, str]) -> Offer:
    taken = _split(row, "restricted_zones")
    zones = tuple(zone for zone in _split(row, "zones") if zone not in taken)
    ultra = tuple(zone for zone in _split(row, "ultra_zones") if zone in zones)
    reason = row.get("restriction") or ("" if zones or not row.get("zones") else _ZONES)
    anywhere = bool(ultra) or row.get("ultra_ssd") == "True"
    return Offer(zones=zones, ultra_zones=ultra, ultra=anywhere, restriction=reason)


def _split(row: Mapping[str, str], column: str) -> list[str]:
    return [name for name in (row.get(column) or "").split(",") if name]
