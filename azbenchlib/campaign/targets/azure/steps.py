"""From an experiment to the steps that carry it out in Azure, in order. Nothing is run here."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from azbenchlib.campaign.files.disk_spec import DiskSpec
from azbenchlib.campaign.files.spec import Experiment, SetupSpec
from azbenchlib.campaign.safety import MARK_BYTES
from azbenchlib.campaign.targets.azure import commands
from azbenchlib.campaign.targets.azure.commands import PLAIN, Command, Naming
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, format_size

PROVIDERS = ("Microsoft.Compute", "Microsoft.Network", "Microsoft.DevTestLab")  # the last: auto-shutdown
# Trusted launch is the default; a VM without it needs this feature. Source: Microsoft Learn, "Trusted launch
# for Azure virtual machines", 2026.
STANDARD_SECURITY = "Microsoft.Compute/UseStandardSecurityType"


@dataclass(frozen=True)
class Call:
    """One call of az. `refusal`: the setup and disk whose attachment Azure should refuse."""

    title: str
    argv: Command
    refusal: tuple[str, str] | None = None


@dataclass(frozen=True)
class Prepare:
    """Make a disk ready on the VM: find its devices, stripe, format if empty, mount."""

    vm: str
    setup: SetupSpec
    disk: str
    luns: tuple[int, ...]

    @property
    def title(self) -> str:
        return f"prepare {self.disk} on {self.vm}"


@dataclass(frozen=True)
class Release:
    """Let go of a disk on the VM before it is detached: unmount it, end its stripe."""

    vm: str
    setup: SetupSpec
    disk: str

    @property
    def title(self) -> str:
        return f"unmount {self.disk} on {self.vm}"


@dataclass(frozen=True)
class Guard:
    """Have a VM delete the resource group by itself when its run is dead and its time is over.

    One in a group that is not the run's own deletes nothing; what it is, is noted all the same.
    """

    vm: str
    is_own_group: bool = True

    @property
    def title(self) -> str:
        if not self.is_own_group:
            return f"look at {self.vm}"
        return f"{self.vm} deletes the group by itself when nobody does"


@dataclass(frozen=True)
class Rest:
    """Wait before the first workload of a setup, such as for an Ultra disk's new figures."""

    title: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Run a workload on a disk."""

    vm: str
    setup: SetupSpec
    disk: str
    workload: AnyWorkload
    data_bytes: int  # how much data the workloads of this setup touch at most on this disk

    @property
    def title(self) -> str:
        return f"{self.setup.name}, {self.disk}: {self.workload.title}"

    @property
    def folder(self) -> str:
        """Below ``raw/``: where the outputs of this setup and disk go."""
        return f"{self.setup.name}/{self.disk}"


Step = Call | Guard | Prepare | Release | Rest | Measure


def checks(experiment: Experiment) -> list[Command]:
    """What is asked before anything is created: login, group, providers, features, sizes and disks."""
    sizes, group = dict.fromkeys(setup.vm for setup in experiment.setups), experiment.group
    given = commands.group_id("SUBSCRIPTION", group) if group else ""
    return [
        commands.account_show(),
        *([commands.group_show(group), commands.permissions(given)] if group else []),
        *map(commands.provider_show, PROVIDERS),
        *map(commands.feature_show, features(experiment)),
        *(commands.list_sizes(experiment.region, size) for size in sizes),
        commands.list_disks(experiment.region),
        commands.list_usage(experiment.region),
    ]


def features(experiment: Experiment) -> list[str]:
    """Preview features that the subscription must have."""
    standard = any(setup.security_type == "Standard" for setup in experiment.setups)
    return [*experiment.features, *([STANDARD_SECURITY] if standard else [])]


def steps(
    experiment: Experiment, group: str, tags: dict[str, str], shutdown_hhmm: str, prefix: str = ""
) -> list[Step]:
    """All that is created, changed and measured between the checks and the teardown.

    `prefix`: of the names of all that is created in a group that is there already.
    """
    naming = Naming(prefix=prefix, tags=tags) if prefix else PLAIN
    state = _State(
        group=group, subnet=experiment.subnet, install=experiment.outbound != "none", naming=naming
    )
    made: list[Step] = []
    if not experiment.group:
        made.append(Call("resource group", commands.group_create(group, experiment.region, tags)))
    made += _network(experiment, group, naming)
    for setup in experiment.setups:
        made += state.enter(setup, shutdown_hhmm)
        made += [Rest(f"rest {setup.rest:g} s", setup.rest)] if setup.rest else []
        made += _measures(state.vm, setup)
    return made


def planned(experiment: Experiment) -> list[Step]:
    """The steps of an experiment, with stand-ins for what is not known before it is begun."""
    return steps(experiment, "GROUP", {"tool": "azbench"}, "HHMM")


def _network(experiment: Experiment, group: str, naming: Naming) -> list[Step]:
    """The network, unless there is one already."""
    if experiment.subnet:
        return []
    network = Call("network", commands.network_create(group, experiment.outbound, naming))
    if experiment.outbound != "nat":
        return [network]
    return [
        Call("public address of the NAT gateway", commands.address_create(group, naming)),
        Call("NAT gateway", commands.nat_create(group, naming)),
        network,
        Call("network: reach the outside by the NAT gateway", commands.nat_use(group, naming)),
    ]


def _measures(vm: str, setup: SetupSpec) -> Iterator[Measure]:
    sizes: dict[str, int] = {}
    for task in setup.tasks:
        for disk in setup.driven(task):
            sizes[disk] = max(task.workload.shared_bytes, sizes.get(disk, 0))
    for task in setup.tasks:
        for disk in setup.driven(task):
            task.workload.fits(setup.mount(disk), setup.disks[disk].raw)
            _check_room(task.workload, setup.disks[disk])
            yield Measure(vm=vm, setup=setup, disk=disk, workload=task.workload, data_bytes=sizes[disk])


def _check_room(work: AnyWorkload, disk: DiskSpec) -> None:
    """Refuse to write where the mark of the campaign is, at the end of a bare disk."""
    room = disk.count * disk.size_gib * GIB - MARK_BYTES if disk.raw and disk.size else work.shared_bytes
    if work.shared_bytes > room:
        raise InputError(
            f"workload '{work.name}': touches {format_size(work.shared_bytes)}; the last "
            f"{format_size(MARK_BYTES)} of a bare disk are for the mark by which azbench knows it again; "
            "make size smaller"
        )


@dataclass(kw_only=True)
class _State:
    """What is there so far: the VM, the disks, which are attached where."""

    group: str
    subnet: str | None = None
    install: bool = True  # whether VMs get the tools
    naming: Naming = PLAIN
    vm: str = ""
    machine: tuple[object, ...] = ()
    machines: int = 0
    setup: SetupSpec | None = None  # the latest
    disks: dict[str, DiskSpec] = field(default_factory=dict)  # created, as they are now
    attached: dict[str, tuple[int, ...]] = field(default_factory=dict)  # name -> LUNs

    def enter(self, setup: SetupSpec, shutdown_hhmm: str) -> Iterator[Step]:
        """The steps from what is there to what a setup needs."""
        data = {name: disk for name, disk in setup.disks.items() if disk.role == "data"}
        new_vm = setup.machine() != self.machine
        for name in list(self.attached):
            if new_vm or name not in data or data[name].caching != self.disks[name].caching:
                yield from self._detach(name)
        if new_vm:
            yield from self._replace_vm(setup, shutdown_hhmm)
        for name, disk in data.items():
            yield from self._have(name, disk, setup)
            if name not in self.attached:
                yield from self._attach(name, disk, setup)
        if new_vm:
            own = [name for name, disk in setup.disks.items() if disk.role != "data"]
            yield from (Prepare(self.vm, setup, name, ()) for name in own)
        self.setup = setup

    def _replace_vm(self, setup: SetupSpec, shutdown_hhmm: str) -> Iterator[Step]:
        if self.vm:
            yield Call(f"delete {self.vm}", commands.vm_delete(self.group, self.vm))
        self.machines += 1
        self.vm, self.machine = self.naming.called(f"vm-{self.machines}"), setup.machine()
        zone = f", zone {setup.zone}" if setup.zone else ""
        made = commands.vm_create(self.group, self.vm, setup, self.subnet, self.install, self.naming)
        yield Call(f"{self.vm}: {setup.vm}{zone}", made)
        stop = commands.auto_shutdown(self.group, self.vm, shutdown_hhmm)
        yield Call(f"{self.vm} stops by itself at {shutdown_hhmm} UTC", stop)
        yield Guard(self.vm, is_own_group=not self.naming.prefix)

    def _have(self, name: str, disk: DiskSpec, setup: SetupSpec) -> Iterator[Step]:
        """Create a disk, or change what is bought of it."""
        now = self.disks.get(name)
        self.disks[name] = disk
        for member in self._members(name, disk):
            if now is None:
                zone = disk.zone or setup.zone
                made = commands.disk_create(self.group, member, disk, zone, self.naming)
                yield Call(f"disk {member}: {disk.sku}, {disk.size_gib} GiB", made)
            elif (now.iops, now.mbps, now.tier) != (disk.iops, disk.mbps, disk.tier):
                yield Call(f"disk {member}: change it", commands.disk_update(self.group, member, disk))

    def _attach(self, name: str, disk: DiskSpec, setup: SetupSpec) -> Iterator[Step]:
        free = iter(lun for lun in range(64) if lun not in sum(self.attached.values(), ()))
        luns = []
        refusal = (setup.name, name) if disk.attach == "refused" else None
        for member in self._members(name, disk):
            luns.append(next(free))
            argv = commands.disk_attach(self.group, self.vm, member, luns[-1], disk)
            yield Call(f"attach {member} to {self.vm}, LUN {luns[-1]}", argv, refusal)
        if not refusal:
            self.attached[name] = tuple(luns)
            yield Prepare(self.vm, setup, name, tuple(luns))

    def _detach(self, name: str) -> Iterator[Step]:
        del self.attached[name]
        if self.setup:
            yield Release(self.vm, self.setup, name)
        for member in self._members(name, self.disks[name]):
            yield Call(f"detach {member} from {self.vm}", commands.disk_detach(self.group, self.vm, member))

    def _members(self, name: str, disk: DiskSpec) -> list[str]:
        return [self.naming.called(member) for member in members(name, disk)]


def members(name: str, disk: DiskSpec) -> list[str]:
    """What the managed disks of one entry are called."""
    return [name] if disk.count == 1 else [f"{name}-{i}" for i in range(1, disk.count + 1)]


def slug(title: str) -> str:
    """The first words of a title in lower-case letters, digits and -, forty characters at most."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return words if len(words) <= 40 else words[:41].rpartition("-")[0] or words[:40]


def group_name(title: str, moment: str, nonce: str) -> str:
    """Name of the resource group: ``azbench-zone-redundant-disks-20261120-1603-a1b2``."""
    stamp = re.sub(r"\D", "", moment)
    return f"azbench-{slug(title)}-{stamp[:8]}-{stamp[8:12]}-{nonce}"


# Before each VM that is made in the place of one that was taken back: where room was lacking a moment ago, it
# often is for some minutes. By judgement. After the last one, the run ends, and the same command goes on.
EVICTION_PAUSES_S = (30.0, 300.0, 900.0)
_OF_THE_VM = (["vm", "create"], ["vm", "auto-shutdown"])


def place_of_vm(steps: Sequence[Step], at: int) -> int | None:
    """The place of the step that created the VM which is there before step `at`; None: none is there."""
    for place in range(at - 1, -1, -1):
        verb = _verb(steps[place])
        if verb[:2] == ["vm", "delete"]:
            return None
        if verb[:2] == ["vm", "create"]:
            return place
    return None


def is_spot(step: Step) -> bool:
    """Whether a step creates a VM that Azure may take back."""
    return isinstance(step, Call) and "Spot" in step.argv


def steps_again(steps: Sequence[Step], made: int, at: int) -> list[Step]:
    """What of the steps from the creation of a VM to step `at` has to be done for another VM in its place.

    The data disks are there, with their data, and are attached to no VM. What was rested for the setup that
    is being measured is rested again, for the VM has other credits now.
    """
    setup = next((step.setup.name for step in steps[at:] if isinstance(step, Measure)), "")
    kept: list[Step] = []
    for step in steps[made:at]:
        verb = _verb(step)
        if isinstance(step, Release):
            kept = [one for one in kept if not (isinstance(one, Prepare) and one.disk == step.disk)]
        elif isinstance(step, Measure) and step.setup.name != setup:
            kept = [one for one in kept if not isinstance(one, Rest)]
        elif verb == ["vm", "disk", "detach"]:
            kept = [one for one in kept if _attached(one) != name_of(step)]
        elif isinstance(step, Guard | Prepare | Rest) or verb[:2] in _OF_THE_VM or _attached(step):
            kept.append(step)
    return kept


def _verb(step: Step) -> list[str]:
    return step.argv[:3] if isinstance(step, Call) else []


def name_of(step: Step) -> str:
    """Of the VM or disk that a call is about."""
    return step.argv[step.argv.index("--name") + 1] if isinstance(step, Call) else ""


def _attached(step: Step) -> str:
    """The disk that a step attaches, unless Azure is to refuse it; else empty."""
    is_attach = isinstance(step, Call) and step.refusal is None and _verb(step) == ["vm", "disk", "attach"]
    return name_of(step) if is_attach else ""
