"""Reading takes time in proportion to the size of a file, whatever it is made of."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

FIO = Path(__file__).parents[1] / "data" / "fio"
READERS = {fmt.name: fmt for fmt in registry.FORMATS if fmt.name.startswith("fio ")}
LEAST_S = 0.4  # below it, times say nothing
GROWTH = 4  # of the size, from one measurement to the next
WORST = 2.5 * GROWTH  # of the time; a quadratic reader takes 16 times as long

TERSE = (FIO / "terse" / "v3.txt").read_text().strip().splitlines()[-1]
NAME = TERSE.split(";")[2]
JSON = '{"fio version":"fio-3.33"'


def lines(form: str) -> Callable[[int], str]:
    return lambda n: "".join(form.format(i=i) for i in range(n))


def header(i: str) -> str:
    rates = "  read: IOPS=5, BW=20.0KiB/s (20.5kB/s)(40.0KiB/2000msec)\n"
    return f"j{i}: (groupid=0, jobs=1): err= 0: pid={{i}}\n{rates}"


OPENING = "j{i}: (g=0): rw=read, bs=4096B-4096B, ioengine=psync, iodepth=1\n"
HOST = '{{"hostname":"h{i}","bs":"4k"}},'
ENTRY = '{{"jobname":"j{i}","groupid":0,"read":{{"total_ios":3,"iops":7.0}}}},'
CASES: dict[str, tuple[str, Callable[[int], str]]] = {
    "blank lines": ("fio text", lambda n: "\n" * 40 * n),
    "spaces": ("fio JSON", lambda n: JSON + " " * 40 * n),
    "braces": ("fio JSON", lambda n: "{" * 20 * n),
    "brackets": ("fio JSON", lambda n: JSON + ',"jobs":' + "[" * 20 * n),
    "quotes": ("fio JSON", lambda n: JSON + ',"' * 20 * n),
    "backslashes": ("fio JSON", lambda n: JSON + ',"x":"' + "\\" * 40 * n),
    "digits": ("fio JSON", lambda n: JSON + ',"x":' + "9" * 40 * n),
    "commas": ("fio JSON", lambda n: JSON + ',"jobs":[' + "," * 40 * n),
    "NULs": ("fio JSON", lambda n: JSON + ',"jobs":[' + "\0" * 40 * n),
    "one long string": ("fio JSON", lambda n: JSON + ',"jobs":[{"jobname":"' + "x" * 400 * n + '"}]}'),
    "empty objects": ("fio JSON", lambda n: "{}" * 20 * n),
    "empty documents": ("fio JSON", lambda n: (JSON + ',"jobs":[]}\n') * n),
    "beginnings": ("fio JSON", lambda n: (JSON + ",") * n),
    "beginnings of options": ("fio JSON", lambda n: (JSON + ',"global options":[') * n),
    "beginnings of strings": ("fio JSON", lambda n: '{"global options":["a",' * n),
    "beginnings of arrays": ("fio JSON", lambda n: '"jobs":[ ' * n),
    "beginnings of entries": ("fio JSON", lambda n: JSON + ',"jobs":[' + '{"jobname":' * n),
    "broken entries": ("fio JSON", lambda n: JSON + ',"jobs":[' + '{"jobname" x\n' * n),
    "jobs with many options": (
        "fio JSON",
        lambda n: (
            f'{JSON},"global options":{{{lines(chr(34) + "o{i}" + chr(34) + ":1,")(n)}"bs":"4k"}},'
            f'"jobs":[{lines(ENTRY)(n)[:-1]}]}}'
        ),
    ),
    "clients": (
        "fio JSON",
        lambda n: (
            f'{JSON},"global options":[{lines(HOST)(n)[:-1]}],'
            f'"client_stats":[{",".join(_client(i) for i in range(n))}]}}'
        ),
    ),
    "sums of clients": (
        "fio JSON",
        lambda n: f'{JSON},"client_stats":[{",".join([_client(0, "All clients")] * n)}]}}',
    ),
    "JSON and text": (
        "fio JSON",
        lambda n: f'{JSON},"jobs":[{lines(ENTRY)(n)[:-1]}]}}\n{lines(header("0"))(n)}',
    ),
    "many jobs": ("fio text", lambda n: lines(OPENING)(n) + lines(header("{i}"))(n)),
    "one name": ("fio text", lambda n: lines(header("0"))(n)),
    "one block": ("fio text", lambda n: header("0").format(i=1) + "     cpu : x\n" * 5 * n),
    "one line of text": ("fio text", lambda n: header("0").format(i=1) + "fio: err " * 40 * n),
    "tags": ("fio text", lambda n: header("0").format(i=1) + "<pre " * 20 * n),
    "complaints": ("fio text", lines("fio: pid=1, err={i}\n")),
    "progress": ("fio text", lambda n: "Jobs: 1 (f=1): [eta 1]\r" * 5 * n),
    "terse jobs": (
        "fio terse",
        lambda n: "".join(TERSE.replace(NAME, f"j{i}", 1) + "\n" for i in range(n // 4)),
    ),
    "terse and text": (
        "fio terse",
        lambda n: lines(OPENING)(n) + "".join(TERSE.replace(NAME, f"j{i}", 1) + "\n" for i in range(n // 4)),
    ),
    "semicolons": ("fio terse", lambda n: "3;fio-3.33;" + ";" * 40 * n + "1%=0"),
    "options": ("fio job file", lambda n: "[a]\nbs=4k\n" + lines("o{i}=1\n")(5 * n)),
    "jobs and options": (
        "fio job file",
        lambda n: "[global]\nbs=4k\n" + lines("o{i}=$x\n")(5 * n) + lines("[j{i}]\nrw=read\n")(n),
    ),
    "templates": (
        "fio job file",
        lambda n: "[global]\nbs=4k\n" + ("x=" + "{" * 400 + "\n") * n + "[j]\nrw=read\n" * n,
    ),
    "one template": ("fio job file", lambda n: "[a]\nbs=4k\nname=" + "{{a" * 40 * n),
    "dollars": ("fio job file", lambda n: "[a]\nbs=4k\nname=" + "$" * 40 * n),
    "equals": ("fio job file", lambda n: "[a]\nbs=4k\n" + "=" * 40 * n),
    "sections": ("fio job file", lambda n: "[a]\nbs=4k\n" + "[a\n" * 5 * n + "[" + "]" * 40 * n + "x"),
    "comments": ("fio job file", lambda n: "[a]\nbs=4k\n" + ";" * 40 * n),
    "samples": ("fio log", lambda n: "1, 2, 0, 4096\n" * 20 * n),
    "broken samples": ("fio log", lambda n: "1, 2, 0, 4096\nx\n" * 10 * n),
    "one long sample": ("fio log", lambda n: "1, 2, 0, 4096\n" * 9 + " " * 40 * n + "x"),
    "bins": ("fio histogram log", lambda n: ("1, 0, 4096" + ", 1" * 1216 + "\n") * (n // 40)),
    "broken bins": (
        "fio histogram log",
        lambda n: ("1, 0, 4096" + ", 1" * 1216 + "\n") * 6 + (", 1" * 900 + "x\n") * (n // 20),
    ),
}


def _client(i: int, name: str = "j") -> str:
    return f'{{"jobname":"{name}","hostname":"h{i}","port":1,"job options":{{"bs":"4k"}}}}'


def cpu_s(reader: str, text: str) -> float:
    source = Source("x_bw.1.log" if "log" in reader else "x", text.encode())
    began = time.process_time()
    for fmt in READERS.values():
        fmt.sniff(source.opening)
    READERS[reader].read(source, None).frames()
    return time.process_time() - began


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(4)
def test_reading_is_linear(case):
    """From the size on at which it takes long enough to be measured, up to a size that is taken as quick."""
    reader, made = CASES[case]
    size, before = 500, cpu_s(reader, made(500))
    while size < 32_000:
        size *= GROWTH
        took = cpu_s(reader, made(size))
        if took > LEAST_S:
            if took >= WORST * max(before, LEAST_S / GROWTH):  # a busy machine? then not every time
                took = min(took, *(cpu_s(reader, made(size)) for _ in range(2)))
            assert took < WORST * max(before, LEAST_S / GROWTH), f"{before:.2f} s, then {took:.2f} s"
            return
        before = took
