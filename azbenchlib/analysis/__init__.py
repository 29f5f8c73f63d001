"""Tidy tables to tidy tables: pure functions, no files, no figures."""

from azbenchlib.analysis.merge import Merged, merge
from azbenchlib.analysis.percentiles import merged, min_samples, wide
from azbenchlib.analysis.summary import overview

__all__ = ["Merged", "merge", "merged", "min_samples", "overview", "wide"]
