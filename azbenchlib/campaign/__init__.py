"""Measure: which workloads, on which target, safely, one after the other, kept as a dataset folder."""

from azbenchlib.campaign.machine import describe
from azbenchlib.campaign.progress import show_progress
from azbenchlib.campaign.runner import run_local
from azbenchlib.campaign.safety import check_target
from azbenchlib.campaign.workloads import PATTERNS, Workload, fio_arguments, matrix, table

__all__ = [
    "PATTERNS",
    "Workload",
    "check_target",
    "describe",
    "fio_arguments",
    "matrix",
    "run_local",
    "show_progress",
    "table",
]
