"""NBD as the lab speaks it: what a client may send, in whatever pieces, and what it is answered.

The numbers are those of the protocol's specification, written out by hand.
"""

import os
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.lab.server.protocol import LARGEST_REQUEST, MOST_REQUESTS, Connection
from azbenchlib.lab.server.store import Store

SIZE = 64 * 2**20
READ, WRITE, DISCONNECT, FLUSH, TRIM, CACHE, ZERO = 0, 1, 2, 3, 4, 5, 6
FUA, NO_HOLE = 1, 2
FLAGS = 0b1_0110_1101  # has flags, flush, FUA, trim, write zeroes, several connections
ACK, SERVER, INFO = 1, 2, 3
UNSUPPORTED, INVALID, UNKNOWN = 0x80000001, 0x80000003, 0x80000006


def option(number: int, data: bytes = b"") -> bytes:
    return b"IHAVEOPT" + struct.pack(">II", number, len(data)) + data


def go(name: str, *kinds: int, number: int = 7) -> bytes:
    data = struct.pack(">I", len(name.encode())) + name.encode()
    return option(number, data + struct.pack(f">H{len(kinds)}H", len(kinds), *kinds))


def request(
    op: int, offset: int = 0, length: int = 0, data: bytes = b"", flags: int = 0, cookie: int = 7
) -> bytes:
    return struct.pack(">IHHQQI", 0x25609513, flags, op, cookie, offset, length or len(data)) + data


class Talk:
    """A client of two volumes, whose requests are complete when it says so."""

    def __init__(self, folder: Path) -> None:
        self.stores = {name: Store(name, SIZE, folder) for name in ("data", "ultra:128GiB/50MBps")}
        self.submitted: list[tuple[int, int, int, int, bool]] = []
        self.said: list[str] = []
        self.connection = Connection(
            self.stores, lambda _, *what: self.submitted.append(what), self.said.append
        )
        self.rest = b""

    def send(self, *parts: bytes, complete: bool = True) -> bytes:
        """What the server has to say to that."""
        for part in parts:
            self.rest += part
            self.rest = self.rest[self.connection.feed(memoryview(self.rest)) :]
            while complete and self.submitted:
                op, cookie, offset, length, _ = self.submitted.pop(0)
                self.connection.complete(op, cookie, offset, length)
                self.rest = self.rest[self.connection.feed(memoryview(self.rest)) :]
        out, self.connection.out[:] = b"".join(self.connection.out), []
        return out

    def close(self) -> None:
        for store in self.stores.values():
            store.close()


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    found = Talk(tmp_path)
    yield found
    found.close()


@pytest.fixture
def disk(talk: Talk) -> Talk:
    """One that has agreed on a volume."""
    talk.send(struct.pack(">I", 3), go("data"))
    return talk


def replies(data: bytes) -> list[tuple[int, int, bytes]]:
    """Replies to options: option, kind, data."""
    found = []
    while data:
        magic, number, kind, size = struct.unpack_from(">QIII", data)
        assert magic == 0x3E889045565A9
        found.append((number, kind, data[20 : 20 + size]))
        data = data[20 + size :]
    return found


def error(data: bytes, cookie: int = 7) -> int:
    """The error of a reply without data."""
    magic, number, handle = struct.unpack(">IIQ", data)
    assert magic == 0x67446698 and handle == cookie
    return int(number)


def test_the_handshake_tells_size_flags_and_block_sizes(talk: Talk) -> None:
    assert talk.send() == b"NBDMAGICIHAVEOPT\x00\x03"
    talk.send(struct.pack(">I", 1))
    told = replies(talk.send(go("ultra:128GiB/50MBps", 3, 1, 99)))
    assert told == [
        (7, INFO, struct.pack(">HQH", 0, SIZE, FLAGS)),
        (7, INFO, struct.pack(">H", 1) + b"ultra:128GiB/50MBps"),
        (7, INFO, struct.pack(">HIII", 3, 1, 4096, 32 * 2**20)),
        (7, ACK, b""),
    ]
    assert error(talk.send(request(FLUSH))) == 0


def test_info_is_not_yet_go(talk: Talk) -> None:
    talk.send(struct.pack(">I", 3))
    assert [kind for _, kind, _ in replies(talk.send(go("data", number=6)))] == [INFO, ACK]
    assert [kind for _, kind, _ in replies(talk.send(go("data")))] == [INFO, ACK]


@pytest.mark.parametrize(("flags", "padding"), [(1, 124), (3, 0)])
def test_the_old_way_to_choose_an_export(talk: Talk, flags: int, padding: int) -> None:
    talk.send(struct.pack(">I", flags))
    assert talk.send(option(1, b"data")) == struct.pack(">QH", SIZE, FLAGS) + bytes(padding)
    assert error(talk.send(request(FLUSH))) == 0


def test_an_export_that_is_not_there_is_named_with_those_that_are(talk: Talk) -> None:
    talk.send(struct.pack(">I", 3))
    ((_, kind, sentence),) = replies(talk.send(go("nothing")))
    assert kind == UNKNOWN
    assert sentence == b"there is no export 'nothing'; there are: data, ultra:128GiB/50MBps"
    talk.send(option(1, b"nothing\n\x1b[2J"))
    assert talk.connection.ended
    assert len(talk.said) == 1 and "\n" not in talk.said[0] and "\x1b" not in talk.said[0]


def test_other_options_are_answered_and_the_next_is_understood(talk: Talk) -> None:
    talk.send(struct.pack(">I", 3))
    for number in (5, 8, 10, 4711):  # TLS, structured replies, contexts, none
        assert replies(talk.send(option(number, b"whatever"))) == [(number, UNSUPPORTED, b"")]
    names = [data[4:] for _, kind, data in replies(talk.send(option(3))) if kind == SERVER]
    assert names == [b"data", b"ultra:128GiB/50MBps"]
    assert [kind for _, kind, _ in replies(talk.send(option(3, b"x")))] == [INVALID]
    for broken in (b"", b"\x00\x00\x00\x09data\x00\x00", b"\x00\x00\x00\x04data\x00\x02\x00\x03"):
        assert [kind for _, kind, _ in replies(talk.send(option(7, broken)))] == [INVALID]
    assert replies(talk.send(option(2))) == [(2, ACK, b"")]
    assert talk.connection.ended and not talk.said


def test_what_is_written_is_read_and_what_is_not_is_zero(disk: Talk) -> None:
    data = os.urandom(5000)
    assert error(disk.send(request(WRITE, 4096, data=data))) == 0
    answer = disk.send(request(READ, 4000, 6000))
    assert error(answer[:16]) == 0
    assert answer[16:] == bytes(96) + data + bytes(904)
    assert disk.send(request(READ, SIZE - 512, 512))[16:] == bytes(512)


def test_trim_and_zeroing(disk: Talk, tmp_path: Path) -> None:
    used = os.fstat(disk.stores["data"]._fd)
    disk.send(request(WRITE, 0, data=b"x" * 2**20))
    full = os.fstat(disk.stores["data"]._fd).st_blocks
    assert full > used.st_blocks
    assert error(disk.send(request(ZERO, 4096, 8192, flags=NO_HOLE))) == 0
    assert os.fstat(disk.stores["data"]._fd).st_blocks == full
    assert disk.send(request(READ, 4095, 8194))[16:] == b"x" + bytes(8192) + b"x"
    assert error(disk.send(request(ZERO, 100, 2**20 - 200))) == 0
    assert disk.send(request(READ, 0, 2**20))[16:] == b"x" * 100 + bytes(2**20 - 200) + b"x" * 100
    assert error(disk.send(request(TRIM, 0, 40 * 2**20))) == 0  # longer than a read may be
    assert disk.send(request(READ, 0, 100))[16:] in (bytes(100), b"x" * 100)  # it is a hint


def test_where_holes_cannot_be_made_zeroes_are_written(disk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("azbenchlib.lab.server.store._FALLOCATE", None)
    disk.send(request(WRITE, 0, data=b"x" * 3 * 2**20))
    assert error(disk.send(request(ZERO, 1, 3 * 2**20 - 2))) == 0
    assert disk.send(request(READ, 0, 3 * 2**20))[16:] == b"x" + bytes(3 * 2**20 - 2) + b"x"
    assert error(disk.send(request(TRIM, 0, 1))) == 0
    assert disk.send(request(READ, 0, 1))[16:] == b"x"


@pytest.mark.parametrize(
    ("sent", "number"),
    [
        (request(READ, SIZE - 511, 512), 22),
        (request(TRIM, SIZE, 1), 22),
        (request(WRITE, SIZE - 511, data=bytes(512)), 28),
        (request(ZERO, SIZE - 511, 512), 28),
        (request(READ, 0, LARGEST_REQUEST + 1), 22),
        (request(ZERO, 0, LARGEST_REQUEST + 1), 22),
        (request(READ, 2**64 - 1, 512), 22),
        (request(CACHE, 0, 512), 22),
        (request(99), 22),
        (request(READ, 0, 512, flags=4), 22),
        (request(WRITE, data=bytes(512), flags=NO_HOLE), 22),
        (request(READ), 0),
        (request(WRITE), 0),
    ],
)
def test_errors_are_those_of_the_specification_and_the_talk_goes_on(
    disk: Talk, sent: bytes, number: int
) -> None:
    assert error(disk.send(sent)) == number
    assert disk.send(request(READ, 0, 512))[16:] == bytes(512)
    assert disk.connection.in_flight == 0 and not disk.said


def test_the_largest_request(disk: Talk) -> None:
    data = os.urandom(LARGEST_REQUEST)
    whole = request(WRITE, 1, data=data)
    assert disk.send(whole[:20]) == b"" and disk.connection.needed == 28
    assert disk.send(whole[20:40]) == b"" and disk.connection.needed == 28 + LARGEST_REQUEST
    assert error(disk.send(whole[40:])) == 0
    assert disk.send(request(READ, 1, LARGEST_REQUEST))[16:] == data
    disk.send(request(WRITE, 0, LARGEST_REQUEST + 1))
    assert disk.connection.broken and disk.said == [
        "a client was cut off: a write of 33,554,433 bytes is above 33,554,432"
    ]


def test_fua_and_flush_reach_the_machine(disk: Talk) -> None:
    disk.send(request(WRITE, 8192, data=bytes(512), flags=FUA), request(FLUSH), complete=False)
    assert disk.submitted == [(WRITE, 7, 8192, 512, True), (FLUSH, 7, 0, 0, False)]


def test_replies_come_when_they_are_due_in_any_order(disk: Talk) -> None:
    disk.send(request(WRITE, 0, data=b"x" * 512))
    assert disk.send(request(READ, 0, 512, cookie=1), request(FLUSH, cookie=2), complete=False) == b""
    disk.connection.complete(FLUSH, 2, 0, 0)
    assert error(disk.send(complete=False), cookie=2) == 0
    disk.send(request(WRITE, 0, data=b"y" * 512, cookie=3), complete=False)
    disk.connection.complete(READ, 1, 0, 512)
    assert disk.send(complete=False)[16:] == b"y" * 512


@pytest.mark.parametrize(("length", "most"), [(512, MOST_REQUESTS), (32 * 2**20, 2)])
def test_what_is_in_flight_is_bounded_and_the_rest_is_taken_later(disk: Talk, length: int, most: int) -> None:
    many = b"".join(request(READ, 0, length, cookie=i) for i in range(most + 5))
    assert disk.send(many, complete=False) == b""
    assert len(disk.submitted) == disk.connection.in_flight == most
    assert disk.connection.full and len(disk.rest) == 5 * 28
    assert len(disk.send(b"")) == (most + 5) * (16 + length)
    assert not disk.rest and not disk.connection.full


def test_a_client_that_leaves_is_answered_first(disk: Talk) -> None:
    disk.send(request(READ, 0, 512), request(DISCONNECT), request(READ, 0, 512), complete=False)
    assert disk.connection.ended and not disk.connection.broken
    assert [what[0] for what in disk.submitted] == [READ]
    assert len(disk.send(b"")) == 16 + 512 and disk.connection.in_flight == 0


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "it began with 0x47455420, which no NBD client does"),
        (struct.pack(">I", 3) + b"GET / HTTP/1.1\r\n", "0x474554202f204854 is not how an NBD option begins"),
        (
            struct.pack(">I", 3) + option(7)[:12] + b"\xff" * 4,
            "option 7 with 4,294,967,295 bytes is too long",
        ),
        (struct.pack(">I", 3) + go("data") + b"\n" * 28, "0x0a0a0a0a is not how an NBD request begins"),
    ],
)
def test_garbage_ends_the_talk_with_one_sentence(talk: Talk, sent: bytes, sentence: str) -> None:
    talk.send(sent, b"more")
    assert talk.connection.ended and talk.connection.broken and not talk.rest
    assert talk.said == [f"a client was cut off: {sentence}"]


AGREED = struct.pack(">I", 3) + go("data")
ANY = st.one_of(
    st.binary(max_size=200),
    st.builds(option, st.integers(0, 12), st.binary(max_size=40)),
    st.builds(
        request,
        st.integers(0, 8),
        st.one_of(st.integers(0, 2**64 - 1), st.integers(0, SIZE)),
        st.one_of(st.integers(0, 2**32 - 1), st.integers(0, 9000)),
        flags=st.sampled_from((0, 1, 2, 3, 4)),
    ),
    st.builds(request, st.just(WRITE), st.integers(0, SIZE), data=st.binary(min_size=1, max_size=500)),
)


@given(st.sampled_from((b"", struct.pack(">I", 3), AGREED)), st.lists(ANY, max_size=8), st.data())
def test_any_bytes_in_any_pieces(opening: bytes, parts: list[bytes], data: st.DataObject) -> None:
    """Never an exception, never more kept than one request, and as much is answered in whatever pieces."""
    sent = opening + b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=6)))
    pieces = [sent[a:b] for a, b in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
    outcomes = []
    for way in ([sent], pieces):
        talk = Talk(Path("/tmp"))  # noqa: S108  the stores have no names
        answered = len(talk.send(*way))
        assert len(talk.rest) <= talk.connection.needed <= LARGEST_REQUEST + 28
        # nothing is in flight, but for a write that waits for the rest of its data
        assert talk.connection.in_flight <= (talk.connection.needed > len(request(0, 0)))
        assert len(talk.said) <= 1
        outcomes.append((answered, talk.said, talk.connection.ended))
        talk.close()
    assert outcomes[0] == outcomes[1]


FOLDERS = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]
FULL = """
import resource, sys
from pathlib import Path
from azbenchlib.lab.server.store import Store
sys.path[:0] = {folders!r}
from test_lab_protocol import Talk, request, go, error
talk = Talk(Path({folder!r}))
resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, 2**20))
talk.send(b"\\0\\0\\0\\3", go("data"))
print(error(talk.send(request(1, 2**20 - 4096, data=b"x" * 8192))))
print(error(talk.send(request(1, 2**20, data=b"x" * 8192))))
print(error(talk.send(request(1, 0, data=b"x" * 8192))), talk.said)
"""


def test_no_more_room_is_an_error_of_its_own_told_once(tmp_path: Path) -> None:
    code = FULL.format(folders=FOLDERS, folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:2] == ["28", "28"]
    assert done.stdout.splitlines()[2].startswith("0 [\"volume 'data': no more room for its data in ")
