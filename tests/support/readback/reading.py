"""A report, rendered without its notebook and read back."""

import json
from collections.abc import Iterable
from pathlib import Path

from azbenchlib import Report
from azbenchlib.dataset.dataset import Dataset
from readback.known import Known
from readback.page import Page

ROOT = Path(__file__).parents[3]
# The cells of the report's notebook.
CELLS = (
    *("header", "cards", "percentiles", "limits", "over_time", "prices"),
    *("steady", "results", "trust", "beside", "method", "sources"),
)


def rendered(folders: Iterable[Path], cells: Iterable[str] = CELLS) -> str:
    """Blocks of a report, all unless some are named, as its notebook puts them one below the other."""
    report = Report([str(folder) for folder in folders])
    return "\n".join(getattr(report, cell)().html for cell in cells)


def known(folder: Path) -> Known:
    """What the tables of a dataset folder say."""
    return Known(json.loads((folder / "manifest.json").read_text()), Dataset.load(folder).tables, ROOT)


def read_back(folders: list[Path], *parts: Known) -> Page:
    """The report over these folders, read; by what their tables say, or by what is known of them."""
    return Page(list(parts) or [known(folder) for folder in folders]).read(rendered(folders))
