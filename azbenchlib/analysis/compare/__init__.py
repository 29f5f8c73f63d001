"""Sides compared with a baseline: worse by more than a margin, not worse, or undecided. Pure functions."""

from azbenchlib.analysis.compare.cells import Answer, ComparedFigure
from azbenchlib.analysis.compare.comparison import (
    ComparedPair,
    ComparedSide,
    CompareTerms,
    ComparisonResult,
    compare,
)

__all__ = [
    "Answer",
    "CompareTerms",
    "ComparedFigure",
    "ComparedPair",
    "ComparedSide",
    "ComparisonResult",
    "compare",
]
