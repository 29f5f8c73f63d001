"""The verbs that tell: `azbench report`, `azbench import` and `azbench doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azbenchlib.cli.options.demand_options import RegionOption
from azbenchlib.cli.options.measuring_options import RequireOption, TitleOption, check_requirements
from azbenchlib.cli.options.payment_options import CurrencyOption
from azbenchlib.cli.options.setup_options import (
    DiskOption,
    GroupByOption,
    OutputsArgument,
    PrintFormat,
    PrintOption,
    VmOption,
    opened,
)
from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.answer_output import OutputFormat, show
from azbenchlib.cli.printing.console import notes, print_json, say, working
from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.campaign.doctor import Check


class Pages(StrEnum):
    """What `azbench report` writes."""

    html = "html"
    pdf = "pdf"
    both = "both"
    json = "json"


def report(
    paths: OutputsArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder to write; default reports/NAME.")
    ] = None,
    vm: VmOption = None,
    disk: DiskOption = None,
    region: RegionOption[str | None] = None,
    group_by: GroupByOption = None,
    title: TitleOption = "",
    author: Annotated[str, typer.Option(help="Who made it.")] = "",
    client: Annotated[str, typer.Option(help="For whom.")] = "",
    note: Annotated[
        list[Path] | None,
        typer.Option(
            help="File of paragraphs of your own, in Markdown, for the first page; repeatable.",
            show_default=False,
        ),
    ] = None,
    notebook: Annotated[
        Path | None,
        typer.Option(help="Notebook of your own that is run and shown in the place of report.ipynb."),
    ] = None,
    currency: CurrencyOption = "",
    require: RequireOption = None,
    format_: Annotated[
        Pages, typer.Option("--format", help="What to write; json prints the answer only.")
    ] = Pages.both,
    open_: Annotated[bool, typer.Option("--open", help="Open the report when it is written.")] = False,
    timings: Annotated[
        bool, typer.Option("--timings", help="Say how many seconds each part of writing took.")
    ] = False,
) -> None:
    """Write report.html and report.pdf about outputs and datasets; the first dataset is the subject.

    All outputs that are named are one dataset. A VM, disks and a region hold where nothing states the setup.
    The exit code is 2 if a file is damaged and gives no run; the report of the others is written. With
    --require it is 1 if a requirement is not met, 3 if one was not measured.
    """
    from azbenchlib.report.timings import Timings

    check_requirements(require)
    own_words = _read_notes(note or [])
    _check_notebook(notebook, format_)

    clock = Timings()
    with clock.of("reading"):
        datasets = opened(paths, vm, disk or [], region, group_by)
    for dataset in datasets:
        findings.tell_of_files(dataset.tables)
        if group_by is None:
            findings.tell_of_hosts(dataset.tables)
    from azbenchlib.azure.prices.book import USD
    from azbenchlib.report import build

    currency = currency.upper()
    build.check_currency(datasets, currency or USD)
    if format_ is Pages.json:
        from azbenchlib.answers.requirements import RequirementsAnswer
        from azbenchlib.report.to_json import record

        with working("Judging"):
            answer = record(datasets, currency or USD)
            required = RequirementsAnswer.of([one.tables for one in datasets], require or [])
        print_json(answer | (required.to_dict() if require else {}))
        findings.end(datasets, required.exit_code)
        return
    with working("Writing the report"):
        written = build.build(
            datasets,
            output,
            title=title,
            author=author,
            client=client,
            currency=currency,
            require=require or [],
            note=own_words,
            notebook=notebook,
            format_=build.ReportFormat(format_),
        )
    named = datasets[0].manifest
    if output is None and named and written.html.parent.name != Path(named.name).name:
        notes.sentence(f"Note: reports/{named.name} holds the report of another dataset of that name")
    if format_ is not Pages.pdf:
        notes.print(f"HTML: {written.html}")
    if format_ is not Pages.html:
        notes.print(f"PDF:  {written.pdf}")
    for part, seconds in {**clock, **written.timings}.items() if timings else ():
        notes.print(f"{seconds:7.2f} s  {part}", markup=False)
    if written.requirements:
        show(written.requirements, OutputFormat.text)
    if open_:
        typer.launch(str(written.pdf if format_ is Pages.pdf else written.html))
    findings.end(datasets, written.requirements.exit_code if written.requirements else 0)


def import_(
    paths: OutputsArgument,
    name: Annotated[str, typer.Option(help="Of the dataset; also that of its folder.")],
    vm: VmOption = None,
    disk: DiskOption = None,
    region: RegionOption[str | None] = None,
    group_by: GroupByOption = None,
    title: TitleOption = "",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder in which the dataset's is made.")
    ] = Path("datasets"),
    format_: PrintOption = PrintFormat.text,
) -> None:
    """Make a dataset of outputs: a folder with the files untouched, a manifest and the tables.

    A VM, disks and a region hold where nothing states the setup.
    The exit code is 2 if a file is damaged and gives no run; the dataset is made all the same.
    """
    from azbenchlib.dataset.names import sorted_out

    sorted_out(paths)  # a wrong name is told before anything is loaded
    if "/" in name:
        raise InputError(f"--name '{name}': is a path; the folder goes into --output")
    from azbenchlib.dataset import importing

    importing.check_free(output / name)
    dataset, *others = opened(paths, vm, disk or [], region, group_by)
    for one in [dataset, *others]:
        if one.raw is None:
            raise InputError(f"{one.place}: is a dataset already; import takes outputs only")
    findings.tell_of_files(dataset.tables)
    folder = importing.import_outputs(dataset, output / name, title)
    if format_ is PrintFormat.json:
        runs, files = dataset.tables["runs"], dataset.tables["runs"]["source_path"].nunique()
        print_json({"dataset": str(folder), "runs": len(runs), "files": int(files)})
    else:
        notes.print(f"Dataset: {folder}")
    findings.end([dataset])


def doctor(format_: PrintOption = PrintFormat.text) -> None:
    """List what is missing on this machine, what does not work without it, and how to get it.

    The exit code is 2 if something is missing that is needed.
    """
    from azbenchlib.campaign.doctor import diagnose

    with working("Looking"):
        checks = diagnose()
    missing = any(check.needed and not check.ok for check in checks)
    if format_ is PrintFormat.json:
        print_json({"complete": not missing, "checks": [vars(check) for check in checks]})
    else:
        _print(checks)
    if missing:
        raise typer.Exit(2)


def _print(checks: Sequence[Check]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        state = "ok" if check.ok else "MISSING" if check.needed else "absent"
        told = [check.found] if check.ok else [f"without it: {check.costs}", f"get it: {check.remedy}"]
        for i, text in enumerate(told):
            say(f"{'' if i else state:7} {'' if i else check.name:{width}}  {text}")


def _check_notebook(notebook: Path | None, format_: Pages) -> None:
    """Tell of a wrong name before anything is loaded, and of what a notebook cannot be."""
    if notebook is None:
        return
    if format_ is Pages.json:
        raise InputError("--format json prints the answer of azbench; --notebook is for html and pdf")
    if not notebook.is_file():
        raise InputError(f"--notebook {notebook}: no such file")


def _read_notes(files: list[Path]) -> str:
    """The author's own paragraphs; nothing is loaded for none."""
    if not files:
        return ""
    from azbenchlib.report.note import read_notes

    return read_notes(files)
