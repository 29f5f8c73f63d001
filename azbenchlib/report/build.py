"""A report from datasets: execute the notebook, make the page, make the PDF; both appear by rename."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from azbenchlib.core.errors import OutputError
from azbenchlib.core.files import write_atomically
from azbenchlib.core.privacy import beside, without_homes
from azbenchlib.dataset import dataset, manifest
from azbenchlib.report import execute, page, pdf

_NOTEBOOK = "report"


@dataclass(frozen=True)
class Written:
    """Where a report is."""

    html: Path
    pdf: Path


def build(
    datasets: Sequence[str],
    folder: Path | None = None,
    *,
    title: str = "",
    author: str = "",
    client: str = "",
) -> Written:
    """Write ``report.html`` and ``report.pdf``.

    Parameters
    ----------
    datasets : sequence of str
        Folders or names; the first one is the subject.
    folder : Path, optional
        Made where it is missing; default ``reports/NAME`` with the name of the first dataset.
    title, author, client : str
        For the head of the report.

    Raises
    ------
    InputError
        When a dataset is missing or holds nothing to report.
    OutputError
        When the folder cannot be written. Nothing half-written is left.
    """
    found = [dataset.find_dataset(name) for name in datasets]
    name = manifest.load(found[0]).name
    folder = folder or Path("reports") / name
    check_writable(folder)
    parameters = {
        "datasets": [str(path) for path in found],
        "title": title,
        "author": author,
        "client": client,
    }
    executed = execute.run_notebook(execute.find_notebook(_NOTEBOOK), parameters)
    html = page.to_html(executed, title)
    html = without_homes(beside(html, Path.cwd()))  # who is named on it is named on purpose, places are not
    document = pdf.to_pdf(html)
    return Written(
        write_atomically(folder / "report.html", html.encode()),
        write_atomically(folder / "report.pdf", document),
    )


def check_writable(folder: Path) -> None:
    """Find out before the work whether the result can be written.

    Raises
    ------
    OutputError
        When it cannot.
    """
    probe = folder / ".azbench-write-test"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}") from error
