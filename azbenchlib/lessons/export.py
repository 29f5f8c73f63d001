"""The course on disk: notebooks to work in, and a static site to read."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import nbformat
import papermill

from azbenchlib.core.errors import InputError, OutputError
from azbenchlib.core.files import write_atomically
from azbenchlib.core.locations import user_folder
from azbenchlib.core.temporary import temporary_folder
from azbenchlib.lessons.course import entries
from azbenchlib.lessons.own_course import INDEX, OwnEntry
from azbenchlib.report import execute, page, pdf
from azbenchlib.report.build import check_writable

JUPYTER_SETTINGS = Path(__file__).parent / "jupyter"  # a folder for JUPYTER_CONFIG_PATH
IN_JUPYTERLAB = "jupyterlab"  # tag of cells that tell what to press, and have no place on a page
_HOME = "lessons"
_EXPLAINS = "## Why"  # JupyterLab folds what follows this heading, and so does a page
_FOLDED = """<details><summary>Open it when you have looked at what was measured</summary>
<div class="inside">

{}

</div>
</details>"""
_LINK = re.compile(r'href="([a-z0-9_]+)\.ipynb(#[^"]*)?"')


def working_folder(wanted: Path | None) -> Path:
    """A folder with the notebooks of the course; those that are there already stay as they are.

    Where the user named a folder of lessons, theirs are among them.

    Parameters
    ----------
    wanted : Path, optional
        None: that of the user's data.

    Raises
    ------
    InputError
        When there is none, and the user has no home.
    OutputError
        When it cannot be written.
    """
    home = user_folder("data")
    if wanted is None and home is None:
        raise InputError(
            "you have no home folder to keep the notebooks in; name a folder: azbench learn FOLDER"
        )
    folder = wanted or Path(home or "") / _HOME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for shipped in _shipped():
            if not (folder / shipped.name).exists():
                shutil.copyfile(shipped, folder / shipped.name)
        for own in _own():
            if not (folder / f"{own.notebook}.ipynb").exists():
                nbformat.write(own.as_notebook(), folder / f"{own.notebook}.ipynb")
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    return folder


def export(
    folder: Path,
    *,
    seed: int = 1,
    quick: bool = False,
    as_pdf: bool = False,
    tell: Callable[[str], None] = print,
) -> Path:
    """Run all lessons and write them as pages that need no network.

    Parameters
    ----------
    folder : Path
        Made where it is missing; pages of the same names are replaced.
    seed : int
        Of the exercises.
    quick : bool
        Whether each measures for a few seconds only.
    as_pdf : bool
        Whether each page is written as PDF too.
    tell : callable
        Gets a line before each lesson.

    Returns
    -------
    Path
        The page to begin with.

    Raises
    ------
    MissingToolError
        When fio or its engine is missing.
    OutputError
        When the folder cannot be written.
    """
    check_writable(folder)
    given = {"seed": seed, "quick": quick}
    for entry in entries():
        tell(f"Lesson {entry.number} of {len(entries())}: {entry.title}")
        title = f"{entry.number}. {entry.title}"
        if isinstance(entry, OwnEntry):
            with temporary_folder() as scratch:
                notebook = scratch / f"{entry.notebook}.ipynb"
                nbformat.write(made := entry.as_notebook(), notebook)
                declared = papermill.inspect_notebook(made)
                _write(folder, notebook, title, {k: given[k] for k in given if k in declared}, as_pdf)
        else:
            _write(folder, execute.find_notebook(f"{_HOME}/{entry.notebook}"), title, given, as_pdf)
    _write(folder, execute.find_notebook(f"{_HOME}/{INDEX}"), "Caching and throttling", {}, as_pdf)
    index = folder / "index.html"
    write_atomically(index, (folder / f"{INDEX}.html").read_bytes())
    return index


def _write(folder: Path, notebook: Path, title: str, parameters: Mapping[str, object], as_pdf: bool) -> None:
    executed = execute.run_notebook(notebook, parameters)
    html = as_page(executed, title)
    write_atomically(folder / f"{notebook.stem}.html", html.encode())
    if as_pdf:
        write_atomically(folder / f"{notebook.stem}.pdf", pdf.to_pdf(html))


def as_page(executed: nbformat.NotebookNode, title: str) -> str:
    """Return the page of a lesson: without what is for JupyterLab alone, with the explanation folded."""
    executed.cells = [cell for cell in executed.cells if IN_JUPYTERLAB not in cell.metadata.get("tags", [])]
    for heading, after in pairwise(executed.cells):
        if heading.source == _EXPLAINS and after.cell_type == "markdown":
            after.source = _FOLDED.format(after.source)
    return _LINK.sub(r'href="\1.html\2"', page.to_html(executed, title))


def _own() -> list[OwnEntry]:
    return [entry for entry in entries() if isinstance(entry, OwnEntry)]


def _shipped() -> list[Path]:
    first = execute.find_notebook(f"{_HOME}/{INDEX}")
    return sorted(first.parent.glob("*.ipynb"))
