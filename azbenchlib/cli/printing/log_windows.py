"""What `azbench read --window` prints: latency percentiles by window of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from azbenchlib.cli.printing import findings
from azbenchlib.cli.printing.console import print_json, print_rows, working
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MS_PER_S, parse_duration

if TYPE_CHECKING:
    from rich.console import JustifyMethod


def show(names: Sequence[str], window: str, percentiles: str, log_unit: str | None, form: str) -> None:
    """Read logs and print their windows.

    Parameters
    ----------
    names : sequence of str
    window : str
        How long each is, with its unit.
    percentiles : str
        Numbers with commas between them.
    log_unit : {"us", "ns"}, optional
    form : {"table", "csv", "json"}

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
    if form == "json":
        print_json({"window_s": found.width_s, "windows": found.rows})
        return
    several = len(found.kinds) > 1
    columns = [name for name in found.rows[0] if name != "lat_kind" or several]
    if form == "csv":
        print_rows(columns, found.rows)
    else:
        _print(columns, found.rows)


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


def _print(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    from rich.table import Table

    from azbenchlib.cli.printing.rich_console import Console
    from azbenchlib.core.units import format_count, format_us

    table = Table(box=None, pad_edge=False)
    texts = ("ddir", "lat_kind")
    heads = {"t_s": "From (s)", "ddir": "Direction", "lat_kind": "Latency", "n": "I/Os"}
    for name in columns:
        justify: JustifyMethod = "left" if name in texts else "right"
        table.add_column(heads.get(name, name.removesuffix("_us")), justify=justify)
    forms = {"t_s": "{:g}".format, "n": format_count}
    for row in rows:
        table.add_row(*(forms.get(name, str if name in texts else format_us)(row[name]) for name in columns))
    Console(highlight=False).print(table)
