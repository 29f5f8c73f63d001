"""The program az: which one, one call at a time, every call logged, what it says on failure understood.

Nothing here knows a command of az; those stand where they are needed, as argument lists.

An operation of Azure may never end: az itself waits as long as Azure says (``Retry-After``), and for an
operation until that tells an end. So each kind of command has a time that is longer than what Azure takes for
it at its slowest, and a run has an end of its own. Sources, 2026-11: Microsoft Learn, "Troubleshoot
allocation failures" and "OS provisioning timeout" (Azure gives a VM up after 40 minutes at most), "Run
scripts in your VM with action Run Commands" (90 minutes at most), "Async operations"; the rest by judgement.
"""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any

from azbenchlib.azure.az_errors import AzError, understood
from azbenchlib.azure.retries import Patience
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError, MissingToolError, OutputError
from azbenchlib.core.files import append
from azbenchlib.core.privacy import masked, masked_words
from azbenchlib.core.units import S_PER_MIN, format_span

# First words of a command to seconds; the longest that fits counts.
CALL_LIMITS_S: dict[str, float] = {
    "": 60 * S_PER_MIN,  # whatever is not named
    "account": 5 * S_PER_MIN,  # one question, and az itself takes up to a minute to start on a busy machine
    "cloud": 5 * S_PER_MIN,
    "version": 5 * S_PER_MIN,
    "feature": 5 * S_PER_MIN,
    "group": 5 * S_PER_MIN,  # a deletion is asked for and not waited for
    "resource list": 10 * S_PER_MIN,
    "tag": 5 * S_PER_MIN,
    "deployment": 5 * S_PER_MIN,
    "rest": 5 * S_PER_MIN,
    "role": 10 * S_PER_MIN,
    "monitor": 10 * S_PER_MIN,
    "provider show": 5 * S_PER_MIN,
    "provider register": 60 * S_PER_MIN,  # in all regions, one after the other
    "network": 30 * S_PER_MIN,
    "disk": 30 * S_PER_MIN,
    "vm": 30 * S_PER_MIN,  # to attach, to detach, to delete
    "vm create": 60 * S_PER_MIN,
    "vm show": 5 * S_PER_MIN,
    "vm get-instance-view": 5 * S_PER_MIN,
    "vm list-usage": 5 * S_PER_MIN,
    "vm list-skus": 15 * S_PER_MIN,  # tens of MB
    "vm run-command show": 5 * S_PER_MIN,
    "vm run-command invoke": 100 * S_PER_MIN,
    "storage": 10 * S_PER_MIN,
    "storage account": 30 * S_PER_MIN,
    "storage blob download": 60 * S_PER_MIN,
}


@dataclass
class EndOfRun:
    """When a run is over, whatever it waits for: as `time.monotonic` counts, with the words that say why."""

    at: float = float("inf")
    why: str = ""

    def forget(self) -> None:
        """Have no end any more, as when only what was made is deleted."""
        self.at = float("inf")


def longest_s(words: Sequence[str]) -> float:
    """Return how long a call may take, in seconds; `words`: its arguments."""
    fits = (
        (len(prefix), seconds)
        for prefix, seconds in CALL_LIMITS_S.items()
        if list(words[: len(prefix.split())]) == prefix.split()
    )
    return max(fits)[1]


def left_s(words: Sequence[str], end: EndOfRun) -> tuple[float, bool]:
    """Return how long a call may take now, in seconds, and whether it is the end of the run that says so."""
    longest, left = longest_s(words), max(0.0, end.at - time.monotonic())
    return min(longest, left), left < longest


AZ_VARIABLE = "AZBENCH_AZ"  # path of the az to use
TOOLS = Path(__file__).resolve().parents[2] / ".tools" / "bin"  # where `make azure` puts it
# The second without a Makefile, where azbench was installed by pip.
HOW_TO_GET = "make azure" if (TOOLS.parents[1] / "Makefile").is_file() else "uv tool install azure-cli"
LONG = 1024  # characters of an argument of which the log tells the same beginning once
NO_ANSWER, NO_STATUS = "NoAnswer", 124  # code of a call that was ended, and its status, as timeout(1) ends
_PATIENCE_S = 5  # how long a call under way may go on after an interrupt
# Options that take no value; every other one is followed by its value.
_FLAGS = (
    "--yes",
    "--no-wait",
    "--wait",
    "--off",
    "--all",
    "--instance-view",
    "--https-only",
    "--no-progress",
    "--as-user",
    "--enable-write-accelerator",
)
_SECRET = ("--protected-parameters", "@-")  # az reads it from its standard input
_OPTION = re.compile(r"--[a-z][a-z-]*")
_SILENT = {
    "PYTHONSAFEPATH": "1",  # az is started as a module: without this it imports those of the current folder
    "AZURE_CORE_COLLECT_TELEMETRY": "no",
    "AZURE_CORE_NO_COLOR": "yes",
    "AZURE_CORE_SURVEY_MESSAGE": "no",
}


@dataclass(frozen=True, kw_only=True)
class Az:
    """The program, and where its calls are logged."""

    path: str  # the program
    # A file that gets a JSON object a line for each call: ``at``, ``command``, ``seconds``, ``status``, and
    # of a failed one ``error``. Ids, e-mail addresses and secrets are masked, and a long script is told once;
    # what az answers is not in it
    log: Path | None = None
    # Environment variables for az, instead of this process's own
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    # Id of the subscription that every call is about; empty: the one that az is set to at that moment
    subscription: str = ""
    must_log: bool = True  # whether a call fails whose line cannot be written to the log
    # How long faults that pass by themselves are waited for; default: those of the sign-in service alone, for
    # then no call was made
    patience: Patience = field(default_factory=Patience)
    # After which no call is waited for
    end: EndOfRun = field(default_factory=EndOfRun, compare=False)  # shared by all that are made of this one
    told: list[str] = field(default_factory=list, repr=False, compare=False)  # long arguments that are logged

    @classmethod
    def find(cls, log: Path | None = None) -> "Az":
        """The az that AZBENCH_AZ names, else that of the search path, else what `make azure` installed.

        Folders of the search path that are relative are passed over: they would make an ``az`` that lies in
        the current folder run.

        Raises
        ------
        MissingToolError
            When there is none.
        """
        named = os.environ.get(AZ_VARIABLE, "")
        found = _which(named) if named else _which("az") or shutil.which("az", path=str(TOOLS))
        if found is None:
            what = (
                f"{AZ_VARIABLE} names '{named}', which is no program"
                if named
                else "the Azure CLI, az, is missing"
            )
            raise MissingToolError(f"{what}; get it with `{HOW_TO_GET}`, then log in with `az login`")
        return cls(path=found, log=log)

    def within(self, subscription: str) -> "Az":
        """The same, every call about this subscription."""
        return replace(self, subscription=subscription)

    def patiently(self, patience: Patience) -> "Az":
        """The same with another patience."""
        return replace(self, patience=patience)

    def json(self, *arguments: str, secret: str = "") -> Any:
        """What az answers, as Python values; None where it answers nothing.

        A call whose fault passes by itself is made again, as the patience says. A `secret`, ``name=value``,
        is a protected parameter of a script; it is not among the arguments.

        Raises
        ------
        AzError
            When the call fails; one sentence with Azure's own message and what can be done.
        InputError
            For an argument that az would take for something else than the value that it is.
        """
        about = ("--subscription", self.subscription) if self.subscription else ()
        _check((*arguments, *about))
        return self.patience.call(lambda: self._json((*arguments, *about), secret))

    def _json(self, arguments: Sequence[str], secret: str) -> Any:
        arguments = (*arguments, *(_SECRET if secret else ()))
        argv = [self.path, *arguments, "--output", "json", "--only-show-errors"]
        begun, at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
        limit_s, is_over = left_s(arguments, self.end)
        done = self._call(argv, secret, limit_s)
        error = _error(arguments, done) if done is not None and done.returncode else None
        if done is None:
            error = AzError(_given_up(arguments, limit_s, self.end.why if is_over else ""), NO_ANSWER)
        self._note(at, arguments, time.monotonic() - begun, done.returncode if done else NO_STATUS, error)
        if error or done is None:
            raise error or AzError(f"az {_verb(arguments)}: gave no answer")
        try:
            return decoded(done.stdout) if done.stdout.strip() else None
        except ValueError:
            raise AzError(f"az {_verb(arguments)}: its answer is not JSON: {done.stdout[:80]!r}") from None

    def _call(
        self, argv: Sequence[str], secret: str, limit_s: float
    ) -> subprocess.CompletedProcess[str] | None:
        """Call az; None: it did not end in time, and was ended."""
        with subprocess.Popen(  # noqa: S603  an argument list, no shell
            argv,
            stdin=subprocess.PIPE if secret else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**self.environment, **_SILENT},
            process_group=0,  # an interrupt from the terminal reaches us alone
        ) as process:
            try:
                out, err = process.communicate(secret or None, timeout=min(limit_s, threading.TIMEOUT_MAX))
            except subprocess.TimeoutExpired:
                _end_group(process)
                return None
            except BaseException:
                _end(process)
                raise
            return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def _note(
        self, at: str, arguments: Sequence[str], seconds: float, status: int, error: AzError | None
    ) -> None:
        if self.log is None:
            return
        told = [self._once(text) for text in masked_words(arguments)]
        entry = {"at": at, "command": ["az", *told], "seconds": round(seconds, 3)}
        entry |= {"status": status} | ({"error": masked(str(error))} if error else {})
        try:
            append(self.log, json.dumps(entry, ensure_ascii=False) + "\n")
        except OSError as fault:
            if self.must_log:
                raise OutputError(f"{self.log}: cannot be written: {fault.strerror or fault}") from fault

    def _once(self, text: str) -> str:
        """A long argument as the log tells it: the beginning is not repeated where it was told before."""
        if len(text) < LONG:
            return text
        shared = max((_common(text, told) for told in self.told), key=len, default="")
        if len(shared) < LONG:
            self.told.append(text)
            return text
        digest = hashlib.sha256(shared.encode()).hexdigest()
        return f"[{len(shared)} characters as above, sha256 {digest}]{text[len(shared) :]}"


def _common(one: str, other: str) -> str:
    """The lines that two texts begin with."""
    pairs = zip(one.splitlines(keepends=True), other.splitlines(keepends=True), strict=False)
    return "".join(mine for mine, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)).removesuffix("\n")


def _end(process: subprocess.Popen[str]) -> None:
    """Let a call under way end, for what it asked for may be half done, but not for long."""
    try:
        process.communicate(timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired:
        _end_group(process)


def _end_group(process: subprocess.Popen[str]) -> None:
    """End a call that is not waited for any more, with what it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _given_up(arguments: Sequence[str], limit_s: float, why: str) -> str:
    """Say that a call was ended; its operation may go on in Azure."""
    after = why or f"no answer came within {format_span(limit_s)}, which is longer than Azure takes for it"
    return f"az {_verb(arguments)}: was ended: {after}; the operation may still go on in Azure"


def _error(arguments: Sequence[str], done: subprocess.CompletedProcess[str]) -> AzError:
    """The fault that az told of, with every id masked in its sentence."""
    error = understood(_verb(arguments), done.stderr.strip() or done.stdout.strip())
    return AzError(masked(str(error)), error.code, error.message)


def _verb(arguments: Sequence[str]) -> str:
    """The words of a command, without its options."""
    return " ".join(takewhile(lambda word: not word.startswith("-"), arguments))


def _check(arguments: Sequence[str]) -> None:
    """Refuse a value that az would read a file for (``@FILE``, ``name=@FILE``) or take for an option.

    Raises
    ------
    InputError
        With the value and the option that it was meant for.
    """
    option = "az"
    for word, before in zip(arguments, ("", *arguments), strict=False):
        value = word.partition("=")[2] or word
        if word.startswith("@") or value.startswith("@"):
            raise InputError(
                f"{option}: the value {word!r} would make az read a file; it may not begin with @"
            )
        if not word.startswith("-"):
            continue
        if before.startswith("-") and before not in _FLAGS:
            raise InputError(
                f"{before}: az would take the value {word!r} for an option; it may not begin with -"
            )
        if not _OPTION.fullmatch(word):
            raise InputError(
                f"{option}: az would take the value {word!r} for an option; it may not begin with -"
            )
        option = word


def _which(name: str) -> str | None:
    """Where a program is; a bare name is looked for in the absolute folders of the search path only."""
    if Path(name).name != name:
        found = shutil.which(name)
        return found and str(Path(found).absolute())
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(
        name, path=os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    )
