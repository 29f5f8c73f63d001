"""Tidy tables to tidy tables: pure functions, no files, no figures."""

from azbenchlib.analyse.checks import check
from azbenchlib.analyse.merge import Merged, merge
from azbenchlib.analyse.percentiles import merged, min_samples, wide
from azbenchlib.analyse.summary import overview

__all__ = ["Merged", "check", "merge", "merged", "min_samples", "overview", "wide"]
