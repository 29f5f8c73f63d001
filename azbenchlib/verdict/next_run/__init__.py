"""The run that would settle an uncertain verdict: the one whose rate the two likeliest causes predict apart."""

from azbenchlib.verdict.next_run.choice import NextRun, Proposal, propose, show_base

__all__ = ["NextRun", "Proposal", "propose", "show_base"]
