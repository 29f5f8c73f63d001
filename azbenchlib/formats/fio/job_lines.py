"""The lines of a fio job file, and the names of its options: what every reader of job files shares.

Source: fio ``init.c`` (``__parse_jobs_ini``) and ``options.c``, read at fio-3.41; a test compares the aliases
with ``fio --cmdhelp``.
"""

import re
from dataclasses import dataclass

GLOBAL = "global"  # sections that begin so hold options of all jobs after them
ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blockalign": "ba",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "io_limit": "io_size",
    "fileoffset": "offset",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "iomem": "mem",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "wait_for_previous": "stonewall",
    "disable_bw": "disable_bw_measurement",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
}

_COMMENT = re.compile(r"[;#].*")
_SECTION = re.compile(r"\[([^\]\n][^\n]*)\]$")


@dataclass(frozen=True)
class JobLine:
    """A line of a job file without its comment.

    `bare` is all of it; `section` is the name that begins one, else `option` and `value` are what is set.
    """

    bare: str
    section: str = ""
    option: str = ""
    value: str = ""


def lex(text: str) -> JobLine:
    """One line, whatever is in it; only a name in brackets, alone on its line, is a section."""
    bare = _COMMENT.sub("", text).strip()
    if match := _SECTION.match(bare):
        return JobLine(bare, section=match[1])
    option, _, value = (part.strip() for part in bare.partition("="))
    return JobLine(bare, option=option, value=value)


def canonical(name: str) -> str:
    """The main name that fio has for an option."""
    return ALIASES.get(name, name)
