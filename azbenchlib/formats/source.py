"""A raw file: the name that it goes by, and its content, which is read when it is asked for.

Text comes without blanks at the ends of its lines: terminals, editors and mail programs leave them behind, no
format means anything by them, and each reader would have to allow for them.
"""

import hashlib
import io
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from azbenchlib.core.units import KIB, MIB

_FEW = 256  # characters
_OPENING = 64 * 1024  # bytes that tell a format; no more is read of a file that nobody claims
LARGEST_SOURCE = 256 * MIB  # of a file that is read whole
LARGEST_LOG = 1024 * MIB  # some 45 million lines
_BLOCK = 4 * 1024 * 1024  # characters that a reader of long files holds at a time
_RAW_BLOCK = 512 * KIB  # what fits the caches of a processor is parsed twice as fast
_FREED_FIRST = 8 * _RAW_BLOCK  # glibc then keeps what a block needed for the next one
LONGEST_LINE = 64 * 1024  # the longest line that any tool writes, a histogram log's, has some 40,000
_CUT = "\0"  # ends what is left of a longer line, which no format takes for whole

_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
)
_BYTE_ORDERS = tuple(mark for mark, _ in _MARKS)
_SHARE_OF_NULS = 0.9  # of the high bytes, where most letters are those of ASCII
_BLANKS = re.compile(r"(?<![ \t])[ \t]++(?=[\r\n]|\Z)")  # at the end of a line


def _unmarked(start: bytes) -> str:
    """The encoding of a text that has NULs and no byte order mark."""
    for encoding, highs, lows in (("utf-16-le", 1, 0), ("utf-16-be", 0, 1)):
        if start[highs::2].count(0) >= _SHARE_OF_NULS * len(start[lows::2]) and 0 not in start[lows::2]:
            return encoding
    return "utf-8"


def without_blank_ends(text: str) -> str:
    """The text without blanks and tabs at the ends of its lines."""
    ends = text[-1:] in (" ", "\t") or " \n" in text or "\t\n" in text  # that is searched far sooner
    return _BLANKS.sub("", text) if ends or ("\r" in text and (" \r" in text or "\t\r" in text)) else text


class Source:
    """One raw file: the name it goes by, and its content, which is read when it is asked for.

    Parameters
    ----------
    path : str
        The name it goes by.
    data : bytes, optional
        The content, where it is at hand.
    file : Path, optional
        Where the content is, and the files that it includes.
    with_bins : bool
        Whether the latency bins of whole runs are wanted; those of logs always are.
    lines : sequence of int, optional
        Where the content is a part of a file: of each line, the number that it has in the file, from 1.
    """

    def __init__(
        self,
        path: str,
        data: bytes | None = None,
        file: Path | None = None,
        with_bins: bool = True,
        lines: Sequence[int] | None = None,
    ) -> None:
        # bytes of a name that are no UTF-8 are shown escaped, so that every table and page can be written
        self.path = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        self._data, self._file, self.with_bins, self._lines = data, file, with_bins, lines

    @classmethod
    def of(cls, path: Path, with_bins: bool = True) -> "Source":
        """The file at `path`, called by that path."""
        return cls(str(path), file=path, with_bins=with_bins)

    def line(self, number: int) -> int:
        """The number of a line, from 1, in the file as it lies there."""
        return self._lines[min(number, len(self._lines)) - 1] if self._lines else number

    def part(self, text: str, lines: Sequence[int] | None = None) -> "Source":
        """A text that was made of this one, and for each of its lines the number of the line that it was."""
        numbers = [self.line(number) for number in lines] if lines is not None else self._lines
        return Source(self.path, text.encode("utf-8", "replace"), with_bins=self.with_bins, lines=numbers)

    def _open(self) -> io.BufferedReader | io.BytesIO:
        # the kernel's own files say that they are empty, and reading some of them never ends
        if self._file is None or not self.size_bytes:
            return io.BytesIO(self._data or b"")
        return self._file.open("rb")

    @cached_property
    def data(self) -> bytes:
        """The bytes, untouched."""
        if self.size_bytes <= _OPENING:
            return self._start
        with self._open() as file:
            return file.read()

    @cached_property
    def size_bytes(self) -> int:
        """How long it is."""
        return len(self._data or b"") if self._file is None else self._file.stat().st_size

    @cached_property
    def sha256(self) -> str:
        """Hash of the content."""
        if self.size_bytes <= _OPENING:
            return hashlib.sha256(self._start).hexdigest()
        with self._open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @cached_property
    def content_sha256(self) -> str:
        """Hash of the text, whichever encoding and line ends it has, whatever blanks end it and its lines.

        That of a file which is text in UTF-8 with the line ends of Unix, and no blanks before them, is that
        of its bytes.
        """
        start = self._start
        if not (start.startswith(_BYTE_ORDERS) or self.is_in_wide_units) and (
            b"\0" in start or (self._starts_plainly and self._ends_plainly())
        ):
            return self.sha256
        told, rest = hashlib.sha256(), ""
        errors = "surrogateescape" if self._encoding.startswith("utf-8") else "backslashreplace"
        with io.TextIOWrapper(self._open(), self._encoding, errors=errors, newline=None) as file:
            while block := file.read(_BLOCK):
                kept = (rest + block).rstrip()
                rest = (rest + block)[len(kept) :]
                told.update(without_blank_ends(kept).encode("utf-8", "surrogateescape"))
        told.update(b"\n")
        return told.hexdigest()

    @property
    def _starts_plainly(self) -> bool:
        """Whether its first lines end in a newline alone."""
        return not any(end in self._start for end in (b"\r", b" \n", b"\t\n"))

    def _ends_plainly(self) -> bool:
        """Whether it ends in one newline and no other blank."""
        if self.size_bytes <= _OPENING or "data" in self.__dict__:
            end = self.data[-2:]
        else:
            with self._open() as file:
                file.seek(-2, io.SEEK_END)
                end = file.read()
        return end[-1:] == b"\n" and not end[:-1].isspace()

    @cached_property
    def _start(self) -> bytes:
        with self._open() as file:
            return file.read(_OPENING)

    @property
    def start(self) -> bytes:
        """The first 64 KiB."""
        return self._start

    @property
    def is_in_wide_units(self) -> bool:
        """Whether its byte order mark, or every other byte, says that it is UTF-16 or UTF-32."""
        return self._encoding.startswith(("utf-16", "utf-32"))

    @property
    def _encoding(self) -> str:
        start = self._start
        marked = next((encoding for mark, encoding in _MARKS if start.startswith(mark)), None)
        return marked or (_unmarked(start[:_FEW]) if b"\0" in start[:_FEW] else "utf-8")

    @property
    def opening(self) -> str:
        """The first 64 KiB as text, for telling the format."""
        if self.size_bytes <= _OPENING:
            return self.text
        return without_blank_ends(self._start.decode(self._encoding, errors="replace"))

    @property
    def ending(self) -> str:
        """The last characters but blanks and line ends."""
        if self.size_bytes <= _OPENING:
            return self.text[-_FEW:].rstrip()
        return self.closing[-_FEW:].rstrip()

    @property
    def closing(self) -> str:
        """The last 64 KiB as text; of UTF-8 alone, the first line of it may be cut."""
        with self._open() as file:
            file.seek(max(0, self.size_bytes - _OPENING))
            return without_blank_ends(file.read().decode("utf-8", errors="replace"))

    @cached_property
    def text(self) -> str:
        """The content as text; bytes that are no UTF-8 are replaced, a byte order mark is honoured."""
        return self.decoded(self._encoding)

    def decoded(self, encoding: str) -> str:
        """The content as text in an encoding that the reader knows."""
        return without_blank_ends(self.data.decode(encoding, errors="replace"))

    def blocks(self) -> Iterator[str]:
        """The content as text, some megabytes of whole lines at a time, each line ending in a newline.

        A line of more than 64 KiB is cut short and marked with a NUL, so memory is bounded for any file.
        """
        with io.TextIOWrapper(self._open(), self._encoding, errors="replace", newline=None) as file:
            rest, cutting = "", False
            while block := file.read(_BLOCK):
                if cutting:
                    _, end, block = block.partition("\n")
                    cutting = not end
                whole, end, rest = (rest + block).rpartition("\n")
                if whole or end:
                    yield without_blank_ends(whole + end)
                if len(rest) > LONGEST_LINE:
                    yield rest[:LONGEST_LINE] + _CUT + "\n"
                    rest, cutting = "", True
            if rest:
                yield without_blank_ends(rest + "\n")

    def raw_blocks(self) -> Iterator[bytes]:
        """The content as UTF-8, some megabytes of whole lines at a time, each line ending in a newline.

        As :meth:`blocks`, several times as fast where the file is UTF-8; only there may lines, other than the
        first ones, end in a blank or a carriage return, or hold bytes that are no UTF-8.
        """
        if self._encoding != "utf-8" or not self._starts_plainly:
            yield from (block.encode() for block in self.blocks())
            return
        bytes(_FREED_FIRST)
        with self._open() as file:
            rest, cutting = b"", False
            while block := file.read(_RAW_BLOCK):
                if cutting:
                    _, found, block = block.partition(b"\n")
                    cutting = not found
                end = block.rfind(b"\n") + 1
                if end:
                    yield b"".join((rest, memoryview(block)[:end]))  # copied once
                    rest = b""
                rest += block[end:]
                if len(rest) > LONGEST_LINE:
                    yield rest[:LONGEST_LINE] + _CUT.encode() + b"\n"
                    rest, cutting = b"", True
            if rest:
                yield rest + b"\n"

    def forget(self) -> None:
        """Let go of the content of a file; should it be asked for again, it is read anew."""
        for kept in ("data", "text", "_start"):
            self.__dict__.pop(kept, None)

    def beside(self, name: str) -> "Source | None":
        """A file that this one names: only one in its own folder or a folder below, and no link out."""
        if self._file is None or not name or "\0" in name:
            return None
        home = self._file.parent.resolve()
        try:
            file = (home / name).resolve()
            if not file.is_relative_to(home) or not file.is_file():
                return None
        except (OSError, RuntimeError):  # too long a name, a loop of links
            return None
        return Source(str(Path(self.path).parent / name), file=file)

    def run_id(self, doc: int, place: int | str) -> str:
        """Name of a run: the same for the same text, document and place, wherever the file lies."""
        return hashlib.sha256(f"{self.content_sha256}:{doc}:{place}".encode()).hexdigest()[:16]
