"""What a run sustained: where its log shows phases, such as a burst and the base after it, its mean is no
rate of the disk; the last phase is, unless it is too short to tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from azbenchlib.analysis import repeats
from azbenchlib.analysis.observation import Trace
from azbenchlib.analysis.over_time import trace
from azbenchlib.analysis.over_time.phases import SHORT_SHARE, in_words, lasting, phases
from azbenchlib.analysis.over_time.steady import Segment
from azbenchlib.analysis.runs import Run, Tables, runs

Phases = Sequence[Segment]
# Where each of several runs had phases of its own.
OF_REPEATS = f"rates of the last phase of at least {100 * SHORT_SHARE:g} % of each run"
OF_A_PART = "means over the phases of the run"  # of one direction or job among several


def course_of(run: Run) -> Trace | None:
    """The IOPS over time of all that ran at once; None where a part of it has no samples."""
    known = [seen for flow in run.flows if (seen := flow.observation.samples) is not None]
    if not known or len(known) < len(run.flows):
        return None
    times, rates = trace.together(known)
    return (times, rates) if times.size > 1 else None


def phases_of(run: Run) -> list[Segment]:
    """The phases of all that ran at once; none where it kept one rate, or a part of it has no samples.

    Where burst credits last shorter than on Azure, a rate that fell is told in the time of Azure.
    """
    course = course_of(run)
    found = phases(*course) if course else []
    cut = run.flows[0].observation.credits_cut
    if cut == 1 or not found or found[-1].mean >= found[0].mean:
        return found
    return [replace(phase, start_s=phase.start_s * cut, end_s=phase.end_s * cut) for phase in found]


def by_run(tables: Tables) -> dict[str, list[Segment]]:
    """The phases of each run that has some, by run_id; those that ran at once have the same."""
    if not (tables["samples"]["metric"] == "iops").any():
        return {}
    found = {run.run_ids: phases_of(run) for run in runs(tables)}
    return {run_id: told for ids, told in found.items() if told for run_id in ids}


def with_phases(rates: pd.DataFrame, found: Mapping[str, Phases]) -> pd.DataFrame:
    """Rates with those of the last phase that lasted where there are phases.

    Parameters
    ----------
    rates : DataFrame
        A row for all that ran at once, or one a direction or part of it: at_once, iops, bw_bytes_per_s.
    found : mapping of str to sequence of Segment
        By at_once.

    Returns
    -------
    DataFrame
        With the column phases: what the rate was, in words; else empty. Throughput changes as the IOPS do.
        The phases are of all that ran at once, so the rate of a part stays the mean over them, and says so.
    """
    part = rates["at_once"].duplicated(keep=False)
    means = {name: lasting(told).mean for name, told in found.items()}
    kept = rates["at_once"].map(means).astype("Float64")
    known = kept.notna() & (rates["iops"] > 0).fillna(False)
    kept = kept.where(known & ~part)
    share = (kept / rates["iops"]).fillna(1.0)
    words = {name: in_words(told) for name, told in found.items()}
    texts = rates["at_once"].map(words).astype("string")
    return rates.assign(
        iops=kept.fillna(rates["iops"]),
        bw_bytes_per_s=rates["bw_bytes_per_s"] * share,
        phases=texts.mask(part, OF_A_PART).where(known).fillna(""),
    )


def pooled(rates: pd.DataFrame, keys: Sequence[str], carried: Sequence[str]) -> pd.DataFrame:
    """Repeats as one row each, as of :func:`.repeats.pooled`, with what is to be said of their phases."""
    found = repeats.pooled(rates, keys, [*carried, "phases"])
    several = (found["repeats"] > 1) & (found["phases"] != "")
    return found.assign(phases=found["phases"].mask(several, OF_REPEATS))
