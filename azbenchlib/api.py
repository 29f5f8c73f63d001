"""The functions for everyday use in Python: what the verbs of the command line do, as objects.

Their names, parameters and meaning stay within a major version, before 1.0 within a minor one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from azbenchlib.core.errors import InputError
from azbenchlib.core.grouping import GroupBy
from azbenchlib.dataset.dataset import Dataset

if TYPE_CHECKING:
    import pandas as pd

    from azbenchlib.advisor.advise import Advice
    from azbenchlib.answers.answer import Answer
    from azbenchlib.answers.comparison import Compared
    from azbenchlib.answers.size import Sized
    from azbenchlib.cost.priced_setups import Priced
    from azbenchlib.lab.lab import Lab
    from azbenchlib.model import Setup
    from azbenchlib.report.build import Written

    SideGiven = str | Path | Sequence[str | Path] | Dataset | Answer  # a side of a comparison

__all__ = ["advise", "compare", "emulate", "judge", "price", "read", "size", "write_report"]


def read(
    *data: Path | str,
    vm: str | None = None,
    disks: Sequence[str] = (),
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
    disks : sequence of str
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


def judge(dataset: Dataset | str | Path, *, as_of: str | None = None, nvme: bool = False) -> pd.DataFrame:
    """Name the documented limit that binds each run, and its probability.

    Parameters
    ----------
    dataset : Dataset, str or path-like
        What is not a dataset yet is opened by :func:`read`.
    as_of : str, optional
        ISO day whose limits apply; default: the day of each setup.
    nvme : bool
        Whether remote disks hang on the NVMe interface of the VM; else on SCSI.

    Returns
    -------
    DataFrame
        A row a run: run, setup_id, iops, bw_bytes_per_s, limit (labels that tie have `` and `` between them),
        probability (0 to 1), sentence, next_run (what to run to settle it; NA where nothing is open).

    Raises
    ------
    InputError
        When there is no run to judge.
    """
    import pandas as pd

    from azbenchlib.core import schema
    from azbenchlib.verdict.run_verdicts import judge_runs

    opened = dataset if isinstance(dataset, Dataset) else read(dataset)
    rows = [
        {
            "run": one.run.name,
            "setup_id": one.run.setup_id,
            "iops": one.judgement.iops,
            "bw_bytes_per_s": one.judgement.bytes_per_s,
            "limit": " and ".join(one.judgement.binding) or None,
            "probability": one.judgement.probability,
            "sentence": one.judgement.words,
            "next_run": one.judgement.next_run.advice if one.judgement.next_run else None,
        }
        for one in judge_runs(opened.tables, None, as_of, nvme)
    ]
    if not rows:
        raise InputError(f"{opened.place}: no run with a rate or a latency; there is nothing to judge")
    numbers = dict.fromkeys(("iops", "bw_bytes_per_s", "probability"), schema.FLOAT)
    texts = dict.fromkeys(("run", "setup_id", "limit", "sentence", "next_run"), schema.TEXT)
    return pd.DataFrame(rows).astype(numbers | texts)


def price(
    vm: str | None, disks: Sequence[str] = (), *, region: str, hours: float = 730, as_of: str | None = None
) -> Priced:
    """Price a VM with its disks, pay as you go, at list prices.

    Parameters
    ----------
    vm : str or None
        VM size; None: disks alone.
    disks : sequence of str
        Such as ``P30x4`` or ``ultra:128GiB/10000iops/50MBps``.
    region : str
        Such as westeurope.
    hours : float
        The period; a month has 730 hours.
    as_of : str, optional
        ISO day whose prices count; default: the newest.

    Returns
    -------
    Priced
        With ``total`` (US dollars; None where a price is not known), ``bill.records()`` and ``why`` there is
        no total.

    Raises
    ------
    InputError
        For disks that are not understood, or hours that are not above 0.
    """
    from azbenchlib.cost.priced_setups import Terms
    from azbenchlib.cost.priced_setups import price as priced

    if not hours > 0:
        raise InputError(f"hours {hours}: a number above 0 is needed")
    terms = Terms(region=region, hours=Decimal(str(hours)), as_of=as_of or "")
    return priced(_described(vm, disks), terms)


def advise(*, region: str, as_of: str | None = None, **demand: str) -> Advice:
    """Find the cheapest VM and disks that meet a demand, of what suits a server.

    Parameters
    ----------
    region : str
        Such as westeurope.
    as_of : str, optional
        ISO day whose limits and prices count; default: the newest.
    **demand : str
        As the options of ``azbench advise`` take it, with underscores: ``iops="24000"``, ``mbps="600"``,
        ``size="2TiB"``, ``bs="8KiB"``, ``read_share="70%"``, ``preset="postgresql"``.

    Returns
    -------
    Advice
        ``records()`` has a row a configuration, the cheapest first: vm, disks, price_per_month, …

    Raises
    ------
    InputError
        For an option that there is not, a value that cannot be read, or a demand that nothing meets.
    """
    from azbenchlib.advisor.advise import advise as ask
    from azbenchlib.advisor.demands import demand_file
    from azbenchlib.advisor.offers.load_market import check_offered, market

    known = (*demand_file.DEMAND_COLUMNS, demand_file.PRESET)
    if unknown := [name for name in demand if name not in known]:
        raise InputError(f"a demand has no '{unknown[0]}'; it has: {', '.join(known)}")
    wanted = demand_file.demand(demand, where="")
    there = market(region, as_of=as_of)
    check_offered(wanted.vm, there)
    return ask(wanted, there)


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


def write_report(
    *data: str | Path,
    folder: Path | str | None = None,
    title: str = "",
    author: str = "",
    currency: str = "USD",
) -> Written:
    """Write a report as HTML and PDF; it needs the extra ``notebooks``.

    Parameters
    ----------
    data : str or path-like
        Datasets and outputs; the first is the subject.
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
    return build([str(name) for name in data], place, title=title, author=author, currency=currency)


def emulate(vm: str, disks: Sequence[str], *, as_of: str | None = None) -> Lab:
    """Emulate a VM with its disks on this machine, for fio to drive.

    Parameters
    ----------
    vm : str
        VM size.
    disks : sequence of str
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
    vm: str | None, disks: Sequence[str], as_of: str | None = None, *, open_sizes: bool = False
) -> Setup:
    from azbenchlib.model import notation

    return notation.stated_setup(vm, disks, as_of, open_sizes=open_sizes)
