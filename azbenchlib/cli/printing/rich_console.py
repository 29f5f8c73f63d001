"""The console on which tables and styled texts are printed: no name in foreign data commands the terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any, TextIO

import rich.console
from rich.segment import Segment
from rich.table import Table

from azbenchlib.core.printable import printable
from azbenchlib.core.units import NBSP

_WIDEST = 10_000  # characters of a table that no terminal shows
_TRAILING = re.compile(r"(?<![ \t])[ \t]++(?=\n|$)")


class _Piped:
    """A stream for programs rather than eyes: plain spaces, and none at the ends of lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._stream.write(_TRAILING.sub("", text.replace(NBSP, " ")))
        return len(text)


class Console(rich.console.Console):
    """A console that prints texts as they are: square brackets are no markup, and control characters show."""

    def __init__(self, **settings: Any) -> None:
        if not settings.get("stderr") and "file" not in settings and not sys.stdout.isatty():
            settings["file"] = _Piped(sys.stdout)
        super().__init__(markup=False, emoji=False, **settings)

    def print(self, *objects: Any, **settings: Any) -> None:
        """As rich does; a table that goes into a pipe or a file is as wide as it needs to be."""
        if not (isinstance(self.file, _Piped) and any(isinstance(one, Table) for one in objects)):
            super().print(*objects, **settings)
            return
        before, self._width = self._width, _WIDEST
        try:
            super().print(*objects, **settings)
        finally:
            self._width = before

    def render(
        self, renderable: rich.console.RenderableType, options: rich.console.ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As rich does; what styles and moves is rich's own, all text is made printable."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
