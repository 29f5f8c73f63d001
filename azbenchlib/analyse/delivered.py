"""What a dataset's largest run was given, as something to ask for elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from azbenchlib.analyse.run_verdicts import stated_setup
from azbenchlib.analyse.runs import Run, Tables, runs
from azbenchlib.errors import InputError
from azbenchlib.model.setup import Disk

SAME_REL = 0.01  # rates are printed rounded
SUSTAINED_S = 30  # a shorter run may live on burst credits and caches alone
PAGE_CACHE = "page_cache_suspected"  # the finding of buffered I/O: what was measured may be memory


@dataclass(frozen=True)
class DeliveredRates:
    """Rates of a run, both directions together, with the size of the data disks. None: not known. `doubts`
    say why it may not have been the disks that gave them.
    """

    run: str
    iops: float | None
    bytes_per_s: float | None
    bs_bytes: float | None
    read_share: float | None
    size_bytes: float | None
    region: str | None
    doubts: tuple[str, ...] = ()


def delivered(tables: Tables, name: str | None = None) -> DeliveredRates:
    """The rates of one run.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    name : str, optional
        Of the run. None: the one with the most IOPS of those on disks rather than in the page cache that
        lasted at least 30 s, as far as there are any.

    Raises
    ------
    InputError
        When there is no such run, or none with a rate.
    """
    rated = [run for run in runs(tables) if any(_rates(run))]
    if not rated:
        raise InputError("no run with a rate; there is nothing to ask for")
    named = [run for run in rated if name in (None, run.name, *run.run_ids)]
    if not named:
        known = ", ".join(dict.fromkeys(run.name for run in rated))
        raise InputError(f"no run '{name}' with a rate; there are: {known}")
    sound = [run for run in named if not _doubts(run)] or named
    lasting = [run for run in sound if not 0 < _seconds(run) < SUSTAINED_S]
    best = max(lasting or sound, key=lambda run: tuple(rate or 0 for rate in _rates(run)))
    return _of(best, tables)


def _of(run: Run, tables: Tables) -> DeliveredRates:
    iops, size = _rates(run)
    seen = [flow.observation for flow in run.flows]
    block = _block(run)
    if iops and size and not (block and math.isclose(block, size / iops, rel_tol=SAME_REL)):
        block = size / iops
    weights = [one.iops or one.bw_bytes_per_s or 0 for one in seen]
    known = [one.read_share for one in seen if one.read_share is not None]
    share = None
    if len(known) == len(seen):
        share = sum(r * w for r, w in zip(known, weights, strict=True)) / sum(weights)
    where = _size(run, tables), _region(run, tables)
    return DeliveredRates(run.name, iops, size, block, share, *where, _doubts(run))


def data_bytes(disks: Sequence[Disk]) -> float | None:
    """Size of the data disks together; of the OS disk where there are no others. None: one is not known."""
    volumes = [disk for disk in disks if disk.role != "os"] or disks
    sizes = [disk.size_bytes * disk.count for disk in volumes if disk.size_bytes]
    return sum(sizes) if sizes and len(sizes) == len(volumes) else None


def _doubts(run: Run) -> tuple[str, ...]:
    return tuple(finding.message for finding in run.findings if finding.code == PAGE_CACHE)


def _block(run: Run) -> float | None:
    """Bytes of an I/O, where all are alike."""
    blocks = {flow.observation.bs_bytes for flow in run.flows}
    (block,) = blocks if len(blocks) == 1 else (None,)
    return block


def _rates(run: Run) -> tuple[float | None, float | None]:
    """IOPS and bytes per second of all that ran at once; None where a part is not known. IOPS that are not
    stated are made from the bytes.
    """
    seen = [flow.observation for flow in run.flows]
    iops, size = (_sum([getattr(one, name) for one in seen]) for name in ("iops", "bw_bytes_per_s"))
    block = _block(run)
    return size / block if iops is None and size and block else iops, size


def _sum(parts: list[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def _seconds(run: Run) -> float:
    return max((flow.observation.runtime_s or 0 for flow in run.flows), default=0)


def _size(run: Run, tables: Tables) -> float | None:
    """Of the data disks; of the data that was touched, where those are not known."""
    if size := data_bytes(stated_setup(tables, run.setup_id).disks):
        return size
    return max((flow.observation.working_set_bytes or 0 for flow in run.flows), default=0) or None


def _region(run: Run, tables: Tables) -> str | None:
    setups = tables["setups"]
    region = setups.loc[setups["setup_id"] == run.setup_id, "region"]
    return None if region.empty or pd.isna(region.iloc[0]) else str(region.iloc[0])
