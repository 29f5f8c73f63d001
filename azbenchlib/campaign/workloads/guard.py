"""A process between azbench and a program: it ends all that the program started, whoever is killed.

Jobs of fio are in sessions of their own, so no signal to a group reaches them, and a job whose fio was killed
may wait for it for ever. So this process, which is begun for each run, watches its parent: where that is
gone, or a signal comes, it ends the program, and when the program has ended, whatever is left of it. What
belongs to a run is known by a token in its environment. It is started as a file, by ``python -I -S``, and
imports nothing of ours.
"""

import os
import signal
import sys
import time
from contextlib import suppress

GUARD_FILE = __file__  # what Python is started with
TOKEN = "AZBENCH_PROCESSES"  # noqa: S105  environment variable; what it holds is no secret
# Environment variable with the command, so that who looks for a program by its command line finds it alone.
COMMAND, SEPARATOR = "AZBENCH_COMMAND", "\x1e"
GRACE_S = 5.0  # how long a program may take to end after it was asked to: fio waits for its jobs
_LOOK_S = 0.3  # between looks at the parent
_SWEEP_S = 10.0  # how long killed processes may take to be gone; one that waits for a disk may take longer
_SIGNALLED = 128  # and the number of the signal
_ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name))


def processes(token: str, besides: int = 0) -> list[int]:
    """Return the processes of a run that live, but for one."""
    mark, found = f"{TOKEN}={token}".encode(), []
    for name in os.listdir("/proc"):  # noqa: PTH208  as below
        with suppress(OSError):
            if name.isdigit() and int(name) != besides:
                with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123  pathlib takes longer than all else
                    if mark in file.read().split(b"\0"):
                        found.append(int(name))
    return found


def sweep(token: str, besides: int = 0) -> None:
    """End all processes of a run, but for one; return when they are gone, or after a while."""
    ends = time.monotonic() + _SWEEP_S
    while (some := processes(token, besides)) and time.monotonic() < ends:
        for pid in some:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _reap()
        time.sleep(0.01)


def main() -> None:
    """Run a program: its parent's number is our argument, its path and arguments come in the environment."""
    parent, token, number = int(sys.argv[1]), os.environ[TOKEN], os.getpid()
    path, *argv = os.environ.pop(COMMAND).split(SEPARATOR)
    waited_for = {signal.SIGCHLD, *_ENDS}
    signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
    child = os.posix_spawn(path, argv, os.environ, setsigmask=[], setsigdef=[signal.SIGPIPE])
    why, asked, status = 0, float("inf"), None
    while status is None:
        came = signal.sigtimedwait(waited_for, _LOOK_S)
        is_left = os.getppid() != parent
        if not why and (is_left or (came and came.si_signo in _ENDS)):
            why = came.si_signo if came and came.si_signo in _ENDS else signal.SIGTERM
            asked = time.monotonic()
            os.kill(child, signal.SIGTERM)
        if time.monotonic() > asked + GRACE_S:
            sweep(token, besides=number)
        status = _status_of(child)
    sweep(token, besides=number)
    _end(why, status)


def _status_of(child: int) -> int | None:
    """Return how the program ended; None while it runs."""
    with suppress(ChildProcessError):
        pid, status = os.waitpid(child, os.WNOHANG)
        return status if pid else None
    return 0


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _end(why: int, status: int) -> None:
    """End as the program did; where a signal came to us, with a status that tells of it, as a shell does."""
    if why:
        os._exit(_SIGNALLED + why)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main()
