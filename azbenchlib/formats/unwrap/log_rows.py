"""Logs whose rows hold the lines that a program wrote: as JSON, as names with values, as CSV.

A row tells a line, or a piece of the output, under one of the names that logs use, or in an object within the
row. Rows of several programs are texts of their own; those that a log lists from the latest to the first are
put in the order of time.
"""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from azbenchlib.formats.unwrap.signs import ANYWHERE

FEWEST_ITEMS = 3  # lines of an output in a list
_LINES_LOOKED_AT, _SHARE = 50, 0.6
_PAIRED = re.compile(r'\b(?:msg|message)=("(?:[^"\\\n]|\\.)*+")')
# What logs call the line that a program wrote, when, and who wrote it. Sources: Docker's json-file, Fluent
# Bit, journalctl -o json and -o export, Loki, Datadog, Drone, Google's, Azure's and AWS's logs, Bunyan; 2026.
_MESSAGES = (
    *("log", "message", "msg", "MESSAGE", "line", "text", "event", "body", "textPayload", "LogEntry"),
    *("content", "output", "data", "_raw", "Message", "LogMessage", "stdout", "out", "@message"),
    *("short_message", "stringValue", "Line", "Content", "Body", "Log", "RenderedDescription"),
)
_TIMES = (
    *("timestamp", "time", "ts", "@timestamp", "__REALTIME_TIMESTAMP", "TimeGenerated", "_time"),
    *("TimeGenerated [UTC]", "Date"),
)
_WRITERS = (
    *("stream", "pod", "container", "host", "hostname", "source", "kubernetes", "logger", "name", "unit"),
    *("_HOSTNAME", "_PID", "SYSLOG_IDENTIFIER", "container_name", "pod_name", "ContainerName", "PodName"),
)
_EXPORTED = re.compile(r"^__CURSOR=", re.MULTILINE)  # journalctl -o export
_PRETTY = re.compile(r"\}\s{0,99}\n\{")  # objects below one another, each in several lines
_LONGEST_HEADER = 2000  # characters of CSV
_DELIMITERS = ",;\t"

_OF_LOKI = ["time", "line"]

Row = dict[str, Any]


@dataclass(frozen=True)
class InString:
    """A text that stood in strings, and for each of its lines the number of the line where it stood."""

    text: str
    numbers: list[int]


@dataclass
class _Told:
    """What a program wrote, in order."""

    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    times: list[Any] = field(default_factory=list)

    def joined(self) -> InString:
        """Its lines in the order of time."""
        if _go_back(self.times):
            return joined(self.texts[::-1], self.numbers[::-1])
        return joined(self.texts, self.numbers)


def joined(texts: Sequence[str], numbers: Sequence[int]) -> InString:
    """Strings as one text: lines, with or without their ends, or pieces of a text."""
    have_ends = any(one.endswith("\n") for one in texts) or (
        len(texts) > 1 and sum("\n" in one for one in texts) > len(texts) / 2
    )
    ended = [one if have_ends else f"{one}\n" for one in texts]
    of_lines = [
        number for one, number in zip(ended, numbers, strict=True) for _ in range(max(1, one.count("\n")))
    ]
    return InString("".join(ended), of_lines)


def lines_of_log(text: str) -> list[InString]:
    """The texts that a log tells, by who wrote them."""
    lines = text.splitlines()
    sample = [line for line in lines[:_LINES_LOOKED_AT] if line.strip()]
    read = next((one for one in (_object, _pair) if _are_rows(sample, one)), None)
    if read is not None:
        return _of_rows([(number, read(line)) for number, line in enumerate(lines, 1) if line.strip()])
    if _EXPORTED.search(text, 0, 4096):
        return _of_rows(_exported(lines))
    if (names := columns_of(lines[0] if lines else "")) and (found := _of_csv(text, names)):
        return found
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        document = _below_one_another(text) if _PRETTY.search(text) else []
    return [one for rows in _tables_in(document) for one in _of_rows([(1, row) for row in rows])]


def _are_rows(sample: Sequence[str], read: Callable[[str], Row | None]) -> bool:
    rows = [row for line in sample if (row := read(line)) is not None and _message_key([row])]
    return len(rows) >= max(min(2, len(sample)), _SHARE * len(sample)) > 0


def _go_back(times: Sequence[Any]) -> bool:
    """Whether the times go from the latest to the first."""
    if any(isinstance(one, str) for one in times):
        times = [str(one) for one in times]
    try:
        return len(times) > 1 and times[-1] < times[0] and sorted(times, reverse=True) == [*times]
    except TypeError:  # not all of a kind, or none at all
        return False


def _message_key(rows: Sequence[Row]) -> str | None:
    """What the rows call the line that a program wrote."""
    least = max(1, _SHARE * len(rows))
    return next(
        (key for key in _MESSAGES if sum(isinstance(row.get(key), str) for row in rows) >= least), None
    )


def _text_of(told: object) -> str | None:
    """A line as a row tells it; journald and notebooks write some as lists, of bytes and of lines."""
    if isinstance(told, str):
        return told
    if not isinstance(told, list):
        return None
    if all(isinstance(one, str) for one in told):
        return "".join(told)
    if all(isinstance(one, int) and 0 <= one < 256 for one in told):
        return bytes(told).decode("utf-8", "replace")
    return None


def _of_rows(rows: Sequence[tuple[int, Row | None]]) -> list[InString]:
    """The texts that rows tell, by who wrote them."""
    some = [row for _, row in rows[:_LINES_LOOKED_AT] if row is not None]
    key = _message_key(some) if some else None
    if key is None:
        return []
    when = next((name for name in _TIMES if name != key and name in some[0]), None)
    found: dict[str, _Told] = defaultdict(_Told)
    for number, row in rows:
        if row is not None and (told := _text_of(row.get(key))) is not None:
            writer = found[repr([row.get(name) for name in _WRITERS if name != key])]
            writer.texts.append(told)
            writer.numbers.append(number)
            writer.times.append(row.get(when) if when else None)
    return [one.joined() for one in found.values()]


def _tables_in(document: object) -> Iterator[list[Row]]:
    """The lists of objects in a document that tell lines."""
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict) and (table := _with_columns(one)):
            one = table
        inner = list(one.values()) if isinstance(one, dict) else one if isinstance(one, list) else []
        rows = [row for item in one if (row := _row(item))] if isinstance(one, list) else []
        key = _message_key(rows) if len(rows) >= _fewest(rows) else None
        if key and any(ANYWHERE.search(str(row.get(key))) for row in rows):
            yield rows
            continue
        waiting += [part for part in inner if isinstance(part, dict | list)]


def _with_columns(table: Row) -> list[Row]:
    """The rows of a table that tells its columns' names once, as Azure's logs and Kusto answer."""
    columns, rows = (table.get(one, table.get(one.title())) for one in ("columns", "rows"))
    if not (isinstance(columns, list) and isinstance(rows, list)):
        return []
    named = [one.get("name", one.get("ColumnName")) if isinstance(one, dict) else one for one in columns]
    return [dict(zip(map(str, named), row, strict=False)) for row in rows if isinstance(row, list)]


def _fewest(rows: Sequence[Row]) -> int:
    """How many rows are a log; in notebooks and of Loki, a piece or a line may be an output."""
    are_such = rows and all(row.get("output_type") == "stream" or [*row] == _OF_LOKI for row in rows)
    return 1 if are_such else FEWEST_ITEMS


def _row(item: object) -> Row | None:
    """An item of a list as a row: with what an object in it tells, or Loki's pair of a time and a line."""
    if isinstance(item, dict):
        texts = {key: _text_of(item[key]) for key in _MESSAGES if isinstance(item.get(key), list)}
        row = item | {key: text for key, text in texts.items() if text is not None}
        if _message_key([row]):
            return row
        within = [one for one in item.values() if isinstance(one, dict) and _message_key([one])]
        return within[0] | row if len(within) == 1 else row
    if isinstance(item, list) and len(item) in (2, 3) and all(isinstance(one, str) for one in item[:2]):
        return dict(zip(_OF_LOKI, item, strict=False)) if item[0].isdecimal() else None
    return None


def _object(line: str) -> Row | None:
    """A line of JSON; of a recording of asciinema, what the terminal showed."""
    if line[:1] not in ("{", "["):
        return None
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    if isinstance(row, list) and row[1:2] == ["o"] and len(row) == 3:
        return {"log": row[2]}
    return row if isinstance(row, dict) else None


def _pair(line: str) -> Row | None:
    """A line of names and values, as logrus and slog write it."""
    if (told := _PAIRED.search(line)) is None:
        return None
    try:
        return {"msg": json.loads(told[1])}
    except ValueError:
        return None


def _exported(lines: Sequence[str]) -> list[tuple[int, Row | None]]:
    """The rows of journalctl -o export: a line each field, an empty line after each row."""
    rows: list[tuple[int, Row | None]] = []
    row: Row = {}
    for number, line in enumerate([*lines, ""], 1):
        name, equals, value = line.partition("=")
        if line and equals:
            row[name] = value
        elif not line and row:
            rows.append((number, row))
            row = {}
    return rows


def _below_one_another(text: str) -> list[object]:
    """The objects of JSON that stand below one another, up to the first that is none."""
    decoder, found, place = json.JSONDecoder(), list[object](), 0
    while (place := text.find("{", place)) >= 0:
        try:
            one, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        found.append(one)
    return found


def tells_lines(opening: str) -> bool:
    """Whether a text begins as CSV with a column of lines."""
    return any(name in _MESSAGES for name in columns_of(opening[: opening.find("\n")]))


def columns_of(header: str) -> list[str]:
    """The names of the columns of CSV; empty where a line is no header, or one of a known output."""
    if len(header) > _LONGEST_HEADER or ANYWHERE.search(header):
        return []
    try:
        names = next(csv.reader([header.lstrip("\ufeff")], delimiter=_delimiter(header)), [])
    except csv.Error:  # a carriage return within the line
        return []
    return names if len(names) > 1 and all(_is_title(name) for name in names) else []


def _is_title(name: str) -> bool:
    return bool(name.strip()) and not name[0].isdecimal()


def _delimiter(header: str) -> str:
    """What stands most often between the names of columns."""
    return max(_DELIMITERS, key=header.count)


def _of_csv(text: str, names: Sequence[str]) -> list[InString]:
    """The texts of CSV: of the column with messages, or of each cell that holds an output."""
    lines = text.splitlines(keepends=True)
    reader = csv.reader(lines, delimiter=_delimiter(lines[0]))
    rows: list[tuple[int, list[str]]] = []
    try:
        rows += ((reader.line_num, row) for row in reader)
    except csv.Error:  # a cell is too large, or the text is no CSV
        return []
    if any(name in _MESSAGES for name in names):
        found = _of_rows([(line, dict(zip(names, row, strict=False))) for line, row in rows[1:]])
        if any(ANYWHERE.search(one.text) for one in found):
            return found
    cells = [(line, cell) for line, row in rows[1:] for cell in row if cell.count("\n") >= FEWEST_ITEMS - 1]
    return [joined([cell], [line - cell.count("\n")]) for line, cell in cells if ANYWHERE.search(cell)]
