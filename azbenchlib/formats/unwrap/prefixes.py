"""Prefixes that programs put before each line: found by their form on most lines, and taken off.

Lines around the first sign of an output are looked at. A prefix counts where most of them have it, those with
signs above all; it is taken off all lines that have its form, and other lines stay as they are. Lines of
several programs that wrote by turns, which a name in the prefix tells apart, are texts of their own. What is
of no known form is taken off where nearly all lines begin with it, but for numbers that grow.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from azbenchlib.formats.source import Source
from azbenchlib.formats.unwrap.components import (
    COMPONENTS,
    NEARLY_ALL,
    SHARE,
    Component,
    may_be_before,
    shared_text,
)
from azbenchlib.formats.unwrap.signs import ANCHORED, ANYWHERE

_BEFORE, _LOOKED_AT = 2, 240  # lines: before the first sign, and in all
_MOST_COMPONENTS = 9
_MOST_STREAMS, _FEWEST_OF_STREAM = 64, 6  # programs that wrote, and lines of each on average
_LONGEST_PREFIX = 400  # characters of a line that are looked at
_SHOWN = 60
_CLOSING = {"['": "']", '["': '"]'}  # of a list of one string
_FEWEST = 2  # lines
# A place in a source file or a number differs from line to line, and tells of no other program.
_NOISE = re.compile(r"[\[(]?(?:[\w./\\-]{0,80}:)?(?:0x)?[\da-fA-F]{1,16}[\])]?")


@dataclass(frozen=True)
class Stream:
    """Lines without their prefix.

    Attributes
    ----------
    lines : list of str
    numbers : list of int
        Of each, the number of its line in the text, from 1.
    """

    lines: list[str]
    numbers: list[int]


@dataclass(frozen=True)
class Unprefixed:
    """A text whose prefix was taken off; `what` tells of it, as the end of a sentence."""

    streams: list[Stream]
    what: str


def may_be_prefixed(lines: Sequence[str]) -> bool:
    """Whether something may stand before most of some lines with the signs of outputs."""
    if _is_bare(lines):
        return False
    return any(may_be_before(component, lines) for component in COMPONENTS) or bool(_texts(lines))


def without_prefix(source: Source, claims: Callable[[str], bool]) -> Unprefixed | None:
    """Return the lines of a text without what stands before each; None where that is nothing.

    Parameters
    ----------
    source : Source
        The text; its opening tells whether there is a prefix.
    claims : callable
        Whether a reader claims a text.
    """
    components = _prefix_of(_sample(source.opening), claims)
    if not components:
        return None
    lines = source.text.splitlines()
    ends = [_end_of(line, components) for line in lines]
    if not any(ends):
        return None
    indent = min((_indent(line, end) for line, end in zip(lines, ends, strict=True) if end), default=0)
    shown = next((line[:end].strip() for line, end in zip(lines, ends, strict=True) if end), "")
    names = [_name_of(line, components) if end else None for line, end in zip(lines, ends, strict=True)]
    bare = [line[end + indent :] if end else line for line, end in zip(lines, ends, strict=True)]
    if closing := _CLOSING.get(shown):
        bare = [line.removesuffix(closing) if end else line for line, end in zip(bare, ends, strict=True)]
    _leave_out_foreign(bare, ends)
    whats = list(dict.fromkeys(component.what for component in components))
    what = f"{_listed(whats)} ({_short(shown)})"
    return Unprefixed(_streams(bare, names), what)


def without_indent(text: str) -> str | None:
    """Return the text without the blanks that all of its lines begin with; None where there are none."""
    lines = text.splitlines()
    filled = [line for line in lines if line.strip()]
    width = min((len(line) - len(line.lstrip(" \t")) for line in filled), default=0)
    shared = filled[0][:width] if filled else ""
    if not width or not all(line.startswith(shared) for line in filled):
        return None
    return "\n".join(line[width:] for line in lines) + "\n"


def without_block_indent(text: str, sign: str) -> str | None:
    """Return the text without the blanks before a block of lines, of which one is given; None as above."""
    lines = text.splitlines()
    begin = end = lines.index(sign) if sign in lines else 0
    while begin and lines[begin - 1][:1] in ("", " ", "\t"):
        begin -= 1
    while end < len(lines) and lines[end][:1] in ("", " ", "\t"):
        end += 1
    block = without_indent("\n".join(lines[begin:end]))
    if block is None:
        return None
    return "\n".join([*lines[:begin], block.removesuffix("\n"), *lines[end:]]) + "\n"


def _sample(opening: str) -> list[str]:
    """Lines near the first sign of an output, without empty ones."""
    sign = ANYWHERE.search(opening)
    begin = 0
    if sign:
        before = opening[max(0, sign.start() - _BEFORE * _LONGEST_PREFIX) : sign.start()].splitlines()
        begin = sign.start() - sum(map(len, before[-_BEFORE:])) - len(before[-_BEFORE:]) + 1
        begin = opening.rfind("\n", 0, max(0, begin)) + 1
    rest = opening[begin : begin + _LOOKED_AT * 4 * _LONGEST_PREFIX].splitlines()
    return list(islice((line for line in rest if line.strip()), _LOOKED_AT))


def _prefix_of(sample: Sequence[str], claims: Callable[[str], bool]) -> list[Component]:
    """The components that most lines of a sample begin with."""
    found: list[Component] = []
    rests = [line[:_LONGEST_PREFIX] for line in sample]
    has_signs = any(map(ANYWHERE.search, rests))
    while rests and len(found) < _MOST_COMPONENTS and not _is_bare(rests):
        if found and not has_signs and claims("\n".join(rests)):
            break
        signs = _with_signs(rests)
        fitting = (one for one in COMPONENTS if _fits(one, rests, signs, bool(found)))
        component = next(fitting, None) or _text_of(rests)
        if component is None:
            break
        found.append(component)
        rests = [rest for line in rests if (rest := _rest(component, line)).strip()]
    return found if len(sample) >= _FEWEST or _is_bare(rests) else []


def _texts(lines: Sequence[str]) -> list[Component]:
    """The texts that may stand before most lines; those without signs show them, where there are some."""
    others = [line for line in lines if not ANYWHERE.search(line)]
    return shared_text(others if len(others) >= _FEWEST else lines, _BEFORE + 1)


def _text_of(lines: Sequence[str]) -> Component | None:
    """The shortest text before most lines without which these are bare; else the longest."""
    signs = _with_signs(lines)
    found = [one for one in _texts(lines) if _fits(one, lines, signs, True) and _keeps_signs(one, lines)]
    bare = (one for one in found if _is_bare([_rest(one, line) for line in lines]))
    has_others = any(not ANYWHERE.search(line) for line in lines)
    return next(bare, found[-1] if found and has_others else None)


def _keeps_signs(component: Component, lines: Sequence[str]) -> bool:
    """Whether what tells of an output stands behind a component, on all lines that have both."""
    matches = ((component.pattern.match(line), ANYWHERE.search(line)) for line in lines)
    return all(match.end() <= sign.start() for match, sign in matches if match and sign)


def _is_bare(lines: Sequence[str]) -> bool:
    """Whether the lines that begin outputs have nothing before them, as far as that shows."""
    signs = _with_signs(lines)
    bare = sum(map(bool, map(ANCHORED.match, signs or lines)))
    return bare > 0 and bare >= (1 - SHARE) * len(signs)


def _with_signs(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if ANYWHERE.search(line)]


def _fits(component: Component, lines: Sequence[str], signs: Sequence[str], is_later: bool) -> bool:
    if not (is_later or component.goes_first):
        return False
    if sum(map(bool, map(component.pattern.match, signs))) < SHARE * len(signs):
        return False
    matches = [component.pattern.match(line) for line in lines]
    first = next((place for place, match in enumerate(matches[:_BEFORE]) if match), _BEFORE)
    return component.fits(matches[first:] or matches)


def _rest(component: Component, line: str) -> str:
    match = component.pattern.match(line)
    return line[match.end() :] if match else ""


def _end_of(line: str, components: Sequence[Component]) -> int:
    """Where the prefix of a line ends; 0: it has none."""
    if not line:
        return 0
    place, head = 0, line[:_LONGEST_PREFIX]
    for component in components:
        match = component.pattern.match(head, place)
        if match is None:
            return place if place == len(line) else 0
        place = match.end()
    return place


def _indent(line: str, end: int) -> int:
    """How many blanks follow a prefix."""
    rest = line[end:]
    stripped = rest.lstrip(" \t")
    return len(rest) - len(stripped) if stripped else _LONGEST_PREFIX


def _name_of(line: str, components: Sequence[Component]) -> tuple[str, ...]:
    """Who wrote a line."""
    names, place = [], 0
    for component in components:
        match = component.pattern.match(line, place)
        if match is None:
            return ()
        place = match.end()
        if "value" in component.pattern.groupindex and not _NOISE.fullmatch(match["value"]):
            names.append(match["value"])
    return tuple(names)


def _leave_out_foreign(lines: list[str], ends: Sequence[int]) -> None:
    """Empty the lines of other programs: the few without a prefix that look like a sentence."""
    places = [place for place, end in enumerate(ends) if end]
    if len(places) < NEARLY_ALL * (places[-1] - places[0] + 1):
        return
    for place in range(places[0], places[-1]):
        if not ends[place] and lines[place][:1].isalpha() and not ANYWHERE.search(lines[place]):
            lines[place] = ""


def _streams(lines: Sequence[str], names: Sequence[tuple[str, ...] | None]) -> list[Stream]:
    """The lines of each name; those without one stay with the line before."""
    counts = Counter(name for name in names if name is not None)
    if len(counts) <= 1 or len(counts) > min(_MOST_STREAMS, len(lines) / _FEWEST_OF_STREAM):
        return [Stream(list(lines), list(range(1, len(lines) + 1)))]
    found: dict[tuple[str, ...], Stream] = defaultdict(lambda: Stream([], []))
    last = next(name for name in names if name is not None)
    for number, (line, name) in enumerate(zip(lines, names, strict=True), 1):
        last = last if name is None else name
        found[last].lines.append(line)
        found[last].numbers.append(number)
    return list(found.values())


def _listed(whats: Sequence[str]) -> str:
    return whats[0] if len(whats) == 1 else f"{', '.join(whats[:-1])} and {whats[-1]}"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"
