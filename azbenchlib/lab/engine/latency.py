"""Draws of unthrottled latencies from the catalogue's tables (:mod:`azbenchlib.model.unloaded_latency`)."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

from azbenchlib.azure.catalog import latency as catalogue
from azbenchlib.azure.catalog.latency import HOST_CACHE
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import US_PER_S
from azbenchlib.model.setup import VM, Disk
from azbenchlib.model.unloaded_latency import Quantiles, distribution, table_of

NONE = "none"  # the table of no latency at all
# Every 2,000 I/Os have the table's quantiles exactly, so that p99 is right after few of them.
SAMPLE_SIZE = 2_000


def sampler(table: str, write: bool, seed: int) -> Callable[[], float]:
    """Draws latencies in seconds, from a shuffled stratified sample that is used over and over.

    Parameters
    ----------
    table : str
        One of `names`.
    write : bool
        Whether writes (else reads), where a table has them apart.
    seed : int
        Of the shuffle.

    Raises
    ------
    InputError
        For a table that there is not.
    """
    if table == NONE:
        return itertools.repeat(0.0).__next__
    if table not in names():
        raise InputError(f"no latency table '{table}'; there are: {', '.join(names())}")
    sample = stratified_sample(catalogue.percentiles(table, write))
    random.Random(seed).shuffle(sample)  # noqa: S311  not for secrets
    return itertools.cycle([us / US_PER_S for us in sample]).__next__


def names() -> tuple[str, ...]:
    """The tables that there are."""
    return (*catalogue.tables(), NONE)


def profiles(vm: VM, disk: Disk) -> tuple[str, ...]:
    """The tables from which a lab draws the latencies of a disk: that of its kind, and of the host cache."""
    cached = disk.caching != "None" and not disk.local
    return (table_of(vm, disk), *([HOST_CACHE] if cached else []))


def stratified_sample(quantiles: Quantiles, n: int = SAMPLE_SIZE) -> list[float]:
    """`n` latencies in rising order whose quantiles are these, in the unit of the quantiles."""
    latency_at = distribution(quantiles)
    return [latency_at((i + 0.5) / n) for i in range(n)]
