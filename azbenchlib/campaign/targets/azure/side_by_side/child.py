"""The process of one VM of several: a run of its own, asked for by a line of JSON, telling lines of JSON.

It ends at once when whoever started it is gone, as that one's own run would.
"""

import os
import sys
import threading
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel

from azbenchlib.azure.az_errors import AzError
from azbenchlib.azure.quota import NoQuotaError
from azbenchlib.campaign.design.stopping import Stopping
from azbenchlib.campaign.files.spec import Experiment
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
