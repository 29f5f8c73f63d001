"""Parts of reports about shipped datasets, each made once by a process however many tests look at it."""

from functools import cache
from pathlib import Path

from azbenchlib import Report


def shown(part: str, *datasets: str | Path) -> str:
    """The HTML of a part, such as ``cards``, of the report about these."""
    return _shown(part, *(Path(dataset).name for dataset in datasets))


@cache
def _report(*names: str) -> Report:
    return Report(list(names))


@cache
def _shown(part: str, *names: str) -> str:
    return str(getattr(_report(*names), part)().html)
