"""How something is measured and read, as options: one type and one help a name, whichever verb has it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer

Value = TypeVar("Value")  # None too where a verb has no default that it shows

QuickOption = Annotated[
    bool,
    typer.Option(
        help="A rehearsal that measures for a few seconds; of a measurement file at most 3 s and 256 MiB a "
        "workload, no rests."
    ),
]
RepeatsOption = Annotated[
    int,
    typer.Option(min=0, max=100, help="How often each workload of the file is measured; 0: as it says."),
]
AtOnceOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="In Azure: how many VMs of the file at a time, each in a group of its own with its own disks; "
        "0: as the file says.",
    ),
]
TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust-job-files",
        help="The job files are your own: they may use every option of fio, also those that start programs "
        "and open other files.",
    ),
]
CreditSecondsOption = Annotated[
    Value,
    typer.Option(min=0, help="Seconds that full credits last at the largest burst; in Azure, 1,800."),
]
TimeScaleOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Dilation factor: 1, 2, 4 … times slower; default: what this machine keeps up with."
    ),
]
LogUnitOption = Annotated[
    str | None, typer.Option(help="Unit of latencies in fio logs without an output beside them: us or ns.")
]
PercentilesOption = Annotated[
    Value,
    typer.Option(
        help="Percentiles, such as 50,99,99.9: of `azbench read` those of each --window; of `azbench query`, "
        "instead of a SELECT, those of the merged histograms."
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Let the workers of this Dask scheduler do it, such as tcp://host:8786.",
    ),
]
JobOption = Annotated[
    Path | None,
    typer.Option(
        help="Write the fio job that would confirm the answer, of which there is one, to this file."
    ),
]
RequireOption = Annotated[
    list[str] | None,
    typer.Option(
        help="What is required of each workload, such as 'p99<2ms', 'iops>5000', 'bw>=200MB/s' or "
        "'lat_mean<1ms for 4k randread'; repeatable. Of repeats the worst run counts. Exit code: 1 "
        "where one is not met, 3 where one was not measured.",
        show_default=False,
    ),
]
TitleOption = Annotated[
    str, typer.Option(help="Title; default: the dataset's, or what was measured, and where.")
]


def check_requirements(require: list[str] | None) -> None:
    """Refuse a wrong requirement before anything is read."""
    if require:
        from azbenchlib.answers.requirements import parsed

        parsed(require)
