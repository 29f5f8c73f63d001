"""A lab: an emulated VM with its disks, from its start to its end."""

from __future__ import annotations

import math
import shutil
import socket
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError, OutputError
from azbenchlib.lab import calibrate, dilation
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.server.live_log import LAB_PREFIX, LIVE_LOG
from azbenchlib.lab.server.serve import SOCKET, ServerConfig
from azbenchlib.lab.server.server_process import Process
from azbenchlib.model.setup import Setup

_NOT_RUNNING = "the lab was not started, or it was stopped"


class Lab:
    """An emulated VM with its disks, behind NBD addresses that fio drives.

    Parameters
    ----------
    setup : Setup
        With its limits, as :func:`azbenchlib.model.fill_from_catalogue.resolve` gives it.
    options : Options
        Of the emulation: credits, tick, cache, seed, latencies.
    time_scale : float, optional
        k: everything takes k times as long as on the real disks. None: what this machine keeps up with.
    folder : Path, optional
        Where socket, data and live log lie; the log stays. None: a temporary one of our own.
    port : int, optional
        Also listen on this port of the loopback interface, where every local user can connect.

    Attributes
    ----------
    time_scale, floor_s : float
        Once started: k, and the real seconds that the way to the client and back takes.
    sizes : dict of str to int
        Bytes of each volume; empty while it is not started.
    folder, log : Path
        Once started: where the socket is, and the live log; see :mod:`azbenchlib.lab.server.live_log`.

    Examples
    --------
    ::

        with Lab(setup) as lab:
            subprocess.run(["fio", "--ioengine=nbd", f"--uri={lab.uri('data')}", ...])
    """

    folder: Path
    log: Path
    time_scale: float
    floor_s: float

    def __init__(
        self,
        setup: Setup,
        options: Options = Options(),  # noqa: B008  frozen
        *,
        time_scale: float | None = None,
        folder: Path | None = None,
        port: int | None = None,
    ) -> None:
        self.setup, self.options, self.port = setup, options, port
        self.sizes: dict[str, int] = {}
        self._wanted_scale, self._wanted_folder = time_scale, folder
        self._process: Process | None = None

    def __repr__(self) -> str:
        """Return what is emulated, and whether it can be driven."""
        disks = ", ".join(disk.name for disk in self.setup.disks)
        state = "started" if self.alive() else "not started"
        return f"Emulated {' with '.join(filter(None, (self.setup.vm.size, disks)))}: {state}"

    def start(self) -> Self:
        """Start the server; it is ready when this returns.

        Raises
        ------
        AzbenchError
            With the server's own sentence where it cannot.
        MissingToolError
            On a system that cannot run it, which is Windows.
        OutputError
            When the folder cannot be made.
        """
        if not hasattr(socket, "AF_UNIX"):
            raise MissingToolError(
                "an emulated disk needs Linux, for its server listens on a Unix domain socket, and this "
                "system has none; on Windows, azbench in WSL emulates disks"
            )
        found = calibrate.calibration()
        self.floor_s = found.floor_s
        self.time_scale = self._wanted_scale or dilation.time_scale(self.setup, self.options, found)
        self.folder = _made(self._wanted_folder)
        self.log = self.folder / LIVE_LOG
        try:
            self._process = Process(self._order())
        except BaseException:
            self.stop()
            raise
        self.sizes = self._process.sizes
        return self

    def stop(self) -> None:
        """End the server and remove what is left of it; once is enough, twice is no harm."""
        if self._process is not None:
            self._process.stop()
            self._process, self.sizes = None, {}
        if self._wanted_folder is None and hasattr(self, "folder"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def uri(self, volume: str) -> str:
        """The address of a volume, for fio's option uri.

        Raises
        ------
        InputError
            When there is no such volume, or the lab is not started.
        """
        if volume not in self.sizes:
            there = f"there are: {', '.join(self.sizes)}" if self.sizes else _NOT_RUNNING
            raise InputError(f"no volume '{volume}' in this lab; {there}")
        if self.port is not None:
            return f"nbd://127.0.0.1:{self.port}/{quote(volume, safe='')}"
        return f"nbd+unix:///{quote(volume, safe='')}?socket={quote(str(self.folder / SOCKET))}"

    @property
    def pid(self) -> int | None:
        """Number of the server's process; None where there is none."""
        return self._process.pid if self._process else None

    def alive(self) -> bool:
        """Whether the server runs."""
        return not self.fault()

    def fault(self) -> str:
        """Why it does not, in a sentence; empty where it does."""
        return self._process.fault() if self._process else _NOT_RUNNING

    def warnings(self) -> list[str]:
        """What the server had to say since the last call: clients that broke the rules, a full disk."""
        return self._process.warnings() if self._process else []

    def totals(self) -> dict[str, dict[str, float]]:
        """Exact counters of every volume since the start, as :meth:`Machine.totals` gives them.

        Raises
        ------
        AzbenchError
            When the server does not run.
        """
        if self._process is None:
            raise AzbenchError(_NOT_RUNNING)
        return self._process.totals()

    def dilate(self, time_scale: float) -> None:
        """Go on under another dilation factor, for the next run on it; credits and cache stay as they are.

        Start with the smallest factor: what a limit lets pass at once after a pause is so many emulated
        seconds of it, and was set then.

        Parameters
        ----------
        time_scale : float
            k, from now on.

        Raises
        ------
        InputError
            When it is not above 0.
        AzbenchError
            When the server does not run.
        """
        if not 0 < time_scale < math.inf:
            raise InputError(f"time scale {time_scale}: a number above 0 is needed")
        if self._process is None:
            raise AzbenchError(_NOT_RUNNING)
        self._process.dilate(time_scale)
        self.time_scale = time_scale

    def _order(self) -> ServerConfig:
        return ServerConfig(
            setup=self.setup,
            options=self.options,
            time_scale=self.time_scale,
            floor_s=self.floor_s,
            folder=self.folder,
            temporary=self._wanted_folder is None,
            port=self.port,
        )


def _made(folder: Path | None) -> Path:
    """The folder, made if need be; ours alone."""
    if folder is None:
        return Path(tempfile.mkdtemp(prefix=LAB_PREFIX)).resolve()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}") from error
    return folder.resolve()
