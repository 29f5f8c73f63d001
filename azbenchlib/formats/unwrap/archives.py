"""Archives and compressed files: their content, member by member, in bounded memory and never on a disk.

gzip, bzip2, xz, Zstandard and LZ4 are told by their first bytes, and so are zip and tar. Spreadsheets and
other documents of Office are zip archives too, and stay whole. Of 7-Zip and some others it is said by what
they were packed.
"""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from azbenchlib.core.units import KIB, MIB
from azbenchlib.formats.source import LARGEST_SOURCE

MOST_ARCHIVED = 10_000  # files of an archive
MOST_NESTED = 3  # archives in each other
_BLOCK = 256 * KIB
_TAR_MARK, _TAR_MARK_AT = b"ustar", 257
_ZIP_END, _LONGEST_END = b"PK\x05\x06", 22 + 65535  # and its comment
_LONGEST_DIRECTORY = 4 * MIB  # of 10,000 members, whose names have some 350 characters
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17rE8P\x90")  # of the first block, or the end of an empty file
# What damaged archives make the libraries raise besides their own errors.
_OTHER = (
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    KeyError,
    IndexError,
    OverflowError,
)
_NAME_AT = 30  # of the first member of a zip archive
_OFFICE = (b"[Content_Types].xml", b"mimetype")  # the first member of OOXML, and of OpenDocument and EPUB
# Sources: RFC 1952, RFC 8878, the bzip2 and xz file formats, PKWARE's APPNOTE 6.3.10.
_GZIP, _BZIP2, _XZ, _ZSTD, _ZIP = b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"
_LZ4 = b"\x04\x22\x4d\x18"  # of a frame
_UNKNOWN = (
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"Rar!\x1a\x07", "RAR"),
    (b"\x1f\x9d", "compress"),
    (b"]\0\0\x80\0\xff\xff\xff\xff", "lzma"),
    (b"MSCF\0\0\0\0", "makecab"),
)


@dataclass
class UnpackingBudget:
    """How much may still be unpacked of a file."""

    n_bytes: int = LARGEST_SOURCE
    n_members: int = MOST_ARCHIVED


class RefusedArchiveError(Exception):
    """Why an archive is not read to its end, as the end of a sentence."""


@dataclass(frozen=True)
class Member:
    """A file of an archive; of a compressed file, its content, which has no name of its own."""

    name: str
    data: bytes = field(repr=False)


def is_archive(start: bytes) -> bool:
    """Whether a file with this beginning can be unpacked here."""
    return _opener(start) is not None or _is_zip(start) or _is_tar(start)


def is_compressed(start: bytes) -> bool:
    """Whether a file with this beginning is one compressed file, and no archive."""
    return _opener(start) is not None


def members(data: bytes, budget: UnpackingBudget) -> Iterator[Member]:
    """The files of an archive, one at a time.

    Parameters
    ----------
    data : bytes
        The archive.
    budget : UnpackingBudget
        How much may be unpacked, which becomes less.

    Raises
    ------
    RefusedArchiveError
        When it is damaged, encrypted or too large; what came before is whole.
    """
    import lzma  # with those below, what few files need
    import tarfile
    import zipfile
    import zlib

    try:
        opener = _opener(data)
        if opener is not None:
            yield Member("", _bounded(opener(data), budget))
        elif _is_zip(data):
            yield from _of_zip(data, budget)
        else:
            yield from _of_tar(data, budget)
    except (
        OSError,
        EOFError,
        zlib.error,
        lzma.LZMAError,
        tarfile.TarError,
        zipfile.BadZipFile,
        *_OTHER,
    ) as error:
        raise RefusedArchiveError(f"it is damaged ({str(error)[:200] or type(error).__name__})") from error


def _opener(start: bytes) -> Callable[[bytes], io.BufferedIOBase] | None:
    if start.startswith(_BZIP2) and start[4:10] not in _BZIP2_BLOCKS:
        return None
    return next((opener for mark, opener in _OPENERS if start.startswith(mark)), None)


def _gzip(data: bytes) -> io.BufferedIOBase:
    import gzip

    return gzip.GzipFile(fileobj=io.BytesIO(data))


def _bzip2(data: bytes) -> io.BufferedIOBase:
    import bz2

    return bz2.BZ2File(io.BytesIO(data))


def _of_arrow(data: bytes) -> io.BufferedIOBase:
    import pyarrow as pa  # what few files need

    codec = "zstd" if data.startswith(_ZSTD) else "lz4"
    stream: io.BufferedIOBase = pa.CompressedInputStream(pa.BufferReader(data), codec)
    return stream


def _refused(data: bytes) -> io.BufferedIOBase:
    name = next(name for mark, name in _UNKNOWN if data.startswith(mark))
    raise RefusedArchiveError(f"it was packed by {name}, which is not unpacked here")


class _Xz(io.BufferedIOBase):
    """Content of xz, whose dictionary may take no more memory than a file."""

    def __init__(self, data: bytes) -> None:
        import lzma

        self._data, self._decompressor = data, lzma.LZMADecompressor(memlimit=LARGEST_SOURCE)

    def read(self, size: int | None = -1, /) -> bytes:
        if self._decompressor.eof:
            return b""
        found = self._decompressor.decompress(self._data, max_length=size or -1)
        self._data = b""
        if not found and not self._decompressor.eof:
            raise EOFError("it ends too early")
        return found


_OPENERS: tuple[tuple[bytes, Callable[[bytes], io.BufferedIOBase]], ...] = (
    (_GZIP, _gzip),
    (_BZIP2, _bzip2),
    (_XZ, _Xz),
    (_ZSTD, _of_arrow),
    (_LZ4, _of_arrow),
    *((mark, _refused) for mark, _ in _UNKNOWN),
)


def _is_zip(start: bytes) -> bool:
    return (
        start.startswith(_ZIP) and start[30 : 30 + 19] not in _OFFICE and not start[30:].startswith(_OFFICE)
    )


def _is_tar(start: bytes) -> bool:
    return start[_TAR_MARK_AT : _TAR_MARK_AT + len(_TAR_MARK)] == _TAR_MARK


def _of_zip(data: bytes, budget: UnpackingBudget) -> Iterator[Member]:
    import zipfile

    _check_directory(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            if member.is_dir() or _is_hidden(member.filename):
                continue
            _count(budget)
            if member.flag_bits & 1:
                raise RefusedArchiveError("it is encrypted")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
                raise RefusedArchiveError("it is compressed in a way that is not known here")
            with archive.open(member) as file:
                yield Member(member.filename, _bounded(file, budget))


def _check_directory(data: bytes) -> None:
    """Refuse a zip archive whose list of members is too long, before it is read."""
    end = data.rfind(_ZIP_END, max(0, len(data) - _LONGEST_END))
    size = int.from_bytes(data[end + 12 : end + 16], "little") if end >= 0 else 0
    if size > _LONGEST_DIRECTORY:
        raise RefusedArchiveError(f"it has more than {MOST_ARCHIVED:,} files")


def _of_tar(data: bytes, budget: UnpackingBudget) -> Iterator[Member]:
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            _count(budget)
            if not member.isreg() or _is_hidden(member.name):
                continue
            if member.size > budget.n_bytes or member.sparse:
                raise RefusedArchiveError(_too_much())
            file = archive.extractfile(member)
            yield Member(member.name, _bounded(file, budget) if file else b"")


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") and part not in (".", "..") for part in name.split("/")) or (
        name.startswith("__MACOSX/")
    )


def _count(budget: UnpackingBudget) -> None:
    budget.n_members -= 1
    if budget.n_members < 0:
        raise RefusedArchiveError(f"it has more than {MOST_ARCHIVED:,} files")


def _bounded(file: object, budget: UnpackingBudget) -> bytes:
    """The content of a file, unless it is more than may be unpacked."""
    parts = []
    while block := file.read(min(_BLOCK, budget.n_bytes + 1)):  # type: ignore[attr-defined]
        budget.n_bytes -= len(block)
        if budget.n_bytes < 0:
            raise RefusedArchiveError(_too_much())
        parts.append(block)
    return b"".join(parts)


def _too_much() -> str:
    return f"it unpacks to more than {LARGEST_SOURCE // MIB:,} MiB"
