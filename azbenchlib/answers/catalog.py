"""What the catalogue states of a VM size, a disk tier or a provisioned disk, with days and sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import (
    Document,
    FigureTable,
    Listing,
    Part,
    Sentence,
    TableColumn,
    TableRow,
    Tone,
)
from azbenchlib.answers.figures import AS_BYTES, AS_COUNT, AS_IOPS, Figure, FigureUnit
from azbenchlib.azure.catalog import LIMITS, OVER_NVME, Limit, ProvisionedRules, TierRow, VmRow, source
from azbenchlib.core.units import GIB, KIB, MB, MIB, NBSP, TIB, format_count, format_size

if TYPE_CHECKING:
    import pandas as pd

# A page's "MB" may be one of these in the API, of the same figure. Source: the API's values beside the
# pages', 2026-08-17.
_MB_READINGS = {1.024: "MB of 1,024,000 B", 1.048576: "MiB"}
_READABLE = 100_000  # of the largest unit in which a size is whole; else it is rounded
_CACHING = {True: "caches data disks", False: "no cache for data disks", None: "caching not stated"}


def _exact_mbps(value: float) -> str:
    return f"{value / MB:,.6f}".rstrip("0").rstrip(".")


def _exact_size(value: float) -> str:
    units = (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB), ("B", 1))
    count, name = next((value // unit, name) for name, unit in units if value % unit == 0)
    return f"{count:,}{NBSP}{name}" if count < _READABLE else format_size(value)


_UNITS = {  # by how the name of a limit ends
    "iops_per_gib": FigureUnit("iops_per_gib", format_count, "IOPS/GiB"),
    "per_iops": FigureUnit("bytes_per_s_per_iops", lambda value: f"{value:,.10g}", "B/s/IOPS"),
    "iops": AS_IOPS,
    "bytes_per_s": FigureUnit("bytes_per_s", _exact_mbps, "MB/s"),
    "bytes": FigureUnit("bytes", _exact_size),
    "_s": FigureUnit("s", lambda value: f"{value:,}", "s"),
    "": AS_COUNT,
}
_COLUMNS = (
    TableColumn("limit", "Limit"),
    TableColumn("value", "Value", FigureUnit("value", str)),  # a unit a row
    TableColumn("valid", "Valid"),
    TableColumn("source", "Source"),
)
_FRAME = {
    "limit": "string",
    "value": "Float64",
    "unit": "string",
    "valid_from": "string",
    "valid_to": "string",
    "source": "string",
    "counts": "boolean",
    "note": "string",
}


class CatalogAnswer(Answer):
    """What is stated of the limits of a VM size, a disk tier or a provisioned disk.

    Parameters
    ----------
    result : VmRow, TierRow or ProvisionedRules
        As the catalogue has it.
    """

    result: VmRow | TierRow | ProvisionedRules

    def __init__(self, result: VmRow | TierRow | ProvisionedRules) -> None:
        self.result = result

    @cached_property
    def document(self) -> Document:
        """The limits with what else is stated of them, what makes them uncertain, and their sources."""
        row = self.result
        pairs = _statements(row)
        beside = (row.caching_source, row.retirement_source) if isinstance(row, VmRow) else ()
        used = dict.fromkeys(name for name in (*(limit.source_id for limit, _ in pairs), *beside) if name)
        parts: list[Part] = [
            FigureTable(columns=_COLUMNS, rows=list(_rows(row, pairs)), note=_open_note(pairs))
        ]
        listings = {"Notes": _notes(row, pairs), "Sources": list(map(_cited, used))}
        parts += [
            Listing(name, [Sentence(text) for text in texts]) for name, texts in listings.items() if texts
        ]
        if isinstance(row, VmRow):
            return Document(_headline(row), parts)
        return Document(Sentence(f"{row.name}, {row.sku}" if isinstance(row, TierRow) else row.sku), parts)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``azbench catalog show --format json`` prints."""
        row = self.result
        if not isinstance(row, VmRow):
            return asdict(row) | {"source": asdict(source(row.source_id))}
        document = asdict(row)
        document["limits"] = {
            name: {
                "best": (best := row.best(name)) and best._asdict(),
                "conflicts": [limit._asdict() for limit in row.conflicts(name)],
            }
            for name in dict.fromkeys(limit.name for limit in row.limits)
        }
        said = {*(limit.source_id for limit in row.limits), row.caching_source or ""} - {""}
        document["sources"] = {name: asdict(source(name)) for name in sorted(said)}
        return document

    def to_frame(self) -> pd.DataFrame:
        """Return a row a statement.

        Returns
        -------
        DataFrame
            limit, value (in the unit), unit, valid_from and valid_to (ISO days, half-open; NA: no change is
            known), source, counts (whether it is the one that counts on the day), note.
        """
        import pandas as pd

        columns, rows = self.csv_rows()
        return pd.DataFrame(list(rows), columns=list(columns)).astype(_FRAME)

    def csv_rows(self) -> tuple[Sequence[str], Iterable[Mapping[str, Any]]]:
        """Return columns and rows of CSV, which needs no pandas."""
        rows = [
            limit._asdict()
            | {"limit": limit.name, "unit": _unit(limit.name).name, "source": limit.source_id}
            | {"counts": limit is best, "note": limit.note or None}
            for limit, best in _statements(self.result)
        ]
        return tuple(_FRAME), rows


def _statements(row: VmRow | TierRow | ProvisionedRules) -> list[tuple[Limit, Limit | None]]:
    """Return each statement with the one of the same limit that counts; what has no figure is not stated."""
    if isinstance(row, VmRow):
        return [
            (limit, row.best(name))
            for name in LIMITS
            for limit in (row.best(name), *row.conflicts(name))
            if limit is not None
        ]
    values = {field.name: getattr(row, field.name) for field in fields(row)}
    limits = [
        Limit(name, value, "", row.valid_from, row.valid_to, row.source_id)
        for name, value in values.items()
        if isinstance(value, int | float)
    ]
    return [(limit, limit) for limit in limits]


def _rows(
    row: VmRow | TierRow | ProvisionedRules, pairs: Iterable[tuple[Limit, Limit | None]]
) -> Iterator[TableRow]:
    named = ""
    for limit, best in pairs:
        day = row.as_of if isinstance(row, VmRow) else ""
        if limit.name != named and best is None:
            yield TableRow([limit.name, Sentence(f"not stated for {day}"), "", ""])
        named = limit.name
        if limit is best:
            yield TableRow([limit.name, *_cells(limit)])
        else:
            label = "  also" if limit.holds(day) else "  another time"
            yield TableRow([label, *_cells(limit, best)], tone=Tone.FAINT)


def _cells(limit: Limit, best: Limit | None = None) -> tuple[Sentence | str, ...]:
    said = Figure(limit.value, _unit(limit.name), limit.source_id)
    reading = _reading(limit.value, best.value) if best and limit.unit == "B/s" else ""
    return Sentence(f"{{{limit.name}}}", {limit.name: said}), _span(limit), f"{limit.source_id}{reading}"


def _unit(name: str) -> FigureUnit:
    bare = name.removesuffix(OVER_NVME)
    return next(unit for end, unit in _UNITS.items() if bare.endswith(end))


def _span(limit: Limit) -> str:
    if limit.valid_from and limit.valid_to:
        return f"{limit.valid_from} to {limit.valid_to}"
    if limit.valid_from:
        return f"from {limit.valid_from}"
    return f"until {limit.valid_to}" if limit.valid_to else ""


def _open_note(pairs: Iterable[tuple[Limit, Limit | None]]) -> str:
    return "" if all(_span(limit) for limit, _ in pairs) else "Where no days are given, no change is known."


def _reading(value: float, best: float) -> str:
    """Say whether two values are one printed figure in two units of "MB"."""
    for factor, unit in _MB_READINGS.items():
        if value and abs(best / value / factor - 1) < 1e-4:
            return f"; the same figure, as {unit}"
    return ""


def _notes(row: VmRow | TierRow | ProvisionedRules, pairs: Iterable[tuple[Limit, Limit | None]]) -> list[str]:
    """Return what makes limits uncertain, each note with the limits that it is of."""
    if not isinstance(row, VmRow):
        return [row.note] if row.note else []
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for limit, _ in pairs:
        if limit.note:
            names[limit.note][limit.name] = None
    return [f"{note}: {', '.join(limits)}" for note, limits in names.items()]


def _cited(source_id: str) -> str:
    known = source(source_id)
    return f"{source_id}: {known.what} ({known.cited})"


def _headline(row: VmRow) -> Sentence:
    """Return what is known of a size beside its limits."""
    figures: dict[str, Figure | str] = {
        "vcpus": Figure(row.vcpus_available or row.vcpus, AS_COUNT),
        "all_vcpus": Figure(row.vcpus, AS_COUNT),
        "memory": Figure(row.memory_bytes, AS_BYTES),
        "data_disks": Figure(row.max_data_disks, AS_COUNT),
    }
    of_all = " of {all_vcpus}" if row.vcpus_available not in (None, row.vcpus) else ""
    texts = {
        "cache": f"{_CACHING[row.caching]}{f' ({row.caching_source})' if row.caching_source else ''}"
        + (" with no documented cached limit" if row.caching and not row.cached_limit_documented else ""),
        "placements": ", ".join(row.ephemeral_placements),
        "interface": " or ".join(row.interface),
        "architecture": row.architecture or "",
        "retires": f"{row.retires_on} ({row.retirement_source})",
        "parent": row.parent or "",
    }
    known = (
        f"{{vcpus}} vCPUs{of_all}" if row.vcpus else "",
        "{memory} memory" if row.memory_bytes else "",
        "{data_disks} data disks" if row.max_data_disks else "",
        "no Premium storage" if row.premium_io is False else "",
        "{cache}",
        "ephemeral OS disk on {placements}" if row.ephemeral_placements else "",
        "{interface}" if row.interface else "",
        "{architecture} CPU" if row.architecture else "",
        "retires on {retires}" if row.retires_on else "",
        "limits of {parent}" if row.parent else "",
    )
    template = f"{row.size} on {row.as_of}: {', '.join(text for text in known if text)}"
    used = {name: value for name, value in (figures | texts).items() if f"{{{name}}}" in template}
    return Sentence(template, used)
