"""How long each part of a report took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOTEBOOK = "executing the notebook"
_PARAMETERS = {"parameters", "injected-parameters"}  # tags of cells that do nothing


def sets_parameters(cell: NotebookNode) -> bool:
    """Whether a cell only states parameters, or those that papermill was given."""
    return not _PARAMETERS.isdisjoint(cell.metadata.get("tags", ()))


class Timings(dict[str, float]):
    """Seconds by part, in the order in which the parts were done; of the clock on the wall."""

    @contextmanager
    def of(self, part: str) -> Iterator[None]:
        """Measure what is done meanwhile."""
        began = time.perf_counter()
        yield
        self[part] = self.get(part, 0.0) + time.perf_counter() - began

    def add_cells(self, executed: NotebookNode) -> None:
        """Split the time of the notebook: its cells, each called by its last line, and the kernel's own."""
        whole = self.pop(NOTEBOOK)
        cells: dict[str, float] = {}
        for cell in executed.cells:
            source, seconds = cell.source.strip(), cell.metadata.get("papermill", {}).get("duration")
            if cell.cell_type == "code" and source and seconds and not sets_parameters(cell):
                last = source.splitlines()[-1]
                cells[last] = cells.get(last, 0.0) + float(seconds)
        self["starting and ending the kernel"] = whole - sum(cells.values())
        self.update(cells)
