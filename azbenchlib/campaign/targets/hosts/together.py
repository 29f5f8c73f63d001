"""Several hosts at once: fio's server on each of them, and fio's client here.

The servers listen on sockets in folders that only their login may enter, and what leads to a host brings its
socket here, so no port is open to anybody. fio's client starts a workload on all of them together and
consolidates what they tell: each host, and all together.
"""

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, ClassVar, Self

from azbenchlib.campaign import outputs, safety
from azbenchlib.campaign.detect.pod import pod_address
from azbenchlib.campaign.safety import TargetFacts
from azbenchlib.campaign.targets.base import Request
from azbenchlib.campaign.targets.hosts import host
from azbenchlib.campaign.targets.hosts.host import HostPlan, look
from azbenchlib.campaign.targets.hosts.target import HostRun, transports
from azbenchlib.campaign.targets.hosts.transport import PATIENCE_S, Transport
from azbenchlib.campaign.targets.one_target import OneTarget, OneTargetMeasurement
from azbenchlib.campaign.workloads import program
from azbenchlib.campaign.workloads.base import Work
from azbenchlib.campaign.workloads.grid import LAYOUT, Workload, check_names
from azbenchlib.campaign.workloads.limits import RunLimits
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.core.temporary import new_folder
from azbenchlib.core.units import format_size
from azbenchlib.dataset.manifest import Command, Manifest, ManifestSetup
from azbenchlib.model.disk_row import DiskRow

_SERVER = "server"
_TRIES = 3  # of a run, where a connection breaks


@dataclass(kw_only=True)
class _Member:
    """One of the hosts; `name` is what the outputs call it."""

    name: str
    transport: Transport
    facts: TargetFacts
    plan: HostPlan

    def data(self, token: str) -> PurePosixPath:
        """The folder of ours in its directory."""
        return PurePosixPath(self.facts.real) / f".azbench-{token}"


@dataclass(kw_only=True)
class HostsTarget(OneTarget[HostPlan]):
    """Measure on several hosts at the same time; `directory` is one that each of them has, or their homes."""

    where_data_is: ClassVar[str] = " on each host"
    transports: Sequence[Transport]
    title: str = "Measured on several hosts"
    _members: list[_Member] = field(default_factory=list, init=False)
    _fio: program.Fio = field(init=False)
    _open: ExitStack = field(default_factory=ExitStack, init=False)
    _sockets: Path = field(init=False)

    @classmethod
    def of(cls, request: Request, **more: Any) -> Self:
        """The setups of a measurement file are left aside, and each workload runs once for each repeat."""
        found = transports(request.address)
        reached = " and ".join(dict.fromkeys(one.address.way for one in found))
        return super().of(request, transports=found, reached=reached)

    def make_plan(self, dataset: Path) -> HostPlan:
        """The workloads as they can run on all hosts."""
        check_names(self.workloads)
        if other := [work.name for work in self.workloads if not isinstance(work, Workload)]:
            raise InputError(
                f"workload '{other[0]}': several hosts at once run workloads of fio given by options"
            )
        self._fio = program.find()
        try:
            return self._planned()
        except BaseException:  # what is refused is not released either
            self._open.close()
            raise

    def _planned(self) -> HostPlan:
        for number, transport in enumerate(self.transports, 1):
            self._members.append(self._member(f"host-{number}", transport))
        first = self._members[0].plan
        if any(member.plan.workloads != first.workloads for member in self._members):
            raise InputError(
                "the hosts differ in the I/O engines of fio or in direct I/O; name what all have"
            )
        where = "+".join(member.plan.where for member in self._members)
        notes = list(dict.fromkeys(note for member in self._members for note in member.plan.notes))
        if any(pod_address(transport.command()) for transport in self.transports):
            notes.append(
                "Several pods were measured at once, and the cluster is asked about one alone: their VMs and "
                "disks are not known."
            )
        return first.model_copy(update={"where": where, "notes": notes})

    def _member(self, name: str, transport: Transport) -> _Member:
        self._open.callback(transport.close)
        facts, _, made = look(transport, str(self.directory or ""), self.workloads, self.allow_unsafe)
        if facts.kind != "directory":
            raise InputError(
                f"{transport.address}: {facts.path}: several hosts at once need a directory on each"
            )
        if made.fio != self._fio.version:
            raise InputError(
                f"{transport.address}: has {made.fio}, and here is {self._fio.version}; fio's client and "
                "servers understand each other only where they are of one version"
            )
        return _Member(name=name, transport=transport, facts=facts, plan=made)

    def check(self, run: HostRun, resumed: bool) -> None:
        """Refuse targets without room for what is still to be written."""
        for member in self._members:
            member.transport.tell = run.tell
            if not resumed:
                safety.judge(member.facts, run.plan.size_bytes, self.allow_unsafe)

    def begin(self, run: HostRun) -> None:
        """Start fio's server on each host, and bring its socket here."""
        folder = new_folder()
        self._open.callback(folder.cleanup)
        self._sockets = Path(folder.name)
        for member in self._members:
            self._connect(run, member)

    def _connect(self, run: HostRun, member: _Member) -> None:
        data, socket = (
            shlex.quote(str(member.data(run.plan.token))),
            host.socket_of(run.plan.token, member.name),
        )
        lines = [
            f"mkdir -p {data} && cd {data} || exit 3",
            f"mkdir -m 700 {socket.parent} 2>/dev/null; [ -O {socket.parent} ] || exit 3; rm -f {socket}",
            f'AZBENCH_RUN="$1" exec fio --server=sock:{socket}',
        ]
        member.transport.ask(host.start(run.plan.token, _SERVER, lines))
        member.transport.ask(host.call("listening", run.plan.token, _SERVER, socket))
        member.transport.bring(str(socket), self._sockets / member.name)

    def shared_data(self, run: HostRun) -> PurePath:
        """The data on each host, in the folder that its server is started in."""
        return PurePosixPath(host.HOST_DATA)

    def own_commands(self, run: HostRun, work: Work) -> list[list[str]]:
        """None: a workload that keeps data of its own is refused."""
        return []

    def lay_out(
        self, run: HostRun, one: OneTargetMeasurement, part: Path, limits: RunLimits
    ) -> tuple[int, str]:
        """Write the shared data on all hosts.

        What the hosts read and write is not seen here, so the slowest disk says how long it may take.
        """
        (argv,) = self.layout(run)
        return self._together(run, argv, LAYOUT, part, limits)

    def measure(self, run: HostRun, one: OneTargetMeasurement, part: Path) -> tuple[int, str]:
        """Have a workload run on all hosts at once."""
        (argv,) = self.commands(run, one.workload)
        return self._together(run, argv, one.workload.name, part, one.workload.limits)

    def _together(
        self, run: HostRun, argv: list[str], name: str, part: Path, limits: RunLimits
    ) -> tuple[int, str]:
        """Run fio's client until it ends well, anew where a connection broke: status and last words."""
        (part / f"{name}.fio").write_text(_job(argv))
        names = [member.name for member in self._members]
        options = [word for word in argv if word.startswith(("--output=", "--output-format="))]
        clients = [word for one in names for word in (f"--client=sock:{one}", f"{name}.fio")]
        status, text, says = 0, "", part / host.SAID_FILE
        for left in reversed(range(_TRIES)):
            for one in names:  # outputs call the hosts as their sockets are called here
                (part / one).symlink_to(self._sockets / one)
            status, text = program.run(["fio", *options, *clients], self._fio, part, None, says, limits)
            text = f"{says.read_text(errors='replace')}{text}"
            for path in (says, *(part / one for one in names)):
                path.unlink()
            if not left or (status == 0 and outputs.came_to(part / f"{name}.json") is not None):
                break
            run.tell(f"{name}: a host could not be heard to the end; all of them run it again …")
            for member in self._members:
                self._connect(run, member)
        (part / f"{name}.fio").unlink()
        return status, text

    def release(self, run: HostRun, fault: BaseException | None) -> None:
        """End the servers, and remove what was made on the hosts."""
        token = run.plan.token
        for member in self._members:
            patience, data = PATIENCE_S if fault is None else 0.0, member.data(token)
            try:
                member.transport.ask(host.call("stop", token, data), patience_s=patience)
                member.transport.ask(host.call("leave", token, data), patience_s=patience)
            except AzbenchError as error:
                run.tell(f"{member.name}: what was made there is still there ({token}): {error}")
        self._open.close()

    def manifest(self, run: HostRun, name: str) -> Manifest:
        """The manifest of a finished run; the hosts are one setup, and outputs tell them apart."""
        count = len(self._members)
        about = (
            f"Workloads with fio on {count} hosts at once, by fio's client and servers reached "
            f"{self.reached}: {len(run.plan.workloads)}. Data on each: {format_size(run.plan.size_bytes)}."
        )
        commands = [
            Command(title=f"{one.title}, on {count} hosts at once", text=shlex.join(argv))
            for one in run.measurements
            for argv in self.commands(run, one.workload)
        ]
        return super().manifest(run, name).model_copy(update={"about": about, "commands": commands})

    def machine(self, run: HostRun) -> ManifestSetup:
        """The hosts, with what is the same of all of them."""
        told = [member.plan.told for member in self._members]
        kinds = " and ".join(dict.fromkeys(one.get("fstype", "unknown file system") for one in told))
        known = {
            key: told[0].get(key) if len({one.get(key) for one in told}) == 1 else None for key in told[0]
        }
        return ManifestSetup(
            setup_id="hosts",
            label=f"{len(told)} hosts reached {self.reached}, {kinds}",
            environment="other",
            os=known.get("os"),
            kernel=known.get("kernel"),
            disks=[DiskRow(disk="dir", role="data", sku=kinds)],
        )


def _job(argv: Sequence[str]) -> str:
    """A job file of a command line: fio's client takes no other."""
    options = [word.removeprefix("--").partition("=") for word in argv[1:]]
    name = next(value for key, _, value in options if key == "name")
    kept = [(key, value) for key, _, value in options if key not in ("name", "output", "output-format")]
    return "\n".join([f"[{name}]", *(f"{key}={value}" for key, value in kept), ""])
