"""How the user says which runs belong together, where their outputs do not."""

from enum import StrEnum


class GroupBy(StrEnum):
    """Which runs were made on one setup that is not stated: those of a file, folder, host or job, or all."""

    path = "path"
    folder = "folder"
    host = "host"
    job = "job"
    setup = "setup"
