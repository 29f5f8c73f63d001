"""Lesson 6: hits, misses, and what they average to."""

from __future__ import annotations

from random import Random

from azbenchlib.core.units import GIB, US_PER_MS, US_PER_S
from azbenchlib.lessons.answers import IN_IOPS, IN_MILLISECONDS, IN_PER_CENT
from azbenchlib.lessons.check import Exercise, Misconception
from azbenchlib.model.warm_up import mixed_latency, steady_hit_ratio

_HINT = (
    "First the share of reads that the warm cache serves; then the mean of the two latencies by these shares."
)


def _drawn(draw: Random) -> tuple[str, float, float, float]:
    """What the question tells, the share of hits, and the latencies of hits and misses in µs."""
    cache = draw.choice((20, 25, 50, 100, 200))
    size = round(cache / draw.choice((0.2, 0.25, 0.4, 0.6, 0.75, 0.8)))
    hit_us, miss_us = draw.choice((50, 60, 80, 100, 200)), draw.choice((800, 1_300, 2_200, 2_500, 4_000))
    hit = steady_hit_ratio(cache * GIB, size * GIB)
    text = (
        f"A database reads at random, evenly, from {size} GiB. The host cache holds {cache} GiB and is warm; "
        f"a read that it serves takes {hit_us} µs, one that it does not takes {miss_us / US_PER_MS:g} ms."
    )
    return text, hit, float(hit_us), float(miss_us)


def mean_latency(draw: Random) -> Exercise:
    """The mean latency of hits and misses."""
    text, hit, fast, slow = _drawn(draw)
    wrong = [
        Misconception(
            "every read a hit",
            fast,
            "The cache does not hold the whole working set; some reads go on to the disk.",
        ),
        Misconception(
            "half and half",
            (fast + slow) / 2,
            "Hits and misses are not equally many; weight each latency with its share.",
        ),
        Misconception(
            "hits and misses exchanged",
            mixed_latency(1 - hit, fast, slow),
            "The share that the cache holds belongs to the short latency, the rest to the long one.",
        ),
        Misconception(
            "rates averaged instead of times",
            1 / mixed_latency(hit, 1 / fast, 1 / slow),
            "Average the times of the I/Os: rates of hits and misses cannot be averaged by counts of I/Os.",
        ),
    ]
    return Exercise(
        question=f"{text} How many ms does a read take on average?",
        unit=IN_MILLISECONDS,
        right=mixed_latency(hit, fast, slow),
        misconceptions=wrong,
        hint=_HINT,
    )


def rate_of_a_warm_cache(draw: Random) -> Exercise:
    """IOPS of one read after the other."""
    text, hit, fast, slow = _drawn(draw)
    wrong = [
        Misconception(
            "every read a hit",
            US_PER_S / fast,
            "The cache does not hold the whole working set; some reads go on to the disk.",
        ),
        Misconception(
            "every read a miss",
            US_PER_S / slow,
            "The cache is warm and holds a part of the working set; these reads do not reach the disk.",
        ),
        Misconception(
            "hits and misses exchanged",
            US_PER_S / mixed_latency(1 - hit, fast, slow),
            "The share that the cache holds belongs to the short latency, the rest to the long one.",
        ),
        Misconception(
            "rates averaged instead of times",
            mixed_latency(hit, US_PER_S / fast, US_PER_S / slow),
            "Most of the time passes in the slow reads, so average the times first and take the rate last.",
        ),
    ]
    return Exercise(
        question=f"{text} How many IOPS does a program get that reads one block after the other?",
        unit=IN_IOPS,
        right=US_PER_S / mixed_latency(hit, fast, slow),
        misconceptions=wrong,
        hint=_HINT,
    )


def share_of_hits(draw: Random) -> Exercise:
    """The hit ratio of a warm cache."""
    cache, size = draw.choice((20, 25, 50, 100, 200)), draw.randrange(40, 900, 10)
    hit = steady_hit_ratio(cache * GIB, size * GIB)
    wrong = [
        Misconception(
            "hits and misses exchanged",
            1 - hit,
            "That is what the cache does not hold; the question is about what it serves.",
        ),
        Misconception(
            "the cache added to the data",
            cache / (cache + size),
            "The cache holds a part of the data; its copies are no further data.",
        ),
        Misconception(
            "a warm cache that holds everything",
            1.0,
            "Warm means as full as it can be. Compare its size with that of the data.",
        ),
    ]
    return Exercise(
        question=f"A program reads at random, evenly, from {size} GiB through a host cache of {cache} GiB. "
        "Once the cache is warm, which share of the reads does it serve, in %?",
        unit=IN_PER_CENT,
        right=hit,
        misconceptions=wrong,
        hint="A random read hits if its block is in the cache. Which share of the blocks is there?",
    )


CACHES = {"share": share_of_hits, "latency": mean_latency, "rate": rate_of_a_warm_cache}
