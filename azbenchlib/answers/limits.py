"""The most that a VM with its disks delivers at each block size, what binds there, and its source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from azbenchlib.answers.answer import Answer
from azbenchlib.answers.ceiling_sources import CeilingSources, by_source, vm_statements
from azbenchlib.answers.document import (
    Document,
    FigureTable,
    Listing,
    Part,
    Section,
    Sentence,
    TableColumn,
    TableRow,
    Tone,
)
from azbenchlib.answers.figures import AS_BYTES, AS_BYTES_PER_S, AS_IOPS, AS_SHARE, Figure
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MB, format_count, format_size
from azbenchlib.model.ceilings import ALL_VOLUMES, Ceiling

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from azbenchlib.model import Disk
    from azbenchlib.model.setup_ceilings import SetupCeilings

_UNDOCUMENTED = "not documented"
_BLOCK = TableColumn("bs_bytes", "Block")
_LEVELS = {
    "base": (
        TableColumn("iops", "IOPS", AS_IOPS),
        TableColumn("bw_bytes_per_s", "MB/s", AS_BYTES_PER_S),
        TableColumn("binding_limit", "Bound by"),
    ),
    "burst": (
        TableColumn("burst_iops", "Burst IOPS", AS_IOPS),
        TableColumn("burst_bw_bytes_per_s", "Burst MB/s", AS_BYTES_PER_S),
        TableColumn("burst_binding_limit", "Burst bound by"),
    ),
}
_TURNS = {
    "base": "IOPS limits bind up to {base}, MB/s limits above",
    "burst": "in a burst, IOPS limits bind up to {burst}, MB/s limits above",
}
_CELL_TABLES = 8  # of a cell of a notebook
_DRAWN = 8  # lines; the last ones are those of all volumes
_NAMED = 2  # of what is equal
_COLUMNS = {
    "scope": "string",
    "path": "string",
    "level": "string",
    "bs_bytes": "Int64",
    "iops": "Float64",
    "bw_bytes_per_s": "Float64",
    "binding_limit": "string",
    "crossover_bytes": "Float64",
}

Sourced = tuple[Ceiling, tuple[tuple[str, str], ...]]  # with source and name of each limit that binds


class LimitsAnswer(Answer):
    """The ceilings of a setup, base and burst, of every volume and of all together.

    Parameters
    ----------
    result : SetupCeilings
        With ``ceilings``, ``setup`` and ``remarks``; the answer has these names, too.
    """

    result: SetupCeilings

    def __init__(self, result: SetupCeilings) -> None:
        self.result = result

    @cached_property
    def document(self) -> Document:
        """What is doubtful, a table a volume and path, and where the limits are documented."""
        sources = CeilingSources(self.result)
        sourced: list[Sourced] = [(row, sources.of(row)) for row in self.result.ceilings]
        headline = Sentence(
            "{what}, limits of {day}, {share} reads",
            {
                "what": self.result.setup.vm.size or "Disks alone",
                "day": self.result.setup.as_of or "",
                "share": Figure(self.result.read_share, AS_SHARE),
            },
        )
        parts: list[Part] = [Sentence(remark, tone=Tone.DOUBT) for remark in self.result.remarks]
        parts += [_section(title, rows) for title, rows in _alike(sourced)]
        if listed := by_source(pair for _, pairs in sourced for pair in pairs):
            parts.append(Listing("Sources", [Sentence(text) for text in listed]))
        return Document(headline, parts)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``azbench limits --format json`` prints; MB/s is 10⁶ B/s, None: not documented."""
        setup = self.result.setup
        return {
            "as_of": setup.as_of,
            "vm_size": setup.vm.size,
            "disks": [_disk_record(disk) for disk in setup.disks],
            "ceilings": [_ceiling_record(row) for row in self.result.ceilings],
            "vm_limits": [limit._asdict() for limit in vm_statements(setup)],
            "notes": list(self.result.remarks),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row a volume, path, level and block size.

        Returns
        -------
        DataFrame
            scope (a volume, or ``all volumes``), path, level (base or burst), bs_bytes, iops and
            bw_bytes_per_s (NA: not documented), binding_limit (labels that tie have `` and `` between them),
            crossover_bytes (above this block size MB/s limits bind; NA: there is no single one).
        """
        import pandas as pd

        columns, rows = self.csv_rows()
        return pd.DataFrame(list(rows), columns=list(columns)).astype(_COLUMNS)

    def csv_rows(self) -> tuple[Sequence[str], Iterable[Mapping[str, Any]]]:
        """Return columns and rows of CSV, which needs no pandas."""
        rows = [
            vars(row)
            | {"bw_bytes_per_s": row.bytes_per_s, "binding_limit": " and ".join(map(str, row.binding))}
            for row in self.result.ceilings
        ]
        return tuple(_COLUMNS), rows

    def draw(self, axes: Axes) -> None:
        """Draw the roofline: the most IOPS over block size, both on log scales; bursts are dashed.

        Raises
        ------
        InputError
            When no limit is documented.
        """
        from azbenchlib.plots.drawing import scales

        lines = _lines(self.result)
        if not lines:
            raise InputError("nothing can be drawn: no limit is documented")
        drawn = lines[-_DRAWN:]
        for name, rows in drawn:
            sizes, rates = [row.bs_bytes for row in rows], [row.iops or 0 for row in rows]
            style = "--" if rows[0].level == "burst" else "-"
            axes.plot(sizes, rates, linestyle=style, marker="o" if len(sizes) == 1 else "", label=name)
        axes.set(xscale="log", yscale="log", xlabel="Block size", ylabel="Most IOPS")
        axes.set_ylim(scales.log_limits([row.iops or 0 for _, rows in drawn for row in rows]))
        shown = sorted({row.bs_bytes for row in self.result.ceilings})
        scales.set_ticks(axes.xaxis, shown, [format_size(size) for size in shown])
        ticks = scales.log_ticks(*axes.get_ylim(), length=axes.bbox.height)
        scales.set_ticks(axes.yaxis, ticks, [format_count(tick) for tick in ticks])
        omitted = f"{len(drawn)} of {len(lines)} lines" if len(lines) > len(drawn) else None
        axes.legend(title=omitted, fontsize="small")

    def _for_cell(self) -> Document:
        """Return the last tables, those of all volumes among them; a cell of a notebook is no page."""
        document = self.document
        tables = [part for part in document.parts if isinstance(part, Section)]
        omitted = tables[:-_CELL_TABLES]
        if not omitted:
            return document
        more = Sentence(f"{len(omitted)} more tables: .to_frame() has all, .to_html() shows them")
        return Document(document.headline, [more, *(part for part in document.parts if part not in omitted)])


def curve_name(row: Ceiling) -> str:
    """Return what the line of a ceiling is called in a figure."""
    return _title([row.scope], row.path) + (", burst" if row.level == "burst" else "")


def _lines(result: SetupCeilings) -> list[tuple[str, list[Ceiling]]]:
    """Return the lines of the roofline with their names; those that are equal are one."""
    lines: dict[str, list[Ceiling]] = defaultdict(list)
    for row in result.curves():
        if row.iops is not None:
            lines[curve_name(row)].append(row)
    same: dict[tuple[float | None, ...], list[str]] = defaultdict(list)
    for name, rows in lines.items():
        same[tuple(row.iops for row in rows)].append(name)
    return [(_together(names), lines[names[0]]) for names in same.values()]


def _title(scopes: Sequence[str], path: str) -> str:
    return path if [path] == list(scopes) else f"{_together(scopes)}, {path}"


def _together(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) <= _NAMED else f"{names[0]} and {len(names) - 1} more"


def _alike(sourced: Iterable[Sourced]) -> Iterator[tuple[str, list[Sourced]]]:
    """Yield each table's title and rows; volumes whose ceilings are equal share one."""
    same: dict[tuple[object, ...], list[str]] = defaultdict(list)
    tables: dict[tuple[object, ...], list[Sourced]] = {}
    for (scope, path), group in groupby(sourced, key=lambda pair: (pair[0].scope, pair[0].path)):
        rows = list(group)
        key = (scope in (ALL_VOLUMES, path), *((replace(row, scope=""), pairs) for row, pairs in rows))
        same[key].append(scope)
        tables.setdefault(key, rows)
    yield from ((_title(same[key], rows[0][0].path), rows) for key, rows in tables.items())


def _section(title: str, sourced: Sequence[Sourced]) -> Section:
    """Return a table with a row a block size, base and burst beside each other, and where they turn."""
    levels = [list(group) for _, group in groupby(sourced, key=lambda pair: pair[0].level)]
    columns = [column for level in levels for column in _LEVELS[level[0][0].level]]
    rows = [
        TableRow([format_size(pairs[0][0].bs_bytes), *(cell for pair in pairs for cell in _cells(*pair))])
        for pairs in zip(*levels, strict=True)
    ]
    parts: list[Part] = [FigureTable(columns=[_BLOCK, *columns], rows=rows)]
    if turns := {row.level: row.crossover_bytes for row, _ in sourced if row.crossover_bytes}:
        words = "; ".join(_TURNS[level] for level in turns)
        figures = {level: Figure(size, AS_BYTES) for level, size in turns.items()}
        parts.append(Sentence(f"{words[0].upper()}{words[1:]}", figures))
    return Section(title, parts)


def _cells(row: Ceiling, pairs: Sequence[tuple[str, str]]) -> Iterator[Figure | str]:
    source = "; ".join(dict.fromkeys(source for source, _ in pairs))
    for value, unit in ((row.iops, AS_IOPS), (row.bytes_per_s, AS_BYTES_PER_S)):
        yield Figure(value, unit, source, text=_UNDOCUMENTED if value is None else unit.form(value))
    yield ", ".join(label.display_name for label in row.binding)


def _ceiling_record(row: Ceiling) -> dict[str, Any]:
    mbps = None if row.bytes_per_s is None else row.bytes_per_s / MB
    record = {**vars(row), "mbps": mbps, "binding": [str(label) for label in row.binding]}
    del record["bytes_per_s"]
    return record


def _disk_record(disk: Disk) -> dict[str, Any]:
    bursts = any(disk.cap.bursts(quantity) for quantity in ("iops", "bytes_per_s"))
    shown = {name: value for name, value in vars(disk).items() if name != "on_demand_cap"}
    return {
        **shown,
        "cap": {name: getattr(disk.cap, name) for name in disk.cap.names()}
        | {"burst_kind": str(disk.cap.burst_kind) if bursts else None},
    }
