"""Lesson 2: Little's law."""

from __future__ import annotations

from random import Random

from azbenchlib.core.units import KIB, MS_PER_S, US_PER_MS, US_PER_S
from azbenchlib.lessons.answers import IN_IOPS, IN_MILLISECONDS
from azbenchlib.lessons.check import Exercise, Misconception
from azbenchlib.model import Cap, Disk, Load, Setup, deliver


def iops_at(limit: float, latency_ms: float, queue_depth: float) -> float:
    """What a disk with an IOPS limit delivers to a program that keeps so many I/Os outstanding."""
    setup = Setup(disks=(Disk(name="data", cap=Cap(iops=limit)),))
    load = Load(volume="data", bs_bytes=4 * KIB)
    return deliver(setup, [load], queue_depth=queue_depth, latency_s=latency_ms / MS_PER_S).iops or 0.0


def rate_below_the_knee(draw: Random) -> Exercise:
    """IOPS that the queue depth decides."""
    limit, latency = draw.choice((5_000, 7_500, 16_000, 20_000)), draw.choice((0.5, 0.8, 1.3, 2.2, 2.5, 3.2))
    depth = draw.choice((2, 3, 4, 5, 6))
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
    ]
    return Exercise(
        question=f"A disk allows {limit:,} IOPS, and an I/O takes {latency:g} ms. A program keeps {depth} "
        "I/Os outstanding. How many IOPS does it get?",
        unit=IN_IOPS,
        right=iops_at(limit, latency, depth),
        misconceptions=wrong,
        hint="How often in a second does one place in the queue come free, and how many places are there?",
    )


def latency_above_the_knee(draw: Random) -> Exercise:
    """Latency that the limit decides."""
    limit, latency = draw.choice((500, 1_100, 2_300, 5_000)), draw.choice((1.3, 2.2, 2.5, 3.2))
    depth = draw.choice((32, 48, 64, 96, 128))
    right = depth / iops_at(limit, latency, depth) * US_PER_S
    wrong = [
        Misconception(
            "the latency of an idle disk",
            latency * US_PER_MS,
            "So long the disk itself takes. At its limit each I/O also waits for its turn.",
        ),
        Misconception(
            "the time between two completions",
            US_PER_S / limit,
            "That is how often one of them is done. How many are in the queue with it?",
        ),
        Misconception(
            "each waits for all others",
            depth * latency * US_PER_MS,
            "The disk works on many at once; what it must keep to is its limit, not one after the other.",
        ),
        Misconception(
            "the latency of the disk counted twice",
            right + latency * US_PER_MS,
            "Little's law gives the whole time from submission to completion; the disk's share is in it.",
        ),
    ]
    return Exercise(
        question=f"A disk allows {limit:,} IOPS, and an I/O takes {latency:g} ms when nothing else runs. A "
        f"program keeps {depth} I/Os outstanding and is at the limit. How long does an I/O take on average, "
        "in ms?",
        unit=IN_MILLISECONDS,
        right=right,
        misconceptions=wrong,
        hint="Little's law: what is outstanding is the rate times the time. Which two of the three are "
        "known?",
    )


QUEUES = {"rate": rate_below_the_knee, "latency": latency_above_the_knee}
