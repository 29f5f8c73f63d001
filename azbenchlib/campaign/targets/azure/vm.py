"""A VM as a place to run scripts on and fetch files from, through az alone: it has no address."""

import secrets
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError
from azbenchlib.campaign.targets.azure import commands, guest
from azbenchlib.core.errors import AzbenchError

FIRST_WAIT_S, _LONGEST_WAIT_S = 2, 20
_TIMED_OUT = "TimedOut"  # Source: Microsoft Learn, "Run scripts in your Linux VM", ExecutionState, 2026
# The agent on a Linux VM never says so itself: a script that it stopped has failed, with the exit code -1.
# Where no script ran, its message alone tells why, and in 2022 the state was Running even so.
# Source: Azure/run-command-handler-linux, internal/exec/exec.go and commandProcessor.go, read 2026-11-28;
# recording test_run_command_v2.yaml in Azure/azure-cli, of 2022-05-19.
_STOPPED, _FAILED, _BY_ITSELF = -1, "Execution failed", "command terminated with exit status"
_WORKING = ("", "Unknown", "Pending", "Running")
STATE_S = 300.0  # between looks at the VM: of one that is gone, Azure may go on saying that its script runs
RUNNING = "PowerState/running"
STARTS = 3  # of a script that ends without having done its work, or is gone after a restart of the VM
_RESTARTED = "Restarted"  # our own word for the state of such a script, for Azure goes on saying that it runs
MOST_SCRIPTS = 20  # kept on a VM at a time; Azure takes 25. Source: MicrosoftDocs/azure-docs#117976


def is_running(az: Az, group: str, name: str) -> bool:
    """Whether Azure says that a VM runs."""
    codes = az.json(*commands.vm_state(group, name))
    return isinstance(codes, list) and RUNNING in codes


@dataclass(frozen=True, kw_only=True)
class Ended:
    """A script that ended: its state, exit code, the last 4 KiB of what it said, and the agent's message."""

    state: str
    exit_code: int
    output: str
    error: str
    timeout_s: int
    message: str = ""

    @property
    def last_words(self) -> str:
        """What went wrong: that its time was over, else the last line that it wrote."""
        lines = (self.error.strip() or self.output.strip()).splitlines()
        said = lines[-1].strip() if lines else ""
        if self.state == _TIMED_OUT:
            return f"it was stopped after {self.timeout_s} s" + (f"; its last line: {said}" if said else "")
        if not said and self.message.startswith(_FAILED) and _BY_ITSELF not in self.message:
            return self.message
        return said or f"it ended as {self.state}, with exit code {self.exit_code}, and wrote nothing"


@dataclass(kw_only=True)
class Script:
    """A script that was started, and how long it is waited for."""

    name: str
    timeout_s: int
    deadline: float
    noted: bool = False  # whether a restart of the VM is looked for
    wait_s: float = field(default_factory=lambda: FIRST_WAIT_S)
    seen_running: float = field(default_factory=time.monotonic)


@dataclass
class Vm:
    """A VM in a resource group."""

    az: Az
    group: str
    name: str
    _scripts: list[str] = field(default_factory=list)  # that Azure keeps, the oldest first

    def run(self, title: str, script: str, timeout_s: int) -> str:
        """Run a script to its end, anew where a restart of the VM ended it; what it said.

        Raises an AzbenchError when it failed, though az may say that all is well.
        """
        ended = self._run_once(script, timeout_s)
        for _ in range(STARTS - 1):
            if ended.state != _RESTARTED:
                break
            self.az.patience.tell(f"{self.name} was restarted, so this is done once more: {title} …")
            ended = self._run_once(script, timeout_s)
        if ended.state != "Succeeded" or ended.exit_code:
            raise AzbenchError(f"{title}: {ended.last_words}")
        return ended.output

    def _run_once(self, script: str, timeout_s: int) -> Ended:
        begun = self.start(script, timeout_s, noted=True)
        while (ended := self.ended(begun)) is None:
            pass
        return ended

    def start(self, script: str, timeout_s: int, secret: str = "", *, noted: bool = False) -> Script:
        """Start a script that runs on without us; `secret` reaches it as a protected parameter.

        `noted`: it notes on the VM that it is at work, so that a restart is noticed.
        """
        while len(self._scripts) >= MOST_SCRIPTS:
            self.az.json(*commands.script_delete(self.group, self.name, self._scripts[0]))
            del self._scripts[0]
        name = f"azbench-{secrets.token_hex(4)}"
        script = guest.noted(script, name) if noted else script
        argv = commands.script_start(self.group, self.name, name, script, timeout_s)
        self.az.json(*argv, secret=secret)
        self._scripts.append(name)
        deadline = time.monotonic() + timeout_s + guest.PREPARE_S
        return Script(name=name, timeout_s=timeout_s, deadline=deadline, noted=noted)

    def forget(self) -> None:
        """Have Azure keep none of the scripts any more that were started here."""
        while self._scripts:
            self.az.json(*commands.script_delete(self.group, self.name, self._scripts[0]))
            del self._scripts[0]

    def ended(self, script: Script) -> Ended | None:
        """Wait a little and look; how the script ended, None while it works.

        Raises an AzbenchError when its time is long over, or the VM does not run any more.
        """
        if time.monotonic() > script.deadline:
            raise AzbenchError(f"{self.name}: a script did not end within {script.timeout_s} s")
        time.sleep(script.wait_s)
        script.wait_s = min(_LONGEST_WAIT_S, script.wait_s * 1.3)
        answer = self.az.json(*commands.script_show(self.group, self.name, script.name))
        view = (answer.get("instanceView") if isinstance(answer, dict) else None) or {}
        if not isinstance(view, dict):
            raise AzError("az vm run-command show: its answer tells no state")
        return _ended(view, script.timeout_s) or self._gone(script)

    def _gone(self, script: Script) -> Ended | None:
        """How a script ended that a restart took with it; refuse to wait for one on a VM that was stopped."""
        if time.monotonic() - script.seen_running < STATE_S:
            return None
        codes = self.az.json(*commands.vm_state(self.group, self.name))
        told = codes if isinstance(codes, list) else []
        power = [code for code in told if str(code).startswith("PowerState/")]
        if power and RUNNING not in power:
            raise AzError(
                f"{self.name}: Azure says {power[0]}, so its script never ends; start the run again",
                "VMNotRunning",
            )
        script.seen_running = time.monotonic()
        if not script.noted or not self._is_restarted_since(script):
            return None
        timeout_s, said = script.timeout_s, "the VM was restarted meanwhile"
        return Ended(state=_RESTARTED, exit_code=1, output="", error=said, timeout_s=timeout_s)

    def _is_restarted_since(self, script: Script) -> bool:
        try:
            return guest.facts(self.ask(guest.restarted(script.name))).get("worker") == "gone"
        except AzError:
            return False  # as while it starts anew

    def ask(self, script: str) -> str:
        """What a short script says, run at once: the last 4 KiB."""
        answer = self.az.json(*commands.script_invoke(self.group, self.name, script))
        values = answer.get("value") if isinstance(answer, dict) else None
        told = values if isinstance(values, list) else []
        return "\n".join(str(value.get("message", "")) for value in told if isinstance(value, dict))


def _ended(view: dict[str, Any], timeout_s: int) -> Ended | None:
    """How a script ended, as its instance view tells it; None while it works."""
    state, exit_code = view.get("executionState") or "", view.get("exitCode")
    message = str(view.get("executionMessage") or "")
    if state in _WORKING:
        if not message.startswith(_FAILED):
            return None
        state = "Failed"
    if exit_code == _STOPPED and _lasted_s(view) >= timeout_s:
        state = _TIMED_OUT
    return Ended(
        state=str(state),
        exit_code=exit_code if isinstance(exit_code, int) else 0 if exit_code is None else 1,
        output=str(view.get("output") or ""),
        error=str(view.get("error") or ""),
        timeout_s=timeout_s,
        message=message,
    )


def _lasted_s(view: dict[str, Any]) -> float:
    """From the start of a script to its end; 0.0 where the times are not told."""
    try:
        times = [datetime.fromisoformat(view[name]) for name in ("startTime", "endTime")]
        return (times[1] - times[0]).total_seconds()
    except (KeyError, TypeError, ValueError):
        return 0.0
