"""The program fio on this machine: which one, and what it can do."""

import platform
import shutil
import subprocess
from dataclasses import dataclass

from azbenchlib.campaign.workloads import fio_options
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
