"""The verb that explains: `azbench verdict`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from azbenchlib.cli.options.demand_options import RegionOption
from azbenchlib.cli.options.measuring_options import JobOption, RequireOption, check_requirements
from azbenchlib.cli.options.setup_options import DayOption, DiskOption, GroupByOption, VmOption, opened
from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.answer_output import FormatOption, OutputFormat, show
from azbenchlib.cli.printing.console import working, write_job
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.answers.judged_entries import JudgedEntry
    from azbenchlib.answers.verdict import VerdictAnswer
    from azbenchlib.dataset.dataset import Dataset


class Interface(StrEnum):
    """How remote disks are attached, where a VM size has other limits for each."""

    scsi = "scsi"
    nvme = "nvme"


def verdict(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Outputs, folders or trees of them, - for standard input, datasets by name or folder, or "
            "a file of cases."
        ),
    ],
    vm: VmOption = None,
    disk: DiskOption = None,
    region: RegionOption[str | None] = None,
    group_by: GroupByOption = None,
    interface: Annotated[
        Interface, typer.Option(help="Of remote disks, where a size offers both.")
    ] = Interface.scsi,
    as_of: DayOption = None,
    require: RequireOption = None,
    job: JobOption = None,
    format_: FormatOption = OutputFormat.text,
) -> None:
    """Name the documented limit that binds each run, its probability, and the run that would confirm it.

    Runs without a stated setup are compared with all documented disks and VM sizes; state --vm and --disk to
    learn which limit binds. They and --region hold where nothing states the setup. The exit code is 2 if a
    file is damaged and gives no run; the others are judged. With --require it is 1 if a requirement is not
    met, 3 if one was not measured.
    """
    check_requirements(require)
    cases = {path: found for path in paths if (found := _cases(Path(path))) is not None}
    named = [path for path in paths if path not in cases]
    datasets = opened(named, vm, disk or [], region, group_by, as_of) if named else []
    from azbenchlib.answers.requirements import RequirementsAnswer, WithRequirements
    from azbenchlib.answers.verdict import VerdictAnswer, judged_cases

    judged = [judged_cases(of_file) for of_file in cases.values()]
    answer = VerdictAnswer.of_all([*judged, *_of_datasets(datasets, interface, as_of)])
    required = RequirementsAnswer.of([one.tables for one in datasets], require or [])
    show(WithRequirements(answer, required) if require else answer, format_)
    if job is not None:
        write_job(job, _next_job(answer.result))
    findings.end(datasets, required.exit_code)


def _next_job(entries: Sequence[JudgedEntry]) -> str:
    """The job of the only run."""
    if len(entries) != 1:
        raise InputError(f"--job is for one run, and there are {len(entries)}; take --format json")
    judged = entries[0].judged
    if judged.next_run is None:
        why = (
            judged.why_no_run or f"the verdict of {entries[0].name} is sure, and no next run would tell more"
        )
        raise InputError(f"--job: {why}")
    return judged.next_run.job


def _of_datasets(
    datasets: Sequence[Dataset], interface: Interface, as_of: str | None
) -> Iterator[VerdictAnswer]:
    """The judgements of all runs; outputs that are named together are evidence for each other."""
    from azbenchlib.answers.verdict import judged_runs

    for dataset in datasets:
        findings.tell_of_files(dataset.tables)
        with working("Judging"):
            answer = judged_runs(dataset, as_of, interface is Interface.nvme)
        yield answer


def _cases(path: Path) -> list[dict[str, Any]] | None:
    """The cases of a file of cases; None where it is something else."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return None
    data = path.read_bytes()
    if b'"cases"' not in data:
        return None
    try:
        found = decoded(data)
    except ValueError:
        return None
    cases = found.get("cases") if isinstance(found, dict) else None
    return cases if isinstance(cases, list) and all(isinstance(case, dict) for case in cases) else None
