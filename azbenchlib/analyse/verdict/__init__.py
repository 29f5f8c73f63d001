"""Which limit binds, and how sure that is.

:func:`judge` takes one run, :func:`judge_flows` several that ran at once, :func:`judge_sweep` several of
one setup at different block sizes and queue depths.
"""

from azbenchlib.analyse.verdict.flow import Flow
from azbenchlib.analyse.verdict.gates import Finding
from azbenchlib.analyse.verdict.judgement import FlowVerdict, Judgement, LimitRow, judge, judge_flows
from azbenchlib.analyse.verdict.next_run import NextRun
from azbenchlib.analyse.verdict.sweep import judge_sweep

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
