"""Running fio, or another program, no longer than it may take; nothing of it outlives azbench."""

import os
import platform
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from azbenchlib.campaign.workloads import fio_options, guard
from azbenchlib.campaign.workloads.limits import NO_LIMITS, RunLimits, Watch
from azbenchlib.core.errors import InputError, MissingToolError

_ENGINES = ("libaio", "io_uring", "posixaio")  # asynchronous, in the order of preference


@dataclass(frozen=True)
class Fio:
    """An installed fio: where, its version as it prints it, and its I/O engines."""

    path: str
    version: str
    engines: tuple[str, ...]

    def engine(self, wanted: str) -> str:
        """The engine asked for; where libaio is asked for and absent, the next best.

        Raises an InputError when this fio does not have it, or it does something else than I/O on the files
        it is given.
        """
        choices = _ENGINES if wanted == _ENGINES[0] else (wanted,)
        found = next((name for name in choices if name in self.engines), None)
        if found is None:
            raise InputError(
                f"ioengine '{wanted}' is not in {self.version} here; it has: {', '.join(self.engines)}"
            )
        fio_options.check("ioengine", found)
        return found


def find() -> Fio:
    """The fio that the search path leads to.

    Raises a MissingToolError when there is none, or this is not Linux.
    """
    path = shutil.which("fio")
    if path is None or platform.system() != "Linux":
        raise MissingToolError(
            "measuring needs fio on Linux; install it with `apt install fio`, `dnf install fio` "
            "or `conda install -c conda-forge fio`"
        )
    lines = _ask(path, "--enghelp").splitlines()
    return Fio(path, _ask(path, "--version").strip(), tuple(line.strip() for line in lines[1:]))


def _ask(path: str, option: str) -> str:
    answer = subprocess.run([path, option], capture_output=True, text=True, check=False)  # noqa: S603
    return answer.stdout


GIVEN_UP = 124  # as timeout(1) ends
_LOOK_S = 0.2  # between looks at what limits a run
_SPARE_S = 5.0  # how much longer the guard may take than the program


class Program(Protocol):
    """An installed program."""

    @property
    def path(self) -> str: ...


def run(
    argv: Sequence[str],
    program: Program,
    folder: Path,
    lock: int | None = None,
    says: Path | None = None,
    limits: RunLimits = NO_LIMITS,
) -> tuple[int, str]:
    """Run fio, or another program, to its end in a folder; it ends with us, however we end.

    The program inherits `lock`, a file descriptor, so the lock lasts as long as it does even when this
    process is killed. Its output goes to the file `says`. At `limits` it is ended; the last line of the text
    then says why. Returns the exit status, and what it wrote to its error output.
    """
    status, text = _run_once(argv, program, folder, lock, says, limits)
    if status == -signal.SIGINT:  # before it had a group of its own, an interrupt that is ours reached it too
        status, text = _run_once(argv, program, folder, lock, says, limits)
    return status, text


def _run_once(
    argv: Sequence[str],
    program: Program,
    folder: Path,
    lock: int | None,
    says: Path | None,
    limits: RunLimits,
) -> tuple[int, str]:
    token = secrets.token_hex(8)
    told = {guard.TOKEN: token, guard.COMMAND: guard.SEPARATOR.join([program.path, *argv])}
    with (
        Path(says or os.devnull).open("wb") as output,
        subprocess.Popen(  # noqa: S603  an argument list, no shell
            [sys.executable, "-I", "-S", guard.GUARD_FILE, str(os.getpid())],
            cwd=folder,
            env={**os.environ, **told},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            pass_fds=() if lock is None else (lock,),
            process_group=0,  # an interrupt from the terminal reaches us alone, and we end fio
        ) as process,
    ):
        try:
            return _watched(process, token, limits.begin(token, folder))
        except BaseException:
            _stop(process, token)
            raise


def _watched(process: subprocess.Popen[str], token: str, watch: Watch) -> tuple[int, str]:
    """Wait for the end, and bring it about where a limit is reached."""
    why = ""
    while True:
        try:
            _, text = process.communicate(timeout=_LOOK_S)
            break
        except subprocess.TimeoutExpired:
            if process.poll() is not None:  # the guard was killed, and what it guarded still writes
                guard.sweep(token)
            elif why := watch.reached():
                _stop(process, token)
    guard.sweep(token)
    return (GIVEN_UP, f"{text.rstrip()}\n{why}\n") if why else (process.returncode, text)


def _stop(process: subprocess.Popen[str], token: str) -> None:
    """Ask a program to end, which tells its jobs, and make it after a while."""
    process.terminate()
    try:
        process.wait(guard.GRACE_S + _SPARE_S)
    except subprocess.TimeoutExpired:
        process.kill()
    guard.sweep(token)
