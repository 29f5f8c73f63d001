"""The program az: which one, one call at a time, every call logged, what it says on failure understood.

Nothing here knows a command of az; those stand where they are needed, as argument lists.
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from azbenchlib.errors import AzbenchError, MissingToolError

VARIABLE = "AZBENCH_AZ"  # path of the az to use
TOOLS = Path(__file__).resolve().parents[1] / ".tools" / "bin"  # where `make azure` puts it
PATIENCE_S = 5  # how long a call under way may go on after an interrupt
NOT_FOUND = 3  # exit code of az for a resource that is not there. Source: azure-cli, exit codes in its help

# az names a fault as the service's raw JSON with nested details, as "Code: X" and "Message: Y" (also within a
# traceback of its own), or as "(Code) Message". The innermost comes last.
_CODES = (
    re.compile(r"\"code\"\s*:\s*\"(\w+)\""),
    re.compile(r"^\s*Code:\s*(\w+)", re.MULTILINE),
    re.compile(r"^(?:ERROR: )?\((\w+)\)", re.MULTILINE),
)
_MESSAGES = (
    re.compile(r"\"message\"\s*:\s*(\"(?:[^\"\\]|\\.)*\")"),
    re.compile(r"^\s*Message:\s*(.+)$", re.MULTILINE),
    re.compile(r"^(?:ERROR: )?\(\w+\)\s*(.+)$", re.MULTILINE),
    re.compile(r"^ERROR: (.+)$", re.MULTILINE),
)
_WRAPPERS = ("DeploymentFailed", "InvalidTemplateDeployment", "ResourceDeploymentFailure")
_GUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_OWNER = re.compile(r"^owner=.*")
_LOGIN = re.compile(r"az login|AADSTS\d+|no subscription found|Please run 'az account set'", re.IGNORECASE)
_SILENT = {
    "AZURE_CORE_COLLECT_TELEMETRY": "no",
    "AZURE_CORE_NO_COLOR": "yes",
    "AZURE_CORE_SURVEY_MESSAGE": "no",
}

# What a user can do about it. Source: Microsoft's troubleshooting pages for these codes, 2026.
ADVICE = {
    "SkuNotAvailable": "take another size, zone or region, or try again later",
    "AllocationFailed": "Azure has no room for this size there now; try later, or another zone or region",
    "ZonalAllocationFailed": "Azure has no room for this size in that zone now; try later, or another zone",
    "OverconstrainedAllocationRequest": "no host there has all that was asked for; take another size or zone",
    "OverconstrainedZonalAllocationRequest": "no host in that zone has all that was asked for; take another",
    "QuotaExceeded": "ask for more quota (Azure portal, Quotas), or take a smaller size",
    "OperationNotAllowed": "the subscription's quota or policy forbids it; ask for more, or another size",
    "AuthorizationFailed": "the account that is logged in lacks the rights; ask for the role Contributor",
    "TooManyRequests": "Azure asks to slow down; try again in some minutes",
}


class AzError(AzbenchError):
    """A call of az that failed.

    `code` is Azure's name of the fault where it gave one; for a deployment, that of the innermost cause.
    """

    def __init__(self, sentence: str, code: str = "", status: int = 1) -> None:
        super().__init__(sentence)
        self.code, self.status = code, status


@dataclass(frozen=True)
class Az:
    """The program, and where its calls are logged.

    Parameters
    ----------
    path : str
        The program.
    log : Path, optional
        A file that gets a JSON object a line for each call: ``at``, ``command``, ``seconds``, ``status``,
        and of a failed one ``error``. Ids of subscriptions and tenants are masked; what az answers is
        not in it.
    environment : mapping, optional
        Environment variables for az, instead of this process's own.
    """

    path: str
    log: Path | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    @classmethod
    def find(cls, log: Path | None = None) -> "Az":
        """The az that AZBENCH_AZ names, else that of the search path, else what `make azure` installed.

        Raises
        ------
        MissingToolError
            When there is none.
        """
        named = os.environ.get(VARIABLE, "")
        found = shutil.which(named) if named else shutil.which("az") or shutil.which("az", path=str(TOOLS))
        if found is None:
            what = (
                f"{VARIABLE} names '{named}', which is no program"
                if named
                else "the Azure CLI, az, is missing"
            )
            raise MissingToolError(f"{what}; get it with `make azure`, then log in with `az login`")
        return cls(found, log)

    def json(self, *arguments: str) -> Any:
        """What az answers, as Python values; None where it answers nothing.

        Raises
        ------
        AzError
            When the call fails; one sentence with Azure's own message and what can be done.
        """
        argv = [self.path, *arguments, "--output", "json", "--only-show-errors"]
        begun, at = time.monotonic(), datetime.now(UTC).isoformat(timespec="seconds")
        done = self._call(argv)
        error = _error(arguments, done) if done.returncode else None
        self._note(at, arguments, time.monotonic() - begun, done.returncode, error)
        if error:
            raise error
        try:
            return json.loads(done.stdout) if done.stdout.strip() else None
        except ValueError:
            raise AzError(
                f"az {' '.join(arguments[:3])}: its answer is not JSON: {done.stdout[:80]!r}"
            ) from None

    def _call(self, argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
        with subprocess.Popen(  # noqa: S603  an argument list, no shell
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**self.environment, **_SILENT},
            process_group=0,  # an interrupt from the terminal reaches us alone
        ) as process:
            try:
                out, err = process.communicate()
            except BaseException:
                _end(process)
                raise
            return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def _note(
        self, at: str, arguments: Sequence[str], seconds: float, status: int, error: AzError | None
    ) -> None:
        if self.log is None:
            return
        entry = {"at": at, "command": ["az", *map(masked, arguments)], "seconds": round(seconds, 3)}
        entry |= {"status": status} | ({"error": masked(str(error))} if error else {})
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _end(process: subprocess.Popen[str]) -> None:
    """Let a call under way end, for what it asked for may be half done, but not for long."""
    try:
        process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()


def masked(text: str) -> str:
    """The text with every id of a subscription, tenant or principal hidden, and who owns a resource."""
    return _OWNER.sub("owner=…", _GUID.sub("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", text))


def _error(arguments: Sequence[str], done: subprocess.CompletedProcess[str]) -> AzError:
    """The fault in one sentence: the command, Azure's code and message, and what can be done."""
    said = done.stderr.strip() or done.stdout.strip()
    verb = " ".join(part for part in arguments[:3] if not part.startswith("-"))
    if _LOGIN.search(said):
        return AzError(
            "az is not logged in; run `az login`, then start again", "NotLoggedIn", done.returncode
        )
    codes = next((found for pattern in _CODES if (found := pattern.findall(said))), [])
    code = next((code for code in reversed(codes) if code not in _WRAPPERS), "")
    sentence = masked(f"az {verb}: {f'{code}: ' if code else ''}{_message(said)}").rstrip(". ")
    advice = ADVICE.get(code)
    return AzError(f"{sentence}; {advice}" if advice else sentence, code, done.returncode)


def _message(said: str) -> str:
    """The innermost message, else the first line that says anything."""
    for pattern in _MESSAGES:
        if found := pattern.findall(said):
            return str(json.loads(found[-1])) if found[-1].startswith('"') else found[-1].strip()
    return next((line.strip() for line in said.splitlines() if line.strip()), "it failed without a word")
