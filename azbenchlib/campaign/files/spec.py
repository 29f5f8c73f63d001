"""What an experiment is: setups, each a VM with disks, and the workloads on them; and what fits together."""

import re
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from azbenchlib.azure import catalog, regions
from azbenchlib.campaign.design import figures
from azbenchlib.campaign.design.figures import FIRST_LOOK
from azbenchlib.campaign.files.disk_spec import PROVISIONED, DiskSpec, Strict, Zone
from azbenchlib.campaign.workloads import base
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.campaign.workloads.kinds import AnyWorkload
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MB
from azbenchlib.dataset.manifest import RAW, ManifestSetup, tables
from azbenchlib.model.disk_row import DiskRow, stripe_text

IMAGE = "Canonical:ubuntu-24_04-lts:server:latest"
# What az is given. A VM's image: a URN, or the resource id of an image or of a version in a gallery.
# Source: `az vm create --help`, --image, azure-cli 2.91.
_URN = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}(?::[A-Za-z0-9][A-Za-z0-9_.-]{0,99}){3}"
_IMAGE_ID = (
    r"/subscriptions/[0-9A-Za-z-]{1,64}/resourceGroups/[A-Za-z0-9_.()-]{1,90}"
    r"/providers/Microsoft\.Compute(?:/[A-Za-z0-9][A-Za-z0-9_.-]{0,99}){2,6}"
)
_SUBNET_ID = (
    r"^/subscriptions/[0-9A-Za-z-]{1,64}/resourceGroups/[A-Za-z0-9_.()-]{1,90}"
    r"/providers/Microsoft\.Network/virtualNetworks/[A-Za-z0-9_.-]{1,64}/subnets/[A-Za-z0-9_.-]{1,80}$"
)
# Source: Microsoft Learn, "Naming rules and restrictions for Azure resources", resourcegroups, 2026.
_GROUP = r"^[A-Za-z0-9_(][A-Za-z0-9_.()-]{0,88}[A-Za-z0-9_()-]$|^[A-Za-z0-9_]$"
_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_NAME = re.compile(r"[a-z][a-z0-9-]{0,29}")


def _named(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("use up to 30 lower-case letters, digits and -, a letter first")
    return text


def _image(text: str) -> str:
    if not re.fullmatch(f"{_URN}|{_IMAGE_ID}", text):
        raise ValueError("must be a URN, such as Canonical:ubuntu-24_04-lts:server:latest, or a resource id")
    return text


def _day(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError as error:
        raise ValueError("is no day of the calendar") from error
    return text


def _vm_size(text: object) -> object:
    return _named_by(lambda name: catalog.vm(name).size, text)


def _region(text: object) -> object:
    return _named_by(regions.understood, text)


def _named_by(understand: Callable[[str], str], text: object) -> object:
    """What is stated must exist; the name as Azure writes it."""
    if not isinstance(text, str):
        return text
    try:
        return understand(text)
    except InputError as error:
        raise ValueError(str(error)) from error


VmSize = Annotated[str, BeforeValidator(_vm_size), Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,79}$")]
Name = Annotated[str, AfterValidator(_named)]
Figure = Annotated[str, AfterValidator(figures.checked)]
Share = Annotated[float, BeforeValidator(figures.share)]


class Task(Strict):
    """A workload with the disks that it drives, one after the other; none named: all of the setup."""

    workload: AnyWorkload
    disks: tuple[str, ...] = ()
    ladder: tuple[str, ...] = ()  # of a search: its workloads by growing queue depth
    find: str = ""  # what is searched, such as: max_iops where p99 < 2ms


class Alternative(Strict):
    """Another size or zone for a VM that Azure cannot give."""

    vm: VmSize | None = Field(None, description="size of the VM; not said: the same")
    zone: Zone | None = Field(None, description="availability zone; not said: the same")


class SetupSpec(Strict):
    """A VM with its disks, and what is measured on them."""

    name: Name = Field(description="short; letters, digits and -")
    label: str | None = Field(None, description="how reports call it; else by what tells it from the others")
    vm: VmSize = Field(description="size of the VM, such as Standard_D4as_v5")
    zone: Zone | None = Field(None, description="availability zone, of the VM and its zonal disks")
    image: Annotated[str, AfterValidator(_image)] = Field(IMAGE, description="URN of a Linux image with apt")
    security_type: Literal["TrustedLaunch", "Standard"] = Field(
        "TrustedLaunch", description="Standard for sizes and images that lack trusted launch"
    )
    controller: Literal["SCSI", "NVMe"] | None = Field(
        None,
        description="of the disks; where it is not said, Azure's default, and NVMe for sizes without SCSI",
    )
    priority: Literal["regular", "spot"] = Field(
        "regular", description="spot: cheaper, and Azure may take the VM back; another one is made then"
    )
    otherwise: tuple[Alternative, ...] = Field(
        (), description="other sizes or zones, in order, where Azure has no room or the quota is used up"
    )
    rest: float = Field(0, ge=0, le=86400, description="seconds to wait before the first workload")
    as_of: Annotated[str, AfterValidator(_day)] | None = Field(
        None,
        pattern=_DAY,
        description="day whose limits are emulated, such as 2020-07-01; today's otherwise; Azure has its own",
    )
    repeats: int = Field(
        1,
        ge=1,
        le=100,
        description="how often each workload is measured, in randomised complete blocks; with until, at most "
        "(20 where it is not said)",
    )
    until: dict[Figure, Share] = Field(
        {}, description="how closely figures are to be known, such as {p99: 5%}: then no more repeats are run"
    )
    warm_up: dict[Figure, Share] = Field(
        {},
        description="before its runs count, each workload is run until two runs one after the other agree so "
        f"closely, such as {{iops: 5%}}; {figures.MOST_WARM_UPS} times at most",
    )
    disks: dict[Name, DiskSpec] = Field(description="disks by name; those that a setup names are all it has")
    tasks: tuple[Task, ...] = Field(description="workloads by name")

    @model_validator(mode="after")
    def _whole(self) -> "SetupSpec":
        for role in ("temp", "nvme"):
            if sum(disk.role == role for disk in self.disks.values()) > 1:
                raise ValueError(f"there is one disk of the role {role} at most; count says how many")
        if len(self.os_disks) > 1:
            raise ValueError("a VM has one OS disk: os or ephemeral_os")
        for task in self.tasks:
            if not self.driven(task):
                raise ValueError(f"workload '{task.workload.name}' has no disk to drive; name one in disks")
        if self.until and self.repeats <= FIRST_LOOK:
            raise ValueError(f"until needs more repeats than {FIRST_LOOK}, which are run in any case")
        self._check_sectors()
        zonal = [name for name, disk in self.disks.items() if disk.sku in PROVISIONED]
        if zonal and not self.zone:
            raise ValueError(f"disk '{zonal[0]}' ({self.disks[zonal[0]].sku}) needs a zone")
        return self

    def _check_sectors(self) -> None:
        """Refuse blocks that a disk cannot read or write past the page cache, where the file tells them."""
        for task in self.tasks:
            work = task.workload
            if not isinstance(work, Workload) or not work.direct:
                continue
            for name in self.driven(task):
                if work.bs_bytes % (sector := self.disks[name].sector_bytes):
                    raise ValueError(
                        f"workload '{work.name}': blocks of {work.bs_bytes} B cannot be read or written "
                        f"directly on disk '{name}', whose sectors have {sector} B; take a multiple of that, "
                        "or say sector: 512 of an Ultra Disk or a Premium SSD v2"
                    )

    @property
    def os_disks(self) -> list[DiskSpec]:
        """The OS disk, where the file tells of it."""
        return [disk for disk in self.disks.values() if disk.role in ("os", "ephemeral_os")]

    @property
    def has_ultra(self) -> bool:
        """Whether an Ultra Disk is among the disks."""
        return any(disk.sku == "UltraSSD_LRS" for disk in self.disks.values())

    def machine(self) -> tuple[object, ...]:
        """What makes a VM another one: setups that share all of it are measured on one VM."""
        disk = (*self.os_disks, self.controller)
        return (self.vm, self.zone, self.image, self.security_type, self.priority, *disk, self.has_ultra)

    def driven(self, task: Task) -> list[str]:
        """The attached disks that a workload drives: those it names, else all."""
        attached = [name for name, disk in self.disks.items() if disk.attach == "granted"]
        return [name for name in attached if not task.disks or name in task.disks]

    def mount(self, name: str) -> str:
        """Where a disk's file system is mounted, or the folder on an OS disk."""
        return self.disks[name].mount or f"/azbench/{name}"


class Experiment(Strict):
    """What a measurement file states; its setups are measured one after the other.

    A disk of one name in several setups is one and the same disk: it is moved to the setup's VM and its
    IOPS and MB/s are changed to what the setup says.
    """

    title: str = Field(min_length=1, description="of the dataset and its report")
    about: str = Field("", description="what it is for, in a sentence or two")
    region: Annotated[str, BeforeValidator(_region)] = Field(
        pattern=r"^[a-z0-9]{1,40}$", description="Azure region, such as westeurope"
    )
    features: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]+/[A-Za-z0-9_]+$")], ...] = Field(
        (), description="preview features that the subscription must have, such as Microsoft.Compute/Name"
    )
    outbound: Literal["default", "nat", "none"] = Field(
        "default",
        description="how VMs reach the outside: Azure's default; a NAT gateway of the run's own; or not at "
        "all, with an image that has fio",
    )
    group: str | None = Field(
        None,
        pattern=_GROUP,
        description="resource group that is there already; none is created then, and only what the run made "
        "in it is deleted",
    )
    subnet: str | None = Field(
        None, pattern=_SUBNET_ID, description="id of a subnet that is there already; none is created then"
    )
    max_hours: float = Field(0, ge=0, description="how long a campaign may last; 0: no limit")
    max_cost: float = Field(0, ge=0, description="in Azure: what it may cost (USD); 0: no limit")
    at_once: int = Field(1, ge=1, description="in Azure: how many VMs at a time, each with disks of its own")
    seed: int | None = Field(
        None, ge=0, le=2**32 - 1, description="of the order within blocks; else it follows from the file"
    )
    setups: tuple[SetupSpec, ...] = Field(description="one after the other; none: one of what stands above")

    @model_validator(mode="after")
    def _consistent(self) -> "Experiment":
        _check_places(self.setups)
        names = [setup.name for setup in self.setups]
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"setup '{twice[0]}' is there twice")
        moves = any(other.zone for setup in self.setups for other in setup.otherwise)
        if moves and len({setup.machine() for setup in self.setups}) > 1:
            raise ValueError(
                "otherwise: another zone can be taken only where all setups are measured on one VM"
            )
        seen: dict[str, DiskSpec] = {}
        for setup in self.setups:
            for name, disk in setup.disks.items():
                if disk.role == "data" and _lasting(seen.setdefault(name, disk)) != _lasting(disk):
                    raise ValueError(
                        f"disk '{name}' is one disk in all setups: only iops, mbps, tier, caching and attach "
                        "may differ"
                    )
        for name in (name for setup in self.setups for task in setup.tasks for name in task.disks):
            if name not in (known := {disk for setup in self.setups for disk in setup.disks}):
                raise ValueError(
                    f"a workload names the disk '{name}'; the disks are: {', '.join(sorted(known))}"
                )
        named: dict[str, AnyWorkload] = {}
        for workload in (task.workload for setup in self.setups for task in setup.tasks):
            if named.setdefault(workload.name, workload) != workload:
                raise ValueError(f"workload '{workload.name}' differs between setups; give it another name")
        return self

    def workloads(self) -> list[AnyWorkload]:
        """Each workload once, as it can run anywhere: job files keep their data in the current folder."""
        found: dict[str, AnyWorkload] = {}
        for setup in self.setups:
            for task in setup.tasks:
                work = task.workload.rebased(setup.mount(setup.driven(task)[0]), ".")
                found.setdefault(work.name, work)
        return list(found.values())

    def seconds(self) -> float:
        """How long the runs that are made in any case last with the rests, at most."""
        return sum(
            setup.rest
            + sum(
                task.workload.max_duration_s * len(setup.driven(task))
                for task in setup.tasks
                if _in_any_case(setup, task.workload.name)
            )
            for setup in self.setups
        )

    def shortened(self, runtime_s: float, size_bytes: int) -> "Experiment":
        """A rehearsal: every workload for at most so long, on at most so much data, and no rests."""

        def short(setup: SetupSpec) -> SetupSpec:
            tasks = tuple(
                task.model_copy(update={"workload": task.workload.shortened(runtime_s, size_bytes)})
                for task in setup.tasks
            )
            return setup.model_copy(update={"tasks": tasks, "rest": 0})

        return self.model_copy(update={"setups": tuple(map(short, self.setups))})


def _in_any_case(setup: SetupSpec, name: str) -> bool:
    """Whether a run is made whatever the runs before it show."""
    if base.warm_up_of(name)[1] > figures.LEAST_WARM_UPS:
        return False
    return not setup.until or base.repeat_of(name)[1] <= FIRST_LOOK


def _check_places(setups: tuple[SetupSpec, ...]) -> None:
    """Refuse a job file whose data would lie elsewhere than on the disks that it drives, on every target."""
    for number, setup in enumerate(setups):
        for task in setup.tasks:
            for name in setup.driven(task) if isinstance(task.workload, JobFile) else ():
                try:
                    task.workload.fits(setup.mount(name), device=False)
                except InputError as error:
                    keys = ("setups", number, "workloads", task.workload.name, "job")
                    raise InputError(str(error), keys=keys) from error


def _lasting(disk: DiskSpec) -> dict[str, Any]:
    return disk.model_dump(exclude={"iops", "mbps", "tier", "caching", "attach"})


def planned(experiment: Experiment) -> dict[str, pd.DataFrame]:
    """The tables setups and disks of what a measurement file asks for, each setup with all its disks."""
    return tables([whole_setup(experiment, setup) for setup in experiment.setups])


def whole_setup(experiment: Experiment, setup: SetupSpec) -> ManifestSetup:
    """A setup of a measurement file with all the disks that are to be attached."""
    return ManifestSetup(
        setup_id=setup.name,
        label=setup.label,
        environment="azure",
        region=experiment.region,
        zone=setup.zone,
        vm_size=setup.vm,
        os=setup.image,
        disks=[
            _disk_row(name, disk, setup.as_of)
            for name, disk in setup.disks.items()
            if disk.attach == "granted"
        ],
    )


def with_one_disk(setup: ManifestSetup, disk: str, several: bool) -> ManifestSetup:
    """The part of a setup whose outputs are those of one disk; `several`: its name is needed to tell."""
    name = f"{setup.setup_id}-{disk}" if several else setup.setup_id
    label = f"{setup.label}, {disk}" if several and setup.label else setup.label
    mine = [row for row in setup.disks if row.disk == disk]
    folder = f"{RAW}/{setup.setup_id}/{disk}"
    return setup.model_copy(update={"setup_id": name, "label": label, "disks": mine, "folder": folder})


def _disk_row(name: str, disk: DiskSpec, as_of: str | None) -> DiskRow:
    off = "None" if disk.role == "data" else None
    plus = catalog.tier_for(disk.sku or "", disk.size or 0, as_of) if disk.performance_plus else None
    return DiskRow(
        disk=name,
        role=disk.role,
        sku=disk.sku,
        tier=disk.tier,
        size_bytes=disk.size,
        host_caching=disk.caching or off,
        provisioned_iops=plus.plus_iops if plus else disk.iops,
        provisioned_bytes_per_s=plus.plus_bytes_per_s if plus else disk.mbps and disk.mbps * MB,
        count=disk.count,
        stripe=stripe_text(disk.stripe) if disk.count > 1 else None,
        zone=disk.zone,
        bursting=True if disk.bursting else None,
    )
