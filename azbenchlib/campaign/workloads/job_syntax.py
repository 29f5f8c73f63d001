"""The lines of a fio job file, read so strictly that fio cannot see anything else in them.

fio reads at most 4,095 bytes at a time, ends a text at a zero byte, takes ``;`` and ``#`` for a comment
wherever they stand, cuts the last character off a section's line whatever it is, and takes every line that
begins with ``include`` for one. So lines are short and of printable characters, and a section or an option is
alone on its line; the rest is refused.

Source: fio ``init.c`` (``__parse_jobs_ini``), read at fio-3.41; a test compares what is read here with what
``fio --showcmd`` tells.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from azbenchlib.campaign.workloads import fio_options
from azbenchlib.campaign.workloads.fio_options import SECTION, shown
from azbenchlib.core.errors import InputError
from azbenchlib.formats.fio import job_lines
from azbenchlib.formats.fio.job_lines import lex

_LONGEST_LINE = 1000  # characters


@dataclass(frozen=True, kw_only=True)
class StrictLine:
    """A line of a job file.

    `number` counts from 1; `section` is the name that begins one, `option` and `value` what is set; all are
    empty for blanks and comments.
    """

    number: int
    text: str
    section: str = ""
    option: str = ""
    value: str = ""


def read(text: str, trusted: bool = False) -> list[StrictLine]:
    """The lines of a job file; `trusted`: sections and options may be any, as in a file of one's own.

    Raises an InputError with the number of the line as the only one of its `keys`.
    """
    lines: list[StrictLine] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            lines.append(_line(number, line.removesuffix("\r"), trusted))
            _check_place(lines, trusted)
        except InputError as error:
            raise InputError(str(error), keys=(number,)) from error
    return lines


def rewritten(lines: list[StrictLine], values: Iterator[str]) -> str:
    """The text with other values of its options, in their order; comments are kept."""
    return "\n".join(_with(line, next(values)) if line.option else line.text for line in lines)


def _with(line: StrictLine, value: str) -> str:
    if value == line.value:
        return line.text
    return f"{line.option}={value}"


def _line(number: int, text: str, trusted: bool) -> StrictLine:
    if len(text) > _LONGEST_LINE:
        raise InputError(f"the line has {len(text):,} characters; at most {_LONGEST_LINE:,} are read")
    if odd := next((char for char in text if not (char.isprintable() or char == "\t")), ""):
        raise InputError(f"the line holds the character U+{ord(odd):04X}, which cannot be printed")
    found = lex(text)
    if found.bare.startswith("["):
        _check_section(found, trusted)
    elif found.bare and not trusted:
        fio_options.check(found.option, found.value, fio_options.IN_JOB_FILES)
    return StrictLine(number=number, text=text, section=found.section, option=found.option, value=found.value)


def _check_section(found: job_lines.JobLine, trusted: bool) -> None:
    if not found.section or not (trusted or SECTION.pattern.fullmatch(found.section)):
        raise InputError(
            f"'{shown(found.bare)}' is not a section: a name in brackets, alone on its line, "
            f"of {SECTION.what}"
        )


def _check_place(lines: list[StrictLine], trusted: bool) -> None:
    if lines[-1].option and not trusted and not any(line.section for line in lines):
        raise InputError(f"option '{shown(lines[-1].option)}' stands before the first section")
