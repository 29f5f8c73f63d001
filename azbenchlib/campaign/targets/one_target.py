"""What targets have in common whose workloads all drive one directory or one device."""

import secrets
from collections.abc import Container
from dataclasses import dataclass
from pathlib import PurePath
from typing import Self

from pydantic import Field

from azbenchlib.campaign.planning.plan import StoredPlan
from azbenchlib.campaign.safety import words_for_directory
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.core.errors import UnsafeTargetError


@dataclass(frozen=True)
class OneTargetMeasurement:
    """A workload; all of them drive the one target."""

    workload: AnyWorkload
    folder: str = ""

    @property
    def title(self) -> str:
        """How progress and errors call it."""
        return self.workload.title


class OneTargetPlan(StoredPlan):
    """Workloads in their order, with the tools that there are."""

    workloads: list[AnyWorkload]
    fio: str
    started: str
    iozone: str = ""
    token: str = Field(
        default_factory=lambda: secrets.token_hex(8)
    )  # by which a campaign knows what is its own

    def only(self, names: Container[str]) -> Self:
        """The same with some of the workloads."""
        return self.model_copy(update={"workloads": [one for one in self.workloads if one.name in names]})

    @property
    def size_bytes(self) -> int:
        """How much data the workloads share: what the largest touches; some make their own."""
        return max((work.shared_bytes for work in self.workloads), default=0)

    def check_sizes_known(self, real: str, allow: str) -> None:
        """Refuse workloads of which nobody can tell how much they write, unless the words permit that.

        Raises
        ------
        UnsafeTargetError
            With the words for the target, whose path without links is `real`.
        """
        words = words_for_directory(PurePath(real))
        if allow != words and (
            unknown := next(filter(None, (one.size_unknown for one in self.workloads)), "")
        ):
            raise UnsafeTargetError(
                f"{unknown}, so it could fill {real}; say size or filesize in bytes, or permit it with the "
                f"words '{words}'"
            )

    @property
    def jobs_bytes(self) -> int:
        """How much data a workload makes of its own at most."""
        return max((work.own_bytes for work in self.workloads), default=0)
