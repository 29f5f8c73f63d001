"""Outputs that stand in strings: of JSON, of Python, of notebooks, as lists of lines and line by line.

Strings are found as they stand in the text, so it may be cut, several documents may stand in it, and other
text around them. One counts where it has several lines and the sign of an output. Strings that follow each
other in a list are its lines.
"""

import html
import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import orjson

from azbenchlib.formats.unwrap.signs import ANCHORED, ANYWHERE

# A key of JSON or Python, or a value; Python's strings may have a letter before them.
_TOKEN = re.compile(r'(?<!\\)"((?:[^"\\\n]|\\.)*+)"|(?<![\w)\\])[bruBRU]{0,2}\'((?:[^\'\\\n]|\\.)*+)\'')
_BETWEEN = re.compile(r"[ \t\r]{0,999},?\s{0,999}(?:-[ \t]{1,9})?")
_IS_KEY = re.compile(r"\s{0,99}:")
_PYTHON_ESCAPE = re.compile(r"\\(?:([abfnrtv\\'\"])|x([\da-fA-F]{2})|u([\da-fA-F]{4})|(\d{1,3}))")
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_PYTHON_SIGN = re.compile(r"\{\s{0,99}'[\w ]{1,60}'\s{0,9}:")
_PYTHON_TOKEN = re.compile(
    r"(?<!\\)'((?:[^'\\\n]|\\.)*+)'|(?<!\\)\"(?:[^\"\\\n]|\\.)*+\"|\b(True|False|None|nan|inf)\b|([()])"
)
_IN_JSON = {"True": "true", "False": "false", "None": "null", "nan": "NaN", "inf": "NaN"}
_FEWEST_BREAKS = 2  # a string with fewer line ends is no output
_MOST_TEXTS = 1000  # that are read one by one
_FEWEST_ITEMS = 3  # lines of an output in a list
# Source: Azure's run command (v1), which puts both streams into one message; az vm run-command, 2026.
_STDOUT = re.compile(r"\[stdout\]\n(.*)\n\[stderr\](?:\n|\Z)", re.DOTALL)
_LINES_LOOKED_AT, _SHARE = 50, 0.6
# What logs call the line that a program wrote, and who wrote it. Sources: Docker's json-file, Fluent Bit,
# journalctl -o json, Google's and AWS's logs, Bunyan; 2026.
_MESSAGES = (
    *("log", "message", "msg", "MESSAGE", "line", "text", "event", "body", "textPayload", "LogEntry"),
    *("content", "output", "data", "_raw", "Message", "LogMessage", "stdout"),
)
_WRITERS = (
    *("stream", "pod", "container", "host", "hostname", "source", "kubernetes", "logger", "name", "unit"),
    *("_HOSTNAME", "_PID", "SYSLOG_IDENTIFIER", "container_name", "pod_name", "ContainerName", "PodName"),
)


@dataclass(frozen=True)
class InString:
    """A text that stood in strings, and for each of its lines the number of the line where it stood."""

    text: str
    numbers: list[int]


@dataclass
class _List:
    """Strings that follow each other."""

    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


def are_quoted(lines: Sequence[str], usual: str) -> bool:
    """Whether lines with the signs of outputs stand in quotes, but for usual ones."""
    for line in lines:
        first = line.lstrip(" \t-,[")[:1]
        if "\\n" in line or '\\"' in line or (first and first in "\"'{" and first != usual):
            return True
    return False


def texts_in(text: str) -> list[InString]:
    """All outputs that stand in strings of a text, each once."""
    found = lines_of_log(text) or list(_strings(text))
    seen: set[str] = set()
    kept = []
    for one in found:
        content = one.text.strip()
        if content not in seen:
            seen.add(content)
            kept.append(one)
    if len(kept) > _MOST_TEXTS:  # each would take its time
        return [InString("\n".join(one.text for one in kept), [])]
    return kept


def as_json(text: str) -> str | None:
    """Return the text with dicts of Python as JSON; None where it shows none. Its lines stay the same."""
    if not _PYTHON_SIGN.search(text):
        return None
    return _PYTHON_TOKEN.sub(_in_json, text)


def unescaped(text: str) -> str | None:
    """Return the text without the entities of HTML and XML; None where there is no output behind them."""
    return html.unescape(text) if "&quot;fio version&quot;" in text or "&lt;Results&gt;" in text else None


def lines_of_log(text: str) -> list[InString]:
    """The texts that a log of JSON lines tells, by who wrote them."""
    if text.lstrip()[:1] != "{":
        return []
    lines = text.splitlines()
    sample = [row for line in lines[:_LINES_LOOKED_AT] if line.strip() and (row := _object(line)) is not None]
    least = max(2, _SHARE * sum(1 for line in lines[:_LINES_LOOKED_AT] if line.strip()))
    key = next((k for k in _MESSAGES if sum(isinstance(row.get(k), str) for row in sample) >= least), None)
    if key is None:
        return []
    found: dict[str, _List] = defaultdict(_List)
    for number, line in enumerate(lines, 1):
        row = _object(line) if line.strip() else None
        if row is not None and isinstance(told := row.get(key), str):
            writer = repr([row.get(name) for name in _WRITERS if name != key])
            found[writer].texts.append(told)
            found[writer].numbers.append(number)
    return [_joined(one) for one in found.values()]


def _object(line: str) -> dict[str, object] | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return row if isinstance(row, dict) else None


def _strings(text: str) -> Iterator[InString]:
    """Strings with several lines, and lists of strings, that have the sign of an output."""
    newlines = [match.start() for match in re.finditer("\n", text)]
    under_way, end = _List(), -1
    for token in _TOKEN.finditer(text):
        if end >= 0 and _BETWEEN.fullmatch(text, end, token.start()) is None:
            yield from _with_sign(under_way)
            under_way = _List()
        end = token.end()
        if _IS_KEY.match(text, end):
            continue
        told = _decoded(token)
        number = bisect_left(newlines, token.start()) + 1
        if told.count("\n") >= _FEWEST_BREAKS:
            yield from _with_sign(_List([told], [number]))
        else:
            under_way.texts.append(told)
            under_way.numbers.append(number)
    yield from _with_sign(under_way)


def _with_sign(strings: _List) -> Iterator[InString]:
    first = "".join(strings.texts[:1])
    if (len(strings.texts) >= _FEWEST_ITEMS or "\n" in first or ANCHORED.match(first)) and any(
        ANYWHERE.search(one) or "<Results>" in one for one in strings.texts
    ):
        yield _joined(strings)


def _joined(strings: _List) -> InString:
    """The strings of a list as one text: lines, with or without their ends; of Azure, what stdout was."""
    if len(strings.texts) == 1 and (section := _STDOUT.search(strings.texts[0])):
        strings = _List([section[1]], strings.numbers)
    have_ends = any(one.endswith("\n") for one in strings.texts)
    ended = [one if have_ends else f"{one}\n" for one in strings.texts]
    numbers = [
        number
        for one, number in zip(ended, strings.numbers, strict=True)
        for _ in range(max(1, one.count("\n")))
    ]
    return InString("".join(ended), numbers)


def _decoded(token: re.Match[str]) -> str:
    if token[1] is not None:
        if "\\" not in token[1]:
            return token[1]
        try:
            return str(json.loads(token[0]))
        except ValueError:
            return _of_python(token[1])
    return _of_python(token[2])


def _of_python(text: str) -> str:
    """The content of a string of Python's."""
    return _PYTHON_ESCAPE.sub(_character, text) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    letter, two, four, octal = escape.groups()
    if letter:
        return _LETTERS.get(letter, letter)
    number = int(octal, 8) if octal and octal.strip("01234567") == "" else int(two or four or "fffd", 16)
    return chr(number)


def _in_json(token: re.Match[str]) -> str:
    string, word, bracket = token.groups()
    if string is not None:
        return json.dumps(_of_python(string), ensure_ascii=False)
    if word:
        return _IN_JSON[word]
    return {"(": "[", ")": "]"}[bracket] if bracket else token[0]
