"""Entities of HTML and XML in the outputs of tools that were taken from a page."""

import html
import re

# Python refuses to read longer numbers, and no character has one.
_TOO_LONG = re.compile(r"&#(?:[xX][0-9a-fA-F]{40,}|[0-9]{40,});?")


def without_entities(text: str) -> str:
    """Return the text with the characters of its entities; U+FFFD for a number that no character has."""
    return html.unescape(_TOO_LONG.sub("\ufffd", text))
