"""What can go wrong, in kinds. The library raises these; only the command line exits.

Every message is one clear sentence that names the file or parameter, the offending value and
the accepted choices.
"""

from typing import ClassVar


class AzbenchError(Exception):
    """Base of all errors that azbench raises on purpose; the command line turns it into an exit code."""

    exit_code: ClassVar[int] = 2


class InputError(AzbenchError):
    """A file, a parameter or an argument that cannot be used as it is.

    `keys`: those that lead to the fault in a file of nested keys, as far as whoever raises it knows them.
    """

    def __init__(self, *sentence: object, keys: tuple[str | int, ...] = ()) -> None:
        super().__init__(*sentence)
        self.keys = keys


class UnsafeTargetError(AzbenchError):
    """A measurement was asked for on a target that could lose data or run out of space."""


class MissingToolError(AzbenchError):
    """A program that is needed for this job is not installed."""


class WorkloadsFailedError(AzbenchError):
    """Some workloads failed; the others were measured, and their dataset is whole."""

    exit_code: ClassVar[int] = 4


class OutputError(AzbenchError):
    """A result cannot be written where it was asked for."""
