"""What Python and Jupyter get: an answer that shows itself, gives its figures away, and can be drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from azbenchlib.answers.document import TEXT_WIDTH, Document, FigureTable, TableColumn
from azbenchlib.answers.figures import Figure
from azbenchlib.answers.markdown import markdown
from azbenchlib.core.errors import InputError
from azbenchlib.core.printable import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from azbenchlib.answers.blocks import Block

_LINES = 10  # of the repr
_CHARACTERS = 160  # of a line of it


class Answer(ABC):
    """An answer to one question, built once.

    A topic states its document and its record; all else follows from them. What is asked of an answer and
    not defined here is asked of its result, the object that the calculation returned.

    Attributes
    ----------
    result : object
        What was calculated, unformatted.
    """

    result: Any

    @cached_property
    @abstractmethod
    def document(self) -> Document:
        """The answer for readers."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data: what ``--format json`` prints."""

    def to_frame(self) -> pd.DataFrame:
        """Return the answer as a DataFrame: a row an item, figures in base units, NA where not known."""
        tables = self.document.tables()
        if not tables:
            raise InputError("this answer has no table; its figures are in .figures and .to_dict()")
        return frame(tables[0])

    def csv_rows(self) -> tuple[Sequence[str], Iterable[Mapping[str, Any]]] | None:
        """Return columns and rows for CSV where they are known without pandas; None: those of the frame."""
        return None

    def draw(self, axes: Axes) -> None:
        """Draw the answer on Axes."""
        raise InputError(f"a {type(self).__name__} has no figure of its own; .to_frame() has what it says")

    @cached_property
    def figures(self) -> pd.DataFrame:
        """Every figure of the answer, a row each: name, value (base unit), unit, source."""
        import pandas as pd

        from azbenchlib.core import schema

        rows = [
            (plain(name), one.value, one.unit.name, one.source or None)
            for name, one in self.document.figures()
        ]
        table = pd.DataFrame(rows, columns=["name", "value", "unit", "source"])
        texts = dict.fromkeys(("name", "unit", "source"), schema.TEXT)
        return table.astype(texts | {"value": schema.FLOAT})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the answer.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Default: Axes of a figure of their own.

        Returns
        -------
        matplotlib.axes.Axes
            To go on with; styles such as seaborn's count.

        Raises
        ------
        InputError
            When the answer has no figure.
        """
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(layout="constrained")
        self.draw(ax)
        return ax

    def to_text(self, width: int = TEXT_WIDTH) -> str:
        """Return the answer as the terminal shows it."""
        from azbenchlib.answers import terminal

        return terminal.text(self.document, width)

    def to_markdown(self) -> str:
        """Return the answer as Markdown."""
        return markdown(self.document)

    def to_html(self) -> Block:
        """Return the answer as a block of a page."""
        from azbenchlib.answers.html import block

        return block(self.document, self.to_frame() if self.document.tables() else None)

    def _for_cell(self) -> Document:
        """Return as much of the document as a cell of a notebook has room for."""
        return self.document

    def _repr_html_(self) -> str:
        from azbenchlib.answers.html import notebook_html

        return notebook_html(self._for_cell())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Return the forms of a report's page, a notebook and a console; Jupyter calls this."""
        from azbenchlib.answers.blocks import MIME
        from azbenchlib.answers.html import block

        page = block(self._for_cell()).html
        return {MIME: page, "text/html": self._repr_html_(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        """Return the answer in at most ten lines."""
        lines = [line[:_CHARACTERS] for line in self.to_text().strip().splitlines()]
        if len(lines) <= _LINES:
            return "\n".join(lines)
        more = f"… {len(lines) - _LINES + 1} more lines: print(answer.to_text()); .to_frame() has the figures"
        return "\n".join([*lines[: _LINES - 1], more])

    __str__ = __repr__

    def __getattr__(self, name: str) -> Any:
        """Return what the result has by this name."""
        if name.startswith("_") or "result" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return getattr(self.result, name)

    def __dir__(self) -> Iterable[str]:
        """Return the names of the answer and of its result."""
        return sorted({*super().__dir__(), *(name for name in dir(self.result) if not name.startswith("_"))})


def frame(table: FigureTable) -> pd.DataFrame:
    """Return a table of a document as a DataFrame; the group of its rows is a column, where it has groups."""
    import pandas as pd

    from azbenchlib.core import schema

    names = [column.name for column in table.columns]
    records = [[_value(cell) for cell in row.cells] for row in table.rows]
    made = pd.DataFrame(records, columns=names).astype(
        {column.name: _dtype(column) for column in table.columns}
    )
    if any(row.group for row in table.rows):
        made.insert(0, "group", pd.array([row.group for row in table.rows], dtype=schema.TEXT))
    return made


def in_words(table: FigureTable) -> pd.DataFrame:
    """Return a table of a document as its readers see it: its titles, and texts alone."""
    import pandas as pd

    rows = [
        [column.text(cell) for column, cell in zip(table.columns, row.cells, strict=True)]
        for row in table.rows
    ]
    return pd.DataFrame(rows, columns=[column.title for column in table.columns], dtype="string")


def _value(cell: Any) -> Any:
    return cell.value if isinstance(cell, Figure) else getattr(cell, "text", cell)


def _dtype(column: TableColumn) -> Any:
    from azbenchlib.core import schema

    return schema.FLOAT if column.unit else schema.TEXT
