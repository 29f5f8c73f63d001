"""Sides compared with a baseline: worse by more than a margin, not worse, or undecided. Pure functions."""

from azbenchlib.analysis.compare.cells import ComparedFigure, Shift
from azbenchlib.analysis.compare.comparison import (
    ComparedPair,
    ComparedSide,
    CompareTerms,
    ComparisonResult,
    compare,
)

__all__ = [
    "CompareTerms",
    "ComparedFigure",
    "ComparedPair",
    "ComparedSide",
    "ComparisonResult",
    "Shift",
    "compare",
]
