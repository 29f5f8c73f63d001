"""What `00_start.ipynb` shows: what is there, and what a dataset holds."""

from collections.abc import Sequence
from typing import Unpack

import pandas as pd

from azbenchlib.analysis import summary
from azbenchlib.answers.blocks import Block, render
from azbenchlib.core.locations import named_folders
from azbenchlib.dataset import manifest
from azbenchlib.report import formatting
from azbenchlib.report.part import Part
from azbenchlib.views.view import MOST_ROWS, NotebookView, StatedSetup


class Start(NotebookView):
    """Datasets at a glance; ``.data`` of each block is the DataFrame behind it.

    Parameters
    ----------
    datasets : sequence of str
        Folders, or names of datasets in ``datasets/`` or among those shipped.
    stated : StatedSetup
        Of outputs that do not tell their setup.

    Raises
    ------
    InputError
        When a dataset cannot be read or holds nothing to show.
    """

    def __init__(self, datasets: str | Sequence[str], **stated: Unpack[StatedSetup]) -> None:
        super().__init__(datasets, "name at least one dataset", **stated)

    def known(self) -> Block:
        """The datasets that can be opened by name."""
        table = known_datasets()
        rows = [
            {"entry": None, "name": row.name, "sub": "", "cells": [row.title, row.measured, row.tools]}
            for row in table.itertuples(index=False)
        ]
        columns = ["Name", "Title", "Measured", "With"]
        note = "Datasets that can be opened by name."
        values = {"note": note, "columns": columns, "rows": rows, "left": [1, 2, 3]}
        return Block(render("table", id="known", **values).html, lambda: table)

    def results(self) -> Block:
        """What was measured: rates and latencies, one row a workload."""
        return self._blocks(self._results_of, rows=lambda part, _: _results(part))

    def _results_of(self, part: Part, place: str) -> Block:
        table = _results(part)
        shown = table[:MOST_ROWS].assign(source="")
        rows, columns = formatting.result_rows([(place, part.entries, shown)])
        note = f"{self._prefix(part)}{part.manifest.title}, one row a workload."
        if len(table) > MOST_ROWS:
            note += f" The first {MOST_ROWS} of {len(table)}; .data has them all."
        values = {"note": note, "columns": columns, "rows": rows, "left": []}
        return render("table", id=f"{place}-results", **values)


def known_datasets() -> pd.DataFrame:
    """Name, title, time and tools of every dataset in the folders that are searched by name.

    Returns
    -------
    DataFrame
        Columns name, title, measured, tools; the first dataset of a name counts.
    """
    found: dict[str, manifest.Manifest] = {}
    for folder in named_folders("datasets"):
        for file in sorted(folder.glob(f"*/{manifest.MANIFEST_FILE}")):
            found.setdefault(file.parent.name, manifest.load(file.parent))
    rows = [(name, one.title, one.measured, formatting.tools(one)) for name, one in found.items()]
    return pd.DataFrame(rows, columns=["name", "title", "measured", "tools"])


def _results(part: Part) -> pd.DataFrame:
    return summary.results_table(part.arrangement, part.dataset.tables)
