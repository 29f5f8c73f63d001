"""A document as HTML: the same block for a report's page and for a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from io import StringIO
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from azbenchlib.answers import blocks
from azbenchlib.answers.document import Document, Drawing, TableRow
from azbenchlib.answers.figures import Figure

if TYPE_CHECKING:
    import pandas as pd

_WIDTH = (7.2, 2.9)  # inches of a chart in a block
_FULL = 1.0  # share at which a bar fills its track


def block(document: Document, rows: pd.DataFrame | None = None, *, place: str = "") -> blocks.Block:
    """Return the document as a block.

    Parameters
    ----------
    document : Document
    rows : DataFrame, optional
        The table that it shows, unformatted.
    place : str
        What the ids of its tables begin with, so that none is twice on a page.
    """
    tone = str(document.headline.tone) if document.headline else ""
    shown = blocks.render("document", document=document, tone=tone, place=place)
    return blocks.Block(shown.html, None if rows is None else lambda: rows)


def notebook_html(document: Document) -> str:
    """Return the document for a cell of a notebook: with the few rules that it needs, light and dark."""
    css = (resources.files("azbenchlib.answers") / "document.css").read_text(encoding="utf-8")
    return f'<style>{css}</style><div class="azbench-answer">{block(document).html}</div>'


def _kind(part: object) -> str:
    return type(part).__name__


def _width(share: Figure) -> str:
    return f"{100 * min(float(share.value or 0), _FULL):.1f}"


def _drawn(chart: Drawing) -> Markup:
    """Return the chart as SVG, with its words for who does not see it."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    settings: Any = {"svg.hashsalt": "azbench", "svg.fonttype": "path", "axes.spines.top": False}
    with mpl.rc_context(settings):
        canvas = Canvas(figsize=_WIDTH, layout="constrained")
        chart.draw(canvas.subplots())
        written = StringIO()
        canvas.savefig(written, format="svg", metadata={"Date": None}, transparent=True)
    svg = written.getvalue().partition("<svg")
    label = f'<svg class="fig-wide" role="img" aria-label="{escape(chart.words)}"{svg[2]}'
    return Markup(f'<figure class="fig">{label}</figure>')  # noqa: S704


def _in_groups(rows: Sequence[TableRow]) -> Iterator[tuple[str, list[TableRow]]]:
    for group, members in groupby(rows, key=lambda row: row.group):
        yield group, list(members)


blocks.add_filters(kind=_kind, width=_width, drawn=_drawn, groupby_order=_in_groups)
