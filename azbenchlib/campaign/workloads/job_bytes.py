"""How much data the jobs of a fio job file write at most, computed as fio does before it lays them out.

A file of a job is as large as ``filesize`` says, or as its part of ``size``, behind ``offset``; a percentage
of ``size`` is one of that. Jobs write files of their own, unless ``filename`` has them share some, where each
begins behind the one before by ``offset_increment``, or by what is there with ``file_append``.

Source: fio ``filesetup.c`` (``setup_files``, ``extend_file``) and ``parse.c`` (``str_to_decimal``), fio-3.33;
a test compares it with what fio writes. Of a list or a range, the largest value counts, and units are binary,
so it is never too little.
"""

import re
from collections.abc import Mapping, Sequence

from azbenchlib.core.units import KIB

_UNITS = {letter: KIB**power for power, letter in enumerate(("", "k", "m", "g", "t", "p"))}
_NUMBER = re.compile(r"(0x[0-9a-f]+|[0-9]+)([kmgtp]?)(?:i?b)?")
_BETWEEN = re.compile(r"[,:/-]")  # values of a list or a range
_SHARES = re.compile(r"[0-9.]+%")
# Options by which a job writes to the end of its disk, or what another file says.
_NO_BOUND = ("fill_device", "fill_fs", "read_iolog", "replay_redirect", "opendir")
_BLOCKS = ("bs", "bsrange", "bssplit", "ba")

Options = Mapping[str, str]


class UnknownSizeError(ValueError):
    """How much a job writes cannot be told; its words say why."""


def bytes_written(jobs: Sequence[Options]) -> int:
    """Return how much data jobs write together at most, in bytes.

    `jobs`: the options of each by fio's main name for them, with those of its ``[global]`` sections. Raises
    an UnknownSizeError when it cannot be told.
    """
    own, shared = 0, dict[str, int]()
    for options in jobs:
        if odd := next((name for name in _NO_BOUND if name in options), ""):
            raise UnknownSizeError(f"{odd} may write any amount of data")
        copies = _number(options, "numjobs", 1)
        names = [name for name in options.get("filename", "").split(":") if name]
        files = len(names) or _number(options, "nrfiles", 1)
        each = _file_bytes(options, files, copies)
        if not names:
            own += copies * files * each
        for name in names:
            place = f"{options.get('directory', '')}/{name}"
            if _is_set(options, "file_append"):
                shared[place] = shared.get(place, 0) + copies * _number(options, "loops", 1) * each
            else:
                shared[place] = max(shared.get(place, 0), each)
    return own + sum(shared.values())


def _file_bytes(options: Options, files: int, copies: int) -> int:
    """How large each file of a job becomes; of jobs that share it, that of the last of them."""
    size, fixed = _number(options, "size", 0), _number(options, "filesize", 0)
    # what does not divide evenly goes to the first files, a block each; a share is rounded up to a block
    spare = max(_number(options, name, 0) for name in _BLOCKS) or 4 * KIB
    length = max(fixed, -(-size // files)) + (spare if files > 1 or "%" in options.get("size", "") else 0)
    offset = _offset(options, "offset", length) + (copies - 1) * _offset(options, "offset_increment", length)
    align = _number(options, "offset_align", 0)
    return offset + (align if offset else 0) + length if length else 0


def _offset(options: Options, name: str, length: int) -> int:
    return max(_number(options, name, 0), length if "%" in options.get(name, "") else 0)


def _number(options: Options, name: str, default: int) -> int:
    """The largest number of a list or a range; a share of something else is none.

    Raises an UnknownSizeError with the option.
    """
    text = options.get(name, "").strip().lower().strip('"')
    if not text:
        return default
    numbers = [default if name in ("numjobs", "nrfiles", "loops") else 0]
    for part in _BETWEEN.split(text):
        match = _NUMBER.fullmatch(part.strip())
        if match:
            numbers.append(int(match[1], 0 if match[1].startswith("0x") else 10) * _UNITS[match[2]])
        elif text.startswith("-") or not (_SHARES.fullmatch(part.strip()) or (not part and len(numbers) > 1)):
            raise UnknownSizeError(f"{name}={options[name]} is no size that azbench can compute with")
    return max(numbers)


def _is_set(options: Options, name: str) -> bool:
    return name in options and options[name].strip() != "0"
