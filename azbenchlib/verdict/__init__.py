"""Which limit binds, and how sure that is.

:func:`judge` takes one run, :func:`judge_flows` several that ran at once, :func:`judge_sweep` several of
one setup at different block sizes and queue depths.
"""

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
