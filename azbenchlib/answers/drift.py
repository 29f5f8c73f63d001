"""What probed disks did beside what documents say of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import Document, FigureTable, Sentence, TableColumn, TableRow, Tone
from azbenchlib.answers.figures import AS_BYTES_PER_S, AS_COUNT, AS_IOPS, Figure, FigureUnit
from azbenchlib.azure.catalog.refresh import DRIFT_COLUMNS, DRIFT_NUMBERS
from azbenchlib.core.errors import InputError
from azbenchlib.core.printable import one_line
from azbenchlib.probing.text import label

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MARGIN = 0.01  # relative: as well as a probe knows a cap
_CELL_ROWS = 100  # of a cell of a notebook
_RATIO = FigureUnit("ratio", lambda value: f"{value:.3f}")
_RATE = FigureUnit("rate", str)  # a unit a row
_TABLE = (
    TableColumn("key", "Limit"),
    TableColumn("documented", "Documented", _RATE),
    TableColumn("measured", "Measured", _RATE),
    TableColumn("interval", "95 % interval"),
    TableColumn("ratio", "Ratio", _RATIO),
    TableColumn("differs", "Answer"),
)
_COLUMNS = (*DRIFT_COLUMNS, "ratio", "differs")


class DriftAnswer(Answer):
    """Where documents and probed disks differ, and by how much.

    Parameters
    ----------
    rows : sequence of mapping
        The table that the user keeps, as :func:`azbenchlib.azure.catalog.refresh.read_drift` reads it.
    """

    result: tuple[Mapping[str, str], ...]

    def __init__(self, rows: Sequence[Mapping[str, str]]) -> None:
        self.result = tuple(rows)

    @cached_property
    def document(self) -> Document:
        """How many limits differ, then each of them below its disk."""
        records = self._records
        if not records:
            return Document(
                Sentence("Nothing is kept; `azbench catalog drift DATASET` keeps what a probe found.")
            )
        counts = {
            "differing": Figure(sum(record["differs"] for record in records), AS_COUNT),
            "all": Figure(len(records), AS_COUNT),
        }
        headline = Sentence("{differing} of {all} limits differ from what documents say", counts)
        return Document(headline, [FigureTable(columns=_TABLE, rows=[_row(record) for record in records])])

    def _for_cell(self) -> Document:
        """Return the newest rows; a cell of a notebook is no page."""
        omitted = len(self._records) - _CELL_ROWS
        if omitted <= 0:
            return self.document
        rows = [_row(record) for record in self._records[omitted:]]
        note = f"{omitted:,} older rows are left out; to_frame() has all."
        return Document(self.document.headline, [FigureTable(columns=_TABLE, rows=rows, note=note)])

    @cached_property
    def _records(self) -> list[dict[str, Any]]:
        return [_record(row) for row in self.result]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``azbench catalog drift --format json`` prints."""
        return {"drift": self._records}

    def to_frame(self) -> pd.DataFrame:
        """Return a row a limit of a probed disk.

        Returns
        -------
        DataFrame
            measured_on, place, name, kind, key, dataset, documented, measured, low and high (of the 95 %
            interval; I/Os or bytes per second), ratio (measured ÷ documented), differs (whether the interval,
            widened by what a probe is exact to, leaves the documented value out).
        """
        import pandas as pd

        numbers = dict.fromkeys((*DRIFT_NUMBERS, "ratio"), "Float64")
        texts = dict.fromkeys(_COLUMNS, "string")
        return pd.DataFrame(self._records, columns=list(_COLUMNS)).astype(
            texts | numbers | {"differs": "boolean"}
        )

    def csv_rows(self) -> tuple[Sequence[str], Iterable[Mapping[str, Any]]]:
        """Return columns and rows of CSV, which needs no pandas."""
        return _COLUMNS, self._records

    def draw(self, axes: Axes) -> None:
        """Draw each ratio with its interval, and where measured and documented are equal.

        Raises
        ------
        InputError
            When nothing is kept.
        """
        if not self._records:
            raise InputError("nothing can be drawn: no probe is kept")
        places = list(range(len(self._records)))
        for place, record in zip(places, self._records, strict=True):
            ends = [record[end] / record["documented"] for end in ("low", "high")]
            axes.plot(ends, [place, place], color="0.4", solid_capstyle="butt")
        axes.plot([record["ratio"] for record in self._records], places, "o")
        axes.axvline(1, color="0.7", zorder=0)
        axes.set_yticks(places, [f"{_disk(record)}, {label(record['key'])}" for record in self._records])
        axes.invert_yaxis()
        axes.set_xlabel("measured ÷ documented")


def _record(row: Mapping[str, str]) -> dict[str, Any]:
    numbers = {name: float(row[name]) for name in DRIFT_NUMBERS}
    documented, low, high = numbers["documented"], numbers["low"], numbers["high"]
    differs = not low * (1 - MARGIN) <= documented <= high * (1 + MARGIN)
    return {**row, **numbers, "ratio": numbers["measured"] / documented, "differs": differs}


def _row(record: Mapping[str, Any]) -> TableRow:
    unit = AS_BYTES_PER_S if record["key"].endswith("bytes_per_s") else AS_IOPS
    cells = (
        label(record["key"]),
        Figure(record["documented"], unit),
        Figure(record["measured"], unit, record["dataset"]),
        Sentence(
            "{low} to {high}",
            {
                "low": Figure(record["low"], unit, text=unit.form(record["low"])),
                "high": Figure(record["high"], unit),
            },
        ),
        Figure(record["ratio"], _RATIO),
        "differs" if record["differs"] else "",
    )
    place = record["place"] or "place not stated"
    group = one_line(f"{_disk(record)}, {place}, {record['measured_on']}")
    return TableRow(cells, group, Tone.OPEN if record["differs"] else Tone.PLAIN)


def _disk(record: Mapping[str, Any]) -> str:
    return f"{record['name']} (burst)" if record["kind"] == "burst" else str(record["name"])
