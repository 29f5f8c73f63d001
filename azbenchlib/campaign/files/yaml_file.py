"""A YAML file as plain values, with the line of every key: no tags, nothing twice, nothing that grows.

Names stay text as they were typed (YAML would make a truth value of ``on``), and so do days. Aliases and
merge keys are taken as far as they stay small.
"""

import unicodedata
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from azbenchlib.campaign.workloads.fio_options import shown
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB

_LARGEST = 128 * KIB  # of a file, in bytes; shipped ones have 3 KiB
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same rules, ten times as fast
_MOST = 20_000  # values and keys, those that aliases repeat included
DEEPEST = 12  # a measurement file needs 6
_LONGEST = 4000  # characters of a value
MOST_DIGITS = 20  # 2^64 has so many

_TAG = "tag:yaml.org,2002:"
_AS_TYPED = ("str", "timestamp")
_SCALARS = (*_AS_TYPED, "null", "bool", "int", "float")

_ODD = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of characters, ends of lines of other kinds

Keys = tuple[str | int, ...]


@dataclass
class YamlFile:
    """What a file says, and where."""

    content: Any = None  # mappings, lists, text, numbers, truth values and None
    # From the keys that lead to a value to the line of the last of them, from 1.
    lines: dict[Keys, int] = field(default_factory=dict)

    def line(self, keys: Keys) -> int:
        """The line of what these keys lead to, or of as many of them as there are; 1 where none is."""
        known = (self.lines[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in self.lines)
        return next(known, 1)


def read(path: Path) -> YamlFile:
    """A YAML file.

    Raises an InputError with the file and the line of what cannot be taken.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > _LARGEST:
        raise InputError(f"{path}: is larger than {_LARGEST // KIB} KiB, so it is no measurement file")
    try:
        return _Builder().document(text)
    except _Refused as refused:
        raise InputError(f"{path}:{refused.line}: {refused.sentence}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        said = getattr(error, "problem", None) or getattr(error, "reason", None) or error
        raise InputError(f"{path}{line}: is not YAML: {' '.join(str(said).split())}") from error


class _Refused(Exception):  # noqa: N818  it is turned into an InputError, with the file
    """What cannot be taken, and its line."""

    def __init__(self, node: Node | yaml.Event, sentence: str) -> None:
        super().__init__(sentence)
        self.line = _line(node)
        self.sentence = sentence


def _line(node: Node | yaml.Event) -> int:
    return node.start_mark.line + 1 if node.start_mark else 1


class _Builder:
    """From YAML's nodes to plain values; `left`: how many more may come."""

    def __init__(self) -> None:
        self._left = _MOST
        self._scalars = SafeConstructor()
        self._found = YamlFile()

    def document(self, text: str) -> YamlFile:
        _check_depth(text)
        node = yaml.compose(text, Loader=_LOADER)
        if node is not None:
            self._found.content = self._value(node, ())
        return self._found

    def _value(self, node: Node, keys: Keys) -> Any:
        self._left -= 1
        if self._left < 0 or len(keys) > DEEPEST:
            raise _Refused(
                node, f"aliases make more than {_MOST:,} values of this file; write it without them"
            )
        if isinstance(node, MappingNode) and node.tag == f"{_TAG}map":
            return {
                key: self._entry(key, key_node, value, keys)
                for key, (key_node, value) in self._pairs(node).items()
            }
        if isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq":
            return [self._entry(n, item, item, keys) for n, item in enumerate(node.value)]
        if isinstance(node, ScalarNode) and node.tag.removeprefix(_TAG) in _SCALARS:
            return self._scalar(node)
        raise _Refused(node, f"the tag {shown(node.tag.replace(_TAG, '!!'))} is not taken; leave it out")

    def _entry(self, key: str | int, at: Node, value: Node, keys: Keys) -> Any:
        self._found.lines.setdefault((*keys, key), _line(at))
        return self._value(value, (*keys, key))

    def _pairs(self, node: MappingNode) -> dict[str, tuple[Node, Node]]:
        """The keys of a mapping with their nodes; what is merged into it comes first."""
        merged: dict[str, tuple[Node, Node]] = {}
        own: dict[str, tuple[Node, Node]] = {}
        for key_node, value in node.value:
            self._left -= 1
            if key_node.tag == f"{_TAG}merge":
                merged = {**self._merged(value), **merged}
                continue
            if not isinstance(key_node, ScalarNode):
                raise _Refused(key_node, "a key must be a name")
            _check_text(key_node)
            _check_begin(key_node)
            if key_node.value in own:
                raise _Refused(key_node, f"the key '{shown(key_node.value)}' is there twice; keep one")
            own[key_node.value] = (key_node, value)
        return {**merged, **own}

    def _merged(self, node: Node) -> dict[str, tuple[Node, Node]]:
        """What ``<<`` brings: the keys of mappings, earlier ones first."""
        parts = node.value if isinstance(node, SequenceNode) else [node]
        found: dict[str, tuple[Node, Node]] = {}
        for part in parts:
            self._left -= 1
            if not isinstance(part, MappingNode) or any(key.tag == f"{_TAG}merge" for key, _ in part.value):
                raise _Refused(node, "<< takes names with what each is, without another << in them")
            if self._left < 0:
                raise _Refused(node, f"merging makes more than {_MOST:,} values of this file")
            found = {**self._pairs(part), **found}
        return found

    def _scalar(self, node: ScalarNode) -> Any:
        _check_text(node)
        kind = node.tag.removeprefix(_TAG)
        if kind in _AS_TYPED or (kind in ("int", "float") and ":" in node.value):  # 1:30 would be 90
            _check_begin(node)
            return str(node.value)
        try:
            return self._scalars.construct_object(node)
        except ValueError as error:
            raise _Refused(node, f"'{shown(node.value)}' is not a number") from error


def _check_depth(text: str) -> None:
    """Refuse what is nested so deeply that YAML's own reader would not come back from it."""
    depth = 0
    for number, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise _Refused(event, f"is nested more than {DEEPEST} deep")
        if number > 2 * _MOST:
            raise _Refused(event, f"the file has more than {_MOST:,} values")


def _check_text(node: ScalarNode) -> None:
    """Refuse a text that is too long, and characters that are none."""
    text: str = node.value
    if len(text) > _LONGEST:
        raise _Refused(node, f"the value has {len(text):,} characters; at most {_LONGEST:,} are read")
    if odd := next((char for char in text if unicodedata.category(char) in _ODD and char not in "\n\t"), ""):
        raise _Refused(node, f"the value holds the character U+{ord(odd):04X}, which is no text")
    digits = 0
    for char in text:
        digits = digits + 1 if char.isdecimal() else 0
        if digits > MOST_DIGITS:
            raise _Refused(node, f"'{shown(text)}' is a number of more than {MOST_DIGITS} digits")


def _check_begin(node: ScalarNode) -> None:
    """Refuse what a program would take for an option, or az for the name of a file to read."""
    if node.value.lstrip().startswith(("@", "-")):
        raise _Refused(
            node, f"'{shown(node.value)}' begins with {node.value.lstrip()[0]}, as nothing here may"
        )
