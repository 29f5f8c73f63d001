"""What programs put before each line that they pass on: times, levels, names in brackets, numbers, quotes.

A prefix is a row of such components, each of one form on all lines.

Sources: RFC 3164 and RFC 5424 (syslog), journalctl(1), docs.docker.com (compose logs), kubernetes.io (kubectl
logs), docs.gitlab.com (job logs with time stamps), klog's header, Python's logging, cat(1), nl(1), grep(1);
read in 2026.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Match = re.Match[str]

SHARE = 0.6  # of the lines have a prefix that counts
NEARLY_ALL = 0.9  # of them, where the component could as well be the beginning of what a tool wrote
_LEAST_SHARE = 0.04  # of the lines with a name, which thus is one of some programs that wrote by turns
_OFTEN = 0.1  # of the lines have a host's name; the first words of fio's own lines come less often
_STEPS = 0.5  # of the lines have the next number
_FEW_LINES = 4  # all of which begin with a text that counts
_LONGEST_TEXT, _MOST_PARTS = 240, 24  # characters, and parts, of what lines begin with
_MOST_TURNS = 1.5  # times as often as it has values a number changes; that of a program by turns more often
_DIGITS = re.compile(r"\d{1,19}")
_MARK = re.compile(r"\S[\s\w.]{0,99}[^\s\w.]|[^\s\w.][^\n]{0,99}\S")  # of at least two characters
_END_OF_PART = re.compile(r"[^\w\s.]|\s(?=\S|$)")
_END = r"(?=[ \t]|$)"
_BLANKS = r"[ \t]{0,40}"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? {1,2}"
_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,:]\d{1,9})?(?: ?[AaPp][Mm]\b)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[A-Z]{3,4}(?= )|[+-]\d{2}:?\d{2}))?"
_TIME = (
    rf"\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?:[T _@-]|, ){_CLOCK}{_ZONE}"
    rf"|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}},?[T _-]{_CLOCK}{_ZONE}"
    rf"|(?:{_DAY})?{_MONTH} {{1,2}}\d{{1,2}},? (?:\d{{4}},? )?{_CLOCK}{_ZONE}(?: \d{{4}}\b)?"
    rf"|(?:{_DAY})?\d{{1,2}}[-/ ]{_MONTH}[-/ ]\d{{2,4}}[: ]{_CLOCK}{_ZONE}"
    rf"|\d{{2}}-\d{{2}} {_CLOCK}"
    rf"|\d{{8}}[T -]?\d{{6}}(?:[.,]\d{{1,9}})?{_ZONE}|\d{{8}} {_CLOCK}{_ZONE}"
    rf"|[IWEF]\d{{4}} {_CLOCK} {{1,9}}\d{{1,9}} [\w./-]{{1,80}}:\d{{1,6}}\]"  # klog
    rf"|{_CLOCK}{_ZONE}"
    r"|1\d{9}(?:[.,]\d{1,9})?|1\d{12,18}"  # since 1970
    r"|\+?\d{1,9}\.\d{1,9}(?: ?m?s)?|[+]?\d{1,6}(?:\.\d{1,9})? ?(?:ms|s)"  # since the start
    r"|(?:\d{1,3}:)?\d{1,3}:\d{2}(?:\.\d{1,9})"
)
_OPEN, _CLOSE = r"(?P<open>[\[(<{\"'][ \t]{0,9})?", r"(?(open)[ \t]{0,9}[\])>}\"'])"
# what follows the name of a job or a direction in fio's own lines
_NOT_FIO = r"(?! {0,9}(?:\((?:g|groupid)=\d|IOPS=|io=))"
_AFTER = r"(?:[iWEFt]?:(?=[ \t]))?(?:[ \t]?[|:>-]{1,2}" + _END + r")?"  # no comma: columns of CSV have them


def _start(pattern: str) -> re.Pattern[str]:
    return re.compile(_BLANKS + pattern)


@dataclass(frozen=True)
class Component:
    """A part of a prefix.

    Attributes
    ----------
    what : str
        What it is, for a sentence.
    pattern : Pattern
        How it looks; the group `value`, where there is one, is who wrote the line.
    fits : callable
        Whether the matches on some lines, None where there is none, are those of a prefix.
    goes_first : bool
        Whether it may be the first component.
    """

    what: str
    pattern: re.Pattern[str]
    fits: Callable[[Sequence[Match | None]], bool]
    goes_first: bool = True


def _is_shared(matches: Sequence[Match | None]) -> bool:
    return sum(match is not None for match in matches) >= SHARE * len(matches)


def _is_always(matches: Sequence[Match | None]) -> bool:
    """Whether nearly all lines have it, and it is the same on these."""
    texts = Counter(match[0].strip() for match in matches if match)
    return bool(texts) and texts.most_common(1)[0][1] >= NEARLY_ALL * len(matches)


def _are_names(matches: Sequence[Match | None]) -> bool:
    """Whether most lines have one of a few names."""
    names = Counter(match["value"] for match in matches if match)
    least = max(min(2, len(matches)), _LEAST_SHARE * len(matches))
    return sum(count for count in names.values() if count >= least) >= SHARE * len(matches)


def _are_often(matches: Sequence[Match | None]) -> bool:
    """Whether nearly all lines have one of some names, each of them often."""
    names = Counter(match["value"] for match in matches if match)
    often = sum(count for count in names.values() if count >= _OFTEN * len(matches))
    return often >= NEARLY_ALL * len(matches)


def _are_numbers(matches: Sequence[Match | None]) -> bool:
    """Whether most lines have a number, which grows, mostly by as much each time."""
    numbers = [int(match["number"]) for match in matches if match]
    if len(numbers) < max(3, NEARLY_ALL * len(matches)):
        return False
    steps = Counter(later - earlier for earlier, later in pairwise(numbers))
    return min(steps) > 0 and steps[1] >= _STEPS * (len(numbers) - 1)


def may_be_before(component: Component, lines: Sequence[str]) -> bool:
    """Whether a component may stand before most of some lines that do not follow each other."""
    if not component.goes_first or not any(map(component.pattern.match, lines[:2])):
        return False
    matches = [component.pattern.match(line) for line in lines]
    return _is_always(matches) if component.fits is _is_always else _is_shared(matches)


def shared_text(lines: Sequence[str], most_others: int) -> list[Component]:
    """What nearly all lines begin with, but for numbers that grow: each part of it, the shortest first.

    Parameters
    ----------
    lines : sequence of str
        The lines.
    most_others : int
        How many of them may begin with something else, where they are not few.
    """
    shapes = sorted(_DIGITS.sub("0", line[:_LONGEST_TEXT]) for line in lines)
    n_with = len(shapes)
    if n_with > _FEW_LINES:
        n_with = max(_FEW_LINES, min(n_with - most_others, math.ceil(NEARLY_ALL * n_with)))
    pairs = zip(shapes, shapes[n_with - 1 :], strict=False)
    text = max((_common(*pair) for pair in pairs), key=len, default="")
    ends = [end.end() for end in _END_OF_PART.finditer(text) if _MARK.search(text, 0, end.end())]
    found = (_of_shape(text[:end], lines) for end in ends[:_MOST_PARTS])
    return [one for one in found if one is not None]


def _common(one: str, other: str) -> str:
    """What two texts begin with."""
    n_same = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    return one[: min(len(one), len(other)) if n_same is None else n_same]


def _of_shape(shape: str, lines: Sequence[str]) -> Component | None:
    """A text in which 0 stands for numbers; None where these tell of several programs."""
    parts = [re.escape(part) for part in shape.split("0")]
    start = re.compile(r"(\d{1,19})".join(parts))
    rows = [match.groups() for line in lines if (match := start.match(line))]
    told = []
    for values in zip(*rows, strict=True):
        n_values = len(set(values))
        if 1 + sum(one != other for one, other in pairwise(values)) > _MOST_TURNS * n_values:
            return None
        told.append(r"\d{1,19}" if n_values > 1 else values[0])
    pattern = parts[0] + "".join(f"{number}{part}" for number, part in zip(told, parts[1:], strict=True))
    return Component("a text", re.compile(pattern + _NOT_FIO), _is_shared)


COMPONENTS = (
    Component("a time", _start(rf"{_OPEN}(?:{_TIME}){_CLOSE}{_AFTER}{_END}"), _is_shared),
    Component("a priority", _start(r"<\d{1,3}>\d{0,2}"), _is_shared),
    Component("the mark of a stream", _start(r"\[std(?:out|err)\]"), _is_always),
    Component(
        "a level",
        _start(
            r"[\[(<]?(?i:trace|debug|info|information|notice|warn|warning|error|critical|fatal|verbose|stdout"
            r"|stderr|out|err)[\])>]?(?:[ \t]{0,9}[|:;>]{1,2}|" + _END + r")(?:[ \t]?-" + _END + ")?"
        ),
        _is_shared,
    ),
    Component(  # of logrus and the like, where the line is not in quotes
        "a row of names and values",
        re.compile(r'(?:[\w.]{1,30}=(?:"[^"\n]{0,200}"|[^\s"]{1,100}) ){1,9}(?:msg|message)='),
        _is_shared,
    ),
    # GitLab: the number of the stream, O or E, and + where the line before goes on
    Component("the mark of a stream", re.compile(r" \d{2}[OE][+ ]?"), _is_shared, False),
    Component("the mark of a stream", re.compile(r" (?:stdout|stderr) [FP]" + _END), _is_shared, False),
    Component(
        "a name",
        _start(
            r"(?P<value>\[[^\]\"\n]{1,100}\]|\([^)\n]{1,100}\)|\{[\w./:-]{1,60}\})(?::?"
            + _END
            + r"|(?=[\[<]))"
        ),
        _is_shared,
    ),
    Component("a name", _start(r"(?P<value>\{[^{}\n]{1,200}\})" + _END), _are_names, False),  # labels of Loki
    Component(  # terraform: a resource of for_each
        "a name",
        re.compile(
            r'(?P<value>[^\s"]{1,100}(?:"[^"\n]{1,60}"[^\s"]{1,100}){1,4} \((?:local|remote)-exec\)):'
        ),
        _are_names,
    ),
    Component("a quotation mark", re.compile(r"\+{1,2}|-|[>|\u2502]{1,3}"), _is_always),  # of diff and sh -x
    Component("a name", re.compile(r"(?P<value>[^\s:|\"{}<=(]{1,100}):" + _NOT_FIO), _is_always),
    Component("a name", _start(r"(?P<value>[^\s:|\"{}<=(]{1,100})[ \t]{1,40}:" + _END), _is_always),
    Component(
        "a name",
        _start(
            r"(?:[=-]{1,2}> |&?\d{1,3}\|)?"
            r"(?P<value>[^\s:|>\"{}\[\]]{1,100}(?:\[\d{1,9}\])?(?: \([\w ./-]{1,40}\))?)"
            rf"(?::{_NOT_FIO}(?=[ \t\d]|$)|[ \t]{{0,40}}[|\u2502](?=[ \t]|$)|>{_END})"
        ),
        _are_names,
    ),
    Component("a name", re.compile(r"(?P<value>[^\s:|\"{}<=(]{1,100})[:-](?=\d{1,8}[:-])"), _are_names),
    Component(
        "a number",
        _start(r"(?P<number>\d{1,8})(?:[:|)\].-]{1,2}|[ \t]{1,4}[|\u2502])?(?=[ \t]|$|(?<=[:-]))"),
        _are_numbers,
    ),
    Component(
        "a quotation mark",
        _start(r"(?:(?:[>#*|;:!%\u2502\u2503\u2551]|//|--|::){1,3}" + _END + ")"),
        _is_always,
    ),
    Component("a name", re.compile(r"[ \t]{1,9}(?P<value>[^\s\"{}<=|]{1,100})" + _END), _are_often, False),
    Component("a name", _start(r"(?P<value>[^\s\"{}<=|;(]{1,100})(?<!:)" + _END), _is_always),
)
