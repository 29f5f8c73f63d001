"""The run that would settle an uncertain verdict: the likeliest causes predict another rate for it."""

from azbenchlib.verdict.next_run.choice import NextRun, Proposal, propose, show_base, show_disk

__all__ = ["NextRun", "Proposal", "propose", "show_base", "show_disk"]
