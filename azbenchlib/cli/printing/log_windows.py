"""What `azbench read --window` prints: latency percentiles by window of time."""

from __future__ import annotations

from collections.abc import Sequence

from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.answer_output import NamedFormat, OutputFormat, show_rows
from azbenchlib.cli.printing.console import print_json, print_rows, working
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MS_PER_S, parse_duration


def show(
    names: Sequence[str], window: str, percentiles: str, log_unit: str | None, form: NamedFormat
) -> None:
    """Read logs and print their windows.

    Parameters
    ----------
    names : sequence of str
    window : str
        How long each is, with its unit.
    percentiles : str
        Numbers with commas between them.
    log_unit : {"us", "ns"}, optional
    form : {"text", "csv", "json", "md"}

    Raises
    ------
    InputError
        When one of these is something else, or no log has percentiles.
    """
    width_ms, wanted = _width_ms(window), numbers(percentiles)
    if log_unit not in (None, "us", "ns"):
        raise InputError(f"log unit '{log_unit}' is not one of: us, ns")
    from azbenchlib.dataset.log_windows import read_windows  # loads numpy

    with working("Reading"):
        found = read_windows(names, width_ms, wanted, log_unit)
    findings.tell_each(found.findings)
    if form == OutputFormat.json:
        print_json({"window_s": found.width_s, "windows": found.rows})
        return
    if form == OutputFormat.csv:
        several = len(found.kinds) > 1
        print_rows([name for name in found.rows[0] if name != "lat_kind" or several], found.rows)
        return
    from azbenchlib.answers.log_windows import windows_document

    show_rows(windows_document(found), form)


def _width_ms(window: str) -> int:
    try:
        width_ms = parse_duration(window) * MS_PER_S
    except InputError as error:
        raise InputError(f"--window: {error}") from error
    if width_ms < 1 or width_ms != int(width_ms):
        raise InputError(
            f"--window '{window}': logs have times in ms, so a window has whole ms, at least 1ms"
        )
    return int(width_ms)


def numbers(percentiles: str) -> list[float]:
    """Percentiles as they are written on the command line.

    Raises
    ------
    InputError
        When one is no number.
    """
    try:
        return list(dict.fromkeys(float(part) for part in percentiles.split(",")))
    except ValueError:
        what = "write numbers above 0, at most 100, with commas between them, such as 50,99,99.9"
        raise InputError(f"--percentiles '{percentiles}': {what}") from None
