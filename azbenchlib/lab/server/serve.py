"""The lab's server as a process of its own: ``python -m azbenchlib.lab.server.serve``.

It takes its configuration, one line of JSON, on its standard input, says on its standard output that it is
ready or why it is not, then answers ``totals``, and ``time_scale K`` once it runs under that dilation
factor. It ends when it is told to (SIGTERM, SIGINT) or when the
input ends, which is when its parent does.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.core.temporary import NO_ROOM
from azbenchlib.lab.engine.virtual_machine import Machine, Options
from azbenchlib.lab.server.event_loop import Server
from azbenchlib.lab.server.live_log import LIVE_LOG, LiveLog
from azbenchlib.lab.server.selector import wake_promptly
from azbenchlib.lab.server.store import OTHER_FOLDER, Store
from azbenchlib.model.setup import Setup

SOCKET = "nbd.sock"
DILATE = b"time_scale "  # what a line begins with that asks for another dilation factor
BACKLOG = 1024
_LONGEST_PATH = 103  # of a socket, in bytes: 108 on Linux, 104 on macOS, with a zero at the end; unix(7)


class ServerConfig(BaseModel):
    """What to emulate, and where.

    `folder` gets the socket and the live log; `temporary`: it is removed in the end. `floor_s` is in real
    seconds.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="constants")

    setup: Setup
    options: Options
    time_scale: float = Field(gt=0)
    floor_s: float = Field(ge=0)
    folder: Path
    temporary: bool
    port: int | None = Field(default=None, ge=1, le=65535)


class Running:
    """A server with all that it needs. What may fail comes first, so that a failure leaves nothing."""

    def __init__(self, config: ServerConfig) -> None:
        _allow_many_files()
        self._config, self._parent = config, os.getppid()
        self.folder = config.folder
        self._socket = config.folder / SOCKET
        if len(os.fsencode(self._socket)) > _LONGEST_PATH:
            raise InputError(
                f"{self._socket}: too long for a socket, whose path has at most {_LONGEST_PATH} bytes; "
                f"{OTHER_FOLDER}"
            )
        # scheduling jitter is of real time, so the burst tolerance that makes up for it is too
        burst_tolerance_s = config.options.burst_tolerance_s / config.time_scale
        self._machine = Machine(config.setup, replace(config.options, burst_tolerance_s=burst_tolerance_s))
        sizes = {name: volume.size_bytes for name, volume in self._machine.volumes.items()}
        self._stores = {name: Store(name, size, config.folder) for name, size in sizes.items()}
        ports = [] if config.port is None else [_port_listener(config.port)]
        header = {"time_scale": config.time_scale, "floor_s": config.floor_s, "started_unix_s": time.time()}
        full = {
            name: state["credits"] for name, state in self._machine.live(0.0).items() if "credits" in state
        }
        self._log = LiveLog(
            config.folder,
            {**header, "setup": described(config.setup), "volumes": sizes, "full_credits": full},
        )
        self._server = Server(self._machine, self._stores, config.time_scale, config.floor_s, self._tick)
        for listener in (_unix_listener(self._socket), *ports):
            self._server.listen(listener)
        self._server.watch(sys.stdin.fileno(), self._control)

    def run(self) -> None:
        """Serve until told to end."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._end())
        _say({"ready": {name: store.size_bytes for name, store in self._stores.items()}})
        wake_promptly()
        gc.collect()
        gc.freeze()  # a collection over all modules would make some completions late by 20 ms
        gc.set_threshold(100_000, 50, 50)
        self._server.run()
        self._tick()

    def close(self) -> None:
        """Hang up, and remove what was made."""
        self._server.close()
        self._log.close()
        self._socket.unlink(missing_ok=True)
        if self._config.temporary:
            (self._config.folder / LIVE_LOG).unlink(missing_ok=True)
            self._config.folder.rmdir()

    def _end(self) -> None:
        self._server.stopped = True

    def _tick(self) -> None:
        """Tell the state, and look whether the parent is still there."""
        now = self._server.emulated_s
        try:
            done = {name: _ios_and_bytes(counts) for name, counts in self._machine.totals().items()}
            self._log.note(now, self._server.late_s, self._machine.live(now), done)
        except OSError as error:
            self._server.warn(f"{self._log.path}: {error.strerror}; the lab goes on without it")
        self._server.late_s.clear()
        if os.getppid() != self._parent:
            self._end()

    def _control(self) -> None:
        """Answer the parent; the end of what it says is the end of it."""
        asked = os.read(sys.stdin.fileno(), 4096)
        if not asked:
            self._end()
        for line in asked.splitlines():
            if line.startswith(DILATE):
                self._server.dilate(float(line.removeprefix(DILATE)))
            _say({"totals": self._machine.totals()})


def described(setup: Setup) -> str:
    """The setup in a few words."""
    disks = ", ".join(volume.name for volume in setup.volumes())
    return f"{setup.vm.size or 'no VM limits'}: {disks}"


def _first_line() -> bytes:
    """Without a buffer, which would hide from the selector what comes after it."""
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as inlet:
        return inlet.readline()


def _ios_and_bytes(counts: dict[str, float]) -> list[float]:
    return [counts[f"read_{what}"] + counts[f"write_{what}"] for what in ("ios", "bytes")]


def _say(answer: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _allow_many_files() -> None:
    """As many clients as the system lets us have without asking anybody."""
    import resource  # Windows, which runs no lab, has none

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):  # macOS says "unlimited" and does not mean it
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _unix_listener(path: Path) -> socket.socket:
    """A socket that only its owner can connect to; the folder is ours alone by the lock on its log."""
    path.unlink(missing_ok=True)  # of a server that was killed
    listener = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    listener.listen(BACKLOG)
    return listener


def _port_listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        raise InputError(
            f"port {port} of this machine cannot be taken: {error.strerror}; name another"
        ) from error
    listener.listen(BACKLOG)
    return listener


def main() -> int:
    """Serve as one configuration says; exit code 2 where it cannot be done."""
    try:
        running = Running(ServerConfig.model_validate_json(_first_line()))
    except ValidationError as error:
        _say({"error": f"invalid server configuration: {error}"})
    except AzbenchError as error:
        _say({"error": str(error)})
    except OSError as error:
        _say({"error": f"the lab cannot start: {error}"})
    else:
        try:
            running.run()
            return 0
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            sys.stderr.write(
                f"{running.folder}: has no room for the live log ({error.strerror}); {OTHER_FOLDER}\n"
            )
        finally:
            running.close()
    return 2


if __name__ == "__main__":
    sys.exit(main())
