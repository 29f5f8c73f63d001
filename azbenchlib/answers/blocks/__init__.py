"""Pieces of a page or a notebook: Jinja templates that escape all they are given, and keep it printable."""

import base64
import re
from collections.abc import Callable
from functools import cached_property
from html import unescape
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from azbenchlib.answers import style
from azbenchlib.core.printable import printable
from azbenchlib.core.units import units_kept

MIME = "application/x.azbench+html"  # what the page template takes; notebooks show text/html
_DRAWN = re.compile(
    r'(<svg\b[^>]*\bclass="fig-wide".*?</svg>)\s*<svg\b[^>]*\bclass="fig-narrow".*?</svg>', re.DOTALL
)
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL)
_VIEW_BOX = re.compile(r'\bviewBox="0 0 ([\d.]+) ([\d.]+)"')
_LABEL = re.compile(r'\baria-label="([^"]*)"')
_LINE_END = re.compile(r"</(?:h\d|p|li|tr|dt|dd|figure|section|article|summary)>")
_CELL_END = re.compile(r"</(?:td|th)>")
_TAG = re.compile(r"<[^>]*>")

_LONG_WORD = re.compile(r"\S{25,}")  # a line of a narrow card holds fewer characters
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_JOINT = re.compile(r"((?<!_)_++|/|(?<!-)-++)(?=[^_/-])")
_CHARACTER = r"(?:&[#\w]+;|[^&\s])"  # escaped
_WITHOUT_JOINT = re.compile(rf"({_CHARACTER}{{20}})(?={_CHARACTER}{{4}})")

_templates = Environment(
    loader=PackageLoader("azbenchlib.answers", "blocks"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def breakable(text: str) -> Markup:
    """The text, escaped, with places in its long words where a line may end: after ``_``, ``/`` and ``-``;
    where a word has none of them for long, anywhere (WeasyPrint breaks no word that follows a mark). What is
    markup already, such as a link, stays as it is.
    """
    if isinstance(text, Markup):
        return text
    return _options_whole(_LONG_WORD.sub(_with_breaks, str(escape(text))))


def _with_breaks(word: re.Match[str]) -> str:
    pieces = _JOINT.sub(r"\1\n", word[0]).split("\n")
    return "<wbr>".join(_WITHOUT_JOINT.sub(r"\1<wbr>", piece) for piece in pieces)


def options_kept(text: str) -> Markup:
    """The text, escaped, with options of commands such as ``--drain`` whole: no line ends within them.

    Browsers end lines behind hyphens (Unicode Standard Annex 14, class HY).
    """
    return _options_whole(str(escape(text)))


def _options_whole(escaped: str) -> Markup:
    return Markup(_OPTION.sub(r'<span class="nb">\g<0></span>', escaped))  # noqa: S704


_templates.filters["breakable"] = breakable
_templates.filters["options_kept"] = options_kept


def add_filters(**filters: Callable[..., Any]) -> None:
    """Let the templates use functions by name."""
    _templates.filters.update(filters)


class Block:
    """A piece of HTML that a report page takes as it is and a notebook shows with the same look.

    Parameters
    ----------
    html : str
        Escaped.
    rows : callable, optional
        Gives the table that the block shows, unformatted.
    """

    def __init__(self, html: str, rows: Callable[[], pd.DataFrame] | None = None) -> None:
        self.html = printable(units_kept(html))
        self._rows = rows

    @cached_property
    def data(self) -> pd.DataFrame | None:
        """What the block shows as a DataFrame, in base units, to go on with; None where it shows no table."""
        return self._rows() if self._rows else None

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """The page's form, a notebook's, and plain text; Jupyter calls this.

        In a notebook, figures are images: where a finished notebook is not trusted, viewers keep those and
        drop inline SVG, style sheets and scripts.
        """
        shown = _SCRIPT.sub("", _DRAWN.sub(_image, self.html))
        return {MIME: self.html, "text/html": self.as_notebook_html(), "text/plain": _plain(shown)}

    def as_notebook_html(self) -> str:
        """The form of a notebook: with its style sheet, and figures as images; where values of charts are in
        it, with the page's script, which draws those figures.
        """
        shown = _DRAWN.sub(_image, self.html)
        script = f"<script>{style.page_script()}</script>" if _SCRIPT.search(shown) else ""
        sheet = style.scoped_sheet(script=bool(script))
        return f'<style>{sheet}</style><div class="azbench">{shown}{script}</div>'

    def __add__(self, other: "Block") -> "Block":
        """One block after the other."""
        return Block(f"{self.html}\n{other.html}", self._rows or other._rows)


def render(template: str, **values: Any) -> Block:
    """Fill a template of this folder; text is escaped, :class:`~markupsafe.Markup` is not."""
    return Block(_templates.get_template(f"{template}.html.j2").render(**values))


def safe(svg: str) -> Markup:
    """Mark what the plots made as ready for the page: its text is escaped already."""
    return Markup(svg)  # noqa: S704


def _image(drawn: re.Match[str]) -> str:
    """The wide figure as an image of its own size, with its description in words."""
    label = _LABEL.search(drawn[1])
    svg = _VIEW_BOX.sub(r'\g<0> width="\1" height="\2"', drawn[1], count=1)
    data = base64.b64encode(svg.encode()).decode()
    return f'<img class="fig-wide" alt="{label[1] if label else ""}" src="data:image/svg+xml;base64,{data}">'


def _plain(html: str) -> str:
    """What a block says, a line a heading, sentence or row; images by their descriptions."""
    html = html.replace("<wbr>", "")
    described = re.sub(r'<img\b[^>]*\balt="([^"]*)"[^>]*>', r"\1\n", html)
    parted = _CELL_END.sub(" | ", _LINE_END.sub("\n", described.replace("\n", " ")))
    lines = (" ".join(unescape(line).split()).strip("| ") for line in _TAG.sub(" ", parted).split("\n"))
    return "\n".join(line for line in lines if line)
