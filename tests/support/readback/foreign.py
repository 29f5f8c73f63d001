"""Outputs of others, made here with figures that are known: fio, diskspd, IOMeter and iozone.

Each maker gives the text of a file and the facts that a report of it may show. The facts are what the file
was made from; nothing reads the file to know them.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from readback.naming import Topic, of_file
from readback.reckoning import BINNED, Fact

SECONDS = 30
MOMENT = 1_772_443_200  # 2 March 2026, 09:20
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
DDIRS = ("read", "write", "trim")
RW = {"read": "randread", "write": "randwrite"}


@dataclass(frozen=True)
class Flow:
    """I/O of one direction: rate, and how many I/Os took how long (ns to count)."""

    iops: float
    counts: dict[int, int] = field(default_factory=dict)

    def at(self, percentile: float) -> float:
        """The latency at the nearest rank."""
        return ranked(self.counts, percentile)


def ranked(counts: dict[int, int], percentile: float) -> float:
    """The value at the nearest rank of counted values."""
    rank = max(1, math.ceil(sum(counts.values()) * percentile / 100 - 1e-9))
    for value in sorted(counts):
        rank -= counts[value]
        if rank <= 0:
            return float(value)
    raise AssertionError("no value counted")


SPREAD = ((0.5, 0.40), (1.0, 0.50), (3.0, 0.08), (9.0, 0.02))  # of the middle: p50, p95 and p99 differ by far


def flow(iops: float, depth: float) -> Flow:
    """I/O that holds so many outstanding on average, by Little's law, with latencies that fio can print."""
    middle = 1e9 * depth / iops / sum(times * share for times, share in SPREAD)
    counts = {_printed(middle * times): round(iops * SECONDS * share) for times, share in SPREAD}
    return Flow(iops, counts)


def _printed(ns: float) -> int:
    """The value that fio prints for a bin: its middle; 64 bins for every doubling."""
    value = round(ns)
    shift = max(0, value.bit_length() - 7)
    return (value >> shift << shift) + (1 << shift >> 1)


@dataclass(frozen=True)
class Job:
    """One entry of fio's jobs."""

    flows: dict[str, Flow]
    name: str = "job"
    bs: int = 4096
    depth: int = 1
    group: int = 0
    host: str | None = None
    jobs: int = 1  # in one entry, with group_reporting
    rw: str | None = None

    @property
    def pattern(self) -> str:
        return self.rw or (RW[next(iter(self.flows))] if len(self.flows) == 1 else "randrw")

    def total(self) -> float:
        return sum(flow.iops for flow in self.flows.values())


def fio(jobs: Sequence[Job], bins: bool = True, at: int = MOMENT) -> str:
    """fio's JSON, written at a moment (Unix time); with `bins` its json+."""
    client = any(job.host for job in jobs)
    document = {
        "fio version": "fio-3.36",
        "timestamp": at,
        "time": f"{datetime.fromtimestamp(at, UTC):%a %b %e %H:%M:%S %Y}",
        "global options": {"direct": "1", "ioengine": "libaio", "filename": "/dev/nvme0n1", "size": "64g"},
        "client_stats" if client else "jobs": [_entry(job, bins) for job in jobs],
    }
    if client:
        document["client_stats"].append(_all_clients(jobs))  # type: ignore[attr-defined]
        del document["global options"]
    return json.dumps(document, indent=1)


def _entry(job: Job, bins: bool) -> dict[str, object]:
    options = {"name": job.name, "rw": job.pattern, "bs": str(job.bs), "iodepth": str(job.depth)}
    options |= {"direct": "1", "ioengine": "libaio"}
    options |= {"numjobs": str(job.jobs), "group_reporting": "1"} if job.jobs > 1 else {}
    where = {"hostname": job.host, "port": 8765} if job.host else {}
    return {
        "jobname": job.name,
        "groupid": job.group,
        "error": 0,
        "job options": options,
        **{ddir: _ddir(job.flows.get(ddir), job.bs, bins) for ddir in DDIRS},
        "job_runtime": SECONDS * 1000,
        "usr_cpu": 1.0,
        "sys_cpu": 2.0,
        **where,
    }


def _all_clients(jobs: Sequence[Job]) -> dict[str, object]:
    """fio's own sum of its clients, which must not be counted again."""
    sums = {
        ddir: Flow(sum(job.flows[ddir].iops for job in jobs if ddir in job.flows))
        for ddir in DDIRS
        if any(ddir in job.flows for job in jobs)
    }
    entry = _entry(replace(jobs[0], name="All clients", flows=sums), False)
    del entry["job options"]
    return entry


def _ddir(flow: Flow | None, bs: int, bins: bool) -> dict[str, object]:
    iops = flow.iops if flow else 0.0
    ios = round(iops * SECONDS)
    counts = flow.counts if flow else {}
    return {
        "io_bytes": ios * bs,
        "io_kbytes": ios * bs // 1024,
        "bw_bytes": round(iops * bs),
        "bw": round(iops * bs) // 1024,
        "iops": iops,
        "runtime": SECONDS * 1000 if flow else 0,
        "total_ios": ios,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": _moments({}),
        "clat_ns": _moments(counts) | (_percentiles(counts, bins) if counts else {}),
        "lat_ns": _moments(counts),
    }


def _moments(counts: dict[int, int]) -> dict[str, float]:
    n = sum(counts.values())
    mean = sum(value * many for value, many in counts.items()) / n if n else 0.0
    square = sum(many * (value - mean) ** 2 for value, many in counts.items())
    return {
        "min": min(counts, default=0),
        "max": max(counts, default=0),
        "mean": mean,
        "stddev": math.sqrt(square / max(1, n - 1)),
        "N": n,
    }


def _percentiles(counts: dict[int, int], bins: bool) -> dict[str, object]:
    told = {f"{p:.6f}": round(ranked(counts, p)) for p in PERCENTILES}
    return {"percentile": told, **({"bins": {str(v): n for v, n in counts.items()}} if bins else {})}


# --- what is true of them ------------------------------------------------------------------------------


def truth(setup: str, repeats: Sequence[Sequence[Job]], bins: bool = True) -> list[Fact]:
    """What repeats on one setup give: each is a list of jobs of one workload that ran at once."""
    first = repeats[0][0]
    depth = float(sum(job.depth * job.jobs for job in repeats[0]))
    topic = Topic(frozenset({setup}), frozenset({first.pattern}), float(first.bs), depth)
    facts = [fact for jobs in repeats for fact in _rates([jobs], first.bs, topic, False)]
    facts += _rates(repeats, first.bs, topic, True)
    if len(repeats) == 1:
        facts += [replace(fact, pooled=True) for fact in _latencies(repeats[0], topic, bins)]
    facts += [fact for jobs in repeats for fact in _latencies(jobs, topic, bins)]
    every = [job for jobs in repeats for job in jobs]
    return [*facts, *(replace(f, pooled=True, n=len(repeats)) for f in _latencies(every, topic, bins))]


def _rates(repeats: Sequence[Sequence[Job]], bs: int, topic: Topic, pooled: bool) -> list[Fact]:
    facts = []
    ddirs = list(repeats[0][0].flows)
    for ddir in [None, *(ddirs if len(ddirs) > 1 else [])]:
        sums = sorted(
            sum(flow.iops for job in jobs for name, flow in job.flows.items() if ddir in (None, name))
            for jobs in repeats
        )
        middle = (sums[(len(sums) - 1) // 2] + sums[len(sums) // 2]) / 2
        for kind, scale in (("iops", 1), ("bytes_per_s", bs)):
            ends = (sums[0] * scale, sums[-1] * scale)
            facts.append(Fact(kind, middle * scale, replace(topic, ddir=ddir), pooled, len(sums), "=", *ends))
    return facts


def _latencies(jobs: Iterable[Job], topic: Topic, bins: bool) -> list[Fact]:
    """Of several jobs together by rank, where there are bins; of one its own."""
    jobs = list(jobs)
    if len(jobs) > 1 and not bins:
        return []
    facts = []
    ddirs = list(jobs[0].flows)
    for ddir in ddirs:
        counts: dict[int, int] = {}
        for job in jobs:
            for value, n in job.flows[ddir].counts.items():
                counts[value] = counts.get(value, 0) + n
        for p in PERCENTILES if counts else ():
            of = replace(topic, ddir=ddir if len(ddirs) > 1 else None, percentile=float(p))
            within = BINNED if len(jobs) > 1 else 0.0
            facts.append(Fact("lat_us", ranked(counts, p) / 1000, of, False, within=within))
    return facts


# --- other tools -----------------------------------------------------------------------------------------


def diskspd(reads: Sequence[int], bs: int, depth: int) -> str:
    """diskspd's XML of random reads by several threads; `reads` are the I/Os of each in 30 s."""
    target = (
        f"<Target><Path>E:\\bench.dat</Path><BlockSize>{bs}</BlockSize><DisableOSCache>true</DisableOSCache>"
        f"<FileSize>68719476736</FileSize><Random>{bs}</Random><RequestCount>{depth}</RequestCount>"
        f"<WriteRatio>0</WriteRatio><ThreadsPerFile>{len(reads)}</ThreadsPerFile></Target>"
    )
    buckets = "".join(
        f"<Bucket><Percentile>{p:g}</Percentile><ReadMilliseconds>{ms}</ReadMilliseconds>"
        f"<TotalMilliseconds>{ms}</TotalMilliseconds></Bucket>"
        for p, ms in DISKSPD_MS.items()
    )
    threads = "".join(
        f"<Thread><Id>{i}</Id><Target><Path>E:\\bench.dat</Path><BytesCount>{n * bs}</BytesCount>"
        f"<FileSize>68719476736</FileSize><IOCount>{n}</IOCount><ReadBytes>{n * bs}</ReadBytes>"
        f"<ReadCount>{n}</ReadCount><WriteBytes>0</WriteBytes><WriteCount>0</WriteCount></Target></Thread>"
        for i, n in enumerate(reads)
    )
    return (
        "<Results><System><ComputerName>BENCH</ComputerName><Tool><Version>2.2.0</Version></Tool></System>"
        f"<Profile><TimeSpans><TimeSpan><Duration>{SECONDS}</Duration><Targets>{target}</Targets></TimeSpan>"
        f"</TimeSpans></Profile><TimeSpan><TestTimeSeconds>{SECONDS}.00</TestTimeSeconds>"
        f"<ThreadCount>{len(reads)}</ThreadCount><ProcCount>8</ProcCount><Latency>"
        "<AverageReadMilliseconds>0.4</AverageReadMilliseconds><ReadLatencyStdev>0.2</ReadLatencyStdev>"
        "<AverageTotalMilliseconds>0.4</AverageTotalMilliseconds><LatencyStdev>0.2</LatencyStdev>"
        f"{buckets}</Latency>{threads}</TimeSpan></Results>"
    )


DISKSPD_MS = {0: 0.1, 25: 0.3, 50: 0.4, 75: 0.5, 90: 0.6, 95: 0.8, 99: 1.9, 99.9: 4.4, 100: 9.5}

_IOMETER_HEAD = (
    "'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,"
    "Write IOps,"
    "MiBps (Binary),Read MiBps (Binary),Write MiBps (Binary),MBps (Decimal),Read MBps (Decimal),"
    "Write MBps (Decimal),Transactions per Second,Connections per Second,Average Response Time,"
    "Average Read Response Time,Average Write Response Time,Average Transaction Time,Average Connection Time,"
    "Maximum Response Time,Maximum Read Response Time,Maximum Write Response Time,Maximum Transaction Time,"
    "Maximum Connection Time,Errors,Read Errors,Write Errors,Bytes Read,Bytes Written,Read I/Os,Write I/Os,"
    "Connections,Transactions per Connection,Total Raw Read Response Time,Total Raw Write Response Time,"
    "Total Raw Transaction Time,Total Raw Connection Time,Maximum Raw Read Response Time,"
    "Maximum Raw Write Response Time,Maximum Raw Transaction Time,Maximum Raw Connection Time,"
    "Total Raw Run Time,Starting Sector,Maximum Size,Queue Depth,% CPU Utilization,% User Time,"
    "% Privileged Time,% DPC Time,% Interrupt Time,Processor Speed,Interrupts per Second,CPU Effectiveness,"
    "Packets/Second,Packet Errors,Segments Retransmitted/Second"
)


def iometer(workers: Sequence[int], bs: int, depth: int) -> str:
    """IOMeter's results.csv of random reads by several workers, each with its IOPS."""

    def row(kind: str, name: str, iops: int, *, spec: str, n: str, depth: str = "") -> str:
        mib, mb, ios = iops * bs / 2**20, iops * bs / 1e6, iops * SECONDS
        figures = [
            iops,
            iops,
            0,
            mib,
            mib,
            0.0,
            mb,
            mb,
            0.0,
            "",
            "",
            2.0,
            2.0,
            0,
            "",
            "",
            9.0,
            9.0,
            0,
            "",
            "",
        ]
        figures += [0, 0, 0, ios * bs, 0, ios, 0, *[""] * 13, depth, *[""] * 11]
        return ",".join([kind, name, spec, n, *map(str, figures)])

    spec = "reads"
    n, total = len(workers), sum(workers)
    lines = [
        "'Test Type,Test Description",
        "0,",
        "'Version",
        "1.1.0",
        "'Time Stamp",
        "2014-03-02 09:30:00:000",
        "'Access specifications",
        "'Access specification name,default assignment",
        f"{spec},1",
        "'size,% of size,% reads,% random,delay,burst,align,reply",
        f"{bs},100,100,100,0,1,0,0,",
        "'End access specifications",
        "'Results",
        _IOMETER_HEAD,
        row("ALL", "All", total, spec=spec, n=f"1,{n},{n}"),
        row("MANAGER", "BENCH", total, spec=spec, n=f",{n},{n}"),
    ]
    for i, iops in enumerate(workers, start=1):
        lines.append(row("WORKER", f"Worker {i}", iops, spec=spec, n=",,1", depth=str(depth)))
        lines.append(row("DISK", f"{i}: DISK", iops, spec="", n=",,", depth=str(depth)))
    return "\n".join([*lines, "'Time Stamp", "2014-03-02 09:31:00:000", "'End Test", ""])


def iozone(write_kib: int, read_kib: int) -> str:
    """iozone's text of one file of 64 MiB with records of 4 KiB; the figures are KiB/s."""
    head = (
        f"{'':>60}random    random     bkwd    record    stride\n"
        f"{'kB':>16}{'reclen':>8}{'write':>9}{'rewrite':>9}{'read':>8}{'reread':>10}"
    )
    return (
        "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.489 $\n\n"
        "\tO_DIRECT feature enabled\n"
        "\tCommand line used: iozone -I -s 64m -r 4k -i 0 -i 1 -f /mnt/data/iozone.tmp\n"
        "\tOutput is in kBytes/sec\n"
        f"{head}\n{65536:>16}{4:>8}{write_kib:>10}{write_kib:>9}{read_kib:>9}{read_kib:>9}\n"
        "\niozone test complete.\n"
    )


# --- datasets ---------------------------------------------------------------------------------------------


@dataclass
class Foreign:
    """A dataset folder to be, and its truth."""

    name: str
    setups: list[dict[str, object]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)

    def add(self, path: str, text: str, facts: Iterable[Fact] = ()) -> None:
        self.files[f"raw/{path}"] = text
        self.facts += facts

    def write(self, home: Path) -> Path:
        folder = home / self.name
        for path, text in self.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        manifest = {
            "name": self.name,
            "title": f"Outputs of others: {self.name}",
            "about": "Outputs of several tools.",
            "measured": "March 2026",
            "setups": self.setups,
        }
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder


def unstated() -> Foreign:
    """Files of which nobody says where they were measured: each stands for itself."""
    made = Foreign("unstated")
    one = Job({"read": flow(462.4, 1)}, "one-read")
    eight = [Job({"write": flow(38657.5 + i, 2)}, "eight", depth=2) for i in range(8)]
    other = Job({"write": flow(47920.0, 16)}, "other", depth=16)
    for name, jobs in (("one-read.json", [one]), ("eight-writes.json", eight), ("other-write.json", [other])):
        made.add(name, fio(jobs), truth(of_file(f"raw/{name}"), [jobs]))
    threads = [1_236_000 + 1000 * i for i in range(8)]
    topic = _topic("threads.xml", "randread", 4096, 8 * 4)
    iops = sum(threads) / SECONDS
    made.add("threads.xml", diskspd(threads, 4096, 4), _both(topic, iops, iops * 4096))
    made.facts += [
        Fact("lat_us", 1000 * ms, replace(topic, percentile=float(p)), pooled)
        for p, ms in DISKSPD_MS.items()
        for pooled in (True, False)
    ]
    made.add(
        "workers.csv",
        iometer([4000, 2500], 8192, 4),
        _both(_topic("workers.csv", "randread", 8192, 8), 6500.0, 6500.0 * 8192),
    )
    made.add("iozone.txt", iozone(41021, 611009))
    for rw, kib in (("write", 41021), ("rewrite", 41021), ("read", 611009), ("reread", 611009)):
        topic = _topic("iozone.txt", rw, 4096, 1)
        made.facts += [Fact("bytes_per_s", kib * 1024.0, topic, pooled) for pooled in (True, False)]
        made.facts.append(Fact("iops", kib * 1024 / 4096, topic, False))
    return made


def _topic(name: str, rw: str, bs: int, depth: float | None) -> Topic:
    return Topic(frozenset({of_file(f"raw/{name}")}), frozenset({rw}), float(bs), depth)


def _both(topic: Topic, iops: float, bytes_per_s: float) -> list[Fact]:
    return [
        Fact(kind, value, topic, pooled)
        for kind, value in (("iops", iops), ("bytes_per_s", bytes_per_s))
        for pooled in (True, False)
    ]


def _setup(name: str, disk: dict[str, object], vm: str = "Standard_E32-8s_v3") -> dict[str, object]:
    return {
        "setup_id": name,
        "environment": "azure",
        "region": "eastus2",
        "vm_size": vm,
        "as_of": "2026-06-01",
        "folder": f"raw/{name}",
        "disks": [{"disk": "data", "role": "data", "host_caching": "None", **disk}],
    }


BURST_IOPS, BASE_IOPS = 3500, 120  # of a P4
BURST_S, ALL_S, LOG_S = 1800, 2700, 15


def _drain() -> tuple[str, str, list[Fact]]:
    """A P4 for 45 minutes, with its log: credits for 30 of them; the last line is a part of an interval."""
    lines = [(t, BURST_IOPS if t <= BURST_S else BASE_IOPS) for t in range(LOG_S, ALL_S + 1, LOG_S)]
    lines.append((ALL_S + 4, 80))
    log = "".join(f"{1000 * t}, {rate}, 1, 0, 0\n" for t, rate in lines)
    mean = (BURST_IOPS * BURST_S + BASE_IOPS * (ALL_S - BURST_S)) / ALL_S
    job = Job({"write": flow(mean, 32)}, "drain", 8192, 32)
    (setup,) = truth("drain", [[job]])[:1]
    facts = truth("drain", [[job]])
    facts = [fact if fact.kind == "lat_us" else replace(fact, mean=True) for fact in facts]
    for pooled in (True, False):
        topic = setup.topic
        facts += [
            Fact("time_us", 1e6 * lasted_s, topic, pooled, within=LOG_S / lasted_s)
            for lasted_s in (BURST_S, ALL_S - BURST_S)
        ]
        facts += [Fact("iops", float(rate), topic, pooled) for rate in (BURST_IOPS, BASE_IOPS)]
        facts += [Fact("bytes_per_s", 8192.0 * rate, topic, pooled) for rate in (BURST_IOPS, BASE_IOPS)]
    return fio([job]), log, facts


def stated() -> Foreign:
    """Setups of Azure: a mixed run, two hosts, repeats, jobs beside and after others."""
    ultra = {"sku": "UltraSSD_LRS", "size_bytes": 2**37, "provisioned_bytes_per_s": 200_000_000}
    made = Foreign("stated")
    made.setups = [
        _setup("mixed", {**ultra, "provisioned_iops": 10_000}),
        _setup("hosts", {**ultra, "provisioned_iops": 20_000}),
        _setup("repeats", {"sku": "Premium_LRS", "tier": "P30", "size_bytes": 2**40}),
        _setup("jobs", {**ultra, "provisioned_iops": 30_000}),
    ]
    mixed = [Job({"read": flow(7007.0, 20), "write": flow(3004.0, 12)}, "mix", 8192, 32)]
    made.add("mixed/mix.json", fio(mixed), truth("mixed", [mixed]))
    hosts = [Job({"read": flow(1000.0, 4)}, "hot", 8192, 4, host=host) for host in ("10.0.0.4", "10.0.0.5")]
    made.add("hosts/clients.json", fio(hosts), truth("hosts", [hosts]))
    repeats = [[Job({"write": flow(iops, 64)}, "again", 4096, 64)] for iops in (4800.0, 5012.0, 4950.0)]
    for i, jobs in enumerate(repeats):
        made.add(f"repeats/run-{i}.json", fio(jobs), ())
    made.facts += truth("repeats", repeats)
    four = [Job({"read": flow(2500.0 + i, 2)}, "four", 65536, 2) for i in range(4)]
    then = [Job({"read": flow(1100.0, 4)}, "then", 131072, 1, group=1, jobs=4)]
    made.add("jobs/jobs.json", fio([*four, *then]), [*truth("jobs", [four]), *truth("jobs", [then])])
    return made


def bursting() -> Foreign:
    """A P4 whose burst ends on the way, beside one of a bought disk that does not burst."""
    made = Foreign("bursting")
    made.setups = [
        _setup("drain", {"sku": "Premium_LRS", "tier": "P4", "size_bytes": 2**35}),
        _setup("steady", {"sku": "Premium_LRS", "tier": "P30", "size_bytes": 2**40}),
    ]
    document, log, facts = _drain()
    made.add("drain/drain.json", document, facts)
    made.add("drain/drain_iops.1.log", log)
    steady = [Job({"write": flow(5003.0, 32)}, "steady", 8192, 32)]
    made.add("steady/steady.json", fio(steady), truth("steady", [steady]))
    return made
