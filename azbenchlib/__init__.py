"""azbench: measure Azure disks, read benchmark outputs exactly, hand over a report."""

import os

# That of typing, which would be imported before the command line begins; no module but os may be.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from azbenchlib.api.designs import advise, limits, price, size
    from azbenchlib.api.machines import emulate, probe
    from azbenchlib.api.measured import compare, judge, read, write_report
    from azbenchlib.core.errors import AzbenchError, InputError
    from azbenchlib.dataset.dataset import Dataset
    from azbenchlib.lab.lab import Lab
    from azbenchlib.lake.lake import Lake
    from azbenchlib.views.report import Report

    __version__: str

__all__ = [
    "AzbenchError",
    "Dataset",
    "InputError",
    "Lab",
    "Lake",
    "Report",
    "__version__",
    "advise",
    "compare",
    "emulate",
    "judge",
    "limits",
    "price",
    "probe",
    "read",
    "size",
    "write_report",
]

# The threads of numpy's library for large matrices would wait busily for work that azbench never has, and
# disturb what is measured meanwhile. So they sleep at once; they still work where they are called.
# Source: OpenBLAS 0.3.31, driver/others/blas_server.c: a thread spins 2**n times, and n is 4 at least.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

_HOMES = {
    **dict.fromkeys(("AzbenchError", "InputError"), "azbenchlib.core.errors"),
    "Dataset": "azbenchlib.dataset.dataset",
    "Lab": "azbenchlib.lab.lab",
    "Lake": "azbenchlib.lake.lake",
    "Report": "azbenchlib.views.report",
    **dict.fromkeys(("advise", "limits", "price", "size"), "azbenchlib.api.designs"),
    **dict.fromkeys(("emulate", "probe"), "azbenchlib.api.machines"),
    **dict.fromkeys(("compare", "judge", "read", "write_report"), "azbenchlib.api.measured"),
}


def __getattr__(name: str) -> "Any":
    """Import a public name when it is first used, so that the command line starts quickly."""
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version  # takes a fifth of the time of the command line's start

        return version("azbench")
    if name not in _HOMES:
        raise AttributeError(f"azbenchlib has no {name}; public names: {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names, which Tab shows before they are imported."""
    return sorted(__all__)
