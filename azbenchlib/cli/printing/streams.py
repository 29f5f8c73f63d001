"""Standard output and stderr of the command line, and what becomes of what nobody takes.

A verb does its work to the end whatever its output does. A reader that has seen enough, as of ``| head``,
changes neither its exit code nor what it says; an output that cannot be written is told at the end.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, TextIO


class _Output(io.FileIO):
    """A stream that goes on, silently, when its reader ends, its terminal is closed or its disk is full.

    Attributes
    ----------
    fault : str
        Why it cannot be written; empty where only its reader has gone.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number, "w", closefd=False)
        self._left = (errno.EPIPE, errno.EIO) if self.isatty() else (errno.EPIPE,)
        self.fault = ""

    def write(self, data: Any, /) -> int:
        """As of a file; what does not arrive is taken all the same."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in self._left:
                self.fault = error.strerror or str(error)
            _open_nowhere(self.fileno(), os.O_WRONLY)
            return memoryview(data).nbytes


def take_over() -> None:
    """Put streams that never fail in the place of standard output and stderr, where Python has its own."""
    _open_closed()
    for name in ("stdout", "stderr"):
        stream: TextIO = getattr(sys, name)
        if isinstance(raw := _raw(stream), io.FileIO) and isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, _unfailing(stream, raw))
        take_any_character(getattr(sys, name))


def fault_of_result() -> str:
    """Flush standard output: why it could not be written, where that is so; else empty."""
    sys.stdout.flush()
    raw = _raw(sys.stdout)
    return raw.fault if isinstance(raw, _Output) else ""


def take_any_character(stream: TextIO) -> None:
    """Let a stream take what its encoding lacks, as cp1252 of Windows lacks bars.

    A file or a pipe gets UTF-8, as from Python 3.15 on, lest a name in it be changed. A terminal shows a
    question mark, and so does a stream whose encoding PYTHONIOENCODING names.
    """
    if not isinstance(stream, io.TextIOWrapper) or stream.encoding.lower().startswith("utf"):
        return
    if stream.isatty() or "PYTHONIOENCODING" in os.environ:
        stream.reconfigure(errors="replace")
    else:
        stream.reconfigure(encoding="utf-8")


def _raw(stream: TextIO) -> object:
    buffer = getattr(stream, "buffer", None)
    return getattr(buffer, "raw", buffer)


def _unfailing(stream: io.TextIOWrapper, raw: io.FileIO) -> io.TextIOWrapper:
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(raw.fileno())),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )


def _open_closed() -> None:
    """Give a number to a stream that the caller closed, or the next file that is opened would get it.

    What is written to standard output then fails and is told; what is written to stderr is nobody's.
    """
    for number, name, how in ((1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            _open_nowhere(number, how)
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))


def _open_nowhere(number: int, how: int) -> None:
    """Let a number of a file stand for one that keeps nothing."""
    opened = os.open(os.devnull, how)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
