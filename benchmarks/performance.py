"""How fast azbench reads, beside plain programs and fio's own tools; writes docs/performance.md.

    .venv/bin/python benchmarks/performance.py [--pairs 5]

Every row is measured in pairs, one program after the other, each a process of its own with its start and
imports, in seconds of CPU; the ratio is the median of the pairs. So a machine that does other things
meanwhile changes seconds, and ratios hardly.
"""

from __future__ import annotations

import argparse
import compileall
import gzip
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

from log_windows import AZBENCH, HERE, run, same, write_apart

PAGE = HERE.parent / "docs" / "performance.md"
FIO_TOOLS = Path("/usr/share/doc/fio")  # where Debian's package fio has them
READ = (
    "import sys; from azbenchlib import Dataset; found = Dataset.read(sys.argv[1], bins='bins' in sys.argv); "
    "print(len(found.results), len(found.findings) if 'findings' in sys.argv else '')"
)
HIST = [
    *("fio", "--name=h", "--ioengine=null", "--rw=randread", "--bs=4k", "--size=100g", "--numjobs=4"),
    *("--time_based", "--runtime=10", "--rate_iops=20000", "--write_hist_log=h", "--log_hist_msec=100"),
]
HIST_SECONDS = 10
HEAD = """\
# Performance

Written by `benchmarks/performance.py` on {machine}. CPU seconds of whole
processes, with their start and imports; the ratio is the median of {pairs} pairs that ran one after the
other, so it holds on a busy machine and on another one. Memory is what a process held at most. All modules
are compiled, as after the first use. The runs of json+ files are checked when their findings are first used.

| What | Beside | Their CPU (s) | azbench's CPU (s) | Ratio | azbench's memory (MiB) |
|---|---|---|---|---|---|
"""
GROWTH = """
## Growth

What azbench takes for more of the same; the last column is the CPU time for each item more than in the first
row, which stays the same where time grows linearly.

| What | How many | CPU (s) | Memory (MiB) | CPU for each further item (µs) |
|---|---|---|---|---|
"""


def compared(what: str, beside: str, theirs: list[str], ours: list[str], out: Path, pairs: int) -> str:
    """A row of the table."""
    ratios, their_s, our_s, our_mib = [], [], [], []
    for _ in range(pairs):
        seconds, _ = run(theirs, out / "theirs")
        their_s.append(seconds)
        seconds, mib = run(ours, out / "ours")
        our_s.append(seconds)
        our_mib.append(mib)
        ratios.append(our_s[-1] / their_s[-1])
    cpu = (statistics.median(their_s), statistics.median(our_s), statistics.median(ratios))
    row = f"| {what} | {beside} | {cpu[0]:.2f} | {cpu[1]:.2f} | {cpu[2]:.2f} | {max(our_mib):,.0f} |"
    print(row, flush=True)
    return row


def grown(what: str, sizes: list[tuple[int, list[str]]], out: Path) -> Iterator[str]:
    """Rows of the table of growth."""
    first_s = 0.0
    for place, (count, command) in enumerate(sizes):
        seconds, mib = run(command, out / "ours")
        first_s = seconds if place == 0 else first_s
        further = f"{(seconds - first_s) * 1e6 / (count - sizes[0][0]):,.2f}" if place else ""
        row = f"| {what} | {count:,} | {seconds:.2f} | {mib:,.0f} | {further} |"
        print(row, flush=True)
        yield row


def hist_logs(folder: Path, seconds: int) -> list[str]:
    """Histogram logs of four jobs at 100 ms: ten seconds of the real fio, again in later seconds."""
    subprocess.run(HIST, cwd=folder, check=True, capture_output=True)
    paths = sorted(folder.glob("h_clat_hist.*.log"))
    for path in paths:
        lines = [line.split(", ", 1) for line in path.read_text().splitlines()]
        with path.open("w") as file:
            for shift in range(0, seconds * 1000, HIST_SECONDS * 1000):
                file.writelines(f"{int(t_ms) + shift}, {rest}\n" for t_ms, rest in lines)
    return [str(path) for path in paths]


def fio_tool(name: str, folder: Path) -> str | None:
    """A program that comes with fio, unpacked; None where this machine has it not."""
    packed = FIO_TOOLS / f"{name}.gz"
    if not packed.is_file():
        return None
    program = folder / name
    program.write_bytes(gzip.decompress(packed.read_bytes()))
    return str(program)


def of_logs(folder: Path, lines: int, pairs: int) -> Iterator[str]:
    """Latency logs, beside a reader in C, pandas and polars."""
    program, log = str(folder / "plain"), folder / "long_clat.1.log"
    subprocess.run(["cc", "-O2", "-o", program, str(HERE / "plain_log_reader.c"), "-lm"], check=True)
    write_apart(log, lines)
    what = f"percentiles by second of a latency log of {lines:,} lines"
    beside = {"a reader in C that checks nothing": [program, str(log)]}
    for library in ("pandas", "polars"):
        if find_spec(library):
            beside[library] = [sys.executable, str(HERE / "log_by_library.py"), library, str(log)]
        else:
            print(f"{library} is not installed: its row is left out", flush=True)
    for name, theirs in beside.items():
        yield compared(what, name, theirs, windows(log), folder, pairs)
        if not same(folder / "theirs", folder / "ours"):
            raise SystemExit(f"the percentiles differ from those of {name}")


def of_hist_logs(folder: Path, seconds: int, pairs: int) -> Iterator[str]:
    """Histogram logs, beside fio's own programs."""
    logs = hist_logs(folder, seconds)
    what = f"percentiles by second of histogram logs: {seconds:,} s of 4 jobs at 100 ms"
    ours = [str(AZBENCH), "read", *logs, "--window", "1s", "--format", "csv"]
    wanted = ["--percentiles", "50", "95", "99", "99.9"]
    for name, arguments in (
        ("fio-histo-log-pctiles.py", ["--time-quantum", "1", *wanted, "--output-unit", "usec"]),
        ("fiologparser_hist.py", ["--interval", "1000"]),
    ):
        if program := fio_tool(name, folder):
            theirs = [sys.executable, program, *arguments, *logs]
            yield compared(what, f"`{name}` of fio", theirs, ours, folder, pairs)
        else:
            print(f"{FIO_TOOLS}/{name}.gz is not there: its row is left out", flush=True)


def of_files(folder: Path, files: int, pairs: int) -> Iterator[str]:
    """json+ files, beside a loop over the module json."""
    write_outputs(folder, files)
    place = str(folder / "outputs")
    for what, bins, more in (
        ("without bins", [], []),
        ("with bins", ["bins"], []),
        ("with bins and findings", ["bins"], ["findings"]),
    ):
        theirs = [sys.executable, str(HERE / "plain_json_loop.py"), place, *bins]
        ours = [sys.executable, "-c", READ, place, *bins, *more]
        title = f"{files:,} json+ files of 20 KB to tables, {what}"
        yield compared(title, "a loop to a DataFrame, nothing checked", theirs, ours, folder, pairs)


def write_outputs(folder: Path, files: int) -> None:
    from many_outputs import write

    writer = get_context("spawn").Process(target=write, args=(folder / "outputs", files))
    writer.start()
    writer.join()


def windows(log: Path) -> list[str]:
    return [str(AZBENCH), "read", str(log), "--window", "1s", "--format", "csv", "--log-unit", "ns"]


def growth(folder: Path, most_lines: int, most_files: int) -> Iterator[str]:
    sizes = []
    for lines in [one for one in (10**4, 10**6, 10**7, 10**8) if one <= most_lines]:
        log = folder / f"of{lines}_clat.1.log"
        write_apart(log, lines)
        sizes.append((lines, windows(log)))
    yield from grown("lines of a latency log, percentiles by second", sizes, folder)
    sizes = []
    for files in [one for one in (10, 100, 1000, 10_000) if one <= most_files]:
        home = folder / f"of{files}"
        write_outputs(home, files)
        sizes.append((files, [sys.executable, "-c", READ, str(home / "outputs"), "bins", "findings"]))
    yield from grown("json+ files of 20 KB to tables, with bins and findings", sizes, folder)
    lakes = [
        (files, [str(AZBENCH), "collect", str(folder / f"of{files}"), "-o", str(folder / f"lake{files}")])
        for files, _ in sizes
    ]
    yield from grown("json+ files of 20 KB into a lake", lakes, folder)


def compile_all() -> None:
    """Compile azbench's modules, as they are after they were installed or used once."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(HERE.parent / "azbenchlib", quiet=1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--lines", type=int, default=5 * 10**6, help="of the latency log")
    parser.add_argument("--hist-seconds", type=int, default=600, help="that the histogram logs cover")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--most-lines", type=int, default=10**8, help="of the longest log")
    parser.add_argument("--most-files", type=int, default=10**4, help="of the largest tree")
    chosen = parser.parse_args()
    pairs = chosen.pairs
    rows: list[str] = []
    further: list[str] = []
    compile_all()
    with tempfile.TemporaryDirectory(prefix="azbench-") as name:
        folder = Path(name)
        rows += of_logs(folder, chosen.lines, pairs)
        rows += of_hist_logs(folder, chosen.hist_seconds, pairs)
        rows += of_files(folder, chosen.files, pairs)
        further += growth(folder, chosen.most_lines, chosen.most_files)
    machine = f"{platform.system()} {platform.machine()} with Python {platform.python_version()}"
    page = (
        HEAD.format(machine=machine, pairs=pairs)
        + "\n".join(rows)
        + "\n"
        + GROWTH
        + "\n".join(further)
        + "\n"
    )
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
