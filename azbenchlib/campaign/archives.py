"""Archives of outputs as they come from another machine."""

import io
import tarfile
from pathlib import Path

from azbenchlib.core.errors import AzbenchError

LARGEST_OUTPUT = 64 * 1024 * 1024  # of a workload, packed and unpacked; more is no output of fio


def unpack(data: bytes, folder: Path, left: int) -> int:
    """Put the plain files of an archive, by their bare names, into a folder; how many more bytes may come.

    Raises
    ------
    AzbenchError
        When they are more than `left` bytes.
    """
    most = left
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                left -= member.size
                if left < 0:
                    raise AzbenchError(f"{folder.name}: its outputs unpack to more than {most} B")
                (folder / Path(member.name).name).write_bytes(content.read())
    return left
