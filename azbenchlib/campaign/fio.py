"""The program fio on this machine: which one, what it can do, and running it."""

import platform
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from azbenchlib.errors import InputError, MissingToolError

ENGINES = ("libaio", "io_uring", "posixaio")  # asynchronous, in the order of preference
PATIENCE_S = 5  # how long fio may take to end after it was asked to


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
            When this fio does not have it.
        """
        choices = ENGINES if wanted == ENGINES[0] else (wanted,)
        found = next((name for name in choices if name in self.engines), None)
        if found is None:
            raise InputError(
                f"ioengine '{wanted}' is not in {self.version} here; it has: {', '.join(self.engines)}"
            )
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


def run(argv: Sequence[str], fio: Fio, folder: Path, lock: int) -> tuple[int, str]:
    """Run fio to its end in a folder; it ends with us when we are interrupted.

    Parameters
    ----------
    argv : sequence of str
        The command line, with ``fio`` first.
    fio : Fio
        The program.
    folder : Path
        Where it is started.
    lock : int
        A file descriptor with a lock; fio inherits it, so the lock lasts as long as fio does even when
        this process is killed.

    Returns
    -------
    (status, text)
        Exit status, and what it wrote to its error output.
    """
    with subprocess.Popen(  # noqa: S603  an argument list, no shell
        argv,
        executable=fio.path,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        pass_fds=(lock,),
        process_group=0,  # an interrupt from the terminal reaches us alone, and we end fio
    ) as process:
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
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _ask(path: str, option: str) -> str:
    answer = subprocess.run([path, option], capture_output=True, text=True, check=False)  # noqa: S603
    return answer.stdout
