"""The fact that is not stated and would settle an uncertain verdict, in a sentence."""

from __future__ import annotations

from azbenchlib.analysis.flow import Flow
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import Setup
from azbenchlib.verdict.posterior import OpenFact, Posterior
from azbenchlib.verdict.text import either


def open_fact(flow: Flow, setup: Setup, believed: Posterior) -> str | None:
    """What to state, and what its values mean; None where nothing that is left out would tell more.

    Parameters
    ----------
    flow : Flow
    setup : Setup
        As it is described.
    believed : Posterior
    """
    if believed.open_fact is not None:
        return _with_values(believed.open_fact)
    seen, doubtful = flow.observation, {*believed.top, believed.runner_up}
    local = any(volume.disk.local for volume in flow.driven(setup))
    missing = {
        "whether the I/O was direct is not stated": seen.direct is None and Label.PAGE_CACHE in doubtful,
        "the limits of the VM are not known, and one of them may bind": not setup.vm.stated
        and not (local and believed.route.stages),
        "the disks are not stated, and a limit of theirs may bind": not setup.disks,
        "the queue depth is not stated, which tells latency from a limit": (
            seen.queue_depth is None and Label.LATENCY_QD in doubtful
        ),
    }
    documented = {
        stage.base.label for routes in believed.routes.values() for route in routes for stage in route.stages
    }
    for label in believed.named:
        if label.is_limit and label.base not in documented:
            missing[f"no figure of {label.phrase()} is documented, and it may bind"] = True
    return next((sentence for sentence, is_so in missing.items() if is_so), None)


def _with_values(fact: OpenFact) -> str:
    """Such as: the host caching is not stated (None means …; ReadOnly means …)."""
    by_label: dict[Label, list[str]] = {}
    for value, label in fact.means.items():
        by_label.setdefault(label, []).append(value)
    parts = [f"{either(values)} means {label.phrase()}" for label, values in by_label.items()]
    return f"{fact.name} is not stated ({'; '.join(parts)})"
