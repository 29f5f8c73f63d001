"""Loads that take all they get of a setup, by today's documents, and where its parts are bought."""

from datetime import date

from azbenchlib.advisor.reasons.next_step import BoundLoad, Shop
from azbenchlib.azure.prices.book import book
from azbenchlib.core.units import KIB
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.setup import VM, Setup

TODAY = date.today().isoformat()
PRICES = book("westeurope").prices
SHOP = Shop(region="westeurope", prices=PRICES, day=TODAY)
UNPRICED = Shop(region="nowhere", prices={}, day=TODAY)


def asked(vm: str | None, *notations: str, bs: float = 4 * KIB, **more: object) -> BoundLoad:
    """A load that takes all it gets, with the limits that bind it."""
    stated = Setup(VM(size=vm), parse_disks(notations))
    on_credits = bool(more.pop("on_credits", False))
    loads = tuple(Load(volume=v.name, bs_bytes=bs, **more) for v in stated.volumes())  # type: ignore[arg-type]
    got = deliver(resolve(stated, TODAY), loads, bursting=on_credits)
    return BoundLoad(stated=stated, loads=loads, labels=got.binding, on_credits=on_credits)
