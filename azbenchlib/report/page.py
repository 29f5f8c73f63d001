"""The executed notebook as one HTML page without any outside reference."""

import base64
import hashlib
import re
from html import unescape
from importlib import resources

import nbformat
from markupsafe import escape
from nbconvert import HTMLExporter
from traitlets.config import Config

from azbenchlib import __version__
from azbenchlib.answers import style
from azbenchlib.answers.blocks import MIME
from azbenchlib.core.printable import printable
from azbenchlib.core.units import units_kept
from azbenchlib.report.formatting import today

_HEADING = re.compile(
    r'<h2 id="([^"]*)">(.*?)</h2>|<details class="part[^"]*" id="([^"]*)"><summary><h3>(.*?)</h3>', re.DOTALL
)
_TITLE = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
_ANCHOR = re.compile(r'<a class="anchor-link".*?</a>')
_TAG = re.compile(r"<[^>]+>")
_CODE = re.compile(r"(```.*?```|`[^`]*`)", re.DOTALL)


def to_html(notebook: nbformat.NotebookNode, title: str) -> str:
    """The page: outputs first, code folded at the end, contents in a bar at the top.

    Parameters
    ----------
    notebook : NotebookNode
        Executed.
    title : str
        For the browser's tab; escaped here. Empty: that of the page.
    """
    template = resources.files("azbenchlib.report") / "nbconvert"
    settings = Config(
        {
            "HTMLExporter": {
                "template_name": "azbench",
                "extra_template_basedirs": [str(template)],
            },
            "NbConvertBase": {
                "display_data_priority": [MIME, "text/html", "image/svg+xml", "image/png", "text/plain"]
            },
        }
    )
    if not title:
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        blocks = [str(output.get("data", {}).get(MIME, "")) for output in outputs]
        told = next((match[1] for text in blocks if (match := _TITLE.search(text))), "")
        title = unescape(_TAG.sub("", told))
    sheet, script = style.page_sheet(), style.page_script()
    facts = {
        "title": title,
        "version": __version__,
        "date": today(),
        "css": sheet,
        "script": script,
        "policy": _policy(sheet, script),
    }
    exporter = HTMLExporter(config=settings, filters={"prose": prose})
    page, _ = exporter.from_notebook_node(notebook, resources={"azbench": facts})
    page = printable(_ANCHOR.sub("", page))  # what a cell printed, too
    return page.replace("<!--contents-->", _contents(page))


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


def _contents(page: str) -> str:
    """Links to the parts of the page: a bar that stays at the top, and a menu for narrow screens."""
    found = [
        (match[1] or match[3], unescape(_TAG.sub("", match[2] or match[4])))
        for match in _HEADING.finditer(page)
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
