"""Disks of this machine, of others and of the lab: probing and emulating them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from azbenchlib.api.stated import described

if TYPE_CHECKING:
    from azbenchlib.answers.probe import ProbeAnswer
    from azbenchlib.campaign.progress import Progress
    from azbenchlib.lab.lab import Lab

__all__ = ["emulate", "probe"]


def probe(
    target: Path | str,
    *,
    minutes: float = 12.0,
    runs: int = 12,
    seconds: float = 10.0,
    size: str | float = "1GiB",
    drain: float = 0.0,
    cache: bool = False,
    fsync: bool = False,
    jobs: bool = False,
    directory: str = "",
    vm_id: str = "",
    results_group: bool = False,
    vm: str | None = None,
    disk: str = "",
    raw: bool = False,
    as_of: str | None = None,
    allow: str = "",
    output: Path | str | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> ProbeAnswer:
    """Find out what a disk is, by short runs of fio of which each is expected to tell most per second.

    The parameters are the options of ``azbench probe``. The data of a block device is overwritten; one that
    holds any is refused.

    Parameters
    ----------
    target : str or path-like
        A directory or a block device of this machine, ``ssh:USER@HOST[:PORT]``, ``exec:COMMAND``, ``azure``
        with `vm_id`, or ``lab`` with `disk`.
    minutes : float
        How long all runs may take together, but for those of `drain`.
    runs : int
        How many runs there may be.
    seconds : float
        How long each run lasts.
    size : str or number
        How much data is touched: a text such as ``8GiB``, or bytes.
    drain : float
        Minutes at full load, for each of two caps, in which burst credits are spent; 0: none.
    cache, fsync, jobs : bool
        Look for a cache that holds less than the data; measure what an fsync costs; compare one job with
        four.
    directory : str
        With ssh and exec: an absolute path on the host; empty: the home there.
    vm_id : str
        In Azure: the resource id of the VM; empty: the environment variable ``AZBENCH_VM_ID``.
    results_group, raw : bool
        In Azure: results come through a resource group that is made for it; the bare disk is driven.
    vm, disk : str, optional
        With ``lab``: what is emulated, such as ``P30``. In Azure, `disk` is the name of a data disk,
        ``lun0``, ``os``, ``temp`` or ``nvme``; empty: the only data disk.
    as_of : str, optional
        ISO day whose limits apply; default today.
    allow : str
        The words that permit a target which is refused; the refusal names them.
    output : path-like, optional
        Dataset folder to write; default ``datasets/probe-TARGET``. An unfinished probe is taken up, and of
        one that has ended nothing is measured again.
    fresh : bool
        Probe anew where the folder holds a probe.
    progress : callable, optional
        Called with the number of runs that are done, how many there are, and a line about the latest.

    Returns
    -------
    ProbeAnswer
        Shows itself; ``to_frame()`` has a row a property with its 95 % interval, ``plot()`` draws the most
        IOPS by block size, and ``ProbeAnswer.load`` opens it again.

    Raises
    ------
    AzbenchError
        When the target cannot be probed, or a run fails.
    """
    from azbenchlib.answers.probe import ProbeAnswer
    from azbenchlib.campaign.probing import probe_into
    from azbenchlib.campaign.progress import quiet
    from azbenchlib.campaign.stated_probe import ProbeTerms, stated_request

    asked = stated_request(
        str(target), vm=vm, disks=[disk] if disk else [], size=size, seconds=seconds, directory=directory,
        vm_id=vm_id, raw=raw, results_group=results_group, allow=allow, as_of=as_of,
    )  # fmt: skip
    terms = ProbeTerms(
        minutes=minutes, runs=runs, drain=drain, cache=cache, fsync=fsync, jobs=jobs, as_of=as_of
    )
    folder = None if output is None else Path(output)
    return ProbeAnswer.load(probe_into(folder, asked, terms, progress or quiet, fresh))


def emulate(vm: str, disks: Sequence[str] | str, *, as_of: str | None = None) -> Lab:
    """Emulate a VM with its disks on this machine, for fio to drive.

    Parameters
    ----------
    vm : str
        VM size.
    disks : str or sequence of str
        As of :func:`price`.
    as_of : str, optional
        ISO day whose limits apply; default today.

    Returns
    -------
    Lab
        To be used in a ``with`` statement; ``lab.uri(NAME)`` is the address of a volume in ``lab.sizes``.

    Raises
    ------
    InputError
        For a size or a disk that the catalogue does not know.
    """
    from azbenchlib.lab.lab import Lab
    from azbenchlib.model.fill_from_catalogue import resolve

    return Lab(resolve(described(vm, disks, as_of), as_of or date.today().isoformat()))
