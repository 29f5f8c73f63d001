"""A host that scripts reach as a target: fio runs there, whether we are connected or not."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, Self

from azbenchlib.campaign import device_guard, outputs, safety
from azbenchlib.campaign.detect import pod
from azbenchlib.campaign.detect.pod import pod_address
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.host import Storage, ram_bytes
from azbenchlib.campaign.outputs import LARGEST_OUTPUT, write
from azbenchlib.campaign.safety import TargetFacts
from azbenchlib.campaign.targets.base import MeasurementRun, Request
from azbenchlib.campaign.targets.hosts import host
from azbenchlib.campaign.targets.hosts.host import HostPlan, look
from azbenchlib.campaign.targets.hosts.transport import PATIENCE_S, PrefixTransport, SshTransport, Transport
from azbenchlib.campaign.targets.one_target import OneTarget, OneTargetMeasurement
from azbenchlib.campaign.workloads.base import Work
from azbenchlib.campaign.workloads.grid import LAYOUT, check_names
from azbenchlib.campaign.workloads.limits import RunLimits, ended_after
from azbenchlib.campaign.workloads.program import GIVEN_UP
from azbenchlib.core.errors import AzbenchError, InputError, UnsafeTargetError
from azbenchlib.core.targets import CommandPrefix, host_addresses
from azbenchlib.core.units import S_PER_HOUR
from azbenchlib.dataset.manifest import ManifestSetup
from azbenchlib.model.disk_row import DiskRow

_SETUP_ID, _DISK = "host", "dir"
_WAIT_S, _HANGS_S = 10, 120.0  # of one question after a run; after which it is asked again
_OVERDUE_S = 600  # a run may take so much longer than it may on the host, before it is ended from here
_LONGEST_S = 24 * S_PER_HOUR  # of a run whose end nobody knows, besides its data; by judgement
_STARTS = 3  # of a run that is gone without a word, as after a host that started anew

HostRun = MeasurementRun[HostPlan, OneTargetMeasurement]


def transports(target: str) -> list[Transport]:
    """The ways to the hosts that a target names; an InputError where one is none, or is there twice."""
    addresses = host_addresses(target)
    for one in addresses:
        if isinstance(one, CommandPrefix):
            pod.check_one_pod(one.words, str(one))
    return [
        PrefixTransport(address=one) if isinstance(one, CommandPrefix) else SshTransport(address=one)
        for one in addresses
    ]


@dataclass(kw_only=True)
class HostTarget(OneTarget[HostPlan]):
    """Measure on a host; it needs fio, a POSIX shell, and coreutils or busybox.

    `directory` is one on the host, in which a folder is made and removed at the end; or a block device, whose
    content is overwritten. Empty: the home of the login.
    """

    transport: Transport  # that leads to the host
    title: str = "Measured on a host"
    experiment: Experiment | None = None  # for what it states of the VM and the disk of a pod
    _facts: TargetFacts = field(init=False)
    _storage: Storage = field(init=False)
    _held: bool = field(default=False, init=False)

    @classmethod
    def of(cls, request: Request, **more: Any) -> Self:
        """Each workload runs once for each repeat; setups of a file are left aside, but that of a pod."""
        first, *others = transports(request.address)
        if others:
            raise InputError(f"target '{request.address}': names several hosts; name one")
        reached = f" on a host reached {first.address.way}"
        return super().of(request, transport=first, reached=reached, experiment=request.experiment)

    def make_plan(self, dataset: Path) -> HostPlan:
        """The workloads as they can run on the host."""
        check_names(self.workloads)
        place = str(self.directory or "")
        if place and not place.startswith("/"):
            raise InputError(f"directory '{place}' must be an absolute path on the host")
        try:
            facts, storage, made = look(self.transport, place, self.workloads, self.allow_unsafe)
            made = self._with_pod(made, [place, facts.real])
        except BaseException:  # what is refused is not released either
            self.transport.close()
            raise
        self._facts, self._storage = facts, storage
        return made

    def _with_pod(self, made: HostPlan, paths: Sequence[str]) -> HostPlan:
        """The plan with what a cluster tells of the pod that is measured, where kubectl leads to one."""
        is_command = isinstance(self.transport, PrefixTransport)
        address = pod_address(self.transport.command()) if is_command else None
        if address is None:
            return made
        facts, notes = pod.described(address, paths)
        if facts is None:
            return made.model_copy(update={"notes": [*made.notes, *notes]})
        facts = pod.with_stated(facts, self.experiment)
        return made.model_copy(update={"pod": facts.setup, "notes": [*made.notes, *notes, *facts.notes]})

    def answers_from_memory(self) -> bool:
        """As the host told it when it was planned."""
        return self._storage.answers_from_memory(PurePosixPath(self._facts.real), device=self._device)

    def check(self, run: HostRun, resumed: bool) -> None:
        """Refuse a target without room for what is still to be written, and a device that may hold data."""
        self.transport.tell = run.tell
        try:
            if not resumed:
                run.plan.check_sizes_known(self._facts.real, self.allow_unsafe)
            if self._device:
                self._check_device(run)
            elif not resumed:
                safety.judge(self._facts, run.plan.size_bytes + run.plan.jobs_bytes, self.allow_unsafe)
        except BaseException:  # what is refused is not released
            self.transport.close()
            raise

    def _check_device(self, run: HostRun) -> None:
        """Refuse a device that others use, that may hold data, or that is not the one of an earlier run."""
        run.tell(f"looking whether {self._facts.path} is blank …")
        real, how = self._facts.real, device_guard.how(self._facts, self.allow_unsafe)
        told = device_guard.facts(self.transport.ask(host.call("look_at_device", real, run.plan.token, how)))
        device = device_guard.with_facts(self._facts, told)
        safety.judge(device, run.plan.size_bytes, self.allow_unsafe)
        device_guard.check_mark(device, self.allow_unsafe, run.journal)

    def begin(self, run: HostRun) -> None:
        """Keep other campaigns away from a device, and leave our mark on it."""
        if self._device:
            told = device_guard.facts(self.transport.ask(host.call("hold", self._facts.real, run.plan.token)))
            if "taken" in told:
                raise UnsafeTargetError(
                    f"{self._facts.real}: another campaign of this login uses it; if that has ended, "
                    f"remove {told['taken'][0]} on the host"
                )
            self._held = True
            if not safety.is_permitted(self._facts, self.allow_unsafe):
                self.transport.ask(host.call("device_mark", self._facts.real, run.plan.token, "whole"))
                device_guard.note_mark(run.journal)
        self._held = True

    def device(self, run: HostRun) -> PurePath | None:
        """The target, where it is a block device."""
        return PurePosixPath(self._facts.real) if self._device else None

    def shared_data(self, run: HostRun) -> PurePath:
        """The device, or a link to the data in the folder that tools are started in."""
        return self.device(run) or PurePosixPath(host.HOST_DATA)

    def own_commands(self, run: HostRun, work: Work) -> list[list[str]]:
        """The commands of a workload that keeps data of its own."""
        if work.runs_in_data_dir:
            return work.commands(PurePosixPath(), PurePosixPath(host.OUT), 0)
        return work.commands(PurePosixPath(host.HOST_JOBS), PurePosixPath(), 0)

    def lay_out(
        self, run: HostRun, one: OneTargetMeasurement, part: Path, limits: RunLimits
    ) -> tuple[int, str]:
        """Write the shared data on the host."""
        return self._carried_out(run, LAYOUT, self.layout(run), None, part, limits.longest_s)

    def measure(self, run: HostRun, one: OneTargetMeasurement, part: Path) -> tuple[int, str]:
        """Have a workload run on the host, or wait for it where it runs already, and fetch its outputs."""
        work = one.workload
        return self._carried_out(run, work.name, self.commands(run, work), work, part, _limit_s(work))

    def release(self, run: HostRun, fault: BaseException | None) -> None:
        """End what still runs, and remove what was made on the host."""
        token, data = run.plan.token, "" if self._device else str(self._data(run))
        try:
            if self._held:
                if fault:
                    self.transport.ask(host.call("stop", token), patience_s=0)
                self.transport.ask(
                    host.call("leave", token, data), patience_s=PATIENCE_S if fault is None else 0
                )
        except AzbenchError as error:
            left = f"what was made on the host is still there ({data or token}): {error}"
            run.tell(f"{left}; the same command takes it up")
        finally:
            self.transport.close()

    def machine(self, run: HostRun) -> ManifestSetup:
        """The host as it tells of itself."""
        told, known = run.plan.told, run.plan.pod
        size = told.get("total_bytes", "")
        here = ManifestSetup(
            setup_id=_SETUP_ID,
            label=f"Host reached {self.transport.address.way}, {told.get('fstype', 'unknown file system')}",
            environment="other",
            ram_bytes=ram_bytes(told.get("ram_kib", "")),
            os=told.get("os"),
            kernel=told.get("kernel"),
            disks=[
                DiskRow(
                    disk=_DISK,
                    role="data",
                    sku=told.get("fstype"),
                    size_bytes=int(size) if size.isdigit() else None,
                )
            ],
        )
        if known is None or not (known.vm_size or known.disks):
            return here
        ours = {name: getattr(here, name) for name in ("ram_bytes", "os", "kernel")}
        return known.model_copy(update=ours)

    def _carried_out(
        self,
        run: HostRun,
        name: str,
        commands: Sequence[Sequence[str]],
        work: Work | None,
        part: Path,
        limit_s: float,
    ) -> tuple[int, str]:
        """Carry commands out on the host, and bring what they wrote into a folder: status and last words.

        A run that failed is removed from the host, so that it is begun anew.
        """
        lines = host.lines(commands, work, self._data(run), self._device, limit_s)
        status, text = self._ended(run, name, lines, part, limit_s)
        if status or outputs.came_to(part / (work.output if work else f"{LAYOUT}.json")) is None:
            self.transport.ask(host.call("forget", run.plan.token, name))
        return status, text

    def _ended(
        self, run: HostRun, name: str, lines: Sequence[str], part: Path, limit_s: float
    ) -> tuple[int, str]:
        """Start a script on the host unless it runs already, wait for its end, and fetch what it wrote."""
        begun = time.monotonic()
        starts = 0
        while True:
            if starts >= _STARTS:
                raise AzbenchError(f"{name}: is gone from the host again and again; was it started anew?")
            starts += 1
            self.transport.ask(host.start(run.plan.token, name, lines))
            state = "running"
            while state == "running":
                if time.monotonic() - begun > limit_s + _OVERDUE_S:
                    self.transport.ask(host.call("stop", run.plan.token))
                    return GIVEN_UP, ended_after(time.monotonic() - begun)
                said = self.transport.ask(
                    host.call("await", run.plan.token, name, _WAIT_S), longest_s=_HANGS_S
                )
                state = device_guard.facts(said)["state"][0]
            if state != "gone":
                break
        fetched = self.transport.ask(host.call("fetch", run.plan.token, name))
        for file, content in host.outputs(fetched, LARGEST_OUTPUT).items():
            write(part / file, content)
        words = part / host.SAID_FILE
        text = words.read_text(errors="replace") if words.is_file() else ""
        words.unlink(missing_ok=True)
        return int(state), f"{text}\n{ended_after(limit_s)}" if int(state) == GIVEN_UP else text

    def _data(self, run: HostRun) -> PurePosixPath:
        """The device, or the folder of ours in the directory."""
        real = PurePosixPath(self._facts.real)
        return real if self._device else real / f".azbench-{run.plan.token}"

    @property
    def _device(self) -> bool:
        return self._facts.kind == "device"


def _limit_s(work: Work) -> float:
    """How long a run may take on a host."""
    limit_s = work.limits.longest_s
    return limit_s if math.isfinite(limit_s) else 2 * work.max_duration_s + work.limits.stalled_s + _LONGEST_S
