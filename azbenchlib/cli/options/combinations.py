"""Options that would do nothing beside the others that are given, and those that had another name: as data.

An option that is passed over is a question that gets another answer. So each is refused in one sentence,
before anything is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperCommand

from azbenchlib.cli.printing.console import notes
from azbenchlib.core.errors import InputError

Given = Mapping[str, Any]  # parameters of a verb by their names in its function


@dataclass(frozen=True)
class Needs:
    """What an option needs to do anything."""

    option: str
    words: str
    holds: Callable[[Given], bool]


def _has(*names: str) -> Callable[[Given], bool]:
    return lambda given: all(given[name] not in (None, False, []) for name in names)


def _lacks(*names: str) -> Callable[[Given], bool]:
    return lambda given: all(given[name] in (None, False, []) for name in names)


def _prints(*formats: str) -> Callable[[Given], bool]:
    return lambda given: given["format_"] in formats


def _prints_a_table(given: Given) -> bool:
    return given["format_"] == "csv" and _lacks("output", "wide", "window")(given)


_PAGES = Needs("", "a report that is written: --format html, pdf or both", _prints("html", "pdf", "both"))
_PAGE_OPTIONS = {
    "output": "--output",
    "title": "--title",
    "author": "--author",
    "client": "--client",
    "note": "--note",
    "open_": "--open",
    "timings": "--timings",
}
# By verb, then by the parameter.
NEEDS: dict[str, dict[str, Needs]] = {
    "read": {
        "table": Needs("--table", "--format csv, without --output, --wide and --window", _prints_a_table),
        "percentiles": Needs("--percentiles", "--window", _has("window")),
        "output": Needs("--output", "--format csv or parquet", _prints("text", "csv", "parquet")),
        "wide": Needs("--wide", "to be printed: leave out --output", _lacks("output")),
    },
    "collect": {
        "processes": Needs("--processes", "to read on this machine: leave out --dask", _lacks("dask"))
    },
    "compare": {
        "require": Needs("--require", "--format text, json, csv or md", _prints("text", "json", "csv", "md"))
    },
    "query": {"by": Needs("--by", "--percentiles", _has("percentiles"))},
    "run": {
        "show_identity": Needs("--show-identity", "--target azure", lambda given: given["target"] == "azure"),
        "trust_job_files": Needs("--trust-job-files", "a measurement file", _has("file")),
    },
    "cost": {
        "bs": Needs("--bs", "--iops, whose size it is", _has("iops")),
        "transaction_cap": Needs("--transaction-cap", "--iops", _has("iops")),
        "snapshot_sku": Needs("--snapshot-sku", "--snapshots", _has("snapshots")),
    },
    "advise": {"why": Needs("--why", "--format text or md", _prints("text", "md"))},
    "report": {name: Needs(option, _PAGES.words, _PAGES.holds) for name, option in _PAGE_OPTIONS.items()},
    "learn": {
        "seed": Needs("--seed", "--export", _has("export")),
        "browser": Needs("--no-browser", "JupyterLab: leave out --export", _lacks("export")),
    },
    "probe": {
        "directory": Needs(
            "--directory",
            "a target ssh:USER@HOST or exec:COMMAND; in Azure, --disk says what is probed",
            lambda given: given["target"].startswith(("ssh:", "exec:")),
        )
    },
}
# By verb: old names of options, which go on working, and what each is called now.
RENAMED: dict[str, dict[str, str]] = {
    "advise": {"--hours": "--vm-hours", "--burst": "--peak"},
    "lab start": {"--cache": "--cache-size"},
    "lab run": {"--seconds": "--max-seconds"},
    "lab mount": {"--volume": "--volume-name"},
    "catalog drift": {"--name": "--documented-as"},
    "catalog refresh": {"--prices": "--retail-prices", "--location": "--region"},
}


class Verb(TyperCommand):
    """A verb that refuses options without effect, and takes old names of options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer does, with the names that options have now."""
        return super().parse_args(ctx, list(_with_new_names(_path(ctx), args, ctx.resilient_parsing)))

    def invoke(self, ctx: Any) -> Any:
        """As typer does, after a look at what was given."""
        for parameter, needs in NEEDS.get(_path(ctx), {}).items():
            source = ctx.get_parameter_source(parameter)
            if source is not None and source.name == "COMMANDLINE" and not needs.holds(ctx.params):
                raise InputError(f"{needs.option} has no effect here; it needs {needs.words}")
        return super().invoke(ctx)


def _with_new_names(verb: str, words: Sequence[str], silent: bool) -> Iterator[str]:
    """The words behind a verb; what an old name is called now is said, unless a shell completes words."""
    end = words.index("--") if "--" in words else len(words)
    for word in words[:end]:
        name, sign, value = word.partition("=")
        new = RENAMED.get(verb, {}).get(name)
        if new and not silent:
            notes.print(f"Note: {name} of `azbench {verb}` is called {new} now", markup=False)
        yield f"{new or name}{sign}{value}"
    yield from words[end:]


def _path(ctx: Any) -> str:
    """The words by which a verb is called, behind the name of the program."""
    words: list[str] = []
    while ctx.parent is not None:
        words.insert(0, ctx.info_name)
        ctx = ctx.parent
    return " ".join(words)


def refuse_without_effect(app: typer.Typer) -> None:
    """Let each verb of a group refuse them."""
    for command in app.registered_commands:
        command.cls = Verb
