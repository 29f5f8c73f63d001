"""The lines of a fio job file, read so strictly that fio sees nothing else, and how much its jobs write.

fio reads at most 4,095 bytes at a time, ends a text at a zero byte, takes ``;`` and ``#`` for a comment
wherever they stand, cuts the last character off a section's line whatever it is, and takes every line that
begins with ``include`` for one. So lines are short and of printable characters, and a section or an option is
alone on its line; the rest is refused.

Source: fio ``init.c`` (``__parse_jobs_ini``), read at fio-3.41; a test compares what is read here with what
``fio --showcmd`` tells.

How much data its jobs write at most is computed as fio does before it lays them out. A file of a job is as
large as ``filesize`` says, or as its part of ``size``, behind ``offset``; a percentage of ``size`` is one of
that. Jobs write files of their own, unless ``filename`` has them share some, where each begins behind the one
before by ``offset_increment``, or by what is there with ``file_append``.

Source: fio ``filesetup.c`` (``setup_files``, ``extend_file``) and ``parse.c`` (``str_to_decimal``), fio-3.33;
a test compares it with what fio writes. Of a list or a range, the largest value counts, and units are binary,
so it is never too little.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from azbenchlib.campaign.workloads import fio_options
from azbenchlib.campaign.workloads.fio_options import SECTION, shown
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB
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


_UNITS = {letter: KIB**power for power, letter in enumerate(("", "k", "m", "g", "t", "p"))}
_NUMBER = re.compile(r"(0x[0-9a-f]+|[0-9]+)([kmgtp]?)(?:i?b)?")
_BETWEEN = re.compile(r"[,:/-]")  # values of a list or a range
_SHARES = re.compile(r"[0-9.]+%")
# Options by which a job writes to the end of its disk, or what another file says.
_NO_BOUND = ("fill_device", "fill_fs", "read_iolog", "replay_redirect", "opendir")
_BLOCKS = ("bs", "bsrange", "bssplit", "ba")

Options = Mapping[str, str]


class UnknownSizeError(ValueError):
    """How much a job writes cannot be told; its words say why."""


def bytes_written(jobs: Sequence[Options]) -> int:
    """Return how much data jobs write together at most, in bytes.

    `jobs`: the options of each by fio's main name for them, with those of its ``[global]`` sections. Raises
    an UnknownSizeError when it cannot be told.
    """
    own, shared = 0, dict[str, int]()
    for options in jobs:
        if odd := next((name for name in _NO_BOUND if name in options), ""):
            raise UnknownSizeError(f"{odd} may write any amount of data")
        copies = _number(options, "numjobs", 1)
        names = [name for name in options.get("filename", "").split(":") if name]
        files = len(names) or _number(options, "nrfiles", 1)
        each = _file_bytes(options, files, copies)
        if not names:
            own += copies * files * each
        for name in names:
            place = f"{options.get('directory', '')}/{name}"
            if _is_set(options, "file_append"):
                shared[place] = shared.get(place, 0) + copies * _number(options, "loops", 1) * each
            else:
                shared[place] = max(shared.get(place, 0), each)
    return own + sum(shared.values())


def _file_bytes(options: Options, files: int, copies: int) -> int:
    """How large each file of a job becomes; of jobs that share it, that of the last of them."""
    size, fixed = _number(options, "size", 0), _number(options, "filesize", 0)
    # what does not divide evenly goes to the first files, a block each; a share is rounded up to a block
    spare = max(_number(options, name, 0) for name in _BLOCKS) or 4 * KIB
    length = max(fixed, -(-size // files)) + (spare if files > 1 or "%" in options.get("size", "") else 0)
    offset = _offset(options, "offset", length) + (copies - 1) * _offset(options, "offset_increment", length)
    align = _number(options, "offset_align", 0)
    return offset + (align if offset else 0) + length if length else 0


def _offset(options: Options, name: str, length: int) -> int:
    return max(_number(options, name, 0), length if "%" in options.get(name, "") else 0)


def _number(options: Options, name: str, default: int) -> int:
    """The largest number of a list or a range; a share of something else is none.

    Raises an UnknownSizeError with the option.
    """
    text = options.get(name, "").strip().lower().strip('"')
    if not text:
        return default
    numbers = [default if name in ("numjobs", "nrfiles", "loops") else 0]
    for part in _BETWEEN.split(text):
        match = _NUMBER.fullmatch(part.strip())
        if match:
            numbers.append(int(match[1], 0 if match[1].startswith("0x") else 10) * _UNITS[match[2]])
        elif text.startswith("-") or not (_SHARES.fullmatch(part.strip()) or (not part and len(numbers) > 1)):
            raise UnknownSizeError(f"{name}={options[name]} is no size that azbench can compute with")
    return max(numbers)


def _is_set(options: Options, name: str) -> bool:
    return name in options and options[name].strip() != "0"
