"""The targets of diskspd: which there are, and what its text says of each."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import parse_size
from azbenchlib.formats.diskspd._tables import LARGEST_EXACT, MOST_THREADS, DiskspdTarget, common, real, whole

_LONGEST_SIZE = 40  # characters; Python turns no more than 4,300 digits into a number

_FILE = re.compile(r"(.*?)(?: \(([^\s()]{1,40})\))?$")
_MIX = re.compile(r"performing mix test \(read/write ratio: (\d{1,9})/(\d{1,9})\)")

_LIMIT = re.compile(r"throughput rate-limited to (\d{1,15}) (B/ms|IOPS)$")
_LIMITS = {"B/ms": "most_bytes_per_ms", "IOPS": "most_iops"}


class Targets:
    """The targets of a time span.

    Attributes
    ----------
    listed : list of Target
        Those that the input parameters tell, in their order.
    """

    def __init__(self, listed: list[DiskspdTarget]) -> None:
        self.listed = listed

    @cached_property
    def _by_path(self) -> dict[str | None, DiskspdTarget]:
        """What all targets of a path say alike, for a path can be told more than once."""
        found: dict[str | None, list[DiskspdTarget]] = {}
        for target in self.listed:
            found.setdefault(target.path, []).append(target)
        return {path: common(targets) for path, targets in found.items()}

    def at(self, path: str | None) -> DiskspdTarget:
        """The target at a path; one that tells nothing where none is."""
        return self._by_path.get(path, DiskspdTarget())

    def of(self, file: str) -> DiskspdTarget:
        """The target that a thread's row names, such as ``D: (2GiB)``, with its size."""
        path, size = path_and_size(file)
        return replace(self.at(path), path=path or None, size_bytes=size)

    def all_in_one(self, files: Iterable[str]) -> DiskspdTarget:
        """What all targets have alike, with the sizes that the rows of `files` tell."""
        sizes = dict(map(path_and_size, files))
        return common([replace(target, size_bytes=sizes.get(target.path or "")) for target in self.listed])


def path_and_size(file: str) -> tuple[str, int | None]:
    """Path and bytes of a row's last cell."""
    match = _FILE.match(file)
    return (match[1], size_of(match[2])) if match and match[2] else (file, None)


def option(line: str, key: str, value: str) -> dict[str, Any]:
    """What a line says about a target."""
    if key == "block size":
        return {"bs_bytes": size_of(value)}
    if key in ("number of outstanding I/O operations", "number of outstanding I/O operations per thread"):
        return {"depth": whole(value, MOST_THREADS)}
    if key == "threads per file":
        return {"threads": whole(value, MOST_THREADS)}
    if key == "think time":
        return {"pause_ms": real(value.removesuffix("ms"))}
    if key == "burst size":
        return {"burst": whole(value)}
    if limit := _LIMIT.match(line):
        return {_LIMITS[limit[2]]: real(limit[1])}
    if mix := _MIX.match(line):
        return {"write_pct": real(mix[2], high=100)}
    said: dict[str, dict[str, Any]] = {
        "performing write test": {"write_pct": 100.0},
        "performing read test": {"write_pct": 0.0},
        "using random I/O": {"random": True},
        "using sequential I/O": {"random": False},
        "using interlocked sequential I/O": {"random": False},
        "software cache disabled": {"direct": True},
        "using software cache": {"direct": False},
        "using software and hardware write cache": {"direct": False},
    }
    return next((told for start, told in said.items() if line.startswith(start)), {})


def size_of(text: str | None) -> int | None:
    """Bytes of a size such as ``8KiB``; None for damage."""
    if not text or len(text) > _LONGEST_SIZE:
        return None
    try:
        size = parse_size(text)
    except InputError:
        return None
    return size if size <= LARGEST_EXACT else None
