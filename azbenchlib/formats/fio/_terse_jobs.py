"""The jobs that lines of fio's terse output tell of.

A line has no quoting, and a job's name may hold ``;``, so fields are counted from the first percentile:
whatever the name is, it stands between the version and the two fields (group, error) before the first
direction.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from azbenchlib.core import units
from azbenchlib.core.findings import Code
from azbenchlib.formats.fio._beside import StatedBefore
from azbenchlib.formats.fio._disk_util import with_devices
from azbenchlib.formats.fio._jobs import SUM_OF_CLIENTS, FioJob, Key, Printed, is_later
from azbenchlib.formats.fio._text_lines import LONGEST

# One direction: KiB, KiB/s, IOPS, ms; slat and clat, four moments each; percentiles; lat, four moments;
# bandwidth in five fields; from v5 on its samples and the IOPS in five fields.
MOMENTS_AT = {"slat": 4, "clat": 8, "lat": 32}
PERCENTILES_AT, N_PERCENTILES = 12, 20
WIDTH = {"2": 41, "3": 41, "4": 41, "5": 47}
IOPS_STDDEV_AT, IOPS_SAMPLES_AT = 45, 46
BIN = 1.02  # a percentile is that of a bin of fio's histogram, which is up to 1.6 % wide
N_AFTER = 34  # CPU, switches and faults; 7 shares by depth, 10 by µs and 12 by ms
N_DISK = 9
_MEMBERS = "slaves"  # stands in place of a name after a device of others (md, dm); these are listed too
# Directions by how many blocks a whole line has. With unified_rw_reporting there is one block or one more.
_DDIRSS = {
    "2": {1: "mixed", 2: "read write", 3: "read write trim", 4: "read write trim mixed"},
    "3": {1: "mixed", 2: "read write", 3: "read write mixed"},
    "4": {1: "mixed", 3: "read write trim", 4: "read write trim mixed"},
}
_DDIRSS["5"] = _DDIRSS["4"]
_MOST_JOBS = 300  # in one document of a status report

INTERVAL_S = 0.1  # status reports are at least so far apart; the final one may be nearer

_NO_TRIM = (
    Code.TRIM_NOT_SHOWN,
    "nothing was read or written, and version 3 of terse output shows no trims",
)
_IN_ORDER = ["read", "write", "trim"]
_INT = re.compile(r"\d{1,18}")
_REAL = re.compile(r"\d{1,18}(?:\.\d{1,9})?")
_RATE = re.compile(_REAL.pattern + "|-?nan|-?inf")  # printf's words for a division by zero
_SHARE = re.compile(r"\d{1,9}\.\d{1,9}%|-?nan%|-?inf%")
_PERCENTILE = re.compile(r"(\d{1,3}(?:\.\d{1,9})?)%=(\d{1,18})")
_MOMENTS = ("lat_min_us", "lat_max_us", "lat_mean_us", "lat_stddev_us")


@dataclass(frozen=True)
class TerseReport:
    """What terse lines tell: jobs by document, the lines that are broken, the lines of other kinds."""

    documents: tuple[tuple[FioJob, ...], ...]
    broken: tuple[int, ...]  # from 1
    rest: tuple[str, ...]


def find_jobs(text: Iterable[str]) -> TerseReport:
    """All jobs of the terse lines among these lines, in time linear in their length."""
    jobs: list[FioJob] = []
    devices: list[int | None] = []
    broken: list[int] = []
    rest: list[str] = []
    stated, begins = StatedBefore(), [0]  # places of the first jobs below a command line
    for number, line in enumerate(text, 1):
        fields = fields_of(line)
        if fields is None:
            stated.read(line)
            if stated.begins and jobs and begins[-1] < len(jobs):
                begins.append(len(jobs))
            rest.append(line)
            continue
        job, device_ios, whole = _job(fields)
        if job:
            jobs.append(replace(job, start=len(begins), beside=stated.of(job.name)))
            devices.append(device_ios)
        if not whole:
            broken.append(number)
    documents, last = [], 0
    for begin, end in pairwise([*begins, len(jobs)]):
        for found in _documents(jobs[begin:end]):
            last += len(found)
            documents.append(with_devices(found, devices[last - 1]))
    return TerseReport(tuple(documents), tuple(broken), tuple(rest))


def fields_of(line: str) -> list[str] | None:
    """Version, fio's version or nothing, name, group, error, and what follows; None: no terse line.

    Progress lines of fio can stand before it in the same line.
    """
    if "%=" not in line or line.count(";") < PERCENTILES_AT + 3:
        return None
    fields = line.strip().split(";")
    found = next((at for at, text in enumerate(fields) if _PERCENTILE.fullmatch(text)), 0)
    start = found - PERCENTILES_AT
    if start < 4 or not all(map(_REAL.fullmatch, fields[start:found])):
        return None
    group, error = fields[start - 2 : start]
    after = next((at for at, text in enumerate(fields[: start - 2]) if text.startswith("fio-")), 0)
    if after and fields[after - 1][-1:] in ("3", "4", "5"):
        head = [fields[after - 1][-1], fields[after], ";".join(fields[after + 1 : start - 2])]
    elif re.fullmatch(r"(?:.*\D)?2", fields[0][-LONGEST:]):
        head = ["2", "", ";".join(fields[1 : start - 2])]
    else:
        return None
    return [*head, group, error, *fields[start:]]


def _job(fields: Sequence[str]) -> tuple[FioJob | None, int | None, bool]:
    """The job of a line, the I/Os of all devices up to then, and whether the line is whole."""
    version, tool, name, group, error, *values = fields
    width = WIDTH[version]
    n_blocks = 0
    while _is_block(values[n_blocks * width : (n_blocks + 1) * width], width):
        n_blocks += 1
    after = values[n_blocks * width :]
    whole = _is_tail(after) and n_blocks in _DDIRSS[version]
    # the last field of a line that breaks off may be half a number
    usable = n_blocks if after else n_blocks - 1
    if not (_INT.fullmatch(group) and re.fullmatch(r"-?\d{1,9}", error)) or (not whole and usable < 2):
        return None, None, False
    order = (
        _DDIRSS[version][n_blocks].split() if whole else _IN_ORDER[: min(usable, 2 if version == "3" else 3)]
    )
    figures: dict[Key, Printed] = {}
    for place, ddir in enumerate(order):
        figures |= _direction(ddir, values[place * width : (place + 1) * width])
    failed = device_ios = None
    if whole:
        for column, share in (("usr_cpu_pct", after[0][:-1]), ("sys_cpu_pct", after[1][:-1])):
            if _REAL.fullmatch(share):
                figures[Key("runs", "", column)] = Printed(float(share), 1e-6)
        device_ios, failed = _after_shares(after[N_AFTER:])
    job = FioJob(
        name=name, group_id=int(group), error=int(error), version=tool or None, figures=figures, failed=failed
    )
    hidden = version == "3" and not job.directions and not job.error
    return (replace(job, notes=(_NO_TRIM,)) if hidden else job), device_ios, whole


def _is_block(block: Sequence[str], width: int) -> bool:
    if len(block) < width:
        return False
    last = PERCENTILES_AT + N_PERCENTILES
    latencies = (*block[:PERCENTILES_AT], *block[last : MOMENTS_AT["lat"] + 4])
    rates = (text.rstrip("%") for text in block[MOMENTS_AT["lat"] + 4 :])
    return (
        all(map(_PERCENTILE.fullmatch, block[PERCENTILES_AT:last]))
        and all(map(_REAL.fullmatch, latencies))
        and all(map(_RATE.fullmatch, rates))
    )


def _is_tail(after: Sequence[str]) -> bool:
    """Whether what follows the directions is there up to the last share."""
    tail = after[:N_AFTER]
    shares = (*tail[:2], *tail[5:])
    return len(tail) == N_AFTER and all(map(_SHARE.fullmatch, shares)) and all(map(_INT.fullmatch, tail[2:5]))


def _after_shares(after: Sequence[str]) -> tuple[int | None, tuple[int, int] | None]:
    """The I/Os of the disks, reads and writes, and, with continue_on_error, failed I/Os and the first error.

    They are those of the whole run in every line. None: no disk, or no such field.
    """
    done: list[int] = []
    while len(after) >= N_DISK and all(map(_INT.fullmatch, after[1:8])) and _SHARE.fullmatch(after[8]):
        if after[0] == _MEMBERS:
            done = done[:-1]
        else:
            done.append(int(after[1]) + int(after[2]))
        after = after[N_DISK:]
    device_ios = sum(done) if done else None
    if len(after) >= 2 and all(map(_INT.fullmatch, after[:2])):
        return device_ios, (int(after[0]), int(after[1]))
    return device_ios, None


def _direction(ddir: str, block: Sequence[str]) -> dict[Key, Printed]:
    """The figures of one direction; none, where nothing was done."""
    kib, kib_per_s, iops, ms = map(float, block[:4])
    figures: dict[Key, Printed] = {}
    for kind, at in MOMENTS_AT.items():
        numbers = [float(text) for text in block[at : at + 4]]
        if any(numbers):
            for column, number, slack in zip(_MOMENTS, numbers, (1, 1, 1e-6, 1e-6), strict=True):
                figures[Key("latency", ddir, column, kind)] = Printed(number, slack)
    if Key("latency", ddir, "lat_mean_us", "clat") in figures:
        texts = block[PERCENTILES_AT : PERCENTILES_AT + N_PERCENTILES]
        values = [(float(percentile), float(us)) for percentile, us in (text.split("%=") for text in texts)]
        # with lat_percentiles=1 they are those of lat, which shows where one is longer than any clat
        clat, lat = (
            figures.get(Key("latency", ddir, "lat_max_us", kind), Printed(0)).value * BIN + 1
            for kind in ("clat", "lat")
        )
        kind = "lat" if clat < max(us for _, us in values) <= lat else "clat"
        for percentile, us in values:
            if percentile and percentile <= 100:  # 0%=0 pads the list
                figures[Key("percentiles", ddir, "lat_us", kind, percentile)] = Printed(us, 1)
    if not (kib or iops or figures):
        return figures
    columns = {
        "iops": Printed(iops, 1),
        "io_bytes": Printed(int(kib) * units.KIB, units.KIB),
        "bw_bytes_per_s": Printed(int(kib_per_s) * units.KIB, units.KIB),
        "runtime_s": Printed(ms / units.MS_PER_S),
    }
    if (
        len(block) > IOPS_SAMPLES_AT
        and _REAL.fullmatch(block[IOPS_STDDEV_AT])
        and block[IOPS_SAMPLES_AT] != "0"
    ):
        columns["iops_stddev"] = Printed(float(block[IOPS_STDDEV_AT]), 1e-6)
    return figures | {Key("results", ddir, column): figure for column, figure in columns.items()}


def _documents(jobs: Sequence[FioJob]) -> tuple[tuple[FioJob, ...], ...]:
    """The jobs by document. Lines do not say whether they are further jobs or the same ones later on.

    They are the same jobs where, at one distance throughout, names are equal, nothing that only grows
    shrinks, and time goes on.
    """
    names = [(job.name, job.group_id) for job in jobs]
    for distance in range(1, min(len(jobs), _MOST_JOBS)):
        later = jobs[distance:]
        if names[:-distance] != names[distance:]:
            continue
        growth = max(
            _seconds(after) - _seconds(job) for job, after in zip(jobs[:distance], later, strict=False)
        )
        if growth >= INTERVAL_S and all(map(is_later, jobs, later)):
            return tuple(tuple(jobs[at : at + distance]) for at in range(0, len(jobs), distance))
    return tuple(_runs(jobs))


def _runs(jobs: Sequence[FioJob]) -> Iterator[tuple[FioJob, ...]]:
    """The jobs of each run.

    Clones of a job (``numjobs``) stand together, so one that is met again after others is of a further run;
    but clients repeat the names, up to the sum over all of them.
    """
    clients = any(job.name == SUM_OF_CLIENTS for job in jobs)
    run: list[FioJob] = []
    known: set[tuple[str, int | None]] = set()
    for job in jobs:
        who = (job.name, job.group_id)
        again = who in known and (run[-1].name, run[-1].group_id) != who
        if run and (run[-1].name == SUM_OF_CLIENTS if clients else again):
            yield tuple(run)
            run, known = [], set()
        run.append(job)
        known.add(who)
    if run:
        yield tuple(run)


def _seconds(job: FioJob) -> float:
    return max((job.value("runtime_s", ddir) or 0 for ddir in job.directions), default=0)
