"""From a file to the outputs in it, whatever stands around them, and a sentence on what was taken off.

What is whole for a reader as it stands is left alone, which the opening of a file tells. Else archives are
unpacked, escape sequences and prefixes taken off, strings decoded and outputs of several tools cut apart, in
each other up to some depth.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from azbenchlib.core.findings import Code, Finding
from azbenchlib.core.units import MIB
from azbenchlib.formats.source import LARGEST_SOURCE, Source
from azbenchlib.formats.unwrap import archives, strings, transcripts
from azbenchlib.formats.unwrap.archives import Member, RefusedArchiveError, UnpackingBudget
from azbenchlib.formats.unwrap.escapes import has_escapes, without_escapes
from azbenchlib.formats.unwrap.line_ends import without_line_ends
from azbenchlib.formats.unwrap.log_rows import tells_lines
from azbenchlib.formats.unwrap.prefixes import (
    may_be_prefixed,
    without_block_indent,
    without_indent,
    without_prefix,
)
from azbenchlib.formats.unwrap.signs import ANYWHERE, sign_lines

MOST_TIMES, LARGEST_SMALL = 12, MIB  # its size, and more of small ones, is what is made of a text at most
MOST_WRAPPINGS = 5  # wrappings in each other
_NAMED = 5  # members of an archive that a sentence names
_FIO_JSON = "fio JSON"
_OF_LINES = (
    "iozone text",
    "diskspd text",
    "IOMeter results",
    "sysstat text",
)  # indented by no tool as a whole
_FEW = 1024  # bytes
_BEGIN_OF_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*+\{\s*+(?:\"|\Z)")


class KnownFormat(Protocol):
    """What is to be known of a format here."""

    @property
    def name(self) -> str:
        """As messages call it."""

    @property
    def is_binary(self) -> bool:
        """Whether it is no text, or can be."""

    @property
    def needs_beside(self) -> bool:
        """Whether a file of it is read with what lies beside it."""

    @property
    def stands_bare(self) -> bool:
        """Whether a file of it begins with the output itself."""


F = TypeVar("F", bound=KnownFormat)
Taken = tuple[list[Source], str]  # texts, and what was taken off them


@dataclass(frozen=True)
class FilePart(Generic[F]):
    """An output that a file holds, or all of the file; `format` is None where no reader claims it."""

    source: Source
    format: F | None


@dataclass
class Layer(Generic[F]):
    """What is taken off a file.

    Parameters
    ----------
    recognise : callable
        The format that claims a source, or None.

    Attributes
    ----------
    findings : list of Finding
        What was taken off, and what could not be read; whole when all parts were gone through.
    left : int
        How many bytes of texts may still be made of the text at hand, whatever is tried.
    """

    recognise: Callable[[Source], F | None]
    findings: list[Finding] = field(default_factory=list)
    budget: UnpackingBudget = field(default_factory=UnpackingBudget)
    left: int = 0

    def parts(self, source: Source) -> Iterator[FilePart[F]]:
        """The outputs that a file holds; of a file that nobody claims, the file itself."""
        if archives.is_archive(source.start) and not self._is_binary(source):
            yield from self._unpacked(source, 1)
            return
        yield from self._of_text(source, 0)

    def _is_binary(self, source: Source) -> bool:
        fmt = self.recognise(source)
        return fmt is not None and fmt.is_binary

    # ---- archives --------------------------------------------------------------------------------------

    def _unpacked(self, archive: Source, depth: int) -> Iterator[FilePart[F]]:
        """The outputs in an archive; members that nobody claims are told of together."""
        unknown: list[str] = []
        n_read = 0
        try:
            self._check(archive, depth)
            for member in archives.members(archive.data, self.budget):
                source = _member(archive, member)
                parts = [part for part in self._of_member(source, depth) if part.format]
                n_read += bool(parts)
                if not parts and member.data:
                    unknown.append(source.path)
                yield from parts
        except RefusedArchiveError as error:
            self._say(Code.ARCHIVE_NOT_READ, archive, f"not all of it was unpacked: {error}")
        named = ", ".join(unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
        if n_read and not self._has_said(Code.UNWRAPPED, archive):
            kind = "compressed" if archives.is_compressed(archive.start) else "an archive"
            more = f"; these files in it are in no known format: {named}" if unknown else ""
            self._say(Code.UNWRAPPED, archive, f"the file is {kind}; it was unpacked in memory{more}")
        elif depth == 1 and not (n_read or self.findings):
            what = f"no file in it is in a known format: {named}" if unknown else "there is no file in it"
            self._say(Code.NOT_RECOGNISED, archive, what)

    def _has_said(self, code: Code, source: Source) -> bool:
        return any(one.code == code and one.source_path == source.path for one in self.findings)

    def _of_member(self, source: Source, depth: int) -> Iterator[FilePart[F]]:
        if archives.is_archive(source.start) and not self._is_binary(source):
            return self._unpacked(source, depth + 1)
        return self._of_text(source, 0)

    @staticmethod
    def _check(archive: Source, depth: int) -> None:
        if depth > archives.MOST_NESTED:
            raise RefusedArchiveError(f"more than {archives.MOST_NESTED} archives are in each other")
        if archive.size_bytes > LARGEST_SOURCE:
            raise RefusedArchiveError("it is too large")

    # ---- texts -----------------------------------------------------------------------------------------

    def _of_text(self, source: Source, depth: int) -> Iterator[FilePart[F]]:
        taken: list[str] = []
        self.left = MOST_TIMES * source.size_bytes + LARGEST_SMALL
        yield from self._inside(source, self.recognise(source), depth, taken)
        if taken:
            self._say(Code.UNWRAPPED, source, "; ".join(dict.fromkeys(taken)))

    def _inside(self, source: Source, fmt: F | None, depth: int, taken: list[str]) -> Iterator[FilePart[F]]:
        """The outputs in a text; what was taken off is added to `taken`."""
        if depth < MOST_WRAPPINGS and not self._is_bare(source, fmt):
            signs = sign_lines(source.opening)
            may_be = bool(signs) or fmt is None or strings.has_other_blanks(source.opening)
            steps = (
                self._from_mail,
                *_FIRST_STEPS,
                self._without_prefix,
                self._from_base64,
                _from_strings,
                _without_indent,
            )
            for step in steps:
                found, what = step(source, fmt, signs) if may_be else ([], "")
                said: list[str] = []
                self.left -= sum(one.size_bytes for one in found)
                inner = [*self._readable(found, depth, said)] if found and self.left > 0 else []
                if inner:
                    taken += what, *said
                    yield from inner
                    return
        yield from self._cut(source, fmt, taken)

    def _readable(self, found: Sequence[Source], depth: int, said: list[str]) -> Iterator[FilePart[F]]:
        for one in found:
            yield from (
                part for part in self._inside(one, self.recognise(one), depth + 1, said) if part.format
            )

    def _is_bare(self, source: Source, fmt: F | None) -> bool:
        """Whether a reader sees all of a text as it stands."""
        if self._is_opaque(source) or (fmt and fmt.stands_bare and not strings.is_mail(source.opening)):
            return True
        return fmt is not None and self._begins_as_json(source, fmt)

    @staticmethod
    def _begins_as_json(source: Source, fmt: KnownFormat) -> bool:
        """Whether a file of fio's JSON begins with it, which a few bytes tell."""
        return fmt.name == _FIO_JSON and bool(_BEGIN_OF_JSON.match(source.start[:_FEW]))

    @staticmethod
    def _is_opaque(source: Source) -> bool:
        """Whether a file is no text, or too large to be read whole."""
        is_binary = b"\0" in source.start.strip(b"\0")[:1024] and not source.is_in_wide_units
        return not 0 < source.size_bytes <= LARGEST_SOURCE or is_binary

    def _may_be_several(self, source: Source, fmt: F | None) -> bool:
        """Whether outputs of several tools may stand in a text: not in JSON from its beginning to its end."""
        if self._is_opaque(source):
            return False
        if fmt is None:
            return bool(ANYWHERE.search(source.opening))
        if fmt.is_binary or fmt.needs_beside:
            return False
        return not (self._begins_as_json(source, fmt) and source.ending.endswith("}"))

    def _without_prefix(self, source: Source, fmt: F | None, signs: Sequence[str]) -> Taken:
        may_be = (not signs or may_be_prefixed(signs)) and not tells_lines(source.opening)
        found = without_prefix(source, self._claims) if may_be else None
        if found is None:
            return [], ""
        streams = [source.part("\n".join(one.lines) + "\n", one.numbers) for one in found.streams]
        return streams, f"each line began with {found.what}, which was taken off"

    def _from_base64(self, source: Source, fmt: F | None, signs: Sequence[str]) -> Taken:
        """Texts written as base64, compressed or not."""
        if fmt or signs:
            return [], ""
        return self._texts_of(source, strings.in_base64(source.text)), "base64 in it was decoded"

    def _from_mail(self, source: Source, fmt: F | None, signs: Sequence[str]) -> Taken:
        """The texts of a mail and what is attached to it, compressed or not."""
        held = strings.parts_of_mail(source.text) if strings.is_mail(source.opening) else []
        return self._texts_of(source, held), "the texts of a mail were decoded"

    def _texts_of(self, source: Source, held: Sequence[bytes]) -> list[Source]:
        """What was written in other letters, unpacked, where it has the sign of an output or is one."""
        texts: list[bytes] = []
        for one in held:
            try:
                packed = archives.is_archive(one)
                texts += [member.data for member in archives.members(one, self.budget)] if packed else [one]
            except RefusedArchiveError:
                continue
        decoded = [one.decode("utf-8", "replace") for one in texts]
        return [source.part(text) for text in decoded if ANYWHERE.search(text) or self._claims(text)]

    def _claims(self, text: str) -> bool:
        return self.recognise(Source("", text.encode("utf-8", "replace"))) is not None

    def _cut(self, source: Source, fmt: F | None, taken: list[str]) -> Iterator[FilePart[F]]:
        """The outputs of several tools, each as its own."""
        transcript = None
        if self._may_be_several(source, fmt):
            transcript = transcripts.cut(source.text, fmt.name if fmt else None)
        if transcript is None:
            yield FilePart(source, fmt)
            return
        parts, unread, names = [], [], []
        if transcript.rest is not None:
            rest = source.part(transcript.rest)
            if whole := self.recognise(rest):
                parts.append(FilePart(rest, whole))
                names.append(whole.name)
        for output in transcript.outputs:
            numbers = range(output.first_line, output.first_line + output.text.count("\n") + 1)
            part = source.part(without_indent(output.text) or output.text, numbers)
            claimed = self.recognise(part)
            if claimed is None:
                unread.append(f"{output.name} from line {source.line(output.first_line):,} on")
            else:
                parts.append(FilePart(part, claimed))
                names.append(claimed.name)
        if not parts:
            yield FilePart(source, fmt)
            return
        if unread:
            what = f"outputs in it are not read: {', '.join(unread)}"
            self._say(Code.SEVERAL_TOOLS, source, what)
        if len(parts) > 1 or fmt is None:
            shown = " and ".join(dict.fromkeys(names))
            taken.append(f"outputs stand among other text or outputs, and each was read: {shown}")
        yield from parts

    def _say(self, code: Code, source: Source, what: str) -> None:
        self.findings.append(Finding.of(code, f"{source.path}: {what}", source_path=source.path))


def _member(archive: Source, member: Member) -> Source:
    path = f"{archive.path}/{member.name.lstrip('./')}" if member.name else archive.path
    return Source(path, member.data, with_bins=archive.with_bins)


def _without_escapes(source: Source, fmt: KnownFormat | None, signs: Sequence[str]) -> Taken:
    if not any(map(has_escapes, signs if fmt else (source.opening,))):
        return [], ""
    return [source.part(without_escapes(source.text))], "escape sequences of a terminal were taken out"


def _with_plain_characters(source: Source, fmt: KnownFormat | None, signs: Sequence[str]) -> Taken:
    text = strings.with_plain_characters(source, signs)
    ends = "line ends" if "\n" not in source.opening else ""
    what = f"its {ends or 'no-break spaces and curled quotation marks'} were read as those of ASCII"
    return ([source.part(text)], what) if text else ([], "")


def _from_quoted_printable(source: Source, fmt: KnownFormat | None, signs: Sequence[str]) -> Taken:
    text = strings.of_quoted_printable(source.text) if "=\n" in source.opening else None
    return ([source.part(text)], "quoted-printable was decoded") if text else ([], "")


def _without_quotes(source: Source, fmt: KnownFormat | None, signs: Sequence[str]) -> Taken:
    text = strings.without_quotes_of_lines(source.text)
    what = "its lines are cells of CSV, whose quotes were taken off"
    return ([source.part(text)], what) if text else ([], "")


def _without_line_ends(source: Source, fmt: KnownFormat | None, signs: Sequence[str]) -> Taken:
    text = without_line_ends(source.text, signs)
    what = f"each line ended with a mark ({signs[0][-1]}), which was taken off" if text else ""
    return ([source.part(text)], what) if text else ([], "")


def _without_indent(source: Source, fmt: KnownFormat | None, signs: Sequence[str]) -> Taken:
    if fmt and fmt.name.startswith("fio"):
        return [], ""
    if source.opening.lstrip("\r\n")[:1] in (" ", "\t"):
        text = without_indent(source.text)
    else:
        may_be = bool(signs) and (fmt is None or fmt.name in _OF_LINES)
        text = without_block_indent(source.text, signs[0]) if may_be else None
    return ([source.part(text)], "each line began with blanks, which were taken off") if text else ([], "")


def _from_messages(source: Source, fmt: KnownFormat | None, signs: Sequence[str]) -> Taken:
    found = strings.service_messages(source.text, signs)
    what = "its outputs stand in service messages, which were decoded"
    return ([source.part(found.text, found.numbers)], what) if found else ([], "")


def _from_yaml(source: Source, fmt: KnownFormat | None, signs: Sequence[str]) -> Taken:
    if text := strings.yaml_as_json(source.text, fmt is not None):
        return [source.part(text, [1])], "it is YAML, whose strings were decoded"
    if not signs or not all(line.lstrip(" \t").startswith("- ") for line in signs):
        return [], ""
    found = strings.items_of_yaml(source.text)
    what = "its lines are items of a list in YAML, which were decoded"
    return ([source.part(found.text, found.numbers)], what) if found else ([], "")


def _from_strings(source: Source, fmt: KnownFormat | None, signs: Sequence[str]) -> Taken:
    begins_so = source.opening.lstrip()[:1] in ("{", "[", "'", '"')
    are_rows = tells_lines(source.opening)
    if fmt is None and not (signs or begins_so or are_rows):
        return [], ""
    if not are_rows and (text := strings.without_what_is_before_the_first_line(source.text, signs)):
        return [source.part(text)], "what stood before the first line of an output was taken off"
    if page := strings.unescaped(source.text, signs):
        numbers = page.numbers or None
        return [source.part(page.text, numbers)], "characters written as entities were decoded"
    if (text := strings.as_json(source.text)) is not None:
        return [source.part(text)], "it is a dictionary of Python's, which was read as JSON"
    is_json = bool(fmt and fmt.name == _FIO_JSON)
    is_quoted = strings.are_quoted(signs, '"' if is_json else "") or (fmt is None and begins_so)
    if not (is_quoted or strings.may_be_rows(source.opening)):
        return [], ""
    found = [source.part(one.text, one.numbers) for one in strings.texts_in(source.text)]
    if not found and (text := strings.with_written_line_ends(source.text, signs)):
        found = [source.part(text)]
    return found, "its outputs stand in strings, which were decoded"


_FIRST_STEPS = (
    _with_plain_characters,
    _without_escapes,
    _from_messages,
    _from_quoted_printable,
    _from_yaml,
    _without_line_ends,
    _without_quotes,
)
