"""A small NBD client: for machines whose fio has no nbd engine, and to talk to a lab from Python.

Source: NetworkBlockDevice/nbd doc/proto.md@174ad551.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from azbenchlib.core.errors import AzbenchError
from azbenchlib.lab import nbd

_FLAGS = struct.Struct(">I")
_EXPORT = struct.Struct(">QH")  # what answers the name of an export: its size and its flags
_PATIENCE_S = 60.0


class Client:
    """One connection to one export.

    Parameters
    ----------
    path : Path
        The socket.
    name : str
        The export.

    Raises
    ------
    AzbenchError
        Where the server hangs up: there is no such export.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_PATIENCE_S)
        self._socket.connect(str(path))
        self._receive(len(nbd.GREETING))
        option = nbd.OPTION.pack(nbd.OPTION_MAGIC, nbd.EXPORT_NAME, len(name.encode()))
        self._socket.sendall(_FLAGS.pack(nbd.HANDSHAKE_FLAGS) + option + name.encode())
        self.size_bytes, self.flags = _EXPORT.unpack(self._receive(_EXPORT.size))

    def request(
        self, op: int, offset: int = 0, length: int = 0, data: bytes = b"", flags: int = 0
    ) -> tuple[int, bytes]:
        """Send one request and wait for its reply: NBD's error number, and what was read."""
        self._socket.sendall(
            nbd.REQUEST.pack(nbd.REQUEST_MAGIC, flags, op, 0, offset, length or len(data)) + data
        )
        return self._reply({0: length if op == nbd.READ else 0})

    def read(self, offset: int, length: int) -> bytes:
        """So many bytes; AzbenchError where the server refuses."""
        error, data = self.request(nbd.READ, offset, length)
        return data if not error else self._refused("read", error)

    def write(self, offset: int, data: bytes) -> None:
        """Write; AzbenchError where the server refuses."""
        error, _ = self.request(nbd.WRITE, offset, data=data)
        if error:
            self._refused("write", error)

    def read_many(self, offsets: Sequence[int], length: int) -> None:
        """Read at all these places at once, and drop what comes."""
        requests = (
            nbd.REQUEST.pack(nbd.REQUEST_MAGIC, 0, nbd.READ, i, at, length) for i, at in enumerate(offsets)
        )
        self._socket.sendall(b"".join(requests))
        for _ in offsets:
            self._reply(dict.fromkeys(range(len(offsets)), length))

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _reply(self, lengths: dict[int, int]) -> tuple[int, bytes]:
        _, error, cookie = nbd.REPLY.unpack(self._receive(nbd.REPLY.size))
        return error, self._receive(0 if error else lengths[cookie])

    def _refused(self, what: str, error: int) -> bytes:
        raise AzbenchError(f"the lab refused to {what}: NBD error {error}")

    def _receive(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(size - len(parts))
            if not part:
                raise AzbenchError("the lab's server hung up")
            parts += part
        return bytes(parts)
