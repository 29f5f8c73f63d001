"""What comes after the runs that find the caps: a stage asks one question more, run by run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from azbenchlib.probing.portrait import Portrait


class ProbeStageRun(Protocol):
    """A run of a stage: what its outputs are called by, how texts call it, and how long it lasts at most."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def seconds(self) -> float: ...


class ProbeStage(Protocol):
    """Chooses runs by what its own showed; knows all that it may ever ask for before the first of them."""

    def runs(self) -> Sequence[ProbeStageRun]:
        """All that there may be."""

    def next(self, portrait: Portrait) -> Any:
        """The next run; None: it is done."""

    def tell(self, shown: Any) -> None:
        """Learn from a run."""
