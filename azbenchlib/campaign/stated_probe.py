"""A probe as a person states it: in options of a verb, in parameters of a notebook, or in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from azbenchlib.core import stated_values
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB
from azbenchlib.model import Setup, notation
from azbenchlib.probing.fill import EMULATED_BYTES, EMULATED_PARTS, Fill
from azbenchlib.probing.stages import FILL_S, Stages

AZURE_TARGET, LAB_TARGET = "azure", "lab"
DATA_BYTES = GIB  # that a probe touches, unless another size is asked for
_RANGES = {"minutes": (0.1, math.inf), "runs": (1, 200), "seconds": (1, 600), "drain": (0, 600)}


@dataclass(frozen=True, kw_only=True)
class ProbeRequest:
    """Which disk is probed, and how."""

    target: (
        str  # a directory or device of this machine, ``ssh:USER@HOST``, ``exec:COMMAND``, ``azure``, ``lab``
    )
    directory: str = ""  # on the host: as for :class:`.HostTarget`
    # In Azure: resource id of the VM; empty: what the environment variable ``AZBENCH_VM_ID`` says
    vm_id: str = ""
    # In Azure: the name of a data disk there, ``lun0``, ``os``, ``temp`` or ``nvme``; empty: the only data
    # disk
    disk: str = ""
    raw: bool = False  # in Azure: whether the bare disk is driven, else a folder on its file system
    results_group: bool = False  # in Azure: as for :class:`.ExistingVmTarget`
    setup: Setup | None = None  # for the lab: what is emulated, with one disk
    size_bytes: int = DATA_BYTES  # how much data is touched
    seconds: float = 10.0  # how long each run lasts; on emulated disks, in real time
    allow_unsafe: str = ""  # the words that permit a target which would be refused
    # For the lab: seconds that full burst credits last; None: as long as Azure's
    credit_s: float | None = None
    cache_bytes: float | None = None  # for the lab: size of the host cache; None: that of the VM size


@dataclass(frozen=True, kw_only=True)
class ProbeTerms:
    """How much a probe may take, and what is asked besides."""

    minutes: float = 12.0  # how long all runs may take together, but for those of `drain`
    runs: int = 12  # how many there may be
    # Minutes at full load, for each of two caps, in which burst credits are spent; 0: none
    drain: float = 0.0
    # What is asked besides: a cache, the cost of an fsync, several jobs and files
    cache: bool = False
    fsync: bool = False
    jobs: bool = False
    as_of: str | None = None  # ISO day whose limits name the disk; None: today

    def __post_init__(self) -> None:
        for name in ("minutes", "runs", "drain"):
            check_range(name, getattr(self, name))

    def stages_of(self, asked: ProbeRequest) -> Stages:
        """The stages that can be asked of a target; an InputError as of :meth:`.Stages.asked`."""
        return Stages.asked(
            seconds=asked.seconds,
            size_bytes=asked.size_bytes,
            cache=self.cache,
            fsync=self.fsync,
            jobs=self.jobs,
            files=not asked.raw and _has_files(asked.target, asked.directory),
            drain_minutes=self.drain,
            # an emulated disk is driven no longer than that at once
            fill_s=asked.seconds if asked.target == LAB_TARGET else FILL_S,
        )

    def filled(self, asked: ProbeRequest) -> tuple[ProbeRequest, Fill | None]:
        """What is probed, and how all of its data is read before.

        None in Azure, where runs are dear, and of an emulated disk without host caching, which has no cache.
        """
        if asked.target != LAB_TARGET:
            return asked, None if asked.target == AZURE_TARGET else Fill(size_bytes=asked.size_bytes)
        if asked.setup is None or all(disk.caching == "None" for disk in asked.setup.disks):
            return asked, None
        if not self.cache:
            asked = replace(asked, size_bytes=min(asked.size_bytes, EMULATED_BYTES))
        return asked, Fill(size_bytes=asked.size_bytes, parts=EMULATED_PARTS)


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
    """Return what is asked for; what is for another target is refused, and so are values out of range.

    What is not told here is as of :class:`.ProbeRequest`. For the lab, `vm` and `disks` are what is emulated,
    by the limits of the day `as_of`, or `setup` where it is more than their notation; in Azure, `disks` has
    the name of one data disk. `size` is a text with its unit, or bytes. `dashes` stand before names in
    messages.
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


def check_range(name: str, value: float) -> None:
    """Refuse a number out of the range that it may have."""
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


def _has_files(target: str, directory: str) -> bool:
    """Whether what is probed is a directory, in which jobs can have a file each."""
    return target != LAB_TARGET and not directory.startswith("/dev/") and not Path(target).is_block_device()
