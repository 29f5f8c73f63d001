"""The loop of the lab: clients' bytes in, the emulated machine asked, replies out when they are due.

One thread, one heap of what is due, replies batched. Emulated time is real time divided by k.
"""

from __future__ import annotations

import errno
import heapq
import selectors
import socket
import sys
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from time import perf_counter
from typing import Any, Protocol

from azbenchlib.core.units import KIB, MIB
from azbenchlib.lab.server.protocol import MOST_REQUESTS, Connection, Export, ProtocolLimits
from azbenchlib.lab.server.selector import Selector

_TICK_S = 0.2  # how often the state is told
# What all clients together may make the server hold, and the least and the most that one of them has of it:
# of replies that are ready, and of bytes that are received at once into a buffer that they share.
_BYTES, _REPLIES, _RECEIVED = 64 * MIB, (64 * KIB, MIB), (16 * KIB, 256 * KIB)
_REQUESTS = 64 * MOST_REQUESTS  # in flight; a client has 64 at least
_LEAST_REQUESTS = 64
_CLIENTS = 4096
_AT_ONCE = 512  # pieces of one send; the system's limit is 1,024 (IOV_MAX)
_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_TOO_MANY = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_SENTENCES = 200  # different ones that are told; what garbage comes in is without end


class EmulatedVm(Protocol):
    """What decides when a request is complete: :class:`azbenchlib.lab.engine.virtual_machine.Machine`."""

    def submit(
        self,
        volume: str,
        op: int,
        offset: int,
        length: int,
        now: float,
        done: Callable[[float], None],
        fua: bool = False,
    ) -> None: ...
    def advance(self, now: float) -> float | None: ...


class Server:
    """Clients of the exports, served as fast as an emulated machine would.

    Parameters
    ----------
    machine : Emulated
        In emulated seconds; its time begins at 0 when the server is made.
    exports : mapping of str to Export
        By name of the volume.
    time_scale : float
        Real seconds of one emulated second, k.
    floor_s : float
        Real seconds that the way to the client and back takes anyway: replies go out so much earlier.
    tick : callable
        Called about every 0.2 s.
    """

    def __init__(
        self,
        machine: EmulatedVm,
        exports: Mapping[str, Export],
        time_scale: float,
        floor_s: float,
        tick: Callable[[], None],
    ) -> None:
        self.exports, self.stopped = exports, False
        self.late_s: list[float] = []  # how late completions were; whoever reads it empties it
        self._machine, self._k, self._floor, self._tick = machine, time_scale, floor_s, tick
        self._due: list[tuple[Any, ...]] = []
        self._next_number = count().__next__
        self._selector = Selector()
        self._listeners: list[socket.socket] = []
        self._refused = False
        self._told: set[str] = set()
        self._begin = self._now = perf_counter()
        self._buffer = memoryview(bytearray(_RECEIVED[1]))
        self._clients = 0
        self.limits, self.received = ProtocolLimits(), self._buffer
        self._share()

    @property
    def emulated_s(self) -> float:
        """Emulated seconds since the start."""
        return (perf_counter() - self._begin) / self._k

    def dilate(self, time_scale: float) -> None:
        """Go on with another k from now; what is scheduled already completes when it was going to."""
        now = perf_counter()
        self._begin, self._k = now - (now - self._begin) / self._k * time_scale, time_scale

    def listen(self, listener: socket.socket) -> None:
        """Take clients from a socket that listens."""
        listener.setblocking(False)
        self._listeners.append(listener)
        self._selector.register(listener, _READ, partial(self._accept, listener))

    def watch(self, file: int, call: Callable[[], None]) -> None:
        """Call when there is something to read from a pipe."""
        self._selector.register(file, _READ, lambda events: call())

    def warn(self, sentence: str) -> None:
        """One line on stderr, once."""
        if sentence not in self._told and len(self._told) < _SENTENCES:
            self._told.add(sentence)
            sys.stderr.write(f"{sentence}\n")
            sys.stderr.flush()

    def run(self) -> None:
        """Serve until `stopped` is set."""
        due, advance, select = self._due, self._machine.advance, self._selector.select
        next_tick = perf_counter() + _TICK_S
        while not self.stopped:
            if perf_counter() >= next_tick:
                self._tick()
                self._accept_again()
                next_tick = perf_counter() + _TICK_S
            event = advance((perf_counter() - self._begin) / self._k)
            until = next_tick if event is None else min(next_tick, self._begin + event * self._k)
            if due and due[0][0] < until:
                until = due[0][0]
            for key, events in select(max(0.0, until - perf_counter())):
                self._now = perf_counter()
                if due and due[0][0] <= self._now:
                    self._complete()
                key.data(events)
            self._complete()

    def close(self) -> None:
        """Hang up on everybody."""
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()

    # -- requests

    def submit(
        self,
        client: ClientSocket,
        conn: Connection,
        op: int,
        cookie: int,
        offset: int,
        length: int,
        fua: bool,
    ) -> None:
        """Ask the machine when a request is complete."""
        now = (perf_counter() - self._begin) / self._k
        done = partial(self._schedule, client, op, cookie, offset, length)
        self._machine.submit(conn.store.name, op, offset, length, now, done, fua)

    def _schedule(
        self, client: ClientSocket, op: int, cookie: int, offset: int, length: int, due: float
    ) -> None:
        at = max(self._now, self._begin + due * self._k - self._floor)
        heapq.heappush(self._due, (at, self._next_number(), client, op, cookie, offset, length))

    def _complete(self) -> None:
        """Answer everything that is due."""
        due, now = self._due, perf_counter()
        if not due or due[0][0] > now:
            return
        self.late_s.append(now - due[0][0])
        touched = set()
        while due and due[0][0] <= now:
            _, _, client, op, cookie, offset, length = heapq.heappop(due)
            if not client.closed:
                client.connection.complete(op, cookie, offset, length)
                touched.add(client)
        for client in touched:
            client.proceed()

    # -- clients

    def _accept(self, listener: socket.socket, events: int) -> None:
        if self._clients >= _CLIENTS:
            self._let_wait(f"{_CLIENTS:,} are connected")
            return
        try:
            conn, _ = listener.accept()
        except OSError as error:
            if error.errno in _TOO_MANY:
                self._let_wait(f"{error.strerror}; `ulimit -n` says how many may connect")
            return
        conn.setblocking(False)
        self._clients += 1
        self._share()
        if conn.family != socket.AF_UNIX:
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ClientSocket(self, conn, self._selector).proceed()

    def gone(self) -> None:
        """A client has left."""
        self._clients -= 1
        self._share()

    def _share(self) -> None:
        """Share out what may be held: the more clients, the less for each."""
        share = _BYTES // max(1, self._clients)
        self.limits.reply_bytes = min(_REPLIES[1], max(_REPLIES[0], share))
        self.received = self._buffer[: min(_RECEIVED[1], max(_RECEIVED[0], share))]
        requests = max(_LEAST_REQUESTS, _REQUESTS // max(1, self._clients))
        self.limits.requests = min(MOST_REQUESTS, requests)

    def _let_wait(self, why: str) -> None:
        """Take no more clients for a while."""
        self.warn(f"a client has to wait: {why}")
        self._refused = True
        for each in self._listeners:
            self._selector.unregister(each)

    def _accept_again(self) -> None:
        """Look after those who had to wait, for somebody may have left meanwhile."""
        if self._refused:
            self._refused = False
            for listener in self._listeners:
                self._selector.register(listener, _READ, partial(self._accept, listener))


class ClientSocket:
    """One connection: its socket, and what of its bytes is not used or not sent yet."""

    def __init__(self, server: Server, sock: socket.socket, selector: Selector) -> None:
        self.closed = False
        submit = partial(server.submit, self)
        self.connection = Connection(server.exports, submit, server.warn, server.limits)
        self._socket, self._selector, self._server = sock, selector, server
        self._rest = bytearray()  # what is not used, with room for what is missing; mostly nothing
        self._held = 0  # bytes of it that are filled
        self._events = 0

    def proceed(self) -> None:
        """Send what there is to send, take in what had to wait, and see what to wait for."""
        self._send()
        connection = self.connection
        while self._held and not (connection.full or connection.out or connection.ended):
            before = self._held
            self._feed(memoryview(self._rest)[:before])
            self._send()
            if self._held == before:
                break
        self._await()

    def _ready(self, events: int) -> None:
        if events & _READ and not self.closed:
            self._receive()
        self.proceed()

    def _receive(self) -> None:
        if self._held and self.connection.needed > len(self._rest):
            self._rest.extend(bytes(self.connection.needed - len(self._rest)))
        held = self._held
        room = memoryview(self._rest)[held:] if held else self._server.received
        try:
            size = self._socket.recv_into(room)
        except BlockingIOError:
            return
        except OSError:
            size = 0
        if not size:
            self._close()
        else:
            self._feed(memoryview(self._rest)[: held + size] if held else room[:size])

    def _feed(self, view: memoryview) -> None:
        """Have the bytes used, and keep the rest."""
        used = self.connection.feed(view)
        left = len(view) - used
        if used or not self._held:
            rest = bytearray(max(left, self.connection.needed) if left else 0)
            rest[:left] = view[used:]
            self._rest = rest
        self._held = left

    def _send(self) -> None:
        connection, out = self.connection, self.connection.out
        while (out or (connection.waiting and connection.more())) and not self.closed:
            try:
                sent = self._socket.sendmsg(out[:_AT_ONCE])
            except BlockingIOError:
                return
            except OSError:
                self._close()
                return
            connection.sent(sent)
            _drop(out, sent)

    def _await(self) -> None:
        """Wait for what is next; a client that does not fetch its replies may send no more."""
        connection = self.connection
        if connection.ended and not connection.out and (connection.broken or not connection.in_flight):
            self._close()
        if self.closed:
            return
        wanted = _WRITE if connection.out else 0 if connection.full or connection.ended else _READ
        if wanted == self._events:
            return
        if not wanted:
            self._selector.unregister(self._socket)
        elif self._events:
            self._selector.modify(self._socket, wanted, self._ready)
        else:
            self._selector.register(self._socket, wanted, self._ready)
        self._events = wanted

    def _close(self) -> None:
        if not self.closed:
            self.closed = True
            if self._events:
                self._selector.unregister(self._socket)
            self._socket.close()
            self._rest, self._held = bytearray(), 0
            self.connection.hang_up()
            self._server.gone()


def _drop(out: list[bytes | memoryview], sent: int) -> None:
    """Take what was sent off the front."""
    for i, piece in enumerate(out):
        if sent < len(piece):
            out[: i + 1] = [memoryview(piece)[sent:]]
            return
        sent -= len(piece)
    out.clear()
