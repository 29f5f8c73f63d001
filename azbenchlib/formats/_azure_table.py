"""The table that ``az monitor metrics list --output table`` shows, as the metrics of an answer.

A row has a time in UTC, the name of the metric, its dimensions and its figures; a line of dashes below the
titles tells where each column begins. Figures have six digits or so.

Source: azure-cli, monitor/transformers.py (``metrics_table``), read 2026-11.
"""

import re
from collections.abc import Iterator
from typing import Any

_TITLES = re.compile(
    r"^[ \t>]{0,99}Timestamp {1,60}Name {1,99}\S[^\n]{0,300}\n[ \t>]{0,99}-{9,60} ", re.MULTILINE
)
_DASHES = re.compile(r"-{1,300}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}\S{0,20}")
_FIGURE = re.compile(r"\d{1,18}(?:\.\d{1,18})?(?:e[+-]\d{1,3})?")
_FIGURES = ("average", "total", "maximum", "minimum")


def has_table(text: str) -> bool:
    """Whether such a table stands in it."""
    return _TITLES.search(text) is not None


def metrics_of_table(text: str) -> Iterator[dict[str, Any]]:
    """The metrics of all tables of a text, as the answer has them.

    Parameters
    ----------
    text : str
        What az shows.

    Yields
    ------
    dict
        A metric with one series.
    """
    points: dict[tuple[str, str], list[dict[str, Any]]] = {}
    columns: dict[str, slice] = {}
    before = ""
    for line in text.splitlines() if has_table(text) else ():
        if before.split()[:2] == ["Timestamp", "Name"] and not line.strip("- \t>"):
            begins = [found.start() for found in _DASHES.finditer(line)]
            places = [slice(*ends) for ends in zip(begins, [*begins[1:], None], strict=True)]
            columns = {before[place].strip().lower(): place for place in places}
        elif columns:
            cells = {title: line[place].strip() for title, place in columns.items()}
            if not _TIME.fullmatch(cells["timestamp"]):
                columns = {}
            else:
                figures = {
                    name: float(cells[name]) for name in _FIGURES if _FIGURE.fullmatch(cells.get(name, ""))
                }
                point = {"timeStamp": cells["timestamp"].replace(" ", "T"), **figures}
                points.setdefault((cells["name"], cells.get("lun", "")), []).append(point)
        before = line
    for (name, lun), data in points.items():
        dimensions = [{"name": {"value": "lun"}, "value": lun}] if lun else []
        yield {"name": {"value": name}, "timeseries": [{"metadatavalues": dimensions, "data": data}]}
