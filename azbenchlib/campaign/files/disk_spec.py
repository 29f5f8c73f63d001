"""A disk of a measurement file: what is bought of it, how it is attached, and what fits together."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from azbenchlib.azure import catalog, disk_kinds
from azbenchlib.core.choices import HOST_CACHING, ROLES
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, SECTOR_BYTES, parse_size

SKUS = tuple(sku for kind in disk_kinds.managed() for sku in kind.skus())
# IOPS and MB/s are provisioned; no host caching; zonal.
PROVISIONED = tuple(sku for kind in disk_kinds.managed() if kind.provisioned for sku in kind.skus())
EPHEMERAL_PLACEMENTS = ("CacheDisk", "ResourceDisk", "NvmeDisk")
# Larger disks alone burst on demand and have Performance Plus. Source: Microsoft Learn, "Managed disk
# bursting" and "Increase IOPS and throughput limits", 2026.
OPTIONS_ABOVE_BYTES = 512 * GIB
_TIER = r"^P[1-9][0-9]{0,2}$"  # Premium SSD alone has tiers to choose
_ZONE = r"^[1-9][0-9]{0,2}$"
_MOUNT = re.compile(r"(/[A-Za-z0-9_][A-Za-z0-9_.-]*){1,6}")


def _mount(text: str) -> str:
    if not _MOUNT.fullmatch(text):
        raise ValueError("must be an absolute path of letters, digits, -, _ and .")
    return text


def _size(value: object) -> object:
    return parse_size(value) if isinstance(value, str) else value


def _one_of(choices: tuple[str, ...]) -> AfterValidator:
    def check(text: str) -> str:
        if text not in choices:
            raise ValueError(f"is not one of: {', '.join(choices)}")
        return text

    return AfterValidator(check)


def _tier(text: str) -> str:
    try:
        return catalog.disk_tier(text).name
    except InputError as error:
        raise ValueError(str(error)) from error


Role = Annotated[str, _one_of(ROLES)]
Sku = Annotated[str, _one_of(SKUS)]
Tier = Annotated[str, Field(pattern=_TIER), AfterValidator(_tier)]
Caching = Annotated[str, _one_of(HOST_CACHING)]
Placement = Annotated[str, _one_of(EPHEMERAL_PLACEMENTS)]
Zone = Annotated[str, Field(pattern=_ZONE)]
Size = Annotated[int, BeforeValidator(_size), Field(gt=0, le=2**63 - 1)]


class Strict(BaseModel):
    """A part of a measurement file: no other keys than its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DiskSpec(Strict):
    """A disk of a setup: one that is created and attached, or one that comes with the VM."""

    role: Role = Field("data", description="what it is for; all but data come with the VM")
    sku: Sku | None = Field(None, description="kind of a managed disk")
    size: Size | None = Field(None, description="such as 1024GiB; whole GiB")
    tier: Tier | None = Field(None, description="performance tier of a Premium disk; its size's otherwise")
    iops: int | None = Field(None, gt=0, description="Provisioned IOPS (Ultra Disk, Premium SSD v2)")
    mbps: int | None = Field(None, gt=0, description="Provisioned MB/s (Ultra Disk, Premium SSD v2)")
    caching: Caching | None = Field(None, description="host caching; off where it is not said")
    zone: Zone | None = Field(None, description="of the disk, where it is not the VM's")
    count: int = Field(1, ge=1, le=64, description="how many of this kind, striped")
    stripe: Size = Field(64 * 1024, description="chunk of the stripe over several disks")
    bursting: bool = Field(
        False, description="on-demand bursting, of a Premium SSD larger than 512 GiB; it costs by use"
    )
    performance_plus: bool = Field(
        False, description="Azure's Performance Plus: higher limits of a disk larger than 512 GiB"
    )
    sector: Literal[512, 4096] | None = Field(
        None, description="bytes of a sector (Ultra Disk, Premium SSD v2); 4096 where it is not said"
    )
    write_accelerator: bool = Field(
        False, description="of a Premium SSD at a VM of the M series, without host caching or with ReadOnly"
    )
    placement: Placement | None = Field(None, description="where an ephemeral OS disk lies")
    mount: Annotated[str, AfterValidator(_mount)] | None = Field(
        None, description="where its file system is mounted; default /azbench/NAME"
    )
    raw: bool = Field(False, description="drive the bare device, without a file system")
    attach: Literal["granted", "refused"] = Field(
        "granted", description="refused: Azure should refuse to attach it, and that is a result"
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "DiskSpec":
        if self.role == "data" and not (self.sku and self.size):
            raise ValueError("a data disk needs sku and size")
        if self.role in ("temp", "nvme") and (self.sku or self.size or self.caching):
            raise ValueError(
                f"a {self.role} disk comes with the VM: it has no sku, size or caching to choose"
            )
        if (self.iops or self.mbps) and self.sku not in PROVISIONED:
            raise ValueError(f"iops and mbps can be provisioned for {' and '.join(PROVISIONED)} only")
        if self.sku in PROVISIONED and self.caching not in (None, "None"):
            raise ValueError(f"{self.sku} has no host caching; leave caching out")
        if self.placement and self.role != "ephemeral_os":
            raise ValueError("placement is for an ephemeral_os disk only")
        if self.raw and self.role in ("os", "ephemeral_os"):
            raise ValueError("an OS disk cannot be driven raw")
        if self.size is not None and self.size % GIB:
            raise ValueError("size must be whole GiB")
        self._check_options()
        return self

    def _check_options(self) -> None:
        """Refuse what this kind and size of disk cannot be bought with."""
        kind = disk_kinds.of_sku(self.sku)
        is_large = (self.size or 0) > OPTIONS_ABOVE_BYTES
        if self.bursting and not (kind and kind.on_demand_bursting and is_large):
            raise ValueError("bursting can be switched on for a Premium SSD larger than 512 GiB only")
        if self.performance_plus and not (kind and kind.tiered and is_large and self.role == "data"):
            raise ValueError("performance_plus is for data disks with tiers that are larger than 512 GiB")
        if self.sector and self.sku not in PROVISIONED:
            raise ValueError(f"sector can be chosen for {' and '.join(PROVISIONED)} only")
        if self.write_accelerator and not (kind and kind.performance_tiers and self.role == "data"):
            raise ValueError("write_accelerator is for data disks of Premium SSD only")
        if self.write_accelerator and self.caching == "ReadWrite":
            raise ValueError("write_accelerator goes with the host caching None or ReadOnly only")

    @property
    def sector_bytes(self) -> int:
        """Bytes of a sector: what is read and written past the page cache is a multiple of it."""
        kind = disk_kinds.of_sku(self.sku)
        return self.sector or (kind.sector_bytes if kind else SECTOR_BYTES)

    @property
    def size_gib(self) -> int:
        """Size in GiB, as az takes it."""
        return (self.size or 0) // GIB
