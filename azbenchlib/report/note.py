"""Paragraphs of the author's own, in Markdown, for the first page of a report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mistune
from markupsafe import escape

from azbenchlib.answers.blocks import Block
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import read_regular
from azbenchlib.core.units import MIB

_LARGEST = MIB
_DEEPER = 2  # levels: the title of the report and its parts have the first two
_DEEPEST = 6
_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s]+", re.IGNORECASE | re.ASCII)


class _Renderer(mistune.HTMLRenderer):
    """HTML in which no tag is the author's, and which loads nothing."""

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        return super().heading(text, min(level + _DEEPER, _DEEPEST))

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return str(escape(text))

    def link(self, text: str, url: str, title: str | None = None) -> str:
        return f'<a href="{escape(url)}">{text}</a>' if _ADDRESS.fullmatch(url) else text


def note_block(text: str) -> Block:
    """Return a note as a block; empty where there is none.

    Parameters
    ----------
    text : str
        Markdown; HTML in it is shown as it is written, images by their words, and of links those to
        ``https:``, ``http:`` and ``mailto:`` lead anywhere.
    """
    if not text.strip():
        return Block("")
    html = mistune.create_markdown(renderer=_Renderer(escape=True), plugins=["table"])(text)
    return Block(f'<section class="prose own-note" aria-label="Note">\n{html}</section>')


def read_notes(paths: Sequence[Path]) -> str:
    """Return the text of files of notes, one below the other.

    Raises
    ------
    InputError
        When a file cannot be read, or is no text in UTF-8.
    """
    return "\n\n".join(map(_read, paths))


def _read(path: Path) -> str:
    try:
        return read_regular(path, _LARGEST).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: the note cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: a note must be text in UTF-8, and byte {error.start + 1} is none"
        ) from error
