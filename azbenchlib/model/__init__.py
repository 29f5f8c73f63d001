"""Pure physics of Azure disks: what a setup can deliver, and why no more.

No files, no clock, no network; catalogue rows come in as arguments.
"""

from azbenchlib.model.ceilings import Ceiling, ceilings
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import Delivered, deliver
from azbenchlib.model.setup import VM, Cap, Disk, Setup, Volume

__all__ = [
    "VM",
    "Cap",
    "Ceiling",
    "Delivered",
    "Disk",
    "Load",
    "Setup",
    "Volume",
    "ceilings",
    "deliver",
]
