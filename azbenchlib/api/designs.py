"""Limits, prices and advice: what a VM with its disks can do, costs, and which one is needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azbenchlib.api.stated import Stated, described
from azbenchlib.core.choices import BLOCK_SIZES, DEFAULT_REGION
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset

if TYPE_CHECKING:
    from azbenchlib.answers.advice import AdviceAnswer
    from azbenchlib.answers.bill import BillAnswer
    from azbenchlib.answers.limits import LimitsAnswer
    from azbenchlib.answers.size import Sized

__all__ = ["advise", "limits", "price", "size"]


def limits(
    vm: str | None,
    disks: Sequence[str] | str,
    *,
    block_sizes: Iterable[Stated] | Stated = BLOCK_SIZES,
    read_share: Stated = 1.0,
    as_of: str | None = None,
) -> LimitsAnswer:
    """Find the most that a VM with its disks can deliver, and which limit binds at each block size.

    Parameters
    ----------
    vm : str or None
        VM size; None: disks alone.
    disks : str or sequence of str
        Such as ``P30x4:ReadOnly``, ``ultra:128GiB/10000iops/50MBps`` or ``temp``.
    block_sizes : number, str or iterable of them
        Bytes, or texts such as ``"4k"``, which is 4 KiB.
    read_share : number or str
        ``0.7`` or ``"70%"``; writes are the rest.
    as_of : str, optional
        ISO day whose limits apply; default today.

    Returns
    -------
    LimitsAnswer
        ``to_frame()`` has a row a volume, path, level (base or burst) and block size; ``plot()`` draws the
        roofline.

    Raises
    ------
    InputError
        For a size or a disk that the catalogue does not know, what Azure refuses, or a value that is none.
    """
    from azbenchlib.answers.limits import LimitsAnswer
    from azbenchlib.core import stated_values
    from azbenchlib.model.setup_ceilings import setup_ceilings

    if not disks:
        raise InputError("disks are missing: name one, such as P30 or temp")
    given = block_sizes.split(",") if isinstance(block_sizes, str) else block_sizes
    each = given if isinstance(given, Iterable) else [given]
    sizes = [stated_values.block("block_sizes", stated_values.as_text("block_sizes", size)) for size in each]
    if not sizes:
        raise InputError("block_sizes are missing: name one, such as 4k")
    share = stated_values.share("read_share", stated_values.as_text("read_share", read_share))
    stated = described(vm, disks, as_of)
    return LimitsAnswer(setup_ceilings(stated, as_of or date.today().isoformat(), sizes, share))


def price(
    vm: str | None,
    disks: Sequence[str] | str = (),
    region: str = "",
    *,
    hours: float | Decimal = 730,
    as_of: str | None = None,
) -> BillAnswer:
    """Price a VM with its disks, pay as you go, at list prices.

    Parameters
    ----------
    vm : str or None
        VM size; None: disks alone.
    disks : str or sequence of str
        Such as ``P30x4`` or ``ultra:128GiB/10000iops/50MBps``.
    region : str
        Such as westeurope.
    hours : int, float or Decimal
        The period; a month has 730 hours.
    as_of : str, optional
        ISO day whose prices count; default: the newest.

    Returns
    -------
    BillAnswer
        With ``total`` (US dollars; None where a price is not known), ``to_frame()``, ``to_dict()``,
        ``plot()`` and ``why`` there is no total.

    Raises
    ------
    InputError
        For disks that are not understood, a region that is missing, or hours that are no number above 0.
    """
    from azbenchlib.answers.bill import BillAnswer
    from azbenchlib.core import stated_values
    from azbenchlib.cost.priced_setups import Terms
    from azbenchlib.cost.priced_setups import price as priced

    if not region:
        raise InputError("region is missing: name an Azure region, such as westeurope")
    if isinstance(hours, str):
        raise InputError(f"hours '{hours}' is a text: give a number, such as 730")
    period = stated_values.as_text("hours", hours)
    if not 0 < hours < math.inf:
        raise InputError(f"hours {hours}: a number above 0 is needed")
    terms = Terms(region=region, hours=Decimal(period), as_of=as_of or "")
    return BillAnswer(priced(described(vm, disks), terms))


def advise(
    *,
    size: Stated | None = None,
    iops: Stated | None = None,
    mbps: Stated | None = None,
    bs: Stated | None = None,
    read_share: Stated | None = None,
    latency: str | None = None,
    zrs: bool | str = False,
    not_persistent: bool | str = False,
    hit: Stated | None = None,
    headroom: Stated | None = None,
    vcpus: Stated | None = None,
    ram: Stated | None = None,
    ram_per_vcpu: Stated | None = None,
    vm: str | None = None,
    family: str | None = None,
    arch: str | None = None,
    arm: bool | str = False,
    burstable: bool | str = False,
    any_family: bool | str = False,
    max_disks: Stated | None = None,
    strictly_cheapest: bool | str = False,
    zone: Stated | None = None,
    peak: str | None = None,
    preset: str | None = None,
    os_disk: str | None = None,
    with_nvme: bool = False,
    region: str = DEFAULT_REGION,
    as_of: str | None = None,
    vm_hours: Stated | None = None,
    pay: str = "payg",
    disk_pay: str = "payg",
    os: str = "linux",
    discount: Stated = 0,
    currency: str = "USD",
    prices: Path | str | None = None,
    **others: Any,
) -> AdviceAnswer:
    """Recommend a VM and disks that meet a demand: the fewest disks within 5 % of the cheapest.

    The parameters are the options of ``azbench advise``. A number may be an int, a float, a Decimal or a text
    as on the command line: ``iops=24000`` is ``iops="24k"``.

    Parameters
    ----------
    size : number or str
        Room for data: bytes, or a text with its unit such as ``"2TiB"``. It must be stated.
    iops, mbps : number or str, optional
        I/Os per second and MB/s; at least one of them, or a `preset`.
    bs : number or str, optional
        Size of an I/O: bytes, or a text such as ``"8KiB"``. Default: 4 KiB.
    read_share, hit : number or str, optional
        Share of reads, and of the reads those that a host cache serves: ``0.7`` or ``"70%"``. Default: 0.7
        and 0.
    latency : {"any", "ssd", "premium", "submillisecond", "local"}, optional
        Default: ssd; any for I/Os of 256 KiB and more.
    zrs, not_persistent : bool
        Zone-redundant disks only; allow local disks, whose data is lost when the VM is deallocated.
    headroom : number or str, optional
        Every limit is at least this many times the demand. Default: 1.2.
    vcpus : number or str, optional
        Least number of vCPUs.
    ram, ram_per_vcpu : number or str, optional
        Least memory, and least memory for each vCPU: bytes, or a text such as ``"64GiB"``.
    vm : str, optional
        A VM size or a pattern such as ``"Standard_E*"``.
    family : str, optional
        Only these VM families, such as ``"E"`` or ``"D,F"``.
    arch : {"any", "x64", "arm64"}, optional
        Default: x64.
    arm, burstable, any_family : bool
        Arm CPUs too; VMs whose CPU lives on credits too; previous generations and special families too.
    max_disks : int or str, optional
        Most disks of the volume. Default: 8.
    strictly_cheapest : bool
        Recommend the cheapest, however many disks it has, and not the fewest disks within 5 % of it.
    zone : int or str, optional
        Availability zone.
    peak : str, optional
        A peak, ``"SECONDS/PERIOD:IOPS[:MBPS]"``.
    preset : str, optional
        A workload by name, such as ``"postgresql"``, for what is not stated.
    os_disk : str, optional
        The OS disk too: its size, such as ``"64GiB"``, and its rates where they are known, such as
        ``"64GiB,iops=2000"``; ``not-persistent=yes`` allows an ephemeral one. Default: it is not in the
        price.
    with_nvme : bool
        The image has NVMe drivers: VM sizes with both interfaces have their limits over NVMe.
    region : str
        Azure region; of westeurope all prices are shipped.
    as_of : str, optional
        ISO day whose limits and prices count; default: the newest.
    vm_hours : number or str, optional
        Hours a month that the VM runs; its disks are billed all month. Default: all.
    pay : {"payg", "spot", "1y", "3y", "savings-1y", "savings-3y"}
        How the VM is paid.
    disk_pay : {"payg", "1y"}
        How disks are paid.
    os : {"linux", "windows", "windows-hybrid"}
        Operating system.
    discount : number or str
        What an agreement takes off every price: ``0.12`` or ``"12%"``.
    currency : str
        Of the prices.
    prices : path-like, optional
        A price book of your own.
    **others
        Old names, `hours` and `burst`; any other name that is not above is told with the choices.

    Returns
    -------
    AdviceAnswer
        What is recommended, with what else there is: ``to_frame()`` and ``records()`` have a row a
        configuration, that one first, the others by price; ``explained()`` tells alternatives, limits,
        assumptions, sources and the fio job.

    Raises
    ------
    InputError
        For an option that there is not, a value that cannot be read, or a demand that nothing meets.
    """
    from azbenchlib.advisor.advise import advise as ask
    from azbenchlib.advisor.demands.demand_file import stated_demand
    from azbenchlib.advisor.offers.load_market import check_offered, market
    from azbenchlib.answers.advice import AdviceAnswer
    from azbenchlib.cost.payments import stated_payment

    vm_hours, peak = others.pop("hours", vm_hours), others.pop("burst", peak)
    demand = {
        "size": size, "iops": iops, "mbps": mbps, "bs": bs, "read_share": read_share, "latency": latency,
        "zrs": zrs, "not_persistent": not_persistent, "hit": hit, "headroom": headroom, "vcpus": vcpus,
        "ram": ram, "ram_per_vcpu": ram_per_vcpu, "vm": vm, "family": family, "arch": arch, "arm": arm,
        "burstable": burstable, "any_family": any_family, "max_disks": max_disks, "zone": zone,
        "peak": peak, "preset": preset, "strictly_cheapest": strictly_cheapest, "os_disk": os_disk,
    }  # fmt: skip
    terms = (
        "with_nvme",
        "region",
        "as_of",
        "vm_hours",
        "pay",
        "disk_pay",
        "os",
        "discount",
        "currency",
        "prices",
    )
    for name in others:
        raise InputError(f"a demand has no '{name}'; it has: {', '.join((*demand, *terms))}")
    wanted = stated_demand(demand)
    paid = stated_payment(
        pay=pay, disk_pay=disk_pay, os=os, vm_hours=vm_hours, discount=discount, currency=currency
    )
    own = None if prices is None else Path(prices)
    there = market(region, own=own, as_of=as_of, payment=paid, with_nvme=with_nvme)
    check_offered(wanted.vm, there)
    return AdviceAnswer(ask(wanted, there))


def size(
    *telemetry: Path | str | Dataset,
    region: str = DEFAULT_REGION,
    devices: Sequence[str] = (),
    interval: str | None = None,
    prices: Path | str | None = None,
    as_of: str | None = None,
    **demand: str | float,
) -> Sized:
    """Find a VM and disks for a system from its telemetry, the fewest disks within 5 % of the cheapest.

    Parameters
    ----------
    telemetry : str, path-like or Dataset
        Outputs of iostat, sar and others, folders of them, or datasets; loads of several hosts are added up.
    region : str
        Default: westeurope, as of the command line.
    devices : sequence of str
        Count only these, such as ``nvme*``; default: all disks.
    interval : str, optional
        How long each report is, such as ``60s``, where none has a time.
    prices : path-like, optional
        A price book of your own.
    as_of : str, optional
        ISO day whose limits and prices count; default: the newest.
    **demand : str or number
        As the options of ``azbench size`` take it, with underscores: ``held_back="60s"`` (how long the load
        may be throttled in all), ``within="1%"``, ``probability="95%"`` (the least one of that),
        ``growth=0.2``, ``headroom=1.2``, ``size="2TiB"``, ``ram="64GiB"``, ``vcpus=8``, ``max_disks=4``,
        ``strictly_cheapest=True``, ``zrs=True``. Numbers are bytes, seconds or shares.

    Returns
    -------
    Sized
        Shows itself; ``to_frame()`` has a row a design, the first of them recommended: the fewest disks
        within 5 % of the cheapest with that probability.

    Raises
    ------
    InputError
        For an option that there is not, a value or telemetry that cannot be read, or where no design meets
        the requirement.
    """
    from azbenchlib.advisor.offers.load_market import market
    from azbenchlib.answers.size import Sized
    from azbenchlib.core.units import parse_duration
    from azbenchlib.sizing.stated import terms
    from azbenchlib.sizing.telemetry import telemetry as recorded

    asked = terms(demand)
    names = [one for one in telemetry if not isinstance(one, Dataset)]
    given = [one for one in telemetry if isinstance(one, Dataset)]
    opened = Dataset.merge([*given, *(Dataset.load_each(names) if names or not given else [])])
    load = recorded(opened.tables, list(devices), None if interval is None else parse_duration(interval))
    return Sized(
        asked.answer(load, market(region, own=None if prices is None else Path(prices), as_of=as_of))
    )
