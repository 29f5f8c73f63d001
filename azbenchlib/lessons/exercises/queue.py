"""Lesson 2: Little's law."""

from __future__ import annotations

from random import Random

from azbenchlib.core.units import KIB, MS_PER_S, US_PER_MS, US_PER_S
from azbenchlib.lessons.answers import IN_IOPS, IN_MILLISECONDS
from azbenchlib.lessons.check import Exercise, Misconception, telling
from azbenchlib.model import Cap, Disk, Load, Setup, deliver


def iops_at(limit: float, latency_ms: float, queue_depth: float) -> float:
    """What a disk with an IOPS limit delivers to a program that keeps so many I/Os outstanding."""
    setup = Setup(disks=(Disk(name="data", cap=Cap(iops=limit)),))
    load = Load(volume="data", bs_bytes=4 * KIB)
    return deliver(setup, [load], queue_depth=queue_depth, latency_s=latency_ms / MS_PER_S).iops or 0.0


def rate_below_the_knee(limit: int, latency: float, depth: int) -> Exercise:
    """IOPS that the queue depth decides."""
    wrong = [
        Misconception(
            "the limit for the rate",
            float(limit),
            "A limit is the most that is allowed. Are enough I/Os outstanding to get there?",
        ),
        Misconception(
            "one I/O at a time",
            MS_PER_S / latency,
            "That is the rate of a single I/O after the other. The program keeps several under way.",
        ),
        Misconception(
            "divided instead of multiplied",
            MS_PER_S / latency / depth,
            "Outstanding I/Os do not wait for each other below the limit: each of them takes the latency.",
        ),
        Misconception(
            "the limit shared by the I/Os",
            limit / depth,
            "Nobody divides a limit among outstanding I/Os; what they reach depends on how long each takes.",
        ),
    ]
    right = iops_at(limit, latency, depth)
    return Exercise(
        question=f"A disk allows {limit:,} IOPS, and an I/O takes {latency:g} ms. A program keeps {depth} "
        "I/Os outstanding. How many IOPS does it get?",
        unit=IN_IOPS,
        right=right,
        misconceptions=telling(right, wrong),
        hint="How often in a second does one place in the queue come free, and how many places are there?",
        law="Little's law: rate = outstanding ÷ latency in seconds, and never more than the limit",
        working=f"the lower one of {limit:,} and {depth} ÷ ({latency:g} ÷ 1,000)",
    )


def latency_above_the_knee(limit: int, latency: float, depth: int) -> Exercise:
    """Latency that the limit decides."""
    right = depth / iops_at(limit, latency, depth) * US_PER_S
    own = latency * US_PER_MS
    wrong = [
        Misconception(
            "the latency of an idle disk",
            own,
            "That is how long the disk itself takes. At its limit each I/O also waits for its turn.",
        ),
        Misconception(
            "the time between two completions",
            US_PER_S / limit,
            "That is how often one of them is done. How many are in the queue with it?",
        ),
        Misconception(
            "each waits for all others",
            depth * own,
            "The disk works on many at once; what it must keep to is its limit, not one after the other.",
        ),
        Misconception(
            "the latency of the disk counted twice",
            right + own,
            "Little's law gives the whole time from submission to completion; the disk's share is in it.",
        ),
        Misconception(
            "the waiting alone",
            right - own,
            "An I/O is under way from its submission to its completion, so the time in the disk counts too.",
        ),
        Misconception(
            "limit ÷ queue for queue ÷ limit",
            limit / depth * US_PER_MS,
            "Check the units: I/Os per second, divided by I/Os, are no time.",
        ),
        Misconception(
            "the rate of one I/O for its time",
            MS_PER_S / latency * US_PER_MS,
            "1,000 ms ÷ latency says how many I/Os one place in the queue completes in a second.",
        ),
        Misconception(
            "only the others in the queue",
            (depth - 1) / limit * US_PER_S,
            "The I/O itself is outstanding as well, and counts.",
        ),
    ]
    return Exercise(
        question=f"A disk allows {limit:,} IOPS, and an I/O takes {latency:g} ms when nothing else runs. A "
        f"program keeps {depth} I/Os outstanding and is at the limit. How long does an I/O take on average, "
        "in ms?",
        unit=IN_MILLISECONDS,
        right=right,
        misconceptions=telling(right, wrong),
        hint="Little's law: what is outstanding is the rate times the time. Which two of the three are "
        "known?",
        law="Little's law: latency in seconds = outstanding ÷ rate, and at the limit the rate is the limit",
        working=f"{depth} ÷ {limit:,} × 1,000",
    )


def _below(draw: Random) -> Exercise:
    return rate_below_the_knee(
        draw.randrange(4_000, 20_001, 500), draw.randrange(5, 40) / 10, draw.randrange(2, 9)
    )


def _above(draw: Random) -> Exercise:
    return latency_above_the_knee(
        draw.randrange(300, 6_001, 100), draw.randrange(12, 40) / 10, draw.randrange(24, 161, 4)
    )


QUEUES = {"rate": _below, "latency": _above}
