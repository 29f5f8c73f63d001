"""The verb that knows ceilings: `azbench limits`."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azbenchlib.cli.options.demand_options import BsOption, ReadShareOption
from azbenchlib.cli.options.setup_options import (
    DayOption,
    DiskOption,
    SetupArgument,
    VmOption,
    checked_setup,
    described_setup,
)
from azbenchlib.cli.printing.answer_output import FormatOption, OutputFormat, show
from azbenchlib.cli.printing.console import notes
from azbenchlib.core import stated_values
from azbenchlib.core.choices import BLOCK_SIZES

if TYPE_CHECKING:
    from azbenchlib.model.setup_ceilings import SetupCeilings

_READS = 1.0  # the share of reads where none is given: reads have the highest ceilings
_SIZES = ",".join(BLOCK_SIZES)
_DRAWN = 6  # lines that one figure tells apart


def limits(
    setup: SetupArgument = None,
    vm: VmOption = None,
    disk: DiskOption = None,
    bs: BsOption[str] = _SIZES,
    read_share: ReadShareOption = None,
    as_of: DayOption = None,
    format_: FormatOption = OutputFormat.text,
    plot: Annotated[Path | None, typer.Option(help="Write the roofline as SVG to this file.")] = None,
) -> None:
    """Show the most that a VM with its disks can deliver, and which limit binds at each block size."""
    if setup is not None:
        checked_setup(setup)
    from azbenchlib.answers.limits import LimitsAnswer
    from azbenchlib.model.setup_ceilings import setup_ceilings

    sizes = [stated_values.block("--bs", part) for part in bs.split(",")]
    stated = described_setup(setup, vm, disk or [], as_of)
    share = _READS if read_share is None else stated_values.share("--read-share", read_share)
    result = setup_ceilings(stated, as_of or date.today().isoformat(), sizes, share)
    if read_share is None:
        notes.print(f"Note: {_READS:.0%} reads, as no --read-share is given")
    if format_ in (OutputFormat.json, OutputFormat.csv):
        for remark in result.remarks:
            notes.print(f"Note: {remark}")
    show(LimitsAnswer(result), format_)
    if plot is not None:
        _plot(result, plot)


def _plot(result: SetupCeilings, path: Path) -> None:
    """Draw the first lines."""
    import pandas as pd

    from azbenchlib.answers.limits import curve_name
    from azbenchlib.core.files import write_atomically
    from azbenchlib.plots.drawing.style import WIDE, Series
    from azbenchlib.plots.roofline import roofline, standalone

    rows = pd.DataFrame([vars(row) | {"series": curve_name(row)} for row in result.curves()])
    names = list(dict.fromkeys(rows["series"]))
    if len(names) > _DRAWN:
        notes.print(
            f"the figure shows {_DRAWN} of {len(names)} lines; left out: {', '.join(names[_DRAWN:])}",
        )
    series = [Series(name, name, name, i) for i, name in enumerate(names[:_DRAWN])]
    write_atomically(path, standalone(roofline(rows, series, WIDE)).encode())
    notes.print(f"Roofline: {path}")
