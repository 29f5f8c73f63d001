"""What the command line says on stderr of files that were read: what was lost, and what to doubt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from azbenchlib.cli.printing.console import notes
from azbenchlib.core.findings import Code, Finding, Severity
from azbenchlib.core.printable import one_line

if TYPE_CHECKING:
    import pandas as pd

    from azbenchlib.dataset.dataset import Dataset

_COPIES = 5  # so many runs that several files tell of are named
_NAMED = 50  # so many files with one and the same error are named


def tell_each(found: Sequence[Finding]) -> None:
    """All errors and warnings among some findings, a line each."""
    for finding in found:
        if finding.severity != Severity.INFO:
            told = f"{finding.message}. {finding.advice}".rstrip(". ")
            notes.sentence(one_line(f"{finding.severity}: {told}."))


def is_nothing(tables: Mapping[str, pd.DataFrame]) -> bool:
    """Whether neither a run nor telemetry could be read."""
    return tables["runs"].empty and tables["demand"].empty


def exit_code(parts: Iterable[Mapping[str, pd.DataFrame]]) -> int:
    """2 where a file of which something is lost gave nothing, though the command does the rest; else 0."""
    for tables in parts:
        findings = tables["findings"]
        lost = findings[findings["run_id"].isna() & (findings["severity"] == Severity.ERROR)]
        gave = {*tables["runs"]["source_path"], *tables["demand"]["source_path"]}
        if not lost["source_path"].isin(gave).all():
            return 2
    return 0


def end(datasets: Iterable[Dataset], code: int = 0) -> None:
    """Leave with the exit code of an answer, or else that of what was read, unless it is 0."""
    if code := code or exit_code(dataset.tables for dataset in datasets):
        raise typer.Exit(code)


def tell_all(tables: Mapping[str, pd.DataFrame]) -> None:
    """All errors and warnings; where nothing could be read, also what is worth knowing."""
    tell(tables["findings"], is_nothing(tables))


def tell(findings: pd.DataFrame, with_info: bool) -> None:
    """All errors and warnings of a table of findings, or all of it; and which runs several files tell of."""
    copies = findings["code"] == Code.COUNTED_ONCE
    _tell(findings[~copies & (with_info | (findings["severity"] != Severity.INFO))])
    _tell_copies(list(findings.loc[copies, "message"].drop_duplicates()))


def tell_of_files(tables: Mapping[str, pd.DataFrame]) -> None:
    """What is said of whole files, for a verb that shows the warnings of each run by itself."""
    findings = tables["findings"]
    serious = findings["run_id"].isna() & (findings["severity"] != Severity.INFO)
    copies = findings["code"] == Code.COUNTED_ONCE
    tell(findings if is_nothing(tables) else findings[serious | copies], is_nothing(tables))


def tell_of_hosts(tables: Mapping[str, pd.DataFrame]) -> None:
    """That runs could be grouped by host, where several files are of one."""
    from azbenchlib.dataset.setups import hosts_told

    if told := hosts_told(tables):
        notes.sentence(
            f"Note: {told} state no setup; --group-by host takes the files of a host as its repeats"
        )


def _tell_copies(messages: Sequence[str]) -> None:
    for message in messages[:_COPIES]:
        notes.sentence(one_line(f"{Severity.INFO}: {message}."))
    if len(messages) > _COPIES:
        notes.sentence(f"{Severity.INFO}: the same of {len(messages) - _COPIES:,} more.")


def _tell(findings: pd.DataFrame) -> None:
    """A line a kind of finding and file; lines of several files that differ in figures and in the names of
    their jobs alone are one.
    """
    lines: dict[tuple[str, str], tuple[str, list[str]]] = {}
    rows = findings.drop_duplicates(["source_path", "code", "message"]).fillna("")
    first = rows.drop_duplicates(["source_path", "code"])[["source_path", "code", *_TOLD]]
    many = Counter(zip(rows["source_path"], rows["code"], strict=True))  # a frame a group takes 200 times it
    for path, code, severity, message, advice in first.itertuples(index=False):
        others = many[path, code] - 1
        more = f" The same of {others} more." if others else ""
        told = f"{message}. {advice}".rstrip(". ")
        sentence = f"{told}.{more}"
        of_any = sentence.replace(path, _PATH) if path else sentence
        alike_but_figures = (severity, _FIGURE.sub("0", _JOB.sub("", of_any)))
        lines.setdefault(alike_but_figures, (sentence, []))[1].append(path)
    for (severity, _), (sentence, paths) in lines.items():
        text = f"{severity}: {sentence}{_others(severity, paths[1:])}"
        notes.sentence(one_line(text))


_TOLD = ["severity", "message", "advice"]
_FIGURE = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_PATH = "\0"  # stands for the path of a file, in which it cannot be
_JOB = re.compile(rf"(?<=^{_PATH}): job '.*?'(?=: )")


def _others(severity: str, paths: list[str]) -> str:
    """How many other files a line is about; those with an error are named."""
    if not paths:
        return ""
    count = f" The same of {len(paths)} more file{'s' if len(paths) > 1 else ''}"
    if severity != Severity.ERROR:
        return f"{count}."
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return f"{count}: {', '.join(paths[:_NAMED])}{more}."
