"""The answer of `azbench size` as a report: the pages of `06_size.ipynb`, filled without running it anew."""

import re
from pathlib import Path

import nbformat

from azbenchlib.core.errors import InputError
from azbenchlib.report import build, execute
from azbenchlib.sizing.answer import SizeAnswer
from azbenchlib.views.sizing import Sizing

_NOTEBOOK = "06_size"
_SHOWS = re.compile(r"^sizing\.(\w+)\(\)$", re.MULTILINE)
_TITLE = "Which disk the system needs"
_OPENING = f"""# {_TITLE}

Every interval that was recorded is replayed in its order through all limits of a VM and its disks, with their
credits. The design is shown whose load is throttled no longer than it may be, with the fewest disks within
5 % of the cheapest.
"""


def write(answer: SizeAnswer, folder: Path) -> build.Written:
    """Write ``report.html`` and ``report.pdf``.

    Parameters
    ----------
    answer : SizeAnswer
    folder : Path
        Made where it is missing.

    Raises
    ------
    OutputError
        When the folder cannot be written.
    """
    build.check_writable(folder)
    return build.write(filled(answer), folder, _TITLE)


def filled(answer: SizeAnswer) -> nbformat.NotebookNode:
    """The notebook with what each of its cells shows of the answer."""
    notebook = nbformat.read(execute.find_notebook(_NOTEBOOK), as_version=4)
    shown = Sizing.of(answer)
    opening, *cells = notebook.cells
    opening.source = _OPENING
    notebook.cells = [opening, *(cell for cell in cells if not cell.metadata.get("tags"))]
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        if (what := _SHOWS.search(cell.source)) is None:
            raise InputError(f"{_NOTEBOOK}.ipynb: a cell shows nothing of the sizing: {cell.source[:80]}")
        block = getattr(shown, what[1])()
        cell.outputs = [nbformat.v4.new_output("display_data", block._repr_mimebundle_())]
    return notebook
