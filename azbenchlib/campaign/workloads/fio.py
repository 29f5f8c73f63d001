"""The program fio on this machine: which one, what it can do, and running it."""

import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from azbenchlib.campaign.workloads import fio_options
from azbenchlib.core.errors import InputError, MissingToolError

_ENGINES = ("libaio", "io_uring", "posixaio")  # asynchronous, in the order of preference
_PATIENCE_S = 5  # how long fio may take to end after it was asked to


@dataclass(frozen=True)
class Fio:
    """An installed fio: where, its version as it prints it, and its I/O engines."""

    path: str
    version: str
    engines: tuple[str, ...]

    def engine(self, wanted: str) -> str:
        """The engine asked for; where libaio is asked for and absent, the next best.

        Raises
        ------
        InputError
            When this fio does not have it, or it does something else than I/O on the files it is given.
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

    Raises
    ------
    MissingToolError
        When there is none, or this is not Linux.
    """
    path = shutil.which("fio")
    if path is None or platform.system() != "Linux":
        raise MissingToolError(
            "measuring needs fio on Linux; install it with `apt install fio`, `dnf install fio` "
            "or `conda install -c conda-forge fio`"
        )
    lines = _ask(path, "--enghelp").splitlines()
    return Fio(path, _ask(path, "--version").strip(), tuple(line.strip() for line in lines[1:]))


class FioProgram(Protocol):
    """An installed program."""

    @property
    def path(self) -> str: ...


def run(
    argv: Sequence[str], program: FioProgram, folder: Path, lock: int | None = None, says: Path | None = None
) -> tuple[int, str]:
    """Run fio, or another program, to its end in a folder; it ends with us when we are interrupted.

    Parameters
    ----------
    argv : sequence of str
        The command line, with the program's name first.
    program : Program
        What is run.
    folder : Path
        Where it is started.
    lock : int, optional
        A file descriptor with a lock; the program inherits it, so the lock lasts as long as it does even when
        this process is killed.
    says : Path, optional
        The file that its output goes to.

    Returns
    -------
    (status, text)
        Exit status, and what it wrote to its error output.
    """
    status, text = _run_once(argv, program, folder, lock, says)
    if status == -signal.SIGINT:  # before it had a group of its own, an interrupt that is ours reached it too
        status, text = _run_once(argv, program, folder, lock, says)
    return status, text


def _run_once(
    argv: Sequence[str], program: FioProgram, folder: Path, lock: int | None, says: Path | None
) -> tuple[int, str]:
    with (
        Path(says or os.devnull).open("wb") as output,
        subprocess.Popen(  # noqa: S603  an argument list, no shell
            argv,
            executable=program.path,
            cwd=folder,
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
            return _status(process)
        except BaseException:
            _stop(process)
            raise


def _status(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, text = process.communicate()
    return process.returncode, text


def _stop(process: subprocess.Popen[str]) -> None:
    """Ask fio to end, which tells its jobs, and make it after a while."""
    process.terminate()
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _ask(path: str, option: str) -> str:
    answer = subprocess.run([path, option], capture_output=True, text=True, check=False)  # noqa: S603
    return answer.stdout
