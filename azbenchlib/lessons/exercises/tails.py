"""Lesson 7: percentiles, of one run and of several together."""

from __future__ import annotations

from random import Random

from azbenchlib.core.histogram import percentile
from azbenchlib.core.units import S_PER_MIN, US_PER_MS
from azbenchlib.lessons.answers import IN_MILLISECONDS, IN_OUTSTANDING
from azbenchlib.lessons.check import Exercise, Misconception, telling

Counts = dict[int, int]  # I/Os by latency in µs


def _p99(counts: Counts, wanted: float = 99.0) -> float:
    found = percentile(list(counts), list(counts.values()), [wanted])
    return float(found[0])


def _mean(counts: Counts) -> float:
    return sum(us * n for us, n in counts.items()) / sum(counts.values())


def _told(counts: Counts) -> str:
    return ", ".join(f"{n:,} took {us / US_PER_MS:g} ms" for us, n in counts.items())


def _counted(counts: Counts) -> str:
    """How far the slowest I/Os reach, from the slowest on, against one percent of all."""
    rows, so_far, one_percent = [], 0, sum(counts.values()) / 100
    for us, n in sorted(counts.items(), reverse=True):
        so_far += n
        rows.append(f"{so_far:,} took {us / US_PER_MS:g} ms or more")
        if so_far > one_percent:
            break
    return f"one percent of all is {one_percent:,.0f} I/Os, and from the slowest on " + ", ".join(rows)


def of_two(a: float, b: float, a_n: float, b_n: float) -> list[Misconception]:
    """Ways to make p99 of the whole from p99 of its parts, the second of which is the slower one."""
    return [
        Misconception(
            "the mean of two percentiles",
            (a + b) / 2,
            "Percentiles cannot be averaged: put the I/Os of both together and count.",
        ),
        Misconception(
            "percentiles averaged by the number of I/Os",
            (a * a_n + b * b_n) / (a_n + b_n),
            "Weights do not help: a percentile of the whole is no average of those of its parts.",
        ),
        Misconception(
            "the slower part for the whole",
            b,
            "That is p99 of one part. Of all I/Os together, fewer than one percent may be so slow.",
        ),
        Misconception(
            "the faster part for the whole",
            a,
            "That is p99 of one part. The other one adds more slow I/Os than one percent of all.",
        ),
        Misconception(
            "two percentiles added", a + b, "No I/O takes both times: each of them reads from one disk."
        ),
    ]


def p99_of_one_run(counts: Counts) -> Exercise:
    """A percentile from counts."""
    right, slowest = _p99(counts), max(counts)
    wrong = [
        Misconception(
            "the mean for p99",
            _mean(counts),
            "A percentile is a value that a share of the I/Os does not exceed.",
        ),
        Misconception(
            "the typical I/O for p99",
            float(min(counts)),
            "Most I/Os take that long. Count from the slowest: how many I/Os are one percent?",
        ),
        Misconception(
            "the slowest I/O for p99",
            float(slowest),
            "That is the maximum. One percent of the I/Os may be slower than p99, and these are fewer.",
        ),
    ]
    return Exercise(
        question=f"Of {sum(counts.values()):,} I/Os {_told(counts)}. What is p99, in ms?",
        unit=IN_MILLISECONDS,
        right=right,
        misconceptions=telling(right, wrong),
        hint="Put all I/Os in order. Which one has 99 percent of them before it?",
        law="Count from the slowest on until more than one percent of the I/Os are reached; that time is p99",
        working=f"{_counted(counts)}; so p99",
    )


def p99_of_two_hosts(first: Counts, second: Counts) -> Exercise:
    """A percentile of two runs together."""
    pooled = {us: first.get(us, 0) + second.get(us, 0) for us in (*first, *second)}
    right, first_n, second_n = _p99(pooled), sum(first.values()), sum(second.values())
    return Exercise(
        question=f"On one host, of {first_n:,} I/Os {_told(first)}; on another, of {second_n:,} I/Os "
        f"{_told(second)}. What is p99 of all of them together, in ms?",
        unit=IN_MILLISECONDS,
        right=right,
        misconceptions=telling(right, of_two(_p99(first), _p99(second), first_n, second_n)),
        hint="How many I/Os are one percent of all? Count so many from the slowest on, over both hosts.",
        law="Put the I/Os of both hosts together, and count from the slowest on until more than one percent "
        "are reached",
        working=f"{_counted(pooled)}; so p99 of all",
    )


def slow_ios_per_minute(iops: int, name: str, share: float) -> Exercise:
    """How often a rare latency is met."""
    right = iops * S_PER_MIN * share
    nines = "Each nine behind the point is a tenth; count them again."
    wrong = [
        Misconception(
            "seconds for minutes", iops * share, "That many in a second; a minute has sixty of them."
        ),
        Misconception(
            "all I/Os of a minute",
            iops * S_PER_MIN,
            "Only a share of them exceeds the percentile. Which one?",
        ),
        Misconception("one nine too many", right / 10, nines),
        Misconception("two nines too many", right / 100, nines),
        Misconception("one nine too few", right * 10, nines),
        Misconception(
            "the fast ones",
            iops * S_PER_MIN * (1 - share),
            "So many are at most as slow as that; the question is about those that exceed it.",
        ),
        Misconception(
            "the fast ones of a second",
            iops * (1 - share),
            "So many in a second are at most as slow as that; the question is about those of a minute that "
            "exceed it.",
        ),
    ]
    return Exercise(
        question=f"A disk does {iops:,} IOPS, all day. How many I/Os in a minute are slower than its {name}?",
        unit=IN_OUTSTANDING,
        right=right,
        misconceptions=telling(right, wrong),
        hint="Which share of the I/Os exceeds the percentile, and how many I/Os are there in a minute?",
        law="Slow I/Os = IOPS × 60 seconds × the share that exceeds the percentile",
        working=f"{iops:,} × 60 × {share:g}",
    )


def _run(draw: Random) -> Exercise:
    total = draw.randrange(10_000, 60_001, 1_000)
    fast, slow, slowest = (1_000 * draw.randrange(*ms) for ms in ((1, 4), (8, 25), (60, 121, 5)))
    late, last = (round(total * draw.randrange(*parts) / 10_000) for parts in ((120, 320, 20), (5, 50, 5)))
    return p99_of_one_run({fast: total - late - last, slow: late, slowest: last})


def _hosts(draw: Random) -> Exercise:
    first_n, second_n = draw.randrange(60_000, 96_000, 5_000), draw.randrange(5_000, 25_000, 5_000)
    fast, mid = draw.choice((1_000, 1_500, 2_000)), draw.choice((3_000, 4_000, 5_000))
    slow, slowest = 1_000 * draw.randrange(8, 20), 1_000 * draw.randrange(30, 81, 5)
    first = {fast: first_n * 98 // 100, mid: first_n * 2 // 100}
    return p99_of_two_hosts(first, {slow: second_n * 9 // 10, slowest: second_n // 10})


def _minute(draw: Random) -> Exercise:
    iops, (name, share) = (
        draw.randrange(500, 8_000, 10),
        draw.choice((("p99", 0.01), ("p99.9", 0.001), ("p99.99", 1e-4))),
    )
    return slow_ios_per_minute(iops, name, share)


TAILS = {"run": _run, "hosts": _hosts, "minute": _minute}
