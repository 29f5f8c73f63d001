"""Damage files and read them: no reader and no parser may fall over, hang, or take memory without end.

    .venv/bin/python benchmarks/fuzz_readers.py [--inputs 100000] [--minutes 60] [--seed N] [--keep FOLDER]
        [--kind FORMAT]…

Every input is a file of the fixtures, of the shipped datasets and campaigns and, where AZBENCH_CORPUS names a
folder, of the corpus, damaged in one to five of the ways of fuzz_mutations.py. It is read as a raw output;
job files, manifests and measurement files also as what they are. It fails when it raises anything but the
project's own errors, takes more than 5 s of CPU a MB (and a second), or more than 2 GB of memory, or gives a
table that breaks the schema; then it is kept in the folder, with the error beside it. A worker process reads,
so that a hang or a crash ends that process alone. Input number n of a seed is always the same: ``--only n``
reads it again. Exit code 1 where something failed.
"""

import argparse
import collections
import multiprocessing
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_kinds import KINDS, PARSERS, error_of, string, tree
from fuzz_mutations import mutate

from azbenchlib.core import schema
from azbenchlib.core.errors import AzbenchError
from azbenchlib.dataset import manifest
from azbenchlib.formats import registry
from azbenchlib.formats.base import Beside
from azbenchlib.formats.source import Source
from azbenchlib.sizing.telemetry import telemetry

ROOT = Path(__file__).parents[1]
S_PER_MB, LEAST_S = 5.0, 1.0
MEMORY_BYTES = 2 << 30
LARGEST = 256 << 10  # of the files that are damaged, so that many can be
SHARE_OF_SMALL = 0.9  # of the inputs that come from files of at most
SMALL = 16 << 10
BATCH = 200
TOLD_EVERY = 50_000
SHARE_OF_TREES = 0.75
WHOLE_EVERY = 40  # of these inputs all tables are made
SURROGATE = re.compile("[\ud800-\udfff]")

Outcome = dict[str, Any]


class Seeds:
    """The files that are damaged, by what reads them, so that rare kinds get their share."""

    def __init__(self, kinds: Collection[str] = (), share_of_texts: float = 0.0) -> None:
        places = [ROOT / "tests" / "data", ROOT / "datasets", ROOT / "campaigns"]
        if corpus := os.environ.get("AZBENCH_CORPUS"):
            places.append(Path(corpus))
        found = (path for place in places for path in sorted(place.rglob("*")) if path.is_file())
        self.groups: dict[str, list[tuple[str, bytes]]] = collections.defaultdict(list)
        for path in found:
            data = path.read_bytes()
            if 0 < len(data) <= LARGEST:
                self.groups[self._kind(path, data)].append((path.name, data))
        self.groups["lab log"].append(("run_lab.log", _lab_log()))
        for kind, entry in KINDS.items():
            self.groups[kind] = [(kind, seed) for seed in entry.seeds] or [(kind, string(random.Random(0)))]  # noqa: S311
        wanted = [name for name in self.groups if not kinds or name in kinds]
        self.texts = [name for name in wanted if name in KINDS and KINDS[name].is_text]
        self.names = sorted({*wanted} - {*self.texts})
        self.share_of_texts = share_of_texts if self.names else 1.0

    @staticmethod
    def _kind(path: Path, data: bytes) -> str:
        if path.name == manifest.MANIFEST_FILE:
            return "manifest"
        if path.suffix == ".yaml":
            return "measurement file"
        fmt = registry.recognise(Source(path.name, data))
        return fmt.name if fmt else "none"

    def choose(self, chance: random.Random) -> tuple[str, str, bytes]:
        """Kind, name and content of one."""
        kind = chance.choice(self.names)
        files = self.groups[kind]
        small = [file for file in files if len(file[1]) <= SMALL]
        return kind, *chance.choice(small if small and chance.random() < SHARE_OF_SMALL else files)

    def input(self, seed: int, number: int) -> tuple[str, str, bytes, list[str]]:
        """Kind, name, content and mutations of the input of that number."""
        chance = random.Random(f"{seed}:{number}")  # noqa: S311
        if self.texts and chance.random() < self.share_of_texts:
            kind = chance.choice(self.texts)
            return kind, kind, string(chance), ["string"]
        kind, name, data = self.choose(chance)
        if kind in KINDS and KINDS[kind].is_tree and chance.random() < SHARE_OF_TREES:
            return kind, name, tree(data, chance), ["tree"]
        data, ways = mutate(data, lambda: self.choose(chance)[2], chance)
        return kind, name, data, ways


def _lab_log() -> bytes:
    state = '{"os": {"queue_depth": 12, "cache_hit_ratio": 0.75}, "os disk_burst_iops": {"credits": 5070.5}}'
    lines = [f'{{"unix_s": {1002.5 + n}, "objects": {state}}}' for n in range(9)]
    return "\n".join(['{"azbench_lab": 1, "started_unix_s": 1000.0}', *lines, ""]).encode()


def read_output(name: str, data: bytes, whole: bool) -> bool:
    """Read it as a raw output; whether a reader claimed it.

    Making ten frames takes twenty times as long as reading a small file, so most of the time the rows are
    checked as they are, and only where `whole` is true, or a row breaks a check, the tables are made.
    """
    source, claimed = Source(name, data), False
    beside = Beside("0123456789abcdef", "fio-3.33", "ns")
    for part in registry.unwrapping().parts(source):
        if part.format is None:
            continue
        claimed = True
        if not whole:
            records = part.format.read(part.source, beside)
            whole = not all(fits(table, row) for table, rows in records._rows.items() for row in rows)
    if whole and claimed:
        tables = registry.read(source, beside)
        for table, rows in tables.items():
            schema.check(table, rows)
        if not tables["demand"].empty:
            telemetry(tables, interval_s=60.0)
    return claimed


def fits(table: str, row: Mapping[str, Any]) -> bool:
    """Whether a row is what its table may hold."""
    columns = schema.TABLES[table].columns
    return all(
        value is None or (name in columns and fit(columns[name], value)) for name, value in row.items()
    )


def fit(column: schema.Column, value: Any) -> bool:
    """Whether a value is what its column may hold."""
    if column.dtype == schema.TEXT:
        known = not column.choices or value in column.choices
        return isinstance(value, str) and known and not SURROGATE.search(value)
    if column.dtype == schema.BOOL or isinstance(value, bool):
        return column.dtype == schema.BOOL and isinstance(value, bool | np.bool_)
    low = -schema.LARGEST_VALUE if column.low is None else column.low
    high = schema.LARGEST_VALUE if column.high is None else column.high
    number = isinstance(value, int | float | np.integer | np.floating) and low <= value <= high
    return number and (column.dtype == schema.FLOAT or (value == int(value) and abs(value) < 2**63))


def attempt(kind: str, name: str, data: bytes, folder: Path, whole: bool) -> Outcome:
    """What came of an input: whether a reader claimed it, CPU seconds, and what failed."""
    before, claimed, refused, failure = time.process_time(), False, 0, ""
    steps: list[Callable[[], object]] = [] if kind in KINDS else [lambda: read_output(name, data, whole)]
    if kind in KINDS or kind in PARSERS:
        steps.append(lambda: error_of(kind, folder, data, whole) or kind in KINDS)
    for step in steps:
        try:
            outcome = step()
            claimed |= outcome is True
            refused += isinstance(outcome, AzbenchError)
        except AzbenchError:
            refused += 1
        except BaseException:  # whatever it is, it is what is looked for
            failure += traceback.format_exc()
    return {
        "claimed": claimed,
        "refused": refused,
        "failure": failure,
        "cpu_s": time.process_time() - before,
        "bytes": len(data),
    }


def allowed_s(n_bytes: int) -> float:
    """CPU seconds that an input may take."""
    return LEAST_S + S_PER_MB * n_bytes / 1e6


def work(pipe: Connection, seeds: Seeds, seed: int) -> None:
    """Read inputs by their numbers, and tell of each before and after; in a process of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libraries complain there
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    for name, files in seeds.groups.items():  # what is imported when it is first needed
        attempt(name, *files[0], folder, whole=True)
    pipe.send(None)
    try:
        while (batch := pipe.recv()) is not None:
            for number in batch:
                kind, name, data, ways = seeds.input(seed, number)
                limit = int(time.process_time() + 3 * allowed_s(len(data))) + 2
                resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
                outcome = attempt(kind, name, data, folder, whole=number % WHOLE_EVERY == 0)
                pipe.send(outcome | {"kind": kind, "ways": ways})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Worker:
    """A process that reads inputs, and is started again where one of them ends it."""

    def __init__(self, seeds: Seeds, seed: int) -> None:
        self.seeds, self.seed = seeds, seed
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=work, args=(theirs, self.seeds, self.seed), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe.recv()

    def read(self, batch: Sequence[int]) -> Iterator[tuple[int, Outcome]]:
        """What came of each of some inputs; of those that failed, what came of them when they were read again
        alone: a machine that stood still is no fault of a reader.
        """
        failed = []
        for number, outcome in self._each(batch):
            if verdict(outcome):
                failed.append(number)
            else:
                yield number, outcome
        for number in failed:
            for _, outcome in self._each([number]):
                yield number, outcome | {"repeated": 1}

    def _each(self, batch: Sequence[int]) -> Iterator[tuple[int, Outcome]]:
        waiting = [*batch]
        while waiting:
            self.pipe.send(waiting)
            try:
                while waiting:
                    outcome = self.pipe.recv()
                    yield waiting.pop(0), outcome
            except EOFError:
                yield (number := waiting.pop(0)), self._ended_by(number)

    def _ended_by(self, number: int) -> Outcome:
        """Start anew after the input that ended the process."""
        self.process.join()
        kind, _, data, ways = self.seeds.input(self.seed, number)
        how = f"the process ended with exit code {self.process.exitcode} (-24: too much CPU time)"
        self._start()
        taken = {
            "kind": kind,
            "ways": ways,
            "failure": how,
            "bytes": len(data),
            "claimed": False,
            "refused": 0,
        }
        return taken | {"cpu_s": 3 * allowed_s(len(data))}

    def end(self) -> None:
        """End the process."""
        self.pipe.send(None)
        self.process.join()


def verdict(outcome: Outcome) -> str:
    """Why an input failed; empty: it did not."""
    slow = outcome["cpu_s"] > allowed_s(outcome["bytes"])
    took = f"took {outcome['cpu_s']:.1f} s of CPU for {outcome['bytes']:,} bytes\n" if slow else ""
    return str(outcome["failure"]) + took


def batches(args: argparse.Namespace) -> Iterator[Sequence[int]]:
    if args.only is not None:
        yield [args.only]
        return
    ends, last = time.monotonic() + 60 * args.minutes, args.start + args.inputs
    for first in range(args.start, last, BATCH):
        if time.monotonic() > ends:
            return
        yield range(first, min(first + BATCH, last))


def keep(folder: Path, seeds: Seeds, seed: int, number: int, why: str) -> None:
    """Keep an input that failed."""
    _, name, data, ways = seeds.input(seed, number)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{seed}-{number}-{name.replace('/', '_')}"
    path.write_bytes(data)
    path.with_name(f"{path.name}.txt").write_text(f"{' '.join(ways)}\n{why}", errors="replace")
    print(f"{number}: {name} {'+'.join(ways)}: {why.strip().splitlines()[-1][:150]!a}", flush=True)


class Summary:
    """What is printed at the end."""

    def __init__(self) -> None:
        self.by_kind: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.total: collections.Counter[str] = collections.Counter()
        self.slowest = (0.0, 0)

    def count(self, number: int, outcome: Outcome, failed: bool) -> None:
        """Count an input."""
        for counter in (self.by_kind[outcome["kind"]], self.total):
            counter["inputs"] += 1
            counter["mutations"] += len(outcome["ways"])
            counter["bytes"] += outcome["bytes"]
            counter["claimed"] += outcome["claimed"]
            counter["refused"] += outcome["refused"]
            counter["failures"] += failed
            counter["repeated"] += outcome.get("repeated", 0)
        per_mb = max(0.0, outcome["cpu_s"] - LEAST_S) / max(outcome["bytes"] / 1e6, 1e-6)
        self.slowest = max(self.slowest, (per_mb, number))

    def show(self) -> None:
        """Print it."""
        for kind, counts in sorted(self.by_kind.items()):
            share = counts["claimed"] / counts["inputs"]
            print(
                f"{kind:24}{counts['inputs']:>9,} inputs, {share:4.0%} claimed, {counts['failures']} failures"
            )
        total, (worst, number) = self.total, self.slowest
        claimed = total["claimed"] / max(1, total["inputs"])
        print(
            f"{total['inputs']:,} inputs, {total['mutations']:,} mutations, {total['bytes'] / 1e6:,.0f} MB, "
            f"{claimed:.1%} claimed by a reader, {total['refused']:,} refused in a sentence, "
            f"worst {worst:.1f} s a MB above {LEAST_S:.0f} s (input {number}), {total['failures']} failures, "
            f"{total['repeated']} read a second time"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=24 * 60)
    parser.add_argument("--seed", type=int, help="chosen and printed when it is left out")
    parser.add_argument("--start", type=int, default=0, help="number of the first input")
    parser.add_argument("--only", type=int, help="number of the one input to read")
    parser.add_argument("--kind", action="append", default=[], help="only these formats; may be repeated")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-finds"))
    parser.add_argument("--texts", type=float, default=0.5, help="share of short strings among the inputs")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(1 << 32)
    seeds, summary = Seeds(args.kind, args.texts), Summary()
    print(f"seed {seed}; files: { {name: len(seeds.groups[name]) for name in seeds.names} }", flush=True)
    worker = Worker(seeds, seed)
    try:
        for batch in batches(args):
            for number, outcome in worker.read(batch):
                if why := verdict(outcome):
                    keep(args.keep, seeds, seed, number, why)
                summary.count(number, outcome, bool(why))
            if summary.total["inputs"] % TOLD_EVERY == 0:
                print(f"{summary.total['inputs']:,} inputs, {summary.total['failures']} failures", flush=True)
        worker.end()
    except KeyboardInterrupt:
        print("interrupted; go on with --start", args.start + summary.total["inputs"])
    summary.show()
    sys.exit(1 if summary.total["failures"] else 0)


if __name__ == "__main__":
    main()
