"""Requests, answers, and the table that leads from the one to the other."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .arm import Arm

SUBSCRIPTION = "/subscriptions/{subscription}"
GROUP = SUBSCRIPTION + "/resourceGroups/{group}"
COMPUTE = GROUP + "/providers/Microsoft.Compute"

Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """What arrived; `command` is the az command, such as "disk create"."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    command: str
    caller: str = ""  # the token of a VM that asks


@dataclass
class Operation:
    """Something that goes on after its request was accepted."""

    result: Any = None
    error: Json | None = None
    done: Event = field(default_factory=Event)
    polls: int = 0
    began: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    ended: str = ""
    retry_s: int = 1  # after which az is told to ask again; it takes 0 for 30 seconds

    @property
    def retry_after(self) -> dict[str, str]:
        """The header that says so."""
        return {"Retry-After": str(self.retry_s)}


@dataclass
class Answer:
    """What goes back. With an `operation` it is the answer if that takes longer; else its result is.

    `until`: what a resource is said to be until the operation has ended.
    """

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    operation: Operation | None = None
    until: str = "Updating"


class ArmError(Exception):
    """An error as the resource manager words it."""

    def __init__(self, code: str, message: str, status: int = 400, details: Sequence[Json] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.error: Json = {"code": code, "message": message}
        if details:
            self.error["details"] = list(details)


def not_emulated(what: object) -> ArmError:
    """Refuse loudly what the fake would otherwise ignore."""
    return ArmError("NotEmulated", f"the fake Azure does not emulate {what}", 501)


Handler = Callable[..., Answer]
_ROUTES: list[tuple[str, re.Pattern[str], Handler]] = []


def route(methods: str, *patterns: str) -> Callable[[Handler], Handler]:
    """Register a handler for paths such as "/subscriptions/{subscription}"; {x...} takes slashes too."""

    def register(handler: Handler) -> Handler:
        for pattern in patterns:
            expression = re.sub(r"\{(\w+)\.\.\.\}", r"(?P<\1>.+)", pattern)
            expression = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", expression)
            compiled = re.compile(expression, re.IGNORECASE)
            _ROUTES.extend((method, compiled, handler) for method in methods.split())
        return handler

    return register


def find_route(arm: "Arm", request: Request) -> Callable[[], Answer]:
    """Bind the first handler that fits to what it needs."""
    for method, pattern, handler in _ROUTES:
        found = pattern.fullmatch(request.path)
        if method == request.method and found:
            names = found.groupdict()
            names.pop("subscription", None)
            return lambda: handler(arm, request, **names)
    raise not_emulated(f"{request.method} {request.path}")


def parts_of(resource_id: str) -> Iterator[tuple[str, str]]:
    """Give the (type, name) pairs behind the provider of a resource id."""
    _, _, tail = resource_id.partition("/providers/")
    parts = tail.split("/")[1:]
    return zip(parts[::2], parts[1::2], strict=True)
