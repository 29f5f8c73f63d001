"""Outputs of several tools in one text, each cut out for its own reader.

An output begins with the line that has the sign of its tool, and ends where another begins or where its
tool writes its last line. What the reader of the whole text sees is the text without those of others: their
lines are empty, so that all lines keep their numbers.
"""

import re
from dataclasses import dataclass

from azbenchlib.formats.unwrap.signs import SIGNS

_PROMPT = re.compile(
    r"[ \t]{0,20}(?:[\w.@:~/\\()\[\] -]{0,99}[$#>]|\+{1,3})[ \t]+\S|[ \t]{0,99}\{[ \t]{0,99}$"
)
_ROW = re.compile(r"^[^|\n]{0,999}\|[^\n]*", re.MULTILINE)
_ENDS = {  # what the last line of an output has
    "iozone text": re.compile(r"iozone test complete\.[^\n]*"),
    "diskspd XML": re.compile(r"</Results>"),
    "diskspd text": _ROW,
    "sysstat text": re.compile(r"^[^\n]{0,999}\d[ \t]{0,99}$", re.MULTILINE),
}
_ONE_EACH = ("iozone text",)  # of these, each beginning is of an output of its own
_MOST_OUTPUTS = 1000  # of several tools in one text
FIO = "fio"


@dataclass(frozen=True)
class Output:
    """One output: the name of its sign, its text, and the number of its first line, from 1."""

    name: str
    text: str
    first_line: int


@dataclass(frozen=True)
class Transcript:
    """The outputs that were cut out of a text, and the text without them; None where nothing else counts."""

    outputs: list[Output]
    rest: str | None


def cut(text: str, claimed_by: str | None) -> Transcript | None:
    """Cut a text into the outputs of several tools; None where one reader reads all of it.

    Parameters
    ----------
    text : str
        The text.
    claimed_by : str or None
        The name of the format that claims it as a whole.
    """
    own = next((name for name in SIGNS if claimed_by and claimed_by.startswith(name)), None)
    if not any(word in text for name, sign in SIGNS.items() if name != own for word in sign.words):
        return None
    begins = _begins(text)
    if all(name == own for _, name in begins):
        return None
    keeps_rest = claimed_by is not None and own in (FIO, None)
    spans = [span for span in _spans(text, begins) if not (keeps_rest and span[2] == own)]
    if len(spans) > _MOST_OUTPUTS:
        return None
    outputs, line, counted = [], 1, 0
    for begin, end, name in spans:
        line, counted = line + text.count("\n", counted, begin), begin
        outputs.append(Output(name, text[begin:end], line))
    if not keeps_rest:
        return Transcript(outputs, None)
    parts: list[str] = []
    place = 0
    for begin, end, _ in spans:
        parts += text[place:begin], "\n" * text.count("\n", begin, end)
        place = end
    return Transcript(outputs, "".join((*parts, text[place:])))


def _begins(text: str) -> list[tuple[int, str]]:
    """The lines that begin outputs, as places in the text, each with the name of its sign."""
    found = [
        (match.start(), name)
        for name, sign in SIGNS.items()
        if any(word in text for word in sign.words)
        for match in sign.line.finditer(text)
    ]
    return sorted(found)


def _spans(text: str, begins: list[tuple[int, str]]) -> list[tuple[int, int, str]]:
    """From where to where each output goes, and the name of its sign."""
    firsts = [
        (place, name)
        for number, (place, name) in enumerate(begins)
        if number == 0 or begins[number - 1][1] != name or name in _ONE_EACH
    ]
    starts = [_with_lines_before(text, place) if name == FIO else place for place, name in firsts]
    found = []
    for number, (place, name) in enumerate(firsts):
        begin, end = starts[number], starts[number + 1] if number + 1 < len(firsts) else len(text)
        lasts = [match.end() for match in _ENDS[name].finditer(text, place, end)] if name in _ENDS else []
        found.append((begin, lasts[-1] if lasts else end, name))
    return found


def _with_lines_before(text: str, place: int) -> int:
    """Where an output begins: with the command before its first line, and the brace of its JSON."""
    while place:
        before = text.rfind("\n", 0, place - 1) + 1
        if place - before > 4096 or not _PROMPT.match(text[before : place - 1]):
            break
        place = before
    return place
