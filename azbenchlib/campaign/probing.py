"""Probing a disk on a target: each run is chosen by what the ones before it showed, and all are kept.

The plan of a probe lists every run that may be chosen; the journal tells which were, in which order. After a
kill, the kept ones are read again in that order, which leads to the same choice, and the probe goes on.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib import model
from azbenchlib.analysis.concurrency import counted
from azbenchlib.campaign import host
from azbenchlib.campaign.journal import Journal
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.run_loop import Order, measure
from azbenchlib.campaign.targets.base import MeasurementRun, Request, Target
from azbenchlib.campaign.targets.lab.setup import in_words
from azbenchlib.campaign.targets.lab.target import LabTarget
from azbenchlib.campaign.targets.local.target import LocalTarget
from azbenchlib.campaign.targets.ssh.target import SshTarget
from azbenchlib.campaign.workloads.fio_options import EMULATED_ENGINE
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.core.errors import InputError
from azbenchlib.core.targets import SSH, kind_of
from azbenchlib.core.units import GIB
from azbenchlib.dataset.manifest import MANIFEST_FILE
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.model.unloaded_latency import MEDIAN
from azbenchlib.probe.drain import Drain, DrainRun, DrainShown
from azbenchlib.probe.portrait import Portrait
from azbenchlib.probe.runs import PATTERN_OF, ProbeRun, Shown
from azbenchlib.probe.session import Probe

DATA_BYTES = GIB  # that a probe touches, unless another size is asked for
DESIGN = "A probe: each run is the one that is expected to tell most per second about what is still open."
_SAMPLE_S = 0.5  # that each of fio's own samples of IOPS covers (its default of iopsavgtime)


def workload(run: ProbeRun, size_bytes: int) -> Workload:
    """A run of a probe as fio makes it."""
    return Workload(
        name=run.name,
        rw=PATTERN_OF[run.read_share],
        bs_bytes=run.bs_bytes,
        iodepth=run.depth,
        size_bytes=size_bytes,
        runtime_s=run.seconds,
        options=_paced(run),
    )


def _paced(run: ProbeRun) -> dict[str, str]:
    """What makes fio issue no more than the rate: of each direction, and evenly."""
    if not run.rate_iops:
        return {}
    each = run.rate_iops // 2 if 0 < run.read_share < 1 else run.rate_iops
    return {"rate_iops": f"{each},{each}"}


def drain_workload(run: DrainRun, size_bytes: int) -> Workload:
    """A run that spends burst credits, or lets them come back, as fio makes it."""
    return Workload(
        name=run.name,
        rw=PATTERN_OF[1.0],
        bs_bytes=run.bs_bytes,
        iodepth=run.depth,
        size_bytes=size_bytes,
        runtime_s=run.seconds,
        options={"rate_iops": str(run.rate_iops)} if run.rate_iops else {},
    )


def drain_shown(run: DrainRun, output: Path, dilation: float = 1.0) -> DrainShown:
    """What such a run showed; times are those of the disk, as in :func:`shown`.

    Raises
    ------
    InputError
        When the output does not tell when it ended.
    """
    tables = registry.read(Source.of(output, with_bins=False))
    runs = tables["runs"].loc[counted(tables)]
    rows = tables["results"]
    rows = rows[rows["run_id"].isin(runs["run_id"]) & (rows["ddir"] == "read")]
    ended = runs["ended_at"].max()
    if rows.empty or pd.isna(ended):
        raise InputError(f"{output}: tells no reads, or not when they ended")
    iops, lasted_s = float(rows["iops"].sum()) * dilation, float(rows["runtime_s"].max())
    return DrainShown(
        run=run,
        rate=iops if run.quantity == "iops" else iops * run.bs_bytes,
        began_s=(pd.Timestamp(ended).timestamp() - lasted_s) / dilation,
        lasted_s=lasted_s / dilation,
    )


def shown(run: ProbeRun, output: Path, dilation: float = 1.0) -> Shown:
    """What a run showed, from its output.

    Parameters
    ----------
    run : ProbeRun
    output : Path
        fio's JSON.
    dilation : float
        How much more slowly than the disk it ran: rates are multiplied by it, times divided.

    Raises
    ------
    InputError
        When the output tells no rate.
    """
    tables = registry.read(Source.of(output, with_bins=False))
    runs = tables["runs"].loc[counted(tables)]
    rows = tables["results"]
    rows = rows[rows["run_id"].isin(runs["run_id"]) & rows["ddir"].isin(["read", "write"])]
    iops = float(rows["iops"].sum())
    if not iops > 0:
        raise InputError(f"{output}: tells no I/Os per second")
    length_s = float(rows["runtime_s"].max())
    spread = float((rows["iops_stddev"].astype(float) ** 2).sum() ** 0.5)
    samples = max(1.0, length_s / _SAMPLE_S)
    return Shown(
        run=run,
        iops=iops * dilation,
        read_p50_us=_median_us(tables, "read", dilation),
        write_p50_us=_median_us(tables, "write", dilation),
        error=0.0 if run.rate_iops else spread / iops / samples,
        seconds=length_s / dilation,
        direct=runs["ioengine"].eq(EMULATED_ENGINE).all() or bool(runs["direct"].eq(True).all()),
    )


def _median_us(tables: dict[str, pd.DataFrame], ddir: str, dilation: float) -> float | None:
    """The median of total latency, or of completion where that is all there is."""
    rows = tables["percentiles"]
    rows = rows[(rows["ddir"] == ddir) & (rows["percentile"] == MEDIAN)]
    by_kind = rows.set_index("lat_kind")["lat_us"]
    found = next((float(by_kind[kind]) for kind in ("lat", "clat") if kind in by_kind), None)
    return found / dilation if found else None


@dataclass(kw_only=True)
class ProbeOrder(Order):
    """The run that tells most is the next one; `in_memory`: no disk is behind what is probed.

    `drain`: burst credits are spent when that has ended.
    """

    probe: Probe
    in_memory: bool = False
    drain: Drain | None = None
    _all: dict[str, Any] = field(default_factory=dict, init=False)  # what can be measured, by name
    _kept: list[Any] = field(default_factory=list, init=False)

    def take_up(self, run: MeasurementRun[Any, Any]) -> None:
        """Learn from what is kept already."""
        self._all = {one.workload.name: one for one in run.measurements}
        if len(self._all) < len(run.measurements):
            raise InputError("a probe is of one disk; name one")
        order = list(Journal(run.folder).kept())
        there = [one for one in run.measurements if run.done(one)]
        self._kept = sorted(there, key=lambda one: _place(order, run.key(one)))
        for one in self._kept:
            self._learn(run, one)
        if (run.folder / MANIFEST_FILE).is_file():  # nothing more is measured
            run.measurements = self._kept

    def begin(self, run: MeasurementRun[Any, Any]) -> None:
        """What is kept is all that will be measured for certain."""
        run.measurements = self._kept

    def each(self, run: MeasurementRun[Any, Any]) -> Iterator[tuple[Any, Any]]:
        """One after the other, as long as one is worth its time."""
        while chosen := self.probe.next():
            one = self._all[chosen.run.name]
            run.measurements = [*run.measurements, one]
            run.tell(f"next: {chosen.run.title} ({chosen.nats:.1f} nats expected)")
            yield one, None
            self._learn(run, one)
        yield from self._drained(run)
        run.plan = run.plan.only({one.workload.name for one in run.measurements})

    def _drained(self, run: MeasurementRun[Any, Any]) -> Iterator[tuple[Any, Any]]:
        """The runs that spend burst credits, after those that found the caps."""
        while self.drain and (chosen := self.drain.next(self.probe.portrait())):
            one = self._all[chosen.name]
            run.measurements = [*run.measurements, one]
            run.tell(f"next: {chosen.title}")
            yield one, None
            self._learn(run, one)

    def _learn(self, run: MeasurementRun[Any, Any], one: Any) -> None:
        driven = {known.name: known for known in self.drain.runs()} if self.drain else {}
        if self.drain and one.workload.name in driven:
            spent = driven[one.workload.name]
            self.drain.tell(drain_shown(spent, run.output(one), run.dilation(one)))
            return
        by_name = {known.name: known for known in self.probe.runs}
        found = shown(by_name[one.workload.name], run.output(one), run.dilation(one))
        self.probe.tell(replace(found, direct=False) if self.in_memory else found)


def _place(order: Sequence[str], key: str) -> int:
    return order.index(key) if key in order else len(order)


@dataclass(frozen=True, kw_only=True)
class ProbeRequest:
    """Which disk is probed, and how.

    Parameters
    ----------
    target : str
        A directory or a block device of this machine, ``ssh:USER@HOST``, or ``lab``.
    directory : str
        On the host: as for :class:`.SshTarget`.
    setup : Setup, optional
        For the lab: what is emulated, with one disk.
    size_bytes : int
        How much data is touched.
    seconds : float
        How long each run lasts; on emulated disks, in real time.
    allow_unsafe : str
        The words that permit a target which would be refused.
    credit_s : float, optional
        For the lab: seconds that full burst credits last. None: as long as Azure's.
    """

    target: str
    directory: str = ""
    setup: model.Setup | None = None
    size_bytes: int = DATA_BYTES
    seconds: float = 10.0
    allow_unsafe: str = ""
    credit_s: float | None = None


def probe(
    asked: ProbeRequest,
    dataset: Path,
    session: Probe,
    progress: Progress = quiet,
    fresh: bool = False,
    drain: Drain | None = None,
) -> Portrait:
    """Probe a disk into a dataset folder.

    Parameters
    ----------
    asked : ProbeRequest
    dataset : Path
        The folder to write; an unfinished probe is taken up.
    session : Probe
        What runs there are and how much time; knows all that was found out, afterwards.
    progress, fresh
        As for :func:`azbenchlib.campaign.run_loop.measure`.
    drain : Drain, optional
        Burst credits are spent after that, and it knows what this showed. None: they are not.

    Raises
    ------
    InputError
        When the target cannot be probed.
    AzbenchError
        As :func:`azbenchlib.campaign.run_loop.measure` does.
    """
    workloads = [workload(run, asked.size_bytes) for run in session.runs]
    workloads += [drain_workload(run, asked.size_bytes) for run in drain.runs()] if drain else []
    target = _target(asked, workloads, drain.seconds if drain else asked.seconds)
    in_memory = isinstance(target, LocalTarget) and _in_memory(Path(asked.target))
    order = ProbeOrder(probe=session, in_memory=in_memory, drain=drain)
    measure(target, dataset, progress=progress, fresh=fresh, order=order, design=DESIGN)
    return session.portrait()


def _in_memory(target: Path) -> bool:
    return target.is_dir() and host.mount_of(target.resolve()).fstype in host.MEMORY_FILE_SYSTEMS


def disk_bytes(target: str) -> float | None:
    """The size of a probed disk, where it is a block device of this machine; None: not known."""
    device = Path(target)
    return float(host.device_bytes(device.resolve())) if device.is_block_device() else None


def dataset_name(target: str) -> str:
    """What the dataset of a probe is called where nothing else is said."""
    words = re.sub(r"[^a-z0-9]+", "-", target.lower()).strip("-")
    return f"probe-{words or 'here'}"


def _target(asked: ProbeRequest, workloads: Sequence[Workload], longest_s: float) -> Target[Any, Any]:
    kind = kind_of(asked.target)
    title = f"Probe of {asked.target}"
    if kind == "azure":
        raise InputError(
            "target 'azure': probe the disk from within its VM, as ssh:USER@HOST or with azbench there"
        )
    if kind == SSH:
        request = Request(
            workloads=workloads,
            experiment=None,
            title=title,
            directory=asked.directory,
            allow_unsafe=asked.allow_unsafe,
            longest_s=longest_s,
            address=asked.target,
        )
        return SshTarget.of(request)
    if asked.target == "lab":
        if asked.setup is None:
            raise InputError("target 'lab': say what is emulated, such as --disk P30")
        return LabTarget(
            emulated=[in_words(asked.setup, workloads)],
            title=title,
            longest_s=longest_s,
            credit_s=asked.credit_s,
        )
    return LocalTarget(
        directory=asked.target, workloads=workloads, title=title, allow_unsafe=asked.allow_unsafe
    )
