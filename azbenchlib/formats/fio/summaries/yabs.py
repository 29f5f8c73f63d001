"""The table of yabs.sh, and its JSON (``-j``, ``-w``): a mix of half reads, half writes, at four block sizes.

Its jobs have libaio, direct I/O, two jobs and 64 outstanding I/Os of each. What it calls MB/s are thousands
of KiB/s up to July 2026, and 10**6 bytes per second since; which of them, the IOPS beside them tell. JSON has
KiB/s as ``KBps``. IOPS from 1,000 on are cut to a decimal of a thousand in the table, whole in JSON.

Source: yabs.sh (``disk_test``, ``format_speed``, ``format_iops``), read 2026-11 at its state of 2026-07-04,
and its change 3125fed of 2026-07-03.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from azbenchlib.core import units
from azbenchlib.core.errors import InputError
from azbenchlib.formats.fio.summaries._job import PRINTED_NUMBER, SummaryJob, count_of, value_of

YABS_SIGN = "fio Disk Speed Tests"
_OPTIONS = {"rw": "randrw", "rwmixread": "50", "iodepth": "64", "numjobs": "2", "group_reporting": "1"}
_OPTIONS |= {"ioengine": "libaio", "direct": "1", "runtime": "30"}
_BLOCK = r"\|\s{0,20}(\d{1,7}[kKmM]?)\s{1,40}\(IOPS\)\s{0,20}"
_SIZES = re.compile(rf"Block Size\s{{0,20}}{_BLOCK}(?:{_BLOCK})?")
_CELL = rf"\|\s{{0,20}}({PRINTED_NUMBER}) ([KMG])B/s\s{{0,40}}\(({PRINTED_NUMBER})([kM]?)\)\s{{0,40}}"
_ROW = re.compile(rf"(Read|Write)\s{{0,20}}{_CELL}(?:{_CELL})?")
_PARTITION = re.compile(r"\(Partition (\S{1,200})\)")
_POWERS = {"K": 1, "M": 2, "G": 3}
_DECIMAL, _BINARY = 1.0, units.KIB / units.KB  # bytes in what is called a byte
_TELLING = 0.008  # a third of the 2.4 % between them: what rounding may hide of IOPS


@dataclass(frozen=True, kw_only=True)
class _Cell:
    """What a row says of a block size."""

    ddir: str
    bs: str
    bytes_per_s: float  # as if MB were 10**6
    iops: float
    slack: float  # how far off the IOPS may be


def find(lines: Sequence[str]) -> Iterator[SummaryJob]:
    """Give the jobs of all tables among these lines."""
    tables: list[list[_Cell]] = []
    partitions: list[dict[str, str]] = []
    sizes: list[str] = []
    for line in lines:
        if line.startswith(YABS_SIGN):
            tables.append([])
            named = _PARTITION.search(line)
            partitions.append({"target": named[1]} if named else {})
        elif match := _SIZES.match(line):
            sizes = [text.lower() for text in match.groups() if text]
        elif tables and (match := _ROW.match(line)):
            tables[-1] += _cells(match, sizes)
    for table, columns in zip(tables, partitions, strict=True):
        unit = _unit(table)
        by_size: dict[str, dict[str, dict[str, float]]] = {}
        for cell in table:
            rate = {"bw_bytes_per_s": cell.bytes_per_s * unit} if unit else {}
            by_size.setdefault(cell.bs, {})[cell.ddir] = {"iops": cell.iops, **rate}
        for bs, results in by_size.items():
            rounded = any(cell.slack > 1 for cell in table if cell.bs == bs)
            yield SummaryJob(
                name=f"rand_rw_{bs}",
                options={**_OPTIONS, "bs": bs},
                results=results,
                columns=columns,
                rounded=rounded,
            )


def find_json(document: Mapping[str, Any]) -> Iterator[SummaryJob]:
    """Give the jobs of its JSON."""
    for entry in document.get("fio") or ():
        bs = entry["bs"]
        results = {
            ddir: {
                "iops": float(entry[f"iops_{letter}"]),
                "bw_bytes_per_s": float(entry[f"speed_{letter}"]) * units.KIB,
            }
            for ddir, letter in (("read", "r"), ("write", "w"))
        }
        yield SummaryJob(name=f"rand_rw_{bs}", options={**_OPTIONS, "bs": bs}, results=results)


def _cells(match: re.Match[str], sizes: Sequence[str]) -> Iterator[_Cell]:
    ddir, *parts = match.groups()
    for bs, at in zip(sizes, (0, 4), strict=False):
        rate, prefix, iops, letter = parts[at : at + 4]
        if rate is not None:
            slack = units.KB / 10 if letter else 1
            per_s = value_of(rate) * units.KB ** _POWERS[prefix]
            yield _Cell(ddir=ddir.lower(), bs=bs, bytes_per_s=per_s, iops=count_of(iops, letter), slack=slack)


def _unit(table: Sequence[_Cell]) -> float | None:
    """How many bytes are called a byte; None where the IOPS are too rough to tell."""
    for cell in sorted(table, key=lambda cell: cell.slack / max(cell.iops, 1)):
        if not cell.iops or cell.slack / cell.iops > _TELLING:
            return None
        try:
            expected = (cell.iops + cell.slack / 2) * units.parse_size(cell.bs)
        except InputError:
            continue
        for unit in (_DECIMAL, _BINARY):
            if abs(cell.bytes_per_s * unit / expected - 1) <= _TELLING:
                return unit
        return None
    return None
