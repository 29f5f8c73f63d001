"""Write the pages of docs/ that describe code, from that code.

.venv/bin/python scripts/make_docs.py
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from pydantic import BaseModel

from azbenchlib.campaign import measurement_file, spec
from azbenchlib.campaign.workloads import fio_options
from azbenchlib.core import findings as registry
from azbenchlib.core import schema
from azbenchlib.core.findings import Code
from azbenchlib.formats import FORMATS
from azbenchlib.formats.fio.job_lines import ALIASES

USE = """\
`azbench plan FILE` prints what a file would create and run, `azbench run FILE` carries it out on emulated
disks ([the lab](lab.md)), `--target local` on this machine, and `--target azure` in Azure."""
WORKLOAD = """\
In fio's spelling: `rw`, `bs`, `size` and `runtime` (seconds) are needed; `iodepth`, `numjobs` (1),
`ramp_time` (0), `ioengine` (libaio) and `direct` (true) have defaults; the other options are those listed
under [Options of fio](#options-of-fio), by their full names.

Or a job file of fio, as it is: `job` is its path, in the folder of the measurement file or below, and
`runtime` the seconds after which it is ended. It is started in the folder where the disk is mounted. It may
use the same options, say where in that folder its data lies, and name logs, which fio writes in the folder
where it is started, so that they are not among the outputs.

A measurement file may come from anybody, so options that start programs or open other files are refused, with
the file and the line; so are YAML tags, keys that are there twice, and values that begin with `@` or `-`.
`--trust-job-files` (of `azbench run`, `plan` and `lab run`) takes job files as they are when they are your
own: they may then use every option and engine of fio. It holds for job files only, and no measurement file,
dataset or parameter of a notebook can say it.

Or a run of iozone: `iozone` holds `file_sizes` (needed), `tests` (write, read, random; also backward,
record_rewrite, stride, and the buffered fwrite and fread), `records` (auto: 4 KiB to 16 MiB), `direct` (true,
iozone's `-I`) and `threads` (processes side by side, with one record and one file size). The data is written
once before it is measured (`-i 0 -w`); what iozone prints, with the reports of `-R`, and its spreadsheet
(`-b`) are kept; and it needs a file system. How long it takes is not known beforehand: iozone goes over all
of its data.

`disks` names the disks that a workload drives, one after the other; without it, all of the setup.
"""
OPTIONS = """\
What is not in this table is refused: abbreviations, options of later versions of fio, and all that starts
programs, opens other files, turns to other machines or changes settings of the system. A flag is `true` or
`false` in a measurement file; in a job file it is 1, 0 or alone on its line.
"""
CHOICES = {
    "role": schema.ROLES,
    "sku": spec.SKUS,
    "caching": schema.HOST_CACHING,
    "placement": spec.EPHEMERAL_PLACEMENTS,
}
KEYS = {"tasks": "workloads"}  # of a setup, as the file spells it
DOCS = Path(__file__).resolve().parents[1] / "docs"


def tables() -> str:
    """The column reference."""
    lines = ["# The tables", "", "Missing is NA, never zero. Columns in bold identify a row.", ""]
    for name, table in schema.TABLES.items():
        lines += [
            f"## {name}",
            "",
            f"{table.doc}.",
            "",
            "| column | type | unit | meaning |",
            "|---|---|---|---|",
        ]
        for column, entry in table.columns.items():
            shown = f"**{column}**" if column in table.key else column
            choices = f": {', '.join(entry.choices)}" if entry.choices else ""
            lines.append(f"| {shown} | {entry.dtype} | {entry.unit} | {entry.doc}{choices} |")
        lines.append("")
    return "\n".join(lines)


def formats() -> str:
    """What each reader says of its format, and of what it reads."""
    lines = ["# Formats and their traps", "", "From the readers' own descriptions.", ""]
    for form in FORMATS:
        lines += [f"## {form.name}", "", "```text", _said(sys.modules[form.sniff.__module__]), "```", ""]
    return "\n".join(lines)


def _said(module: ModuleType) -> str:
    functions = inspect.getmembers(module, inspect.isfunction)
    own = [
        thing for name, thing in functions if name.startswith("read_") and thing.__module__ == module.__name__
    ]
    return "\n\n".join(inspect.getdoc(thing) or "" for thing in (module, *own))


def findings() -> str:
    """What each code means, how severe it is, and what to do."""
    lines = ["# Findings", "", inspect.getdoc(registry) or "", ""]
    lines += ["| code | severity | meaning | what to do |", "|---|---|---|---|"]
    for code in Code:
        advice = code.advice.replace("|", " ") or "as the finding says"
        lines.append(f"| `{code}` | {' or '.join(code.severities)} | {code.meaning} | {advice} |")
    return "\n".join(lines) + "\n"


def measurement() -> str:
    """Every key of the measurement file."""
    example = (DOCS.parent / "campaigns" / "ultra-disk.yaml").read_text(encoding="utf-8")
    about = (inspect.getdoc(measurement_file) or "").partition("``docs/")[0].strip()
    lines = ["# The measurement file", "", about, "", USE, "", "```yaml", example.rstrip(), "```", ""]
    for title, kind in (
        ("The file", spec.Experiment),
        ("A setup", spec.SetupSpec),
        ("A disk", spec.DiskSpec),
    ):
        lines += [f"## {title}", "", *_prose(kind), "", "| key | default | meaning |", "|---|---|---|"]
        lines += [*_keys(kind), ""]
    return "\n".join([*lines, "## A workload", "", WORKLOAD.rstrip(), *_options()])


def _options() -> list[str]:
    """The options of fio by the form of their values, and the engines."""
    kinds: dict[str, list[str]] = {}
    for name, kind in fio_options.OPTIONS.items():
        kinds.setdefault(kind.what, []).append(f"`{name}`")
    engines = ", ".join(f"`{name}`" for name in fio_options.ENGINES)
    aliases = ", ".join(f"`{alias}` ({name})" for alias, name in ALIASES.items())
    only = sorted(set(fio_options.IN_JOB_FILES) - set(fio_options.OPTIONS))
    lines = ["", "## Options of fio", "", OPTIONS, "| value | options |", "|---|---|"]
    rows = sorted(kinds.items(), key=lambda row: -len(row[1]))
    lines += [
        f"| {what.replace('|', ' ')} | {', '.join(sorted(names, key=lambda name: name.strip('`')))} |"
        for what, names in rows
    ]
    return [
        *lines,
        "",
        f"Engines: {engines}.",
        "",
        f"In job files also: {', '.join(f'`{name}`' for name in only)}.",
        "",
        f"Fio's other names: {aliases}.",
        "",
    ]


def _prose(thing: type) -> list[str]:
    return [line.replace("``", "`") for line in (inspect.getdoc(thing) or "").split("\n\n")[0].splitlines()]


def _keys(kind: type[BaseModel]) -> Iterator[str]:
    for name, field in kind.model_fields.items():
        shown = KEYS.get(name, name)
        plain = field.default in (None, "", (), False)
        default = "needed" if field.is_required() else "" if plain else f"`{field.default}`"
        choices = f": {', '.join(CHOICES[name])}" if name in CHOICES else ""
        yield f"| `{shown}` | {default} | {field.description or ''}{choices} |"


def pages() -> dict[Path, str]:
    """Each page and what it should say."""
    return {
        DOCS / "tables.md": tables(),
        DOCS / "formats.md": formats(),
        DOCS / "findings.md": findings(),
        DOCS / "measurement-file.md": measurement(),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
