"""The functions for everyday use in Python: what the verbs of the command line do, as objects.

Their names, parameters and meaning stay within a major version, before 1.0 within a minor one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from azbenchlib.core.choices import BLOCK_SIZES
from azbenchlib.core.errors import InputError
from azbenchlib.core.grouping import GroupBy
from azbenchlib.dataset.dataset import Dataset

if TYPE_CHECKING:
    from azbenchlib.answers.advice import AdviceAnswer
    from azbenchlib.answers.answer import Answer
    from azbenchlib.answers.bill import BillAnswer
    from azbenchlib.answers.comparison import Compared
    from azbenchlib.answers.limits import LimitsAnswer
    from azbenchlib.answers.probe import ProbeAnswer
    from azbenchlib.answers.size import Sized
    from azbenchlib.answers.verdict import VerdictAnswer
    from azbenchlib.campaign.progress import Progress
    from azbenchlib.lab.lab import Lab
    from azbenchlib.model import Setup
    from azbenchlib.report.build import Written

    SideGiven = str | Path | Sequence[str | Path] | Dataset | Answer  # a side of a comparison

__all__ = [
    "advise",
    "compare",
    "emulate",
    "judge",
    "limits",
    "price",
    "probe",
    "read",
    "size",
    "write_report",
]

Stated = int | float | Decimal | str  # a number, or a text as the command line takes it


def read(
    *data: Path | str,
    vm: str | None = None,
    disks: Sequence[str] | str = (),
    region: str | None = None,
    group_by: GroupBy | str | None = None,
) -> Dataset:
    """Open outputs of benchmarks, or a dataset.

    Parameters
    ----------
    data : str or path-like
        A dataset by name or folder; or outputs, folders of them, together one dataset.
    vm : str, optional
        VM size of outputs that do not tell their setup, such as ``Standard_E8ds_v4``.
    disks : str or sequence of str
        Their disks, such as ``P30`` or ``P30x4:ReadOnly``.
    region : str, optional
        Azure region of setups that state none.
    group_by : {"path", "host", "job", "setup"}, optional
        Which runs whose setup is not stated were made on one.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        When there is no such thing, it is more than one dataset, or every setup is stated already.
    """
    from azbenchlib.dataset.setups import Assumed

    assumed = Assumed(_described(vm, disks, open_sizes=True) if vm or disks else None, region)
    return Dataset.load(*data, assumed=assumed, group_by=group_by)


def judge(
    data: Dataset | Answer | str | Path | Sequence[str | Path],
    *,
    vm: str | None = None,
    disks: Sequence[str] | str = (),
    region: str | None = None,
    group_by: GroupBy | str | None = None,
    as_of: str | None = None,
    nvme: bool = False,
) -> VerdictAnswer:
    """Name the documented limit that binds each run, and its probability.

    Parameters
    ----------
    data : Dataset, Answer, str, path-like or sequence of these paths
        What is not a dataset yet is opened by :func:`read`; of an answer, the dataset that it tells of.
    vm : str, optional
        VM size of runs that do not tell their setup.
    disks : str or sequence of str
        Their disks, such as ``P30`` or ``P30x4:ReadOnly``.
    region : str, optional
        Azure region of setups that state none.
    group_by : {"path", "host", "job", "setup"}, optional
        Which runs whose setup is not stated were made on one; of data that are opened here.
    as_of : str, optional
        ISO day whose limits apply; default: the day of each setup.
    nvme : bool
        Whether remote disks hang on the NVMe interface of the VM; else on SCSI.

    Returns
    -------
    VerdictAnswer
        ``to_frame()`` has a row a run, with its limit, its probability and what to run next.

    Raises
    ------
    InputError
        When there is no run to judge.
    """
    from azbenchlib.answers.verdict import VerdictAnswer, judged_runs

    dataset = _dataset(data, vm, disks, region, group_by)
    return VerdictAnswer(judged_runs(dataset, as_of, nvme))


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
    stated = _described(vm, disks, as_of)
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
    return BillAnswer(priced(_described(vm, disks), terms))


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
    zone: Stated | None = None,
    burst: str | None = None,
    preset: str | None = None,
    region: str = "westeurope",
    as_of: str | None = None,
    hours: Stated | None = None,
    pay: str = "payg",
    disk_pay: str = "payg",
    os: str = "linux",
    discount: Stated = 0,
    currency: str = "USD",
    prices: Path | str | None = None,
    **others: object,
) -> AdviceAnswer:
    """Find the cheapest VM and disks that meet a demand, of what suits a server.

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
    zone : int or str, optional
        Availability zone.
    burst : str, optional
        A peak, ``"SECONDS/PERIOD:IOPS[:MBPS]"``.
    preset : str, optional
        A workload by name, such as ``"postgresql"``, for what is not stated.
    region : str
        Azure region; of westeurope all prices are shipped.
    as_of : str, optional
        ISO day whose limits and prices count; default: the newest.
    hours : number or str, optional
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
        There are none: a name that is not above is told with the choices.

    Returns
    -------
    AdviceAnswer
        The cheapest, with what else there is: ``to_frame()`` and ``records()`` have a row a configuration,
        the cheapest first; ``explained()`` tells alternatives, limits, assumptions, sources and the fio job.

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

    demand = {
        "size": size, "iops": iops, "mbps": mbps, "bs": bs, "read_share": read_share, "latency": latency,
        "zrs": zrs, "not_persistent": not_persistent, "hit": hit, "headroom": headroom, "vcpus": vcpus,
        "ram": ram, "ram_per_vcpu": ram_per_vcpu, "vm": vm, "family": family, "arch": arch, "arm": arm,
        "burstable": burstable, "any_family": any_family, "max_disks": max_disks, "zone": zone,
        "burst": burst, "preset": preset,
    }  # fmt: skip
    terms = ("region", "as_of", "hours", "pay", "disk_pay", "os", "discount", "currency", "prices")
    for name in others:
        raise InputError(f"a demand has no '{name}'; it has: {', '.join((*demand, *terms))}")
    wanted = stated_demand(demand)
    paid = stated_payment(
        pay=pay, disk_pay=disk_pay, os=os, hours=hours, discount=discount, currency=currency
    )
    there = market(region, own=None if prices is None else Path(prices), as_of=as_of, payment=paid)
    check_offered(wanted.vm, there)
    return AdviceAnswer(ask(wanted, there))


def size(
    *telemetry: Path | str | Dataset,
    region: str,
    devices: Sequence[str] = (),
    interval: str | None = None,
    prices: Path | str | None = None,
    as_of: str | None = None,
    **demand: str | float,
) -> Sized:
    """Find the cheapest VM and disks for a system from its telemetry.

    Parameters
    ----------
    telemetry : str, path-like or Dataset
        Outputs of iostat, sar and others, folders of them, or datasets; loads of several hosts are added up.
    region : str
        Such as westeurope.
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
        may be throttled in all), ``within="1%"``, ``growth=0.2``, ``headroom=1.2``, ``size="2TiB"``,
        ``ram="64GiB"``, ``vcpus=8``, ``max_disks=4``, ``zrs=True``. Numbers are bytes, seconds or shares.

    Returns
    -------
    Sized
        Shows itself; ``to_frame()`` has a row a design, ``best`` is the cheapest.

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


def compare(old: SideGiven, new: SideGiven, *, margin: float = 0.05, confidence: float = 0.99) -> Compared:
    """Compare runs with a baseline: worse by more than the margin, not worse, or undecided.

    Parameters
    ----------
    old, new : str, path-like, sequence of them, Dataset or Answer
        Datasets by name or folder, or outputs, together one side where there are several; ``/SETUP`` behind
        one chooses a setup. Of an answer its result counts, which is a Dataset.
    margin : float
        Change to the worse that does not count: 0.05 is 5 %.
    confidence : float
        Of all answers together, 0 to 1.

    Returns
    -------
    Compared
        Shows itself; ``answer`` is worse, not worse or undecided, ``to_frame()`` has a row a figure, ``plot``
        draws the intervals of the ratios.

    Raises
    ------
    InputError
        When a side cannot be read, or the sides have nothing in common.
    """
    from azbenchlib.analysis import compare as comparing
    from azbenchlib.answers.answer import Answer
    from azbenchlib.answers.comparison import Compared
    from azbenchlib.dataset.compared import side_of

    given = {"old": old, "new": new}
    sides = [side_of(one.result if isinstance(one, Answer) else one, name) for name, one in given.items()]
    terms = comparing.CompareTerms(margin=margin, confidence=confidence)
    return Compared(comparing.compare(sides, terms))


def probe(
    target: Path | str,
    *,
    minutes: float = 12.0,
    runs: int = 12,
    seconds: float = 10.0,
    size: str | float = "1GiB",
    drain: float = 0.0,
    cache: bool = False,
    fsync: bool = False,
    jobs: bool = False,
    directory: str = "",
    vm_id: str = "",
    results_group: bool = False,
    vm: str | None = None,
    disk: str = "",
    raw: bool = False,
    as_of: str | None = None,
    allow: str = "",
    output: Path | str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> ProbeAnswer:
    """Find out what a disk is, by short runs of fio of which each is expected to tell most per second.

    The parameters are the options of ``azbench probe``. The data of a block device is overwritten; one that
    holds any is refused.

    Parameters
    ----------
    target : str or path-like
        A directory or a block device of this machine, ``ssh:USER@HOST[:PORT]``, ``azure`` with `vm_id`, or
        ``lab`` with `disk`.
    minutes : float
        How long all runs may take together, but for those of `drain`.
    runs : int
        How many runs there may be.
    seconds : float
        How long each run lasts.
    size : str or number
        How much data is touched: a text such as ``8GiB``, or bytes.
    drain : float
        Minutes at full load, for each of two caps, in which burst credits are spent; 0: none.
    cache, fsync, jobs : bool
        Look for a cache that holds less than the data; measure what an fsync costs; compare one job with
        four.
    directory : str
        With ssh: an absolute path on the host; empty: the home of the login.
    vm_id : str
        In Azure: the resource id of the VM; empty: the environment variable ``AZBENCH_VM_ID``.
    results_group, raw : bool
        In Azure: results come through a resource group that is made for it; the bare disk is driven.
    vm, disk : str, optional
        With ``lab``: what is emulated, such as ``P30``. In Azure, `disk` is the name of a data disk,
        ``lun0``, ``os``, ``temp`` or ``nvme``; empty: the only data disk.
    as_of : str, optional
        ISO day whose limits apply; default today.
    allow : str
        The words that permit a target which is refused; the refusal names them.
    output : path-like, optional
        Dataset folder to write; default ``datasets/probe-TARGET``. An unfinished probe is taken up, and of
        one that has ended nothing is measured again.
    fresh : bool
        Probe anew where the folder holds a probe.
    progress : callable, optional
        Called with the number of runs that are done, how many there are, and a line about the latest.

    Returns
    -------
    ProbeAnswer
        Shows itself; ``to_frame()`` has a row a property with its 95 % interval, ``plot()`` draws the most
        IOPS by block size, and ``ProbeAnswer.load`` opens it again.

    Raises
    ------
    AzbenchError
        When the target cannot be probed, or a run fails.
    """
    from azbenchlib.answers.probe import ProbeAnswer
    from azbenchlib.campaign.progress import quiet
    from azbenchlib.campaign.stated_probe import ProbeTerms, probe_into, stated_request

    asked = stated_request(
        str(target), vm=vm, disks=[disk] if disk else [], size=size, seconds=seconds, directory=directory,
        vm_id=vm_id, raw=raw, results_group=results_group, allow=allow, as_of=as_of,
    )  # fmt: skip
    terms = ProbeTerms(
        minutes=minutes, runs=runs, drain=drain, cache=cache, fsync=fsync, jobs=jobs, as_of=as_of
    )
    folder = None if output is None else Path(output)
    return ProbeAnswer.load(probe_into(folder, asked, terms, progress or quiet, fresh))


def write_report(
    *data: str | Path | Dataset,
    folder: Path | str | None = None,
    title: str = "",
    author: str = "",
    currency: str = "USD",
) -> Written:
    """Write a report as HTML and PDF; it needs the extra ``notebooks``.

    Parameters
    ----------
    data : str, path-like or Dataset
        Datasets and outputs; the first is the subject. They are either all named, or all opened.
    folder : path-like, optional
        Where to; default ``reports/NAME`` with the name of the first.
    title, author : str
        For the head of the report.
    currency : str
        Of the prices.

    Returns
    -------
    Written
        With the paths ``html`` and ``pdf``.
    """
    from azbenchlib.report.build import build

    place = None if folder is None else Path(folder)
    opened = [each for each in data if isinstance(each, Dataset)]
    named = [str(each) for each in data if not isinstance(each, Dataset)]
    if opened and named:
        raise InputError(f"'{named[0]}' is a name beside a dataset that is opened: give names, or datasets")
    return build(opened or named, place, title=title, author=author, currency=currency)


def emulate(vm: str, disks: Sequence[str] | str, *, as_of: str | None = None) -> Lab:
    """Emulate a VM with its disks on this machine, for fio to drive.

    Parameters
    ----------
    vm : str
        VM size.
    disks : str or sequence of str
        As of :func:`price`.
    as_of : str, optional
        ISO day whose limits apply; default today.

    Returns
    -------
    Lab
        To be used in a ``with`` statement; ``lab.uri(NAME)`` is the address of a volume in ``lab.sizes``.

    Raises
    ------
    InputError
        For a size or a disk that the catalogue does not know.
    """
    from azbenchlib.lab.lab import Lab
    from azbenchlib.model.fill_from_catalogue import resolve

    return Lab(resolve(_described(vm, disks, as_of), as_of or date.today().isoformat()))


def _described(
    vm: str | None, disks: Sequence[str] | str, as_of: str | None = None, *, open_sizes: bool = False
) -> Setup:
    from azbenchlib.model import notation

    each = [disks] if isinstance(disks, str) else disks
    return notation.stated_setup(vm, each, as_of, open_sizes=open_sizes)


def _dataset(
    data: Dataset | Answer | str | Path | Sequence[str | Path],
    vm: str | None,
    disks: Sequence[str] | str,
    region: str | None,
    group_by: GroupBy | str | None,
) -> Dataset:
    """The dataset that is given, or what was named, opened."""
    from azbenchlib.answers.answer import Answer

    given = data.result if isinstance(data, Answer) else data
    if isinstance(given, Dataset):
        if group_by is not None:
            raise InputError("group_by is for outputs that are opened here; give it to read")
        each = [disks] if isinstance(disks, str) else disks
        return given.add_setup(vm, each, region) if vm or disks or region else given
    if isinstance(data, Answer):
        raise InputError(f"a {type(data).__name__} tells of no dataset; give a dataset, or paths of outputs")
    named = [data] if isinstance(data, str | Path) else list(data)
    return read(*named, vm=vm, disks=disks, region=region, group_by=group_by)
