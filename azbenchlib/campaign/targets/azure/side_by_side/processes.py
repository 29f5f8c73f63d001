"""The processes of VMs that are measured at a time: begun in order, heard, and ended together.

Each is a run of its own, asked for by a line of JSON, telling lines of JSON. It ends at once when whoever
started it is gone, as that one's own run would.
"""

import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ValidationError

from azbenchlib.azure.az_errors import AzError
from azbenchlib.azure.quota import NoQuotaError
from azbenchlib.campaign.design.stopping import Stopping
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.interrupts import Interrupts
from azbenchlib.campaign.progress import Progress
from azbenchlib.campaign.run_loop import measure
from azbenchlib.campaign.targets.azure.target import AzureTarget
from azbenchlib.core.errors import AzbenchError, WorkloadsFailedError


class MessageKind(StrEnum):
    """What a line of the process is about."""

    PROGRESS = "progress"
    DONE = "done"
    WORKLOADS_FAILED = "workloads failed"  # the others are measured
    NO_ROOM = "no room"  # Azure has none for the VM, or the quota is used up
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class VmRequest(BaseModel):
    """What a process is to measure, and within which limits; 0: none."""

    experiment: Experiment
    folder: Path
    max_cost: float
    max_hours: float


class VmMessage(BaseModel):
    """A line of the process."""

    kind: MessageKind
    done: int = 0
    total: int = 0
    text: str = ""


def main() -> None:
    """Measure what is asked for on the standard input."""
    asked = VmRequest.model_validate_json(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    target = AzureTarget(experiment=asked.experiment, max_cost=asked.max_cost, max_hours=asked.max_hours)
    try:
        measure(target, asked.folder, progress=_progress, stopping=Stopping.of(asked.experiment))
    except WorkloadsFailedError as error:
        _tell(MessageKind.WORKLOADS_FAILED, str(error))
    except AzbenchError as error:
        _tell(MessageKind.NO_ROOM if is_without_room(error) else MessageKind.FAILED, str(error))
    except KeyboardInterrupt as error:
        _tell(MessageKind.INTERRUPTED, str(error))
    else:
        _tell(MessageKind.DONE)


def is_without_room(error: BaseException | None) -> bool:
    """Whether a run ended because Azure gives it no VM, now or to this subscription."""
    if error is None:
        return False
    is_full = isinstance(error, AzError) and error.no_room
    return is_full or isinstance(error, NoQuotaError) or is_without_room(error.__cause__)


def _progress(done: int, total: int, text: str) -> None:
    _tell(MessageKind.PROGRESS, text, done, total)


def _tell(kind: MessageKind, text: str = "", done: int = 0, total: int = 0) -> None:
    line = VmMessage(kind=kind, text=text, done=done, total=total).model_dump_json()
    os.write(sys.stdout.fileno(), f"{line}\n".encode())  # whole: an interrupt may come at any moment


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


_CHILD = "from azbenchlib.campaign.targets.azure.side_by_side.processes import main; main()"
_HEARD_S = 0.2  # between looks at interrupts


@dataclass(kw_only=True)
class VmProcess:
    """The process of a VM, and what it said last."""

    name: str
    process: subprocess.Popen[str]
    begun: float = field(default_factory=time.monotonic)
    last: VmMessage = field(default_factory=lambda: VmMessage(kind=MessageKind.PROGRESS))


@dataclass(kw_only=True)
class VmProcesses:
    """Those of a run."""

    # By the name of each VM in order, what is called for what its process is to do when its turn comes
    asked: Mapping[str, Callable[[], VmRequest]]
    done: dict[str, int]  # how many workloads of each VM are measured
    total: int  # workloads of the whole run
    at_once: int  # how many processes there are at a time; it shrinks where Azure has room for fewer VMs
    progress: Progress  # is told what all of them tell
    interrupts: Interrupts  # those of the run
    # Is told of each process that ended: the name of its VM, how many seconds it was there, and whether there
    # is another one for that VM later
    over: Callable[[str, float, bool], None] = lambda name, seconds, again: None
    ended: dict[str, VmMessage] = field(default_factory=dict)  # the last words of each VM
    _there: dict[str, VmProcess] = field(default_factory=dict)
    _lines: queue.Queue[tuple[VmProcess, str]] = field(default_factory=queue.Queue)

    def carry_out(self) -> None:
        """Have all of them measure; at an interrupt or a fault, each of them deletes what it made, first."""
        waiting = [*self.asked]
        try:
            while waiting or self._there:
                while waiting and len(self._there) < self.at_once:
                    self._begin(waiting.pop(0))
                if not (over := self._heard()):
                    continue
                again = over.last.kind == MessageKind.NO_ROOM and bool(self._there)
                self.over(over.name, time.monotonic() - over.begun, again)
                if again:
                    self.at_once = len(self._there)
                    self._tell(over, f"{over.last.text}; it is tried again when another VM is deleted")
                    waiting.insert(0, over.name)
                else:
                    self.ended[over.name] = over.last
        except BaseException:
            self.interrupts.end()
            self._end()
            raise

    def _begin(self, name: str) -> None:
        told = self.asked[name]().model_dump_json()
        process = subprocess.Popen(  # noqa: S603  ourselves, no shell
            [sys.executable, "-P", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            process_group=0,  # an interrupt from the terminal reaches us alone
        )
        one = self._there[name] = VmProcess(name=name, process=process)
        threading.Thread(target=self._listen, args=(one,), daemon=True).start()
        if process.stdin:  # it stays open as long as we live
            with suppress(BrokenPipeError):  # its end is heard
                print(told, file=process.stdin, flush=True)

    def _listen(self, one: VmProcess) -> None:
        for line in one.process.stdout or ():
            self._lines.put((one, line))
        self._lines.put((one, ""))

    def _heard(self) -> VmProcess | None:
        """Wait a little for a line of any of them, and pass it on; the process, where it has ended."""
        try:
            one, line = self._lines.get(timeout=_HEARD_S)
        except queue.Empty:
            return None
        if line:
            with suppress(ValidationError):  # of what a library prints
                self._take(one, VmMessage.model_validate_json(line))
            return None
        del self._there[one.name]
        status = one.process.wait()
        if one.last.kind == MessageKind.PROGRESS:
            one.last = VmMessage(
                kind=MessageKind.FAILED, text=f"its process ended with status {status} and told nothing"
            )
        return one

    def _take(self, one: VmProcess, told: VmMessage) -> None:
        one.last = told
        if told.kind == MessageKind.PROGRESS:
            self.done[one.name] = max(self.done[one.name], told.done)
            self._tell(one, told.text)

    def _tell(self, one: VmProcess, text: str) -> None:
        self.progress(sum(self.done.values()), self.total, f"[{one.name}] {text}")

    def _end(self) -> None:
        """Pass interrupts on, the first one at once, until all of them have ended."""
        passed = -1
        while self._there:
            if self.interrupts.came > passed:
                passed = self.interrupts.came
                for one in self._there.values():
                    one.process.terminate()
            if over := self._heard():
                self.ended[over.name] = over.last
