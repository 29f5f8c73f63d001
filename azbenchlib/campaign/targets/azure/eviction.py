"""A spot VM that Azure took back: which steps give the run another one in its place."""

from collections.abc import Sequence

from azbenchlib.campaign.targets.azure.steps import Call, Guard, Measure, Prepare, Release, Rest, Step

# Before each VM that is made in the place of one that was taken back: where room was lacking a moment ago, it
# often is for some minutes. By judgement. After the last one, the run ends, and the same command goes on.
EVICTION_PAUSES_S = (30.0, 300.0, 900.0)
_OF_THE_VM = (["vm", "create"], ["vm", "auto-shutdown"])


def made_at(steps: Sequence[Step], at: int) -> int | None:
    """The place of the step that created the VM which is there before step `at`; None: none is there."""
    for place in range(at - 1, -1, -1):
        verb = _verb(steps[place])
        if verb[:2] == ["vm", "delete"]:
            return None
        if verb[:2] == ["vm", "create"]:
            return place
    return None


def is_spot(step: Step) -> bool:
    """Whether a step creates a VM that Azure may take back."""
    return isinstance(step, Call) and "Spot" in step.argv


def again(steps: Sequence[Step], made: int, at: int) -> list[Step]:
    """What of the steps from the creation of a VM to step `at` has to be done for another VM in its place.

    The data disks are there, with their data, and are attached to no VM. What was rested for the setup that
    is being measured is rested again, for the VM has other credits now.
    """
    setup = next((step.setup.name for step in steps[at:] if isinstance(step, Measure)), "")
    kept: list[Step] = []
    for step in steps[made:at]:
        verb = _verb(step)
        if isinstance(step, Release):
            kept = [one for one in kept if not (isinstance(one, Prepare) and one.disk == step.disk)]
        elif isinstance(step, Measure) and step.setup.name != setup:
            kept = [one for one in kept if not isinstance(one, Rest)]
        elif verb == ["vm", "disk", "detach"]:
            kept = [one for one in kept if _attached(one) != name_of(step)]
        elif isinstance(step, Guard | Prepare | Rest) or verb[:2] in _OF_THE_VM or _attached(step):
            kept.append(step)
    return kept


def _verb(step: Step) -> list[str]:
    return step.argv[:3] if isinstance(step, Call) else []


def name_of(step: Step) -> str:
    """Of the VM or disk that a call is about."""
    return step.argv[step.argv.index("--name") + 1] if isinstance(step, Call) else ""


def _attached(step: Step) -> str:
    """The disk that a step attaches, unless Azure is to refuse it; else empty."""
    is_attach = isinstance(step, Call) and step.refusal is None and _verb(step) == ["vm", "disk", "attach"]
    return name_of(step) if is_attach else ""
