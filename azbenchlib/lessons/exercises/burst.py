"""Lesson 5: bursts and their credits."""

from __future__ import annotations

from random import Random

from azbenchlib.core.units import S_PER_MIN, US_PER_S
from azbenchlib.lessons.answers import IN_HOURS, IN_IOPS, IN_MINUTES
from azbenchlib.lessons.check import Exercise, Misconception
from azbenchlib.lessons.exercises.nested import striped
from azbenchlib.model.credits import BURST_S, Bucket, balance, buckets

_TIERS = ("P4", "P10", "P15", "P20")
_SIZE = "D8s_v3"


def bucket_of(tier: str) -> Bucket:
    """The credits for I/Os of a disk of this tier."""
    return buckets(striped(_SIZE, tier, 1).disks[0].cap)["iops"]


def time_until_empty(draw: Random) -> Exercise:
    """How long a burst lasts."""
    tier = draw.choice(_TIERS)
    bucket = bucket_of(tier)
    rate = draw.randrange(600, 3_400, 100)
    right = bucket.time_to_empty(rate) if rate > bucket.base else 0.0
    wrong = [
        Misconception(
            "thirty minutes for every burst",
            BURST_S * US_PER_S,
            "Full credits last thirty minutes at the largest burst; a smaller burst takes them more slowly.",
        ),
        Misconception(
            "no refill while it bursts",
            bucket.capacity / rate * US_PER_S,
            "The base rate goes on filling the bucket during the burst; only what is above it is taken.",
        ),
        Misconception(
            "a bucket of the whole burst",
            bucket.burst * BURST_S / max(rate - bucket.base, 1) * US_PER_S,
            "The bucket holds what a burst takes above the base rate, and not all of its I/Os.",
        ),
    ]
    return Exercise(
        question=f"A {tier} has a base limit of {bucket.base:,.0f} IOPS, bursts to {bucket.burst:,.0f}, and "
        f"has full credits, which last 30 minutes at the largest burst. A workload needs {rate:,} IOPS. "
        "After how many minutes do the credits run out?",
        unit=IN_MINUTES,
        right=right * US_PER_S,
        misconceptions=wrong,
        hint="How many I/Os above the base rate are in a full bucket, and how many does this load take "
        "each second?",
    )


def time_to_refill(draw: Random) -> Exercise:
    """How long a bucket takes to be full again."""
    tier = draw.choice(_TIERS)
    bucket = bucket_of(tier)
    used = round(bucket.base * draw.choice((0.1, 0.2, 0.25, 0.4, 0.5, 0.6)))
    wrong = [
        Misconception(
            "as fast as it emptied",
            BURST_S * US_PER_S,
            "It empties by what the burst takes and fills by what the base rate leaves; these differ.",
        ),
        Misconception(
            "an idle disk",
            bucket.time_to_refill() * US_PER_S,
            "The disk is not idle meanwhile; only what is left of the base rate fills the bucket.",
        ),
        Misconception(
            "a bucket of the whole burst",
            bucket.burst * BURST_S / (bucket.base - used) * US_PER_S,
            "The bucket holds what a burst takes above the base rate, and not all of its I/Os.",
        ),
    ]
    return Exercise(
        question=f"A {tier} has a base limit of {bucket.base:,.0f} IOPS and bursts to {bucket.burst:,.0f} "
        f"for 30 minutes. Its credits are used up, and from now on it does {used:,} IOPS. After how many "
        "hours are they full again?",
        unit=IN_HOURS,
        right=bucket.time_to_refill(used) * US_PER_S,
        misconceptions=wrong,
        hint="How much is missing, and how much of the base rate is left over each second?",
    )


def mean_of_a_long_run(draw: Random) -> Exercise:
    """What a run measures that is longer than the burst."""
    tier, minutes = draw.choice(_TIERS), draw.choice((40, 45, 60, 90, 120, 180))
    bucket = bucket_of(tier)
    stretches = balance(bucket, [(minutes * S_PER_MIN, bucket.burst)])
    ios = sum(one.delivered * (one.end_s - one.start_s) for one in stretches)
    wrong = [
        Misconception(
            "the burst for the disk",
            float(bucket.burst),
            "The burst ends within this run; from then on it is the base rate.",
        ),
        Misconception(
            "the base rate for the run",
            float(bucket.base),
            "The run begins with full credits, so the first part of it is faster.",
        ),
        Misconception(
            "the middle of the two rates",
            (bucket.burst + bucket.base) / 2,
            "The two rates do not last equally long; weight each with its time.",
        ),
    ]
    return Exercise(
        question=f"A {tier} with full credits ({bucket.base:,.0f} IOPS, bursting to {bucket.burst:,.0f} for "
        f"30 minutes) is driven as hard as it goes for {minutes} minutes. How many IOPS does the run show "
        "on average?",
        unit=IN_IOPS,
        right=ios / (minutes * S_PER_MIN),
        misconceptions=wrong,
        hint="Count the I/Os of both parts of the run, and divide by its whole time.",
    )


BURSTS = {"empty": time_until_empty, "refill": time_to_refill, "mean": mean_of_a_long_run}
