"""Conditions of a user's own, such as ``p99 > +10%``: a ratio that is not to be exceeded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import log1p

from azbenchlib.analysis.compare.metrics import CHOICES, Metric, parse_metric
from azbenchlib.core.errors import InputError

_RULE = re.compile(r"^\s*(\S{1,20})\s*([<>])\s*([+-])\s*(\d{1,6}(?:\.\d{1,6})?)\s*%\s*$", re.ASCII)
_LONGEST = 60  # characters of a text that a sentence repeats
FORM = 'METRIC > +N% or METRIC < -N%, such as "p99 > +10%" or "iops < -5%"'


@dataclass(frozen=True)
class FailRule:
    """A condition on the change of a metric.

    Attributes
    ----------
    metric : Metric
    sign : {1, -1}
        1: the change is above the bound; -1: below.
    bound : float
        Relative change: 0.1 for +10 %.
    """

    metric: Metric
    sign: int
    bound: float

    @property
    def text(self) -> str:
        """As a user writes it."""
        return f"{self.metric.name} {'>' if self.sign > 0 else '<'} {100 * self.bound:+.10g}%"

    @property
    def log_bound(self) -> float:
        """Of the ratio."""
        return log1p(self.bound)


def parse_rule(text: str) -> FailRule:
    """A condition from its text.

    Raises
    ------
    InputError
        When it does not have the form, or names no metric.
    """
    found = _RULE.match(text)
    if not found:
        raise InputError(
            f"condition '{text[:_LONGEST]}' does not have the form {FORM}; metrics are {CHOICES}"
        )
    bound = float(found[3] + found[4]) / 100
    if bound <= -1:
        raise InputError(
            f"condition '{text[:_LONGEST]}': no figure falls by 100 % or more; take less than 100"
        )
    return FailRule(parse_metric(found[1]), 1 if found[2] == ">" else -1, bound + 0.0)


def parse_share(text: str, what: str) -> float:
    """A share from a percentage: ``5%`` and ``5`` are 0.05.

    Raises
    ------
    InputError
        When it is none, or not between 0 and 100.
    """
    found = re.fullmatch(r"\s*+(\d{1,3}(?:\.\d{1,6})?)\s*+%?\s*+", text, re.ASCII)
    if not found or not float(found[1]) < 100:
        raise InputError(f"{what} '{text[:_LONGEST]}' is not a percentage from 0 to below 100, such as 5%")
    return float(found[1]) / 100
