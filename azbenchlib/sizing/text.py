"""Sizing in words: times on the clock, what is throttled, and what an answer assumes."""

from __future__ import annotations

from datetime import UTC, datetime

from azbenchlib.advisor.offers.vm_choice import FOR_SERVERS, SERVER_CHOICE
from azbenchlib.advisor.search import FEWER_DISKS_WITHIN
from azbenchlib.advisor.text import caching_known
from azbenchlib.core.units import format_count, format_mbps, format_size, format_span
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.replay import Throttling
from azbenchlib.sizing.answer import MOST_OF_EVEN, Outcome, SizeAnswer
from azbenchlib.sizing.busiest import LabCheck

CHEAPEST_DESIGN = "The cheapest design that meets the requirement"
FEWEST_DISKS = (
    f"The design with the fewest disks within {FEWER_DISKS_WITHIN - 1:.0%} of the cheapest that meets the "
    "requirement"
)
PERHAPS_ENOUGH = "The design that may meet the requirement"
IF_EVEN = " if the load comes evenly"
STRICTLY_CHEAPEST = "The cheapest design"
WITH_ONE_DISK = "The cheapest design with one disk"
CHEAPER_DESIGN = "The best design among the cheaper ones"
_LITTLE_MORE = 1.1  # of the price for an even load
_LEAST = 0.01  # probability that is told
_MORE = "for the load is more than the design gives for good"
_CASCADE = (
    "the probability takes the load within an interval to be as uneven as between neighbouring intervals, on "
    "finer scales a little less or more so, down to a second"
)
_REPEATS = (
    "the recorded load comes again and again: what credits are left at its end are there at its beginning"
)
NOT_IN_SIZES = (
    "how much of its CPU and memory the system needs: --vcpus and --ram state less or more",
    "the OS disk, snapshots, backup, network and licences; discounts and agreements",
    "on-demand bursting, performance plus, shared disks, encryption at host",
    "that a faster disk can make the system ask for more",
)


def moment(history: LoadHistory, seconds: float) -> str:
    """A moment of a history: a weekday with date and time, or how long after the begin."""
    time_s = history.moment(seconds)
    if history.clock == "elapsed":
        return f"{format_span(time_s)} after the begin"
    zone = " UTC" if history.clock == "utc" else ""
    return f"{datetime.fromtimestamp(time_s, UTC):%A %Y-%m-%d %H:%M}{zone}"


def throttled_at(history: LoadHistory, one: Throttling) -> str:
    """A time in which a load was throttled: when, how long, by which limit."""
    return f"{moment(history, one.start_s)}, {format_span(one.seconds)}, {one.labels[0].display_name}"


def bounds_template(outcome: Outcome) -> str:
    """How long an outcome is throttled, between its bounds, whose names stand in braces."""
    if outcome.credits_last_s is not None:
        return (
            f"all the time, {'after its credits have lasted {credits}' if outcome.credits_last_s else _MORE}"
        )
    if outcome.at_most_s <= 0:
        return "never"
    if outcome.at_most_s == outcome.at_least_s:
        return "{at_least}"
    likely = "" if outcome.bursts.is_known else "; {allowed} at most with a probability of {probability}"
    return f"between {{at_least}} and {{at_most}}{likely}"


def probability(outcome: Outcome) -> str:
    """The probability of an outcome, which no model makes certain."""
    value = outcome.probability
    if value < _LEAST:
        return f"less than {_LEAST:.0%}"
    return f"{value:.0%}" if value <= 1 - _LEAST else f"more than {1 - _LEAST:.0%}"


def title(answer: SizeAnswer) -> str:
    """What the best design is, by its probability."""
    best, cheapest = answer.best, answer.cheapest
    design = CHEAPEST_DESIGN if best.design.price == cheapest.design.price else FEWEST_DISKS
    if best.probability >= answer.requirement.confidence:
        return design
    return f"{design}{IF_EVEN}" if cheapest.design.price == answer.even.design.price else PERHAPS_ENOUGH


def coarse(answer: SizeAnswer) -> str:
    """What the means of the telemetry do not tell, and which recording would; empty: it hardly matters."""
    asked, best, even = answer.requirement, answer.cheapest, answer.even
    price = float(best.design.price / even.design.price)
    if best.probability >= asked.confidence and price <= _LITTLE_MORE:
        return ""
    means = f"means over {format_span(answer.telemetry.interval_s)} do not tell how the load came within them"
    record = "record an hour with the highest load at 1 s (iostat -x -t -y -o JSON 1) and size that"
    if best.probability < asked.confidence:
        most = "" if best.bursts.is_fine else f"for up to {MOST_OF_EVEN} times the price for an even load "
        return f"{means}, and no design {most}has a probability of {asked.confidence:.0%}; {record}"
    cheaper = f"{even.design.vm} with {even.design.setup.disks[0].name}, {even.design.price:,.2f}"
    return f"{means}; if it came evenly, {cheaper} would do: {record}"


def span(seconds: float) -> str:
    """A time that may be none."""
    return format_span(seconds) if seconds > 0 else "0 s"


def assumptions(answer: SizeAnswer) -> tuple[str, ...]:
    """What an answer assumes, in sentences."""
    requirement, demand = answer.requirement, answer.requirement.demand
    found = [
        "the load of all devices goes to one volume of striped disks; "
        f"{demand.read_share:.0%} of its I/Os are reads",
        "the lower bound takes each interval's load as even; the upper one in any way, even all at once",
        *([_REPEATS] if answer.best.design.setup.has_credits else []),
        "what is throttled waits in line and is served later",
    ]
    if requirement.burst_factor != float("inf"):
        found[1] = (
            "the lower bound takes each interval's load as even; the upper one lets it be "
            f"{requirement.burst_factor:g} times its mean at a moment"
        )
    if not answer.best.bursts.is_known:
        found.append(_CASCADE)
    elif answer.best.bursts.is_constant:
        found.append("the load is the same in all intervals, so it is taken to be the same within them")
    if answer.factor != 1:
        found.append(f"all rates are {answer.factor:g} times those of the telemetry (growth and headroom)")
    if demand.cache_hit:
        found.append(f"a ReadOnly host cache serves {demand.cache_hit:.0%} of the reads")
        found += caching_known(answer.market, {answer.best.design.vm})
    else:
        found.append("a host cache serves no reads (state --hit)")
    if demand.choice == SERVER_CHOICE:
        found.append(FOR_SERVERS)
    if requirement.most_disks:
        found.append(f"at most {requirement.most_disks} disks")
    if demand.latency != "any":
        found.append(f"disks of the latency class {demand.latency}")
    return (*found, *answer.telemetry.notes)


def least_of_hosts(answer: SizeAnswer) -> str:
    """That the VM has the processors and the memory of the recorded hosts; empty: it need not."""
    demand, recorded = answer.requirement.demand, answer.telemetry
    has = []
    if recorded.cpus is not None and demand.vcpus == recorded.cpus:
        has.append(f"{recorded.cpus} vCPUs")
    if recorded.memory_bytes is not None and demand.memory_bytes == recorded.memory_bytes:
        has.append(format_size(recorded.memory_bytes))
    hosts = "the recorded host" if len(recorded.devices) == 1 else "the recorded hosts together"
    others = "--vcpus and --ram state others"
    return f"The VM has at least {' and '.join(has)}, as {hosts}; {others}" if has else ""


def checked(check: LabCheck) -> str:
    """What a replay on emulated disks came to."""
    stretch, design = check.stretch, check.design
    what = f"{design.vm} with {design.setup.disks[0].name}"
    when = f"the busiest {format_span(stretch.duration_s)}, from {moment(stretch, 0.0)} on"
    came = f"{span(check.predicted_s)} throttled as predicted, {span(check.measured_s)} as measured"
    counted = f" (only delays of more than {check.shortest_s:.3g} s count)"
    doubt = "" if check.agrees else "; they differ by more than 5 %"
    busy = "; this machine was busy, so repeat it when nothing else runs" if check.busy else ""
    return f"{what}, {when}: {came}{counted}{doubt}{busy}"


def load_figures(answer: SizeAnswer) -> list[tuple[str, float, float, float]]:
    """IOPS and bytes per second of the load: name, median, 95th percentile, largest."""
    from azbenchlib.sizing.percentile_rule import percentile

    history = answer.history
    return [
        (name, percentile(history, values, 50), percentile(history, values, 95), float(values.max()))
        for name, values in (("IOPS", history.iops), ("MB/s", history.bytes_per_s))
    ]


def rate(name: str, value: float) -> str:
    """A figure of :func:`load_figures`, without its unit."""
    return format_count(value) if name == "IOPS" else format_mbps(value)
