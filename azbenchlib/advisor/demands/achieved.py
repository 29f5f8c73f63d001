"""What a run achieved, as a demand to be met elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from azbenchlib.analysis.over_time.phases import in_words, lasting
from azbenchlib.analysis.over_time.sustained import phases_of
from azbenchlib.analysis.runs import Run, Tables, runs
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.core.units import format_count, format_mbps, sum_known
from azbenchlib.model.descriptions import stated_setup
from azbenchlib.model.setup import Disk

SAME_REL = 0.01  # rates are printed rounded
MOST_CHOICES = 12  # that one sentence lists
SUSTAINED_S = 30  # a shorter run may live on burst credits and caches alone


@dataclass(frozen=True, kw_only=True)
class AchievedRates:
    """Rates of a run, both directions together, with the size of the data disks. None: not known. `caveats`
    say why it may not have been the disks that gave them, or not all the time.
    """

    run: str = ""
    iops: float | None
    bytes_per_s: float | None
    bs_bytes: float | None
    read_share: float | None
    size_bytes: float | None
    region: str | None = None
    run_ids: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def block(self) -> float | None:
        """Bytes of an I/O: of the rates, where the stated size does not fit them."""
        if not (self.iops and self.bytes_per_s):
            return self.bs_bytes
        mean = self.bytes_per_s / self.iops
        fits = self.bs_bytes and math.isclose(self.bs_bytes, mean, rel_tol=SAME_REL)
        return self.bs_bytes if fits else mean

    def as_demand(self) -> dict[str, Any]:
        """The fields of a :class:`~azbenchlib.advisor.demands.demand.Demand` that are known.

        So many IOPS of the block, or the throughput where no IOPS are known.
        """
        rate = {"iops": self.iops} if self.iops else {"bytes_per_s": self.bytes_per_s}
        block = None if self.block is None else round(self.block)
        fields = {**rate, "bs_bytes": block, "size_bytes": self.size_bytes, "read_share": self.read_share}
        return {name: value for name, value in fields.items() if value is not None}


def achieved(tables: Tables, name: str | None = None) -> AchievedRates:
    """The rates of one run.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    name : str, optional
        Of the run, its id, or its file where that holds one run. None: the one with the most IOPS of those
        on disks rather than in the page cache that lasted at least 30 s, as far as there are any.

    Raises
    ------
    InputError
        When there is no such run, when there are several (with their ids), or none with a rate.
    """
    every = [run for run in runs(tables) if any(_rates(run))]
    rated = [run for run in every if not _of_unknown_speed(run)]
    if not rated:
        slow = "; its rates are of emulated disks with dilated time, and the dilation factor is not known"
        raise InputError(f"no run has a rate, so no demand can be taken from one{slow if every else ''}")
    named = [run for run in rated if name in (None, run.name, run.source, *run.run_ids)]
    if not named:
        known = ", ".join(dict.fromkeys(run.name for run in rated))
        raise InputError(f"no run '{name}' with a rate; there are: {known}")
    if name is not None and len(named) > 1:
        choices = ", ".join(f"{run.run_ids[0]} ({_told_from(run, named)})" for run in named[:MOST_CHOICES])
        more = f" and {len(named) - MOST_CHOICES} more" if len(named) > MOST_CHOICES else ""
        raise InputError(f"{len(named)} runs are called '{name}'; give the id of one: {choices}{more}")
    sound = [run for run in named if not _caveats(run)] or named
    lasting = [run for run in sound if not 0 < _seconds(run) < SUSTAINED_S]
    best = max(lasting or sound, key=lambda run: tuple(rate or 0 for rate in _rates(run)))
    namesakes = [run for run in rated if run.name == best.name]
    found = _of(best, tables)
    return found if len(namesakes) == 1 else replace(found, run=f"{best.name} ({best.run_ids[0]})")


def _told_from(run: Run, others: Sequence[Run]) -> str:
    """What tells a run from others of its name: its setup, its file, its rate."""
    iops, size = _rates(run)
    rate = f"{format_count(iops)} IOPS" if iops else f"{format_mbps(size or 0)} MB/s"
    setup = run.setup_id if len({other.setup_id for other in others}) > 1 else None
    return ", ".join(
        filter(None, (setup, run.name if run.name != others[0].name else None, run.source, rate))
    )


def _of(run: Run, tables: Tables) -> AchievedRates:
    iops, size = _rates(run)
    seen = [flow.observation for flow in run.flows]
    weights = [one.iops or one.bw_bytes_per_s or 0 for one in seen]
    known = [one.read_share for one in seen if one.read_share is not None]
    share = None
    if len(known) == len(seen):
        share = sum(r * w for r, w in zip(known, weights, strict=True)) / sum(weights)
    return AchievedRates(
        run=run.name,
        iops=iops,
        bytes_per_s=size,
        bs_bytes=_block(run),
        read_share=share,
        size_bytes=_size(run, tables),
        region=_region(run, tables),
        run_ids=run.run_ids,
        caveats=(*_caveats(run), *_before(run)),
    )


def data_bytes(disks: Sequence[Disk]) -> float | None:
    """Size of the data disks together; of the OS disk where there are no others. None: one is not known."""
    volumes = [disk for disk in disks if disk.role != "os"] or disks
    sizes = [disk.size_bytes * disk.count for disk in volumes if disk.size_bytes]
    return sum(sizes) if sizes and len(sizes) == len(volumes) else None


def _caveats(run: Run) -> tuple[str, ...]:
    return tuple(finding.message for finding in run.findings if finding.code == Code.PAGE_CACHE_SUSPECTED)


def _of_unknown_speed(run: Run) -> bool:
    return any(finding.code == Code.TIME_SCALE_UNKNOWN for finding in run.findings)


def _before(run: Run) -> tuple[str, ...]:
    """What the rate was before its last phase, where there were several."""
    found = phases_of(run)
    if not found:
        return ()
    taken = "last" if lasting(found) == found[-1] else "last that took at least 5 % of the time"
    return (f"its rate was {in_words(found)}; the {taken} is taken",)


def _block(run: Run) -> float | None:
    """Bytes of an I/O, where all are alike."""
    blocks = {flow.observation.bs_bytes for flow in run.flows}
    (block,) = blocks if len(blocks) == 1 else (None,)
    return block


def _rates(run: Run) -> tuple[float | None, float | None]:
    """IOPS and bytes per second of all that ran at once, of the last phase that lasted where there were
    several; None where a part is not known. IOPS that are not stated are made from the bytes.
    """
    seen = [flow.observation for flow in run.flows]
    iops, size = (sum_known([getattr(one, name) for one in seen]) for name in ("iops", "bw_bytes_per_s"))
    block = _block(run)
    if iops is None and size and block:
        iops = size / block
    found = phases_of(run)
    if found and iops:  # a mean over burst and base is no rate of the disks
        size = None if size is None else size * lasting(found).mean / iops
        iops = lasting(found).mean
    return iops, size


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
