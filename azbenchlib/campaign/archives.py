"""Outputs as they come from another machine."""

import io
import tarfile
from pathlib import Path

from azbenchlib.core.errors import AzbenchError, OutputError

LARGEST_OUTPUT = 64 * 1024 * 1024  # of a workload, packed and unpacked; more is no output of fio


def unpack(data: bytes, folder: Path, left: int) -> int:
    """Put the plain files of an archive, by their bare names, into a folder; how many more bytes may come.

    Raises an AzbenchError when they are more than `left` bytes; an OutputError, which names the file, when
    one cannot be written.
    """
    most = left
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                left -= member.size
                if left < 0:
                    raise AzbenchError(f"{folder.name}: its outputs unpack to more than {most} B")
                write(folder / Path(member.name).name, content.read())
    return left


def write(file: Path, data: bytes) -> None:
    """Write an output; an OutputError names the file that cannot be written."""
    try:
        file.write_bytes(data)
    except OSError as error:  # of a full disk, it names no file
        raise OutputError(f"{file}: {error.strerror or error}") from error
