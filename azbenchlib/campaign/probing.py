"""Probing a disk on a target: each run is chosen by what the ones before it showed, and all are kept.

The plan of a probe lists every run that may be chosen; the journal tells which were, in which order. After a
kill, the kept ones are read again in that order, which leads to the same choice, and the probe goes on.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from azbenchlib.campaign import host
from azbenchlib.campaign.journal import Journal
from azbenchlib.campaign.planning.plan import PLAN_FILE
from azbenchlib.campaign.probe_runs import shown, workload
from azbenchlib.campaign.progress import Progress, quiet
from azbenchlib.campaign.run_loop import Order, measure
from azbenchlib.campaign.stated_probe import ProbeRequest, ProbeTerms
from azbenchlib.campaign.targets.azure.probed_vm import probed_vm
from azbenchlib.campaign.targets.base import MeasurementRun, Request, Target
from azbenchlib.campaign.targets.hosts.target import HostTarget
from azbenchlib.campaign.targets.lab.plan import in_words
from azbenchlib.campaign.targets.lab.target import LabTarget
from azbenchlib.campaign.targets.local.target import LocalTarget
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import write_atomically
from azbenchlib.core.targets import HOSTS, kind_of
from azbenchlib.core.units import S_PER_MIN
from azbenchlib.dataset import manifest
from azbenchlib.dataset.manifest import MANIFEST_FILE
from azbenchlib.dataset.probed import PROBE_FILE
from azbenchlib.model.documented_setups import documented_places
from azbenchlib.probing.fill import Fill
from azbenchlib.probing.likelihood import ProbeEvidence
from azbenchlib.probing.naming import Believed, names
from azbenchlib.probing.portrait import Portrait
from azbenchlib.probing.runs import candidates
from azbenchlib.probing.session import Probe
from azbenchlib.probing.stage import ProbeStage
from azbenchlib.probing.text import drain_cost
from azbenchlib.probing.to_json import document

DESIGN = "A probe: each run is the one that is expected to tell most per second about what is still open."


@dataclass(kw_only=True)
class ProbeOrder(Order):
    """The run that tells most is the next one; `in_memory`: whether no disk is behind what is `named`.

    `fill`: what is read before it. `stages`: what is asked when that has ended, one after the other.
    """

    probe: Probe
    in_memory: Callable[[], bool]
    named: str
    fill: Fill | None = None
    stages: Sequence[ProbeStage] = ()
    _all: dict[str, Any] = field(default_factory=dict, init=False)  # what can be measured, by name
    _kept: list[Any] = field(default_factory=list, init=False)

    def check(self) -> None:
        """Refuse memory, as the mounts tell it."""
        if self.in_memory():
            raise InputError(
                f"target '{self.named}': memory answers there, and no disk: its file system lies in "
                "memory, or a loop device reaches its file through the page cache; name a directory on a "
                "disk, or the device itself"
            )

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
        while self.fill and (part := self.fill.next()):
            run.tell(f"next: {part.title}")
            yield from self._made(run, part.name)
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
        if self.fill and (part := next((known for known in self.fill.runs() if known.name == name), None)):
            self.fill.tell(shown(part, output, slowly))
            return
        for stage in self.stages:
            if wanted := next((known for known in stage.runs() if known.name == name), None):
                stage.tell(shown(wanted, output, slowly))
                return
        wanted = next(known for known in self.probe.runs if known.name == name)
        self.probe.tell(shown(wanted, output, slowly))


def _place(order: Sequence[str], key: str) -> int:
    return order.index(key) if key in order else len(order)


def probe(
    asked: ProbeRequest,
    dataset: Path,
    session: Probe,
    progress: Progress = quiet,
    fresh: bool = False,
    stages: Sequence[ProbeStage] = (),
    fill: Fill | None = None,
) -> Portrait:
    """Probe a disk into a dataset folder, in which an unfinished probe is taken up.

    The `session` knows what runs there are and how much time, and afterwards all that was found out. The
    `stages` are what is asked after that, one after the other; each knows what it showed, afterwards. The
    `fill` is made before.
    `progress` and `fresh` are as for :func:`azbenchlib.campaign.run_loop.measure`, and so are faults;
    besides, an InputError is raised when the target cannot be probed.
    """
    later = [run for stage in stages for run in stage.runs()]
    first = fill.runs() if fill else []
    workloads = [workload(run, asked.size_bytes) for run in (*first, *session.runs, *later)]
    # an emulated disk is driven for no longer than its runs at once
    long = [asked.seconds, *(run.seconds for run in (*later, *(() if asked.target == "lab" else first)))]
    target = _target(asked, workloads, max(long), progress)
    order = ProbeOrder(
        probe=session,
        in_memory=target.answers_from_memory,
        named=asked.directory or asked.target,
        stages=stages,
        fill=fill,
    )
    measure(target, dataset, progress=progress, fresh=fresh, order=order, design=DESIGN)
    return session.portrait()


def probe_into(
    dataset: Path | None,
    asked: ProbeRequest,
    terms: ProbeTerms,
    progress: Progress = quiet,
    fresh: bool = False,
) -> Path:
    """Probe a disk, name it, and keep what was found in a dataset folder; the folder.

    Without `dataset`, that is ``datasets/probe-TARGET``. `progress`, `fresh` and faults are as for
    :func:`probe`.
    """
    places = documented_places(terms.as_of or date.today().isoformat())  # a wrong day is told before all runs
    folder = dataset or Path("datasets") / dataset_name(asked.target)
    stages = terms.stages_of(asked)
    session = Probe(runs=candidates(asked.seconds), most_runs=terms.runs, most_s=terms.minutes * S_PER_MIN)
    if stages.drain:
        progress(0, terms.runs, drain_cost(stages.drain))
    asked, fill = terms.filled(asked)
    portrait = probe(asked, folder, session, progress, fresh, stages.all_, fill)
    believed = Believed.of(session.disks, ProbeEvidence(session.shown), portrait.steady)
    named = names(believed, portrait, places, disk_bytes(asked.target, folder), asked.seconds)
    keep(folder, document(session, portrait, named, stages))
    return folder


def disk_bytes(target: str, dataset: Path) -> float | None:
    """The size of a probed disk: a block device of this machine, or what Azure told; None: not known."""
    if target == "azure":
        return manifest.load(dataset).setups[0].disks[0].size_bytes
    device = Path(target)
    return float(host.device_bytes(device.resolve())) if device.is_block_device() else None


def keep(dataset: Path, told: dict[str, Any]) -> None:
    """Write what a probe found beside its manifest, for reports and the catalogue.

    Raises an OutputError when it cannot be written.
    """
    began = str(json.loads((dataset / PLAN_FILE).read_text(encoding="utf-8"))["started"])
    dated = {"measured": began[:10], **told}
    write_atomically(dataset / PROBE_FILE, json.dumps(dated, indent=1, allow_nan=False).encode())


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
        return probed_vm(asked, workloads, progress)
    if kind in HOSTS:
        request = Request(
            workloads=workloads,
            experiment=None,
            title=title,
            directory=asked.directory,
            allow_unsafe=asked.allow_unsafe,
            longest_s=longest_s,
            address=asked.target,
        )
        return HostTarget.of(request)
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
