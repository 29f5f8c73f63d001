"""What an emulated volume holds: a sparse file without a name, so that nothing of it outlives its server."""

import ctypes
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from azbenchlib.core.units import MIB

_PUNCH_HOLE = 0x02 | 0x01  # FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE; source: linux/falloc.h
_ZEROES = bytes(MIB)


OTHER_FOLDER = "TMPDIR=DIR, or --folder of `azbench lab start`, names another folder"


class Store:
    """The data of one volume.

    Parameters
    ----------
    name : str
        Of the volume, and of its export.
    size_bytes : int
        What a client sees; only what was written takes room.
    folder : Path
        On whose file system the data lies.

    Notes
    -----
    All methods raise OSError where the file system does: ENOSPC and EFBIG (a file system's or a user's
    largest file) when there is no more room.
    """

    def __init__(self, name: str, size_bytes: int, folder: Path) -> None:
        self.name, self.size_bytes, self.folder = name, size_bytes, folder
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115  it lives as long as we do
        self._fd = self._file.fileno()

    def read(self, offset: int, length: int) -> bytes:
        """So many bytes; zero where nothing was written."""
        data = os.pread(self._fd, length, offset)
        return data if len(data) == length else data + bytes(length - len(data))

    def write(self, offset: int, data: memoryview | bytes) -> None:
        """All of the data, or an OSError."""
        written = os.pwrite(self._fd, data, offset)
        while written < len(data):  # a file system that is nearly full takes a part, then refuses
            written += os.pwrite(self._fd, data[written:], offset + written)

    def trim(self, offset: int, length: int) -> bool:
        """Give back the room; then it reads as zeroes. False: this system or file system cannot."""
        return bool(length) and _punch_hole(self._fd, offset, length)

    def zero(self, offset: int, length: int, hole: bool = True) -> None:
        """Make it read as zeroes; `hole`: it need not keep its room."""
        if hole and self.trim(offset, length):
            return
        for start in range(offset, offset + length, MIB):
            self.write(start, _ZEROES[: offset + length - start])

    def close(self) -> None:
        """Give back everything."""
        self._file.close()


def _punch_hole(fd: int, offset: int, length: int) -> bool:
    return _FALLOCATE is not None and _FALLOCATE(fd, _PUNCH_HOLE, offset, length) == 0


def _fallocate() -> Callable[..., int] | None:
    """The C library's fallocate, which Linux alone has."""
    found = getattr(ctypes.CDLL(None), "fallocate", None)
    if found is not None:
        found.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return found


_FALLOCATE = _fallocate()
