"""Where the command line begins, before anything else is imported; to import this is to begin.

Two things hold from the first moment on. An interrupt ends the program without a word, also while modules
are being imported; what comes before this module belongs to Python itself. And no module or program of the
current folder, which may be one of others, is imported or run, neither here nor by any process that is
started from here: ``PYTHONSAFEPATH`` is what Python calls that (3.11, command line and environment).
"""

import _thread
import os
import sys
import time

_INTERRUPTED = 130  # what a shell tells of a program that SIGINT ended
_CALLBACK_ENDS = 0.02  # seconds


def main() -> None:
    """Run the command line."""
    from azbenchlib.cli import main as run

    sys.unraisablehook = _interrupt_again
    try:
        signal.signal(signal.SIGINT, _USUAL)
        run()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, _QUIET)  # while the interpreter ends


def _interrupt_again(raised: "sys.UnraisableHookArgs") -> None:
    """Report what a callback or a finalizer raised; send an interrupt again, which Python drops there."""
    if issubclass(raised.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_interrupt_soon, (_thread.get_ident(),))
    else:
        sys.__unraisablehook__(raised)


def _interrupt_soon(thread: int) -> None:
    """Interrupt a thread once its callback has had time to end, which would drop this one too."""
    time.sleep(_CALLBACK_ENDS)
    signal.pthread_kill(thread, signal.SIGINT)


def leave_out_current_folder() -> None:
    """Import and run nothing of the current folder, here and in all processes that are started from here.

    An empty entry of ``PYTHONPATH`` or ``PATH``, which a colon too many makes, means the current folder
    whichever that is, and so does a point; other folders that a user names there stay.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    _without_here("PATH", os.defpath)
    stated = os.environ.get("PYTHONPATH", "")
    if stated and (named := _without_here("PYTHONPATH", "")) != stated:
        ours = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120  pathlib takes a tenth of a help page
        here = {"", _current()} - {ours, *named.split(os.pathsep)}
        sys.path[:] = [entry for entry in sys.path if entry not in here]


def _current() -> str:
    """The current folder; empty where it was deleted."""
    try:
        return os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        return ""


def _without_here(name: str, otherwise: str) -> str:
    """A variable with a list of folders, without those that mean the current one; what it is then."""
    entries = os.environ.get(name, otherwise).split(os.pathsep)
    kept = [entry for entry in entries if os.path.normpath(entry) != os.curdir]
    os.environ[name] = os.pathsep.join(kept) or otherwise
    return os.environ[name]


try:
    leave_out_current_folder()
    import signal  # imports enum, so that it may be interrupted itself

    _USUAL = signal.getsignal(signal.SIGINT)
    _QUIET = signal.SIG_DFL if _USUAL is signal.default_int_handler else _USUAL
    signal.signal(signal.SIGINT, _QUIET)
except KeyboardInterrupt:
    sys.exit(_INTERRUPTED)
