"""Lesson 7: percentiles, of one run and of several together."""

from __future__ import annotations

from random import Random

from azbenchlib.core.histogram import percentile
from azbenchlib.core.units import S_PER_MIN, US_PER_MS
from azbenchlib.lessons.answers import IN_MILLISECONDS, IN_OUTSTANDING
from azbenchlib.lessons.check import Exercise, Misconception

Counts = dict[int, int]  # I/Os by latency in µs


def _p99(counts: Counts, wanted: float = 99.0) -> float:
    found = percentile(list(counts), list(counts.values()), [wanted])
    return float(found[0])


def _mean(counts: Counts) -> float:
    return sum(us * n for us, n in counts.items()) / sum(counts.values())


def _told(counts: Counts) -> str:
    return ", ".join(f"{n:,} took {us / US_PER_MS:g} ms" for us, n in counts.items())


def p99_of_one_run(draw: Random) -> Exercise:
    """A percentile from counts."""
    total = draw.choice((10_000, 20_000, 50_000))
    fast, slow, slowest = draw.choice((1_000, 2_000, 3_000)), draw.choice((10_000, 15_000, 20_000)), 80_000
    late, last = (
        round(total * draw.choice((0.014, 0.018, 0.03))),
        round(total * draw.choice((0.0005, 0.001, 0.004))),
    )
    counts = {fast: total - late - last, slow: late, slowest: last}
    wrong = [
        Misconception(
            "the mean for p99",
            _mean(counts),
            "A percentile is a value that a share of the I/Os does not exceed.",
        ),
        Misconception(
            "the typical I/O for p99",
            float(fast),
            "So long most I/Os take. Count from the slowest: how many I/Os are one percent?",
        ),
        Misconception(
            "the slowest I/O for p99",
            float(slowest),
            "That is the maximum. One percent of the I/Os may be slower than p99, and these are fewer.",
        ),
    ]
    return Exercise(
        question=f"Of {total:,} I/Os {_told(counts)}. What is p99, in ms?",
        unit=IN_MILLISECONDS,
        right=_p99(counts),
        misconceptions=wrong,
        hint="Put all I/Os in order. Which one has 99 percent of them before it?",
    )


def p99_of_two_hosts(draw: Random) -> Exercise:
    """A percentile of two runs together."""
    first_n, second_n = draw.choice((90_000, 80_000, 95_000)), draw.choice((5_000, 10_000, 20_000))
    fast, mid = draw.choice((1_000, 1_500, 2_000)), draw.choice((3_000, 4_000, 5_000))
    slow, slowest = draw.choice((9_000, 12_000, 16_000)), draw.choice((40_000, 60_000))
    first = {fast: first_n * 98 // 100, mid: first_n * 2 // 100}
    second = {slow: second_n * 9 // 10, slowest: second_n // 10}
    pooled = {us: first.get(us, 0) + second.get(us, 0) for us in (*first, *second)}
    a, b = _p99(first), _p99(second)
    wrong = [
        Misconception(
            "the mean of two percentiles",
            (a + b) / 2,
            "Percentiles cannot be averaged: put the I/Os of both hosts together and count.",
        ),
        Misconception(
            "percentiles averaged by the number of I/Os",
            (a * first_n + b * second_n) / (first_n + second_n),
            "Weights do not help: a percentile of the whole is no average of those of its parts.",
        ),
        Misconception(
            "the worse host for the whole",
            b,
            "That is p99 of one host. Of all I/Os together, fewer than one percent may be so slow.",
        ),
        Misconception(
            "the better host for the whole",
            a,
            "That is p99 of one host. The other one adds more slow I/Os than one percent of all.",
        ),
    ]
    return Exercise(
        question=f"On one host, of {first_n:,} I/Os {_told(first)}; on another, of {second_n:,} I/Os "
        f"{_told(second)}. What is p99 of all of them together, in ms?",
        unit=IN_MILLISECONDS,
        right=_p99(pooled),
        misconceptions=wrong,
        hint="How many I/Os are one percent of all? Count so many from the slowest on, over both hosts.",
    )


def slow_ios_per_minute(draw: Random) -> Exercise:
    """How often a rare latency is met."""
    iops, name, share = (
        draw.randrange(500, 8_000, 100),
        *draw.choice((("p99", 0.01), ("p99.9", 0.001), ("p99.99", 1e-4))),
    )
    other = 0.1 * share
    right = iops * S_PER_MIN * share
    wrong = [
        Misconception(
            "seconds for minutes", iops * share, "That many in a second; a minute has sixty of them."
        ),
        Misconception(
            "one nine too many",
            iops * S_PER_MIN * other,
            "Each nine behind the point is a tenth; count them again.",
        ),
        Misconception(
            "the fast ones",
            iops * S_PER_MIN * (1 - share),
            "So many are at most as slow as that; the question is about those that exceed it.",
        ),
    ]
    return Exercise(
        question=f"A disk does {iops:,} IOPS, all day. How many I/Os in a minute are slower than its {name}?",
        unit=IN_OUTSTANDING,
        right=right,
        misconceptions=wrong,
        hint="Which share of the I/Os exceeds the percentile, and how many I/Os are there in a minute?",
    )


TAILS = {"run": p99_of_one_run, "hosts": p99_of_two_hosts, "minute": slow_ios_per_minute}
