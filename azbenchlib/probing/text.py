"""A portrait in words: what is known, what is not and what it would cost, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from azbenchlib.azure import disk_kinds
from azbenchlib.core.units import (
    KIB,
    S_PER_MIN,
    format_count,
    format_mbps,
    format_size,
    format_us,
)
from azbenchlib.model.credits import BURST_S
from azbenchlib.probing.cache import CacheFound, CacheSeen
from azbenchlib.probing.choice import Worth
from azbenchlib.probing.drain import SMALLEST_BURST, Drain, DrainedCap, Interval
from azbenchlib.probing.explanations import Explanation
from azbenchlib.probing.hypotheses import Sharing
from azbenchlib.probing.naming import ON_HOST, Named
from azbenchlib.probing.portrait import DEPTH_KEY, HARDLY, SURE, DiskFigure, Knowledge, Portrait
from azbenchlib.probing.rounds import TOTAL_DEPTH, Rounds
from azbenchlib.probing.stages import Stages

NO_STAGES = Stages()
WAYS = {"read": "Reads", "write": "Writes"}
_TITLES = {  # of documented setups, by kind
    "disk": "{disks} ({caps})",
    "burst": "{disks} {burst} ({caps})",
    "on_demand_burst": "{disks} {burst} on demand ({caps})",
    "provisioned": "{disks}, provisioned so",
    "vm": "the uncached limits of {sizes} ({caps})",
    "vm_burst": "the uncached limits of {sizes} {burst} ({caps})",
    "disk_and_vm": "{disks} behind the uncached limits of {sizes} ({caps})",
    "read_only": "{disks} with ReadOnly caching on {sizes} ({caps})",
    "read_write": "a disk with ReadWrite caching on {sizes} ({caps})",
    "temp": "the temp disk of {sizes} ({caps})",
    "on_host": "the temp disk of {temp}, or a disk with ReadWrite caching on {sizes} ({caps})",
    "nvme": "{devices} of {sizes} ({caps})",
}
_MOST_NAMES = 3  # of disks that have the same limits
_CAP_NAMES = {"iops": "IOPS", "bytes_per_s": "MB/s"}


def label(key: str) -> str:
    """A figure's name for people."""
    way, _, what = key.partition("_")
    if what.startswith("p50_us_"):
        size = int(what.removeprefix("p50_us_").removesuffix("k")) * KIB
        return f"{WAYS[way]} of {format_size(size)}, p50"
    names = {
        "iops": "IOPS cap",
        "bytes_per_s": "MB/s cap",
        DEPTH_KEY: "95 % of cap from",
    }
    return f"{WAYS[way]}, {names[what]}"


def amount(key: str, value: float) -> str:
    """A value of a figure with its unit."""
    if "_us_" in key:
        return format_us(value)
    if key.endswith("bytes_per_s"):
        return f"{format_mbps(value)} MB/s"
    if key.endswith("iops"):
        return f"{format_count(round(value))} IOPS"
    return f"QD {math.ceil(value)}"


def told(figure: DiskFigure) -> tuple[str, str]:
    """Value and 95 % interval in words."""
    if figure.state is Knowledge.ABOVE:
        return f"no cap up to {amount(figure.key, figure.low)}", ""
    between = _from_to(figure)
    if figure.value is None:
        least = "" if figure.key.endswith(DEPTH_KEY) else f", no cap up to {amount(figure.key, figure.low)}"
        return f"open{least}", between
    about = "" if figure.state is Knowledge.KNOWN else "about "
    return f"{about}{amount(figure.key, figure.value)}", between


def _from_to(figure: DiskFigure) -> str:
    """The interval of a figure; the unit stands once."""
    low, high = amount(figure.key, figure.low), amount(figure.key, figure.high)
    unit = high.lstrip("0123456789.,")
    return f"{low.removesuffix(unit) if unit != high else low} to {high}"


def sentences(portrait: Portrait) -> Iterator[str]:
    """What is not a number: how caps are shared, how I/Os are counted, what is doubtful."""
    if portrait.buffered:
        yield (
            "These are figures of memory, not of a disk: the directory lies in memory, its file system "
            "refuses direct I/O, or a loop device reaches its file through the page cache. Probe another "
            "directory, or the device itself."
        )
        return
    if portrait.steady:
        yield _sharing(portrait)
        yield _counting(portrait)
    else:
        deviation = portrait.deviation.value or 0.0
        within = portrait.run_error > deviation
        stray = _percent(max(deviation, portrait.run_error))
        what = (
            f"Rates stray by {stray} within a run: this machine or the disk was busy"
            if within
            else f"Rates stray by {stray} from what explains them best: this machine or the disk was busy, a "
            "cache or burst credits changed from run to run"
        )
        yield (
            f"{what}, or the disk is none of steady caps and latencies. The intervals are wide for it, and "
            "neither how caps are shared nor how large I/Os are counted can be told; probe again when "
            "nothing else runs."
        )
    if portrait.contradictions:
        yield (
            f"Nothing that explains the other runs explains {_runs(portrait.contradictions)} "
            "(contradiction): figures that rest on these are open, and their intervals hold what these imply."
        )


def _runs(names: Sequence[str]) -> str:
    return f"the run {names[0]}" if len(names) == 1 else f"the runs {', '.join(names)}"


def _sharing(portrait: Portrait) -> str:
    apart, behind = portrait.sharing[Sharing.APART], portrait.sharing[Sharing.BEHIND]
    if behind >= SURE:
        return "Reads and writes together keep to the caps of reads, and writes to lower ones of their own."
    if apart >= SURE:
        own = "Reads and writes have caps each for themselves"
        return f"{own}, of the same height." if portrait.same >= SURE else f"{own}."
    if apart + behind >= SURE:
        return "Writes have caps of their own, which as many reads do not use up."
    if apart + behind <= HARDLY:
        if portrait.same >= SURE:
            return "Reads and writes share one cap of IOPS and one cap of MB/s."
        if portrait.same <= HARDLY:
            return "Reads and writes have caps of their own, and each uses up a part of the other's."
        return "Reads and writes share their caps; whether these are the same for both is open."
    return "Whether reads use up what writes may do is open."


def _counting(portrait: Portrait) -> str:
    unit = portrait.unit_bytes
    if unit is not None and math.isfinite(unit):
        return f"An I/O counts as one up to {format_size(unit)}, and as several above that."
    if unit is not None:
        return "An I/O of any size counts as one."
    least = portrait.largest_single_bytes
    if all(probability > 0 for probability in portrait.units.values()):
        return "Whether a large I/O counts as several is open."
    return (
        f"An I/O counts as one up to at least {format_size(least)}; above that, the cap of MB/s binds before "
        "it could be seen."
    )


def drain_cost(drain: Drain) -> str:
    """What draining takes at most, in a sentence."""
    minutes = sum(run.seconds for run in drain.runs()) / S_PER_MIN
    return (
        f"Draining takes at most {minutes:.3g} min of runs, all but two of them at full load; --minutes does "
        "not count it."
    )


def bursts(quantity: str, burst: Interval, base: Interval) -> str:
    """What a cap is while credits last, and what is left of it after that, in a sentence."""
    told = partial(amount, f"read_{quantity}")
    return (
        f"The cap of {_CAP_NAMES[quantity]} is that of a burst: reads reach {_between(burst, told)} until "
        f"the credits are spent, and {_between(base, told)} after that, which is the base."
    )


def _unseen(credits: DrainedCap) -> str:
    return (
        f" Credits came back in pauses between the runs, {credits.paused_s / S_PER_MIN:.3g} min in all, so a "
        f"burst below {credits.unseen_below:.3g} times its base would not be seen to end; longer runs "
        "(--seconds) show it."
    )


def drained(credits: DrainedCap) -> str:
    """What driving one cap at full load showed, in a sentence."""
    what = _CAP_NAMES[credits.quantity]
    if not (credits.burst and credits.base and credits.bucket):
        return (
            f"Cap of {what}: no burst that ends was found within {credits.driven_s / S_PER_MIN:.3g} min."
            + (_unseen(credits) if credits.unseen_below > SMALLEST_BURST else "")
        )
    rate, stock = f"read_{credits.quantity}", "I/Os" if credits.quantity == "iops" else "MB"
    held = _between(credits.bucket, lambda value: f"{_stock(credits.quantity, value)} {stock}")
    found = (
        f"Cap of {what}: {_between(credits.burst, lambda value: amount(rate, value))} is a burst. After it, "
        f"{_between(credits.base, lambda value: amount(rate, value))} is the base. {held} above the base "
        "were left when the full load began."
    )
    if not credits.refill:
        return f"{found} How fast credits come back was not learnt."
    return f"{found} At rest {_between(credits.refill, lambda value: amount(rate, value))} come back."


def told_by(stages: Stages, portrait: Portrait) -> Iterator[str]:
    """What stages showed, in sentences."""
    if stages.stairs:
        cache = stages.stairs.found(portrait)
        yield cached(cache)
        if stages.write_back and cache.hit_us:
            yield written_back(stages.write_back.found())
    if stages.fsync:
        yield synced(stages.fsync)
    if stages.jobs:
        yield parallel(stages.jobs)
    for credits in stages.drain.found() if stages.drain else ():
        yield drained(credits)


def cached(found: CacheFound) -> str:
    """What working sets of growing size showed, in a sentence or two."""
    smallest, largest = map(format_size, found.searched)
    match found.seen:
        case CacheSeen.MEMORY:
            return "Whether there is a cache was not asked: memory answered the other runs."
        case CacheSeen.UNSTEADY:
            return (
                f"Whether there is a cache is open: two runs over the same {smallest} differ as much as a "
                "cache would make them, so this machine or the disk was busy."
            )
        case CacheSeen.NO_STEP:
            return (
                f"No cache was seen up to {largest}: reads within {smallest} take as long as reads within "
                f"{largest}. A cache that holds all of {largest} would have answered every run."
            )
        case CacheSeen.UNFINISHED:
            return "Whether there is a cache is open: its runs did not come to an end."
    if not (found.size and found.hit_us):
        return f"A cache of less than {smallest} answers reads."
    about = "" if found.known else "about "
    hits, share = _between(found.hit_us, format_us), found.size.value / found.searched[1]
    return (
        f"A cache of {about}{_between(found.size, format_size)} answers reads; one of what it holds takes "
        f"{hits} in the median. It answered {_percent(share)} of the reads of all runs "
        f"over {largest}, whose rates and latencies are to that part those of the cache."
    )


def written_back(found: DrainedCap | None) -> str:
    """What full load of writes showed of a cache, in a sentence."""
    if found is None:
        return "Single writes take longer than the reads that the cache answers: it does not hold them back."
    if not (found.burst and found.base and found.bucket):
        minutes = f"{found.driven_s / S_PER_MIN:.2g} min"
        return f"The cache answers writes, and did not make them wait within {minutes} of full load."
    rate = partial(amount, "write_bytes_per_s")
    return (
        f"The cache answers writes, at no less than {rate(found.burst.value)}, until "
        f"{_between(found.bucket, format_size)} are not written to the disk; from then on they wait, at "
        f"{_between(found.base, rate)}."
    )


def synced(rounds: Rounds) -> str:
    """What an fsync costs, in a sentence."""
    found = rounds.longer_us()
    if found is None:
        return "What an fsync costs was not learnt."
    if found.low <= 0:
        most = format_us(max(found.high, 0.0))
        return f"No cost of an fsync after each write of 4 KiB was seen; it is {most} at most."
    return f"An fsync after each write of 4 KiB makes it {_between(found, format_us)} longer."


def parallel(rounds: Rounds) -> str:
    """What several jobs reach, and a file for each of them, in a sentence."""
    found = {load: rounds.times_as_many(load) for load in rounds.loads[1:]}
    told = [
        f"{_between(times, '{:.2f}'.format)} times the IOPS of one job "
        f"{'with a file each' if load.own_files else 'on the same data'}"
        for load, times in found.items()
        if times
    ]
    if not told:
        return "Whether several jobs reach more than one was not learnt."
    jobs = rounds.loads[1].jobs
    return f"With {TOTAL_DEPTH} writes of 4 KiB outstanding, {jobs} jobs reach {', and '.join(told)}."


def _stock(quantity: str, value: float) -> str:
    return format_count(round(value)) if quantity == "iops" else format_mbps(value)


def _between(found: Interval, told: Callable[[float], str]) -> str:
    return f"{told(found.value)} ({told(found.low)} to {told(found.high)})"


def unlearnt(
    portrait: Portrait, spent_s: float, stages: Stages = NO_STAGES
) -> Iterator[tuple[str, float | None]]:
    """What is not known, in a sentence each, and the minutes that it would take; None: no run would tell."""
    if portrait.buffered:
        yield "Anything of the disk: memory answered the runs.", None
        return
    open_ = "; ".join(label(figure.key) for figure in portrait.open_figures)
    if open_:
        minutes = _more_minutes(portrait.next_run, len(portrait.open_figures))
        yield f"Not known well enough: {open_}.", minutes
    above = [figure for figure in portrait.figures if figure.state is Knowledge.ABOVE]
    if above:
        named = "; ".join(label(figure.key) for figure in above)
        yield f"No cap found: {named}. Something else binds before it, at every queue depth tried.", None
    if not stages.drain:
        yield (
            f"Whether the caps are those of a burst that ends: the runs took {spent_s / S_PER_MIN:.1f} min, "
            "and Azure's full credits last 30 min at the largest burst. --drain learns it.",
            BURST_S / S_PER_MIN,
        )
    if not stages.stairs:
        what = "Whether a cache answers repeated reads: all runs went to random places of the data."
        yield f"{what} --cache learns it.", None


def _more_minutes(next_run: Worth | None, count: int) -> float | None:
    return None if next_run is None else count * next_run.run.costs_s / S_PER_MIN


def name_of(named: Named) -> str:
    """What documented setups of the same caps are called for people."""
    setup = named.setup
    if setup is None:
        return "nothing that is documented"
    count = setup.disk.count if setup.disk else 1
    several = f"{count} × " if count > 1 else ""
    is_either = setup.kind in ON_HOST and named.disks and named.sizes
    return _TITLES["on_host" if is_either else setup.kind].format(
        temp=_sizes(named.disks),
        disks=several + _either(named.disks),
        devices=f"{count} local NVMe devices" if several else "a local NVMe device",
        sizes=_sizes(named.sizes or named.disks),
        burst="while they burst" if several else "while it bursts",
        caps=_caps_of(setup),
    )


def _either(names: Sequence[str]) -> str:
    """Names of disks that have the same limits, kind by kind, the likeliest first: P40 or P50, E1 to E50."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(name[:1], []).append(name)
    parts = []
    for some in kinds.values():
        own = sorted(some, key=disk_kinds.tier_number)
        parts.append(f"{own[0]} to {own[-1]}" if len(own) > _MOST_NAMES else " or ".join(own))
    return " or ".join(parts)


def _sizes(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = len(names) - 1
    return names[0] + (f" and {more} more size{'s' if more > 1 else ''}" if more else "")


def _caps_of(setup: Explanation) -> str:
    """The caps of a setup, those of writes where they differ; what may be chosen is left out."""
    reads, writes = (
        ", ".join(
            amount(key, cap)
            for key, cap, free in zip(("iops", "bytes_per_s"), caps, setup.free, strict=True)
            if math.isfinite(cap) and not free
        )
        for caps in (setup.caps[:2], setup.caps[2:])
    )
    if setup.same or reads == writes:
        return reads
    return f"reads {reads}; writes {writes}" if writes else f"reads {reads}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
