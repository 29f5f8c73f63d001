"""What is asked of a disk once its caps are known: a cache, fsync, several jobs, burst credits."""

from __future__ import annotations

from dataclasses import dataclass

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_size
from azbenchlib.probing.cache import LEAST_SETS, SMALLEST_SET_BYTES, Staircase
from azbenchlib.probing.drain import DRAIN_RUNS, Drain
from azbenchlib.probing.rounds import A_FILE_EACH, ONE_JOB, SHARED, SYNCED, UNSYNCED, Rounds
from azbenchlib.probing.stage import ProbeStage
from azbenchlib.probing.write_back import WriteBackStage

FILL_S = 600.0  # that one pass over a working set may take


@dataclass(kw_only=True)
class Stages:
    """The stages that were asked for; None: not that one."""

    stairs: Staircase | None = None
    write_back: WriteBackStage | None = None
    fsync: Rounds | None = None
    jobs: Rounds | None = None
    drain: Drain | None = None

    @classmethod
    def asked(
        cls,
        *,
        seconds: float,
        size_bytes: int,
        cache: bool = False,
        fsync: bool = False,
        jobs: bool = False,
        files: bool = True,
        drain_minutes: float = 0.0,
        fill_s: float = FILL_S,
    ) -> Stages:
        """Stages for runs of so many seconds on so much data; `files`: jobs can have a file each.

        Raises
        ------
        InputError
            When the data is too small to look for a cache.
        """
        if cache and size_bytes < LEAST_SETS * SMALLEST_SET_BYTES:
            least = format_size(LEAST_SETS * SMALLEST_SET_BYTES)
            raise InputError(
                f"--size {format_size(size_bytes)}: too small to look for a cache; --cache needs at least "
                f"{least}"
            )
        stairs = Staircase(size_bytes=size_bytes, seconds=seconds, fill_seconds=fill_s) if cache else None
        return cls(
            stairs=stairs,
            write_back=WriteBackStage(stairs=stairs, seconds=seconds) if stairs else None,
            fsync=Rounds(loads=(UNSYNCED, SYNCED), seconds=seconds / 2) if fsync else None,
            jobs=Rounds(loads=(ONE_JOB, SHARED, *[A_FILE_EACH] * files), seconds=seconds / 2)
            if jobs
            else None,
            drain=Drain(seconds=DRAIN_RUNS * seconds, minutes=drain_minutes) if drain_minutes else None,
        )

    @property
    def all_(self) -> tuple[ProbeStage, ...]:
        """Those that there are, in the order in which they are asked."""
        every: tuple[ProbeStage | None, ...] = (
            self.stairs,
            self.write_back,
            self.fsync,
            self.jobs,
            self.drain,
        )
        return tuple(stage for stage in every if stage is not None)
