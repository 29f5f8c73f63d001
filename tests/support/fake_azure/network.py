"""A connection passed on from one socket to another; needs only the standard library."""

import socket
from contextlib import suppress


def pass_on(source: socket.socket, target: socket.socket) -> None:
    """Copy until the source ends."""
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
