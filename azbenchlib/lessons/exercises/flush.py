"""Lesson 9: what a ReadWrite cache gives, what a flush takes back, and what is lost without one."""

from __future__ import annotations

from random import Random

from azbenchlib.core.units import US_PER_MS, US_PER_S
from azbenchlib.lessons.answers import IN_IOPS, IN_OUTSTANDING, IN_SECONDS
from azbenchlib.lessons.check import Exercise, Misconception, telling
from azbenchlib.lessons.exercises.nested import striped

_TIERS = {"P10": 500, "P15": 1_100, "P20": 2_300, "P30": 5_000}
_SIZES = ("D4s_v3", "D8s_v3", "D16s_v3", "D32s_v3")
_BOTH = "What the cache takes in and the disk has not written yet is the difference of the two rates."


def rate_with_flushes(writes: int, hit_us: float, disk_us: float) -> float:
    """IOPS of one write after the other into a ReadWrite cache, with a flush after each few of them.

    Parameters
    ----------
    writes : int
        Between two flushes.
    hit_us, disk_us : float
        What a write into the cache takes, and one on the disk, to which the cache sends it at once.

    Notes
    -----
    The flush waits for the write that came last, which began when all before it were in the cache:
    writes ÷ ((writes − 1) × hit + disk). It holds below the limits of disk and VM, for hit < disk.
    """
    return writes * US_PER_S / ((writes - 1) * hit_us + disk_us)


def rate_of_a_log(writes: int, hit_us: float, disk_us: float) -> Exercise:
    """IOPS of a log that flushes."""
    right = rate_with_flushes(writes, hit_us, disk_us)
    wrong = [
        Misconception(
            "a flush that costs nothing",
            US_PER_S / hit_us,
            "That is the rate of the cache. A flush waits until the disk has what was written.",
        ),
        Misconception(
            "a flush after each write",
            US_PER_S / disk_us if writes > 1 else 0.0,
            "That is the rate with a flush after every write. How many writes share one here?",
        ),
        Misconception(
            "the cache waits before it writes back",
            writes * US_PER_S / (writes * hit_us + disk_us),
            "The cache sends a write to the disk as it takes it in, so the last write is not waited for "
            "twice.",
        ),
        Misconception(
            "the disk writes one block at a time",
            writes * US_PER_S / ((writes - 1) * hit_us + writes * disk_us) if writes > 1 else 0.0,
            "The writes are on their way to the disk together; the flush waits for the last of them.",
        ),
        Misconception(
            "the middle of the two rates",
            (US_PER_S / hit_us + US_PER_S / disk_us) / 2,
            "Add the times that pass between two flushes, and take the rate last.",
        ),
        Misconception(
            "one write in the time of all",
            US_PER_S / ((writes - 1) * hit_us + disk_us) if writes > 1 else 0.0,
            "That counts the flushes. How many writes are there for each?",
        ),
        Misconception(
            "a time for a rate",
            ((writes - 1) * hit_us + disk_us) / US_PER_MS / writes,
            "That is how many ms a write takes. How many of them are in a second?",
        ),
    ]
    after = "after every write" if writes == 1 else f"after every {writes} writes"
    return Exercise(
        question="A database log writes one block after the other to a disk with host caching ReadWrite. A "
        f"write is complete in the cache after {hit_us:g} µs; the cache sends it to the disk at once, which "
        f"takes {disk_us / US_PER_MS:g} ms. The log flushes {after}, and a flush waits until the disk has "
        "all of them. No limit is reached. How many IOPS does the log get?",
        unit=IN_IOPS,
        right=right,
        misconceptions=telling(right, wrong),
        hint="How long is it from one flush to the next, and how many writes are in that time?",
        law="From one flush to the next pass the writes before the last one, in the cache, and then the last "
        "one on the disk; rate = writes between two flushes ÷ that time",
        working=f"{writes} × 1,000,000 ÷ ({writes - 1} × {hit_us:g} + {disk_us:,.0f})",
    )


def writes_at_risk(size: str, tier: str, seconds: int) -> Exercise:
    """How many writes are lost if the host fails."""
    cached, limit = _cached(size), _TIERS[tier]
    right = float((cached - limit) * seconds)
    wrong = [
        Misconception(
            "nothing is lost",
            float(limit * seconds),
            "That is what the disk has. What is complete for the program but only in the cache is lost.",
        ),
        Misconception("all of them", float(cached * seconds), "The disk has written some of them meanwhile."),
        Misconception("those of one second", float(cached - limit), "They add up for as long as it goes on."),
        Misconception("both rates added", float((cached + limit) * seconds), _BOTH),
    ]
    return Exercise(
        question=f"{_told(size, tier, seconds)} Then the host fails, and its cache is gone. How many writes "
        "that the program takes for complete are lost?",
        unit=IN_OUTSTANDING,
        right=right,
        misconceptions=telling(right, wrong),
        hint="How many writes did the cache take in, and how many of them could the disk write meanwhile?",
        law="Lost are the writes that the cache took in, less those that the disk wrote: the difference "
        "of the two limits, times the time",
        working=f"({cached:,} − {limit:,}) × {seconds}",
    )


def first_flush(size: str, tier: str, seconds: int) -> Exercise:
    """How long the first flush waits."""
    cached, limit = _cached(size), _TIERS[tier]
    right = (cached - limit) * seconds / limit * US_PER_S
    wrong = [
        Misconception(
            "all writes wait",
            cached * seconds / limit * US_PER_S,
            "The disk has written a part of them already while the program wrote.",
        ),
        Misconception(
            "as long as it was written",
            float(seconds * US_PER_S),
            "The disk is slower than the cache. How much is there to write, and how fast does the disk?",
        ),
        Misconception(
            "at the rate of the cache",
            (cached - limit) * seconds / cached * US_PER_S,
            "What is not written yet goes to the disk, at the rate of the disk.",
        ),
        Misconception(
            "what is left of the time",
            (cached - limit) * US_PER_S / limit,
            "That is what one second of writing leaves. How long was it?",
        ),
    ]
    return Exercise(
        question=f"{_told(size, tier, seconds)} Then it flushes for the first time, and writes nothing more. "
        "How many seconds does the flush take?",
        unit=IN_SECONDS,
        right=right,
        misconceptions=telling(right, wrong),
        hint="How many writes has the disk not got yet, and how fast does it write them?",
        law="Time of the flush = "
        "(limit of the cache − limit of the disk) × time of writing ÷ limit of the disk",
        working=f"({cached:,} − {limit:,}) × {seconds} ÷ {limit:,}",
    )


def _told(size: str, tier: str, seconds: int) -> str:
    return (
        f"A {size} allows {_cached(size):,} IOPS through its host cache, and a disk {tier} with host caching "
        f"ReadWrite {_TIERS[tier]:,} IOPS; burst credits, where there are any, are spent. A program keeps "
        f"many small writes outstanding for {seconds} s, each to another block of the disk, and never "
        "flushes; the cache has room for all of them."
    )


def _cached(size: str) -> int:
    return round(striped(size, "P30", 1).vm.cached.iops or 0)


def _log(draw: Random) -> Exercise:
    return rate_of_a_log(draw.randint(1, 9), float(draw.randrange(50, 205, 5)), draw.randrange(8, 50) * 100.0)


def _risk(draw: Random) -> Exercise:
    return writes_at_risk(*_drawn(draw))


def _flush(draw: Random) -> Exercise:
    return first_flush(*_drawn(draw))


def _drawn(draw: Random) -> tuple[str, str, int]:
    return draw.choice(_SIZES), draw.choice(list(_TIERS)), draw.randrange(3, 300)


FLUSHES = {"rate": _log, "risk": _risk, "first flush": _flush}
