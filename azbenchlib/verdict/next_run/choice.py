"""Which run is proposed: the one whose rate two hypotheses predict furthest apart per minute."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from azbenchlib.analysis.flow import Flow, rates
from azbenchlib.analysis.observation import Observation
from azbenchlib.core.units import KIB, S_PER_MIN, format_count, format_mbps
from azbenchlib.model.labels import Label
from azbenchlib.verdict.candidates import Route
from azbenchlib.verdict.next_run import trials
from azbenchlib.verdict.next_run.job_file import job_file
from azbenchlib.verdict.next_run.trials import CandidateRun, Change, Trial, experiments, trial_of
from azbenchlib.verdict.next_run.worlds import Hypothesis
from azbenchlib.verdict.posterior import Posterior

_APART = math.log(1.1)  # rates that are nearer may come out alike: limits stray, and so do runs
_LIKELY = 0.02  # of the probability: what is less likely is not worth a run
_WORTH_A_DISK = 0.1  # of the probability: what is less likely is not worth ordering a disk
_ENOUGH = math.log(2)  # rates further apart than this tell no more
_HELD = "the other runs at hand are those that would tell, and they leave it open"
_ALIKE = "both causes would give nearly the same rate in every run that was simulated"
_SAME_SHARE = 0.02  # of reads: mixes that are nearer to each other are one
_DIGITS = 3  # of a predicted rate
_SMALL_BYTES = 32 * KIB  # up to this block size, rates are said in IOPS


@dataclass(frozen=True, kw_only=True)
class NextRun:
    """What to run, why in one sentence, and the job file.

    `question` is what it settles, `kind` what it changes, `action` what to do, `advice` that with what is to
    be expected, and `expected` the IOPS of the last section of the job by what binds: of a documented limit,
    its documented figure. fio reads the target, a file or a device, from the environment variable TARGET.
    """

    question: str
    advice: str
    job: str
    kind: str
    action: str
    expected: Mapping[Label, float]


@dataclass(frozen=True)
class Proposal:
    """A run, or why there is none, as the end of a sentence."""

    run: NextRun | None = None
    why_not: str | None = None


def propose(flow: Flow, believed: Posterior, others: Sequence[Observation] = ()) -> Proposal:
    """The run that tells the likeliest label from the next one; else from another that is likely too.

    Parameters
    ----------
    flow : Flow
    believed : Posterior
    others : sequence of Observation
        What else was run on the same setup.
    """
    was = trial_of(flow.observation)
    if was is None or not rates(flow.observation).iops:
        what = "the block size is" if was is None else "its rate is"
        return Proposal(why_not=f"no run can be proposed, as {what} not stated")
    known = tuple(dict.fromkeys(filter(None, map(trial_of, (flow.observation, *others)))))
    held, reasons = False, []
    for pair in _pairs(believed):
        paths = _paths(believed, pair)
        hypotheses = [Hypothesis(label, flow, some, was) for label, some in paths.items()]
        best, is_known = _best(_worth_it(flow, was, believed, paths), hypotheses, known)
        if best is not None:
            return Proposal(run=_run(flow.observation, was, best, hypotheses))
        held |= is_known
        reasons.append(_why_alike(hypotheses))
    if believed.probability.get(Label.PAGE_CACHE, 0.0) >= _LIKELY and not was.direct:
        return show_disk(flow, believed)
    return Proposal(why_not=_HELD if held else reasons[0] if reasons else None)


def _worth_it(
    flow: Flow, was: Trial, believed: Posterior, paths: Mapping[Label, Sequence[Route]]
) -> list[CandidateRun]:
    """The experiments whose work is in proportion to how likely the less likely hypothesis is."""
    least = min(believed.probability[label] for label in paths)
    every = experiments(flow, was, tuple(route for some in paths.values() for route in some))
    return [one for one in every if one.kind is not Change.MORE_DISKS or least >= _WORTH_A_DISK]


def _why_alike(hypotheses: Sequence[Hypothesis]) -> str:
    """Why no run tells two hypotheses apart, as the end of a sentence."""
    for one in hypotheses:
        if one.label.is_limit and not one.documented:
            return f"no figure of {one.label.phrase()} is documented, so that its rates cannot be predicted"
    return _ALIKE


def show_base(flow: Flow, believed: Posterior, lasts_s: float) -> Proposal:
    """The run that goes on until the credits of a burst that binds are spent, and shows the base."""
    was = trial_of(flow.observation)
    if was is None:
        return Proposal()
    label = next(label for label in believed.top if label.burst)
    hypothesis = Hypothesis(label, flow, believed.routes.get(label, (believed.route,)), was)
    return Proposal(run=_run(flow.observation, was, trials.spending(was, lasts_s), [hypothesis]))


def show_disk(flow: Flow, believed: Posterior) -> Proposal:
    """The run that bypasses the page cache which answered, and shows the disk."""
    was = trial_of(flow.observation)
    if was is None:
        return Proposal()
    hypothesis = Hypothesis(Label.PAGE_CACHE, flow, [believed.route], was)
    return Proposal(run=_run(flow.observation, was, trials.bypassing(was), [hypothesis]))


def _paths(believed: Posterior, pair: tuple[Label, Label]) -> dict[Label, tuple[Route, ...]]:
    """The likely paths under each label, its own first: what is not decided by one is not by the other."""
    own = {label: believed.routes.get(label, (believed.route,)) for label in pair}
    every = [route for label in pair for route in own[label]]
    return {label: _once([*paths, *(r for r in every if _has(r, label))]) for label, paths in own.items()}


def _has(route: Route, label: Label) -> bool:
    """Whether a label may bind on a path."""
    return not label.is_limit or any(stage.base.label == label.base for stage in route.stages)


def _once(paths: Sequence[Route]) -> tuple[Route, ...]:
    return tuple({id(path): path for path in paths}.values())


def _pairs(believed: Posterior) -> Iterator[tuple[Label, Label]]:
    """What to tell apart: those that tie, or the likeliest label and each other that is likely."""
    first, *tied = believed.top
    if tied:
        yield first, tied[0]
    others = [label for label in believed.probability if label not in believed.top]
    for i, label in enumerate(others):
        if i == 0 or believed.probability[label] >= _LIKELY:
            yield first, label


def _best(
    possible: Iterable[CandidateRun], hypotheses: Sequence[Hypothesis], known: Sequence[Trial]
) -> tuple[CandidateRun | None, bool]:
    """The experiment that tells most per minute, and whether one that would tell was made before."""
    best, most, held = None, 0.0, False
    for experiment in possible:
        if best is not None and _ENOUGH * S_PER_MIN / experiment.costs_s <= most:
            continue  # it could not tell more per minute
        trial = experiment.trial
        if _apart(*(one.printed(trial) for one in hypotheses)) < _APART:
            continue
        apart = _apart(*(one.rates(trial) for one in hypotheses))
        if apart < _APART:
            continue
        if not experiment.changes_setup and _is_held(trial, known):
            held = True
            continue
        worth = min(apart, _ENOUGH) * S_PER_MIN / experiment.costs_s
        if worth > most:
            best, most = experiment, worth
    return best, held


def _apart(*ranges: Sequence[float]) -> float:
    """How far two ranges of rates are from each other, as a logarithm; below 0 where they overlap."""
    first, second = ranges
    if not first or not second or not all(0 < rate < math.inf for rate in (*first, *second)):
        return -math.inf
    return math.log(max(min(first) / max(second), min(second) / max(first)))


def _is_held(trial: Trial, known: Sequence[Trial]) -> bool:
    """Whether runs were made under these conditions, or nearly so: at this queue depth, or on both sides."""
    depths = [point.queue_depth or 1.0 for point in known if _alike(trial, point)]
    depth, near = trial.queue_depth or 1.0, math.exp(trials.SAME_LOAD)
    return any(one <= depth * near for one in depths) and any(one >= depth / near for one in depths)


def _alike(trial: Trial, point: Trial) -> bool:
    """Whether two runs differ in their queue depth at most."""
    if trial.credits is not point.credits or not trial.on_same_path or trial.pauses is not point.pauses:
        return False
    if trial.direct is not point.direct or abs(trial.read_share - point.read_share) > _SAME_SHARE:
        return False
    if (trial.rate_iops is None) is not (point.rate_iops is None):
        return False
    pairs = ((trial.bs_bytes, point.bs_bytes), (trial.numjobs, point.numjobs))
    return all(abs(math.log(mine / its)) < trials.SAME_LOAD for mine, its in pairs)


def _run(
    seen: Observation, was: Trial, experiment: CandidateRun, hypotheses: Sequence[Hypothesis]
) -> NextRun:
    expected = {one.label: one.printed(experiment.trial)[0] for one in hypotheses}
    size = experiment.trial.bs_bytes
    if len(expected) == 1:
        outcome, question = _only(hypotheses[0], experiment.trial), experiment.shows
    else:
        outcome = "; ".join(f"{label.phrase()}: {_rate(iops, size)}" for label, iops in expected.items())
        question = " or ".join(label.phrase() for label in expected)
    return NextRun(
        question=question,
        advice=f"{experiment.action} ({outcome})" if outcome else experiment.action,
        job=job_file(seen, was, experiment),
        kind=experiment.kind.value,
        action=experiment.action,
        expected=expected,
    )


def _only(hypothesis: Hypothesis, trial: Trial) -> str:
    """What a run will show, where that can be said within a factor of two."""
    rates_of_it = hypothesis.rates(trial)
    if not rates_of_it or not 0 < max(rates_of_it) < 2 * min(rates_of_it):
        return ""
    return f"then {_rate(hypothesis.printed(trial)[0], trial.bs_bytes)} are expected"


def _rate(iops: float, bs_bytes: float) -> str:
    """A predicted rate, which is good for three digits at most."""
    if bs_bytes <= _SMALL_BYTES:
        return f"{format_count(_rounded(iops))} IOPS"
    return f"{format_mbps(_rounded(iops * bs_bytes))} MB/s"


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
