"""Rates over time from fio's reports on a run under way (``--status-interval``): differences of their counts.

Each report counts from the start of the measured time, so the time of a rate is the end of its interval by
the run's own clock. Reports that follow each other at once, as the last two do, show no interval of their
own.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from azbenchlib.core import schema
from azbenchlib.formats.base import Records
from azbenchlib.formats.fio._jobs import FioJob, Key, Printed

_SHORTEST_S = 0.1  # of an interval; the final report may follow another one at once
_REST = 0.5  # of the interval before: what is shorter is no interval of its own
_ROUGHEST = 0.01  # of a rate, as far as the printing of its counts can move it
_SUM = "mixed"  # of the other directions, where these are told too
_METRICS = {"iops": "ios", "bw_bytes_per_s": "io_bytes"}


class DirectionState(NamedTuple):
    """What one direction of a job had done by then; None: not told."""

    runtime_s: float
    ios: Printed | None
    io_bytes: Printed | None


State = Mapping[str, DirectionState]  # by direction
_START = DirectionState(0.0, Printed(0), Printed(0))


def chains(superseded: Sequence[bool]) -> Iterator[range]:
    """Documents that tell of one run: those that the next one replaces, and that which stays."""
    first = 0
    for number, replaced in enumerate(superseded):
        if not replaced:
            if number > first:
                yield range(first, number + 1)
            first = number + 1


def add_intervals(records: Records, run_id: str, states: Sequence[State]) -> None:
    """Add the rates between the states of a job as samples of its run.

    Parameters
    ----------
    records : Records
    run_id : str
        The run, of which the last state tells.
    states : sequence of mapping
        What its directions had done, in order.
    """
    ddirs = [ddir for ddir in schema.DDIRS if any(ddir in state for state in states)]
    for ddir in ddirs:
        if ddir == _SUM and len(ddirs) > 1:
            continue
        own = [_START, *(state[ddir] for state in states if ddir in state)]
        for metric, name in _METRICS.items():
            for seq, (t_s, value) in enumerate(_without_rest([*_rates(own, name)])):
                records.add("samples", run_id=run_id, ddir=ddir, metric=metric, seq=seq, t_s=t_s, value=value)


def _without_rest(rates: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The rates but for the last, where the run ended soon after the report before."""
    ends = [0.0, *(t_s for t_s, _ in rates)]
    is_rest = len(rates) > 1 and ends[-1] - ends[-2] < _REST * (ends[-2] - ends[-3])
    return rates[:-1] if is_rest else rates


def state_of(job: FioJob) -> State:
    """What the directions of a printed job had done."""
    found = {}
    for ddir in job.directions:
        ios, io_bytes, seconds = (
            job.figures.get(Key("results", ddir, name)) for name in ("ios", "io_bytes", "runtime_s")
        )
        if seconds is not None:
            found[ddir] = DirectionState(seconds.value, ios, io_bytes)
    return found


def _rates(states: Sequence[DirectionState], name: str) -> Iterator[tuple[float, float]]:
    """Ends of intervals and the rates in them; one that is too rough is joined with the next."""
    first = states[0]
    for last in states[1:]:
        before, after = getattr(first, name), getattr(last, name)
        if before is None or after is None:
            first = last
            continue
        took_s, done = last.runtime_s - first.runtime_s, after.value - before.value
        if took_s < _SHORTEST_S or before.slack + after.slack > _ROUGHEST * done:
            continue
        yield last.runtime_s, done / took_s
        first = last
