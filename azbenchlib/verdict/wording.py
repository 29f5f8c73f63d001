"""How the sentence of a verdict calls its limits, and what it takes for granted."""

from __future__ import annotations

from azbenchlib.analysis.flow import Flow
from azbenchlib.azure import disk_kinds
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import BurstKind
from azbenchlib.verdict.posterior import Posterior
from azbenchlib.verdict.readings import TIER_FACT
from azbenchlib.verdict.text import Wording, either
from azbenchlib.verdict.two_phases import TwoPhases

_SOME = (0.05, 0.95)  # shares of hits that are neither none nor all


def wording_of(flow: Flow, believed: Posterior, phases: TwoPhases | None) -> Wording:
    """The wording of what binds a flow.

    Parameters
    ----------
    flow : Flow
    believed : Posterior
    phases : TwoPhases, optional
        Of the limit that binds.
    """
    return Wording(names=_names(believed), phases=_phases(phases), given=_given(flow, believed))


def _names(believed: Posterior) -> dict[Label, str]:
    """Limits on demand are called so, and it is said of a limit that its figure is not known."""
    found = {}
    for stage in believed.route.stages:
        if stage.open_burst:
            found[stage.open_burst] = f"{stage.open_burst.phrase()}, whose figure is not documented,"
        if stage.burst_kind == BurstKind.ON_DEMAND and stage.base.label.burst:
            found[stage.base.label] = stage.base.label.phrase(on_demand=True)
    last = believed.named[-1]
    return {label: said.rstrip(",") if label == last else said for label, said in found.items()}


def _phases(phases: TwoPhases | None) -> str:
    if phases is None or phases.stage.burst is None:
        return ""
    spent = f"{phases.stage.burst.label.phrase()} until its credits are spent, then by its base"
    return f"{spent}: {'' if phases.sampled else 'they give '}{phases.in_words()}"


def _given(flow: Flow, believed: Posterior) -> str:
    """What is taken of the disk's tier and of the host cache, where nothing states it."""
    return _tier(believed) + _hits(flow, believed)


def _tier(believed: Posterior) -> str:
    """The tiers of a disk that have the limit which binds."""
    label = believed.top[0]
    taken = [dict(route.facts).get(TIER_FACT, "") for route in believed.routes.get(label, ())]
    tiers = sorted({tier for tier in taken if tier[:1].isupper()}, key=disk_kinds.tier_number)
    return f", if its tier is {either(tiers)}" if label.scope == "disk" and tiers else ""


def _hits(flow: Flow, believed: Posterior) -> str:
    hit = believed.route.path.cache_hit
    limit = believed.top[0].is_limit and flow.cache_hit is None
    if not limit or hit is None or not _SOME[0] < hit < _SOME[1]:
        return ""
    return f", if the host cache serves {hit:.0%} of the reads"
