"""Which files the outputs are that a user names: files, folders of them, and standard input.

No large library is loaded.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from azbenchlib.core.errors import InputError
from azbenchlib.core.folders import walk
from azbenchlib.core.temporary import new_folder, told_when_full
from azbenchlib.core.units import MIB
from azbenchlib.dataset.files import Obstacle, files_at
from azbenchlib.dataset.names import MANIFEST_FILE, RAW, STDIN, STDIN_NAME
from azbenchlib.formats.source import LARGEST_LOG

# Files that are read, each with the name that it goes by, and those that are not, with the reason.
Files = tuple[list[tuple[Path, str]], dict[Path, Obstacle]]


def datasets_within(names: Iterable[str | Path]) -> list[Path]:
    """The dataset folders below folders of outputs; what holds a manifest of something else is none.

    Parameters
    ----------
    names : iterable of str or path-like
        Of outputs, as :func:`~azbenchlib.dataset.names.sorted_out` gives them.
    """
    found: list[Path] = []
    for name in names:
        if name == STDIN or not Path(name).is_dir():
            continue
        for place, inner, files in walk(Path(name)):
            looks_so = MANIFEST_FILE in files and RAW in inner
            if looks_so and not any(place.is_relative_to(one) for one in found) and _has_manifest(place):
                found.append(place)
    return found


def _has_manifest(folder: Path) -> bool:
    from azbenchlib.dataset.manifest import load  # loads pydantic, which outputs do without

    try:
        load(folder)
    except InputError:
        return False
    return True


def outputs_at(names: Sequence[str | Path], but: Sequence[Path] = ()) -> Files:
    """The files of outputs, each with the name that it goes by, and those that are not read.

    Parameters
    ----------
    names : sequence of str or path-like
    but : sequence of Path
        Folders whose files are left out, which are datasets of their own.

    Raises
    ------
    InputError
        When there is no such file or folder, a folder holds no file, or standard input is empty or too long.
    """
    found: dict[Path, Obstacle | None] = {}
    shown: dict[Path, str] = {}
    for name in names:
        if name == STDIN:
            path = _standard_input()
            found[path], shown[path] = None, STDIN_NAME
        else:
            every = files_at(Path(name))
            found |= {f: why for f, why in every.items() if not any(f.is_relative_to(one) for one in but)}
    good = [(file, shown.get(file, str(file))) for file, why in found.items() if why is None]
    return good, {file: why for file, why in found.items() if why}


def _standard_input() -> Path:
    """What came through standard input, as a file that is there until this process ends."""
    return _spooled()[1]


@cache
def _spooled() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    stream = sys.stdin
    if stream is None or stream.isatty():
        raise InputError(
            "-: nothing is piped into standard input; write: fio … --output-format=json+ | azbench"
        )
    home = new_folder()
    path = Path(home.name) / STDIN_NAME
    with told_when_full(path.parent), path.open("wb") as file:
        left = LARGEST_LOG
        while left > 0 and (block := stream.buffer.read(min(left, MIB))):
            file.write(block)
            left -= len(block)
        too_long = left == 0 and stream.buffer.read(1)
    if too_long:
        raise InputError(
            f"-: standard input is longer than {LARGEST_LOG // MIB:,} MiB; name the files instead"
        )
    if not path.stat().st_size:
        raise InputError("-: nothing came through standard input; did the program before the pipe fail?")
    return home, path
