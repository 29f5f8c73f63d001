"""What ``kubestr fio`` prints: for each job its options and, by direction, IOPS and KiB/s, cut to whole ones.

``-o json`` holds fio's JSON, which is read as such.

Source: kubestr ``pkg/fio/fio_types.go`` (``Print``), read 2026-11 at 40561bd.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from azbenchlib.core.units import KIB
from azbenchlib.formats.fio.summaries._job import SummaryJob

KUBESTR_SIGN = "FIO version - fio-"
_VERSION = re.compile(r"FIO version - (fio-[\w.-]{1,40})")
_GLOBAL = re.compile(r"Global options - (.{1,500})")
_JOB = re.compile(r"JobName:\s{0,9}(.{0,200})")
_OPTIONS = re.compile(r"blocksize=(\S{0,40}) filesize=(\S{0,40}) iodepth=(\S{0,40}) rw=(\S{0,40})")
_DIRECTION = re.compile(r"(read|write):$")
_RATES = re.compile(r"IOPS=(\d{1,15}(?:\.\d{1,9})?) BW\(KiB/s\)=(\d{1,15})")
_NAMES = ("bs", "size", "iodepth", "rw")


def find(lines: Sequence[str]) -> Iterator[SummaryJob]:
    """Give the jobs of all summaries among these lines."""
    version, shared = None, dict[str, str]()
    name, options, ddir = "", dict[str, str](), ""
    results: dict[str, dict[str, float]] = {}
    columns: dict[str, Any] = {}
    for line in [*lines, "JobName:"]:
        if match := _VERSION.match(line):
            version, shared = match[1], {}
        elif match := _GLOBAL.match(line):
            shared = dict(part.split("=", 1) for part in match[1].split() if "=" in part)
            shared = {key: text for key, text in shared.items() if text and key in ("ioengine", "direct")}
        elif match := _JOB.match(line):
            if results:
                yield SummaryJob(name=name, options=shared | options, results=results, columns=columns)
            name, options, ddir, results = match[1], {}, "", {}
            columns = {"tool_version": version}
        elif match := _OPTIONS.match(line):
            options = {key: text for key, text in zip(_NAMES, match.groups(), strict=True) if text}
        elif match := _DIRECTION.match(line):
            ddir = match[1]
        elif (match := _RATES.match(line)) and ddir:
            results[ddir] = {"iops": float(match[1]), "bw_bytes_per_s": float(match[2]) * KIB}
            ddir = ""
