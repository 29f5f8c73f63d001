"""Pieces of a report page: Jinja templates that escape everything they are given."""

import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from azbenchlib.core.units import NBSP
from azbenchlib.report import style

MIME = "application/x.azbench+html"  # what the page template takes; notebooks show text/html
_NUMBER_UNIT = re.compile(r"(?<=\d) (?=(?:%|(?:MB/s|IOPS|[KMGT]iB|µs|ms|s|min|h)\b))")

_templates = Environment(
    loader=PackageLoader("azbenchlib.report", "blocks"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


class Block:
    """A piece of HTML that a report page takes as it is and a notebook shows with the same look."""

    def __init__(self, html: str) -> None:
        self.html = _NUMBER_UNIT.sub(NBSP, html)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Both forms; Jupyter calls this."""
        shown = f'<style>{style.scoped_sheet()}</style><div class="azbench">{self.html}</div>'
        return {MIME: self.html, "text/html": shown}

    def __add__(self, other: "Block") -> "Block":
        """One block after the other."""
        return Block(f"{self.html}\n{other.html}")


def render(template: str, **values: Any) -> Block:
    """Fill a template of this folder; text is escaped, :class:`~markupsafe.Markup` is not."""
    return Block(_templates.get_template(f"{template}.html.j2").render(**values))


def safe(svg: str) -> Markup:
    """Mark what the plots made as ready for the page: its text is escaped already."""
    return Markup(svg)  # noqa: S704
