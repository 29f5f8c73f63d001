"""Azure's retail prices: the shipped snapshot, readings of the user's own, or a price book of one's own.

What is shipped, a file a region: disk tiers, Premium SSD v2 and Ultra in 65 regions; snapshots,
transactions and bursting in five European ones; Linux VMs by the hour in 58 regions; spot, Windows and
1-year savings plans in six, reservations in one. A price that is not there is missing, never zero.
`source` tells where a row is from.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

from azbenchlib.azure import overlays
from azbenchlib.azure.catalog import files
from azbenchlib.azure.catalog.rows import CatalogSource
from azbenchlib.azure.prices.rows import LICENCE, PAYG, RESERVED_YEARS, VM_PRODUCT, Meter, Price, unit
from azbenchlib.azure.regions import understood
from azbenchlib.core.errors import InputError
from azbenchlib.core.nearest import nearest

PRICE_COLUMNS = (
    "kind", "region", "product_name", "sku_name", "meter_name", "arm_sku", "tier", "redundancy", "price_type",
    "os", "currency", "unit_price", "unit_of_measure", "as_of", "source_id",
)  # fmt: skip
_KINDS = ("disk", "vm")
SHIPPED = files.DATA / "prices"
_END = ".csv.gz"
CURRENCY = re.compile(r"[A-Z]{3}")  # ISO 4217
USD = "USD"  # Azure's own currency; it converts to others for information only
PRICES_OVERLAY_ID = "retail-prices-api"  # source_id of a reading of one's own: this, its day, its region

_KEPT = 16  # assembled books: a report asks for those of its setups' regions over and over
VmKinds = frozenset[tuple[str, str]]
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class PriceBook:
    """The prices of one region that count: of each meter the newest."""

    region: str
    prices: Mapping[Meter, Price]


def book(
    region: str,
    own: Path | None = None,
    as_of: str | None = None,
    currency: str = USD,
    vm_kinds: VmKinds | None = None,
) -> PriceBook:
    """The prices of a region.

    Parameters
    ----------
    region : str
        As :func:`azbenchlib.azure.regions.understood` takes it: westeurope, or West Europe.
    own : Path, optional
        A price book of one's own: a CSV file with the columns `COLUMNS`. It stands in place of all disk
        prices, all VM prices, or both, whichever it has.
    as_of : str, optional
        ISO day for which to answer; default: the newest of each. A price counts since it was read, and until
        the region was read anew without it. Does not select in `own`.
    currency : str
        Of what is shipped or was read; does not select in `own`.
    vm_kinds : frozenset of tuple, optional
        Only these prices of VMs, by price type and operating system; most of a book are of others. None: all.

    Raises
    ------
    InputError
        When the file is damaged, the region does not exist, or no price is known for it (on that day).
    """
    mine = list(read(own)) if own else []
    name = understood(region, {*regions(), *(price.region for price in mine)})
    paths = tuple(_files_of(name))
    if own is None and (assembled := _assembled(paths, name, as_of, currency, vm_kinds)):
        return assembled
    known = _known(paths, name, vm_kinds)
    held = _held(known, as_of, currency)
    kinds = {price.meter.product == VM_PRODUCT for price in mine}
    chosen = [price for price in held if (price.meter.product == VM_PRODUCT) not in kinds]
    chosen += [price for price in mine if price.region == name]
    if not chosen:
        if not mine and known and not as_of and currency not in {price.currency for price in known}:
            raise InputError(_no_currency(name, currency, known))
        raise InputError(_no_region(name, mine, known, as_of))
    return PriceBook(name, _counting(chosen))


def read(
    path: Path, only: str = "", vm_kinds: VmKinds | None = None, names: Container[str] = ()
) -> Iterator[Price]:
    """The rows of a price book, of one region only if it is named, and of VMs only some kinds if these are;
    with `names`, of meters that are called so, whatever the case of their letters.

    Raises
    ------
    InputError
        With file, line and value.
    """
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if path.suffix == ".gz"
            else path.open(encoding="utf-8-sig", newline="") as file
        ):
            yield from _rows(path, csv.reader(file), only, vm_kinds, names)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read as a price book: {reason}") from error


def check_region(text: str) -> str:
    """The name of a region as Azure writes it: ``West Europe`` is westeurope.

    Raises
    ------
    InputError
        When there is no such region, with the nearest names.
    """
    return understood(text, regions())


def regions() -> set[str]:
    """Those for which some price is known."""
    shipped = {path.name.removesuffix(_END) for path in _shipped()}
    return shipped | {price.region for path in overlays.files("prices") for price in read(path)}


def elsewhere(*meters: Meter) -> list[str]:
    """The regions where one of these meters has a price in what is shipped or was read since."""
    wanted, names = set(meters), {meter.name.lower() for meter in meters}
    some = (price for path in _files() for price in read(path, names=names))
    return sorted({price.region for price in some if price.meter in wanted})


def sizes_like(wanted: Meter, prices: PriceBook) -> list[str]:
    """The nearest names of VM sizes that have a price of that kind there."""
    there = {m.name: p.name for m, p in prices.prices.items() if m._replace(name=wanted.name) == wanted}
    return [there[name] for name in nearest(wanted.name, there)]


def source(source_id: str) -> CatalogSource | None:
    """Where rows with this source_id are from; None for a book of the user's own."""
    with (files.DATA / "prices_sources.csv").open(encoding="utf-8", newline="") as file:
        return next(
            (CatalogSource(**row) for row in csv.DictReader(file) if row["source_id"] == source_id), None
        )


def forget() -> None:
    """Read the books anew on the next lookup."""
    _of_region.cache_clear()
    _assembled.cache_clear()


def _files() -> list[Path]:
    return [*_shipped(), *overlays.files("prices")]


def _files_of(region: str) -> list[Path]:
    """Those with prices of a region, as far as the name of a file tells."""
    return [*(path for path in _shipped() if path.name == f"{region}{_END}"), *overlays.files("prices")]


def _shipped() -> list[Path]:
    return sorted(SHIPPED.glob(f"*{_END}"))


@lru_cache(maxsize=_KEPT)
def _assembled(
    paths: tuple[Path, ...], region: str, as_of: str | None, currency: str, vm_kinds: VmKinds | None
) -> PriceBook | None:
    """The prices that count, without a book of one's own; None: there are none."""
    chosen = _held(_known(paths, region, vm_kinds), as_of, currency)
    return PriceBook(region, MappingProxyType(_counting(chosen))) if chosen else None


def _known(paths: Iterable[Path], region: str, vm_kinds: VmKinds | None) -> list[Price]:
    return [price for path in paths for price in _of_region(path, region, vm_kinds)]


def _held(known: Iterable[Price], as_of: str | None, currency: str) -> list[Price]:
    return _listed([price for price in known if _holds(price, as_of) and price.currency == currency])


def _counting(prices: list[Price]) -> dict[Meter, Price]:
    """Of each meter the newest, with what follows from several."""
    return _reservations(_newest([*prices, *_licences(prices)]))


@cache
def _of_region(path: Path, region: str, vm_kinds: VmKinds | None) -> tuple[Price, ...]:
    return tuple(read(path, region, vm_kinds))


def _rows(
    path: Path, lines: Iterator[list[str]], only: str, vm_kinds: VmKinds | None, names: Container[str]
) -> Iterator[Price]:
    header = next(lines, [])
    missing = [name for name in PRICE_COLUMNS if name not in header]
    if missing:
        raise InputError(f"{path}: no price book: columns are missing: {', '.join(missing)}")
    place = header.index("region")
    kinds = [header.index(name) for name in ("price_type", "os")]
    called = [header.index(name) for name in ("arm_sku", "meter_name")]
    for number, cells in enumerate(lines, 2):
        if not cells or (only and cells[place : place + 1] != [only]):
            continue
        if len(cells) != len(header):
            raise InputError(f"{path}, line {number}: {len(cells)} cells, not {len(header)} as in the header")
        if vm_kinds is not None and _unwanted(cells[kinds[0]], cells[kinds[1]], vm_kinds):
            continue
        if names and not any(cells[place].lower() in names for place in called):
            continue
        try:
            yield _price(dict(zip(header, cells, strict=True)))
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None


def _unwanted(price_type: str, os: str, vm_kinds: VmKinds) -> bool:
    """Whether a row is of a VM, for disks have no operating system, and not of a kind that is wanted."""
    return bool(os) and (price_type or PAYG, os) not in vm_kinds


def _price(row: Mapping[str, str]) -> Price:
    if row["kind"] not in _KINDS:
        raise InputError(f"kind '{row['kind']}' is not one of: {', '.join(_KINDS)}")
    name = row["arm_sku"] if row["kind"] == "vm" else row["meter_name"]
    for column, value in (("name", name), ("region", row["region"]), ("currency", row["currency"])):
        if not value.strip():
            raise InputError(f"the {column} of the {row['kind']} is empty")
    if not _DAY.fullmatch(row["as_of"]):
        raise InputError(f"as_of '{row['as_of']}' is not a day; write it as 2026-07-12")
    unit(row["unit_of_measure"])
    if row["kind"] == "vm":
        meter = Meter.of_vm(name, row["price_type"] or PAYG, row["os"] or "linux")
    else:
        meter = Meter(row["product_name"], name, row["price_type"] or PAYG)
    return Price(
        meter=meter,
        name=name,
        region=row["region"].lower().replace(" ", ""),
        currency=row["currency"],
        unit_price=_amount(row["unit_price"]),
        unit=row["unit_of_measure"],
        as_of=row["as_of"],
        source_id=row["source_id"],
        valid_to=row.get("valid_to", ""),
    )


def _amount(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise InputError(f"price '{text}' is not a number") from None
    if not value.is_finite() or value <= 0:
        raise InputError(f"price '{text}' is not above zero; leave a price that is not known out")
    return value


def _holds(price: Price, day: str | None) -> bool:
    if day is None:
        return not price.valid_to
    return price.as_of <= day and (not price.valid_to or day < price.valid_to)


def _listed(prices: list[Price]) -> list[Price]:
    """Without what Azure no longer listed when a whole region was read anew; VMs and disks each alone."""
    read_on: dict[bool, str] = {}
    for price in prices:
        if price.source_id.startswith(PRICES_OVERLAY_ID):
            vm = price.meter.product == VM_PRODUCT
            read_on[vm] = max(price.as_of, read_on.get(vm, ""))
    return [price for price in prices if price.as_of >= read_on.get(price.meter.product == VM_PRODUCT, "")]


def _newest(prices: Iterable[Price]) -> dict[Meter, Price]:
    found: dict[Meter, Price] = {}
    for price in prices:
        before = found.get(price.meter)
        if before and _contradicts(before, price):
            two = " and ".join(f"{one.unit_price} {one.currency} {one.unit}" for one in (before, price))
            raise InputError(f"{price.meter} has two prices from {price.source_id}: {two}; keep one")
        if before is None or before.as_of <= price.as_of:
            found[price.meter] = price
    return found


def _contradicts(one: Price, other: Price) -> bool:
    """Whether one source gives two currencies, or two prices of one day."""
    if one.source_id != other.source_id:
        return False
    same_day = one.as_of == other.as_of
    return one.currency != other.currency or (same_day and one.unit_price != other.unit_price)


def _reservations(prices: dict[Meter, Price]) -> dict[Meter, Price]:
    """The API's reservation prices are for the whole term although it says an hour; calculators give hours.

    A price above that of an hour without reservation can only be the term's, thousands of times as much.
    """
    for meter, price in prices.items():
        years = RESERVED_YEARS.get(meter.price_type)
        if years and price.per.hours == 1:
            hourly = prices.get(meter._replace(price_type=PAYG))
            if hourly is None or price.unit_price > hourly.unit_price:
                prices[meter] = replace(price, unit=f"{years} Year{'s' if years > 1 else ''}")
    return prices


def _licences(prices: Iterable[Price]) -> Iterator[Price]:
    """What Windows costs above Linux, by the VM size: of one source and day, else nothing is known."""
    hourly = [price for price in prices if price.meter.os and price.meter.price_type == PAYG]
    of_windows = [price for price in hourly if price.meter.os == "windows"]
    if not of_windows:
        return
    linux = {
        (price.meter.name, price.source_id, price.as_of, price.unit): price.unit_price
        for price in hourly
        if price.meter.os == "linux"
    }
    for price in of_windows:
        own = linux.get((price.meter.name, price.source_id, price.as_of, price.unit))
        if own is not None and price.unit_price > own:
            licence = price.meter._replace(price_type=LICENCE)
            yield replace(price, meter=licence, unit_price=price.unit_price - own)


def _no_region(name: str, mine: list[Price], known: list[Price], as_of: str | None) -> str:
    if known and as_of:
        days = sorted({f"{p.as_of} to {p.valid_to}" if p.valid_to else f"since {p.as_of}" for p in known})
        return f"no prices for {name} on {as_of}; there are some read on: {', '.join(days)}"
    there = {p.region for p in mine} or regions()
    near = nearest(name, there, alike=0.6)
    choices = f"nearest: {', '.join(near)}" if near else f"there are: {', '.join(sorted(there))}"
    return f"no prices for region '{name}'; {choices}"


def _no_currency(region: str, currency: str, known: list[Price]) -> str:
    there = ", ".join(sorted({price.currency for price in known}))
    return (
        f"no prices in {currency} for {region}, but in {there}: `azbench catalog refresh --retail-prices "
        f"--region {region} --currency {currency}` reads Azure's"
    )
