"""The verb that explains: `azbench verdict`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from azbenchlib.cli.options.setup_options import DiskOption, GroupByOption, RegionOption, VmOption, opened
from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.console import print_json, say, working, write_job
from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code, Finding, Severity
from azbenchlib.core.units import format_count, format_mbps

if TYPE_CHECKING:
    from azbenchlib.dataset.dataset import Dataset
    from azbenchlib.verdict import Judgement

_BARS = 3  # limits that are drawn
_FULL = 1.2  # a bar is as long as this utilisation
SHOWN_CODES = (Code.BASE_NOT_SEEN, Code.NO_DOCUMENTED_LIMIT)  # also where they are only worth knowing
WIDEST = 30  # characters of the longest bar


class VerdictFormat(StrEnum):
    """What `azbench verdict` prints."""

    table = "table"
    json = "json"


class Interface(StrEnum):
    """How remote disks are attached, where a VM size has other limits for each."""

    scsi = "scsi"
    nvme = "nvme"


@dataclass(frozen=True)
class _Entry:
    """One run or case, and what it belongs to."""

    name: str
    group: str
    judged: Judgement
    phases: str = ""  # of its rate, where it had several


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
    region: RegionOption = None,
    group_by: GroupByOption = None,
    interface: Annotated[
        Interface, typer.Option(help="Of remote disks, where a size offers both.")
    ] = Interface.scsi,
    as_of: Annotated[str | None, typer.Option(help="Day whose limits apply, ISO.")] = None,
    job: Annotated[
        Path | None, typer.Option(help="Write the fio job of the next run, of a single run, to this file.")
    ] = None,
    format_: Annotated[VerdictFormat, typer.Option("--format", help="What to print.")] = VerdictFormat.table,
) -> None:
    """Name the documented limit that binds each run, its probability, and the run that would confirm it.

    Runs without a stated setup are compared with all documented disks and VM sizes; state --vm and --disk to
    learn which limit binds. The exit code is 2 if a file is damaged and gives no run; the others are judged.
    """
    cases = {path: found for path in paths if (found := _cases(Path(path))) is not None}
    named = [path for path in paths if path not in cases]
    datasets = opened(named, vm, disk or [], region, group_by, as_of) if named else []
    entries = _of_cases(cases.values()) + _of_datasets(datasets, interface, as_of)
    if format_ is VerdictFormat.json:
        from azbenchlib.verdict.to_json import record

        print_json({"verdicts": [record(entry.name, entry.judged) for entry in entries]})
    else:
        _print(entries)
    if job is not None:
        write_job(job, _next_job(entries))
    findings.end(datasets)


def _next_job(entries: Sequence[_Entry]) -> str:
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


def _of_cases(files: Iterable[Sequence[dict[str, Any]]]) -> list[_Entry]:
    """The judgements of files of cases."""
    from azbenchlib.verdict.cases.judge import judge_case

    return [
        _Entry(str(case.get("id", f"case {i}")), "", judge_case(case))
        for cases in files
        for i, case in enumerate(cases, 1)
    ]


def _of_datasets(datasets: Sequence[Dataset], interface: Interface, as_of: str | None) -> list[_Entry]:
    """The judgements of all runs; outputs that are named together are evidence for each other."""
    from azbenchlib.analysis.over_time.phases import in_words
    from azbenchlib.analysis.over_time.sustained import phases_of
    from azbenchlib.verdict.run_verdicts import judge_runs

    found = []
    for dataset in datasets:
        findings.tell_of_files(dataset.tables)
        with working("Judging"):
            judged = judge_runs(dataset.tables, None, as_of, interface is Interface.nvme)
        if not judged:
            raise InputError(f"{dataset.place}: no run with a rate or a latency; there is nothing to judge")
        found += [
            _Entry(one.run.name, one.run.setup_id or "", one.judgement, in_words(phases_of(one.run)))
            for one in judged
        ]
    return found


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


def _print(entries: Sequence[_Entry]) -> None:
    """A card a run; runs of one setup that say the same share one."""
    console = Console(highlight=False)
    cards: dict[tuple[object, ...], list[_Entry]] = defaultdict(list)
    for entry in entries:
        alike = (entry.group, entry.judged.words, tuple(f.code for f in entry.judged.findings))
        # what was measured near a limit keeps its own bars
        cards[(*alike, () if entry.judged.binding == ("page_cache",) else entry.name)].append(entry)
    for card in cards.values():
        _card(console, card, whole=len(entries) == 1)


def _card(console: Console, same: Sequence[_Entry], whole: bool) -> None:
    from azbenchlib.verdict import text

    entry = same[0]
    judged = entry.judged
    title = Text(entry.name, style="bold")
    if len(same) > 1:
        title.append(f" and {len(same) - 1} more", style="bold")
    got = (entry.phases or text.rates(judged)) if len(same) == 1 else ""
    title.append("".join(f"  {part}" for part in (entry.group, got) if part))
    console.print(title)
    sure = "" if _unstated(judged) else _sure(judged.probability)
    _indented(console, Text(f"{sure}{judged.words}", style=_style(judged)))
    for flow in judged.flows if len(judged.flows) > 1 else ():
        _indented(console, Text(f"{flow.ddir}, {flow.path}: {_sure(flow.probability)}{flow.words}"))
    if judged.limits and len(same) == 1:
        _indented(console, _bars(judged, console.width))
    for finding in judged.findings:
        if _is_told(finding, judged):
            _indented(console, Text(f"! {finding.message}", style="yellow"))
    _following(console, judged, whole)
    console.print()


def _is_told(finding: Finding, judged: Judgement) -> bool:
    """Whether a finding has a line of its own: it matters, and the sentence does not say it."""
    if finding.code == Code.SETUP_NOT_KNOWN and _unstated(judged):
        return False
    return finding.severity != Severity.INFO or finding.code in SHOWN_CODES


def _following(console: Console, judged: Judgement, whole: bool) -> None:
    """What to run next, or why there is no such run."""
    if judged.next_run:
        if judged.next_run.advice not in judged.words:
            _indented(console, Text(f"Next: {judged.next_run.advice}"))
        if whole:
            console.print()
            say(judged.next_run.job)
    elif judged.why_no_run and judged.why_no_run not in judged.words:
        _indented(console, Text(f"No next run: {judged.why_no_run}"))


def _unstated(judged: Judgement) -> bool:
    """Whether the sentence says that no setup is stated: it has no probability."""
    not_known = any(finding.code == Code.SETUP_NOT_KNOWN for finding in judged.findings)
    return not_known and judged.binding[:1] == ("unknown",)


def _sure(probability: float) -> str:
    """The probability before a verdict in words; never rounded to certainty."""
    if not probability:
        return ""
    return f"{min(probability, 0.99):.0%} " if probability < 0.995 else ">99% "


def _indented(console: Console, what: Text | Table) -> None:
    console.print(Padding(what, (0, 0, 0, 2)))


def _style(judged: Judgement) -> str:
    from azbenchlib.verdict.text import BOUND, PROBABLY

    return "green" if judged.probability >= BOUND else "cyan" if judged.probability >= PROBABLY else "magenta"


def _bars(judged: Judgement, width: int) -> Table:
    """The limits that were used most, with the share that was used."""
    table = Table.grid(padding=(0, 1))
    for justify in ("left", "left", "right", "left"):
        table.add_column(justify=justify, no_wrap=True)
    most = max(8, min(WIDEST, width - 60))
    named_first = sorted(
        judged.limits,
        key=lambda row: (
            row.label not in judged.binding,
            row.label.base != judged.binding[0].base,
            row.label != judged.runner_up,
        ),
    )
    for row in named_first[:_BARS]:
        mbps = row.label.quantity == "mbps"
        value = f"{format_mbps(row.value)} MB/s" if mbps else format_count(row.value)
        length = max(1, round(most * min(row.utilisation, _FULL) / _FULL))
        bar = Text("█" * length, style="red" if row.label in judged.binding else "dim")
        bar.append("░" * (round(most / _FULL) - length), style="dim")  # what is left below the limit
        table.add_row(
            Text(row.label.display_name),
            bar,
            Text(f"{row.utilisation:.0%}"),
            Text(f"of {value}"),
        )
    return table
