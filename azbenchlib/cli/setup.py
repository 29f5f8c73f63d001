"""The verb that says what this machine is: `azbench setup detect`."""

from __future__ import annotations

from typing import Annotated

import typer

from azbenchlib.cli.printing.answer_output import NamedFormat, OutputFormat, parser_of, show
from azbenchlib.cli.printing.console import say, working
from azbenchlib.core.errors import AzbenchError

setup = typer.Typer(no_args_is_help=True, help="Describe the VM and the disks that are measured.")


class DetectFormat(NamedFormat):
    """What `azbench setup detect` prints."""

    text = "text"
    json = "json"
    csv = "csv"
    md = "md"
    yaml = "yaml"


@setup.callback()
def _group() -> None:
    pass  # without it, typer drops the name of a single verb


@setup.command()
def detect(
    format_: Annotated[
        DetectFormat,
        typer.Option(
            "--format",
            parser=parser_of(DetectFormat),
            metavar=f"[{'|'.join(DetectFormat)}]",
            help="What to print; yaml is a measurement file to edit.",
        ),
    ] = DetectFormat.text,
) -> None:
    """Show which Azure VM this machine is, with its disks, their caching and their devices.

    The exit code is 2 if this machine is no Azure VM.
    """
    from azbenchlib.campaign.detect import detect as library
    from azbenchlib.campaign.detect.detect import measurement_file

    with working("Asking the metadata service"):
        found = library.detect()
    if found is None:
        raise AzbenchError(
            "no Azure metadata service answered: this is not an Azure VM, or access to 169.254.169.254 is "
            "blocked"
        )
    if format_ is DetectFormat.yaml:
        say(measurement_file(found).rstrip("\n"))
        return
    from azbenchlib.answers.detected import DetectedAnswer

    show(DetectedAnswer(found), OutputFormat(format_))
