"""The verbs of the lab that measure: `azbench lab run` and `azbench lab mount`."""

from __future__ import annotations

import shlex
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from azbenchlib.cli.options.measuring_options import CreditSecondsOption, TimeScaleOption, TrustOption
from azbenchlib.cli.options.setup_options import (
    DayOption,
    DiskOption,
    PrintFormat,
    PrintOption,
    VmOption,
    described_setup,
)
from azbenchlib.cli.printing.answer_output import OutputFormat, show_rows
from azbenchlib.cli.printing.console import notes, print_json
from azbenchlib.core.errors import InputError

_POLL_S = 0.25


def run(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="[SETUP] JOBFILE",
            help="A fio job file; before it a dataset or measurement file, /SETUP behind it, unless --vm and "
            "--disk say what is emulated.",
        ),
    ],
    vm: VmOption = None,
    disk: DiskOption = None,
    as_of: DayOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Dataset folder to write; an old one is replaced.")
    ] = None,
    max_seconds: Annotated[
        float, typer.Option(min=1, help="Real seconds that the job file may take at most.")
    ] = 10.0,
    credit_seconds: CreditSecondsOption[float | None] = None,
    time_scale: TimeScaleOption = None,
    trust_job_files: TrustOption = False,
    format_: PrintOption = PrintFormat.text,
) -> None:
    """Run a fio job file on emulated disks, one after the other, and print the results."""
    from azbenchlib.answers.document import Document
    from azbenchlib.answers.reading import rates_part
    from azbenchlib.campaign import LabTarget, measure, show_progress
    from azbenchlib.campaign.targets.lab.plan import in_words
    from azbenchlib.campaign.workloads.jobfile import JobFile
    from azbenchlib.core import schema
    from azbenchlib.dataset.dataset import Dataset

    if len(what) > 2:
        raise InputError(f"one setup and one job file are needed, not {len(what)} words")
    *setup, job = what
    described = described_setup(setup[0] if setup else None, vm, disk or [], as_of)
    path = Path(job)
    workload = JobFile.load(path.stem, {"job": path.name}, path.parent, trust_job_files)
    folder = output or Path("datasets") / f"lab-{path.stem}"
    target = LabTarget(
        emulated=[in_words(described, [workload])],
        title=f"{path.name} on emulated disks",
        longest_s=max_seconds,
        credit_s=credit_seconds,
        time_scale=time_scale,
    )
    measure(target, folder, progress=show_progress(every=True, say=notes.print), fresh=True)
    found = Dataset.load(folder)
    if format_ is PrintFormat.json:
        print_json({"dataset": str(folder), **schema.plain(found.tables)})
    else:
        show_rows(Document(None, [rates_part(found)]), OutputFormat.text)
    notes.print(f"Dataset: {folder}")


def mount(
    file: Annotated[Path, typer.Argument(help="Where the emulated disk appears as a file.")],
    volume_name: Annotated[
        str | None, typer.Option(help="Which of the lab's volumes, where it has several.")
    ] = None,
    lab: Annotated[Path | None, typer.Option(help="Folder of the lab; default: the running one.")] = None,
) -> None:
    """Show a disk of a running lab (`azbench lab start`) as a file, for iozone; Ctrl-C ends it."""
    from azbenchlib.lab.mount import mounted
    from azbenchlib.lab.server.live_log import LIVE_LOG, alive, read, running
    from azbenchlib.lab.server.serve import SOCKET

    logs = [log for log in ([lab / LIVE_LOG] if lab else running()) if alive(log)]
    if not logs:
        where = f"in {lab}" if lab else "in a temporary folder"
        raise InputError(f"no lab is running {where}; start one in another terminal with `azbench lab start`")
    log, *_ = logs
    wanted = _one_of(list(read(log).header.volumes), volume_name)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite end is an interrupt
    with suppress(KeyboardInterrupt), mounted(log.parent / SOCKET, wanted, file) as process:
        name = shlex.quote(str(file))
        notes.print(f"{wanted} is {file}. Bypass the page cache (-I), or it answers instead:")
        # -+N: it cannot truncate a disk, and gives up when it finds that out
        notes.print(f"  iozone -I -+N -i 0 -i 2 -s 64m -r 4k -f {name}", markup=False, soft_wrap=True)
        while alive(log) and process.poll() is None:
            time.sleep(_POLL_S)
        notes.print("The lab has ended.")


def _one_of(volumes: list[str], volume: str | None) -> str:
    if volume is None and len(volumes) == 1:
        return volumes[0]
    if volume not in volumes:
        wrong = "say which volume with --volume-name" if volume is None else f"no volume '{volume}'"
        raise InputError(f"{wrong}; there are: {', '.join(volumes)}")
    return volume
