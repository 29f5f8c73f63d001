"""A drawn figure as SVG fit for one HTML page, for dark mode and for WeasyPrint.

Inline styles become presentation attributes: a CSS rule beats those, which is how dark mode recolours
them, and WeasyPrint reads them as they are. Ids get a prefix, fonts the page's stack, markers a
``<title>`` that browsers show on hover. Nothing refers to anything outside.
"""

import io
import json
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence

from azbenchlib.core.palette import FONT_STACK, NEUTRAL
from azbenchlib.plots.drawing import interactive
from azbenchlib.plots.drawing.label_layout import clean
from azbenchlib.plots.drawing.style import LAYOUTS, Drawn, Layout, theme

NAMESPACE = "http://www.w3.org/2000/svg"
_HREF = re.compile(r"(#)(.+)()")
_URL = re.compile(r"(url\(#)(.+)(\))")
_OF_SERIES = re.compile(r"[a-z_]+-(\d+)(?:-\w+)?")
_DECIMALS = re.compile(r"-?\d*\.\d+")
_GEOMETRY = ("d", "x", "y", "width", "height", "transform", "points", "stroke-width", "stroke-dasharray")
_FONT_PARTS = ("font-family", "font-style", "font-stretch", "font-variant")


def both(draw: Callable[[Layout], Drawn], prefix: str) -> str:
    """The figure for wide and for narrow screens, one after the other; the style sheet shows one.

    The values of its lines follow for the page's script, where it has described panels.

    Parameters
    ----------
    draw : callable
        Gives the figure for a layout.
    prefix : str
        Unique in the page; starts every id.
    """
    drawn = [draw(layout) for layout in LAYOUTS]
    figures = "".join(inline(one, f"{prefix}-{one.layout.name}") for one in drawn)
    lines = interactive.lines(drawn[0])
    return f"{figures}{_data_block(lines)}" if any(lines) else figures


def inline(drawn: Drawn, prefix: str) -> str:
    """One figure as an ``<svg>`` element.

    Parameters
    ----------
    drawn : Drawn
        The figure, its hover texts and what it shows in words.
    prefix : str
        Unique in the page; starts every id.
    """
    drawing = ET.fromstring(_saved(drawn))  # noqa: S314  (matplotlib has just written it)
    _flatten(drawing)
    _add_titles(drawing, drawn.titles)
    panels = interactive.geometry(drawn)
    _mark_panels(drawing)
    _rename_ids(drawing, prefix)
    root = ET.Element(
        "svg",
        {
            "xmlns": NAMESPACE,
            "class": f"fig-{drawn.layout.name}",
            "role": "img",
            "viewBox": drawing.attrib["viewBox"],
            "stroke-linejoin": "round",
            "font-family": FONT_STACK,
            "aria-label": clean(drawn.label),
            **({"data-panels": json.dumps(panels, separators=(",", ":"))} if panels else {}),
        },
    )
    root.extend(drawing)
    return ET.tostring(root, encoding="unicode")


def _saved(drawn: Drawn) -> str:
    """Matplotlib's own SVG, without the document type."""
    buffer = io.StringIO()
    with theme(drawn.layout), warnings.catch_warnings():
        # the reader's browser has the glyphs that the metrics font lacks
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        drawn.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(r"<!DOCTYPE[^>]*>", "", buffer.getvalue())


def _flatten(drawing: ET.Element) -> None:
    """No namespaces, no style sheet, no metadata; plain attributes with two decimals."""
    for element in drawing.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.tail = None
        if element.tag != "text":
            element.text = None
        for child in list(element):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                element.remove(child)
        _plain_attributes(element)
    for definitions in drawing.iter("defs"):
        for element in definitions.iter():  # a marker takes its colours from <use>, where CSS reaches
            element.attrib.pop("fill", None)
            element.attrib.pop("stroke", None)


def _plain_attributes(element: ET.Element) -> None:
    for declaration in filter(None, element.attrib.pop("style", "").split(";")):
        name, value = (part.strip() for part in declaration.split(":", 1))
        for attribute, plain in _plain(name, value):
            element.set(attribute, plain)
    if element.tag == "text":
        element.attrib.setdefault("fill", NEUTRAL["ink"])
        element.attrib.pop("transform", None)  # matplotlib turns level text by −0 degrees
    for attribute in list(element.attrib):
        if attribute.endswith("}href"):
            element.set("href", element.attrib.pop(attribute))
    for attribute in _GEOMETRY:
        if attribute in element.attrib:
            element.set(attribute, " ".join(_DECIMALS.sub(_round, element.attrib[attribute]).split()))


def _plain(name: str, value: str) -> list[tuple[str, str]]:
    """A CSS declaration as presentation attributes; fonts are the page's, but for size and weight."""
    if name == "font":  # the shorthand that matplotlib before 3.11 writes
        weight = re.search(r"\b(bold|[1-9]00)\b", value)
        size = re.search(r"(?<![\d.])([\d.]++)px", value)
        parts = [("font-weight", weight[0])] if weight else []
        return [*parts, ("font-size", size[1])] if size else parts
    if name in _FONT_PARTS:
        return []
    return [(name, value.removesuffix("px"))]


def _round(match: re.Match[str]) -> str:
    text = f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _add_titles(drawing: ET.Element, titles: Mapping[str, Sequence[str]]) -> None:
    groups = {element.get("id"): element for element in drawing.iter("g")}
    for gid, texts in titles.items():
        for marker, text in zip(groups[gid].iter("use"), texts, strict=True):
            ET.SubElement(marker, "title").text = clean(text)


def _mark_panels(drawing: ET.Element) -> None:
    """A class for each panel that holds described axes, and for those axes: a script finds them by it."""
    for panel in drawing.iter("g"):
        axes = [child for child in panel if child.get("id") in (interactive.X_AXIS, interactive.Y_AXIS)]
        for axis in axes:
            axis.set("class", axis.attrib["id"])
        if axes:
            panel.set("class", "panel")


def _data_block(lines: Sequence[Sequence[Mapping[str, object]]]) -> str:
    """JSON that no text in it can end."""
    text = json.dumps(lines, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" class="chart-lines">{text}</script>'


def _rename_ids(drawing: ET.Element, prefix: str) -> None:
    """Prefix the ids that something refers to and drop the others; what is of a series has its class."""
    used = set()
    for element in drawing.iter():
        for name, value in element.attrib.items():
            pattern = _HREF if name == "href" else _URL
            if match := pattern.fullmatch(value):
                used.add(match[2])
                element.set(name, f"{match[1]}{prefix}-{match[2]}{match[3]}")
    for element in drawing.iter():
        name = element.attrib.pop("id", "")
        if element.tag == "g" and (match := _OF_SERIES.fullmatch(name)):
            element.set("class", f"series-{match[1]}")
        if name in used:
            element.set("id", f"{prefix}-{name}")
