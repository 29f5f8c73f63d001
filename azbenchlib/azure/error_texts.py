"""The faults that stand in what az wrote: Azure's codes and messages, in any of the shapes that it has.

A fault is raw JSON of the service with nested details, whose messages may be JSON again; "Code: X" and
"Message: Y", also within a traceback of az; or "(Code) Message". JSON may have raw line breaks in its texts,
escapes that JSON does not know, or no end. Source: outputs of azure-cli in issue threads of Azure/azure-cli
(2401, 26504) and MicrosoftDocs/azure-docs (41402), read 2026-11.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_LONGEST = 100_000  # characters that are looked at
_MOST_TRIES = 200  # places at which JSON may begin
_DEEPEST = 5  # JSON in messages of JSON
# The innermost comes last. Of storage, the code is ErrorCode; it is None where something else answered in the
# service's place.
_CODES = (
    re.compile(r"\"code\"\s*:\s*\"(\w+)\""),
    re.compile(r"^\s*(?:Error)?Code:\s*(?!None$)(\w+)", re.MULTILINE),
    re.compile(r"^(?:ERROR: )?\((\w+)\)", re.MULTILINE),
)
_MESSAGES = (
    re.compile(r"\"message\"\s*:\s*\"((?:[^\"\\]|\\.)*)\""),
    re.compile(r"^\s*Message:\s*(.+)$", re.MULTILINE),
    re.compile(r"^(?:ERROR: )?\(\w+\)\s*(.+)$", re.MULTILINE),
    re.compile(r"^ERROR: (.+)$", re.MULTILINE),
)
_NO_ESCAPE = re.compile(r"\\(?![\"\\/bfnrt]|u[0-9a-fA-F]{4})(\\\\)*")
_DECODER = json.JSONDecoder(strict=False)  # raw line breaks may stand in texts


@dataclass(frozen=True)
class Fault:
    """A code of Azure, and what came with it; either may be empty."""

    code: str
    message: str


def faults(said: str, deep: int = 0) -> list[Fault]:
    """Return the faults in a text, the outermost first; empty where no code and no message can be told.

    Parameters
    ----------
    said : str
        What az wrote.
    deep : int
        In how many messages the text stands.
    """
    text = said[:_LONGEST]
    told = [fault for document in _documents(text) for fault in _within(document, deep)]
    return told if any(fault.code for fault in told) else _in_words(text)


def _documents(text: str) -> Iterator[Any]:
    """The JSON objects in a text."""
    mended, at = _NO_ESCAPE.sub(lambda match: "\\" + match[0], text), 0
    for _ in range(_MOST_TRIES):
        at = mended.find("{", at)
        if at < 0:
            return
        try:
            document, at = _DECODER.raw_decode(mended, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield document


def _within(value: Any, deep: int) -> Iterator[Fault]:
    """The faults in a JSON value: its own, then those of its parts and of its message."""
    if isinstance(value, list):
        for part in value:
            yield from _within(part, deep)
    if not isinstance(value, dict):
        return
    named = {str(name).lower(): part for name, part in value.items()}
    code, message = (text if isinstance(text := named.get(name), str) else "" for name in ("code", "message"))
    if code or message:
        yield Fault(code, message)
    for part in named.values():
        if isinstance(part, dict | list):
            yield from _within(part, deep)
        elif isinstance(part, str) and "{" in part and deep < _DEEPEST:
            yield from (fault for fault in faults(part, deep + 1) if fault.code)


def _in_words(text: str) -> list[Fault]:
    """The faults of a text without whole JSON: of the first shape that has a code, and a message."""
    codes = next((found for pattern in _CODES if (found := pattern.findall(text))), [])
    messages = next((found for pattern in _MESSAGES if (found := pattern.findall(text))), [])
    messages = [message.replace('\\"', '"').strip() for message in messages]
    if len(codes) == len(messages):
        return [Fault(*pair) for pair in zip(codes, messages, strict=True)]
    last = messages[-1] if messages else ""
    return [Fault(code, last) for code in codes] or ([Fault("", last)] if last else [])
