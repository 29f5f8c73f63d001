"""Who does a task over many items: processes of this machine, or an existing Dask cluster (extra ``dask``).

A task may be done twice, when who did it was lost; its effect must be the same then.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Protocol, TypeVar

from azbenchlib.core import extras, processes
from azbenchlib.core.errors import InputError, MissingToolError

_TOGETHER = 2  # rounds in which all items are tried; who loses a third process is given up, as Dask does it
_PATIENCE_S = 10  # for a Dask scheduler to answer

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers(Protocol):
    """Do a task for each of some items."""

    def map(
        self, task: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """Each item with its result, in the order in which they are done; None where every process was lost.

        What the task raises is raised here.
        """
        ...


class Processes:
    """Processes of this machine, which stay for the next task and end with this; with one, all is done here.

    Parameters
    ----------
    count : int
    """

    def __init__(self, count: int = 1) -> None:
        self.count = count
        self._pool: ProcessPoolExecutor | None = None

    def map(
        self, task: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """As of :class:`Workers`."""
        if self.count == 1 or len(items) < 2:
            yield from ((item, task(item)) for item in items)
            return
        waiting = set(range(len(items)))
        for _ in range(_TOGETHER):
            for place, result in self._round(task, items, sorted(waiting)):
                waiting.discard(place)
                yield items[place], result
        for place in sorted(waiting):  # one by one: nobody could tell which item costs the processes
            yield items[place], dict(self._round(task, items, [place])).get(place)

    def _round(
        self, task: Callable[[Item], Result], items: Sequence[Item], places: Sequence[int]
    ) -> Iterator[tuple[int, Result]]:
        """What is done of these items until a process is lost."""
        if not places:
            return
        with processes.without_current_folder():  # the first one begins with the pool
            pool = self._pool = self._pool or ProcessPoolExecutor(
                self.count, get_context("spawn"), initializer=_begin_work
            )
        try:
            with processes.without_current_folder():  # the others, as tasks are handed over
                futures: dict[Future[Result], int] = {
                    pool.submit(task, items[place]): place for place in places
                }
            for future in as_completed(futures):
                yield futures.pop(future), future.result()
        except BrokenProcessPool:
            self._pool = None
        except BaseException:  # also where nobody asks for the rest
            self._pool = None
            pool.shutdown(cancel_futures=True)
            raise


def _begin_work() -> None:
    """Ctrl-C is for the process that the user started; it ends the others, also where it is killed."""
    processes.end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@dataclass(frozen=True)
class DaskCluster:
    """The workers of a Dask scheduler, which read and write the same files as this machine."""

    address: str

    def map(
        self, task: Callable[[Item], Result], items: Sequence[Item]
    ) -> Iterator[tuple[Item, Result | None]]:
        """As of :class:`Workers`."""
        try:
            from distributed import Client, KilledWorker, as_completed
        except ImportError as error:
            raise MissingToolError(
                f"--dask {self.address}: needs Dask; get it with: {extras.install('dask')}"
            ) from error
        try:
            client = Client(self.address, timeout=_PATIENCE_S, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"--dask {self.address}: no scheduler of Dask answers: {error}") from error
        with client:
            futures = {client.submit(task, item, pure=False): item for item in items}
            for future in as_completed(list(futures), loop=client.loop):
                try:
                    yield futures[future], future.result()
                except KilledWorker:
                    yield futures[future], None
                future.release()
