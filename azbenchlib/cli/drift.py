"""The verb `azbench catalog drift`: what probed disks did beside what documents say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from azbenchlib.cli.options.setup_options import PrintFormat, PrintOption
from azbenchlib.cli.printing.console import notes, print_json, say
from azbenchlib.cli.printing.rich_console import Console
from azbenchlib.core.errors import InputError
from azbenchlib.core.printable import one_line

if TYPE_CHECKING:
    from azbenchlib.dataset.probed import ProbeRecord
    from azbenchlib.model.documented_limits import DocumentedLimits
    from azbenchlib.probing.drift import Cap95

LEAST_SURE = 0.5  # probability from which on a name that a probe found is taken
MARGIN = 0.01  # relative: as well as a probe knows a cap


def drift(
    probed: Annotated[
        str | None, typer.Argument(help="Dataset of a probe to keep in the table; none: show the table.")
    ] = None,
    place: Annotated[str, typer.Option(help="Where the disk is, such as a region.")] = "",
    name: Annotated[
        str,
        typer.Option(help="What the disk is documented as, such as P30; default: the name the probe found."),
    ] = "",
    format_: PrintOption = PrintFormat.text,
) -> None:
    """Show where documents and probed disks differ, and by how much; with a probe's dataset, keep it too."""
    from azbenchlib.azure.catalog.drift import keep_drift, read_drift

    if probed is not None:
        notes.print(f"Kept: {keep_drift(_rows(probed, place, name))}")
    elif place or name:
        raise InputError("--place and --name are of a probe that is to be kept; name its dataset")
    rows = read_drift()
    if format_ is PrintFormat.json:
        print_json({"drift": [_document(row) for row in rows]})
    elif rows:
        _print(rows)
    else:
        say("Nothing is kept; `azbench catalog drift DATASET` keeps what a probe found.")


def _rows(probed: str, place: str, name: str) -> list[dict[str, str]]:
    """What a probe found, as rows of the table."""
    from azbenchlib.dataset.names import find_dataset
    from azbenchlib.dataset.probed import kept_probe
    from azbenchlib.probing.drift import Cap95, drifts

    folder = find_dataset(probed)
    record = kept_probe(folder, probed)
    fields = ("key", "state", "value", "low", "high")
    caps = [Cap95(**{field: getattr(one, field) for field in fields}) for one in record.figures]
    found = drifts(caps, _limits(record, caps, name, probed))
    if not found:
        raise InputError(f"{probed}: no cap is known, so nothing can be compared with documents")
    told = {"measured_on": record.measured.isoformat(), "place": place, "dataset": folder.resolve().name}
    return [
        told
        | {"name": one.name, "kind": one.kind, "key": one.key}
        | {field: f"{getattr(one, field):.10g}" for field in ("documented", "measured", "low", "high")}
        for one in found
    ]


def _limits(record: ProbeRecord, caps: list[Cap95], name: str, probed: str) -> DocumentedLimits:
    """What documents say of the disk that it is, or is most probably."""
    from azbenchlib.model.documented_limits import documented
    from azbenchlib.probing.drift import nearest

    kind = None
    if not name:
        sure = [one for one in record.names if one.name and one.probability >= LEAST_SURE]
        if not sure:
            raise InputError(f"{probed}: no documented disk fits it well enough; say what it is with --name")
        name, kind = str(sure[0].name), sure[0].kind
    every = [one for one in documented(record.measured.isoformat()) if one.kind != "provisioned"]
    alike = [one for one in every if one.name.lower() == name.lower() and kind in (None, one.kind)]
    if not alike:
        raise InputError(
            f"'{name}': is no disk tier or VM size with limits in the catalogue on {record.measured}; "
            "name one such as P30"
        )
    return nearest(caps, alike)


def _document(row: dict[str, str]) -> dict[str, object]:
    from azbenchlib.azure.catalog.drift import DRIFT_NUMBERS

    numbers = {name: float(row[name]) for name in DRIFT_NUMBERS}
    return {**row, **numbers, "ratio": numbers["measured"] / numbers["documented"], "differs": _differs(row)}


def _differs(row: dict[str, str]) -> bool:
    """Whether the interval, widened by what a probe is exact to, leaves the documented value out."""
    documented = float(row["documented"])
    return not float(row["low"]) * (1 - MARGIN) <= documented <= float(row["high"]) * (1 + MARGIN)


def _print(rows: list[dict[str, str]]) -> None:
    from azbenchlib.probing.text import amount, label

    table = Table(box=None, pad_edge=False)
    for column in ("measured", "place", "disk", "limit"):
        table.add_column(column)
    for column in ("documented", "measured", "95 % interval", "ratio"):
        table.add_column(column, justify="right")
    table.add_column("")
    for row in rows:
        key = row["key"]
        documented, measured, low, high = (
            amount(key, float(row[one])) for one in ("documented", "measured", "low", "high")
        )
        ratio = f"{float(row['measured']) / float(row['documented']):.3f}"
        disk = f"{row['name']} (burst)" if row["kind"] == "burst" else row["name"]
        cells = (row["measured_on"], row["place"] or "not stated", disk, label(key), documented, measured)
        told = [*cells, f"{low} to {high}", ratio, "differs" if _differs(row) else ""]
        table.add_row(*(Text(one_line(cell)) for cell in told))
    Console(highlight=False).print(table)
