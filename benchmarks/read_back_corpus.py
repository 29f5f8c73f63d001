"""Make a report over each folder of a tree of outputs, and over all of it, and read every figure back.

    python benchmarks/read_back_corpus.py FOLDER [NAME …] [--all]

FOLDER holds a folder a tool, and in it a folder a format; NAME, such as fio/json, chooses some of them. With
`--all` one report over the whole tree too, which takes far longer. Each report is made in a process of its
own, without the notebook and without PDF. Exit code 1 where a figure is not that of the tables.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
EMPTY = 3  # the exit code where no output has a rate


def folders(home: Path, names: Iterable[str]) -> list[Path]:
    """The folders of formats, by name where some are named."""
    every = sorted(path for path in home.glob("*/*") if path.is_dir())
    chosen = set(names)
    return [path for path in every if not chosen or path.relative_to(home).as_posix() in chosen]


def read_one(folder: Path) -> int:
    """Read the report over a folder back, and print what was read; the exit code of this."""
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    from readback.reading import read_back

    from azbenchlib.core.errors import InputError
    from azbenchlib.dataset import importing
    from azbenchlib.dataset.dataset import Dataset

    try:
        found = Dataset.load(folder)
        with importing.as_folders([found]) as made:
            checker = read_back(made)
    except InputError as error:
        print(f"no report: {error}")
        return EMPTY
    print(f"{len(found.runs):,} rows of runs, {sum(checker.counted.values()):,} figures")
    for fault in [*checker.faults, *(f"mean over phases: {text}" for text in checker.means)]:
        print(f"FAULT {fault}")
    return 1 if checker.faults else 0


def in_process(folder: Path) -> tuple[int, str]:
    """The exit code and the output of reading one folder, with only the shipped catalogue and prices."""
    with tempfile.TemporaryDirectory(prefix="azbench-") as data:
        environment = {**os.environ, "XDG_DATA_HOME": data}
        command = [sys.executable, __file__, str(folder), "--one"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr[-4000:]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true", help="one report over the whole tree too")
    parser.add_argument("--one", action="store_true", help="this folder alone, in this process")
    asked = parser.parse_args()
    if asked.one:
        return read_one(asked.folder)
    chosen = [*folders(asked.folder, asked.names), *([asked.folder] if asked.all else [])]
    wrong = 0
    for folder in chosen:
        start = time.monotonic()
        code, said = in_process(folder)
        wrong += code not in (0, EMPTY)
        print(f"{folder.relative_to(asked.folder)}, {time.monotonic() - start:.0f} s: {said}", flush=True)
    print(f"{len(chosen) - wrong} of {len(chosen)} reports have no figure that is not that of the tables")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
