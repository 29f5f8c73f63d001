"""JSON from outside: decoded without trust, and the first fault that a schema finds in it, in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from azbenchlib.core.printable import one_line

if TYPE_CHECKING:
    from pydantic import ValidationError

_QUOTED = 80  # characters of a wrong value that a sentence repeats


def decoded(data: bytes | str) -> Any:
    """Return the value that JSON stands for.

    Raises
    ------
    ValueError
        When it is no JSON, is nested too deeply, or holds a number of thousands of digits, or text that is
        none (half of a surrogate pair).
    """
    text = data if isinstance(data, str) else data.decode(json.detect_encoding(data))
    try:
        content = json.loads(text)
        if "\\ud" in text.lower():  # only so can JSON spell it
            json.dumps(content, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return content


def first_fault(error: ValidationError) -> str:
    """Return what a schema found first: the field, its value, and what it may be."""
    first: Any = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    fault = str(first["msg"]).removeprefix("Value error, ")
    fault = fault.partition(" or instance of ")[0]  # a class of ours
    if not where:
        return fault
    given = first["input"]
    is_shown = given is None or isinstance(given, str | int | float)
    value = f" {_shown(given)}" if is_shown else ""
    return f"{one_line(where)}{value}: {fault}"


def _shown(value: str | float | None) -> str:
    try:
        text = json.dumps(value[:_QUOTED] if isinstance(value, str) else value, ensure_ascii=False)
    except ValueError:  # an integer of thousands of digits
        return "of thousands of digits"
    return one_line(text[:_QUOTED])
