"""Ways to damage a file, for fuzz_readers.py: each takes the bytes, other files to mix in, and chance."""

import io
import random
import re
import zipfile
import zlib
from collections.abc import Callable, Sequence

NUMBERS = (
    *(
        b"-1",
        b"0",
        b"-0",
        b"NaN",
        b"nan",
        b"inf",
        b"-Infinity",
        b"1e999",
        b"-1e308",
        b"1e-320",
        b"0x1f",
        b"1_0",
    ),
    *(b"9" * 20, b"9" * 40, b"9" * 310, b"9" * 5000, b"9223372036854775807", b"9223372036854775808"),
    *(b"", b".", b"1.5", b"1,5", b"1e", b"+5", "٣٤".encode(), "½".encode(), b"4294967296", b"0.0000001"),
)
TEXTS = (
    *(
        b"\0",
        b"\r",
        b"\x1b[2J",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"\\u0000",
        b"\x85",
    ),
    *(
        "\u202e".encode(),
        "\u2028".encode(),
        "🜁".encode(),
        b"\xc3",
        b"%s",
        b"{}",
        b"&amp;",
        b"&#0;",
        b"]]>",
        b"=1+1",
    ),
    *(
        b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
        b"<!--",
        b"<![CDATA[",
        b"&a;",
        b"*a",
        b"&a [*a]",
        b"!!python/name:a",
    ),
)
QUOTES = (
    b'"',
    b"'",
    b"[",
    b"]",
    b"{",
    b"}",
    b"(",
    b")",
    b"<",
    b">",
    b",",
    b";",
    b"|",
    b":",
    b"=",
    b"\\",
    b"#",
)
UNITS = (
    *(
        b"\n",
        b" ",
        b"\t",
        b"\r\n",
        b"9",
        b"9 ",
        b'"',
        b'" ',
        b",",
        b";",
        b"|",
        b"| ",
        b"<",
        b"<a>",
        b"</a>",
        b"-",
    ),
    *(
        b"[",
        b'{"a":',
        b"{{",
        b"${",
        b"a: ",
        b"- ",
        b"&",
        b"'",
        b"\0",
        b"=",
        b"(",
        b". ",
        b"%=",
        b"total: ",
        b" (1) ",
    ),
    *(
        b"kB  reclen  write\n",
        b"Total IO\n",
        b"%-ile|\n",
        b"'Worker\n",
        b'"Writer report"\n',
        b"a=b\n",
        b"[a]\n",
    ),
    *(b"Children see throughput for ", b"Offset in Kbytes ", b"CPU utilization ", b"path: 'x'\n", b'"4" 1\n'),
)
NUMBER = re.compile(rb"[0-9][0-9.eE+-]*")
TOKEN = re.compile(rb"[^\s,;|:=<>\"'{}\[\]()]+")

Other = Callable[[], bytes]
Mutation = Callable[[bytes, Other, random.Random], bytes]


def place_in(data: bytes, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def insert(data: bytes, what: bytes, chance: random.Random) -> bytes:
    place = place_in(data, chance)
    return data[:place] + what + data[place:]


def flip_bits(data: bytes, _: Other, chance: random.Random) -> bytes:
    damaged = bytearray(data)
    for _n in range(chance.choice([1, 1, 3, 30])):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def insert_bytes(data: bytes, _: Other, chance: random.Random) -> bytes:
    return insert(data, chance.randbytes(chance.choice([1, 1, 2, 8, 100])), chance)


def delete_bytes(data: bytes, _: Other, chance: random.Random) -> bytes:
    place = place_in(data, chance)
    return data[:place] + data[place + chance.choice([1, 1, 2, 10, 1000]) :]


def cut_end(data: bytes, _: Other, chance: random.Random) -> bytes:
    return data[: place_in(data, chance)]


def cut_start(data: bytes, _: Other, chance: random.Random) -> bytes:
    return data[place_in(data, chance) :]


def _of_lines(data: bytes, change: Callable[[list[bytes]], None]) -> bytes:
    lines = data.splitlines(keepends=True)
    change(lines)
    return b"".join(lines)


def double_lines(data: bytes, _: Other, chance: random.Random) -> bytes:
    def change(lines: list[bytes]) -> None:
        first = chance.randrange(len(lines))
        block = lines[first : first + chance.choice([1, 1, 5, 50])]
        lines[first:first] = block * chance.choice([1, 1, 3])

    return _of_lines(data, change)


def drop_lines(data: bytes, _: Other, chance: random.Random) -> bytes:
    def change(lines: list[bytes]) -> None:
        first = chance.randrange(len(lines))
        del lines[first : first + chance.choice([1, 1, 2, 10, 100])]

    return _of_lines(data, change)


def shuffle_lines(data: bytes, _: Other, chance: random.Random) -> bytes:
    def change(lines: list[bytes]) -> None:
        first = chance.randrange(len(lines))
        block = lines[first : first + chance.choice([2, 5, 50, len(lines)])]
        chance.shuffle(block)
        lines[first : first + len(block)] = block

    return _of_lines(data, change)


def _replaced(data: bytes, pattern: re.Pattern[bytes], what: Sequence[bytes], chance: random.Random) -> bytes:
    """Some of the places at which a pattern fits, looked for behind a random place, get something else."""
    for _ in range(chance.choice([1, 1, 2, 5])):
        start = chance.randrange(len(data) + 1)
        match = pattern.search(data, start) or pattern.search(data)
        if match is None:
            return data
        data = data[: match.start()] + chance.choice(what) + data[match.end() :]
    return data


def hostile_number(data: bytes, _: Other, chance: random.Random) -> bytes:
    return _replaced(data, NUMBER, NUMBERS, chance)


def other_token(data: bytes, other: Other, chance: random.Random) -> bytes:
    tokens = TOKEN.findall(chance.choice([data, other()])[:20_000]) or [b"x"]
    return _replaced(data, TOKEN, tokens, chance)


def hostile_text(data: bytes, _: Other, chance: random.Random) -> bytes:
    return insert(data, chance.choice(TEXTS), chance)


def quote(data: bytes, _: Other, chance: random.Random) -> bytes:
    for _n in range(chance.choice([1, 1, 2, 9])):
        data = insert(data, chance.choice(QUOTES), chance)
    return data


def swap_fields(data: bytes, _: Other, chance: random.Random) -> bytes:
    def change(lines: list[bytes]) -> None:
        number = chance.randrange(len(lines))
        mark = max((b",", b";", b"|", b" "), key=lines[number].count)
        fields = lines[number].split(mark)
        one, other = chance.randrange(len(fields)), chance.randrange(len(fields))
        kind = chance.randrange(4)
        if kind == 0:
            fields[one], fields[other] = fields[other], fields[one]
        elif kind == 1:
            fields[one:one] = [fields[other]]
        elif kind == 2:
            del fields[one]
        else:
            fields[one] = b""
        lines[number] = mark.join(fields)

    return _of_lines(data, change)


def append_other(data: bytes, other: Other, chance: random.Random) -> bytes:
    return data + chance.choice([b"", b"\n", b"\r\n", b"\n\n"]) + chance.choice([data, other(), other()])


def splice(data: bytes, other: Other, chance: random.Random) -> bytes:
    second = other()
    return data[: place_in(data, chance)] + second[place_in(second, chance) :]


def put_inside(data: bytes, other: Other, chance: random.Random) -> bytes:
    second = other()
    start = place_in(second, chance)
    return insert(data, second[start : start + chance.choice([10, 100, 1000, 10_000])], chance)


def pattern_bomb(data: bytes, _: Other, chance: random.Random) -> bytes:
    unit = chance.choice(
        [*UNITS, data[(start := place_in(data, chance)) : start + chance.choice([1, 5, 80])]]
    )
    size = int(10 ** chance.uniform(2, 5.2))
    return insert(data, unit * (size // max(1, len(unit))), chance)


def nesting_bomb(data: bytes, _: Other, chance: random.Random) -> bytes:
    unit = chance.choice([b"[", b"{", b'{"a":', b"<a>", b"(", b"- ", b"{a: ", b'[{"a":', b"[[", b"\\"])
    return insert(data, unit * int(10 ** chance.uniform(1, 5)), chance)


def encode(data: bytes, _: Other, chance: random.Random) -> bytes:
    text = data.decode(errors="replace")
    return chance.choice(
        [
            lambda: text.encode("utf-16"),
            lambda: b"\xfe\xff" + text.encode("utf-16-be"),
            lambda: text.encode("utf-16-le"),
            lambda: b"\xef\xbb\xbf" + data,
            lambda: text.encode("gb18030"),
            lambda: b"\xff\xfe" + data,
        ]
    )()


def line_ends(data: bytes, _: Other, chance: random.Random) -> bytes:
    return data.replace(b"\n", chance.choice([b"\r\n", b"\r", b"\n\n", b"\r\r\n", b" \n", b"\0\n", b""]))


def in_archive(data: bytes, other: Other, chance: random.Random) -> bytes:
    """Damage a part of an archive and pack it again; other files are left as they are."""
    if not data.startswith(b"PK"):
        return data
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, RuntimeError):
        return data
    name = chance.choice([name for name in parts if name.endswith((".xml", ".rels"))] or [*parts] or [""])
    if not parts.get(name):
        return data
    parts[name] = chance.choice(PLAIN)(parts[name], other, chance)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in parts.items():
            archive.writestr(part, text)
    return content.getvalue()


PLAIN: tuple[Mutation, ...] = (
    *(flip_bits, insert_bytes, delete_bytes, cut_end, cut_start, double_lines, drop_lines, shuffle_lines),
    *(
        hostile_number,
        hostile_number,
        other_token,
        other_token,
        hostile_text,
        quote,
        swap_fields,
        append_other,
    ),
    *(splice, put_inside, pattern_bomb, nesting_bomb, encode, line_ends),
)
ALL: tuple[Mutation, ...] = (*PLAIN, in_archive, in_archive, in_archive)


def mutate(data: bytes, other: Other, chance: random.Random) -> tuple[bytes, list[str]]:
    """A damaged file, and the names of what was done to it."""
    ways = PLAIN if not data.startswith(b"PK") else ALL
    done = chance.choices(ways, k=chance.choice([1, 1, 1, 2, 2, 3, 5]))
    for way in done:
        data = way(data, other, chance) if data else data
    return data, [way.__name__ for way in done]
