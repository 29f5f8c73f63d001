"""Which other outputs stand in a file that one reader claimed.

Outputs of several tools that were written to one file (``>>``) are read by the reader that claims the file,
which sees its own alone. What begins an output of another kind is looked for in the whole text, so that
nothing is lost without a word.
"""

import re

from azbenchlib.core.findings import Code
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

# Name of the formats -> what stands in their lines alone, and the line. Repetitions have bounds and take no
# line ends, so that no text takes longer than its length.
SIGNS = {
    "fio": (
        ('"fio version"', "(groupid=", ";fio-"),
        r"[{ \t]{0,99}\"fio version\" ?: ?\"|[345];fio-\d"
        r"|[^\n:]{1,200}: \(groupid=\d{1,9}, jobs=\d{1,9}\): err=",
    ),
    # dbench prints its summary below the texts of fio that it sums up, so it is none of these
    "summary of fio": (
        ("FIO Benchmark ", "fio Disk Speed", "FIO version - fio-"),
        r"[ \t#>=]{0,99}(?:FIO Benchmark Summary\b|fio Disk Speed Tests |FIO version - fio-\d)",
    ),
    "iozone text": (("Iozone: Perf",), r"[ \t]{0,99}Iozone: Performance Test of File I/O"),
    "diskspd text": (("Results for timespan",), r"Results for timespan \d{1,6}:"),
    "diskspd XML": (("<Results>",), r"[ \t]{0,99}<Results>"),
    "IOMeter results": (("'Target Type,",), r"'Target Type,Target Name,"),
    "IOMeter setup": (("'MANAGER LIST",), r"'MANAGER LIST =="),
    "lab log": (('{"azbench_lab"',), r'\{"azbench_lab": 1,'),
}


def report_others(source: Source, claimed_by: str, records: Records) -> None:
    """Add a finding where outputs of other kinds stand in a file.

    Parameters
    ----------
    source : Source
        The file.
    claimed_by : str
        Name of the format that reads it.
    records : Records
        Where the finding goes.
    """
    text, seen = source.text, {}
    for name, (words, line) in SIGNS.items():
        if claimed_by.startswith(name) or not any(word in text for word in words):
            continue
        if match := re.search(f"^(?:{line})", text, re.MULTILINE):
            seen[name] = text.count("\n", 0, match.start()) + 1
    if seen:
        shown = ", ".join(f"{name} from line {line:,} on" for name, line in seen.items())
        message = (
            f"{source.path}: the file is read as {claimed_by}; other outputs in it are not read: {shown}"
        )
        records.finding(Code.SEVERAL_TOOLS, message)
