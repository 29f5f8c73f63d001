"""The verb `azbench catalog drift`: what probed disks did beside what documents say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from azbenchlib.cli.printing.answer_output import FormatOption, OutputFormat, show
from azbenchlib.cli.printing.console import notes
from azbenchlib.core.errors import InputError

if TYPE_CHECKING:
    from azbenchlib.dataset.probed import ProbeRecord
    from azbenchlib.model.documented_setups import DocumentedPlace
    from azbenchlib.probing.drift import Cap95

LEAST_SURE = 0.5  # probability from which on a name that a probe found is taken


def drift(
    probed: Annotated[
        str | None, typer.Argument(help="Dataset of a probe to keep in the table; none: show the table.")
    ] = None,
    place: Annotated[str, typer.Option(help="Where the disk is, such as a region.")] = "",
    documented_as: Annotated[
        str,
        typer.Option(help="What the disk is documented as, such as P30; default: the name the probe found."),
    ] = "",
    format_: FormatOption = OutputFormat.text,
) -> None:
    """Show where documents and probed disks differ, and by how much; with a probe's dataset, keep it too."""
    from azbenchlib.answers.drift import DriftAnswer
    from azbenchlib.azure.catalog.refresh import keep_drift, read_drift

    if probed is not None:
        notes.print(f"Kept: {keep_drift(_rows(probed, place, documented_as))}")
    elif place or documented_as:
        raise InputError("--place and --documented-as are of a probe that is to be kept; name its dataset")
    show(DriftAnswer(read_drift()), format_)


def _rows(probed: str, place: str, name: str) -> list[dict[str, str]]:
    """What a probe found, as rows of the table."""
    from azbenchlib.dataset.names import find_dataset
    from azbenchlib.dataset.probed import kept_probe
    from azbenchlib.probing.drift import Cap95, drifts

    folder = find_dataset(probed)
    record = kept_probe(folder, probed)
    fields = ("key", "state", "value", "low", "high")
    caps = [Cap95(**{field: getattr(one, field) for field in fields}) for one in record.figures]
    found = drifts(caps, *_documented(record, caps, name, probed))
    if not found:
        raise InputError(f"{probed}: no cap is known, so nothing can be compared with documents")
    told = {"measured_on": record.measured.isoformat(), "place": place, "dataset": folder.resolve().name}
    return [
        told
        | {"name": one.name, "kind": one.kind, "key": one.key}
        | {field: f"{getattr(one, field):.10g}" for field in ("documented", "measured", "low", "high")}
        for one in found
    ]


def _documented(
    record: ProbeRecord, caps: list[Cap95], name: str, probed: str
) -> tuple[str, DocumentedPlace]:
    """The name of the disk that it is, or is most probably, and what documents say of it."""
    from azbenchlib.model.documented_setups import documented_places
    from azbenchlib.probing.drift import nearest

    kind = None
    if not name:
        sure = [one for one in record.names if one.is_single and one.probability >= LEAST_SURE]
        if not sure:
            raise InputError(
                f"{probed}: no documented disk fits it well enough; say what it is with --documented-as"
            )
        name, kind = str(sure[0].name), sure[0].kind
    alike = {
        one: known
        for one in documented_places(record.measured.isoformat()).plain
        for known in one.names
        if known.lower() == name.lower() and kind in (None, one.kind)
    }
    if not alike:
        raise InputError(
            f"'{name}': is no disk tier or VM size with limits in the catalogue on {record.measured}; "
            "name one such as P30"
        )
    best = nearest(caps, [*alike])
    return alike[best], best
