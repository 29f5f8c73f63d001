"""On which terms sides are compared."""

from __future__ import annotations

from dataclasses import dataclass

from azbenchlib.analysis.compare.metrics import Metric
from azbenchlib.analysis.compare.rules import FailRule
from azbenchlib.core.errors import InputError

DEFAULT_MARGIN, DEFAULT_CONFIDENCE = 0.05, 0.99


@dataclass(frozen=True, kw_only=True)
class CompareTerms:
    """How sides are compared.

    Attributes
    ----------
    margin : float
        Relative change that does not count; 0 to below 1.
    confidence : float
        Of all answers "worse" and "better" together; above 0.5, below 1. Intervals have 95 %.
    metrics : tuple of Metric
        Empty: those of :data:`DEFAULT_METRICS` that there are.
    rules : tuple of FailRule
        Conditions of the user's own.
    judges_margin : bool
        Whether the answers about the margin count in the result, beside the conditions.
    within_run : bool
        Whether a single run a side may be judged, by what it tells of itself.

    Raises
    ------
    InputError
        For a number outside its range.
    """

    margin: float = DEFAULT_MARGIN
    confidence: float = DEFAULT_CONFIDENCE
    metrics: tuple[Metric, ...] = ()
    rules: tuple[FailRule, ...] = ()
    judges_margin: bool = True
    within_run: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.margin < 1:
            raise InputError(f"margin {self.margin:g} is not from 0 to below 1 (100 %)")
        if not 0.5 < self.confidence < 1:
            raise InputError(f"confidence {self.confidence:g} is not above 0.5 (50 %) and below 1 (100 %)")

    @property
    def alpha(self) -> float:
        """Error of "worse" and "better" together, over all figures; half of it of each."""
        return 1 - self.confidence
