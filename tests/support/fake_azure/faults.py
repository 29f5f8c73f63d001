"""What goes wrong on purpose."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from .routing import ArmError, Json, Request

# https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors
_NO_CAPACITY = "Allocation failed. We do not have sufficient capacity for the requested VM size in this "
MESSAGES = {
    "SkuNotAvailable": "The requested VM size is currently not available in location 'northeurope'. Please "
    "try another size or deploy to a different location or different zone.",
    "AllocationFailed": _NO_CAPACITY + "region.",
    "ZonalAllocationFailed": _NO_CAPACITY + "zone.",
    "OverconstrainedAllocationRequest": "Allocation failed. VM(s) with the following constraints cannot be "
    "allocated, because the condition is too restrictive. Please remove some constraints and try again.",
    "QuotaExceeded": "Operation could not be completed as it results in exceeding approved Total Regional "
    "Cores quota. Current Limit: 10, Current Usage: 8, Additional Required: 8.",
    "OperationNotAllowed": "Operation could not be completed as it results in exceeding approved quota.",
    "TooManyRequests": "The request is being throttled as the limit has been reached for the operation type.",
    "InternalServerError": "Encountered internal server error.",
    "Conflict": "The request failed due to conflict with a concurrent request.",
}


def invalid_template(code: str, message: str) -> ArmError:
    """Make the error of a deployment that is refused by its validation: the reason is in the details."""
    text = "The template deployment is not valid according to the validation procedure. See inner errors."
    return ArmError("InvalidTemplateDeployment", text, 400, [{"code": code, "message": message}])


PAGE = "<html><head><title>Not Found</title></head><body><h1>The proxy could not find this</h1></body></html>"


@dataclass
class Fault:
    """One planned mishap; `seen` counts what fitted, `hits` how often it struck."""

    kind: str
    method: str
    path: re.Pattern[str]
    command: str | None
    nth: int
    times: int
    error: ArmError | None = None
    limit: int = 0
    says: str = ""
    seen: int = 0
    hits: int = 0

    def strikes(self, method: str, path: str, command: str | None, body: str) -> bool:
        fits = self.method in ("*", method) and self.path.search(path) and self.command in (None, command)
        fits = fits and self.says in body
        self.seen += bool(fits)
        struck = bool(fits) and self.nth <= self.seen < self.nth + self.times
        self.hits += struck
        return struck


@dataclass
class Faults:
    """All that is planned; every `path` is a regular expression, `nth` counts from 1, the method * is any."""

    planned: list[Fault] = field(default_factory=list)

    def _plan(
        self,
        kind: str,
        method: str,
        path: str,
        *,
        command: str | None = None,
        nth: int = 1,
        times: int = 1,
        error: ArmError | None = None,
        limit: int = 0,
        says: str = "",
    ) -> Fault:
        pattern = re.compile(path, re.IGNORECASE)
        self.planned.append(Fault(kind, method, pattern, command, nth, times, error, limit, says))
        return self.planned[-1]

    def refuse(
        self,
        method: str,
        path: str,
        code: str,
        message: str = "",
        status: int = 409,
        details: Sequence[Json] = (),
        **when: int | str,
    ) -> Fault:
        """Answer with an error at once. `status` 429 asks to retry after a second."""
        error = ArmError(code, message or MESSAGES.get(code, code), status, details)
        return self._plan("refuse", method, path, error=error, **when)

    def preflight(self, code: str, message: str = "", **when: int | str) -> Fault:
        """Refuse a deployment as its validation does."""
        error = invalid_template(code, message or MESSAGES.get(code, code))
        return self._plan("refuse", "PUT", "/deployments/", error=error, **when)

    def fail(
        self,
        method: str,
        path: str,
        code: str,
        message: str = "",
        details: Sequence[Json] = (),
        **when: int | str,
    ) -> Fault:
        """Accept, then fail. With a VM's path this strikes inside the deployment that `vm create` makes."""
        error = ArmError(code, message or MESSAGES.get(code, code), 409, details)
        return self._plan("fail", method, path, error=error, **when)

    def page(self, method: str, path: str, status: int = 404, **when: int | str) -> Fault:
        """Answer with a page of HTML, as a proxy or a captive portal does."""
        return self._plan("page", method, path, limit=status, **when)

    def away(self, method: str, path: str, **when: int | str) -> Fault:
        """Close the connection without an answer; az tries four times in a call."""
        return self._plan("away", method, path, **when)

    def lose(self, method: str, path: str, **when: int | str) -> Fault:
        """Do what is asked, and close the connection without an answer."""
        return self._plan("lose", method, path, **when)

    def broken(self, method: str, path: str, **when: int | str) -> Fault:
        """Do what is asked, and cut the JSON of the answer in half."""
        return self._plan("broken", method, path, **when)

    def sign_in(self, number: int, **when: int | str) -> Fault:
        """Have the sign-in service refuse a token with this code; 0: with a failure of its own."""
        return self._plan("sign in", "POST", "/oauth2/", limit=number, **when)

    def hold(self, method: str, path: str, says: str, status: int = 0, **when: int | str) -> Fault:
        """Take no notice of requests whose body says this until `Arm.let_go` is set.

        Then they are carried out; with a `status`, the gateway gave them up meanwhile and answers with it.
        """
        return self._plan("hold", method, path, limit=status, says=says, **when)

    def wait(self, method: str, path: str, seconds: int, **when: int | str) -> Fault:
        """Have az wait so long before it asks whether what was accepted is done."""
        return self._plan("wait", method, path, limit=seconds, **when)

    def kill_script(self, path: str = "/runCommand", **when: int | str) -> Fault:
        """Kill a run-command's script when it has started; az is told that all is well."""
        return self._plan("kill", "RUN", path, **when)

    def cut_output(self, limit: int, path: str = "/runCommand", **when: int | str) -> Fault:
        """Give only the last `limit` bytes of a script's output."""
        return self._plan("cut", "OUTPUT", path, limit=limit, **when)

    def strike(
        self, kind: str, method: str, path: str, command: str | None = None, body: str = ""
    ) -> Fault | None:
        """Give the fault that is due."""
        fits = (f for f in self.planned if f.kind == kind and f.strikes(method, path, command, body))
        return next(fits, None)

    def check(self, request: Request) -> None:
        """Raise what is to be refused."""
        fault = self.strike("refuse", request.method, request.path, request.command)
        if fault and fault.error:
            raise fault.error
