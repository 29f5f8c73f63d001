"""A report from datasets: execute the notebook, make the page, make the PDF; both appear by rename."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from pathlib import Path

import nbformat

from azbenchlib.answers.requirements import RequirementsAnswer
from azbenchlib.azure.prices.book import USD
from azbenchlib.core.errors import InputError, OutputError
from azbenchlib.core.files import write_atomically
from azbenchlib.cost import priced_setups
from azbenchlib.cost.payments import Payment
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.importing import as_folders
from azbenchlib.dataset.names import with_setups
from azbenchlib.report import execute, page, pdf
from azbenchlib.report.timings import NOTEBOOK, Timings

_NOTEBOOK = "report"
_SOURCE = ".azbench-source"  # in a folder that no user named: of which dataset its report is


class ReportFormat(StrEnum):
    """Which files a report is."""

    html = "html"
    pdf = "pdf"
    both = "both"


@dataclass(frozen=True)
class Written:
    """Where a report is, or would be, where only one of the two was requested; how long its parts took, and
    which requirements are met, where there are some.
    """

    html: Path
    pdf: Path
    timings: Timings = field(default_factory=Timings)
    requirements: RequirementsAnswer | None = None

    def __repr__(self) -> str:
        """Return the files that there are, a line each."""
        return "\n".join(str(path) for path in (self.html, self.pdf) if path.exists())


def build(
    datasets: Sequence[str] | Sequence[Dataset],
    folder: Path | None = None,
    *,
    title: str = "",
    author: str = "",
    client: str = "",
    currency: str = "",
    require: Sequence[str] = (),
    note: str = "",
    notebook: Path | None = None,
    format_: ReportFormat = ReportFormat.both,
) -> Written:
    """Write ``report.html`` and ``report.pdf``.

    Parameters
    ----------
    datasets : sequence of str, or of Dataset
        What the report is about, as :meth:`~azbenchlib.dataset.dataset.Dataset.load_each` opens or opened it;
        the first one is the subject.
    folder : Path, optional
        Made where it is missing; default ``reports/NAME`` with the name of the first dataset, or
        ``reports/NAME-2`` and so on where that holds the report of another one.
    title, author, client : str
        For the head of the report.
    currency : str
        Of the prices; empty: USD, or as the notebook has it.
    require : sequence of str
        What is required of each workload, such as ``p99<2ms``.
    note : str
        Paragraphs of the author's own in Markdown, below the lead.
    notebook : Path, optional
        One of the author's own in the place of ``report.ipynb``, with the parameters of that which are given
        here: ``datasets``, and those below that are not left empty.
    format_ : {"both", "html", "pdf"}
        Which of the two is written.

    Raises
    ------
    InputError
        When a dataset is missing or holds nothing to report, prices in the currency are missing, a
        requirement cannot be understood, or the notebook lacks a parameter.
    AzbenchError
        When a cell of the notebook fails.
    OutputError
        When the folder cannot be written. Nothing half-written is left.
    """
    names = [one for one in datasets if not isinstance(one, Dataset)]
    found = [one for one in datasets if isinstance(one, Dataset)] or Dataset.load_each(names)
    first = found[0].manifest
    if first is None:
        raise InputError("a report needs a dataset with a manifest; open outputs with Dataset.load")
    for dataset in found:
        if dataset.runs.empty:
            telemetry = "; its telemetry is for azbench size" if len(dataset.tables["demand"]) else ""
            raise InputError(
                f"{dataset.place}: no run could be read, so there is nothing to report{telemetry}"
            )
    check_currency(found, currency or USD)
    required = RequirementsAnswer.of([one.tables for one in found], require) if require else None
    place = str(Path(found[0].place or "").resolve())
    mark = hashlib.sha256(place.encode()).hexdigest()  # a report may be handed over, places are not
    is_own = folder is None
    folder = folder or _free_folder(Path("reports") / Path(first.name).name, mark)
    check_writable(folder)
    if is_own:
        write_atomically(folder / _SOURCE, mark.encode())
    clock = Timings()
    with as_folders(found) as folders:
        parameters: dict[str, object] = {
            "datasets": [
                name
                for path, one in zip(folders, found, strict=True)
                for name in with_setups(path, one.chosen)
            ],
        }
        stated = {
            "title": title,
            "author": author,
            "client": client,
            "currency": currency,
            "require": list(require),
            "note": note,
        }
        parameters |= {name: value for name, value in stated.items() if value}
        try:
            with clock.of(NOTEBOOK):
                executed = execute.run_notebook(notebook or execute.find_notebook(_NOTEBOOK), parameters)
        except InputError as error:
            raise InputError(_as_named(str(error), folders, found)) from error
    clock.add_cells(executed)
    written = write(executed, folder, title, format_=format_, clock=clock)
    return replace(written, requirements=required)


def write(
    executed: nbformat.NotebookNode,
    folder: Path,
    title: str,
    *,
    format_: ReportFormat = ReportFormat.both,
    clock: Timings | None = None,
) -> Written:
    """Write ``report.html`` and ``report.pdf`` of a notebook that was executed; both appear by rename.

    Raises
    ------
    OutputError
        When the folder cannot be written.
    """
    clock = clock or Timings()
    with clock.of("making the page"):
        html = page.to_html(executed, title)
    with clock.of("making the PDF"):
        document = b"" if format_ is ReportFormat.html else pdf.to_pdf(html)
    written = Written(folder / "report.html", folder / "report.pdf", clock)
    if format_ is not ReportFormat.pdf:
        write_atomically(written.html, html.encode())
    if format_ is not ReportFormat.html:
        write_atomically(written.pdf, document)
    return written


def _free_folder(folder: Path, mark: str) -> Path:
    """The folder, or one with a number behind its name where that holds the report of another dataset."""
    for n in count(1):
        place = folder.with_name(f"{folder.name}-{n}") if n > 1 else folder
        source, reports = place / _SOURCE, (place / "report.html", place / "report.pdf")
        is_same = source.is_file() and source.read_text(errors="replace") == mark
        if is_same or not any(report.exists() for report in reports):
            break
    return place


def check_currency(datasets: Sequence[Dataset], currency: str) -> None:
    """See that there are prices in a currency for all that is reported; those in USD are shipped, and where a
    region has none the report says so.

    Raises
    ------
    InputError
        When they are missing, with the command that reads them.
    """
    for dataset in datasets if Payment(currency=currency).currency != USD else ():
        priced_setups.check_currency(dataset.tables, currency)


def _as_named(sentence: str, folders: Sequence[Path], datasets: Sequence[Dataset]) -> str:
    """A sentence with the datasets called as the user called them."""
    for folder, dataset in zip(folders, datasets, strict=True):
        sentence = sentence.replace(str(folder), str(dataset.place))
    return sentence


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
