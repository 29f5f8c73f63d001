"""The judgement of one run, or of several flows that ran at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from azbenchlib.analyse.observation import Observation
from azbenchlib.analyse.verdict.candidates import Level, Route, Stage, routes
from azbenchlib.analyse.verdict.controls import controls
from azbenchlib.analyse.verdict.flow import Flow, rates
from azbenchlib.analyse.verdict.gates import Finding, gates, stalled
from azbenchlib.analyse.verdict.likelihoods import HARD
from azbenchlib.analyse.verdict.next_run import NextRun, next_run
from azbenchlib.analyse.verdict.posterior import Posterior, posterior
from azbenchlib.analyse.verdict.words import BOUND, words
from azbenchlib.model.setup import Setup

# However sure they are, they do not tell what the disk can do.
UNSETTLED = ("page_cache", "cache_exhaustion", "above_documented_limit", "unknown", "host_cpu")
PASSED = 1.05  # measured ÷ base limit above which the burst limit is the one that counts


@dataclass(frozen=True)
class LimitRow:
    """One limit on the likeliest path: value in IOPS or bytes per second (of this mix of reads and writes),
    measured ÷ value, and the row that it comes from.
    """

    label: str
    value: float
    utilisation: float
    row: str | None
    as_of: str | None


@dataclass(frozen=True)
class FlowVerdict:
    """What binds one flow. `posterior` is the probability of each label, largest first."""

    ddir: str
    path: str
    binding: tuple[str, ...]
    probability: float
    runner_up: str | None
    posterior: Mapping[str, float]
    iops: float | None
    bytes_per_s: float | None
    limits: tuple[LimitRow, ...]
    findings: tuple[Finding, ...]
    next_run: NextRun | None
    words: str

    @property
    def tie(self) -> bool:
        """Whether several limits bind at once."""
        return len(self.binding) > 1

    @property
    def load(self) -> float:
        """The largest use of a limit that still holds; 0 where none is documented."""
        return max((row.utilisation for row in self.limits), default=0.0)


@dataclass(frozen=True)
class Judgement:
    """What binds a run. Of several flows, the most loaded one speaks for all; rates are summed."""

    binding: tuple[str, ...]
    probability: float
    tie: bool
    runner_up: str | None
    posterior: Mapping[str, float]
    words: str
    flows: tuple[FlowVerdict, ...]
    limits: tuple[LimitRow, ...]
    findings: tuple[Finding, ...]
    next_run: NextRun | None
    iops: float | None
    bytes_per_s: float | None
    points: tuple[Judgement, ...] = field(default=(), repr=False)


Rows = Mapping[str, str]
OtherRows = Mapping[str, Sequence[tuple[float, str]]]


def judge(
    observation: Observation,
    setup: Setup,
    *,
    volumes: tuple[str, ...] = (),
    cache_hit: float | None = None,
    credits_there: bool | None = None,
    rows: Rows | None = None,
    other_rows: OtherRows | None = None,
) -> Judgement:
    """Say what binds one run.

    Parameters
    ----------
    observation : Observation
    setup : Setup
        With its limits filled in.
    volumes : tuple of str
        Which it drove. Empty: the data disks.
    cache_hit : float, optional
        Share of reads that the host cache served.
    credits_there : bool, optional
        Whether there were burst credits. None: judged by the length of the run.
    rows : mapping of str to str, optional
        Where each limit is documented, by label.
    other_rows : mapping, optional
        Other figures in print of the same limits, by base label.

    Returns
    -------
    Judgement
    """
    flow = Flow(observation, volumes, cache_hit=cache_hit, credits=credits_there)
    return judge_flows([flow], setup, rows=rows, other_rows=other_rows)


def judge_flows(
    flows: Sequence[Flow], setup: Setup, *, rows: Rows | None = None, other_rows: OtherRows | None = None
) -> Judgement:
    """Say what binds each of several flows that ran at once, and the most loaded of them."""
    judged = [
        _judge(flow, [other for other in flows if other is not flow], setup, rows or {}, other_rows or {})
        for flow in flows
    ]
    top = max(judged, key=lambda flow: flow.load)
    findings = tuple(dict.fromkeys(finding for flow in judged for finding in flow.findings))
    return Judgement(
        top.binding,
        top.probability,
        top.tie,
        top.runner_up,
        top.posterior,
        top.words,
        tuple(judged),
        top.limits,
        findings,
        top.next_run,
        _sum([flow.iops for flow in judged]),
        _sum([flow.bytes_per_s for flow in judged]),
    )


def _judge(
    flow: Flow, beside: Sequence[Flow], setup: Setup, rows: Rows, other_rows: OtherRows
) -> FlowVerdict:
    settled = flow.settled
    found = routes(setup, settled, beside)
    believed = _with_stalls(flow, posterior(setup, settled, found))
    runtime = flow.observation.runtime_s
    got = rates(flow.observation)
    findings = gates(flow, found)
    findings += controls(believed.route, runtime, other_rows)
    unseen = _base_not_seen(flow, believed)
    doubtful = believed.sure < BOUND or unseen is not None or believed.top[0] in UNSETTLED
    proposed = next_run(flow, believed.route, believed.top, believed.runner_up, unseen) if doubtful else None
    sentence = words(believed.top, believed.sure, believed.runner_up, proposed.advice if proposed else None)
    return FlowVerdict(
        flow.ddir,
        believed.route.path.name,
        believed.top,
        believed.sure,
        believed.runner_up,
        believed.probability,
        got.iops,
        got.bytes_per_s,
        tuple(_limit_rows(believed.route, runtime, rows, setup.as_of)),
        tuple(findings),
        proposed,
        sentence,
    )


def _with_stalls(flow: Flow, believed: Posterior) -> Posterior:
    """A cache that stalls the run explains it whatever the mean rate is."""
    if not stalled(flow.observation) or "cache_exhaustion" not in believed.probability:
        return believed
    rest = {label: part * 0.03 for label, part in believed.probability.items() if label != "cache_exhaustion"}
    scale = sum(rest.values())
    return replace(believed, probability={"cache_exhaustion": 1 - scale, **rest}, top=("cache_exhaustion",))


def _base_not_seen(flow: Flow, believed: Posterior) -> float | None:
    """Seconds that full credits last, where the run bursts and ended before."""
    runtime = flow.observation.runtime_s
    for stage in believed.route.stages:
        lasts = stage.burst is not None and stage.base.use > HARD and math.isfinite(stage.lasts_s)
        if lasts and stage.burst and stage.burst.label in believed.top:
            return stage.lasts_s if runtime is None or runtime < stage.lasts_s else None
    return None


def _limit_rows(route: Route, runtime_s: float | None, rows: Rows, as_of: str | None) -> list[LimitRow]:
    """The limits of a path, the most used first; a base that bursts were above is left out."""
    found = [
        LimitRow(level.label, level.value, level.use, rows.get(stage.base.label), as_of)
        for stage in route.stages
        for level in _shown(stage, runtime_s)
        if level.use > 0
    ]
    return sorted(found, key=lambda row: (-row.utilisation, row.label))


def _shown(stage: Stage, runtime_s: float | None) -> tuple[Level, ...]:
    highest = stage.highest(runtime_s)
    return (highest,) if highest is stage.burst and stage.base.use > PASSED else stage.levels()


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None
