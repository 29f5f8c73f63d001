"""Write the pages of docs/ that describe code, from that code.

.venv/bin/python scripts/make_docs.py
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from pydantic import BaseModel

from azbenchlib import schema
from azbenchlib.analyse import checks
from azbenchlib.campaign import measurement_file, spec
from azbenchlib.formats import FORMATS

USE = """\
`azbench plan FILE` prints what a file would create and run, `azbench run FILE` carries it out on emulated
disks ([the lab](lab.md)), `--target local` on this machine, and `--target azure` in Azure."""
WORKLOAD = """\
In fio's spelling: `rw`, `bs`, `size` and `runtime` (seconds) are needed; `iodepth`, `numjobs` (1),
`ramp_time` (0), `ioengine` (libaio) and `direct` (true) have defaults; every other option goes to fio as it
is, but for those that say where fio reads and writes or that start programs.

Or a job file of fio, as it is: `job` is its path, in the folder of the measurement file or below, and
`runtime` the seconds after which it is ended. It is started in the folder where the disk is mounted.

Or a run of iozone: `iozone` holds `file_sizes` (needed), `tests` (write, read, random; also backward,
record_rewrite, stride, and the buffered fwrite and fread), `records` (auto: 4 KiB to 16 MiB), `direct` (true,
iozone's `-I`) and `threads` (processes side by side, with one record and one file size). The data is written
once before it is measured (`-i 0 -w`); what iozone prints, with the reports of `-R`, and its spreadsheet
(`-b`) are kept; and it needs a file system. How long it takes is not known beforehand: iozone goes over all
of its data.

`disks` names the disks that a workload drives, one after the other; without it, all of the setup.
"""
CHOICES = {
    "role": schema.ROLES,
    "sku": spec.SKUS,
    "caching": schema.HOST_CACHING,
    "placement": spec.PLACEMENTS,
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
    """What each code of a check means."""
    lines = ["# Findings", "", "What azbench doubts of a run, and why.", ""]
    lines += ["| code | meaning |", "|---|---|"]
    lines += [f"| `{code}` | {meaning} |" for code, meaning in checks.meanings().items()]
    return "\n".join(lines) + "\n"


def measurement() -> str:
    """Every key of the measurement file."""
    example = (DOCS.parent / "campaigns" / "ultra-disk.yaml").read_text(encoding="utf-8")
    about = (inspect.getdoc(measurement_file) or "").partition("``docs/")[0].strip()
    lines = ["# The measurement file", "", about, "", USE, "", "```yaml", example.rstrip(), "```", ""]
    for title, kind in (("The file", spec.Experiment), ("A setup", spec.Setup), ("A disk", spec.Disk)):
        lines += [f"## {title}", "", *_prose(kind), "", "| key | default | meaning |", "|---|---|---|"]
        lines += [*_keys(kind), ""]
    return "\n".join([*lines, "## A workload", "", WORKLOAD])


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
