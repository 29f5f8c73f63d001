"""The summary of kbench, Longhorn's benchmark of one or two Kubernetes volumes.

It prints IOPS of 4 KiB and throughput of 128 KiB, both with 64 outstanding I/Os, and the mean latency of
4 KiB with one, at random and sequentially. Rates are the means of fio's samples, cut to whole ones; the block
sizes are those of its job files. A comparison has two volumes side by side, and their names in its head. The
first versions printed the three quantities of each pattern below each other.

Source: kbench ``fio/func.sh``, ``fio/parse.sh`` and ``fio/*.fio``, read 2026-11 at 8fd580c.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from azbenchlib.core import units
from azbenchlib.formats.fio.summaries._job import SummaryJob, value_of

KBENCH_SIGN = "FIO Benchmark "
_SHARED = {"ioengine": "libaio", "direct": "1", "numjobs": "1", "time_based": "1"}
_BEGIN = re.compile(r"FIO Benchmark (?:Summary|Compar\w{1,9} Summary)$", re.IGNORECASE)
_NAMES = re.compile(r"For: (.{1,200})")
_SIZE = re.compile(r"size: (\d{1,9}[kmgt]?)$", re.IGNORECASE)
_SECTION = re.compile(r"(IOPS|Bandwidth in KiB/sec|Latency in ns) \(Read/Write\)")
_ROW = re.compile(r"(Random|Sequential):\s{1,40}(.{1,300})")
_PAIR = re.compile(r"(\d[\d,]{0,20}) / (\d[\d,]{0,20})(?![\d.%])")
# What a section measured: the end of the job's name, its block size and depth.
_KIND = re.compile(r"(Random|Sequential) Read/Write$")  # in the first versions, where rows name the quantity
_QUANTITY = re.compile(
    r"(IOPS|Bandwidth|Average Latency):\s{1,40}(\d[\d,]{0,20})(?: KiB/sec| ns)?\s{0,9}/\s{0,9}"
    r"(\d[\d,]{0,20})(?![\d.%])"
)
_SECTION_OF = {"IOPS": "IOPS", "Bandwidth": "Bandwidth in KiB/sec", "Average Latency": "Latency in ns"}
_MEASURED = {
    "IOPS": ("iops", "4k", "64"),
    "Bandwidth in KiB/sec": ("bw", "128k", "64"),
    "Latency in ns": ("lat", "4k", "1"),
}


def find(lines: Sequence[str]) -> Iterator[SummaryJob]:
    """Give the jobs of all summaries among these lines."""
    yield from _by_quantity(lines)
    yield from _by_pattern(lines)


def _by_quantity(lines: Sequence[str]) -> Iterator[SummaryJob]:
    """Those of summaries with a section for each quantity."""
    names, section, size = list[str](), "", ""
    inside = False
    for line in lines:
        if _BEGIN.match(line):
            inside, names, section, size = True, [], "", ""
        elif not inside:
            continue
        elif match := _NAMES.match(line):
            names = match[1].split(" vs ")
        elif match := _SIZE.match(line):
            size = match[1].lower()
        elif match := _SECTION.match(line):
            section = match[1]
        elif section and (match := _ROW.match(line)):
            pairs = islice(_PAIR.finditer(match[2].partition(" : ")[0]), max(1, len(names)))
            for volume, pair in enumerate(pairs):
                target = names[volume] if len(names) > 1 else ""
                yield from _jobs(match[1], section, pair.groups(), {"size": size} if size else {}, target)


def _by_pattern(lines: Sequence[str]) -> Iterator[SummaryJob]:
    """Those of summaries of the first versions, with a section for each pattern."""
    inside, kind = False, ""
    for line in lines:
        if line.startswith("=") and _BEGIN.match(line.strip("= ")):
            inside, kind = True, ""
        elif inside and (match := _KIND.match(line)):
            kind = match[1]
        elif kind and (match := _QUANTITY.match(line)):
            yield from _jobs(kind, _SECTION_OF[match[1]], match.groups()[1:], {}, "")


def _jobs(
    kind: str, section: str, pair: Sequence[str], options: dict[str, str], target: str
) -> Iterator[SummaryJob]:
    """The jobs of reading and of writing that a pair of figures tells of."""
    measured, bs, depth = _MEASURED[section]
    random = kind == "Random"
    for ddir, text in zip(("read", "write"), pair, strict=True):
        name = f"{'rand' if random else 'seq'}-{ddir}-{measured}"
        value = value_of(text)
        results, lat_us = {}, {}
        if measured == "lat":
            lat_us[ddir] = value / units.NS_PER_US
        elif measured == "bw":
            results[ddir] = {"bw_bytes_per_s": value * units.KIB}
        else:
            results[ddir] = {"iops": value}
        yield SummaryJob(
            name=f"{target} {name}".strip(),
            options={
                **_SHARED,
                "rw": f"rand{ddir}" if random else ddir,
                "bs": bs,
                "iodepth": depth,
                **options,
            },
            results=results,
            lat_us=lat_us,
        )
