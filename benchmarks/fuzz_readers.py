"""Damage every fixture, and every file of the corpus if there is one, and read it: nothing may fall over.

    .venv/bin/python benchmarks/fuzz_readers.py [--seconds 600] [--seed 1] [--keep FOLDER]

Each round takes a file, damages it in one of the ways below and reads it by its name. What raises anything,
breaks a table's check or takes longer than a minute is kept in the folder, with the traceback beside it.
Exit code 1 where something was found.
"""

import argparse
import collections
import os
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from azbenchlib import formats, schema
from azbenchlib.formats.base import Source

ROOT = Path(__file__).parents[1]
LARGEST = 2 << 20  # of the files that are damaged, so that a round is short
SLOW_S = 60
NUMBERS = [b"-1", b"0", b"NaN", b"1e999", b"9" * 30, b"0x1f", b"", b'"', b"\xd9\xa3", b"1.5", b"\0", b"\r"]


def cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def cut_start(data: bytes, chance: random.Random) -> bytes:
    return data[chance.randrange(len(data) + 1) :]


def flip(data: bytes, chance: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(chance.choice([1, 3, 30])):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    return bytes(damaged)


def drop(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    return data[:start] + data[start + chance.choice([1, 10, 1000]) :]


def double(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data))
    return data[: start + chance.choice([1, 100, 5000])] + data[start:]


def other_number(data: bytes, chance: random.Random) -> bytes:
    places = [place for place, byte in enumerate(data[: 1 << 16]) if 48 <= byte <= 57]
    if not places:
        return data
    place = chance.choice(places)
    end = place
    while end < len(data) and 48 <= data[end] <= 57:
        end += 1
    return data[:place] + chance.choice(NUMBERS) + data[end:]


def lines_mixed(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def utf16(data: bytes, _: random.Random) -> bytes:
    return data.decode(errors="replace").encode("utf-16")


def crlf(data: bytes, _: random.Random) -> bytes:
    return data.replace(b"\n", b"\r\n")


def cr(data: bytes, _: random.Random) -> bytes:
    return data.replace(b"\n", b"\r")


WAYS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    cut,
    cut_start,
    flip,
    drop,
    double,
    other_number,
    lines_mixed,
    utf16,
    crlf,
    cr,
)


def files() -> list[Path]:
    """What is damaged: by format, so that rare ones get their share."""
    places = [ROOT / "tests" / "data", ROOT / "datasets"]
    if corpus := os.environ.get("AZBENCH_CORPUS"):
        places.append(Path(corpus))
    found = (path for place in places for path in sorted(place.glob("**/*")) if path.is_file())
    return [path for path in found if 0 < path.stat().st_size < LARGEST]


def by_format(paths: list[Path]) -> dict[str, list[Path]]:
    groups = collections.defaultdict(list)
    for path in paths:
        fmt = formats.recognise(Source.of(path))
        groups[fmt.name if fmt else "none"].append(path)
    return dict(groups)


def rounds(groups: dict[str, list[Path]], chance: random.Random) -> Iterator[tuple[Path, str, bytes]]:
    while True:
        for name in groups:
            path = chance.choice(groups[name])
            data, ways = path.read_bytes(), chance.choices(WAYS, k=chance.choice([1, 1, 2]))
            for way in ways:
                data = way(data, chance) if data else data
            yield path, "+".join(way.__name__ for way in ways), data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("fuzz-finds"))
    args = parser.parse_args()
    groups = by_format(files())
    print({name: len(paths) for name, paths in groups.items()})
    end, n_rounds, finds = time.monotonic() + args.seconds, 0, 0
    for path, how, data in rounds(groups, random.Random(args.seed)):  # noqa: S311
        n_rounds += 1
        began = time.monotonic()
        trouble = ""
        try:
            for name, table in formats.read(Source(path.name, data)).items():
                schema.check(name, table)
        except Exception:
            trouble = traceback.format_exc()
        if time.monotonic() - began > SLOW_S:
            trouble += f"took {time.monotonic() - began:.0f} s\n"
        if trouble:
            finds += 1
            args.keep.mkdir(parents=True, exist_ok=True)
            (args.keep / f"{finds}-{path.name}").write_bytes(data)
            (args.keep / f"{finds}-{path.name}.txt").write_text(f"{path} {how}\n{trouble}")
            print(f"{finds}: {path.name} {how}: {trouble.strip().splitlines()[-1]}")
        if time.monotonic() > end:
            break
    print(f"{n_rounds:,} rounds, {finds} finds")
    sys.exit(1 if finds else 0)


if __name__ == "__main__":
    main()
