"""Reading, judging, comparing and reporting what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from azbenchlib.api.stated import described
from azbenchlib.core.errors import InputError
from azbenchlib.core.grouping import GroupBy
from azbenchlib.dataset.dataset import Dataset

if TYPE_CHECKING:
    import pandas as pd

    from azbenchlib.answers.answer import Answer
    from azbenchlib.answers.comparison import Compared
    from azbenchlib.answers.verdict import VerdictAnswer
    from azbenchlib.report.build import Written

    RunsGiven: TypeAlias = Dataset | Answer | pd.DataFrame | str | Path | Sequence[str | Path]

__all__ = ["compare", "judge", "read", "write_report"]


def read(
    *data: Path | str | pd.DataFrame,
    vm: str | None = None,
    disks: Sequence[str] | str = (),
    region: str | None = None,
    group_by: GroupBy | str | None = None,
) -> Dataset:
    """Open outputs of benchmarks, a dataset, or runs in a DataFrame.

    Parameters
    ----------
    data : str, path-like or DataFrame
        A dataset by name or folder; or outputs, folders of them, together one dataset; or a frame with a row
        a run and direction, with columns as in :meth:`Dataset.overview` and in the tables.
    vm : str, optional
        VM size of outputs that do not tell their setup, such as ``Standard_E8ds_v4``.
    disks : str or sequence of str
        Their disks, such as ``P30`` or ``P30x4:ReadOnly``.
    region : str, optional
        Azure region of setups that state none.
    group_by : {"path", "folder", "host", "job", "setup"}, optional
        Which runs whose setup is not stated were made on one.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        When there is no such thing, it is more than one dataset, or every setup is stated already.
    """
    import pandas as pd

    from azbenchlib.dataset.setups import Assumed

    if len(data) == 1 and isinstance(data[0], pd.DataFrame):
        return _of_frame(data[0], vm, disks, region, group_by)
    assumed = Assumed(described(vm, disks, open_sizes=True) if vm or disks else None, region)
    named = [each for each in data if not isinstance(each, pd.DataFrame)]
    if len(named) < len(data):
        raise InputError("a DataFrame is read by itself; pandas.concat makes one of several")
    return Dataset.load(*named, assumed=assumed, group_by=group_by)


def judge(
    data: RunsGiven,
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
    data : Dataset, Answer, DataFrame, str, path-like or sequence of these paths
        What is not a dataset yet is opened by :func:`read`; of an answer, the dataset that it tells of.
    vm : str, optional
        VM size of runs that do not tell their setup.
    disks : str or sequence of str
        Their disks, such as ``P30`` or ``P30x4:ReadOnly``.
    region : str, optional
        Azure region of setups that state none.
    group_by : {"path", "folder", "host", "job", "setup"}, optional
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
    from azbenchlib.answers.verdict import judged_runs

    return judged_runs(_opened(data, vm, disks, region, group_by), as_of, nvme)


def compare(old: RunsGiven, new: RunsGiven, *, margin: float = 0.05, confidence: float = 0.99) -> Compared:
    """Compare runs with a baseline: worse or better by more than the margin, not worse, or undecided.

    Parameters
    ----------
    old, new : str, path-like, sequence of them, DataFrame, Dataset or Answer
        Datasets by name or folder, or outputs, together one side where there are several; ``/SETUP`` behind
        one chooses a setup. Of an answer its result counts, which is a Dataset.
    margin : float
        Change that does not count, either way: 0.05 is 5 %.
    confidence : float
        Of all answers worse and better, together: 0.5 to 1. The intervals have 95 %.

    Returns
    -------
    Compared
        Shows itself; ``answer`` is worse, better, not worse or undecided, ``to_frame()`` has a row a figure,
        ``plot`` draws the intervals of the ratios.

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
    *data: str | Path | Dataset,
    folder: Path | str | None = None,
    title: str = "",
    author: str = "",
    currency: str = "",
    require: str | Sequence[str] = (),
    note: str = "",
    notebook: Path | str | None = None,
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
        Of the prices; empty: USD, or as your own notebook has it.
    require : str or sequence of str
        What is required of each workload, such as ``p99<2ms``.
    note : str
        Paragraphs of your own in Markdown, for the first page.
    notebook : path-like, optional
        One of your own that is run in the place of ``report.ipynb``: it gets ``datasets`` and those of the
        parameters above that you give, which its cell tagged ``parameters`` must have.

    Returns
    -------
    Written
        With the paths ``html`` and ``pdf``, and ``requirements``: which of them are met, or None.

    Raises
    ------
    InputError
        When something cannot be read, or understood.
    AzbenchError
        When a cell of your own notebook fails.
    """
    from azbenchlib.report.build import build

    place = None if folder is None else Path(folder)
    opened = [each for each in data if isinstance(each, Dataset)]
    named = [str(each) for each in data if not isinstance(each, Dataset)]
    if opened and named:
        raise InputError(f"'{named[0]}' is a name beside a dataset that is opened: give names, or datasets")
    required = [require] if isinstance(require, str) else require
    return build(
        opened or named,
        place,
        title=title,
        author=author,
        currency=currency,
        require=required,
        note=note,
        notebook=None if notebook is None else Path(notebook),
    )


def _opened(
    data: RunsGiven,
    vm: str | None,
    disks: Sequence[str] | str,
    region: str | None,
    group_by: GroupBy | str | None,
) -> Dataset:
    """Return the dataset that is given, or what was named, opened."""
    import pandas as pd

    from azbenchlib.answers.answer import Answer

    given = data.result if isinstance(data, Answer) else data
    if isinstance(given, pd.DataFrame):
        return _of_frame(given, vm, disks, region, group_by)
    if isinstance(given, Dataset):
        if group_by is not None:
            raise InputError("group_by is for outputs that are opened here; give it to read")
        return given.add_setup(vm, disks, region) if vm or disks or region else given
    if isinstance(data, Answer):
        raise InputError(f"a {type(data).__name__} tells of no dataset; give a dataset, or paths of outputs")
    named = [data] if isinstance(data, str | Path) else list(data)
    return read(*named, vm=vm, disks=disks, region=region, group_by=group_by)


def _of_frame(
    frame: pd.DataFrame,
    vm: str | None,
    disks: Sequence[str] | str,
    region: str | None,
    group_by: GroupBy | str | None,
) -> Dataset:
    """Return the runs of a frame, with the setup that is stated."""
    if group_by is not None:
        raise InputError("group_by is for outputs; the rows of a DataFrame are of one setup")
    made = Dataset.of_frame(frame)
    return made.add_setup(vm, disks, region) if vm or disks or region else made
