"""Lesson 3: what a throttle does to latency."""

from __future__ import annotations

import math
from random import Random

from azbenchlib.core.units import MS_PER_S, US_PER_MS, US_PER_S
from azbenchlib.lessons.answers import IN_MILLISECONDS, IN_OUTSTANDING
from azbenchlib.lessons.check import Exercise, Misconception, telling
from azbenchlib.lessons.exercises.queue import iops_at

TICK_MS = (
    50  # of the throttle of this lesson; inferred from the latencies of azure-local-disks-2020 (2020-07)
)
_CLEARLY = 1.5  # times the latency: what is waited must be more than a trifle
_LEAST_QUEUE = 4  # below, whole I/Os are too coarse for a question


def ticks(latency: float) -> list[Misconception]:
    """Ways to take the tick of the throttle for a time that I/Os wait on average."""
    says = "A tick is how often the throttle opens. How long an I/O waits depends on how many wait with it."
    return [
        Misconception("the tick for the wait", TICK_MS * US_PER_MS, says),
        Misconception("half a tick for the wait", TICK_MS / 2 * US_PER_MS, says),
        Misconception("a tick less the latency", (TICK_MS - latency) * US_PER_MS, says),
    ]


def time_that_is_waited(limit: int, latency: float, depth: int) -> Exercise:
    """The part of the latency that the limit adds."""
    whole, own = depth / iops_at(limit, latency, depth) * US_PER_S, latency * US_PER_MS
    wrong = [
        *ticks(latency),
        Misconception(
            "a slow disk",
            whole,
            "That is the whole latency. The disk itself takes a part of it even when nothing limits it.",
        ),
        Misconception(
            "the disk for the limit",
            own,
            "The disk itself takes that long; the question is what comes on top because of the limit.",
        ),
        Misconception(
            "both added",
            whole + own,
            "The time of the disk is part of the whole, so it is taken off and not added.",
        ),
        Misconception(
            "each waits for all others",
            (depth - 1) * own,
            "The disk works on many at once; what makes I/Os wait is the limit.",
        ),
    ]
    return Exercise(
        question=f"A disk is held at its limit of {limit:,} IOPS by a program that keeps {depth} I/Os "
        f"outstanding. Without the limit an I/O takes {latency:g} ms. How many ms does an I/O wait because "
        "of the limit, on average?",
        unit=IN_MILLISECONDS,
        right=whole - own if whole > _CLEARLY * own else 0.0,
        misconceptions=telling(whole - own, wrong),
        hint="First the whole time of an I/O by Little's law; then ask which part of it the disk takes "
        "anyway.",
        law="Time that is waited = outstanding ÷ limit − the latency without the limit",
        working=f"{depth} ÷ {limit:,} × 1,000 − {latency:g}",
    )


def least_queue_at_the_limit(limit: int, latency: float, depth: int) -> Exercise:
    """How few outstanding I/Os reach the limit."""
    right = limit * latency / MS_PER_S
    wrong = [
        Misconception(
            "the queue as it is",
            float(depth),
            "With that many the disk is at its limit and the I/Os wait. Fewer would reach the same rate.",
        ),
        Misconception(
            "the tick for the latency",
            limit * TICK_MS / MS_PER_S,
            "The throttle's tick makes I/Os wait; to reach the limit the queue must only cover the latency.",
        ),
        Misconception(
            "the rate of one I/O for the queue",
            MS_PER_S / latency,
            "That is how many I/Os a queue of one completes in a second. How many such queues are needed?",
        ),
        Misconception(
            "tick and latency added",
            limit * (TICK_MS + latency) / MS_PER_S,
            "Below the limit nobody waits for a tick; to reach it the queue must only cover the latency.",
        ),
        Misconception(
            "those that wait",
            depth - right,
            "So many more than needed are outstanding now. The question is how many are enough.",
        ),
    ]
    return Exercise(
        question=f"A program keeps {depth} I/Os outstanding at a disk that allows {limit:,} IOPS, through a "
        f"throttle that acts every {TICK_MS} ms. An I/O takes {latency:g} ms without it. How many "
        "outstanding I/Os are enough to reach the limit?",
        unit=IN_OUTSTANDING,
        right=right if right >= _LEAST_QUEUE else 0.0,
        also_right=(float(math.ceil(right)),),
        misconceptions=telling(right, wrong),
        hint="What is outstanding is the rate times the time, and at the knee nobody waits yet.",
        law="Little's law at the knee: outstanding = limit × latency in seconds",
        working=f"{limit:,} × {latency:g} ÷ 1,000",
    )


def _wait(draw: Random) -> Exercise:
    return time_that_is_waited(
        draw.randrange(300, 6_001, 100), draw.randrange(12, 45) / 10, draw.randrange(12, 73, 2)
    )


def _knee(draw: Random) -> Exercise:
    return least_queue_at_the_limit(
        draw.randrange(1_000, 16_001, 100), draw.randrange(5, 36) / 10, draw.choice((64, 96, 128, 192, 256))
    )


THROTTLES = {"wait": _wait, "knee": _knee}
