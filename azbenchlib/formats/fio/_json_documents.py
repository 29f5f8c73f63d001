"""fio's JSON documents in a text: whole ones, and what is left of broken ones.

fio writes JSON into the same stream as its messages, several documents after each other
(``--status-interval``, files that were appended to), and half a document when it is killed.
"""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import orjson

from azbenchlib.core import schema, units
from azbenchlib.formats._json_values import Complaints, Fields

CLOCK_SLACK_S = 2  # timestamps and elapsed times are whole seconds in part of the versions

_ARRAYS = ("jobs", "client_stats")

_DECODER = json.JSONDecoder()
_JSON_SPACE = " \t\n\r"
# The opening of a document in fio's order of keys, sorted, or without some of them. An option of a job
# is called disk_util too, but that is no list.
_HEAD = re.compile(
    r'\{\s*(?:"(?:fio version|timestamp|timestamp_ms|global options|jobs|client_stats)"\s*:'
    r'|"disk_util"\s*:\s*\[)'
)
_ARRAY = re.compile(r'"(?:jobs|client_stats)"\s*:\s*\[')
_OPENING = re.compile(f"{_HEAD.pattern}|{_ARRAY.pattern}")
_ENTRY = re.compile(r'\{\s*"jobname"')
_BETWEEN_ENTRIES = re.compile(r"[\s,]*")
_BINS = re.compile(r'"bins"\s*:\s*\{')
_VERSION = re.compile(r'"fio version"\s*:\s*"([^"\\\n]*)"')
_GLOBAL_OPTIONS = re.compile(r'"global options"\s*:\s*(?=[{\[])')
# C's printf writes nan and inf, which JSON does not know. The stand-in is as long, so positions stay true.
_NOT_A_NUMBER = re.compile(r'(?<=")(\s*:\s*)(-?)(?:nan|inf)(?=\s*[,}\]])', re.IGNORECASE)
_SIGNATURE = re.compile(r'"fio version"\s*:|"(?:jobs|client_stats)"\s*:\s*\[\s*\{\s*"jobname"\s*:')
_REMAINS = ('"', "{", "[", "}", "]")  # a line that begins so belongs to some JSON
_BLEMISH = re.compile(r"\x00|,(?=[\s\x00]*[}\]])")


@dataclass(frozen=True)
class Damage:
    """Where a document stopped being JSON, why, and whether something of it may be lost."""

    line: int
    column: int
    reason: str
    lost: bool


@dataclass(frozen=True)
class JsonDocument:
    """A document: its top level, its job entries with their places from 0, its damage, the text above it."""

    root: dict[str, Any]
    entries: tuple[tuple[int, Any], ...]
    damage: Damage | None = None
    above: str = ""

    def rows_like(self, entry: Any) -> int | None:
        """How many entries have this one's name and host; None where some may be lost."""
        if self.damage and self.damage.lost:
            return None
        return 1 if len(self.entries) == 1 else self._rows[_identity(entry)]

    @cached_property
    def _rows(self) -> Counter[tuple[str, ...]]:
        return Counter(_identity(entry) for _, entry in self.entries)


@dataclass(frozen=True)
class Found:
    """All documents of a text in their order, and the lines around them.

    `is_all` says that every document is whole, and nothing but white space around them.
    """

    documents: tuple[JsonDocument, ...]
    stray: tuple[str, ...]
    is_all: bool


def shows_document(text: str) -> bool:
    """Whether a fio document, whole or broken, begins in a text."""
    return _SIGNATURE.search(text) is not None and "{" in text


def without_bins(text: str) -> str:
    """The text with every histogram of json+ emptied, which is most of it."""
    parts, position = [], 0
    while opening := _BINS.search(text, position):
        begin = opening.end()
        end = text.find("}", begin)
        if end < 0 or text.find("{", begin, end) >= 0:
            end = begin
        parts.append(text[position:begin])
        position = end
    return "".join((*parts, text[position:]))


def find_documents(text: str) -> Found:
    """All fio documents of a text, in time linear in its length.

    Parameters
    ----------
    text : str
        Anything.

    Returns
    -------
    Found
        Broken documents are among them with every job entry that is whole; `stray` has the lines
        outside the documents, without those that are remains of JSON.
    """
    return _Search(text).run()


def _stray_lines(gap: str) -> Iterator[str]:
    for line in gap.splitlines():  # also at the carriage returns between fio's progress lines
        line = line.strip()
        if not line.startswith(_REMAINS) and any(map(str.isalnum, line)):
            yield line


class _Search:
    """One search. The text is mended where it stands, so positions stay those of the file."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blemishes: list[int] | None = None  # None: nothing was in need of mending so far
        self.tried = False

    def run(self) -> Found:
        documents: list[JsonDocument] = []
        stray: list[str] = []
        position = outside = 0
        is_all = True
        while match := _OPENING.search(self.text, position):
            start = match.start()
            document, position = self._document(start)
            if document:
                gap = self.text[outside:start]
                documents.append(replace(document, above=gap) if gap.strip() else document)
                is_all &= document.damage is None and not gap.strip()
                stray += _stray_lines(gap)
                outside = position
        gap = self.text[outside:]
        return Found(tuple(documents), (*stray, *_stray_lines(gap)), is_all and not gap.strip())

    def _document(self, start: int) -> tuple[JsonDocument | None, int]:
        """The document that opens at `start` (None: it is not fio's), and where to go on."""
        if self.text[start] != "{":
            return self._salvage(start, start, "its opening is missing")
        try:
            root, end = self._to_the_end(start) or self._decode(
                start, _next(self._heads, start + 1, len(self.text))
            )
        except RecursionError:
            document, _ = self._salvage(start, start, "nested too deeply, the rest of the file was not read")
            return document, len(self.text)
        except ValueError as error:
            if self.blemishes is None:
                self._mend()
                return self._document(start)
            # an absurdly long integer is the one ValueError without a position
            return self._salvage(start, start + getattr(error, "pos", 0), getattr(error, "msg", str(error)))
        entries = tuple(enumerate(entry for key in _ARRAYS for entry in _as_list(root.get(key))))
        if "fio version" not in root and not any(
            isinstance(entry, dict) and "jobname" in entry for _, entry in entries
        ):
            return None, start + 1
        return JsonDocument(root, entries, self._mended_damage(start, end)), end

    def _to_the_end(self, start: int) -> tuple[Any, int] | None:
        """As :meth:`_decode`, where all that follows is one document, as in nearly all files; tried once."""
        if self.tried:
            return None
        self.tried = True
        try:
            return orjson.loads(self.text[start:]), len(self.text)
        except orjson.JSONDecodeError:
            return None

    def _decode(self, start: int, stop: int) -> tuple[Any, int]:
        """The JSON value at `start` and its end; errors count from `start`.

        Decoding a slice keeps an error cheap: json counts the lines from the beginning of its text. orjson
        takes a third of the time, and refuses some of what json reads: text after the value, nan, half a
        surrogate pair.
        """
        part = self.text[start:stop]
        try:
            return orjson.loads(part), start + len(part.rstrip(_JSON_SPACE))
        except orjson.JSONDecodeError:
            value, length = _DECODER.raw_decode(part)
            return value, start + length

    def _mend(self) -> None:
        """Make JSON of what only just is none: nan and inf, NUL bytes, trailing commas."""
        text = _NOT_A_NUMBER.sub(lambda found: f"{found[1]}{' ' * len(found[2])}NaN", self.text)
        self.blemishes = [found.start() for found in _BLEMISH.finditer(text)]
        self.text = _BLEMISH.sub(" ", text)

    def _mended_damage(self, start: int, end: int) -> Damage | None:
        """The first blemish of a document that can be read since it was mended."""
        first = _next(self.blemishes or [], start, end)
        return self._damage(first, "a trailing comma or a NUL byte", lost=False) if first < end else None

    def _damage(self, where: int, reason: str, lost: bool = True) -> Damage:
        line = bisect_left(self._newlines, where)
        column = where - self._newlines[line - 1] if line else where + 1
        return Damage(line + 1, column, reason, lost)

    def _salvage(self, start: int, where: int, reason: str) -> tuple[JsonDocument | None, int]:
        """What is left of a document that breaks at `where`, and where to go on."""
        stop = _next(self._heads, start + 1, len(self.text))
        array = _next(self._arrays, start, stop)
        entries, reached = self._whole_entries(array, _next(self._arrays, array + 1, stop))
        root = self._top_level(start, array, stop)
        position = min(stop, max(where, reached, start + 1))
        if not root and not entries:
            return None, position
        return JsonDocument(root, tuple(entries), self._damage(where, reason)), position

    def _whole_entries(self, array: int, last: int) -> tuple[list[tuple[int, Any]], int]:
        """The job entries between the opening of an array and `last` that can be read, and how far."""
        entries: list[tuple[int, Any]] = []
        opening = _ARRAY.match(self.text, array)
        position, place = (opening.end() if opening else last), 0
        while position < last:
            position = self._between(position)
            if position >= last or self.text[position] == "]":
                break
            following = _next(self._entry_heads, position + 1, last)
            try:
                entry, end = self._decode(position, following)
            except RecursionError:
                return entries, len(self.text)
            except ValueError:
                entry, end = None, following
            if isinstance(entry, dict):
                entries.append((place, entry))
            position = end
            place += 1
        return entries, min(position, last)

    def _between(self, position: int) -> int:
        match = _BETWEEN_ENTRIES.match(self.text, position)
        return match.end() if match else position

    def _top_level(self, start: int, end: int, stop: int) -> dict[str, Any]:
        """Version and global options, before `end`, of a document that cannot be read as a whole."""
        root: dict[str, Any] = {}
        if version := _VERSION.search(self.text, start, end):
            root["fio version"] = version[1]
        if options := _GLOBAL_OPTIONS.search(self.text, start, end):
            try:
                root["global options"], _ = self._decode(options.end(), stop)
            except (ValueError, RecursionError):
                return root
        return root

    @cached_property
    def _newlines(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    @cached_property
    def _heads(self) -> list[int]:
        return [match.start() for match in _HEAD.finditer(self.text)]

    @cached_property
    def _arrays(self) -> list[int]:
        return [match.start() for match in _ARRAY.finditer(self.text)]

    @cached_property
    def _entry_heads(self) -> list[int]:
        return [match.start() for match in _ENTRY.finditer(self.text)]


def _identity(entry: Any) -> tuple[str, ...]:
    """Who a job is; numjobs gives several rows of one identity, unless they are added up."""
    job = entry if isinstance(entry, dict) else {}
    return tuple(str(job.get(key)) for key in ("jobname", "hostname", "port"))


def _next(positions: list[int], start: int, otherwise: int) -> int:
    """The first of the sorted positions that is not before `start` and is before `otherwise`."""
    place = bisect_left(positions, start)
    return min(positions[place], otherwise) if place < len(positions) else otherwise


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def superseded(documents: tuple[JsonDocument, ...]) -> set[int]:
    """Numbers of the documents that the next one replaces: fio reported on the same run again.

    Unrelated runs of equal jobs are told apart by the time between them, which fio's own clock, started
    with each run, does not know of.
    """
    return {
        number for number, (earlier, later) in enumerate(pairwise(documents)) if _is_same_run(earlier, later)
    }


def _is_same_run(earlier: JsonDocument, later: JsonDocument) -> bool:
    """Whether the same jobs went on, by their counters and by fio's two clocks."""
    before, after = ([_progress(entry) for _, entry in each.entries] for each in (earlier, later))
    if not before or [names for names, _ in before] != [names for names, _ in after]:
        return False
    grew = all(
        old <= new
        for (_, olds), (_, news) in zip(before, after, strict=True)
        for old, new in zip(olds, news, strict=True)
    )
    moments = [(timestamp_s(each), _elapsed_s(each)) for each in (earlier, later)]
    (wall_1, job_1), (wall_2, job_2) = moments
    if wall_1 is None or wall_2 is None or job_1 is None or job_2 is None:
        return grew
    return grew and abs((wall_2 - wall_1) - (job_2 - job_1)) <= CLOCK_SLACK_S


def _progress(entry: Any) -> tuple[tuple[str, ...], list[float]]:
    """Who a job is, and how far it is."""
    job = Fields(entry, "", Complaints())
    parts = [job.at(ddir) for ddir in schema.DDIRS]
    counters = [part.real(key) or 0 for part in parts for key in ("total_ios", "io_bytes", "runtime")]
    return _identity(entry), counters


def timestamp_s(document: JsonDocument) -> float | None:
    """When fio wrote a document, in s since 1970 (UTC); older versions tell whole seconds."""
    root = Fields(document.root, "", Complaints())
    milliseconds = root.real("timestamp_ms")
    return root.real("timestamp") if milliseconds is None else milliseconds / units.MS_PER_S


def _elapsed_s(document: JsonDocument) -> float | None:
    elapsed = [Fields(entry, "", Complaints()).real("elapsed") for _, entry in document.entries]
    return max((value for value in elapsed if value is not None), default=None)
