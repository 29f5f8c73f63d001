"""The lines of fio's logs as columns of numbers, some at a time, and those that are damaged.

Lines without damage are parsed by numpy (:mod:`._uniform_lines`, :mod:`._number_lines`); a block that has any
other line is taken apart by regular expressions, some twenty times as slowly. Neither pandas nor pyarrow is
loaded for the former.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from azbenchlib.core.findings import Code, Finding
from azbenchlib.formats.fio.logs import _number_lines, _uniform_lines
from azbenchlib.formats.source import Source

FIO_DDIRS = ("read", "write", "trim")  # fio's codes 0, 1 and 2
LATENCY_IN_NS_SINCE = (2, 99)
FIO_LATENCIES = ("slat", "clat", "lat")
EPOCH_MS = 10**11  # three years: no job runs so long, and every clock on the wall is later
_LINES_TO_SNIFF = 20

_START = r"[ \t]*(?P<t>[0-9]{1,15}),[ \t]*(?P<value>[0-9]{1,15}(?:\.[0-9]{1,9})?),"
_MAXIMUM = r"[ \t]*[0-9]{1,15},"
_END = r"[ \t]*(?P<code>[0-2]),[ \t]*(?P<bs>[0-9]{1,15})"
_MORE = r"(?:,[ \t]*(?:0x)?[0-9a-f]{1,20})"
_LINE = re.compile(_START + _END + _MORE + r"{0,3}[ \t]*")
_LINE_WITH_MAXIMUM = re.compile(_START + _MAXIMUM + _END + _MORE + r"{1,3}[ \t]*")
_MOST_MORE = 3  # columns behind the block size
_NAME = re.compile(r"(?:^|[_/\\])(bw|iops|slat|clat|lat)(?:\.\d+)?\.log(?:\.[^/\\]*)?$")
_VERSION = re.compile(r"(\d{1,9})\.(\d{1,9})")


class LineDamage(NamedTuple):
    """How many lines some have been, and the places of the damaged ones among them, from 0."""

    n_lines: int
    damaged: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class LogColumns:
    """The columns of some lines.

    Attributes
    ----------
    t_ms : ndarray of int64, shape (n,)
    value : ndarray of float64 or int64, shape (n,)
        As fio printed it.
    code : ndarray of uint8, shape (n,)
        Direction: an index of `FIO_DDIRS`.
    bs_bytes : ndarray of int64, shape (n,), or None
        Block size; 0 where the value is an average. None: not asked for.
    n_lines : int
        Of the block, damaged and empty ones too.
    damaged : tuple of int
        Places of the damaged lines in it, from 0.
    """

    t_ms: npt.NDArray[np.int64]
    value: npt.NDArray[np.float64 | np.int64]
    code: npt.NDArray[np.uint8]
    bs_bytes: npt.NDArray[np.int64] | None
    n_lines: int
    damaged: tuple[int, ...] = ()


def sniff(opening: str) -> bool:
    """Whether most of the first lines are lines of a fio log."""
    lines = [line for line in opening.splitlines()[:_LINES_TO_SNIFF] if line.strip()]
    fitting = sum(bool(_LINE.fullmatch(line) or _LINE_WITH_MAXIMUM.fullmatch(line)) for line in lines)
    return fitting > len(lines) / 2


def kind_of(path: str) -> str | None:
    """What a log measures, by its name: bw, iops, slat, clat or lat; None where that does not tell."""
    named = _NAME.search(path)
    return named[1] if named else None


def in_us(tool_version: str | None, log_unit: str | None) -> bool | None:
    """Whether latencies are in µs; None where neither an output of the run nor the user tells."""
    version = _VERSION.search(tool_version) if tool_version else None
    if version is not None:
        return (int(version[1]), int(version[2])) < LATENCY_IN_NS_SINCE
    return log_unit == "us" if log_unit else None


def unit_assumed(path: str, run_id: str | None = None) -> Finding:
    """What is told where the unit of a log's latencies is not."""
    message = f"{path}: the unit of this log is not told; ns assumed, as fio 3 writes"
    advice = (
        "Keep the log beside the JSON of its run, or say --log-unit us or ns; fio 2 writes µs, which "
        "come out 1000 times too small"
    )
    return Finding.of(Code.LOG_UNIT_ASSUMED, message, advice, source_path=path, run_id=run_id)


def wall_clock(ms: int) -> str:
    """Return a time of the clock on the wall, in ms since 1970 (UTC), in ISO 8601; of any year."""
    return f"{np.datetime64(int(ms), 'ms')}+00:00"


def began_at(opening: str) -> str | None:
    """When the first line of a log with times of the clock on the wall was, in ISO 8601; None for others."""
    first = re.match(r"\s{0,999}(\d{12,15})[ \t]{0,9},", opening)
    return wall_clock(int(first[1])) if first and int(first[1]) > EPOCH_MS else None


def averaged(opening: str) -> bool:
    """Whether the values of the first whole lines are averages over time; these have no block size."""
    lines = (line for line in opening.splitlines() if line.strip())
    found = [
        _LINE.fullmatch(line) or _LINE_WITH_MAXIMUM.fullmatch(line) for line in islice(lines, _LINES_TO_SNIFF)
    ]
    return all(int(line["bs"]) == 0 for line in found if line)


def has_maxima(opening: str) -> bool:
    """Whether the first whole lines have a second value before the direction."""
    lines = islice((line for line in opening.splitlines() if line.strip()), _LINES_TO_SNIFF)
    both = [(_LINE.fullmatch(line), _LINE_WITH_MAXIMUM.fullmatch(line)) for line in lines]
    return any(two and not one for one, two in both) and not any(one and not two for one, two in both)


def blocks(source: Source, sizes: bool = True) -> Iterator[LogColumns]:
    """The columns of a log, block by block, in the order of the file; block sizes where they are asked."""
    maxima = has_maxima(source.opening)
    for block in source.raw_blocks():
        found = None if maxima or sizes else uniform(block)
        yield found or quickly(block, maxima, sizes) or carefully(block, maxima)


class _Lines(Protocol):
    """Some lines of a file, of which some may be damaged."""

    @property
    def n_lines(self) -> int: ...
    @property
    def damaged(self) -> tuple[int, ...]: ...


def damaged_lines(parts: Iterable[_Lines]) -> list[int]:
    """The numbers of the damaged lines of a log, from 1, of its blocks in their order."""
    before, found = 0, []
    for part in parts:
        found += [before + place + 1 for place in part.damaged]
        before += part.n_lines
    return found


def uniform(block: bytes) -> LogColumns | None:
    """The columns but the block sizes of a block whose lines differ little; None where they differ more."""
    lines = _uniform_lines.split(block)
    if lines is None or lines.third.max() >= len(FIO_DDIRS):
        return None
    return LogColumns(
        t_ms=lines.first, value=lines.second, code=lines.third, bs_bytes=None, n_lines=lines.third.size
    )


def quickly(block: bytes, maxima: bool, sizes: bool = True) -> LogColumns | None:
    """The columns of a block without damage; None where a line is none of a log."""
    lines = _number_lines.split(block)
    end = 4 + maxima  # of the columns up to the block size
    if lines is None or not end + maxima <= lines.n_columns <= end + _MOST_MORE:
        return None
    t, value, code, size = 0, 1, end - 2, end - 1
    if any(
        lines.digits(place).max() > _number_lines.LONGEST_NUMBER for place in {t, value, value + maxima, size}
    ):
        return None
    codes: npt.NDArray[np.uint8] = lines.characters(code) - np.uint8(ord("0"))
    if codes.max() >= len(FIO_DDIRS) or lines.digits(code).max() > 1:
        return None
    return LogColumns(
        t_ms=lines.column(t),
        value=lines.column(value),
        code=codes,
        bs_bytes=lines.column(size) if sizes else None,
        n_lines=codes.size,
    )


def carefully(block: bytes, maxima: bool) -> LogColumns:
    """The columns of the whole lines of any block, and the places of the others."""
    import pyarrow as pa  # both take as long to load as a million lines to parse
    import pyarrow.compute as pc

    pattern = (_LINE_WITH_MAXIMUM if maxima else _LINE).pattern
    texts = block.decode(errors="replace").replace("\r\n", "\n").split("\n")[:-1]
    lines = pa.array(texts, pa.string())
    found = pc.extract_regex(lines, f"^{pattern}$")
    blank = pc.match_substring_regex(lines, r"^\s*$")
    damaged = np.flatnonzero(pc.and_(pc.is_null(found), pc.invert(blank)).to_numpy(zero_copy_only=False))
    whole = found.drop_null()

    def column(name: str, kind: pa.DataType) -> Any:
        return whole.field(name).cast(kind).to_numpy(zero_copy_only=False)

    return LogColumns(
        t_ms=column("t", pa.int64()),
        value=column("value", pa.float64()),
        code=column("code", pa.uint8()),
        bs_bytes=column("bs", pa.int64()),
        n_lines=len(texts),
        damaged=tuple(damaged.tolist()),
    )
