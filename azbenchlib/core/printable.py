"""Text that others wrote, made fit to be shown: it commands no terminal, and is no formula in a spreadsheet.

Names of jobs, files and setups are whatever somebody wrote. A terminal obeys escape sequences in them (clear
the screen, set its title, link elsewhere), and characters that turn the direction of writing make a line read
as another, in a terminal and on a page: figures behind a name come out mirrored. Each such character becomes
one visible character.
"""

from __future__ import annotations

import json
import re
import unicodedata
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from azbenchlib.core.units import NBSP

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = "\ufffd"  # in the place of a character that cannot be shown; control characters have pictures
_PICTURES = 0x2400  # of U+0000; those of the others follow. Source: Unicode, block Control Pictures
_DELETE, _PICTURE_OF_DELETE = 0x7F, 0x2421

# What is looked at closely: all but ASCII and the Latin letters, which most texts consist of.
_ODD = re.compile(r"[^\n\t -~\u00a0-\u00ac\u00ae-\u02ff]")
# Control characters, format characters (direction, zero width, tags), surrogates (names of files that are no
# UTF-8), ends of lines and of paragraphs. Source: Unicode Standard, General Category.
_COMMANDS = ("Cc", "Cf", "Cs", "Zl", "Zp")
_JOINERS = "\u200c\u200d"  # between letters of Persian, and in emoji

# What a spreadsheet takes for the beginning of a formula, behind what it may strip before it looks; the wide
# forms are those of East Asian input. A sign alone is none. Source: OWASP, "CSV Injection", 2025.
_FORMULA = re.compile(r"'*[\t\n]|['\s\u200c\u200d]*[=+\-@\uff1d\uff0b\uff0d\uff20]\s*\S")


def printable(text: str) -> str:
    """The text with each character made visible that a terminal would obey, or that hides or turns others.

    Newlines and tabs stay.
    """
    return _ODD.sub(_visible, text)


def one_line(text: str) -> str:
    """As :func:`printable`, with newlines and tabs visible too: what should be one line stays one."""
    return printable(text).replace("\n", chr(_PICTURES + ord("\n"))).replace("\t", chr(_PICTURES + ord("\t")))


def json_text(document: object) -> str:
    """A document as JSON in one line; what :func:`printable` would change is escaped, so nothing is lost."""
    return _ODD.sub(_escaped, json.dumps(document, ensure_ascii=False, allow_nan=False))


def plain(value: Any) -> Any:
    """Return a value for JSON: amounts have ten decimals at most, which a float holds; spaces are plain."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, str):
        return value.replace(NBSP, " ")
    return float(value) if isinstance(value, Decimal) else value


def cell(text: str) -> str:
    """A text as a cell of a CSV file: printable, and no formula for a spreadsheet.

    What would be one gets an apostrophe in front; so does what begins with apostrophes and then that. So the
    text is had back by taking one apostrophe off wherever what follows it would be a formula.
    """
    shown = printable(text)
    return f"'{shown}" if _FORMULA.match(shown) else shown


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """A table with its columns of text as :func:`cell` has them; numbers stay numbers."""
    text = [str(name) for name, dtype in table.dtypes.items() if dtype == "string"]
    return table.assign(**{name: table[name].map(cell, na_action="ignore") for name in text})


def _visible(found: re.Match[str]) -> str:
    character = found[0]
    if character in _JOINERS or unicodedata.category(character) not in _COMMANDS:
        return character
    if (code := ord(character)) < ord(" "):
        return chr(_PICTURES + code)
    return chr(_PICTURE_OF_DELETE) if code == _DELETE else _SHOWN


def _escaped(found: re.Match[str]) -> str:
    return found[0] if _visible(found) == found[0] else json.dumps(found[0])[1:-1]
