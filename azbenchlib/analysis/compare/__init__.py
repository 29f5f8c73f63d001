"""Sides compared with a baseline: worse or better by more than a margin, not worse, or undecided."""

from azbenchlib.analysis.compare.cells import ComparedFigure, Shift
from azbenchlib.analysis.compare.comparison import (
    ComparedPair,
    ComparedSide,
    ComparisonResult,
    compare,
)
from azbenchlib.analysis.compare.terms import CompareTerms

__all__ = [
    "CompareTerms",
    "ComparedFigure",
    "ComparedPair",
    "ComparedSide",
    "ComparisonResult",
    "Shift",
    "compare",
]
