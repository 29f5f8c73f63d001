"""Measure: which workloads, on which target, safely, one after the other, kept as a dataset folder."""

from azbenchlib.campaign.arguments import fio_arguments
from azbenchlib.campaign.cloud import run_azure
from azbenchlib.campaign.detect import describe
from azbenchlib.campaign.experiment import TARGETS, load, run, todo
from azbenchlib.campaign.iozone import Iozone
from azbenchlib.campaign.jobfile import JobFile
from azbenchlib.campaign.progress import show_progress
from azbenchlib.campaign.runner import run_local
from azbenchlib.campaign.safety import check_target
from azbenchlib.campaign.spec import Experiment
from azbenchlib.campaign.workloads import PATTERNS, Workload, matrix, table

__all__ = [
    "PATTERNS",
    "TARGETS",
    "Experiment",
    "Iozone",
    "JobFile",
    "Workload",
    "check_target",
    "describe",
    "fio_arguments",
    "load",
    "matrix",
    "run",
    "run_azure",
    "run_local",
    "show_progress",
    "table",
    "todo",
]
