"""Lesson 6: hits, misses, and what they average to."""

from __future__ import annotations

from random import Random

from azbenchlib.core.units import GIB, US_PER_MS, US_PER_S
from azbenchlib.lessons.answers import IN_IOPS, IN_MILLISECONDS, IN_PER_CENT
from azbenchlib.lessons.check import Exercise, Misconception, telling
from azbenchlib.model.warm_up import mixed_latency, steady_hit_ratio

_HINT = (
    "First the share of reads that the warm cache serves; then the mean of the two latencies by these shares."
)
_LAW = "Mean latency = share of hits × latency of a hit + share of misses × latency of a miss"
_EXCHANGED = "The share that the cache holds belongs to the short latency, the rest to the long one."
_SOME_MISS = "The cache does not hold the whole working set; some reads go on to the disk."
_SOME_HIT = "The cache is warm and holds a part of the working set; these reads do not reach the disk."


def _told(cache: int, size: int, hit_us: float, miss_us: float) -> str:
    return (
        f"A database reads at random, evenly, from {size} GiB. The host cache holds {cache} GiB and is "
        f"warm; a read that it serves takes {hit_us:g} µs, one that it does not takes "
        f"{miss_us / US_PER_MS:g} ms."
    )


def mean_latency(cache: int, size: int, fast: float, slow: float) -> Exercise:
    """The mean latency of hits and misses."""
    hit = steady_hit_ratio(cache * GIB, size * GIB)
    right = mixed_latency(hit, fast, slow)
    wrong = [
        Misconception("every read a hit", fast, _SOME_MISS),
        Misconception("every read a miss", slow, _SOME_HIT),
        Misconception(
            "half and half",
            (fast + slow) / 2,
            "Hits and misses are not equally many; weight each latency with its share.",
        ),
        Misconception("hits and misses exchanged", mixed_latency(1 - hit, fast, slow), _EXCHANGED),
        Misconception(
            "rates averaged instead of times",
            1 / mixed_latency(hit, 1 / fast, 1 / slow),
            "Average the times of the I/Os: rates of hits and misses cannot be averaged by counts of I/Os.",
        ),
        Misconception(
            "both latencies added", fast + slow, "A read takes one of the two times; none of them takes both."
        ),
        Misconception(
            "µs and ms mixed",
            mixed_latency(hit, fast * US_PER_MS, slow),
            "One latency is stated in µs and the other one in ms: bring both to ms first.",
        ),
    ]
    return Exercise(
        question=f"{_told(cache, size, fast, slow)} How many ms does a read take on average?",
        unit=IN_MILLISECONDS,
        right=right,
        misconceptions=telling(right, wrong),
        hint=_HINT,
        law=_LAW,
        working=f"{hit:.3g} × {fast / US_PER_MS:g} + {1 - hit:.3g} × {slow / US_PER_MS:g}",
    )


def rate_of_a_warm_cache(cache: float, size: float, fast: float, slow: float) -> Exercise:
    """IOPS of one read after the other."""
    hit = steady_hit_ratio(cache, size)
    mean = mixed_latency(hit, fast, slow)
    right = US_PER_S / mean
    wrong = [
        Misconception("every read a hit", US_PER_S / fast, _SOME_MISS),
        Misconception("every read a miss", US_PER_S / slow, _SOME_HIT),
        Misconception("hits and misses exchanged", US_PER_S / mixed_latency(1 - hit, fast, slow), _EXCHANGED),
        Misconception(
            "rates averaged instead of times",
            mixed_latency(hit, US_PER_S / fast, US_PER_S / slow),
            "Most of the time passes in the slow reads, so average the times first and take the rate last.",
        ),
        Misconception(
            "the middle of the two rates",
            (US_PER_S / fast + US_PER_S / slow) / 2,
            "Rates are not averaged but times, and hits and misses are not equally many.",
        ),
        Misconception(
            "the middle of the two times",
            2 * US_PER_S / (fast + slow),
            "Hits and misses are not equally many; weight each latency with its share.",
        ),
        Misconception(
            "a time for a rate",
            mean / US_PER_MS,
            "That is how many ms a read takes. How many of them are in a second?",
        ),
    ]
    return Exercise(
        question=f"{_told(round(cache), round(size), fast, slow)} How many IOPS does a program get that "
        "reads one block after the other?",
        unit=IN_IOPS,
        right=right,
        misconceptions=telling(right, wrong),
        hint=_HINT,
        law=f"{_LAW}; the rate of one read after the other is 1 ÷ mean latency",
        working=f"1,000,000 ÷ ({hit:.3g} × {fast:.4g} + {1 - hit:.3g} × {slow:,.0f})",
    )


def share_of_hits(cache: int, size: int) -> Exercise:
    """The hit ratio of a warm cache."""
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
        Misconception(
            "the data as a part of both",
            size / (cache + size),
            "The cache holds a part of the data; its copies are no further data.",
        ),
    ]
    return Exercise(
        question=f"A program reads at random, evenly, from {size} GiB through a host cache of {cache} GiB. "
        "Once the cache is warm, which share of the reads does it serve, in %?",
        unit=IN_PER_CENT,
        right=hit,
        misconceptions=telling(hit, wrong),
        hint="A random read hits if its block is in the cache. Which share of the blocks is there?",
        law="Share of hits = size of the cache ÷ size of the data",
        working=f"{cache} ÷ {size} × 100",
    )


def _drawn(draw: Random) -> tuple[int, int, float, float]:
    """Sizes of cache and data in GiB, and the latencies of hits and misses in µs."""
    cache = draw.randrange(20, 205, 5)
    size = round(cache * draw.randrange(12, 60) / 10)
    return cache, size, float(draw.randrange(40, 210, 10)), float(draw.randrange(800, 4_500, 100))


def _share(draw: Random) -> Exercise:
    return share_of_hits(draw.randrange(20, 205, 5), draw.randrange(40, 900, 10))


def _latency(draw: Random) -> Exercise:
    return mean_latency(*_drawn(draw))


def _rate(draw: Random) -> Exercise:
    return rate_of_a_warm_cache(*_drawn(draw))


CACHES = {"share": _share, "latency": _latency, "rate": _rate}
