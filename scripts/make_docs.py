"""Write docs/tables.md and docs/formats.md from the code that they describe.

.venv/bin/python scripts/make_docs.py
"""

import inspect
from pathlib import Path
from types import ModuleType

from azbenchlib import schema
from azbenchlib.formats import fio_json, fio_log, published

DOCS = Path(__file__).resolve().parents[1] / "docs"
READERS = {"fio JSON and json+": fio_json, "fio logs": fio_log, "Published measurements": published}


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
    for title, module in READERS.items():
        lines += [f"## {title}", "", "```text", _said(module), "```", ""]
    return "\n".join(lines)


def _said(module: ModuleType) -> str:
    readers = [thing for name, thing in vars(module).items() if name.startswith("read_")]
    return "\n\n".join(inspect.getdoc(thing) or "" for thing in (module, *readers))


def pages() -> dict[Path, str]:
    """Each page and what it should say."""
    return {DOCS / "tables.md": tables(), DOCS / "formats.md": formats()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
