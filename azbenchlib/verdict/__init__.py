"""Which limit binds, and how sure that is.

:func:`judge` takes one run, :func:`judge_flows` several that ran at once, :func:`judge_sweep` several of
one setup at different block sizes and queue depths.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from azbenchlib.analysis.flow import Flow
    from azbenchlib.core.findings import Finding
    from azbenchlib.verdict.judgement import FlowVerdict, Judgement, LimitRow, judge, judge_flows
    from azbenchlib.verdict.next_run import NextRun
    from azbenchlib.verdict.sweep import judge_sweep

__all__ = [
    "Finding",
    "Flow",
    "FlowVerdict",
    "Judgement",
    "LimitRow",
    "NextRun",
    "judge",
    "judge_flows",
    "judge_sweep",
]

_HOMES = {
    "Finding": "azbenchlib.core.findings",
    "Flow": "azbenchlib.analysis.flow",
    "NextRun": "azbenchlib.verdict.next_run",
    "judge_sweep": "azbenchlib.verdict.sweep",
}


def __getattr__(name: str) -> Any:
    """What is named above, from its module, which is loaded when it is first asked for: one part of the
    package, such as its labels, needs none of the others.
    """
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(_HOMES.get(name, "azbenchlib.verdict.judgement")), name)
