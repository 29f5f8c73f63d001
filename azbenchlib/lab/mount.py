"""An emulated disk as a file, for programs that speak no NBD, such as iozone.

QEMU's storage daemon is an NBD client that exports what it reaches as a file through FUSE. It quantises
nothing and limits nothing; the lab behind it does. Source: QEMU 7.2, qemu-storage-daemon(1).
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from azbenchlib.core.errors import AzbenchError, MissingToolError

DAEMON = "qemu-storage-daemon"
FUSE = Path("/dev/fuse")
_START_S = 10.0
_POLL_S = 0.05
_END_S = 5.0


def daemon() -> str:
    """The program's path.

    Raises
    ------
    MissingToolError
        When it or FUSE is not there; the sentence says how to get it.
    """
    found = shutil.which(DAEMON)
    if found is None:
        raise MissingToolError(
            f"mounting an emulated disk needs {DAEMON}; install it with `apt install qemu-system-common` "
            "or `dnf install qemu-img`"
        )
    if not os.access(FUSE, os.R_OK | os.W_OK):
        raise MissingToolError(
            f"mounting an emulated disk needs {FUSE}, which this user cannot open here; load the module with "
            "`modprobe fuse`, or start the container with --device /dev/fuse"
        )
    return found


@contextmanager
def mounted(socket: Path, volume: str, file: Path) -> Iterator[subprocess.Popen[str]]:
    """Have a volume of a running lab as a file, as long as this lasts.

    Parameters
    ----------
    socket : Path
        Where the lab listens.
    volume : str
        Its name in the lab.
    file : Path
        Made if it is not there, and then removed at the end; its content is hidden meanwhile.

    Yields
    ------
    Popen
        The daemon; it ends with this.

    Raises
    ------
    MissingToolError
        When there is no daemon or no FUSE.
    AzbenchError
        When the file does not become the volume.
    """
    program, ours = daemon(), not file.exists()
    try:
        file.touch(mode=0o600)
    except OSError as error:
        raise AzbenchError(f"{file}: cannot be made: {error.strerror}") from error
    address = f"export={_quoted(volume)},server.type=unix,server.path={_quoted(socket)}"
    server = f"driver=nbd,node-name=lab,{address}"
    export = f"type=fuse,id=lab,node-name=lab,mountpoint={_quoted(file.resolve())},writable=on"
    process = subprocess.Popen(  # noqa: S603  an argument list, no shell
        [*_ending_with_us(), program, "--blockdev", server, "--export", export],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    try:
        _wait(process, file)
        yield process
    finally:
        process.terminate()
        try:
            process.communicate(timeout=_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        _unmount(file)
        if ours:
            file.unlink(missing_ok=True)


def _quoted(text: Path | str) -> str:
    """A text within an option of QEMU, where a comma is written twice."""
    return str(text).replace(",", ",,")


def _ending_with_us() -> list[str]:
    """What a command begins with, so that the daemon ends too where we are killed. Source: setpriv(1)."""
    found = shutil.which("setpriv")
    return [found, "--pdeathsig", "TERM"] if found else []


def _unmount(file: Path) -> None:
    """Of a daemon that was killed, so that it could not do it itself. Source: fusermount(1), umount(8)."""
    if not _is_mounted(file):
        return
    for name, how in (("fusermount3", "-uz"), ("fusermount", "-uz"), ("umount", "-l")):
        program = shutil.which(name)
        if program is not None:
            subprocess.run([program, how, str(file)], check=False, capture_output=True)  # noqa: S603
            return


def _is_mounted(file: Path) -> bool:
    """Whether it is a volume, be it one that nobody answers for any more."""
    try:
        file.stat()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return os.path.ismount(file)


def _wait(process: subprocess.Popen[str], file: Path) -> None:
    deadline = time.monotonic() + _START_S
    while not os.path.ismount(file):
        if process.poll() is not None:
            said = process.communicate()[1].strip().splitlines()
            raise AzbenchError(f"{DAEMON} ended: {said[-1] if said else 'it did not say why'}")
        if time.monotonic() > deadline:
            raise AzbenchError(f"{file}: did not become an emulated disk within {_START_S:.0f} s")
        time.sleep(_POLL_S)
