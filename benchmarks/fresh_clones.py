"""Does a fresh clone set itself up, report and pass its tests, on a machine that has much else to do?

One clone after the other, each with an empty home folder, the last one below a folder that nobody else may
enter, and so many busy processes beside it. Only what is committed is cloned. Clones and homes are removed;
the logs stay.

    .venv/bin/python benchmarks/fresh_clones.py [--clones 3] [--load 6] [--folder DIR] [--hours 2]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGETS = ("report", "test")
CLOSING = re.compile(r"^=+ (.*\d+ (?:passed|failed|error).* in [\d.]+s.*?) =+$", re.MULTILINE)
# Of this session and this user: what a fresh clone must not see.
HIDDEN = re.compile(r"^(VIRTUAL_ENV|PYTHON\w*|XDG_\w+|UV_CACHE_DIR|AZURE_\w+|AZBENCH_(?!CORPUS)\w+|MAKE\w*)$")
# It ends with whoever started it: then its standard input does.
BUSY = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0))).start()
while True:
    pass
"""


@dataclass(frozen=True)
class Outcome:
    """How a target of make ended: its exit code (None: it was stopped), how long it took, its last words."""

    clone: str
    target: str
    code: int | None
    seconds: float
    said: list[str]

    def __str__(self) -> str:
        ended = "stopped" if self.code is None else f"exit {self.code}"
        first = f"{self.clone:10} make {self.target:7} {ended:8} {self.seconds / 60:6.1f} min"
        return "\n".join([first, *(f"{'':11}{line}" for line in self.said)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clones", type=int, default=3)
    parser.add_argument("--load", type=int, default=6, help="busy processes beside")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where to clone")
    parser.add_argument("--hours", type=float, default=2.0, help="after which a target is stopped")
    given = parser.parse_args()
    logs = Path(tempfile.mkdtemp(prefix="fresh-clones-logs-"))
    outcomes: list[Outcome] = []
    for number in range(1, given.clones + 1):
        with fresh_clone(given.folder, private=number == given.clones) as (clone, home):
            name = f"{number}, {'private' if number == given.clones else 'open'}"
            for target in TARGETS:
                with busy(given.load):
                    log = logs / f"{number}-{target}.log"
                    outcomes.append(make(target, clone, home, log, given.hours * 3600, name))
                print(outcomes[-1], flush=True)
    print(f"logs: {logs}")
    sys.exit(any(one.code != 0 for one in outcomes))


@contextmanager
def fresh_clone(folder: Path, private: bool) -> Iterator[tuple[Path, Path]]:
    """A clone and an empty home, below a folder that is open to everybody, or to this user alone."""
    parent = Path(tempfile.mkdtemp(prefix="fresh-clone-", dir=folder))
    parent.chmod(0o700 if private else 0o755)
    clone, home = parent / "clone", parent / "home"
    try:
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        home.mkdir()
        yield clone, home
    finally:
        shutil.rmtree(parent, ignore_errors=True)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that have the processors do something else."""
    processes = [subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def make(target: str, clone: Path, home: Path, log: Path, limit_s: float, name: str) -> Outcome:
    """Run a target, stopped with all it started when it takes too long."""
    environment = {key: value for key, value in os.environ.items() if not HIDDEN.match(key)}
    begun = time.monotonic()
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["make", target],
            cwd=clone,
            env=environment | {"HOME": str(home), "CI": "true"},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code = None
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            pass
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    text = log.read_text(errors="replace")
    said = CLOSING.findall(text) if target == "test" else []
    rest = text.splitlines()[-2:] if code != 0 or not said else []
    return Outcome(name, target, code, time.monotonic() - begun, [*said, *rest])


if __name__ == "__main__":
    main()
