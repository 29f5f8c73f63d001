"""What would deliver for less what was measured, in words."""

from __future__ import annotations

from azbenchlib.advisor.reasons.cheaper import Cheaper
from azbenchlib.answers.next_step import disk_words, vm_words
from azbenchlib.core.units import NBSP, format_money


def design_words(one: Cheaper) -> str:
    """VM, disks, price and what is saved."""
    setup = one.candidate.setup
    return (
        f"{vm_words(setup)} with {disk_words(setup.disks[0])}: {one.currency}{NBSP}"
        f"{format_money(float(one.candidate.price))} a month, {100 * one.saved:.0f}{NBSP}% less"
    )
