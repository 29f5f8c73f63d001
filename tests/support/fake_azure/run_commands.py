"""Run-commands: scripts that execute in the emulated VM."""

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from .machines import MACHINE
from .operations import CREATING
from .routing import Answer, ArmError, Json, Operation, Request, not_emulated, route
from .vm import GuestError, Vm

if TYPE_CHECKING:
    from .arm import Arm

COMMAND = MACHINE + "/runCommands/{name}"
# https://learn.microsoft.com/azure/virtual-machines/linux/run-command: 90 minutes (read 2026-11-20)
MOST_S = 90 * 60
SHOWN = {"source", "asyncExecution", "timeoutInSeconds", "protectedParameters"}
# https://github.com/MicrosoftDocs/azure-docs/issues/117976
MOST_KEPT = 25
# Azure/run-command-handler-linux, internal/commandProcessor/commandProcessor.go, internal/exec/exec.go (read
# 2026-11-28): one that a signal ends, as when its time is over, has failed, with the exit code -1.
RUNNING = {"executionState": "Running", "executionMessage": "Execution in progress", "exitCode": 0}
KILLED = "echo 'killed on purpose' >&2; kill -9 $$"


def _running(arm: "Arm", path: str) -> Vm:
    arm.get(path)
    vm = arm.machines.get(path.lower())
    if vm is None:
        raise ArmError(
            "OperationNotAllowed", "Cannot modify extensions in the VM when the VM is not running.", 409
        )
    return vm


def _start(
    arm: "Arm", request: Request, vm: Vm, name: str, script: str, timeout_s: float, **environment: str
) -> None:
    killed = arm.faults.strike("kill", "RUN", request.path, request.command)
    vm.run(name, KILLED if killed else script, timeout_s, environment)


def _status(arm: "Arm", request: Request, vm: Vm, name: str) -> Json:
    status = vm.status(name)
    cut = arm.faults.strike("cut", "OUTPUT", request.path, request.command)
    if cut:
        status["output"] = status["output"][-cut.limit :] if cut.limit else ""
    return status


def _wait(vm: Vm, name: str) -> None:
    while vm.status(name)["state"] == "Running":
        time.sleep(0.02)


def _gone(vm: Vm) -> ArmError:
    return ArmError(
        "VMAgentStatusCommunicationError",
        f"VM '{vm.name}' has not reported status for VM agent or "
        "extensions. Verify that the OS is up and healthy, and that the VM has a running VM agent.",
        409,
    )


@route("POST", MACHINE + "/runCommand")
def invoke(arm: "Arm", request: Request, **_: str) -> Answer:
    """Run a script to its end; whatever its exit code, Azure says that it succeeded."""
    path = request.path.rpartition("/")[0]
    vm, name = _running(arm, path), "invoke"
    if request.body["commandId"] != "RunShellScript" or request.body.get("parameters"):
        raise not_emulated(request.body)
    if not arm.invoked.get(path.lower(), _DONE).done.is_set():
        raise ArmError(
            "Conflict",
            "Run command extension execution is in progress. Please wait for completion before "
            "invoking a run command.",
            409,
        )
    _start(arm, request, vm, name, "\n".join(request.body["script"]), MOST_S)

    def work() -> Json:
        try:
            _wait(vm, name)
            status = _status(arm, request, vm, name)
        except GuestError as error:
            raise _gone(vm) from error
        message = f"Enable succeeded: \n[stdout]\n{status['output']}\n[stderr]\n{status['error']}"
        told = {
            "code": "ProvisioningState/succeeded",
            "level": "Info",
            "displayStatus": "Provisioning succeeded",
        }
        return {"value": [{**told, "message": message}]}

    operation = arm.invoked[path.lower()] = arm.start(work)
    return Answer(None, 202, operation=operation)


_DONE = Operation()
_DONE.done.set()


@route("PUT", COMMAND)
def create(arm: "Arm", request: Request, name: str, **_: str) -> Answer:
    """Start a script; asynchronous means that the operation does not wait for it."""
    vm = _running(arm, request.path.rpartition("/runCommands/")[0])
    given: dict[str, Any] = {k: v for k, v in request.body["properties"].items() if v not in (None, [])}
    if not set(given) <= SHOWN or set(given["source"]) != {"script"}:
        raise not_emulated(given)
    kept = arm.below(request.path.rpartition("/")[0])
    if arm.find(request.path) is None and len(kept) >= MOST_KEPT:
        text = f"The maximum number of managed Run commands (max=25, current={len(kept)}) has been exceeded."
        raise ArmError("OperationNotAllowed", text, 409)
    made = arm.put(request.path, request.body)
    protected = made["properties"].pop("protectedParameters", None) or []  # Azure never shows them again
    secrets = {parameter["name"]: parameter["value"] for parameter in protected}
    timeout_s = given.get("timeoutInSeconds") or MOST_S
    _start(arm, request, vm, name, given["source"]["script"], timeout_s, **secrets)

    def work() -> Json:
        if not given.get("asyncExecution"):
            try:
                _wait(vm, name)
            except GuestError as error:
                raise _gone(vm) from error
        return made

    return Answer(made, 201, operation=arm.start(work), until=CREATING)


@route("GET", COMMAND)
def show(arm: "Arm", request: Request, name: str, **_: str) -> Answer:
    found = arm.get(request.path)
    if request.query.get("$expand", "").lower() != "instanceview":
        return Answer(found)
    path = request.path.rpartition("/runCommands/")[0]
    if arm.unaware and path.lower() not in arm.machines:
        view = {**RUNNING, "output": "", "error": ""}
        return Answer({**found, "properties": {**found["properties"], "instanceView": view}})
    vm = _running(arm, path)
    try:
        status = _status(arm, request, vm, name)
    except GuestError as error:
        raise _gone(vm) from error
    return Answer({**found, "properties": {**found["properties"], "instanceView": _view(status)}})


def _view(status: Json) -> Json:
    """How far a script is, as the agent on a Linux VM tells it."""
    view = {
        **RUNNING,
        "output": status["output"],
        "error": status["error"],
    }
    if status["started"] is not None:  # of one from before a restart, nobody knows it any more
        view["startTime"] = _iso(status["started"])
    if status["ended"] is None:
        return view
    code, why = status["exit_code"], "Execution completed"
    if code:
        why = f"Execution failed: command terminated with exit status={code}"
    view |= {"executionState": status["state"], "executionMessage": why, "exitCode": code}
    return view | {"endTime": _iso(status["ended"])}


def _iso(time_s: float) -> str:
    return datetime.fromtimestamp(int(time_s), UTC).isoformat()


@route("GET", MACHINE + "/runCommands")
def list_commands(arm: "Arm", request: Request, **_: str) -> Answer:
    return Answer({"value": arm.below(request.path)})


@route("DELETE", COMMAND)
def delete(arm: "Arm", request: Request, name: str, **_: str) -> Answer:
    """Delete it; a script that still runs is killed."""
    if arm.resources.pop(request.path.lower(), None) is None:
        return Answer(None, 204)
    vm = arm.machines.get(request.path.lower().rpartition("/runcommands/")[0])
    if vm:
        vm.kill(name)
    return Answer(None, 202, operation=arm.start(lambda: None))
