"""The server's side of NBD, without any I/O: bytes go in, requests and replies come out.

Fixed newstyle negotiation, several exports, simple replies; no TLS, no structured replies (a client that
asks for them is told that they are not supported, and goes on without).

The numbers of the protocol are in :mod:`azbenchlib.lab.nbd`.
"""

from __future__ import annotations

import errno
import struct
import sys
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from azbenchlib.core.units import KIB, MIB
from azbenchlib.lab import nbd
from azbenchlib.lab.server.store import OTHER_FOLDER

LARGEST_REQUEST = 32 * MIB  # of one read, write or zeroing; every client may ask for that much
MOST_REQUESTS = 1024  # in flight on one connection
MOST_BYTES = 64 * MIB  # that are asked for and not yet read, on one connection
_LONGEST_OPTION = 64 * KIB  # names are at most 4,096 bytes

_BLOCK_SIZES = (1, 4 * KIB, LARGEST_REQUEST)  # smallest, preferred, largest

_KNOWN_FLAGS = {
    nbd.READ: nbd.FUA,
    nbd.WRITE: nbd.FUA,
    nbd.FLUSH: nbd.FUA,
    nbd.TRIM: nbd.FUA,
    nbd.ZERO: nbd.FUA | nbd.NO_HOLE,
}
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


class Export(Protocol):
    """What a client can connect to: :class:`azbenchlib.lab.server.store.Store`."""

    name: str
    size_bytes: int
    folder: Path

    def read(self, offset: int, length: int) -> bytes: ...
    def write(self, offset: int, data: memoryview | bytes) -> None: ...
    def trim(self, offset: int, length: int) -> bool: ...
    def zero(self, offset: int, length: int, hole: bool = True) -> None: ...


@dataclass
class ProtocolLimits:
    """What one connection may have under way; whoever has several of them shares it out.

    Attributes
    ----------
    requests : int
        In flight.
    reply_bytes : int
        That are made ready before they are sent; longer replies are made ready in pieces.
    """

    requests: int = MOST_REQUESTS
    reply_bytes: int = sys.maxsize


class Connection:
    """One client's conversation. Of what a client sends, at most a header or an option is left to be kept.

    Parameters
    ----------
    exports : mapping of str to Export
    submit : callable
        Takes (connection, op, cookie, offset, length, fua) of a request that is in order. What it writes
        is in the store by then; whoever takes it calls :meth:`complete` when it is due.
    warn : callable
        Takes a sentence about a fault of the client or of the store.
    limits : Limits, optional
        Those that hold now; they may change.

    Attributes
    ----------
    out : list of bytes
        What is to be sent; whoever sends it removes it and calls :meth:`sent`.
    waiting : bool
        Whether replies are due that are not in `out` yet; :meth:`more` when that is empty.
    needed : int
        Bytes of the option, or of the request with what it writes, that is under way.
    full : bool
        Whether so much is in flight that no more is taken; :meth:`feed` again after :meth:`complete`.
    ended : bool
        Whether nothing more is taken from this client, ever.
    broken : bool
        Whether that is so because it broke the rules; what it has in flight is not answered.
    """

    def __init__(
        self,
        exports: Mapping[str, Export],
        submit: Callable[[Connection, int, int, int, int, bool], None],
        warn: Callable[[str], None],
        limits: ProtocolLimits | None = None,
    ) -> None:
        self._exports, self._submit, self._warn = exports, submit, warn
        self._limits = limits or ProtocolLimits()
        self.out: list[bytes | memoryview] = [nbd.GREETING]
        self.needed, self.in_flight = 4, 0
        self.full = self.ended = self.broken = self.waiting = False
        self._unsent, self._asked_bytes = len(nbd.GREETING), 0
        self._due: deque[tuple[int, int, int, int]] = (
            deque()
        )  # replies that wait: cookie, error, offset, length
        self._begun = 0, 0  # what is still to be read of the reply that is being sent: offset, length
        self._write = 0, 0, 0, 0, 0  # what is still to come of a write: flags, cookie, offset, length, error
        self._taken = 0  # bytes of it that came
        self._zeroes = True
        # a function and no method: what refers to itself keeps its memory until the collector comes by
        self._step: Callable[[Connection, memoryview], int] = Connection._client_flags

    def feed(self, view: memoryview) -> int:
        """Take in what the client sent; returns how many bytes of it are done with."""
        done = 0
        while not self.ended and not self.full and (used := self._step(self, view[done:])):
            done += used
        return len(view) if self.ended else done

    def complete(self, op: int, cookie: int, offset: int, length: int) -> None:
        """Answer a request that was submitted."""
        length = length if op == nbd.READ else 0
        if self.waiting or self._unsent + length > self._limits.reply_bytes:
            self._due.append((cookie, 0, offset, length))
            self.waiting = True
        else:
            self._answer(cookie, 0, offset, length)

    def _refuse(self, cookie: int, error: int) -> None:
        """Answer a request that the machine is not asked about, behind those that wait."""
        if self.waiting:
            self._due.append((cookie, error, 0, 0))
        else:
            self._answer(cookie, error)

    def sent(self, size: int) -> None:
        """So many bytes of `out` are gone."""
        self._unsent -= size

    def more(self) -> bool:
        """Make replies that wait ready, as many as may be; whether there is anything to send."""
        while self._unsent < self._limits.reply_bytes and (self._begun[1] or self._due):
            if self._begun[1]:
                self._go_on()
            else:
                self._answer(*self._due.popleft())
        self.waiting = bool(self._begun[1] or self._due)
        return bool(self.out)

    def hang_up(self) -> None:
        """Forget what was to be sent, and who asked."""
        self.ended, self.waiting, self._begun, self._submit = True, False, (0, 0), _nobody
        self.out.clear()
        self._due.clear()

    def _answer(self, cookie: int, error: int = 0, offset: int = 0, length: int = 0) -> None:
        """Answer a request; what is too long to be read at once follows."""
        data = b""
        if length:
            most = self._limits.reply_bytes
            size = length if length <= most else most
            self._asked_bytes -= length
            try:
                data = self.store.read(offset, size)
            except OSError as fault:
                error = self._error_of(fault)
            else:
                if size < length:
                    self._begun, self.waiting = (offset + size, length - size), True
        self.full = False
        self.in_flight -= 1
        self.out.append(nbd.REPLY.pack(nbd.REPLY_MAGIC, error, cookie))
        if data:
            self.out.append(data)
        self._unsent += 16 + len(data)

    def _go_on(self) -> None:
        """The next piece of what is read; an error can no longer be told but by hanging up."""
        offset, length = self._begun
        size = min(length, self._limits.reply_bytes)
        try:
            self._put(self.store.read(offset, size))
        except OSError as fault:
            self._error_of(fault)
            self.ended = self.broken = True
            self._begun = 0, 0
            self._due.clear()
        else:
            self._begun = offset + size, length - size

    def _put(self, data: bytes) -> None:
        self.out.append(data)
        self._unsent += len(data)

    def _break_off(self, why: str) -> int:
        self._warn(f"a client was cut off: {why}")
        self.ended = self.broken = True
        return 0

    # -- negotiation

    def _client_flags(self, view: memoryview) -> int:
        if len(view) < 4:
            return 0
        flags = int.from_bytes(view[:4])
        if flags & ~3:
            return self._break_off(f"it began with 0x{flags:08x}, which no NBD client does")
        self._zeroes = not flags & 2
        self._step, self.needed = Connection._option, nbd.OPTION.size
        return 4

    def _option(self, view: memoryview) -> int:
        self.needed = nbd.OPTION.size
        if len(view) < self.needed:
            return 0
        magic, option, length = nbd.OPTION.unpack_from(view)
        if magic != nbd.OPTION_MAGIC:
            return self._break_off(f"0x{magic:016x} is not how an NBD option begins")
        if length > _LONGEST_OPTION:
            return self._break_off(f"option {option} with {length:,} bytes is too long")
        self.needed += length
        if len(view) < self.needed:
            return 0
        used, self.needed = self.needed, nbd.OPTION.size
        self._negotiate(option, bytes(view[nbd.OPTION.size : used]))
        return used

    def _negotiate(self, option: int, data: bytes) -> None:
        if option == nbd.EXPORT_NAME:
            self._choose(data)
        elif option in (nbd.NBD_INFO, nbd.GO):
            self._tell(option, data)
        elif option == nbd.LIST:
            self._list(data)
        elif option == nbd.ABORT:
            self._reply(option, nbd.ACK)
            self.ended = True
        else:
            self._reply(option, nbd.UNSUPPORTED)

    def _reply(self, option: int, kind: int, data: bytes = b"") -> None:
        self._put(nbd.OPTION_REPLY.pack(nbd.OPTION_REPLY_MAGIC, option, kind, len(data)) + data)

    def _choose(self, name: bytes) -> None:
        """The old way to name an export: it cannot be refused but by hanging up."""
        store = self._exports.get(_text(name))
        if store is None:
            self._break_off(self._absent(name))
            return
        padding = bytes(124 if self._zeroes else 0)
        self._put(struct.pack(">QH", store.size_bytes, nbd.FLAGS) + padding)
        self._go(store)

    def _tell(self, option: int, data: bytes) -> None:
        """What an export is like, and for GO the end of the negotiation."""
        size = int.from_bytes(data[:4])
        name, rest = data[4 : 4 + size], data[4 + size :]
        if len(name) < size or len(rest) < 2 or len(rest) != 2 + 2 * int.from_bytes(rest[:2]):
            self._reply(option, nbd.INVALID, b"the lengths in this option do not agree")
            return
        store = self._exports.get(_text(name))
        if store is None:
            self._reply(option, nbd.UNKNOWN, self._absent(name).encode())
            return
        wanted = {kind for (kind,) in struct.iter_unpack(">H", rest[2:])}
        self._reply(option, nbd.INFORMATION, struct.pack(">HQH", nbd.OF_EXPORT, store.size_bytes, nbd.FLAGS))
        if nbd.OF_NAME in wanted:
            self._reply(option, nbd.INFORMATION, struct.pack(">H", nbd.OF_NAME) + store.name.encode())
        if nbd.OF_BLOCK_SIZE in wanted:
            self._reply(option, nbd.INFORMATION, struct.pack(">HIII", nbd.OF_BLOCK_SIZE, *_BLOCK_SIZES))
        self._reply(option, nbd.ACK)
        if option == nbd.GO:
            self._go(store)

    def _list(self, data: bytes) -> None:
        if data:
            self._reply(nbd.LIST, nbd.INVALID, b"this option has no data")
            return
        for name in self._exports:
            self._reply(nbd.LIST, nbd.SERVER, struct.pack(">I", len(name.encode())) + name.encode())
        self._reply(nbd.LIST, nbd.ACK)

    def _absent(self, name: bytes) -> str:
        return f"there is no export {_text(name[:80])!r}; there are: {', '.join(self._exports)}"

    def _go(self, store: Export) -> None:
        self.store = store
        self._step, self.needed = Connection._requests, nbd.REQUEST.size

    # -- transmission

    def _requests(self, view: memoryview) -> int:
        """As many requests as are there and may be in flight; of a write that is not whole, its header."""
        at, there, submit, unpack = 0, len(view), self._submit, nbd.REQUEST.unpack_from
        most = self._limits.requests
        while there - at >= 28:
            magic, flags, op, cookie, offset, length = unpack(view, at)
            if magic != nbd.REQUEST_MAGIC or (op == nbd.WRITE and length > LARGEST_REQUEST):
                return self._out_of_order(magic, length)
            if op == nbd.DISCONNECT:
                self.ended = True
                return 0
            end = at + 28 + (length if op == nbd.WRITE else 0)
            self.in_flight += 1
            error = self._refusal(op, flags, offset, length)
            if end > there:
                self._write, self._taken = (flags, cookie, offset, length, error), 0
                self._step, self.needed = Connection._payload, 28 + length
                return at + 28
            if not error and op != nbd.READ:
                error = self._apply(op, flags, offset, length, view[at + 28 : end])
            at = end
            if error or not (length or op == nbd.FLUSH):
                self._refuse(cookie, error)
                continue
            if op == nbd.READ:
                self._asked_bytes += length
            submit(self, op, cookie, offset, length, bool(flags & nbd.FUA))
            if self.in_flight >= most or self._asked_bytes >= MOST_BYTES:
                self.full = True
                break
        self.needed = 28
        return at

    def _payload(self, view: memoryview) -> int:
        """What comes of a write, into the store at once; the request counts when all of it is there."""
        flags, cookie, offset, length, error = self._write
        part = view[: length - self._taken]
        if not error and part:
            error = self._apply(nbd.WRITE, flags, offset + self._taken, len(part), part)
            self._write = flags, cookie, offset, length, error
        self._taken += len(part)
        if self._taken == length:
            self._step, self.needed = Connection._requests, nbd.REQUEST.size
            if error:
                self._refuse(cookie, error)
            else:
                self._submit(self, nbd.WRITE, cookie, offset, length, bool(flags & nbd.FUA))
                self.full = self.in_flight >= self._limits.requests
        return len(part)

    def _out_of_order(self, magic: int, length: int) -> int:
        if magic != nbd.REQUEST_MAGIC:
            return self._break_off(f"0x{magic:08x} is not how an NBD request begins")
        return self._break_off(f"a write of {length:,} bytes is above {LARGEST_REQUEST:,}")

    def _refusal(self, op: int, flags: int, offset: int, length: int) -> int:
        """The error of a request that is out of order, or 0."""
        if flags & ~_KNOWN_FLAGS.get(op, 0) or op not in _KNOWN_FLAGS:
            return nbd.EINVAL
        if offset + length > self.store.size_bytes:
            return nbd.ENOSPC if op in (nbd.WRITE, nbd.ZERO) else nbd.EINVAL
        if length > LARGEST_REQUEST and op in (nbd.READ, nbd.ZERO):
            return nbd.EINVAL
        return 0

    def _apply(self, op: int, flags: int, offset: int, length: int, data: memoryview) -> int:
        """Change the store as the request says; the error, or 0."""
        try:
            if op == nbd.WRITE:
                self.store.write(offset, data)
            elif op == nbd.ZERO:
                self.store.zero(offset, length, hole=not flags & nbd.NO_HOLE)
            elif op == nbd.TRIM:
                self.store.trim(offset, length)
        except OSError as fault:
            return self._error_of(fault)
        return 0

    def _error_of(self, fault: OSError) -> int:
        """NBD's number for a fault of the store, which is told once."""
        if fault.errno in _NO_ROOM:
            self._warn(
                f"volume '{self.store.name}': no more room for its data in {self.store.folder} "
                f"({fault.strerror}), so writes fail; {OTHER_FOLDER}"
            )
            return nbd.ENOSPC
        self._warn(f"volume '{self.store.name}': {fault.strerror}")
        return nbd.EIO


def _nobody(*request: object) -> None:
    """Nobody asks any more."""


def _text(name: bytes) -> str:
    return name.decode(errors="backslashreplace")
