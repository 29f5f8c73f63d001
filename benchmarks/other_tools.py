"""What other tools answer where the right answer is known, beside azbench; writes into docs/other-tools.md.

    .venv/bin/python benchmarks/other_tools.py [--pairs 3]

fio-plot is installed from PyPI into an environment that is thrown away; fio's own tools are those of the
installed fio. The inputs are made here: latency logs whose values are chosen, and outputs and histogram logs
of the real fio. The right answer is counted from what was written, or is fio's own count. Every program is
also measured, in seconds of CPU with its start: the medians of pairs, one program after the other.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import page_part
from log_windows import AZBENCH, HERE
from performance import fio_tool

PROGRAM = "benchmarks/other_tools.py"
PAGE = HERE.parent / "docs" / "other-tools.md"
FIO_PLOT = "fio-plot==1.1.21"
COLUMNS = (
    *("What is asked", "Right answer", "Program", "Its answer", "azbench's answer"),
    *("Its CPU (s)", "azbench's CPU (s)"),
)
FAST_NS, SLOW_NS, EVERY = 50_000, 20_000_000, 50  # 2 % of the I/Os are slow, so that the p99 is a slow one
LINES = 4000  # of each latency log
BURST = 8  # I/Os that end in one millisecond
LAT_MS = range(1, 1001)
NOTE = ("--ioengine=psync", "--iodepth=32")  # fio prints a note on the depth before its JSON
NO_NOTE = ("--ioengine=psync", "--iodepth=1")
# fio-plot writes a picture; its figures are read from the legend of the picture, which is drawn as ever.
LEGEND = """\
from matplotlib.figure import Figure
import fio_plot
save = Figure.savefig
def told(self, *given, **named):
    for axes in self.axes:
        if axes.get_legend():
            print(*(text.get_text() for text in axes.get_legend().get_texts()), sep="\\n")
    return save(self, *given, **named)
Figure.savefig = told
fio_plot.main()
"""
MEAN = (
    "import sys; from azbenchlib import Dataset; "
    "print(Dataset.read(sys.argv[1], log_unit='ns').samples.value.mean())"
)


@dataclass(frozen=True)
class Task:
    """One question to one program."""

    what: str
    right: str
    program: str
    theirs: list[str]
    their_answer: Callable[[str], str]
    ours: list[str]
    our_answer: Callable[[str], str]


@dataclass(frozen=True)
class Programs:
    """Where the programs are; a program that this machine does not have is None."""

    python: str
    fio_plot: str | None
    folder: Path

    def of_fio(self, name: str) -> str | None:
        """A tool of fio: installed beside it, or packed with its documents."""
        return shutil.which(name) or fio_tool(name, self.folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=3)
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory(prefix="azbench-") as name:
        folder = Path(name)
        rows = [row(task, folder, pairs) for task in tasks(installed(folder), folder)]
    lines = "\n".join([line(COLUMNS), line(["---"] * len(COLUMNS)), *rows])
    told = f"Measured with {fio_version()}, its own tools, and {FIO_PLOT.replace('==', ' ')}."
    page_part.write(PAGE, PROGRAM, f"{told}\n\n{lines}")


def installed(folder: Path) -> Programs:
    """Other tools and what they need, in an environment of their own."""
    home = folder / "tools"
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    python = str(home / "bin" / "python")
    needs = [FIO_PLOT, "six", "pandas"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *needs], check=True)
    legend = folder / "legend.py"
    legend.write_text(LEGEND)
    return Programs(python, str(legend), folder)


def fio_version() -> str:
    return subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def tasks(programs: Programs, folder: Path) -> Iterator[Task]:
    """All questions whose programs are on this machine."""
    yield from of_latency_logs(programs, folder)
    yield from of_outputs(programs, folder)
    yield from of_means(programs, folder)
    yield from of_histogram_logs(programs, folder)


def of_latency_logs(programs: Programs, folder: Path) -> Iterator[Task]:
    """The p99 of the logs of one job and of four."""
    if not programs.fio_plot:
        return
    for jobs, words in ((1, "one job"), (4, "four jobs")):
        home = folder / f"jobs-{jobs}"
        values = write_logs(home, jobs)
        p99 = sorted(values)[int(0.99 * len(values))]
        logs = [str(path) for path in sorted(home.glob("*.log"))]
        options = ["-i", str(home), "-g", "-r", "randread", "-t", "clat", "-n", str(jobs), "-d", "1"]
        yield Task(
            f"p99 of the latency logs of {words}", microseconds(p99 / 1000), "fio-plot -g",
            [programs.python, programs.fio_plot, *options, "-T", "p99", "-p", "99", "-o", "p99.png"],
            legend_p99, percentiles(logs, "99"),
            lambda said: microseconds(float(table(said)[0]["p99_us"])),
        )  # fmt: skip


def legend_p99(said: str) -> str:
    """The last column of the legend's last line, which is in µs as the axis is."""
    (*_, last) = (line for line in said.splitlines() if line.startswith("|"))
    return microseconds(float(last.strip(" '[]").split("|")[-1]))


def write_logs(home: Path, jobs: int) -> list[int]:
    """Logs as fio names and writes them, each job slow at times of its own; all values (ns)."""
    home.mkdir()
    values = []
    for job in range(jobs):
        ns = [SLOW_NS if (line + job * EVERY // jobs) % EVERY == 0 else FAST_NS for line in range(LINES)]
        text = "".join(f"{line}, {value}, 0, 4096, 0\n" for line, value in enumerate(ns))
        (home / f"randread-iodepth-1-numjobs-{jobs}_clat.{job + 1}.log").write_text(text)
        values += ns
    return values


def of_outputs(programs: Programs, folder: Path) -> Iterator[Task]:
    """How many I/Os a json+ output tells of, with and without a note of fio before it."""
    for words, options in (("a json+ output", NO_NOTE), ("a json+ output with fio's note before it", NOTE)):
        home = folder / f"outputs-{options[1][2:]}"
        output = home / "out.json"
        right = write_output(home, options)
        depth = options[1].partition("=")[2]
        ours = [str(AZBENCH), "read", str(output), "--format", "csv", "--table", "results"]
        shared = {
            "what": f"I/Os in {words}",
            "right": f"{right:,}",
            "ours": ours,
            "our_answer": lambda said: f"{total(said, 'ios'):,}",
        }
        if converter := programs.of_fio("fio_jsonplus_clat2csv"):
            made = home / "bins.csv"
            yield Task(
                **shared, program="fio_jsonplus_clat2csv",
                theirs=[programs.python, converter, str(output), str(made)],
                their_answer=lambda said, made=made: f"{converted(made.with_name('bins_job0.csv')):,}",
            )  # fmt: skip
        if programs.fio_plot and options == NOTE:
            chosen = ["-i", str(home), "-l", "-r", "randread", "-n", "1", "-d", depth, "-T", "I/Os"]
            yield Task(
                **shared, program="fio-plot -l", theirs=[programs.python, programs.fio_plot, *chosen],
                their_answer=lambda said: "a picture",
            )  # fmt: skip


def write_output(home: Path, options: tuple[str, ...]) -> int:
    """An output of the real fio as it prints it; how many I/Os fio counted."""
    home.mkdir()
    common = (
        "--rw=randread",
        "--filename=data",
        "--size=8m",
        "--bs=4k",
        "--output-format=json+",
        "--numjobs=1",
    )
    done = subprocess.run(
        ["fio", "--name=job", *common, *options], cwd=home, capture_output=True, text=True, check=True
    )
    (home / "data").unlink()
    (home / "out.json").write_text(done.stdout)
    return sum(job["read"]["total_ios"] for job in json.loads(done.stdout[done.stdout.index("{") :])["jobs"])


def converted(path: Path) -> int:
    """The I/Os in the bins of completion latency that a CSV of fio_jsonplus_clat2csv holds."""
    rows = csv.DictReader(path.open(), skipinitialspace=True)
    return sum(int(row["read_clat_ns_count"].strip() or 0) for row in rows)


def of_means(programs: Programs, folder: Path) -> Iterator[Task]:
    """The mean of a log in which several I/Os end in one millisecond."""
    if not (parser := programs.of_fio("fiologparser.py")):
        return
    values = [at * 100 + 1000 * place for at in LAT_MS for place in range(BURST)]
    now = f"as {fio_version()} writes it, with five columns"
    for columns, words in ((5, now), (4, "with four columns, as earlier versions wrote it")):
        log = folder / f"columns{columns}_clat.1.log"
        rest = ", 0, 4096, 0"[: 9 if columns == 4 else None]
        log.write_text("".join(f"{LAT_MS[i // BURST]}, {ns}{rest}\n" for i, ns in enumerate(values)))
        yield Task(
            f"mean of a latency log {words}", microseconds(statistics.mean(values) / 1000),
            "fiologparser.py -a", [programs.python, parser, "-a", "-i", str(LAT_MS[-1]), str(log)],
            lambda said: microseconds(float(said.split(",")[1]) / 1000),
            [sys.executable, "-c", MEAN, str(log)], lambda said: microseconds(float(said)),
        )  # fmt: skip


def of_histogram_logs(programs: Programs, folder: Path) -> Iterator[Task]:
    """How many I/Os the histogram logs of four jobs hold."""
    home = folder / "histograms"
    home.mkdir()
    command = ["fio", "--name=h", "--ioengine=null", "--rw=randread", "--bs=4k", "--size=200m", "--numjobs=4"]
    logged = ["--rate_iops=20000", "--write_hist_log=h", "--log_hist_msec=100"]
    subprocess.run([*command, *logged], cwd=home, check=True, capture_output=True)
    logs = [str(path) for path in sorted(home.glob("h_clat_hist.*.log"))]
    held = sum(
        sum(map(int, line.split(",")[3:])) for log in logs for line in Path(log).read_text().splitlines()
    )
    for name, options in (
        ("fiologparser_hist.py", ["--interval", "1000"]),
        ("fio-histo-log-pctiles.py", ["--percentiles", "50", "99", "--time-quantum", "1"]),
    ):
        if program := programs.of_fio(name):
            yield Task(
                "I/Os in the histogram logs of four jobs, by second and added up", f"{held:,}", name,
                [programs.python, program, *options, *logs], counted,
                percentiles(logs, "50,99", "1s"), lambda said: f"{total(said, 'n'):,}",
            )  # fmt: skip


def counted(said: str) -> str:
    """The sum of the second column of a table that follows other lines."""
    found = re.findall(r"^ *\d+, +(\d+), +[\d.]+", said, re.MULTILINE)
    return f"{sum(map(int, found)):,}"


def percentiles(logs: list[str], wanted: str, window: str = "1h") -> list[str]:
    options = ["--window", window, "--percentiles", wanted, "--log-unit", "ns", "--format", "csv"]
    return [str(AZBENCH), "read", *logs, *options]


def table(said: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(said)))


def total(said: str, column: str) -> int:
    return sum(int(row[column]) for row in table(said))


def microseconds(value: float) -> str:
    return f"{value / 1000:.2f} ms" if value >= 1000 else f"{value:.2f} µs"


def answer(command: list[str], read: Callable[[str], str], home: Path) -> tuple[str, float]:
    """What a program answers, or the error that it ends with; and its CPU seconds."""
    out, errors = home / "said", home / "errors"
    with out.open("w") as said, errors.open("w") as told:
        started = subprocess.Popen(command, stdout=said, stderr=told, cwd=home)
        _, status, used = os.wait4(started.pid, 0)
    seconds = used.ru_utime + used.ru_stime
    if status:
        last = errors.read_text().strip().splitlines()[-1]
        if not (error := re.match(r"(?:\w+\.)*(\w+Error)\b", last)):
            raise SystemExit(f"{command}: {last}")
        return f"none: {error[1]}", seconds
    return read(out.read_text()), seconds


def row(task: Task, folder: Path, pairs: int) -> str:
    """A line of the table."""
    their_s, our_s = [], []
    for _ in range(pairs):
        theirs, seconds = answer(task.theirs, task.their_answer, folder)
        their_s.append(seconds)
        ours, seconds = answer(task.ours, task.our_answer, folder)
        our_s.append(seconds)
    cpu = [f"{statistics.median(seconds):.2f}" for seconds in (their_s, our_s)]
    made = line([task.what, task.right, f"`{task.program}`", theirs, ours, *cpu])
    print(made, flush=True)
    return made


def line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
