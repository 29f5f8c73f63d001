"""An executed notebook as one HTML page without any outside reference."""

import base64
import hashlib
import re
from collections.abc import Iterator
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import Any

import bleach
import nbformat
from bleach.css_sanitizer import CSSSanitizer
from markupsafe import escape
from nbconvert import HTMLExporter
from traitlets import Unicode, default
from traitlets.config import Config

from azbenchlib import __version__
from azbenchlib.answers import style
from azbenchlib.answers.blocks import MIME
from azbenchlib.core.printable import printable
from azbenchlib.core.privacy import beside, without_homes
from azbenchlib.core.units import units_kept
from azbenchlib.report.formatting import today
from azbenchlib.report.timings import sets_parameters

_HEADING = re.compile(
    r'<h[12] id="([^"]*)">(.*?)</h[12]>|<details class="part[^"]*" id="([^"]*)"><summary><h3>(.*?)</h3>',
    re.DOTALL,
)
_TITLE = re.compile(r"<h1\b[^>]*>(.*?)</h1>", re.DOTALL)
_ANCHOR = re.compile(r'<a class="anchor-link".*?</a>')
_TAG = re.compile(r"<[^>]+>")
_CODE = re.compile(r"(```.*?```|`[^`]*`)", re.DOTALL)

# Of an output with several forms, the first of these is shown.
_SHOWN = [MIME, "text/html", "text/markdown", "image/svg+xml", "image/png", "image/jpeg", "text/plain"]
# What HTML of a user's own may hold on a page: nothing that runs, loads or lies over other parts.
_UNSEEN = re.compile(r"<(style|script)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "caption", "code", "col", "colgroup", "dd", "del", "details"),
    *("div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img"),
    *("ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "small", "span", "strong", "sub"),
    *("summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var"),
}
_ATTRIBUTES = (
    *("class", "id", "style", "title", "alt", "width", "height", "colspan", "rowspan", "scope", "start"),
)
_ADDRESSES = {"a": ("#", "https://", "http://", "mailto:"), "img": ("data:image/",)}
_BESIDE = re.compile(r"(?!//)[\w./-]+(#[\w-]*)?")  # a file that lies beside the page, or below
_STYLES = CSSSanitizer(
    allowed_css_properties=("text-align", "color", "background-color", "font-weight", "font-style"),
    allowed_svg_properties=(),
)


class AzbenchExporter(HTMLExporter):
    """Any executed notebook in the dress of a report: outputs first, code folded at the end, contents in a
    bar at the top. ``jupyter nbconvert --to azbench`` finds it by its entry point.
    """

    export_from_notebook = "azbench report"  # what Jupyter's menu calls it

    title = Unicode(help="Of the browser's tab; empty: the first heading, or the name of the notebook.").tag(
        config=True
    )

    @default("template_name")
    def _template_name_default(self) -> str:
        return "azbench"

    @default("extra_template_basedirs")
    def _extra_template_basedirs_default(self) -> list[str]:
        return [str(files("azbenchlib.report") / "nbconvert")]

    @property
    def default_config(self) -> Config:
        """What is shown of an output that has several forms."""
        settings = super().default_config
        settings.NbConvertBase.display_data_priority = _SHOWN
        return settings

    def default_filters(self) -> Iterator[tuple[str, Any]]:
        """What the template calls by name."""
        yield from super().default_filters()
        yield from (("prose", prose), ("harmless", harmless), ("sets_parameters", sets_parameters))

    def from_notebook_node(
        self, nb: nbformat.NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Return the page, and what nbconvert keeps of it."""
        sheet, script = style.page_sheet(), style.page_script()
        facts = {
            "version": __version__,
            "date": today(),
            "css": sheet,
            "script": script,
            "policy": _policy(sheet, script),
        }
        page, known = super().from_notebook_node(nb, {**(resources or {}), "azbench": facts}, **options)
        page = _ANCHOR.sub("", page)
        title = self.title or _first_heading(page) or known["metadata"]["name"]
        page = printable(page.replace("<title>", f"<title>{escape(title)}", 1))  # what a cell printed, too
        page = page.replace("<!--contents-->", _contents(page), 1)
        return without_homes(beside(page, Path.cwd())), known  # who is named is named on purpose


def to_html(notebook: nbformat.NotebookNode, title: str) -> str:
    """Return the page of an executed notebook.

    Parameters
    ----------
    notebook : NotebookNode
        Executed.
    title : str
        For the browser's tab; escaped here. Empty: that of the page.
    """
    page, _ = AzbenchExporter(title=title).from_notebook_node(notebook)
    return page


def harmless(html: str) -> str:
    """Return HTML of a user's own without what runs or loads anything: its text, tables and pictures."""
    return bleach.clean(
        _UNSEEN.sub("", str(html)),
        tags=_TAGS,
        attributes=_is_allowed,
        protocols=("https", "http", "mailto", "data"),
        strip=True,
        css_sanitizer=_STYLES,
    )


def _is_allowed(tag: str, name: str, value: str) -> bool:
    """Whether an element may have an attribute; addresses lead to other pages, images are in the page."""
    if name in ("href", "src"):
        leads = value.strip().lower().startswith(_ADDRESSES.get(tag, ()))
        return (leads or (tag == "a" and bool(_BESIDE.fullmatch(value)))) and (tag == "a") == (name == "href")
    return name in _ATTRIBUTES


def prose(markdown: str) -> str:
    """The same text with each number and its unit on one line; code stays as it is."""
    parts = _CODE.split(markdown)
    parts[::2] = map(units_kept, parts[::2])
    return "".join(parts)


def _policy(sheet: str, script: str) -> str:
    """What the page may load and run: nothing but this style sheet and this script.

    Colours of setups and lengths of bars stand in style attributes.
    """
    rules = {
        "default-src": "'none'",
        "img-src": "data:",
        "style-src-elem": _hash(sheet),
        "style-src-attr": "'unsafe-inline'",
        "script-src": _hash(script),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _first_heading(page: str) -> str:
    match = _TITLE.search(page)
    return _words(match[1]) if match else ""


def _words(html: str) -> str:
    return unescape(_TAG.sub("", html)).strip()


def _contents(page: str) -> str:
    """Links to the parts of the page: a bar that stays at the top, and a menu for narrow screens."""
    title = _TITLE.search(page)
    found = [
        (unescape(match[1] or match[3]), _words(match[2] or match[4]))
        for match in _HEADING.finditer(page)
        if not title or match.start() != title.start()
    ]
    if not found:
        return ""
    links = [("main", "↑ Top"), *found]
    items = "\n".join(f'<a href="#{escape(anchor)}">{escape(text)}</a>' for anchor, text in links)
    return (
        f'<nav class="toc" aria-label="Contents">\n{items}\n</nav>\n'
        f'<nav class="toc-menu" aria-label="Contents menu"><details><summary>Contents</summary>\n{items}\n'
        "</details></nav>"
    )
