"""Lesson 10: fio's output, which here is made from the model with the seed, as fio writes it."""

from __future__ import annotations

import math
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from azbenchlib.azure.catalog.latency import percentiles
from azbenchlib.core.units import KIB, MB, MIB, MS_PER_S, NS_PER_US, US_PER_MS, US_PER_S
from azbenchlib.lessons import fio_output
from azbenchlib.lessons.answers import IN_IOPS, IN_MB_PER_S, IN_OUTSTANDING
from azbenchlib.lessons.check import Distractor, Exercise, Misconception, choice, telling
from azbenchlib.model import Cap, Disk, Load, Setup, deliver
from azbenchlib.model.labels import Label
from azbenchlib.model.unloaded_latency import distribution, table_of

_SAMPLE = 2_000  # latencies; those that are as likely as each other
_NS_PER_MS, _NS_PER_S = NS_PER_US * US_PER_MS, NS_PER_US * US_PER_S
_USER_US, _KERNEL_US = 1.5, 4.5  # of a thread, for each I/O; a part of what one takes on a busy processor
_LOCAL = 0.05  # of the latency of the disk of the exercises: a local disk
_RUNTIME_MS = (30_000, 30_020)
_CAUSES = {
    Label.LATENCY_QD: (
        "The queue depth: with more I/Os outstanding the rate would be higher",
        "the queue depth for a limit",
        "If a limit is reached, or a thread is busy, more outstanding I/Os only wait longer. Compare the "
        "rate with the limits.",
    ),
    Label.DISK_IOPS: (
        "The IOPS limit of the disk",
        "an IOPS limit that is not reached",
        "Compare IOPS with the limit of the disk.",
    ),
    Label.DISK_MBPS: (
        "The MB/s limit of the disk",
        "an MB/s limit that is not reached",
        "Compare the figure in MB/s, the one in brackets, with the limit of the disk.",
    ),
    Label.HOST_CPU: (
        "The processor of the machine that runs fio",
        "a processor that is not busy",
        "The line cpu has the time of the processor, usr and sys. Was there some left?",
    ),
}
_STATE = "Host caching is off, and burst credits, where there are any, are spent."


def _setup(cap: Cap) -> Setup:
    return Setup(disks=(Disk(name="data", sku="Premium_LRS", tier="P30", cap=cap),))


@lru_cache
def unloaded_us(write: bool = False) -> NDArray[np.float64]:
    """Latencies of the disk of the exercises when nothing else runs."""
    setup = _setup(Cap())
    latency_at = distribution(percentiles(table_of(setup.vm, setup.disks[0]), write))
    return np.array([latency_at((i + 0.5) / _SAMPLE) for i in range(_SAMPLE)])


def loaded_us(depth: float, iops: float, write: bool = False) -> NDArray[np.float64]:
    """The same where so many I/Os are outstanding at that rate: what is longer is waiting (Little's law)."""
    free = unloaded_us(write)
    return free + max(0.0, depth * US_PER_S / iops - free.mean())


def bound_by(cap: Cap, bs_bytes: int, depth: int) -> tuple[float, Label]:
    """IOPS of a job, and what determines them."""
    load = Load(volume="data", bs_bytes=bs_bytes)
    latency_s = float(unloaded_us().mean()) / US_PER_S
    got = deliver(_setup(cap), [load], bursting=False, queue_depth=depth, latency_s=latency_s)
    return got.iops or 0.0, got.binding[0]


def _part(
    draw: Random,
    depth: float,
    iops: float,
    bs_bytes: int,
    write: bool = False,
    *,
    slat: bool = True,
    spread: float = 1.0,
) -> dict[str, Any]:
    """A direction of a job that keeps so many I/Os outstanding; with a spread above 1, of a longer tail."""
    reached = iops * draw.uniform(0.996, 1.0)
    lat = loaded_us(depth, reached, write) ** spread
    return fio_output.simulated(
        lat * (depth * US_PER_S / reached / lat.mean()),
        iops=reached,
        bs_bytes=bs_bytes,
        runtime_ms=draw.randint(*_RUNTIME_MS),
        slat_us=draw.uniform(3, 9) if slat else 0.0,
    )


def one_paragraph(limit: int, jobs: int, depth: int) -> Exercise:
    """What fio writes of one of several jobs."""
    right = limit / jobs
    wrong = [
        Misconception(
            "the disk for one job",
            float(limit),
            "All jobs together get what the disk allows. Whose paragraph is it?",
        ),
        Misconception(
            "a disk for each job", float(limit * jobs), "There is one disk, whose limit they share."
        ),
        Misconception(
            "shared by the queue depth",
            limit / depth,
            "The outstanding I/Os of a job are all in its paragraph. How many paragraphs are there?",
        ),
        Misconception(
            "the rate of one outstanding I/O",
            limit / (jobs * depth),
            "That is the share of one outstanding I/O. How many of them has a job?",
        ),
    ]
    return Exercise(
        question=f"A disk allows {limit:,} IOPS. Of {jobs} jobs at once each keeps {depth} reads "
        "outstanding. How many IOPS does the paragraph of one job say?",
        unit=IN_IOPS,
        right=right,
        misconceptions=telling(right, wrong),
        hint="What does one paragraph of the output speak of: the disk, or a job?",
        law="Jobs that keep equally many I/Os outstanding share the limit evenly",
        working=f"{limit:,} IOPS ÷ {jobs} jobs",
    )


def moved(draw: Random, read_share: float, iops: float, bs_bytes: int, depth: int) -> Exercise:
    """Throughput of a job that reads and writes."""
    shares = {"read": read_share, "write": 1 - read_share}
    job: dict[str, Any] = {"jobname": "mixed"} | {
        ddir: _part(draw, depth * share, iops * share, bs_bytes, ddir == "write")
        for ddir, share in shares.items()
    }
    read, write = (float(job[ddir]["bw_bytes"]) for ddir in shares)
    right = read + write
    wrong = [
        Misconception(
            "the reads alone", read, "The job moved bytes in two directions, and has a line for each."
        ),
        Misconception(
            "the writes alone", write, "The job moved bytes in two directions, and has a line for each."
        ),
        Misconception(
            "MiB for MB",
            right * MB / MIB,
            "Of the two figures of a line the first is in MiB/s, of 1,048,576 bytes. Which one is in MB/s?",
        ),
        Misconception(
            "the reads alone, in MiB",
            read * MB / MIB,
            "Reads and writes have a line each, and the first figure of a line is in MiB/s.",
        ),
        Misconception(
            "the mean of both lines", right / 2, "Both directions ran at once: what is moved adds up."
        ),
    ]
    return Exercise(
        question=f"fio read and wrote blocks of {bs_bytes // KIB} KiB on one disk. {_STATE} How many MB/s, "
        "of 1,000,000 bytes, did this job move in all?",
        unit=IN_MB_PER_S,
        right=right,
        misconceptions=telling(right, wrong),
        hint="Which lines of the output speak of bytes, and in which unit is each of their figures?",
        law="What a job moves is the sum of its lines for reads and writes, each in MB/s: the figure in "
        "brackets",
        working=f"{read / MB:.4g} MB/s + {write / MB:.4g} MB/s",
        excerpt=fio_output.paragraph(job),
    )


def really_outstanding(draw: Random, jobs: int, depth: int, is_synchronous: bool) -> Exercise:
    """Little's law as a check of the job file."""
    right = jobs if is_synchronous else jobs * depth
    iops = min(right / float(unloaded_us().mean()) * US_PER_S, 20_000)
    part = _part(draw, right, iops, 4 * KIB, slat=not is_synchronous)
    right_now = part["iops"] * part["lat_ns"]["mean"] / _NS_PER_S
    slow = part["clat_ns"]["percentile"]["99.000000"] / _NS_PER_S
    wrong = [
        Misconception(
            "what the job file says",
            float(jobs * depth),
            "So many are in the job file. How many there were is in the rate and the latency.",
        ),
        Misconception(
            "one job's share",
            right_now / jobs,
            "group_reporting has added up the jobs: the rate is that of all.",
        ),
        Misconception("the iodepth of the job file", float(depth), "That is what one job was told to keep."),
        Misconception(
            "as many as there are jobs", float(jobs), "That would be one for each job. Rate and latency tell."
        ),
        Misconception(
            "a percentile for the mean",
            part["iops"] * slow,
            "Little's law is about means: which line has the mean of the whole latency?",
        ),
    ]
    return Exercise(
        question=f"The job file says numjobs={jobs}, iodepth={depth} and group_reporting, and fio wrote "
        "this. How many I/Os were really outstanding, on the average and over all jobs?",
        unit=IN_OUTSTANDING,
        right=right_now,
        misconceptions=telling(right_now, wrong),
        hint="Which two figures of the output does Little's law need?",
        law="Outstanding I/Os = IOPS × mean latency (lat, avg); where they are fewer than iodepth × "
        "numjobs, the engine waits for each I/O, as psync does, or the program had no more to do",
        working=f"{part['iops']:,.0f} per second × {part['lat_ns']['mean'] / _NS_PER_S * MS_PER_S:.4g} ms",
        excerpt=fio_output.paragraph({"jobname": "load", "read": part}, jobs),
    )


def target(draw: Random, iops: float, depth: int, place: float) -> Exercise:
    """Whether a disk is good enough for a promise on p99."""
    part = _part(draw, depth, iops, 8 * KIB, spread=draw.uniform(2.5, 6))
    found = part["clat_ns"]["percentile"]
    p99, p50, p999 = (found[f"{p:.6f}"] / _NS_PER_MS for p in (99, 50, 99.9))
    passes = place > 1
    limit = round(p99 * place if passes else p50 + (p99 - p50) * place, 1)
    mean = part["clat_ns"]["mean"] / _NS_PER_MS
    reads = {
        "p99": "the percentile 99.00th",
        "mean": "the mean (avg)",
        "max": "the largest value (max)",
        "p50": "the percentile 50.00th",
    }
    texts = {
        (key, ok): f"{'Yes' if ok else 'No'}: {name} decides"
        for key, name in reads.items()
        for ok in (True, False)
    }
    other = "Does it hold, or not? Mind the unit that stands at the head of the percentiles."
    wrong = [
        Distractor(texts["p99", not passes], "a percentile misread", other),
        Distractor(
            texts["mean", mean < limit],
            "a mean for a percentile",
            "The mean says nothing of the slowest reads.",
        ),
        Distractor(
            texts["max", part["clat_ns"]["max"] / _NS_PER_MS < limit],
            "the slowest I/O for p99",
            "One read in a hundred may be slower than promised; the largest value is that of a single one.",
        ),
        Distractor(
            texts["p50", p50 < limit], "the median for p99", "Half of the reads are slower than the median."
        ),
    ]
    return choice(
        draw,
        f"A service promises that 99 of 100 reads take at most {limit:g} ms. {_STATE} fio drove a disk with "
        "the load of the service. Is the disk good enough, and which figure decides it?",
        texts["p99", passes],
        wrong,
        hint="Which share of the reads may be slower than promised, and where does fio write that "
        "percentile?",
        law="A promise on 99 of 100 reads is one on the percentile 99.00th, in the unit that its head names",
        working=f"99.00th is {p99:.3g} ms, and {limit:g} ms are promised (50.00th is {p50:.3g} ms, 99.90th "
        f"{p999:.3g} ms)",
        excerpt=fio_output.paragraph({"jobname": "service", "read": part}),
    )


def what_binds(draw: Random, cap: Cap, bs_bytes: int, depth: int, thread_us: float = 0.0) -> Exercise:
    """What determines the rate of a job; with a time of its thread for each I/O, that thread."""
    free_us = float(unloaded_us().mean()) * (_LOCAL if thread_us else 1)
    iops, label = (US_PER_S / thread_us, Label.HOST_CPU) if thread_us else bound_by(cap, bs_bytes, depth)
    part = _part(draw, depth, iops, bs_bytes)
    busy = (
        thread_us * part["iops"] / US_PER_S
        if thread_us
        else part["iops"] * (_USER_US + _KERNEL_US) / US_PER_S
    )
    user = 100 * busy * _USER_US / (_USER_US + _KERNEL_US)
    ctx = int(part["total_ios"] * draw.uniform(0.7, 0.9))
    times = {
        "usr_cpu": user,
        "sys_cpu": 100 * busy - user,
        "ctx": ctx,
        "majf": 0,
        "minf": draw.randint(40, 70),
    }
    texts = {one: text for one, (text, _, _) in _CAUSES.items()}
    return choice(
        draw,
        f"fio read blocks of {bs_bytes // KIB} KiB with one job and iodepth={depth}. The disk allows "
        f"{cap.iops:,.0f} IOPS and {(cap.bytes_per_s or 0) / MB:,.0f} MB/s, and a read takes "
        f"{free_us / US_PER_MS:.2g} ms when nothing else runs. {_STATE} What determines the rate?",
        texts[label],
        [Distractor(*words) for one, words in _CAUSES.items() if one != label],
        hint="Compare IOPS and MB/s with the limits, lat with the latency of an unloaded disk, and usr + "
        "sys with 100 %.",
        law="A limit that is reached determines the rate; else a processor of which nothing is left; else "
        "the queue depth, and then the latency is that of an unloaded disk",
        working=f"{part['iops']:,.0f} of {cap.iops:,.0f} IOPS, {part['bw_bytes'] / MB:,.0f} of "
        f"{(cap.bytes_per_s or 0) / MB:,.0f} MB/s, lat {part['lat_ns']['mean'] / _NS_PER_MS:.3g} ms on the "
        f"average, and {100 * busy:.0f} % of a processor",
        excerpt=fio_output.paragraph({"jobname": "probe", "read": part} | times),
    )


def shares(draw: Random, limit: int, jobs: int, depth: int) -> Exercise:
    """Whether a disk gives what it allows, where each of several jobs has a paragraph."""
    iops, label = bound_by(Cap(iops=limit), 4 * KIB, jobs * depth)
    part = _part(draw, depth, iops / jobs, 4 * KIB)
    texts = {
        Label.DISK_IOPS: "The disk gives what it allows: all jobs have to be added",
        Label.LATENCY_QD: "The jobs keep too few I/Os outstanding for what the disk allows",
    }
    wrong = {
        Label.DISK_IOPS: Distractor(
            texts[Label.DISK_IOPS],
            "a limit that is not reached",
            f"Add the {jobs} jobs, and compare the sum with {limit:,} IOPS.",
        ),
        Label.LATENCY_QD: Distractor(
            texts[Label.LATENCY_QD],
            "a limit taken for too small a queue",
            f"Add the {jobs} jobs, and compare the sum with {limit:,} IOPS.",
        ),
    }
    others = [
        Distractor(
            "The disk gives less than it allows: complain to whoever sold it",
            "one job for the disk",
            "The paragraph is that of one job. What did all of them get, and did they ask for more?",
        ),
        Distractor(
            "Azure allows each job only so much",
            "a limit for each job",
            "Disks and VMs have limits, jobs have none: Azure sees I/Os and no jobs.",
        ),
    ]
    total = part["iops"] * jobs
    return choice(
        draw,
        f"The disk allows {limit:,} IOPS, and a read takes {float(unloaded_us().mean()) / US_PER_MS:.2g} ms "
        f"when nothing else runs. {_STATE} fio ran {jobs} jobs at once, each with iodepth={depth}, and "
        f"wrote {jobs} paragraphs like this one. A colleague says that the disk gives far less than "
        f"{limit:,} IOPS. What is so?",
        texts[label],
        [*(one for key, one in wrong.items() if key != label), *others],
        hint="Of whom does a paragraph speak? Then: is the latency that of an unloaded disk?",
        law="What the disk gives is the sum of its jobs; below the limit, and with the latency of an "
        "unloaded disk, the jobs ask for no more",
        working=f"{part['iops']:,.0f} × {jobs} are {total:,.0f} of {limit:,} IOPS, with "
        f"{part['lat_ns']['mean'] / _NS_PER_MS:.3g} ms on the average",
        excerpt=fio_output.paragraph({"jobname": "load", "read": part}),
    )


def _moved(draw: Random) -> Exercise:
    depth, bs_bytes = draw.choice((16, 32)), draw.choice((8, 16, 32)) * KIB
    return moved(draw, draw.choice((0.6, 0.7, 0.8)), draw.randrange(1_000, 5_000, 10), bs_bytes, depth)


def _outstanding(draw: Random) -> Exercise:
    return really_outstanding(draw, draw.randint(2, 9), draw.choice((8, 16, 32, 64)), draw.random() < 0.6)


def _target(draw: Random) -> Exercise:
    place = draw.choice((draw.uniform(1.08, 1.3), draw.uniform(0.35, 0.85)))
    return target(draw, draw.randrange(500, 5_000, 10), draw.randint(4, 32), place)


def _binds(draw: Random) -> Exercise:
    cap = Cap(iops=draw.choice((2_300, 5_000, 7_500)), bytes_per_s=draw.choice((150, 200, 250)) * MB)
    kind = draw.choice(list(_CAUSES))
    if kind is Label.HOST_CPU:
        local = Cap(iops=400_000, bytes_per_s=2_000 * MB)
        return what_binds(draw, local, 4 * KIB, draw.choice((32, 64, 128)), draw.uniform(4, 9))
    if kind is Label.LATENCY_QD:
        return what_binds(draw, cap, draw.choice((4, 8, 16)) * KIB, draw.randint(1, 3))
    size = 4 if kind is Label.DISK_IOPS else 256
    return what_binds(draw, cap, size * KIB, draw.choice((32, 64, 128)))


def _shares(draw: Random) -> Exercise:
    jobs, limit = draw.randint(3, 8), draw.choice((5_000, 7_500, 16_000))
    knee = limit * float(unloaded_us().mean()) / US_PER_S / jobs
    few, many = math.floor(draw.uniform(0.3, 0.8) * knee), math.ceil(draw.uniform(1.5, 4) * knee)
    return shares(draw, limit, jobs, draw.choice([depth for depth in (few, many) if depth]))


READINGS = {
    "moved": _moved,
    "target": _target,
    "outstanding": _outstanding,
    "binds": _binds,
    "shares": _shares,
}
