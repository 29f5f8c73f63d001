"""Measure: which workloads, on which target, safely, one after the other, kept as a dataset folder."""

from azbenchlib.campaign.detect.detect import describe
from azbenchlib.campaign.device_guard import check_target
from azbenchlib.campaign.experiment import TARGETS, load, run, todo
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.progress import show_progress
from azbenchlib.campaign.run_loop import measure
from azbenchlib.campaign.targets.azure.target import AzureTarget
from azbenchlib.campaign.targets.lab.target import LabTarget
from azbenchlib.campaign.targets.local.target import LocalTarget
from azbenchlib.campaign.workloads.grid import PATTERNS, Workload, fio_arguments, matrix, table
from azbenchlib.campaign.workloads.iozone import Iozone
from azbenchlib.campaign.workloads.jobfile import JobFile

__all__ = [
    "PATTERNS",
    "TARGETS",
    "AzureTarget",
    "Experiment",
    "Iozone",
    "JobFile",
    "LabTarget",
    "LocalTarget",
    "Workload",
    "check_target",
    "describe",
    "fio_arguments",
    "load",
    "matrix",
    "measure",
    "run",
    "show_progress",
    "table",
    "todo",
]
