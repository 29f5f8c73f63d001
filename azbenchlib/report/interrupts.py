"""Interrupts passed on to the cell that is at work in a kernel, so that it ends in its own good way.

The kernel is a process of its own that a terminal does not reach. While a cell is at work it alone is
interrupted, and this process goes on showing what it says: it may have something in Azure to take down.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines

from azbenchlib.campaign.interrupts import SAME_S, SIGNALS

KERNEL_ENGINE = "azbench"
MOST_INTERRUPTS = 5  # interrupts that a cell gets; at one more the kernel is ended


class Relay:
    """Passes this process's interrupts on to the kernel of a notebook."""

    def __init__(self) -> None:
        self.kernel: AsyncKernelManager | None = None
        self.at_work = False  # whether a cell is, in which an interrupt arrives
        self.given_up = False
        self._sent = False  # whether a cell was sent that is not at work yet
        self._came = self._passed = 0
        self._latest = -SAME_S

    def send(self, **_: Any) -> None:
        """Note that a cell is sent to the kernel, unless an interrupt came in the one before."""
        if self._came:
            raise KeyboardInterrupt
        self._sent = True

    def begin(self) -> None:
        """Note that the cell is at work; an interrupt that came meanwhile is passed on."""
        self._sent, self.at_work = False, True
        self._pass()

    def end(self) -> None:
        """Note that the cell has ended."""
        self._sent = self.at_work = False

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Take over every signal that would raise KeyboardInterrupt here."""
        mine = threading.current_thread() is threading.main_thread()
        ours = signal.default_int_handler
        taken = [number for number in SIGNALS if mine and signal.getsignal(number) is ours]
        for number in taken:
            signal.signal(number, self._handle)
        try:
            yield
        finally:
            for number in taken:
                signal.signal(number, ours)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._latest < SAME_S:
            return
        self._latest = now
        self._came += 1
        self.given_up = self._came > MOST_INTERRUPTS
        can_pass = hasattr(os, "killpg")  # Windows has no groups of processes
        if self.given_up or not can_pass or not (self._sent or self.at_work):
            raise KeyboardInterrupt
        self._pass()

    def _pass(self) -> None:
        process = getattr(self.kernel and self.kernel.provisioner, "pid", None)
        if self.at_work and process and self._passed < self._came:
            self._passed = self._came
            with suppress(ProcessLookupError):
                os.killpg(os.getpgid(process), signal.SIGINT)


class _Client(PapermillNotebookClient):
    """Tells a relay when a cell begins and ends its work."""

    relay: Relay

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        if msg["msg_type"] == "execute_input":
            self.relay.begin()
        elif msg["msg_type"] == "status" and msg["content"]["execution_state"] == "idle":
            self.relay.end()
        return super().process_message(msg, cell, cell_index)


class Engine(NBClientEngine):
    """papermill's own engine, with a relay."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **settings: Any) -> Any:
        """Execute the cells; of papermill's settings only those are known that azbench gives."""
        relay = settings.pop("relay")
        for unused in ("input_path", "log_output", "execution_timeout", "start_timeout"):
            settings.pop(unused, None)
        client = _Client(nb_man, kernel_name=kernel_name, on_cell_execute=relay.send, **settings)
        client.relay = relay
        return client.execute()


papermill_engines.register(KERNEL_ENGINE, Engine)
