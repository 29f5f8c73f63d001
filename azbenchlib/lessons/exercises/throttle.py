"""Lesson 3: what a throttle does to latency."""

from __future__ import annotations

import math
from random import Random

from azbenchlib.core.units import MS_PER_S, US_PER_MS, US_PER_S
from azbenchlib.lessons.answers import IN_MILLISECONDS, IN_OUTSTANDING
from azbenchlib.lessons.check import Exercise, Misconception
from azbenchlib.lessons.exercises.queue import iops_at

_TICK_MS = 50
_LEAST_QUEUE = 4  # below, whole I/Os are too coarse for a question


def time_that_is_waited(draw: Random) -> Exercise:
    """The part of the latency that the limit adds."""
    limit, latency = draw.choice((500, 1_100, 2_300, 5_000)), draw.choice((1.3, 2.2, 2.5, 3.2, 4.0))
    depth = draw.choice((16, 24, 32, 64))
    whole = depth / iops_at(limit, latency, depth) * US_PER_S
    wrong = [
        Misconception(
            "a slow disk",
            whole,
            "That is the whole latency. The disk itself takes a part of it even when nothing limits it.",
        ),
        Misconception(
            "the disk for the limit",
            latency * US_PER_MS,
            "So long the disk takes; the question is what comes on top because of the limit.",
        ),
        Misconception(
            "both added",
            whole + latency * US_PER_MS,
            "The time of the disk is part of the whole, so it is taken off and not added.",
        ),
    ]
    return Exercise(
        question=f"A disk is held at its limit of {limit:,} IOPS by a program that keeps {depth} I/Os "
        f"outstanding. Without the limit an I/O takes {latency:g} ms. How many ms does an I/O wait because "
        "of the limit, on average?",
        unit=IN_MILLISECONDS,
        right=whole - latency * US_PER_MS,
        misconceptions=wrong,
        hint="First the whole time of an I/O by Little's law; then ask which part of it the disk takes "
        "anyway.",
    )


def least_queue_at_the_limit(draw: Random) -> Exercise:
    """How few outstanding I/Os reach the limit."""
    limit, latency = draw.choice((1_100, 2_300, 5_000, 7_500, 16_000)), draw.choice((0.8, 1.3, 2.2, 2.5, 3.2))
    depth = draw.choice((64, 128, 256))
    right = limit * latency / MS_PER_S
    wrong = [
        Misconception(
            "the queue as it is",
            float(depth),
            "With that many the disk is at its limit and the I/Os wait. Fewer would reach the same rate.",
        ),
        Misconception(
            "the tick for the latency",
            limit * _TICK_MS / MS_PER_S,
            "The throttle's tick makes I/Os wait; to reach the limit the queue must only cover the latency.",
        ),
        Misconception(
            "the rate of one I/O for the queue",
            MS_PER_S / latency,
            "That is how many I/Os a queue of one completes in a second. How many such queues are needed?",
        ),
    ]
    return Exercise(
        question=f"A program keeps {depth} I/Os outstanding at a disk that allows {limit:,} IOPS, through a "
        f"throttle that acts every {_TICK_MS} ms. An I/O takes {latency:g} ms without it. How many "
        "outstanding I/Os are enough to reach the limit?",
        unit=IN_OUTSTANDING,
        right=right if right >= _LEAST_QUEUE else 0.0,
        also_right=(float(math.ceil(right)),),
        misconceptions=wrong,
        hint="What is outstanding is the rate times the time, and at the knee nobody waits yet.",
    )


THROTTLES = {"wait": time_that_is_waited, "knee": least_queue_at_the_limit}
