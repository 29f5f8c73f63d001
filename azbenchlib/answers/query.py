"""The answer of a query: the rows of a lake that a SELECT or the percentiles of histograms lead to."""

from __future__ import annotations

from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any

from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import Document, FigureTable, TableColumn, TableRow
from azbenchlib.answers.figures import Figure, FigureUnit
from azbenchlib.core import schema
from azbenchlib.core.printable import one_line

if TYPE_CHECKING:
    import pandas as pd

_NONE = "No row answers that."


class QueryAnswer(Answer):
    """Rows as a query has them.

    Parameters
    ----------
    result : DataFrame
    """

    result: pd.DataFrame

    def __init__(self, result: pd.DataFrame) -> None:
        self.result = result

    @cached_property
    def document(self) -> Document:
        """The rows in a table; numbers are rounded to six digits."""
        from pandas.api.types import is_numeric_dtype

        units = [
            FigureUnit(str(name), _shown) if is_numeric_dtype(dtype) else None
            for name, dtype in self.result.dtypes.items()
        ]
        columns = [
            TableColumn(str(name), str(name), unit)
            for name, unit in zip(self.result.columns, units, strict=True)
        ]
        rows = [
            TableRow([_cell(value, unit) for value, unit in zip(row.values(), units, strict=True)])
            for row in schema.records(self.result)
        ]
        return Document(
            None, [FigureTable(columns=columns, rows=rows, note="" if rows else _NONE, name="query")]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the names of the columns, and the rows."""
        rows = [{name: _plain(value) for name, value in row.items()} for row in schema.records(self.result)]
        return {"columns": [str(name) for name in self.result.columns], "rows": rows}

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as the query has them."""
        return self.result


def _cell(value: Any, unit: FigureUnit | None) -> Any:
    """Return a value as a cell of a document has it; what is missing is empty."""
    if unit:
        return Figure(value, unit, text=" " if value is None else _shown(value))
    return "" if value is None else one_line(str(_plain(value)))


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; days and the like as text."""
    if hasattr(value, "tolist"):  # an array of numpy
        return [_plain(each) for each in value.tolist()]
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    is_plain = value is None or isinstance(value, bool | int | str)
    return value if is_plain or (isinstance(value, float) and isfinite(value)) else str(value)
