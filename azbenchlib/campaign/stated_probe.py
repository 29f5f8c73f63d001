"""A probe as a person states it: in options of a verb, in parameters of a notebook, or in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from azbenchlib.campaign.probing import (
    ProbeRequest,
    dataset_name,
    disk_bytes,
    keep,
    probe,
    stages_of,
)
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.core import stated_values
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import S_PER_MIN
from azbenchlib.model import Setup, notation
from azbenchlib.model.documented_limits import documented
from azbenchlib.probing.naming import names
from azbenchlib.probing.runs import candidates
from azbenchlib.probing.session import Probe
from azbenchlib.probing.text import drain_cost
from azbenchlib.probing.to_json import document

AZURE_TARGET, LAB_TARGET = "azure", "lab"
_RANGES = {"minutes": (0.1, math.inf), "runs": (1, 200), "seconds": (1, 600), "drain": (0, 600)}


@dataclass(frozen=True, kw_only=True)
class ProbeTerms:
    """How much a probe may take, and what is asked besides.

    Parameters
    ----------
    minutes : float
        How long all runs may take together, but for those of `drain`.
    runs : int
        How many there may be.
    drain : float
        Minutes at full load, for each of two caps, in which burst credits are spent; 0: none.
    cache, fsync, jobs : bool
        What is asked besides: a cache, the cost of an fsync, several jobs and files.
    as_of : str, optional
        ISO day whose limits name the disk; None: today.
    """

    minutes: float = 12.0
    runs: int = 12
    drain: float = 0.0
    cache: bool = False
    fsync: bool = False
    jobs: bool = False
    as_of: str | None = None

    def __post_init__(self) -> None:
        for name in ("minutes", "runs", "drain"):
            check_range(name, getattr(self, name))


def stated_request(
    target: str,
    *,
    setup: Setup | None = None,
    vm: str | None = None,
    disks: Sequence[str] = (),
    size: str | float = "1GiB",
    seconds: float = 10.0,
    directory: str = "",
    vm_id: str = "",
    raw: bool = False,
    results_group: bool = False,
    allow: str = "",
    as_of: str | None = None,
    dashes: str = "",
) -> ProbeRequest:
    """Return what is asked for; what is for another target is refused.

    Parameters
    ----------
    target, directory, vm_id, raw, results_group, seconds
        As of :class:`.ProbeRequest`.
    setup : Setup, optional
        For the lab: what `vm` and `disks` emulate, where they are more than their notation.
    vm : str, optional
        For the lab: the VM size.
    disks : sequence of str
        For the lab: what is emulated. In Azure: the name of one data disk.
    size : str or number
        How much data is touched: a text with its unit, or bytes.
    allow : str
        The words that permit a target which would be refused.
    as_of : str, optional
        ISO day whose limits are emulated.
    dashes : str
        What stands before names in messages.

    Raises
    ------
    InputError
        For values out of range, and what is for another target.
    """
    _check_target(target, {"raw": raw, "vm-id": vm_id, "results-group": results_group}, vm, disks, dashes)
    check_range("seconds", seconds)
    if target == LAB_TARGET and setup is None and disks:
        setup = notation.stated_setup(vm, disks, as_of)
    return ProbeRequest(
        target=target,
        directory=directory,
        vm_id=vm_id,
        disk="".join(disks) if target == AZURE_TARGET else "",
        raw=raw,
        results_group=results_group,
        setup=setup,
        size_bytes=stated_values.size(f"{dashes}size", stated_values.as_text("size", size, "B")),
        seconds=seconds,
        allow_unsafe=allow,
    )


def probe_into(
    dataset: Path | None,
    asked: ProbeRequest,
    terms: ProbeTerms,
    progress: Progress = quiet,
    fresh: bool = False,
) -> Path:
    """Probe a disk, name it, and keep what was found in a dataset folder.

    Parameters
    ----------
    dataset : Path, optional
        The folder to write; an unfinished probe is taken up. None: ``datasets/probe-TARGET``.
    asked : ProbeRequest
    terms : ProbeTerms
    progress, fresh
        As for :func:`azbenchlib.campaign.run_loop.measure`.

    Returns
    -------
    Path
        The folder, from which the answer can be loaded.

    Raises
    ------
    AzbenchError
        As :func:`azbenchlib.campaign.probing.probe` does.
    """
    limits = documented(terms.as_of or date.today().isoformat())  # a wrong day is told before all runs
    folder = dataset or Path("datasets") / dataset_name(asked.target)
    stages = stages_of(
        asked, cache=terms.cache, fsync=terms.fsync, jobs=terms.jobs, drain_minutes=terms.drain
    )
    session = Probe(runs=candidates(asked.seconds), most_runs=terms.runs, most_s=terms.minutes * S_PER_MIN)
    if stages.drain:
        progress(0, terms.runs, drain_cost(stages.drain))
    portrait = probe(asked, folder, session, progress, fresh, stages.all_)
    named = names(portrait, limits, disk_bytes(asked.target, folder), asked.seconds)
    keep(folder, document(session, portrait, named, stages))
    return folder


def check_range(name: str, value: float) -> None:
    """Refuse a number out of the range that it may have.

    Raises
    ------
    InputError
        Then.
    """
    least, most = _RANGES[name]
    if not least <= value <= most:
        bounds = f"{least} or more" if math.isinf(most) else f"between {least} and {most}"
        raise InputError(f"{name} {value}: a number {bounds} is needed")


def _check_target(
    target: str, for_azure: dict[str, object], vm: str | None, disks: Sequence[str], dashes: str
) -> None:
    if target != AZURE_TARGET:
        for name, value in for_azure.items():
            if value:
                option = name if dashes else name.replace("-", "_")
                raise InputError(f"target '{target}': {dashes}{option} is for the target azure")
    if vm and target != LAB_TARGET:
        raise InputError(f"target '{target}': {dashes}vm is for the target lab")
    if disks and target not in (AZURE_TARGET, LAB_TARGET):
        raise InputError(f"target '{target}': {dashes}disk is for the targets lab and azure")
    if len(disks) > 1 and target == AZURE_TARGET:
        named = " ".join(f"{dashes}disk {disk}" for disk in disks)
        raise InputError(f"{named}: a probe is of one disk; name one")
