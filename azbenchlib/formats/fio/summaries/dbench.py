"""The summary of dbench, a script and image that runs nine jobs of fio on a Kubernetes volume.

It prints IOPS of 4 KiB and throughput of 128 KiB at random, the mean latency of 4 KiB at four outstanding
I/Os, throughput of 1 MiB sequentially and the IOPS of a mix of 75 % reads, each as fio's text prints it:
rounded to three digits. The block sizes are those of its script; the summary does not tell them.

Source: dbench ``docker-entrypoint.sh``, read 2026-11 at 02ab8ca, and summaries of it in public pages.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from azbenchlib.formats.fio.summaries._job import COUNT, RATE, SummaryJob, bytes_of, count_of, value_of

DBENCH_SIGN = "Dbench Summary"
_SHARED = {
    "ioengine": "libaio",
    "direct": "1",
    "numjobs": "1",
    "runtime": "15s",
    "ramp_time": "2s",
    "time_based": "1",
}
_SLASH = r"\s{0,9}/\s{0,9}"
_RANDOM = re.compile(
    rf"Random Read/Write IOPS:\s{{0,9}}{COUNT}{_SLASH}{COUNT}\.\s{{0,9}}BW:\s{{0,9}}{RATE}{_SLASH}{RATE}"
)
_LATENCY = re.compile(
    r"Average Latency (?:\(([num]s)(?:ec)?\) )?Read/Write:\s{0,9}([\d.]{1,20})(?:\(([num]s)(?:ec)?\))?"
    rf"{_SLASH}([\d.]{{1,20}})(?:\(([num]s)(?:ec)?\))?"
)
_SEQUENTIAL = re.compile(rf"Sequential Read/Write:\s{{0,9}}{RATE}{_SLASH}{RATE}")
_MIXED = re.compile(rf"Mixed Random Read/Write IOPS:\s{{0,9}}{COUNT}{_SLASH}{COUNT}")
_US = {"ns": 1e-3, "us": 1, "ms": 1e3}
_DDIRS = ("read", "write")


def find(lines: Sequence[str]) -> Iterator[SummaryJob]:
    """Give the jobs of all summaries among these lines."""
    inside = False
    for line in lines:
        inside |= DBENCH_SIGN in line
        if inside:
            yield from _jobs(line)


def _jobs(line: str) -> Iterator[SummaryJob]:
    """The jobs that a line of a summary tells of."""
    if match := _RANDOM.match(line):
        for ddir, at in zip(_DDIRS, (0, 2), strict=True):
            options = {"rw": f"rand{ddir}", "bs": "4k", "iodepth": "64"}
            yield _job(f"{ddir}_iops", ddir, options, {"iops": count_of(*match.groups()[at : at + 2])})
        for ddir, at in zip(_DDIRS, (4, 6), strict=True):
            options = {"rw": f"rand{ddir}", "bs": "128k", "iodepth": "64"}
            yield _job(
                f"{ddir}_bw", ddir, options, {"bw_bytes_per_s": bytes_of(*match.groups()[at : at + 2])}
            )
    elif match := _LATENCY.match(line):
        yield from _latencies(match)
    elif match := _SEQUENTIAL.match(line):
        for ddir, at in zip(_DDIRS, (0, 2), strict=True):
            options = {"rw": ddir, "bs": "1m", "iodepth": "16", "numjobs": "4", "group_reporting": "1"}
            yield _job(
                f"{ddir}_seq", ddir, options, {"bw_bytes_per_s": bytes_of(*match.groups()[at : at + 2])}
            )
    elif match := _MIXED.match(line):
        rates = zip(_DDIRS, (count_of(*match.groups()[at : at + 2]) for at in (0, 2)), strict=True)
        options = {"rw": "randrw", "rwmixread": "75", "bs": "4k", "iodepth": "64"}
        results = {ddir: {"iops": rate} for ddir, rate in rates}
        yield SummaryJob(name="rw_mix", options=_SHARED | options, results=results, rounded=True)


def _job(name: str, ddir: str, options: Mapping[str, str], result: Mapping[str, float]) -> SummaryJob:
    return SummaryJob(
        name=name, options={**_SHARED, **options}, results={ddir: result}, rounded="iops" in result
    )


def _latencies(match: re.Match[str]) -> Iterator[SummaryJob]:
    """The two jobs that measured latencies; the unit is told once, or with each of them."""
    shared, *parts = match.groups()
    for ddir, (text, unit) in zip(_DDIRS, (parts[:2], parts[2:]), strict=True):
        if (shared or unit) and text.count(".") <= 1 and text != ".":
            options = {"rw": f"rand{ddir}", "bs": "4k", "iodepth": "4"}
            lat_us = {ddir: value_of(text) * _US[unit or shared]}
            yield SummaryJob(name=f"{ddir}_latency", options=_SHARED | options, lat_us=lat_us)
