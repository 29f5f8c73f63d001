"""The judgement of one run, or of several flows that ran at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace

from azbenchlib.analysis.flow import Flow, rates
from azbenchlib.analysis.observation import Observation
from azbenchlib.core.findings import Code, Finding, Severity
from azbenchlib.core.units import sum_known
from azbenchlib.model.ceilings import Path
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import BurstKind, Setup
from azbenchlib.verdict.candidates import Level, Stage, routes
from azbenchlib.verdict.checks.limits import base_not_seen, base_not_told, check_flow, doubtful_figures
from azbenchlib.verdict.controls import controls
from azbenchlib.verdict.evidence import stalled
from azbenchlib.verdict.next_run import NextRun, Proposal, propose, show_base, show_disk
from azbenchlib.verdict.open_facts import open_fact
from azbenchlib.verdict.posterior import Posterior, posterior
from azbenchlib.verdict.text import BOUND, PROBABLY, words
from azbenchlib.verdict.two_phases import TwoPhases, two_phases
from azbenchlib.verdict.wording import wording_of

# However sure they are, they do not tell what the disk can do.
UNSETTLED = (
    Label.PAGE_CACHE,
    Label.CACHE_EXHAUSTION,
    Label.ABOVE_DOCUMENTED_LIMIT,
    Label.UNKNOWN,
    Label.HOST_CPU,
)
PASSED = 1.05  # measured ÷ base limit above which the burst limit is the one that counts


@dataclass(frozen=True, kw_only=True)
class LimitRow:
    """One limit on the likeliest path: value in IOPS or bytes per second (of this mix of reads and writes),
    measured ÷ value, the row that it comes from, what it rests on where it is a burst, and as how many an I/O
    of the workload counts: a disk counts a large one as several, the kernel merges and splits them.
    """

    label: Label
    value: float
    utilisation: float
    row: str | None
    as_of: str | None
    burst_kind: BurstKind | None = None
    counted: float = 1.0

    @property
    def on_credits(self) -> bool:
        """Whether it lasts only as long as credits do."""
        return self.burst_kind in (BurstKind.CREDITS, BurstKind.VM_CREDITS)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What binds.

    Attributes
    ----------
    binding : tuple of Label
        The labels at the top; several tie.
    probability : float
        Of all of them.
    runner_up : Label or None
        The likeliest label that is not among them.
    posterior : mapping of Label to float
        The probability of each label, largest first.
    words : str
        The verdict as a sentence.
    iops, bytes_per_s : float or None
        The rates that were judged.
    limits : tuple of LimitRow
        The most used first.
    findings : tuple of Finding
    next_run : NextRun or None
        What to run to settle what is open.
    open_fact : str or None
        What is not stated and would settle it.
    phases : str
        What bound a run that spent credits, and its rates, in turn; empty where it did not.
    why_no_run : str or None
        Why no run is named where something is open, as the end of a sentence.
    likely_setup : str or None
        What documented disk or VM the runs look like, where no setup is stated.
    """

    binding: tuple[Label, ...] = ()
    probability: float = 0.0
    runner_up: Label | None = None
    posterior: Mapping[Label, float] = field(default_factory=dict)
    words: str
    iops: float | None = None
    bytes_per_s: float | None = None
    limits: tuple[LimitRow, ...] = ()
    findings: tuple[Finding, ...] = ()
    next_run: NextRun | None = None
    open_fact: str | None = None
    phases: str = ""
    why_no_run: str | None = None
    likely_setup: str | None = None

    @property
    def tie(self) -> bool:
        """Whether several limits bind at once."""
        return len(self.binding) > 1

    @property
    def at_limit(self) -> bool:
        """Whether a documented limit stands at the first place."""
        return bool(self.binding) and self.binding[0].is_limit

    @property
    def probably_at_limit(self) -> bool:
        """Whether it does so with a probability that is worth an answer."""
        return self.at_limit and self.probability >= PROBABLY

    @property
    def peak_use(self) -> float:
        """The largest use of a limit; 0 where none is documented."""
        return max((row.utilisation for row in self.limits), default=0.0)

    @property
    def doubts(self) -> list[Finding]:
        """What judging found doubtful and bears on this verdict."""
        speaking = {
            Code.BASE_NOT_SEEN: any(label.burst for label in self.binding),
            Code.NO_DOCUMENTED_LIMIT: Label.UNKNOWN in self.binding,
            Code.SEVERAL_LEVELS: not self.phases,
            Code.AZURE_MONITOR: True,
        }
        return [
            finding
            for finding in self.findings
            if speaking.get(finding.code, finding.severity != Severity.INFO)
        ]

    @property
    def load(self) -> float:
        """The largest use of a limit that still holds; 0 where none is documented."""
        bursts = {row.label.base for row in self.limits if row.label.burst}
        held = [row.utilisation for row in self.limits if row.label.burst or row.label not in bursts]
        return max(held, default=0.0)


@dataclass(frozen=True, kw_only=True)
class FlowVerdict(Verdict):
    """What binds one flow, and the likeliest path of its I/O."""

    ddir: str
    path: Path


@dataclass(frozen=True, kw_only=True)
class Judgement(Verdict):
    """What binds a run. Of several flows, the most loaded one that more load would not make faster speaks for
    all; rates are summed.
    """

    flows: tuple[FlowVerdict, ...] = ()
    points: tuple[Judgement, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, flows: Sequence[FlowVerdict]) -> Judgement:
        """The judgement of a run with these flows."""
        top = max(flows, key=lambda flow: (flow.binding[:1] != (Label.WORKLOAD_DEMAND,), flow.load))
        shared = {part.name: getattr(top, part.name) for part in fields(Verdict)}
        shared["findings"] = tuple(dict.fromkeys(finding for flow in flows for finding in flow.findings))
        shared["iops"] = sum_known([flow.iops for flow in flows])
        shared["bytes_per_s"] = sum_known([flow.bytes_per_s for flow in flows])
        return cls(**shared, flows=tuple(flows))

    @classmethod
    def undecided(cls, findings: Sequence[Finding], binding: tuple[Label, ...] = ()) -> Judgement:
        """No verdict, for the reasons that the findings give."""
        sentence = f"No verdict: {findings[0].message}"
        return cls(binding=binding, words=sentence, findings=tuple(findings))


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
    other_runs: Sequence[Observation] = (),
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
    other_runs : sequence of Observation, optional
        What else was run on the setup: none of it is proposed again.

    Returns
    -------
    Judgement
    """
    flow = Flow(observation=observation, volumes=volumes, cache_hit=cache_hit, credits=credits_there)
    return judge_flows([flow], setup, rows=rows, other_rows=other_rows, other_runs=other_runs)


def judge_flows(
    flows: Sequence[Flow],
    setup: Setup,
    *,
    rows: Rows | None = None,
    other_rows: OtherRows | None = None,
    other_runs: Sequence[Observation] = (),
) -> Judgement:
    """Say what binds each of several flows that ran at once, and the most loaded of them."""
    judged = [
        _judge(
            flow,
            [other for other in flows if other is not flow],
            setup,
            rows or {},
            other_rows or {},
            other_runs,
        )
        for flow in flows
    ]
    return Judgement.of(judged)


def _judge(
    flow: Flow,
    beside: Sequence[Flow],
    setup: Setup,
    rows: Rows,
    other_rows: OtherRows,
    other_runs: Sequence[Observation],
) -> FlowVerdict:
    settled = flow.settled
    found = routes(setup, settled, beside)
    believed = _with_stalls(flow, posterior(settled, found))
    lasted = flow.observation.credit_time_s
    got = rates(flow.observation)
    findings = check_flow(flow, found)
    findings += controls(believed.route, lasted, other_rows)
    findings += doubtful_figures(believed.route, believed.named, rows)
    stage = base_not_seen(flow, believed.route, believed.top)
    possible = believed.routes.get(stage.burst.label, ()) if stage and stage.burst else ()
    findings += [base_not_told(flow, stage, possible)] if stage else []
    phases = two_phases(flow, believed.route, believed.top)
    unseen = (
        stage.lasts_s / flow.observation.credits_cut
        if stage and stage.burst and stage.burst.label in believed.top
        else None
    )
    proposed = _next(settled, believed, unseen, other_runs)
    fact = open_fact(flow, setup, believed) if believed.sure < BOUND else None
    advice = proposed.run.advice if proposed.run else None if fact else proposed.why_not
    wording = wording_of(flow, believed, phases)
    sentence = words(believed.top, believed.sure, believed.runner_up, advice, fact, wording)
    return FlowVerdict(
        ddir=flow.ddir,
        path=believed.route.path,
        binding=believed.top,
        probability=believed.sure,
        runner_up=believed.runner_up,
        posterior=believed.probability,
        words=sentence,
        iops=got.iops,
        bytes_per_s=got.bytes_per_s,
        limits=tuple(_limit_rows(believed, phases, lasted, rows, setup.as_of)),
        findings=tuple(findings),
        next_run=proposed.run,
        phases=wording.phases,
        why_no_run=proposed.why_not,
        open_fact=fact,
    )


def _next(flow: Flow, believed: Posterior, unseen_s: float | None, others: Sequence[Observation]) -> Proposal:
    """What to run next: to settle what is open, or to see what a run that is sure could not show."""
    if believed.sure >= BOUND and believed.top[0] is Label.PAGE_CACHE:
        return show_disk(flow, believed)
    if believed.sure < BOUND or believed.top[0] in UNSETTLED:
        return propose(flow, believed, others)
    return Proposal() if unseen_s is None else show_base(flow, believed, unseen_s)


def _with_stalls(flow: Flow, believed: Posterior) -> Posterior:
    """A cache that stalls the run explains it whatever the mean rate is."""
    if not stalled(flow.observation) or Label.CACHE_EXHAUSTION not in believed.probability:
        return believed
    stall = Label.CACHE_EXHAUSTION
    shares: Mapping[Label, float] = {label: 0.03 * part for label, part in believed.probability.items()}
    rest = {label: share for label, share in shares.items() if label != stall}
    return replace(believed, probability={stall: 1 - sum(rest.values())} | rest, top=(stall,))


def _limit_rows(
    believed: Posterior, phases: TwoPhases | None, runtime_s: float | None, rows: Rows, as_of: str | None
) -> list[LimitRow]:
    """The limits of the likeliest path, the most used first, and those of other paths that are named.

    A base that bursts were above is left out, unless the sentence names it.
    """
    named = believed.named
    levels = [
        (stage, level)
        for stage in believed.route.stages
        for level in _shown(stage, runtime_s, {*named, *_labels_of(phases)})
    ]
    there = {level.label for _, level in levels}
    levels += [
        (stage, level)
        for label in named
        if label not in there
        for route in believed.routes.get(label, ())[:1]
        for stage in route.stages
        for level in stage.levels()
        if level.label == label
    ]
    found = [
        LimitRow(
            label=level.label,
            value=level.value,
            utilisation=phases.use_of(stage, level) if phases else level.use,
            row=rows.get(level.label),
            as_of=as_of,
            burst_kind=stage.burst_kind if level.label.burst else None,
            counted=stage.counted,
        )
        for stage, level in levels
        if level.use > 0
    ]
    return sorted(found, key=lambda row: (-row.utilisation, row.label))


def _labels_of(phases: TwoPhases | None) -> tuple[Label, ...]:
    """The limits of both phases."""
    return tuple(level.label for level in phases.stage.levels()) if phases else ()


def _shown(stage: Stage, runtime_s: float | None, named: Set[Label]) -> tuple[Level, ...]:
    highest = stage.highest(runtime_s)
    passed = highest is stage.burst and stage.base.use > PASSED and stage.base.label not in named
    return (highest,) if passed else stage.levels()
