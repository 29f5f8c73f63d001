"""Lesson 5: bursts and their credits."""

from __future__ import annotations

from random import Random

from azbenchlib.core.units import S_PER_MIN, US_PER_S
from azbenchlib.lessons.answers import IN_HOURS, IN_IOPS, IN_MINUTES
from azbenchlib.lessons.check import Exercise, Misconception, telling
from azbenchlib.lessons.exercises.nested import striped
from azbenchlib.model.credits import BURST_S, Bucket, balance, buckets

_TIERS = ("P4", "P10", "P15", "P20")
_SIZE = "D8s_v3"
_PER_CENT = 100
_BURST_MIN = BURST_S // S_PER_MIN
_BLOCKS = "in blocks of 4 KiB, and nothing but its IOPS limit binds"
_WHOLE_BURST = "The bucket holds what a burst takes above the base rate, and not all of its I/Os."


def bucket_of(tier: str) -> Bucket:
    """The credits for I/Os of a disk of this tier."""
    return buckets(striped(_SIZE, tier, 1).disks[0].cap)["iops"]


def time_until_empty(tier: str, rate: int) -> Exercise:
    """How long a burst lasts."""
    bucket = bucket_of(tier)
    right = bucket.time_to_empty(rate) * US_PER_S if rate > bucket.base else 0.0
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
            _WHOLE_BURST,
        ),
        Misconception(
            "time in proportion to the rate",
            BURST_S * bucket.burst / rate * US_PER_S,
            "Compare what both rates take above the base limit, and not the whole rates.",
        ),
        Misconception(
            "shorter instead of longer",
            BURST_S * (rate - bucket.base) / (bucket.burst - bucket.base) * US_PER_S,
            "A smaller burst takes less each second. Does the same stock then last longer, or shorter?",
        ),
    ]
    return Exercise(
        question=f"A {tier} has a base limit of {bucket.base:,.0f} IOPS, bursts to {bucket.burst:,.0f} "
        f"IOPS, and has full credits, which last {_BURST_MIN} minutes at the largest burst. A workload "
        f"needs {rate:,} IOPS {_BLOCKS}. After how many minutes do the credits run out?",
        unit=IN_MINUTES,
        right=right,
        misconceptions=telling(right, wrong),
        hint="How many I/Os above the base rate are in a full bucket, and how many does this load take each "
        "second?",
        law="Minutes = (burst − base) × 30 ÷ (rate − base)",
        working=f"({bucket.burst:,.0f} − {bucket.base:,.0f}) × 30 ÷ ({rate:,} − {bucket.base:,.0f})",
    )


def _wrong_refills(bucket: Bucket, used: int, share: float) -> list[Misconception]:
    """Ways to calculate when a bucket is full again of which a share is missing."""
    missing = bucket.capacity * share
    return [
        Misconception(
            "as fast as it emptied",
            BURST_S * share * US_PER_S,
            "It empties by what the burst takes and fills by what the base rate leaves; these differ.",
        ),
        Misconception(
            "an idle disk",
            missing / bucket.base * US_PER_S,
            "The disk is not idle meanwhile; only what is left of the base rate fills the bucket.",
        ),
        Misconception(
            "a bucket of the whole burst",
            bucket.burst * BURST_S * share / max(bucket.base - used, 1) * US_PER_S,
            _WHOLE_BURST,
        ),
        Misconception(
            "filled by what is used",
            missing / used * US_PER_S,
            "What the load uses does not fill the bucket; what it leaves of the base rate does.",
        ),
        Misconception(
            "base rate and load added",
            missing / (bucket.base + used) * US_PER_S,
            "The load takes from the base rate, so it is subtracted from it.",
        ),
        Misconception(
            "filled by the burst",
            missing / (bucket.burst - used) * US_PER_S,
            "The bucket fills at the base rate; the burst only empties it.",
        ),
        Misconception(
            "all of the bucket for what is missing",
            bucket.time_to_refill(used) * US_PER_S,
            "A part of the credits is there; only the rest has to come back.",
        ),
        Misconception(
            "what is left for what is missing",
            bucket.capacity * (1 - share) / (bucket.base - used) * US_PER_S,
            "What is there need not come back; how much is missing?",
        ),
    ]


def time_to_refill(tier: str, used: int, left: int = 0) -> Exercise:
    """How long a bucket takes to be full again."""
    bucket = bucket_of(tier)
    share = 1 - left / _PER_CENT
    missing = bucket.capacity * share
    right = bucket.time_to_refill(used, bucket.capacity - missing) * US_PER_S
    state = f"{left} % of its credits are left" if left else "Its credits are used up"
    return Exercise(
        question=f"A {tier} has a base limit of {bucket.base:,.0f} IOPS and bursts to {bucket.burst:,.0f} "
        f"IOPS for {_BURST_MIN} minutes. {state}, and from now on it does {used:,} IOPS {_BLOCKS}. After "
        "how many hours are they full again?",
        unit=IN_HOURS,
        right=right,
        misconceptions=telling(right, _wrong_refills(bucket, used, share)),
        hint="How much is missing, and how much of the base rate is left over each second?",
        law="Hours = (burst − base) × half an hour × the share of the credits that is missing ÷ (base − "
        "load)",
        working=f"({bucket.burst:,.0f} − {bucket.base:,.0f}) × 0.5 × {share:g} ÷ ({bucket.base:,.0f} − "
        f"{used:,})",
    )


def mean_of_a_long_run(tier: str, minutes: int) -> Exercise:
    """What a run measures that is longer than the burst."""
    bucket = bucket_of(tier)
    stretches = balance(bucket, [(minutes * S_PER_MIN, bucket.burst)])
    right = sum(one.delivered * (one.end_s - one.start_s) for one in stretches) / (minutes * S_PER_MIN)
    rest = minutes - _BURST_MIN
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
        Misconception(
            "burst and base exchanged",
            (bucket.base * _BURST_MIN + bucket.burst * rest) / minutes,
            "The burst lasts 30 minutes, and the base rate the rest of the run.",
        ),
    ]
    return Exercise(
        question=f"A {tier} with full credits ({bucket.base:,.0f} IOPS, bursting to {bucket.burst:,.0f} "
        f"IOPS for {_BURST_MIN} minutes) is driven as hard as it goes for {minutes} minutes {_BLOCKS}. How "
        "many IOPS does the run show on average?",
        unit=IN_IOPS,
        right=right,
        misconceptions=telling(right, wrong),
        hint="Count the I/Os of both parts of the run, and divide by its whole time.",
        law="Mean = (burst × 30 minutes + base × the rest of the minutes) ÷ all minutes",
        working=f"({bucket.burst:,.0f} × 30 + {bucket.base:,.0f} × {rest}) ÷ {minutes}",
    )


def _empty(draw: Random) -> Exercise:
    return time_until_empty(draw.choice(_TIERS), draw.randrange(600, 3_400, 5))


def _refill(draw: Random) -> Exercise:
    tier = draw.choice(_TIERS)
    used = round(bucket_of(tier).base * draw.randrange(10, 80) / 100)
    return time_to_refill(tier, used, draw.randrange(0, 81, 5))


def _mean(draw: Random) -> Exercise:
    return mean_of_a_long_run(draw.choice(_TIERS), draw.randrange(35, 481))


BURSTS = {"empty": _empty, "refill": _refill, "mean": _mean}
