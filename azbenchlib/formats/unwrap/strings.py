"""Outputs that stand in strings: of JSON, of Python, of notebooks, as lists of lines and line by line.

Strings are found as they stand in the text, so it may be cut, several documents may stand in it, and other
text around them. One counts where it has several lines and the sign of an output. Strings that follow each
other in a list are its lines.
"""

import email
import html
import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from azbenchlib.formats.unwrap.log_rows import FEWEST_ITEMS, InString, columns_of, joined, lines_of_log
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
# Source: the view of Invoke-AzVMRunCommand's answer (Az.Compute, 2026); Slack's and others' mark of code.
_BEFORE_FIRST = re.compile(
    rf"^(?:[ \t]{{0,9}}(?:Message|Output)[ \t]{{1,9}}: |```)(?=[^\n]{{0,200}}(?:{ANYWHERE.pattern}))",
    re.MULTILINE,
)
_MAIL = re.compile(r"^Content-Transfer-Encoding: *(?:quoted-printable|base64)", re.MULTILINE | re.IGNORECASE)
_ITEM = re.compile(r"[ \t]{0,99}- (?P<told>(?P<quote>['\"])?[^\n]*)")
_TAG = re.compile(r"<!\[CDATA\[|\]\]>|</?[A-Za-z?!][^<>\n]{0,999}>")
_BLOCK = re.compile(r"<pre\b[^<>\n]{0,999}>((?:[^<]|<(?!/pre))*+)", re.IGNORECASE)  # of a page
_AS_ENTITIES = ("&quot;fio version&quot;", "&lt;Results&gt;")
_FEW = 200  # characters
_FEWEST_BREAKS = 2  # a string with fewer line ends is no output
_MOST_TEXTS = 1000  # that are read one by one
# Source: Azure's run command (v1), which puts both streams into one message; az vm run-command, 2026.
_STDOUT = re.compile(r"\[stdout\]\n(.*)\n\[stderr\](?:\n|\Z)", re.DOTALL)


@dataclass
class _List:
    """Strings that follow each other."""

    texts: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


def are_quoted(lines: Sequence[str], usual: str) -> bool:
    """Whether lines with the signs of outputs stand in quotes, but for usual ones."""
    for line in lines:
        first = line.lstrip(" \t-,[")[:1]
        if any(mark in line for mark in ("\\n", '\\"', '="')) or (
            first and first in "\"'{" and first != usual
        ):
            return True
    return False


def items_of_yaml(text: str) -> InString | None:
    """The lines of an output that stand as items of a list in YAML; None where there is no such list."""
    rows = [(number, item) for number, line in enumerate(text.splitlines(), 1) if (item := _ITEM.match(line))]
    if not any(item["quote"] for _, item in rows) or not any(ANYWHERE.search(item[0]) for _, item in rows):
        return None
    return joined([_scalar(item) for _, item in rows], [number for number, _ in rows])


def _scalar(item: re.Match[str]) -> str:
    """The text of an item, with or without quotes."""
    told = item["told"].rstrip()
    if item["quote"] == "'":
        return told[1:-1].replace("''", "'")
    try:
        return str(json.loads(told)) if item["quote"] else told
    except ValueError:
        return told[1:-1]


def without_what_is_before_the_first_line(text: str) -> str | None:
    """Return the text without what stands before an output's first line alone; None where nothing does."""
    may_be = any(mark in text for mark in ("```", " : "))
    return _BEFORE_FIRST.sub("", text) if may_be and _BEFORE_FIRST.search(text) else None


def texts_of_mail(text: str) -> list[str]:
    """The decoded texts of a mail as it was sent, or saved; none where a text is no such mail."""
    if not _MAIL.search(text, 0, 16_384):
        return []
    try:
        parts = [part for part in email.message_from_bytes(text.encode()).walk() if not part.is_multipart()]
    except RecursionError:  # mails in mails
        return []
    plain = [part for part in parts if part.get_content_type() == "text/plain"]
    payloads = [part.get_payload(decode=True) for part in plain or parts]
    return [one.decode("utf-8", "replace") for one in payloads if isinstance(one, bytes)]


def may_be_rows(opening: str) -> bool:
    """Whether a text may be a log of rows that no line shows: journald's own form, or CSV."""
    return opening.startswith("__CURSOR=") or bool(columns_of(opening[: opening.find("\n")]))


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
    """Return a page of XML, or what else has entities for quotes, without these; None for other texts."""
    start = text[:_FEW].lstrip()
    is_page = start.startswith("<") and "<Results" not in start and "<html" not in start.lower()
    if is_page and "</" in text:
        return html.unescape(_TAG.sub("", text))
    if not any(sign in text for sign in _AS_ENTITIES):
        return None
    blocks = [one for one in _BLOCK.findall(text) if any(sign in one for sign in _AS_ENTITIES)]
    return html.unescape("\n".join(_TAG.sub("", one) for one in blocks) or text)


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
    if (
        len(strings.texts) >= FEWEST_ITEMS or "\n" in first or "\\n" in first or ANCHORED.match(first)
    ) and any(ANYWHERE.search(one) or "<Results>" in one for one in strings.texts):
        yield _joined(strings)


def _joined(strings: _List) -> InString:
    """The strings of a list as one text; of Azure, what stdout was."""
    if len(strings.texts) == 1 and (section := _STDOUT.search(strings.texts[0])):
        return joined([section[1]], strings.numbers)
    return joined(strings.texts, strings.numbers)


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
