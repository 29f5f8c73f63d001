"""Probing a disk on a target: each run is chosen by what the ones before it showed, and all are kept.

The plan of a probe lists every run that may be chosen; the journal tells which were, in which order. After a
kill, the kept ones are read again in that order, which leads to the same choice, and the probe goes on.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from azbenchlib import model
from azbenchlib.campaign import host
from azbenchlib.campaign.journal import Journal
from azbenchlib.campaign.planning.plan import PLAN_FILE
from azbenchlib.campaign.probe_runs import shown, workload
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.run_loop import Order, measure
from azbenchlib.campaign.targets.azure.existing import VM_ID_VARIABLE
from azbenchlib.campaign.targets.azure.probed_vm import probed_vm
from azbenchlib.campaign.targets.base import MeasurementRun, Request, Target
from azbenchlib.campaign.targets.lab.setup import in_words
from azbenchlib.campaign.targets.lab.target import LabTarget
from azbenchlib.campaign.targets.local.target import LocalTarget
from azbenchlib.campaign.targets.ssh.target import SshTarget
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import write_atomically
from azbenchlib.core.targets import SSH, kind_of
from azbenchlib.core.units import GIB
from azbenchlib.dataset import manifest
from azbenchlib.dataset.manifest import MANIFEST_FILE
from azbenchlib.dataset.probed import PROBE_FILE
from azbenchlib.probing.portrait import Portrait
from azbenchlib.probing.session import Probe
from azbenchlib.probing.stage import ProbeStage
from azbenchlib.probing.stages import FILL_S, Stages

DATA_BYTES = GIB  # that a probe touches, unless another size is asked for
DESIGN = "A probe: each run is the one that is expected to tell most per second about what is still open."


@dataclass(kw_only=True)
class ProbeOrder(Order):
    """The run that tells most is the next one; `in_memory`: whether no disk is behind what is probed.

    `stages`: what is asked when that has ended, one after the other.
    """

    probe: Probe
    in_memory: Callable[[], bool]
    stages: Sequence[ProbeStage] = ()
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
            run.tell(f"next: {chosen.run.title} ({chosen.nats:.1f} nats expected)")
            yield from self._made(run, chosen.run.name)
        for stage in self.stages:
            while wanted := stage.next(self.probe.portrait()):
                run.tell(f"next: {wanted.title}")
                yield from self._made(run, wanted.name)
        run.plan = run.plan.only({one.workload.name for one in run.measurements})

    def _made(self, run: MeasurementRun[Any, Any], name: str) -> Iterator[tuple[Any, Any]]:
        """One run; when it was made, it is learnt from."""
        one = self._all[name]
        run.measurements = [*run.measurements, one]
        yield one, None
        self._learn(run, one)

    def _learn(self, run: MeasurementRun[Any, Any], one: Any) -> None:
        name, output, slowly = one.workload.name, run.output(one), run.dilation(one)
        for stage in self.stages:
            if wanted := next((known for known in stage.runs() if known.name == name), None):
                stage.tell(shown(wanted, output, slowly))
                return
        wanted = next(known for known in self.probe.runs if known.name == name)
        found = shown(wanted, output, slowly)
        self.probe.tell(replace(found, direct=False) if self.in_memory() else found)


def _place(order: Sequence[str], key: str) -> int:
    return order.index(key) if key in order else len(order)


@dataclass(frozen=True, kw_only=True)
class ProbeRequest:
    """Which disk is probed, and how.

    Parameters
    ----------
    target : str
        A directory or a block device of this machine, ``ssh:USER@HOST``, ``azure``, or ``lab``.
    directory : str
        On the host: as for :class:`.SshTarget`.
    vm_id : str
        In Azure: as for :func:`.probed_vm`; empty: what the environment variable ``AZBENCH_VM_ID`` says.
    disk, raw, results_group
        In Azure: as for :func:`.probed_vm`.
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
    cache_bytes : float, optional
        For the lab: size of the host cache. None: that of the VM size.
    """

    target: str
    directory: str = ""
    vm_id: str = ""
    disk: str = ""
    raw: bool = False
    results_group: bool = False
    setup: model.Setup | None = None
    size_bytes: int = DATA_BYTES
    seconds: float = 10.0
    allow_unsafe: str = ""
    credit_s: float | None = None
    cache_bytes: float | None = None


def stages_of(
    asked: ProbeRequest,
    *,
    cache: bool = False,
    fsync: bool = False,
    jobs: bool = False,
    drain_minutes: float = 0.0,
) -> Stages:
    """The stages that can be asked of a target.

    Raises
    ------
    InputError
        As :meth:`.Stages.asked` does.
    """
    return Stages.asked(
        seconds=asked.seconds,
        size_bytes=asked.size_bytes,
        cache=cache,
        fsync=fsync,
        jobs=jobs,
        files=not asked.raw and has_files(asked.target, asked.directory),
        drain_minutes=drain_minutes,
        # an emulated disk is driven no longer than that at once
        fill_s=asked.seconds if asked.target == "lab" else FILL_S,
    )


def probe(
    asked: ProbeRequest,
    dataset: Path,
    session: Probe,
    progress: Progress = quiet,
    fresh: bool = False,
    stages: Sequence[ProbeStage] = (),
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
    stages : sequence of ProbeStage
        What is asked after that, one after the other; each knows what it showed, afterwards.

    Raises
    ------
    InputError
        When the target cannot be probed.
    AzbenchError
        As :func:`azbenchlib.campaign.run_loop.measure` does.
    """
    later = [run for stage in stages for run in stage.runs()]
    workloads = [workload(run, asked.size_bytes) for run in (*session.runs, *later)]
    target = _target(asked, workloads, max([asked.seconds, *(run.seconds for run in later)]), progress)
    order = ProbeOrder(probe=session, in_memory=target.answers_from_memory, stages=stages)
    measure(target, dataset, progress=progress, fresh=fresh, order=order, design=DESIGN)
    return session.portrait()


def disk_bytes(target: str, dataset: Path) -> float | None:
    """The size of a probed disk: a block device of this machine, or what Azure told; None: not known."""
    if target == "azure":
        return manifest.load(dataset).setups[0].disks[0].size_bytes
    device = Path(target)
    return float(host.device_bytes(device.resolve())) if device.is_block_device() else None


def keep(dataset: Path, document: dict[str, Any]) -> None:
    """Write what a probe found beside its manifest, for reports and the catalogue.

    Raises
    ------
    OutputError
        When it cannot be written.
    """
    began = str(json.loads((dataset / PLAN_FILE).read_text(encoding="utf-8"))["started"])
    told = {"measured": began[:10], **document}
    write_atomically(dataset / PROBE_FILE, json.dumps(told, indent=1, allow_nan=False).encode())


def has_files(target: str, directory: str) -> bool:
    """Whether what is probed is a directory, in which jobs can have a file each."""
    return target != "lab" and not directory.startswith("/dev/") and not Path(target).is_block_device()


def dataset_name(target: str) -> str:
    """What the dataset of a probe is called where nothing else is said."""
    words = re.sub(r"[^a-z0-9]+", "-", target.lower()).strip("-")
    return f"probe-{words or 'here'}"


def _target(
    asked: ProbeRequest, workloads: Sequence[Workload | JobFile], longest_s: float, progress: Progress
) -> Target[Any, Any]:
    kind = kind_of(asked.target)
    title = f"Probe of {asked.target}"
    if kind == "azure":
        return probed_vm(
            asked.vm_id or os.environ.get(VM_ID_VARIABLE, ""),
            asked.disk,
            workloads=workloads,
            raw=asked.raw,
            results_group=asked.results_group,
            allow_unsafe=asked.allow_unsafe,
            progress=progress,
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
            cache_bytes=asked.cache_bytes,
        )
    return LocalTarget(
        directory=asked.target, workloads=workloads, title=title, allow_unsafe=asked.allow_unsafe
    )
