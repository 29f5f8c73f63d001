"""Names as people type them: what differs only in case, blanks and signs is one name."""

from __future__ import annotations

import re
import unicodedata
import warnings

QUOTED_CHARS = 80  # characters of a text that a sentence repeats
_LONGEST = 400  # characters; no name is as long, and what is read of a longer text takes time for nothing
_SIGNS = str.maketrans(
    {"‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "×": "x", "✕": "x", "“": '"', "”": '"'}
)
_QUOTES = " \"'`"


class TakenForWarning(UserWarning):
    """A name was understood in a way that its author may not have meant; the sentence says how."""


def plain(text: str) -> str:
    """The text with common signs and single blanks only: no-break spaces and typographic dashes go."""
    common = unicodedata.normalize("NFKC", text[:_LONGEST]).translate(_SIGNS)
    return " ".join(common.split()).strip(_QUOTES)


def squeezed(text: str) -> str:
    """The letters and digits of a text in lower case, without accents: equal for all spellings of a name."""
    bare = unicodedata.normalize("NFKD", plain(text)).casefold()
    return re.sub(r"[^a-z0-9]", "", bare)


def taken_for(what: str, text: str, name: str, why: str = "") -> None:
    """Say that a name was understood as another one; once for each text.

    Parameters
    ----------
    what : str
        What is named, such as ``region``.
    text : str
        As it was stated.
    name : str
        What it was taken for.
    why : str
        What tells that it is this one, for the brackets behind it.
    """
    behind = f" ({why})" if why else ""
    warnings.warn(
        f"{what} '{text[:QUOTED_CHARS]}' was taken for {name}{behind}", TakenForWarning, stacklevel=3
    )
