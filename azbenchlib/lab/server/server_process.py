"""The lab's server as its parent sees it: started with a configuration, asked, ended."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from typing import Any, BinaryIO

from azbenchlib.core.errors import AzbenchError
from azbenchlib.lab.server.serve import DILATE, SOCKET, ServerConfig

_START_S = 30.0  # a busy machine may take long to start Python
ANSWER_S = 10.0
_END_S = 5.0


class Process:
    """A server, ready when this is made.

    Parameters
    ----------
    config : ServerConfig

    Attributes
    ----------
    sizes : dict of str to int
        Bytes of each volume.

    Raises
    ------
    AzbenchError
        With the server's own sentence where it cannot start.
    """

    def __init__(self, config: ServerConfig) -> None:
        self._config, self._told = config, 0
        self._errors = _kept_in_memory()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "azbenchlib.lab.server.serve",
            ],  # -P: no module of the current folder
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            process_group=0,  # an interrupt from the terminal reaches us alone, and we end the server
        )
        self.sizes: dict[str, int] = {}
        try:
            self.sizes = self._ask(config.model_dump_json(), _START_S)["ready"]
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._process.pid

    def totals(self) -> dict[str, dict[str, float]]:
        """Its exact counters; AzbenchError where it does not run any more."""
        found: dict[str, dict[str, float]] = self._ask("totals", ANSWER_S)["totals"]
        return found

    def dilate(self, time_scale: float) -> None:
        """Have it go on under another dilation factor; AzbenchError where it does not run any more."""
        self._ask(f"{DILATE.decode()}{time_scale}", ANSWER_S)

    def fault(self) -> str:
        """Why it does not run, in a sentence; empty where it does."""
        status = self._process.poll()
        if status is None:
            return ""
        how = f"by signal {signal.Signals(-status).name}" if status < 0 else f"with exit code {status}"
        return ": ".join([f"the lab's server has ended {how}", *self._said(0)[-1:]])

    def warnings(self) -> list[str]:
        """What it had to say since the last call."""
        return self._said(self._told)

    def stop(self) -> None:
        """Let it clean up after itself, but not for long; then do what is left of that."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self.sizes:  # else the socket is none of ours
            (self._config.folder / SOCKET).unlink(missing_ok=True)
        self._errors.close()

    def _ask(self, line: str, patience_s: float) -> dict[str, Any]:
        inlet, outlet = self._process.stdin, self._process.stdout
        if inlet is None or outlet is None:
            raise AzbenchError("the lab's server was started without pipes")
        with contextlib.suppress(BrokenPipeError):  # then the other pipe tells
            inlet.write(line.encode() + b"\n")
        heard = select.select([outlet], [], [], patience_s)[0]
        answer = outlet.readline() if heard else b""
        if not answer:
            if heard:  # the pipe has ended, so the server has, or is about to
                self._process.wait(_END_S)
            raise AzbenchError(self.fault() or f"the lab's server did not answer in {patience_s:.0f} s")
        said: dict[str, Any] = json.loads(answer)
        if "error" in said:
            raise AzbenchError(said["error"])
        return said

    def _said(self, begin: int) -> list[str]:
        size = os.fstat(self._errors.fileno()).st_size
        text = os.pread(self._errors.fileno(), size - begin, begin)
        self._told = size
        return text.decode(errors="replace").splitlines()


def _kept_in_memory() -> BinaryIO:
    """A file for what the server says: of a full disk it speaks too."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("azbench"), "w+b")
    return tempfile.TemporaryFile()
