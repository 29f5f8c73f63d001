"""Outputs that stand in strings: of JSON, of Python, of notebooks, as lists of lines and line by line.

Strings are found as they stand in the text, so it may be cut, several documents may stand in it, and other
text around them. One counts where it has several lines and the sign of an output. Strings that follow each
other in a list are its lines. YAML with quoted strings is read as JSON; what a mail holds, what stands in
base64 or quoted-printable, and cells of CSV are decoded.
"""

import base64
import contextlib
import email
import json
import quopri
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from azbenchlib.formats._entities import without_entities
from azbenchlib.formats.source import Source
from azbenchlib.formats.unwrap.log_rows import (
    FEWEST_ITEMS,
    InString,
    columns_of,
    joined,
    lines_of_log,
)
from azbenchlib.formats.unwrap.signs import ANCHORED, ANYWHERE

# A key of JSON or Python, or a value; Python's strings may have a letter before them.
_TOKEN = re.compile(r'(?<!\\)"((?:[^"\\\n]|\\.)*+)"|(?<![\w)\\])[bruBRU]{0,2}\'((?:[^\'\\\n]|\\.)*+)\'')
_BETWEEN = re.compile(r"[ \t\r]{0,999}[,+.]?\s{0,999}(?:-[ \t]{1,9})?")
_IS_KEY = re.compile(r"\s{0,99}:")
_PYTHON_ESCAPE = re.compile(r"\\(?:([abfnrtv\\'\"])|x([\da-fA-F]{2})|u([\da-fA-F]{4})|(\d{1,3}))")
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_PYTHON_SIGN = re.compile(r"\{\s{0,99}'[\w ]{1,60}'\s{0,9}:")
_PYTHON_TOKEN = re.compile(
    r"(?<!\\)'((?:[^'\\\n]|\\.)*+)'|(?<!\\)\"(?:[^\"\\\n]|\\.)*+\"|\b(True|False|None|nan|inf)\b|([()])"
)
_IN_JSON = {"True": "true", "False": "false", "None": "null", "nan": "NaN", "inf": "NaN"}
# Source: the view of Invoke-AzVMRunCommand's answer (Az.Compute, 2026); Slack's and others' mark of code.
_MARKUP = (
    r"<!\[CDATA\[|\[(?:code|quote|pre)\]|\"{3}|'{3}|```|\{(?:code|noformat|quote)[^}\n]{0,80}\}|\(stdout\) "
)
_BEFORE_FIRST = re.compile(
    rf"^(?:(?:[ \t]{{0,9}}(?:Message|Output)[ \t]{{1,9}}: |[^\n]{{0,200}}?(?:{_MARKUP}))"
    rf"(?=[^\n]{{0,200}}(?:{ANYWHERE.pattern}))"
    r"|[^\n]{0,200}?(?:(?:=>|[=(]) ?['\"`]|, ?')"  # of a string of several lines
    rf"(?=[^'\"`\\\n]{{0,200}}(?:{ANYWHERE.pattern})[^'\"`\n]{{0,999}}$)"
    r"|[^;,\"'\\\n]{0,200}[ \t|>:](?=[345];fio-\d))",
    re.MULTILINE,
)
_MAIL = re.compile(r"^Content-Transfer-Encoding: *(?:quoted-printable|base64)", re.MULTILINE | re.IGNORECASE)
_ITEM = re.compile(r"[ \t]{0,99}- (?P<told>(?P<quote>['\"])?[^\n]*)")
_TAG = re.compile(r"<!\[CDATA\[|\]\]>|</?[A-Za-z?!][^<>\n]{0,999}>")
_TAG_NAME = re.compile(r"</?(\w{0,20})")
_INLINE = ("span", "a", "b", "i", "u", "em", "strong", "code", "font", "tt", "kbd", "samp", "mark", "")
_LINE_NUMBER = re.compile(
    r"^((?:<[^<>]{0,999}>){0,9}?)<(\w{1,20})[^<>]{0,999}>\s{0,9}\d{1,7}\s{0,9}</\2>"
)  # of a page
_OF_LINES = re.compile(r"</?(?:span|div|br|td|tr|p|li|code)\b", re.IGNORECASE)  # tags around a line
# A mapping or a list of YAML; an alias, which may make a text many times as long, is not followed.
_BEGINS_YAML = re.compile(r"(?:\s|---|#[^\n]*\n)*+(?:- )?[\"']?[A-Za-z_][\w./-]{0,60}[\"']?:(?:\s|$)")
_FOLDED = re.compile(r"^[ \t]*(?:- )?[\"']?[\w./-]*[\"']?:? [\"'][^\n]*(?<![\"'])$", re.MULTILINE)
_ALIAS = re.compile(r"[:-] \*\w+[ \t]*$", re.MULTILINE)
_LONGEST_YAML = 4 * 1024 * 1024  # characters
_BRACKET, _MOST_DEPTH = re.compile(r"[\[\]{}]"), 100  # in each other; those of outputs are some ten deep
_BEGINS_LINE = re.compile(r"(?:(?<=\n)|^)\0+")
_BASE64 = re.compile(
    r"(?:^[ \t]{0,40}|(?<=[\"'> ]))[A-Za-z0-9+/_-]{60,}+"
    r"(?:(?:\r?\n[ \t]{0,40}| )[A-Za-z0-9+/_-]{4,}+(?=[\s\"=]|$))*+={0,2}"
    r"(?=[\s\"'<]|$)",
    re.MULTILINE,
)
_OF_URLS = str.maketrans("-_", "+/")
_WIDTH, _LONGEST_WORD = 76, 3  # characters of a line of quoted-printable, and of what is not divided in it
# Source: jetbrains.com/help/teamcity, service messages; 2026.
_SERVICE_MESSAGE = re.compile(r"##teamcity\[\w{1,60} (?:[^\n]{0,400}? )?(?:text|out)='((?:[^'|\n]|\|.)*+)'")
_BAR_ESCAPE = re.compile(r"\|(?:0x([\da-fA-F]{4})|(.))")
_OF_BAR = {"n": "\n", "r": "\r", "x": "\u0085", "l": "\u2028", "p": "\u2029"}
_PLAIN = str.maketrans(
    dict.fromkeys("\xa0\u2007\u202f", " ")
    | dict.fromkeys("“”„«»", '"')
    | dict.fromkeys("‘’", "'")
    | dict.fromkeys("\0\u200b\u2060\ufeff", "")  # of no width
)
# What stands for one blank; the first is one that was read in a wrong encoding.
_BLANK_FORMS = ("Â\xa0", "&nbsp;", "&#160;")
NO_BREAK = "\xa0"
_OTHER_BLANKS = ("\0", "\u200b", "\u2060", "\ufeff", "&nbsp;", "&#160;")
_LINE_ENDS = ("\r", "\u2028", "\x85")  # where a text has no other
_UNREAD = "\ufffd"  # a byte that is no UTF-8
_FEWEST_CURLED = 4  # quotation marks, where a program curled all of them
_FEWEST_WRITTEN = 3  # line ends written as \n in a line
_BLOCK = re.compile(r"<pre\b[^<>\n]{0,999}>((?:[^<]|<(?!/pre))*+)", re.IGNORECASE)  # of a page
_AS_ENTITIES = ("&quot;fio version&quot;", "&lt;Results&gt;")
_CELL = re.compile(r'"((?:[^"\n]|"")*+)(?<!\\n)"')  # all of a line, which is no string with its end written
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


def yaml_as_json(text: str, is_claimed: bool) -> str | None:
    """Return documents of YAML as JSON; None for other texts, and where a reader sees its strings."""
    if is_claimed and not _FOLDED.search(text):
        return None
    if len(text) > _LONGEST_YAML or not _BEGINS_YAML.match(text) or _ALIAS.search(text) or _nests(text):
        return None
    import yaml  # what few files need

    try:
        told = [*yaml.load_all(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))]
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return json.dumps(told, ensure_ascii=False)


def _nests(text: str) -> bool:
    """Whether brackets stand in each other deeper than in any output; YAML's parser slows down in them."""
    depth = deepest = 0
    for mark in _BRACKET.findall(text):
        depth = max(0, depth + (1 if mark in "[{" else -1))
        deepest = max(deepest, depth)
    return deepest > _MOST_DEPTH


def without_what_is_before_the_first_line(text: str, signs: Sequence[str]) -> str | None:
    """Return the text without what stands before an output's first line alone; None where nothing does."""
    return _BEFORE_FIRST.sub("", text) if any(map(_BEFORE_FIRST.match, signs)) else None


def has_other_blanks(text: str) -> bool:
    """Whether there are blanks in a text that no tool writes."""
    return NO_BREAK in text or any(one in text for one in _OTHER_BLANKS)


def with_plain_characters(source: Source, signs: Sequence[str]) -> str | None:
    """Return the text with the blanks, quotation marks and line ends of ASCII; None where it has no others.

    Blanks without width and entities count where lines with signs of outputs have them, or no line has one.
    """
    known = source.opening[:-1].replace(_UNREAD, "")  # the last character of an opening may be cut
    is_other = len(known) < len(source.opening) - 1 and known.isascii()
    opening = source.decoded("cp1252") if is_other else source.opening
    has_others = NO_BREAK in opening or sum(map(opening.count, "“”«»")) >= _FEWEST_CURLED
    has_others = has_others or has_other_blanks("".join(signs) or opening)
    ends = "" if "\n" in opening else next((one for one in _LINE_ENDS if one in opening), "")
    if not (has_others or ends):
        return None
    text = opening if is_other else source.text
    for blank in _BLANK_FORMS if has_others else ():
        text = text.replace(blank, " ")
    return (text.replace(ends, "\n") if ends else text).translate(_PLAIN if has_others else {})


def service_messages(text: str, signs: Sequence[str]) -> InString | None:
    """Return what the service messages of TeamCity tell; None where there are none."""
    if not any("##teamcity[" in line for line in signs):
        return None
    rows = [
        (number, _BAR_ESCAPE.sub(_after_bar, message[1]))
        for number, line in enumerate(text.splitlines(), 1)
        for message in _SERVICE_MESSAGE.finditer(line)
    ]
    return joined([told for _, told in rows], [number for number, _ in rows])


def _after_bar(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _OF_BAR.get(escape[2], escape[2])


def in_base64(text: str) -> list[bytes]:
    """What stands in base64 in a text, as lines of their own, after a name, or in strings."""
    decoded = []
    for one in _BASE64.findall(text):
        told = "".join(one.split()).translate(_OF_URLS)
        with contextlib.suppress(ValueError):
            decoded.append(base64.b64decode(told + "=" * (-len(told) % 4), validate=True))
    return decoded


def of_quoted_printable(text: str) -> str | None:
    """Return a text of quoted-printable without a header decoded; None for other texts."""
    lines = text.splitlines()
    soft = [line for line in lines if line.endswith("=")]
    if (
        len(soft) < _FEWEST_BREAKS
        or max(map(len, lines)) > _WIDTH
        or min(map(len, soft)) < _WIDTH - _LONGEST_WORD
    ):
        return None
    return quopri.decodestring(text.encode()).decode("utf-8", "replace")


def with_written_line_ends(text: str, signs: Sequence[str]) -> str | None:
    r"""Return a text whose line ends are written as ``\n`` with these decoded; None for other texts."""
    if not any(line.count("\\n") >= _FEWEST_WRITTEN or line.endswith("\\n") for line in signs):
        return None
    return _of_python(text)


def parts_of_mail(text: str) -> list[bytes]:
    """What a mail as it was sent, or saved, holds: its text and what is attached."""
    begin = text.find("\n") + 1 if text.startswith("From ") else 0  # of a folder of mails
    try:
        mail = email.message_from_bytes(text[begin:].encode())
        parts = [part for part in mail.walk() if not part.is_multipart()]
    except RecursionError:  # mails in mails
        return []
    has_plain = any(part.get_content_type() == "text/plain" for part in parts)
    kept = [part for part in parts if not (has_plain and part.get_content_type() == "text/html")]
    payloads = [part.get_payload(decode=True) for part in kept]
    return [one for one in payloads if isinstance(one, bytes)]


def without_quotes_of_lines(text: str) -> str | None:
    """Return lines that are cells of CSV, quoted where they must be, as they were; None for other texts."""
    if '"' not in text:
        return None
    lines = []
    for line in text.splitlines():
        cell = _CELL.fullmatch(line) if '"' in line else None
        if cell is None and '"' in line:
            return None
        lines.append((cell[1].replace('""', '"') if cell else line) + "\n")
    return "".join(lines)


def is_mail(opening: str) -> bool:
    """Whether a text begins as a mail whose parts are encoded."""
    return bool(_MAIL.search(opening, 0, 16_384))


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


def unescaped(text: str, signs: Sequence[str]) -> InString | None:
    """Return a page of XML, or what else has entities for quotes, without these; None for other texts."""
    start = text[:_FEW].lstrip()
    is_html = "<html" in start.lower()
    is_page = (
        start.startswith("<") and (signs or not is_html) and not any("<Results>" in line for line in signs)
    )
    if (is_page and "</" in text) or any(map(_OF_LINES.search, signs)):
        shown = [_shown(line) for line in text.split("\n")]
        numbers = [number for number, one in enumerate(shown, 1) for _ in range(one.count("\n") + 1)]
        return InString("\n".join(shown), numbers)
    if not any(sign in text for sign in _AS_ENTITIES):
        return None
    blocks = [one for one in _BLOCK.findall(text) if any(sign in one for sign in _AS_ENTITIES)]
    return InString(without_entities("\n".join(_TAG.sub("", one) for one in blocks) or text), [])


def _shown(line: str) -> str:
    """A line of a page as it is shown."""
    told = _TAG.sub(_in_text, _LINE_NUMBER.sub(r"\1", line).replace("\0", ""))
    return without_entities(_BEGINS_LINE.sub("", told).replace("\0", "\n"))


def _in_text(tag: re.Match[str]) -> str:
    """What a tag is in the text that a page shows: nothing, a line's end, or the beginning of one."""
    name = _TAG_NAME.match(tag[0])
    word = name[1].lower() if name else ""
    if word in _INLINE:
        return ""
    if word in ("td", "th"):
        return "\t" if tag[0].startswith("</") else ""
    return "\n" if tag[0].startswith("</") or word == "br" else "\0"


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
