"""What the name of a log of fio tells. No large library is loaded."""

import re
from dataclasses import dataclass
from pathlib import Path

from azbenchlib.formats.unwrap.compressed_names import bare_name

# Source: fio init.c (gen_log_name), client.c (fio_client_handle_iolog), read at fio-3.41.
LOG_NAME = re.compile(
    r"^(?P<prefix>.+)_(?P<kind>bw|iops|slat|clat|lat|clat_hist|lab)(?:\.(?P<job>\d{1,9}))?\.log(?:\.(?P<host>.+))?$"
)


def log_name(path: str | Path) -> re.Match[str] | None:
    """What the name of a file tells of the log that it is, also where it is compressed; None for others."""
    return LOG_NAME.match(bare_name(Path(path).name))


@dataclass(frozen=True, kw_only=True)
class Log:
    """A log by its name.

    Attributes
    ----------
    folder, prefix, kind, host : str
        Parts of its path; host is empty but for a client of servers.
    job : int or None
        The job's number from 1; None where the name has none.
    sha256 : str
        Hash of its content.
    """

    folder: str
    prefix: str
    kind: str
    job: int | None
    host: str
    sha256: str
    path: str

    @classmethod
    def named(cls, path: str, sha256: str) -> "Log | None":
        """What a path tells; None where it is not named as fio names logs."""
        name = log_name(path)
        if name is None:
            return None
        folder, job = str(Path(path).parent), int(name["job"]) if name["job"] else None
        return cls(
            folder=folder,
            prefix=name["prefix"],
            kind=name["kind"],
            job=job,
            host=name["host"] or "",
            sha256=sha256,
            path=path,
        )

    @classmethod
    def bare(cls, path: str, kind: str) -> "Log":
        """A log of which its name tells no more than the kind, such as ``clat.log``."""
        return cls(
            folder=str(Path(path).parent), prefix="", kind=kind, job=None, host="", sha256="", path=path
        )

    def is_with(self, other: "Log") -> bool:
        """Whether both are of the same job."""
        mine, its = ((log.folder, log.prefix, log.job, log.host) for log in (self, other))
        return mine == its
