"""Command lines of fio and printed job files that stand beside an output: what they ask of their jobs.

A command line is taken apart as a shell and fio's getopt do, and never run. What precedes ``fio`` in its
line, such as a prompt, ``sudo`` or ``docker run``, says nothing; nor does what follows a pipe.

Source: fio ``init.c`` (``parse_cmd_line``, ``fio_options_dup_and_init``) and ``parse.c``
(``options_to_lopts``), read at fio-3.41; ``fio --cmdhelp`` names the flags.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath, PureWindowsPath

from azbenchlib.formats.fio._options import DISTINCTIVE, USED
from azbenchlib.formats.fio.job_lines import GLOBAL, JobLine, canonical

LONGEST_CALL = 16_384  # characters of a command line, with the lines that continue it
MOST_WORDS_OF_CALL = 1000
COMMAND_LINE, JOB_FILE = "command line", "job file"

_CALL = re.compile(r"(?<![\w.-])fio(?:\.exe)?[\"']?(?P<list>,)?[ \t]++(?=\S)", re.IGNORECASE)
_BETWEEN = re.compile(r"(?<=[\"']),[ \t]{0,9}(?=[\"'])")  # words of a list, as Python prints it
_DRIVE = re.compile(r"[A-Za-z]:\\")
_JOB_FILE = re.compile(r"[\w./\\:~-]{1,300}\.(?:fio|job|jobfile|ini|cfg|conf|txt)", re.IGNORECASE)
_DASHES = "-\u2013\u2014"  # editors make one dash of two
_ENDS_CALL = ";|&<>()#"
# Options that take no next word: those that fio knows as flags, and some of its own.
_FLAGS = {
    *("bs_unaligned", "exitall", "exitall_on_error", "group_reporting", "new_group", "norandommap"),
    *("refill_buffers", "stonewall", "thread", "time_based", "verify_only", "zero_buffers"),
    *("minimal", "append-terse", "readonly", "version", "help", "parse-only", "showcmd", "bandwidth-log"),
}
_OF_JOBS = USED | DISTINCTIVE | {"name", "thinktime", "fsync", "fdatasync", "offset", "rate_process"}
_VARIABLE = re.compile(r"\$|\{\{|%\w{1,40}%")
_SUBSTITUTED = re.compile(r"\$\([^()\n]{0,300}\)")  # $(command): only the shell knew what it gave

Typed = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Stated:
    """What a command line or a job file asks for.

    Attributes
    ----------
    what : str
        Which of the two it is.
    shared : mapping
        Options of all jobs, by fio's main name for them, as typed.
    jobs : mapping
        Options by the name of a job, shared ones among them, as far as all jobs of the name agree. A name of
        None is one that only the shell knew.
    files : tuple of str
        Names of the job files of a command line, without their folders.
    """

    what: str
    shared: Typed
    jobs: Mapping[str | None, Typed] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    def of(self, name: str) -> Typed | None:
        """The options of a job, as far as all jobs of its name agree; None: it has no job of this name."""
        if not self.jobs:
            return self.shared
        return agreed([self.jobs[known] for known in (name, None) if known in self.jobs])

    @property
    def only_name(self) -> str:
        """The name of its job where it has one."""
        return next(iter(self.jobs)) or "" if len(self.jobs) == 1 else ""


def agreed(several: Sequence[Typed]) -> Typed | None:
    """The options that are the same in all of these; None where there are none of them."""
    if not several:
        return None
    first, *others = several
    return {name: text for name, text in first.items() if all(other.get(name) == text for other in others)}


def call_in(line: str) -> str | None:
    """What follows ``fio`` in a line that may be a command line."""
    match = _CALL.search(line)
    if match is None:
        return None
    arguments = line[match.end() :]
    return _BETWEEN.sub(" ", arguments.partition("]")[0]) if match["list"] else arguments


def read_call(arguments: str) -> Stated | None:
    """What the arguments of fio ask for; None where they are no arguments.

    Parameters
    ----------
    arguments : str
        What followed ``fio`` in a line, and in the lines that continue it.
    """
    shared: dict[str, str] = {}
    jobs: list[tuple[str | None, dict[str, str]]] = []
    files, others = [], 0
    known = _SUBSTITUTED.sub("$", arguments[:LONGEST_CALL])
    for option, value in _options(_words(known)):
        if not option:
            files += [base_name(value)] if _JOB_FILE.fullmatch(value) else []
            others += not _JOB_FILE.fullmatch(value)
        elif option == "name" and value:
            jobs.append((None if _VARIABLE.search(value) else value, dict(shared)))
        elif not _VARIABLE.search(value):
            into = jobs[-1][1] if jobs else shared
            into.pop(option, None)  # the latest is the last in order, too
            into[option] = value
    asked = {option for typed in (shared, *(own for _, own in jobs)) for option in typed}
    if not (files or asked & _OF_JOBS) or (others > 1 and not jobs):
        return None
    return Stated(what=COMMAND_LINE, shared=shared, jobs=_by_name(jobs), files=tuple(files))


def read_sections(lines: Sequence[JobLine], before: Typed) -> Stated | None:
    """What the lines of a printed job file ask for; None where they are of another program.

    Parameters
    ----------
    lines : sequence of JobLine
        Sections and options.
    before : mapping
        Options that hold for all jobs, unless the file says otherwise.
    """
    shared = dict(before)
    jobs: list[tuple[str | None, dict[str, str]]] = []
    into: dict[str, str] = {}
    for line in lines:
        if line.section.startswith(GLOBAL):
            into = shared
        elif line.section:
            jobs.append((line.section, dict(shared)))
            into = jobs[-1][1]
        elif not _VARIABLE.search(line.value):
            option = canonical(line.option)
            into.pop(option, None)
            into[option] = line.value
    if not any(canonical(line.option) in DISTINCTIVE for line in lines):
        return None
    named = [(own.get("name") or name, own) for name, own in jobs]
    return Stated(what=JOB_FILE, shared=shared, jobs=_by_name(named))


def _by_name(jobs: Sequence[tuple[str | None, Typed]]) -> dict[str | None, Typed]:
    several: dict[str | None, list[Typed]] = defaultdict(list)
    for name, typed in jobs:
        several[name].append(typed)
    return {name: agreed(typed) or {} for name, typed in several.items()}


def base_name(path: str) -> str:
    """The name of a file without its folders."""
    return PurePosixPath(PureWindowsPath(path).as_posix()).name


def _words(text: str) -> list[str]:
    """The words of a command, up to what the shell keeps for itself."""
    for quoting in (text, text.rstrip("\"'` \t")):
        lexer = shlex.shlex(quoting, posix=True, punctuation_chars=";|&<>()")
        lexer.whitespace_split, lexer.commenters = True, ""
        lexer.escape = "" if _DRIVE.search(text) else "\\"
        try:
            words = [word for word, _ in zip(lexer, range(MOST_WORDS_OF_CALL), strict=False)]
            break
        except ValueError:  # a quotation without its end
            continue
    else:
        words = re.sub("[\"'`]", "", text).split()[:MOST_WORDS_OF_CALL]
    end = next((at for at, word in enumerate(words) if word[:1] in _ENDS_CALL), len(words))
    is_redirected = end < len(words) and words[end][0] in "<>" and end and words[end - 1] in ("1", "2")
    return [word.strip("`") for word in words[: end - 1 if is_redirected else end]]


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Name and value of each option; a word that is none has an empty name."""
    rest = iter(words)
    pending = next(rest, None)
    while pending is not None:
        word, pending = pending, None
        typed = word.lstrip(_DASHES)
        if typed == word:
            yield "", word
        elif typed:
            name, given, value = typed.partition("=")
            if not given and name not in _FLAGS:
                following = next(rest, None)
                if following is not None and following[:1] in _DASHES:
                    pending = following
                else:
                    value = following or ""
            yield canonical(name), value
        if pending is None:
            pending = next(rest, None)
