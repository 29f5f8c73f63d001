"""What az says when a call fails: Azure's code and message, whether it passes by itself, what can be done.

A fault is raw JSON of the service with nested details, whose messages may be JSON again; "Code: X" and
"Message: Y", also within a traceback of az; or "(Code) Message". JSON may have raw line breaks in its texts,
escapes that JSON does not know, or no end. Source: outputs of azure-cli in issue threads of Azure/azure-cli
(2401, 26504) and MicrosoftDocs/azure-docs (41402), read 2026-11.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from azbenchlib.azure import quota
from azbenchlib.core.errors import AzbenchError

_LONGEST = 100_000  # characters that are looked at
_MOST_TRIES = 200  # places at which JSON may begin
_DEEPEST = 5  # JSON in messages of JSON
# The innermost comes last. Of storage, the code is ErrorCode; it is None where something else answered in the
# service's place.
_CODES = (
    re.compile(r"\"code\"\s*:\s*\"(\w+)\""),
    re.compile(r"^\s*(?:Error)?Code:\s*(?!None$)(\w+)", re.MULTILINE),
    re.compile(r"^(?:ERROR: )?\((\w+)\)", re.MULTILINE),
)
_MESSAGES = (
    re.compile(r"\"message\"\s*:\s*\"((?:[^\"\\]|\\.)*)\""),
    re.compile(r"^\s*Message:\s*(.+)$", re.MULTILINE),
    re.compile(r"^(?:ERROR: )?\(\w+\)\s*(.+)$", re.MULTILINE),
    re.compile(r"^ERROR: (.+)$", re.MULTILINE),
)
_NO_ESCAPE = re.compile(r"\\(?![\"\\/bfnrt]|u[0-9a-fA-F]{4})(\\\\)*")
_DECODER = json.JSONDecoder(strict=False)  # raw line breaks may stand in texts


@dataclass(frozen=True)
class Fault:
    """A code of Azure, and what came with it; either may be empty."""

    code: str
    message: str


def faults(said: str, deep: int = 0) -> list[Fault]:
    """Return the faults in a text, the outermost first; empty where no code and no message can be told.

    Parameters
    ----------
    said : str
        What az wrote.
    deep : int
        In how many messages the text stands.
    """
    text = said[:_LONGEST]
    told = [fault for document in _documents(text) for fault in _within(document, deep)]
    return told if any(fault.code for fault in told) else _in_words(text)


def _documents(text: str) -> Iterator[Any]:
    """The JSON objects in a text."""
    mended, at = _NO_ESCAPE.sub(lambda match: "\\" + match[0], text), 0
    for _ in range(_MOST_TRIES):
        at = mended.find("{", at)
        if at < 0:
            return
        try:
            document, at = _DECODER.raw_decode(mended, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield document


def _within(value: Any, deep: int) -> Iterator[Fault]:
    """The faults in a JSON value: its own, then those of its parts and of its message."""
    if isinstance(value, list):
        for part in value:
            yield from _within(part, deep)
    if not isinstance(value, dict):
        return
    named = {str(name).lower(): part for name, part in value.items()}
    code, message = (text if isinstance(text := named.get(name), str) else "" for name in ("code", "message"))
    if code or message:
        yield Fault(code, message)
    for part in named.values():
        if isinstance(part, dict | list):
            yield from _within(part, deep)
        elif isinstance(part, str) and "{" in part and deep < _DEEPEST:
            yield from (fault for fault in faults(part, deep + 1) if fault.code)


def _in_words(text: str) -> list[Fault]:
    """The faults of a text without whole JSON: of the first shape that has a code, and a message."""
    codes = next((found for pattern in _CODES if (found := pattern.findall(text))), [])
    messages = next((found for pattern in _MESSAGES if (found := pattern.findall(text))), [])
    messages = [message.replace('\\"', '"').strip() for message in messages]
    if len(codes) == len(messages):
        return [Fault(*pair) for pair in zip(codes, messages, strict=True)]
    last = messages[-1] if messages else ""
    return [Fault(code, last) for code in codes] or ([Fault("", last)] if last else [])


NOT_LOGGED_IN = "NotLoggedIn"
# Azure's own code for a resource group that is not there. Nothing else tells that: az ends with the same
# status for a proxy's page, a subscription that is unknown and a resource that is missing.
GROUP_NOT_FOUND = "ResourceGroupNotFound"

# Codes that say no more than that something within them failed; then those that say little beside another.
_WRAPPERS = (
    *("DeploymentFailed", "InvalidTemplateDeployment", "ResourceDeploymentFailure"),
    *("ResourceOperationFailure", "MultipleErrorsOccurred"),
)
_SAYS_LITTLE = ("Conflict", "BadRequest")


class Passing(StrEnum):
    """Kinds of faults that pass by themselves."""

    busy = "busy"  # Azure is at work on something else there, or overloaded
    network = "network"  # it is away, or something in it answers in Azure's place
    sign_in = "sign-in"  # its service could not be had; nothing was asked of Azure itself
    token = "token"  # noqa: S105  it has just expired
    not_there_yet = "not there yet"  # made a moment ago, and not known everywhere


_KINDS = {
    Passing.busy: (
        *("AnotherOperationInProgress", "OperationPreempted", "RetryableError", "TooManyRequests"),
        *("InternalServerError", "InternalExecutionError", "ServerTimeout", "ServiceUnavailable"),
        *("BadGateway", "GatewayTimeout", "ServerBusy", "SubscriptionRequestsThrottled", "OperationTimedOut"),
        *(
            "ResourceGroupNotReady",
            "CanceledAndSupersededDueToAnotherOperation",
            "AttachDiskWhileBeingDetached",
        ),
        *("NetworkingInternalOperationError", "InternalOperationError", "StorageAccountIsNotProvisioned"),
        *("NicReservedForAnotherVm", "VMAgentStatusCommunicationError"),
        "InternalError",  # of storage. Source: Microsoft Learn, "Common REST API error codes", 2026
    ),
    Passing.token: (
        "ExpiredAuthenticationToken",
        "InvalidAuthenticationToken",
        "AuthenticationFailedExpired",
    ),
    Passing.not_there_yet: (
        "ResourceNotFound",
        "ResourceGroupNotFound",
        "NotFound",
        "ParentResourceNotFound",
        "PrincipalNotFound",  # an identity that was just made
    ),
}
_NO_ROOM = (
    *("SkuNotAvailable", "AllocationFailed", "ZonalAllocationFailed", "QuotaExceeded"),
    *("OverconstrainedAllocationRequest", "OverconstrainedZonalAllocationRequest"),
)
# These codes stand for several things; the message tells.
_IN_PROGRESS = re.compile(
    r"in progress|concurrent|being (updated|deleted|created|provisioned|attached|detached)|another operation"
    r"|(re)?try (again|later|the (request|operation))|too many requests",
    re.IGNORECASE,
)
_RATIONED = re.compile(r"\d+ times? .*24 hours", re.IGNORECASE)  # to try again helps only the day after
_SEVERAL_MEANINGS = ("Conflict", "OperationNotAllowed", "ScopeBeingUpdated", "")
# What az says where no answer of Azure came. Source: azure-cli 2.91 with requests and urllib3, tried.
_NO_ANSWER = re.compile(
    r"HTTPS?Connection(Pool)?\b|Max retries exceeded|Connection aborted|Connection ?(broken|reset|refused)"
    r"|RemoteDisconnected|timed out|Name ?Resolution|name resolution|Network is unreachable|No route to host"
    r"|invalid status|[Uu]nable to deserialize|Deserialization|not (valid )?JSON|JSON is invalid"
    r"|Expecting value|IncompleteRead|EOF occurred|[Cc]ertificate verify failed|ProxyError|network connection"
    r"|its answer |Expect <class|<html|<!DOCTYPE|Content-Range response header is missing",
)

# Codes of the sign-in service, AADSTS. Source: Microsoft Learn, "Microsoft Entra authentication and
# authorization error codes", MicrosoftDocs/entra-docs, read 2026-11-22.
_SIGN_IN = re.compile(r"\bAADSTS(\d+)")
# Described as transient, as not available now, or as taking too long.
_PASSES = {
    *("40010", "50033", "50087", "50088", "50166", "50196", "70012", "80001", "80002", "80005", "80014"),
    *("90006", "90012", "90024", "90033", "90055", "90090", "90091", "501621"),
}
# What is said where that service fails without a code. Source: azure-cli 2.91, msal/throttled_http_client.py.
_SIGN_IN_AWAY = re.compile(r"^HTTP Error: 5\d\d\b")
# Described as ended by signing in anew: a session, a grant or a second factor that is missing or has expired.
_SIGN_IN_AGAIN = {
    *("16000", "16001", "16002", "160021", "50055", "50056", "50058", "50064", "50072", "50074", "50076"),
    *("50078", "50079", "50085", "50089", "50097", "50125", "50126", "50132", "50133", "50135", "50139"),
    *("50140", "50144", "50158", "50173", "50197", "51006", "54005", "65001", "65004", "70000", "70008"),
    *("70016", "70018", "70019", "70043", "90086", "700020", "700082", "700084", "7000215", "7000222"),
}
# What az itself says where it has no account. Source: azure-cli 2.91, azure/cli/core: _profile.py, util.py,
# auth/util.py, auth/identity.py, auth/msal_credentials.py.
_NO_ACCOUNT = re.compile(
    r"^ERROR: .*(Please run 'az login' to setup account|[Nn]o subscription found\. Run 'az account set'"
    r"|Please run 'az account set'|Can't find token from MSAL cache|does not exist in MSAL token cache"
    r"|There are no active accounts|Run `az login` for this service principal)",
    re.MULTILINE,
)
# A token that was revoked, or that another place or policy makes void. Source: Azure/azure-cli issues 26504
# and 24684, Azure/azure-powershell issue 28200.
_REVOKED = re.compile(r"[Cc]ontinuous access evaluation resulted in|TokenIssuedBeforeRevocationTimestamp")
_NO_SUBSCRIPTION = re.compile(r"^ERROR: Subscription '.*' not found", re.MULTILINE)


@dataclass(frozen=True)
class AzAdvice:
    """What a user can do about a fault of this code whose message fits the pattern."""

    code: str
    what: str
    message: str = ""

    def fits(self, code: str, message: str) -> bool:
        """Whether a fault is of this kind."""
        return code == self.code and re.search(self.message, message, re.IGNORECASE) is not None


_STOPPED = (
    "the VM was stopped, by its automatic shutdown or by somebody; start the run again, which makes a new one"
)
_BUSY = "Azure is still at work on it; start again in some minutes"
# The first that fits counts. Source: Microsoft's troubleshooting pages for these codes, 2026; what the code
# OperationNotAllowed means stands in its message alone.
ADVICE = (
    AzAdvice("SkuNotAvailable", "take another size, zone or region, or try again later"),
    AzAdvice(
        "AllocationFailed", "Azure has no room for this size there now; try later, or another zone or region"
    ),
    AzAdvice(
        "ZonalAllocationFailed",
        "Azure has no room for this size in that zone now; try later, or another zone",
    ),
    AzAdvice(
        "OverconstrainedAllocationRequest",
        "no host there has all that was requested; take another size or zone",
    ),
    AzAdvice(
        "OverconstrainedZonalAllocationRequest",
        "no host in that zone has all that was requested; take another",
    ),
    AzAdvice("QuotaExceeded", quota.MORE_QUOTA),
    AzAdvice("OperationNotAllowed", _STOPPED, r"VM is not running|is (stopped|deallocated)"),
    AzAdvice(
        "OperationNotAllowed",
        "Azure keeps 25 run-commands on a VM at most; give each VM of the measurement file fewer workloads",
        r"number of managed run ?commands",
    ),
    AzAdvice("OperationNotAllowed", "take a size with room for more data disks", r"number of data disks"),
    AzAdvice("OperationNotAllowed", quota.MORE_QUOTA, r"quota|cores? limit|approved .*(limit|usage)"),
    AzAdvice("OperationNotAllowed", _BUSY, r"in progress|being (updated|deleted|created)"),
    *(
        AzAdvice(code, "this may be changed so many times a day; start again tomorrow", _RATIONED.pattern)
        for code in ("OperationNotAllowed", "Conflict", "BadRequest")
    ),
    AzAdvice("Conflict", _BUSY, r"in progress|concurrent"),
    AzAdvice(
        "AuthorizationFailed", "the account that is logged in lacks the rights; ask for the role Contributor"
    ),
    AzAdvice(  # as the built-in policy "Subnets should be private"
        "RequestDisallowedByPolicy",
        "a policy of the subscription forbids such a network; the measurement file can name another way to "
        "the outside with outbound: nat or none, or a subnet of yours with subnet:",
        r"\bsubnets?\b|\boutbound\b|virtual ?network",
    ),
    AzAdvice(
        "RequestDisallowedByPolicy", "a policy of the subscription forbids it; ask whoever administers it"
    ),
    AzAdvice("ScopeLocked", "remove the lock (Azure portal, Locks), or ask whoever put it there"),
    AzAdvice("TooManyRequests", "Azure asks to slow down; try again in some minutes"),
    AzAdvice("SubscriptionNotFound", "log in with an account that has this subscription: `az login`"),
)


class AzError(AzbenchError):
    """A call of az that failed.

    `code` is Azure's name of the fault where it gave one (for a deployment, that of the innermost cause), or
    that of the sign-in service, such as ``AADSTS90033``; `message` is what came with it.
    """

    def __init__(self, sentence: str, code: str = "", message: str = "") -> None:
        super().__init__(sentence)
        self.code, self.message = code, message

    @property
    def no_room(self) -> bool:
        """Whether Azure cannot give a VM of this size in this place, now or to this subscription."""
        is_quota = self.code == "OperationNotAllowed" and "quota" in self.message.lower()
        return self.code in _NO_ROOM or is_quota

    @property
    def passes(self) -> str:
        """The kind of fault, where it is one that passes by itself, such as "busy"; else empty."""
        if _sign_in_is_away(self.code, self.message):
            return Passing.sign_in  # nothing was asked of Azure itself
        if self.code in _SEVERAL_MEANINGS and _IN_PROGRESS.search(self.message):
            return "" if _RATIONED.search(self.message) else Passing.busy
        if not self.code and _NO_ANSWER.search(self.message or str(self)):
            return Passing.network
        return next((kind for kind, codes in _KINDS.items() if self.code in codes), "")


def understood(verb: str, said: str) -> AzError:
    """The fault in one sentence: the command, Azure's code and message, and what can be done.

    Parameters
    ----------
    verb : str
        The words of the command, such as ``vm create``.
    said : str
        What az wrote on failure.
    """
    code, message = _code_and_message(said)
    if code == NOT_LOGGED_IN:
        return AzError("az is not logged in; run `az login`, then start again", code, message)
    sentence = f"az {verb}: {f'{code}: ' if code and not message.startswith(code) else ''}{message}".rstrip(
        ". "
    )
    advice = next((entry.what for entry in ADVICE if entry.fits(code, message)), _of_sign_in(code, message))
    return AzError(f"{sentence}; {advice}" if advice else sentence, code, message)


def _code_and_message(said: str) -> tuple[str, str]:
    """Azure's code and message: of several faults those that say what is the matter, the innermost first."""
    if _REVOKED.search(said):
        return NOT_LOGGED_IN, _first_line(said)
    told = faults(said)
    coded = [fault for fault in told if fault.code and fault.code not in _WRAPPERS]
    for preferred in ([fault for fault in coded if fault.code in _NO_ROOM], _clear(coded), coded):
        if preferred:
            return preferred[-1].code, preferred[-1].message or _first_line(said)
    return _code_of_az(said), told[-1].message if told else _first_line(said)


def _clear(coded: Sequence[Fault]) -> list[Fault]:
    return [fault for fault in coded if fault.code not in _SAYS_LITTLE]


def _code_of_az(said: str) -> str:
    """The code of the sign-in service, or what az says without one."""
    if number := _SIGN_IN.search(said):
        return NOT_LOGGED_IN if number[1] in _SIGN_IN_AGAIN else f"AADSTS{number[1]}"
    if _NO_SUBSCRIPTION.search(said):
        return "SubscriptionNotFound"
    return NOT_LOGGED_IN if _NO_ACCOUNT.search(said) else ""


def _sign_in_is_away(code: str, message: str) -> bool:
    """Whether the sign-in service could not be had, which passes by itself."""
    return code.removeprefix("AADSTS") in _PASSES or (not code and bool(_SIGN_IN_AWAY.search(message)))


def _of_sign_in(code: str, message: str) -> str:
    """What can be done about a fault of the sign-in service."""
    if _sign_in_is_away(code, message):
        return "the sign-in service could not be had just then; try again in some minutes"
    number = code.removeprefix("AADSTS")
    if number == code:
        return ""
    return f"the sign-in service refused; what its code means: https://login.microsoftonline.com/error?code={number}"


def _first_line(said: str) -> str:
    """The first line that says anything."""
    lines = (line.strip().removeprefix("ERROR:").strip() for line in said.splitlines())
    return next((line for line in lines if line), "it failed without a word")
