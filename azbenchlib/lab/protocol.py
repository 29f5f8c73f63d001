"""The server's side of NBD, without any I/O: bytes go in, requests and replies come out.

Fixed newstyle negotiation, several exports, simple replies; no TLS, no structured replies (a client that
asks for them is told that they are not supported, and goes on without).

Source: NetworkBlockDevice/nbd doc/proto.md@174ad551; all numbers below are from there.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable, Mapping
from typing import Protocol

from azbenchlib.units import KIB, MIB

READ, WRITE, DISCONNECT, FLUSH, TRIM, ZERO = 0, 1, 2, 3, 4, 6
LARGEST = 32 * MIB  # of one read, write or zeroing; every client may ask for that much
MOST_REQUESTS = 1024  # in flight on one connection
MOST_BYTES = 64 * MIB  # that are asked for and not yet read, on one connection
_LONGEST_OPTION = 64 * KIB  # names are at most 4,096 bytes

_GREETING = struct.pack(">8s8sH", b"NBDMAGIC", b"IHAVEOPT", 1 | 2)  # fixed newstyle, no zeroes
_OPTION = struct.Struct(">QII")
_OPTION_MAGIC = 0x49484156454F5054
_OPTION_REPLY = struct.Struct(">QIII")
_OPTION_REPLY_MAGIC = 0x3E889045565A9
_EXPORT_NAME, _ABORT, _LIST, _INFO, _GO = 1, 2, 3, 6, 7
_ACK, _SERVER, _INFORMATION = 1, 2, 3
_UNSUPPORTED, _INVALID, _UNKNOWN = 2**31 + 1, 2**31 + 3, 2**31 + 6
_OF_EXPORT, _OF_NAME, _OF_BLOCK_SIZE = 0, 1, 3
_BLOCK_SIZES = (1, 4 * KIB, LARGEST)  # smallest, preferred, largest

# Transmission flags: has flags, flush, FUA, trim, write zeroes, several connections see the same.
_FLAGS = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8
_REQUEST = struct.Struct(">IHHQQI")
_REQUEST_MAGIC = 0x25609513
_REPLY = struct.Struct(">IIQ")
_REPLY_MAGIC = 0x67446698
_FUA, _NO_HOLE = 1, 2
_KNOWN_FLAGS = {READ: _FUA, WRITE: _FUA, FLUSH: _FUA, TRIM: _FUA, ZERO: _FUA | _NO_HOLE}
_EIO, _EINVAL, _ENOSPC = 5, 22, 28
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


class Export(Protocol):
    """What a client can connect to: :class:`azbenchlib.lab.store.Store`."""

    name: str
    size_bytes: int

    def read(self, offset: int, length: int) -> bytes: ...
    def write(self, offset: int, data: memoryview | bytes) -> None: ...
    def trim(self, offset: int, length: int) -> bool: ...
    def zero(self, offset: int, length: int, hole: bool = True) -> None: ...


class Connection:
    """One client's conversation.

    Parameters
    ----------
    exports : mapping of str to Export
    submit : callable
        Takes (connection, op, cookie, offset, length, fua) of a request that is in order. What it writes
        is in the store by then; whoever takes it calls :meth:`complete` when it is due.
    complain : callable
        Takes a sentence about a fault of the client or of the store.

    Attributes
    ----------
    out : list of bytes
        What is to be sent; whoever sends it removes it.
    needed : int
        Bytes that :meth:`feed` must be given, what it left included, to get any further.
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
        complain: Callable[[str], None],
    ) -> None:
        self._exports, self._submit, self._complain = exports, submit, complain
        self.out: list[bytes | memoryview] = [_GREETING]
        self.needed, self.in_flight = 4, 0
        self.full = self.ended = self.broken = False
        self._asked_bytes = 0
        self._zeroes = True
        self._step = self._client_flags

    def feed(self, view: memoryview) -> int:
        """Take in what the client sent; returns how many bytes of it are done with."""
        done = 0
        while not self.ended and not self.full and (used := self._step(view[done:])):
            done += used
        return len(view) if self.ended else done

    def complete(self, op: int, cookie: int, offset: int, length: int) -> None:
        """Answer a request that was submitted."""
        error, data = 0, b""
        if op == READ:
            self._asked_bytes -= length
            try:
                data = self.store.read(offset, length)
            except OSError as fault:
                error = self._error_of(fault)
        self.full = False
        self._answer(cookie, error, data)

    def _answer(self, cookie: int, error: int = 0, data: bytes = b"") -> None:
        self.in_flight -= 1
        self.out.append(_REPLY.pack(_REPLY_MAGIC, error, cookie))
        if data:
            self.out.append(data)

    def _break_off(self, why: str) -> int:
        self._complain(f"a client was cut off: {why}")
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
        self._step, self.needed = self._option, _OPTION.size
        return 4

    def _option(self, view: memoryview) -> int:
        self.needed = _OPTION.size
        if len(view) < self.needed:
            return 0
        magic, option, length = _OPTION.unpack_from(view)
        if magic != _OPTION_MAGIC:
            return self._break_off(f"0x{magic:016x} is not how an NBD option begins")
        if length > _LONGEST_OPTION:
            return self._break_off(f"option {option} with {length:,} bytes is too long")
        self.needed += length
        if len(view) < self.needed:
            return 0
        used, self.needed = self.needed, _OPTION.size
        self._negotiate(option, bytes(view[_OPTION.size : used]))
        return used

    def _negotiate(self, option: int, data: bytes) -> None:
        if option == _EXPORT_NAME:
            self._choose(data)
        elif option in (_INFO, _GO):
            self._tell(option, data)
        elif option == _LIST:
            self._list(data)
        elif option == _ABORT:
            self._reply(option, _ACK)
            self.ended = True
        else:
            self._reply(option, _UNSUPPORTED)

    def _reply(self, option: int, kind: int, data: bytes = b"") -> None:
        self.out.append(_OPTION_REPLY.pack(_OPTION_REPLY_MAGIC, option, kind, len(data)) + data)

    def _choose(self, name: bytes) -> None:
        """The old way to name an export: it cannot be refused but by hanging up."""
        store = self._exports.get(_text(name))
        if store is None:
            self._break_off(self._absent(name))
            return
        padding = bytes(124 if self._zeroes else 0)
        self.out.append(struct.pack(">QH", store.size_bytes, _FLAGS) + padding)
        self._go(store)

    def _tell(self, option: int, data: bytes) -> None:
        """What an export is like, and for GO the end of the negotiation."""
        size = int.from_bytes(data[:4])
        name, rest = data[4 : 4 + size], data[4 + size :]
        if len(name) < size or len(rest) < 2 or len(rest) != 2 + 2 * int.from_bytes(rest[:2]):
            self._reply(option, _INVALID, b"the lengths in this option do not agree")
            return
        store = self._exports.get(_text(name))
        if store is None:
            self._reply(option, _UNKNOWN, self._absent(name).encode())
            return
        wanted = {kind for (kind,) in struct.iter_unpack(">H", rest[2:])}
        self._reply(option, _INFORMATION, struct.pack(">HQH", _OF_EXPORT, store.size_bytes, _FLAGS))
        if _OF_NAME in wanted:
            self._reply(option, _INFORMATION, struct.pack(">H", _OF_NAME) + store.name.encode())
        if _OF_BLOCK_SIZE in wanted:
            self._reply(option, _INFORMATION, struct.pack(">HIII", _OF_BLOCK_SIZE, *_BLOCK_SIZES))
        self._reply(option, _ACK)
        if option == _GO:
            self._go(store)

    def _list(self, data: bytes) -> None:
        if data:
            self._reply(_LIST, _INVALID, b"this option has no data")
            return
        for name in self._exports:
            self._reply(_LIST, _SERVER, struct.pack(">I", len(name.encode())) + name.encode())
        self._reply(_LIST, _ACK)

    def _absent(self, name: bytes) -> str:
        return f"there is no export {_text(name[:80])!r}; there are: {', '.join(self._exports)}"

    def _go(self, store: Export) -> None:
        self.store = store
        self._step, self.needed = self._requests, _REQUEST.size

    # -- transmission

    def _requests(self, view: memoryview) -> int:
        """As many requests as are there and may be in flight."""
        at, there, submit, unpack = 0, len(view), self._submit, _REQUEST.unpack_from
        while there - at >= 28:
            magic, flags, op, cookie, offset, length = unpack(view, at)
            if magic != _REQUEST_MAGIC or (op == WRITE and length > LARGEST):
                return self._out_of_order(magic, length)
            if op == DISCONNECT:
                self.ended = True
                return 0
            end = at + 28 + (length if op == WRITE else 0)
            if end > there:
                self.needed = end - at
                return at
            self.in_flight += 1
            error = self._refusal(op, flags, offset, length)
            if not error and op != READ:
                error = self._apply(op, flags, offset, length, view[at + 28 : end])
            at = end
            if error or not (length or op == FLUSH):
                self._answer(cookie, error)
                continue
            if op == READ:
                self._asked_bytes += length
            submit(self, op, cookie, offset, length, bool(flags & _FUA))
            if self.in_flight >= MOST_REQUESTS or self._asked_bytes >= MOST_BYTES:
                self.full = True
                break
        self.needed = 28
        return at

    def _out_of_order(self, magic: int, length: int) -> int:
        if magic != _REQUEST_MAGIC:
            return self._break_off(f"0x{magic:08x} is not how an NBD request begins")
        return self._break_off(f"a write of {length:,} bytes is above {LARGEST:,}")

    def _refusal(self, op: int, flags: int, offset: int, length: int) -> int:
        """The error of a request that is out of order, or 0."""
        if flags & ~_KNOWN_FLAGS.get(op, 0) or op not in _KNOWN_FLAGS:
            return _EINVAL
        if offset + length > self.store.size_bytes:
            return _ENOSPC if op in (WRITE, ZERO) else _EINVAL
        if length > LARGEST and op in (READ, ZERO):
            return _EINVAL
        return 0

    def _apply(self, op: int, flags: int, offset: int, length: int, data: memoryview) -> int:
        """Change the store as the request says; the error, or 0."""
        try:
            if op == WRITE:
                self.store.write(offset, data)
            elif op == ZERO:
                self.store.zero(offset, length, hole=not flags & _NO_HOLE)
            elif op == TRIM:
                self.store.trim(offset, length)
        except OSError as fault:
            return self._error_of(fault)
        return 0

    def _error_of(self, fault: OSError) -> int:
        """NBD's number for a fault of the store, which is told once."""
        if fault.errno in _NO_ROOM:
            self._complain(
                f"volume '{self.store.name}': no more room for its data ({fault.strerror}); writes fail"
            )
            return _ENOSPC
        self._complain(f"volume '{self.store.name}': {fault.strerror}")
        return _EIO


def _text(name: bytes) -> str:
    return name.decode(errors="backslashreplace")
