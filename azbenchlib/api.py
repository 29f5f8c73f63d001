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
    from azbenchlib.advisor.advise import Advice
    from azbenchlib.analysis.compare import ComparisonResult
    from azbenchlib.answers.answer import Answer
    from azbenchlib.answers.verdict import VerdictAnswer
    from azbenchlib.cost.priced_setups import Priced
    from azbenchlib.lab.lab import Lab
    from azbenchlib.model import Setup
    from azbenchlib.report.build import Written

__all__ = ["advise", "compare", "emulate", "judge", "price", "read", "write_report"]


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


def judge(
    data: Dataset | Answer | str | Path | Sequence[str | Path],
    *,
    vm: str | None = None,
    disks: Sequence[str] = (),
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
    disks : sequence of str
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


def compare(
    old: str | Path, new: str | Path, *, margin: float = 0.05, confidence: float = 0.99
) -> ComparisonResult:
    """Compare runs with a baseline: worse by more than the margin, not worse, or undecided.

    Parameters
    ----------
    old, new : str or path-like
        Datasets by name or folder, or outputs; ``/SETUP`` behind one chooses a setup.
    margin : float
        Change to the worse that does not count: 0.05 is 5 %.
    confidence : float
        Of all answers together, 0 to 1.

    Raises
    ------
    InputError
        When a side cannot be read, or the sides have nothing in common.
    """
    from azbenchlib.analysis import compare as comparing
    from azbenchlib.dataset.compared import load_side

    sides = [load_side(str(side)) for side in (old, new)]
    return comparing.compare(sides, comparing.CompareTerms(margin=margin, confidence=confidence))


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


def _dataset(
    data: Dataset | Answer | str | Path | Sequence[str | Path],
    vm: str | None,
    disks: Sequence[str],
    region: str | None,
    group_by: GroupBy | str | None,
) -> Dataset:
    """The dataset that is given, or what was named, opened."""
    from azbenchlib.answers.answer import Answer

    given = data.result if isinstance(data, Answer) else data
    if isinstance(given, Dataset):
        if group_by is not None:
            raise InputError("group_by is for outputs that are opened here; give it to read")
        return given.add_setup(vm, disks, region) if vm or disks or region else given
    if isinstance(data, Answer):
        raise InputError(f"a {type(data).__name__} tells of no dataset; give a dataset, or paths of outputs")
    named = [data] if isinstance(data, str | Path) else list(data)
    return read(*named, vm=vm, disks=disks, region=region, group_by=group_by)
