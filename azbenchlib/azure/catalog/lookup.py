"""Find a VM size, a disk tier or a provisioned disk's rules as they were on a day."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from azbenchlib.azure import disk_kinds, overlays
from azbenchlib.azure.catalog import files
from azbenchlib.azure.catalog.files import DATA, Rows, read
from azbenchlib.azure.catalog.rows import (
    LIMITS,
    READINGS_ID,
    CatalogSource,
    Limit,
    ProvisionedRules,
    TierRow,
    VmRow,
    unit_of,
)
from azbenchlib.azure.catalog.size_rows import RETIRED_FILE, SizeRows
from azbenchlib.core.errors import InputError
from azbenchlib.core.name_forms import QUOTED_CHARS, squeezed
from azbenchlib.core.nearest import nearest
from azbenchlib.core.units import format_size

_PREFIX = "Standard_"
SIZES_OVERLAY_ID = READINGS_ID  # source_id of an overlay: this, its day, its region
_UNITS = {name: unit_of(name) for name in LIMITS}
_NUMBER_OF_VCPUS = re.compile(r"\d+(?:-\d+)?")  # constrained sizes have some of them: E32-8s_v3
_TEXT = {"size", "source_id", "name", "sku", "note", "valid_from", "valid_to"}

Era = TypeVar("Era", TierRow, ProvisionedRules)


def vm(size: str, as_of: date | str | None = None) -> VmRow:
    """A VM size with all that is stated about its limits.

    Parameters
    ----------
    size : str
        As Azure writes it, or as people do: ``Standard_D8s_v5``, ``D8sv5``, ``d8s-v5``, or as the portal
        shows it, ``Standard D8s v5 (8 vcpus, 32 GiB memory)``.
    as_of : date or str, optional
        Day (ISO) for which `VmRow.best` answers; default today.

    Raises
    ------
    InputError
        When the size is not known (the message has the nearest names), when it may be one of several, or when
        the day is none.
    """
    day, extra = _day(as_of), overlays.files("catalog")
    sizes, key = _sizes(extra), _key(size)
    if key not in sizes:
        key = _meant(size, sizes, _by_letters(extra))
    return _vm_row(sizes[key], day)


def _meant(size: str, sizes: Mapping[str, Rows], by_letters: Mapping[str, list[str]]) -> str:
    """The key of the size that a text names in another spelling than Azure's."""
    letters = _letters(size.partition("(")[0])
    keys = by_letters.get(letters, [])
    if len(keys) == 1:
        return keys[0]
    near = [key for alike in nearest(letters, by_letters) for key in by_letters[alike]]
    names = [sizes[key][0]["size"] for key in keys or near]
    if keys:
        raise InputError(f"VM size '{size[:QUOTED_CHARS]}' may be {' or '.join(names)}: name one of them")
    which = f"; nearest: {', '.join(names)}" if names else ""
    raise InputError(f"no VM size '{size[:QUOTED_CHARS]}' in the catalogue{which}")


def every_vm(as_of: date | str | None = None) -> list[VmRow]:
    """Every size of :func:`vm_sizes`, as :func:`vm` gives it."""
    gone, day = _gone(), _day(as_of)
    return [_vm_row(rows, day) for key, rows in _sizes(overlays.files("catalog")).items() if key not in gone]


def _vm_row(rows: Rows, day: str) -> VmRow:
    own: dict[str, str] = {}
    for row in reversed(rows):
        own.update(row)
    return VmRow(
        size=rows[0]["size"],
        vcpus=_int(own.get("vcpus")),
        vcpus_available=_int(own.get("vcpus_available")),
        memory_bytes=_int(own.get("memory_bytes")),
        max_data_disks=_int(own.get("max_data_disks")),
        limits=_limits(rows),
        as_of=day,
        premium_io=_bool(own.get("premium_io")),
        caching=_bool(own.get("caching")),
        caching_source=_last_that_says("caching", own.get("caching"), rows),
        ephemeral_os=_bool(own.get("ephemeral_os")),
        ephemeral_placements=_names(own.get("ephemeral_placements")),
        interface=_names(own.get("interface")),
        architecture=own.get("architecture"),
        gpus=_int(own.get("gpus")),
        ultra_ssd=_bool(own.get("ultra_ssd")),
        retires_on=own.get("retires_on"),
        retirement_source=_last_that_says("retires_on", own.get("retires_on"), rows),
        parent=own.get("parent"),
    )


def _last_that_says(name: str, value: str | None, rows: Rows) -> str | None:
    """The source_id of what states a property: of a page rather than of the API, where both do."""
    return value and next(row["source_id"] for row in reversed(rows) if row.get(name) == value)


def disk_tier(name: str, as_of: date | str | None = None) -> TierRow:
    """A tier (P1 to P80, E1 to E80, S4 to S80; in any case) as it was on a day.

    Raises
    ------
    InputError
        When there is no such tier, or it is not known to have existed on that day.
    """
    tiers = _tiers()
    eras = tiers.get(name.strip().upper())
    if eras is None:
        raise InputError(f"no disk tier '{name}'{_nearest(name.upper(), {key: key for key in tiers})}")
    return _in_force(eras, _day(as_of), eras[0].name)


def tier_for(sku: str, size_bytes: int, as_of: date | str | None = None) -> TierRow:
    """The smallest tier of a SKU that holds a disk of this size, which is how Azure bills and limits it.

    Parameters
    ----------
    sku : str
        Premium_LRS, StandardSSD_ZRS, Standard_LRS and so on, with or without the redundancy.
    size_bytes : int
    as_of : date or str, optional

    Raises
    ------
    InputError
        When the SKU has no tiers, or the disk is larger than the largest.
    """
    day, wanted = _day(as_of), _sku(sku, disk_kinds.bare_skus(tiered=True))
    tiers = _tiers().values()
    there = [row for eras in tiers for row in eras if row.sku == wanted and row.holds(day)]
    fitting = [row for row in there if row.size_bytes >= size_bytes]
    if not fitting:
        largest = max(there, key=lambda row: row.size_bytes, default=None)
        limit = f"; {largest.name} holds {format_size(largest.size_bytes)}" if largest else ""
        raise InputError(f"no tier of {sku} holds {format_size(size_bytes)} on {day}{limit}")
    return min(fitting, key=lambda row: row.size_bytes)


def provisioned_rules(sku: str, as_of: date | str | None = None) -> ProvisionedRules:
    """What could be provisioned on a day on UltraSSD_LRS, PremiumV2_LRS (with or without redundancy).

    Raises
    ------
    InputError
        When the SKU is not of these, or not known to have existed on that day.
    """
    wanted = _sku(sku, provisioned_skus())
    return _in_force(_rules()[wanted], _day(as_of), wanted)


def vm_sizes() -> list[str]:
    """Every VM size that the catalogue knows, but for those that Azure has retired altogether."""
    gone = _gone()
    return [rows[0]["size"] for key, rows in _sizes(overlays.files("catalog")).items() if key not in gone]


def same_series(size: str, as_of: date | str | None = None) -> list[VmRow]:
    """Every size whose name differs from one in its numbers of vCPUs alone, as :func:`vm` gives it.

    Parameters
    ----------
    size : str
        As Azure writes it, in any case; it is among them.
    as_of : date or str, optional
    """
    sizes, gone, series = _sizes(overlays.files("catalog")), _gone(), _series(_key(size))
    return [_vm_row(sizes[key], _day(as_of)) for key in sizes if key not in gone and _series(key) == series]


def _series(key: str) -> str:
    """``d#s_v5``, of a constrained size too."""
    return _NUMBER_OF_VCPUS.sub("#", key, count=1)


def _gone() -> set[str]:
    return {_key(row["size"]) for row in read(DATA / RETIRED_FILE)}


def provisioned_skus() -> tuple[str, ...]:
    """The SKUs, without the redundancy, whose IOPS and MB/s are provisioned."""
    return disk_kinds.bare_skus(tiered=False)


def disk_tiers(as_of: date | str | None = None) -> list[TierRow]:
    """Every disk tier that is known to have existed on a day."""
    day = _day(as_of)
    return [row for eras in _tiers().values() for row in [one for one in eras if one.holds(day)][:1]]


def source(source_id: str) -> CatalogSource:
    """Where the rows with this source_id come from.

    Raises
    ------
    InputError
        When no row bears it.
    """
    listed = {row["source_id"]: CatalogSource(**row) for row in read(DATA / "sources.csv")}
    listed |= {_overlay_id(path): _overlay_source(path) for path in overlays.files("catalog")}
    if source_id not in listed:
        raise InputError(
            f"no source '{source_id}' in the catalogue{_nearest(source_id, dict.fromkeys(listed, ''))}"
        )
    return listed[source_id]


def forget() -> None:
    """Read overlays anew on the next lookup."""
    read.cache_clear()
    _sizes.cache_clear()
    _by_letters.cache_clear()
    _eras.cache_clear()


@cache
def _sizes(extra: tuple[Path, ...]) -> Mapping[str, Rows]:
    """Rows by key of the size, in order of precedence."""
    return SizeRows((overlay_rows(path) for path in reversed(extra)), _key)


def overlay_rows(path: Path) -> Rows:
    """Rows of a file that lies where the user can change it."""
    rows = read(path)
    sound = bool(rows) and {"size", "source_id", *LIMITS} <= set(rows[0])
    if not sound or any(row["source_id"] != _overlay_id(path) for row in rows):
        raise InputError(f"{path} is not what `azbench catalog refresh` writes; remove it and refresh again")
    return rows


def overlay_place(path: Path) -> tuple[str, str]:
    """Day and region of an overlay."""
    day, region = path.stem.split("_", 1)
    return day, region


def _limits(rows: Rows) -> tuple[Limit, ...]:
    """All statements, first what counts most. A newer reading that differs counts from its own day on."""
    found: list[Limit] = []
    for row in reversed(rows):
        stated = _stated(row)
        if read_on := _overlay_day(row["source_id"]):
            stated = [_dated(limit, found, read_on) for limit in stated]
        found[:0] = stated
    return tuple(found)


def _stated(row: Mapping[str, str]) -> list[Limit]:
    since, until, source_id = row.get("valid_from"), row.get("valid_to"), row["source_id"]
    note = row.get("note", "")
    return [
        Limit(name, int(text), _UNITS[name], since, until, source_id, note)
        for name, text in row.items()
        if name in _UNITS
    ]


def _dated(limit: Limit, older: Iterable[Limit], read_on: str) -> Limit:
    """A reading of the API that repeats the one before stands as long as that; another one since its day."""
    before = next((one for one in older if one.name == limit.name and one.from_api), None)
    if before is None:
        return limit
    since = before.valid_from if before.value == limit.value else read_on
    return limit._replace(valid_from=since)


def _overlay_id(path: Path) -> str:
    return f"{SIZES_OVERLAY_ID}-{path.stem}"


def _overlay_day(source_id: str) -> str | None:
    return (
        source_id.removeprefix(f"{SIZES_OVERLAY_ID}-")[:10]
        if source_id.startswith(SIZES_OVERLAY_ID)
        else None
    )


def _overlay_source(path: Path) -> CatalogSource:
    day, region = overlay_place(path)
    what = f"az vm list-skus --location {region}"
    return CatalogSource(
        source_id=_overlay_id(path),
        what=what,
        repository="",
        path=str(path),
        commit="",
        date=day,
        licence="the subscription's own reading",
    )


def _tiers() -> Mapping[str, list[TierRow]]:
    file = "disk_tiers.csv"
    return _eras(file, TierRow, "name", files.own_file(file))


def _rules() -> Mapping[str, list[ProvisionedRules]]:
    file = "provisioned_rules.csv"
    return _eras(file, ProvisionedRules, "sku", files.own_file(file))


@cache
def _eras(file: str, kind: type[Era], key: str, _own: Path | None) -> Mapping[str, list[Era]]:
    """Rows by name; read again where the user's own file has come or gone."""
    found: dict[str, list[Era]] = defaultdict(list)
    for row in files.rows_of(file):
        values: dict[str, Any] = {field.name: _value(field.name, row[field.name]) for field in fields(kind)}
        found[row[key]].append(kind(**values))
    return dict(found)


def _in_force(eras: list[Era], day: str, name: str) -> Era:
    found = next((era for era in eras if era.holds(day)), None)
    if found is None:
        raise InputError(f"{name} is not known on {day}; it is since {eras[0].valid_from}")
    return found


def _value(name: str, text: str) -> str | float | None:
    if name in _TEXT:
        return text if text or name == "note" else None
    if not text:
        return None
    return float(text) if "." in text else int(text)


def _sku(sku: str, choices: Iterable[str]) -> str:
    bare = sku.split("_")[0].lower()
    for choice in choices:
        if choice.lower() == bare:
            return choice
    raise InputError(
        f"disk SKU '{sku}': one of {', '.join(choices)} was expected, such as {next(iter(choices))}_LRS"
    )


def _day(as_of: date | str | None) -> str:
    if as_of is None:
        return date.today().isoformat()
    try:
        return as_of.isoformat() if isinstance(as_of, date) else date.fromisoformat(as_of).isoformat()
    except ValueError:
        raise InputError(f"'{as_of}' is not a day; write it as 2020-07-01") from None


def _key(size: str) -> str:
    return size.strip().replace(" ", "_").lower().removeprefix(_PREFIX.lower())


def _letters(size: str) -> str:
    """Letters and digits of a size's name: the same in all its spellings."""
    return squeezed(size).removeprefix("standard")


@cache
def _by_letters(extra: tuple[Path, ...]) -> Mapping[str, list[str]]:
    """Keys of sizes by their letters and digits."""
    found: dict[str, list[str]] = defaultdict(list)
    for key in _sizes(extra):
        found[_letters(key)].append(key)
    return dict(found)


def _nearest(wanted: str, known: Mapping[str, str]) -> str:
    near = nearest(wanted, known)
    return f"; nearest: {', '.join(known[name] or name for name in near)}" if near else ""


def _int(text: str | None) -> int | None:
    return int(text) if text else None


def _bool(text: str | None) -> bool | None:
    return {"True": True, "False": False}.get(text or "")


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",")) if text else ()
