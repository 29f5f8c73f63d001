"""What clients can make the lab's server hold: little, however many they are, whatever they leave undone."""

import gc
import os
import socket
import struct
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_tools import SIZE, connect, free, own_cache, status  # noqa: F401

from azbenchlib.lab.client import Client
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.nbd import READ, WRITE
from azbenchlib.lab.server import event_loop as serving
from azbenchlib.lab.server.protocol import LARGEST_REQUEST, Connection, ProtocolLimits
from azbenchlib.lab.server.store import Store

MANY = 60
MIB_IN_KIB = 1024
MOST_KIB = 160 * MIB_IN_KIB  # above what it held before; 60 writes or reads of 32 MiB are twelve times that


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab(*free("data"), time_scale=1) as found:
        yield found


@pytest.fixture
def clients(lab: Lab) -> Iterator[list[Client]]:
    found = [connect(lab, "data") for _ in range(MANY)]
    yield found
    for client in found:
        client.close()


def header(op: int, length: int, offset: int = 0, cookie: int = 0) -> bytes:
    return struct.pack(">IHHQQI", 0x25609513, 0, op, cookie, offset, length)


def resident(lab: Lab) -> int:
    return status(lab.pid or 0, "VmRSS")


def served(lab: Lab) -> None:
    """A client that keeps to the rules gets what it asks for, small and large."""
    with connect(lab, "data") as good:
        for size in (4096, LARGEST_REQUEST):
            data = os.urandom(size)
            good.write(128 * 2**20, data)
            assert good.read(128 * 2**20, size) == data


def peak(lab: Lab) -> int:
    return status(lab.pid or 0, "VmHWM")


@pytest.mark.parametrize("sent", [0, 1, 4096, 2**20, LARGEST_REQUEST - 1])
@pytest.mark.sampled(3)
def test_writes_that_are_half_sent_hold_next_to_nothing(lab: Lab, clients: list[Client], sent: int) -> None:
    before = peak(lab)
    for client in clients[: MANY if sent <= 2**20 else 12]:
        client._socket.sendall(header(WRITE, LARGEST_REQUEST) + bytes(sent))
    served(lab)
    assert peak(lab) - before < MOST_KIB


def test_replies_that_nobody_fetches_hold_no_more_than_a_share(lab: Lab, clients: list[Client]) -> None:
    served(lab)
    before = peak(lab)
    for client in clients:
        client._socket.sendall(b"".join(header(READ, LARGEST_REQUEST, cookie=i) for i in range(8)))
    served(lab)
    assert peak(lab) - before < MOST_KIB
    for client in clients[:3]:
        assert (
            len(client._reply({0: LARGEST_REQUEST})[1]) == LARGEST_REQUEST
        )  # whoever comes for them gets them


def test_small_requests_without_end_are_taken_as_far_as_there_is_room(
    lab: Lab, clients: list[Client]
) -> None:
    before = peak(lab)
    for client in clients:
        client._socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            while True:
                client._socket.send(header(READ, 4096) * 1000)
    served(lab)
    assert peak(lab) - before < MOST_KIB


def test_who_hangs_up_leaves_nothing_behind(lab: Lab) -> None:
    """Two thousand clients, one after the other, that leave in the middle of a write or of a reply."""
    served(lab)
    before = resident(lab)
    for number in range(2000):
        with connect(lab, "data") as client:
            client._socket.sendall(
                (header(WRITE, LARGEST_REQUEST) + bytes(70_000), header(READ, LARGEST_REQUEST))[number % 2]
            )
    served(lab)
    assert resident(lab) - before < 24 * MIB_IN_KIB


def test_a_client_that_is_closed_is_gone_at_once(tmp_path: Path) -> None:
    """Nothing refers to itself, so that no memory waits for a collector, which the server runs rarely."""
    store = Store("data", SIZE, tmp_path)
    one, other = socket.socketpair()
    server = serving.Server(_Never(), {"data": store}, 1, 0, lambda: None)
    gc.disable()
    try:
        one.setblocking(False)
        client = serving.ClientSocket(server, one, server._selector)
        other.sendall(struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", 1, 4) + b"data")
        client._ready(serving._READ)
        other.sendall(header(WRITE, LARGEST_REQUEST) + bytes(1000))
        client._ready(serving._READ)
        assert client.connection.needed == LARGEST_REQUEST + 28 and not client.closed
        other.close()
        client._ready(serving._READ)
        assert client.closed
        seen = weakref.ref(client), weakref.ref(client.connection)
        del client
        assert [each() for each in seen] == [None, None]
    finally:
        gc.enable()
        server.close()
        store.close()


class _Never:
    """A machine that completes nothing."""

    def submit(self, *request: object) -> None:
        raise AssertionError("nothing is asked")

    def advance(self, now: float) -> float | None:
        return None


def test_a_long_reply_is_made_in_pieces_and_what_is_due_meanwhile_comes_behind_it(tmp_path: Path) -> None:
    limits = ProtocolLimits(reply_bytes=1000)
    store = Store("data", SIZE, tmp_path)
    asked: list[tuple[int, int, int, int, bool]] = []
    talk = Connection({"data": store}, lambda _, *what: asked.append(what), print, limits)
    talk.feed(memoryview(struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", 1, 4) + b"data"))
    data = os.urandom(10_000)
    talk.feed(memoryview(header(WRITE, 10_000) + data[:3000]))
    talk.feed(memoryview(data[3000:] + header(READ, 10_000, cookie=1) + header(READ, 10, cookie=2)))
    talk.sent(sum(map(len, talk.out)))
    talk.out.clear()
    for op, cookie, offset, length, _ in asked:
        talk.complete(op, cookie, offset, length)
    talk.feed(memoryview(header(99, 5, cookie=3)))
    got = b""
    while talk.out or (talk.waiting and talk.more()):
        assert sum(map(len, talk.out)) <= limits.reply_bytes + 1016
        got += b"".join(talk.out)
        talk.sent(sum(map(len, talk.out)))
        talk.out.clear()
    reply = struct.Struct(">IIQ")
    magic = 0x67446698
    refused, wrote = reply.pack(magic, 22, 3), reply.pack(magic, 0, 0)
    assert got == wrote + reply.pack(magic, 0, 1) + data + reply.pack(magic, 0, 2) + data[:10] + refused
    assert talk.in_flight == 0 and not talk.full
    store.close()


def test_a_write_that_is_refused_is_passed_over_in_whatever_pieces(tmp_path: Path) -> None:
    store = Store("data", 4096, tmp_path)
    talk = Connection({"data": store}, lambda *_: pytest.fail("it is out of bounds"), print)
    talk.feed(memoryview(struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", 1, 4) + b"data"))
    talk.out.clear()
    sent = header(WRITE, 5000, cookie=9) + bytes([255]) * 5000
    for start in range(0, len(sent), 700):
        assert talk.feed(memoryview(sent[start : start + 700])) == len(sent[start : start + 700])
    assert talk.out == [struct.pack(">IIQ", 0x67446698, 28, 9)]
    assert store.read(0, 4096) == bytes(4096)
    store.close()
