"""How the user says which runs belong together, where their outputs do not."""

from enum import StrEnum


class GroupBy(StrEnum):
    """Which runs were made on one setup that is not stated: those of a file, of a host, of a job, or all."""

    path = "path"
    host = "host"
    job = "job"
    setup = "setup"
