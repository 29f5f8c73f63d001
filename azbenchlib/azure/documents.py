"""What Azure tells of VMs and disks, as typed values: JSON of az, of ARM's REST, of exports, and of the
instance metadata service.

The spelling of keys changed over the years (``diskIopsReadWrite``, ``diskIOPSReadWrite``; ``diskSizeGb``,
``diskSizeGB``), so case does not count; what REST nests in ``properties`` is read like the rest. Exports
write numbers as texts: ``"diskSizeGb": "30"`` is 30. Source: Microsoft.Compute in Azure/azure-rest-api-specs,
virtual machines and disks, 2024-07-01; az 2.91; of the metadata service, which says with an empty text what
is missing, instance-metadata-service.md@1dc6d3b8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from azbenchlib.core.documents import first_fault
from azbenchlib.core.errors import InputError

_LONGEST_TEXT, _LONGEST_NUMBER = 1000, 32  # characters
_MOST_DISKS = 1000  # no VM takes 100
_MOST_ENTRIES = 1000  # of a list within a size
_MOST_GIB, _MOST_BYTES = 2**20, 2**50  # of a disk, 1 PiB: Azure's largest have 64 TiB
_MOST_PER_S = 10**12  # I/Os or MB
_MOST_NESTED = 3  # ``properties`` within each other


def _plain_number(value: Any) -> Any:
    """Refuse what Python would take for a number and no document means as one."""
    if isinstance(value, bool):
        raise ValueError("Input should be a number")
    if isinstance(value, str) and (len(value) > _LONGEST_NUMBER or "_" in value):
        raise ValueError(f"Input should be a number of at most {_LONGEST_NUMBER} characters")
    return value


_Text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
_Gib = Annotated[int, BeforeValidator(_plain_number), Field(ge=0, le=_MOST_GIB)]
_Bytes = Annotated[int, BeforeValidator(_plain_number), Field(ge=0, le=_MOST_BYTES)]
_PerSecond = Annotated[
    float, BeforeValidator(_plain_number), Field(gt=0, le=_MOST_PER_S, allow_inf_nan=False)
]
_PerSecondOrZero = Annotated[int, BeforeValidator(_plain_number), Field(ge=0, le=_MOST_BYTES)]
_Lun = Annotated[int, BeforeValidator(_plain_number), Field(ge=0, le=_MOST_DISKS)]


class OutsideDocument(BaseModel):
    """A part of a document from outside; what is not known is passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    @classmethod
    def parse(cls, content: Any, where: str) -> Self:
        """Return the document in what JSON decodes to; errors name `where` it is from.

        Raises
        ------
        InputError
            When it has another shape.
        """
        try:
            return cls.model_validate(content)
        except ValidationError as error:
            raise InputError(f"{where}: {first_fault(error)}") from error


class AzDocument(OutsideDocument):
    """A part of what Azure tells; null or an empty text is what is missing."""

    @model_validator(mode="before")
    @classmethod
    def _flat(cls, content: Any) -> Any:
        """Name the keys as the fields' aliases, those within ``properties`` too."""
        if not isinstance(content, Mapping):
            return content
        names = {
            str(field.alias or name).lower(): field.alias or name for name, field in cls.model_fields.items()
        }
        found: dict[str, Any] = {}
        for _ in range(_MOST_NESTED):
            inner = None
            for key, value in content.items():
                if str(key).lower() == "properties":
                    inner = value
                elif value not in (None, "") and (name := names.get(str(key).lower())):
                    found[name] = value
            if not isinstance(inner, Mapping):
                break
            content = inner
        return found


class _Sku(AzDocument):
    name: _Text | None = None


class _CreationData(AzDocument):
    performance_plus: bool = Field(default=False, alias="performancePlus")
    sector: int | None = Field(default=None, alias="logicalSectorSize")


class AzDisk(AzDocument):
    """A managed disk, as ``az disk show`` prints it."""

    name: _Text | None = None
    sku: _Sku = _Sku()
    tier: _Text | None = None
    size_gib: _Gib | None = Field(default=None, alias="diskSizeGB")
    size_bytes: _Bytes | None = Field(default=None, alias="diskSizeBytes")
    iops: _PerSecond | None = Field(default=None, alias="diskIOPSReadWrite")
    mbps: _PerSecond | None = Field(default=None, alias="diskMBpsReadWrite")
    bursting: bool | None = Field(default=None, alias="burstingEnabled")
    creation: _CreationData = Field(default=_CreationData(), alias="creationData")


class _ManagedDisk(AzDocument):
    id: _Text | None = None
    sku: _Text | None = Field(default=None, alias="storageAccountType")


class _DiffDisk(AzDocument):
    option: _Text | None = None
    placement: _Text = ""


class AzAttachedDisk(AzDocument):
    """A disk of a VM's storage profile."""

    name: _Text | None = None
    lun: _Lun | None = None
    caching: Literal["None", "ReadOnly", "ReadWrite"] | None = None
    size_gib: _Gib | None = Field(default=None, alias="diskSizeGB")
    iops: _PerSecond | None = Field(default=None, alias="diskIOPSReadWrite")
    mbps: _PerSecond | None = Field(default=None, alias="diskMBpsReadWrite")
    managed: _ManagedDisk = Field(default=_ManagedDisk(), alias="managedDisk")
    local: _DiffDisk = Field(default=_DiffDisk(), alias="diffDiskSettings")
    write_accelerator: bool = Field(default=False, alias="writeAcceleratorEnabled")


class _StorageProfile(AzDocument):
    os_disk: AzAttachedDisk | None = Field(default=None, alias="osDisk")
    data_disks: Annotated[list[AzAttachedDisk], Field(max_length=_MOST_DISKS)] = Field(
        default=[], alias="dataDisks"
    )


class _HardwareProfile(AzDocument):
    size: _Text | None = Field(default=None, alias="vmSize")


class AzVm(AzDocument):
    """A VM, as ``az vm show`` prints it."""

    location: _Text | None = None
    zones: Annotated[list[_Text], Field(max_length=_MOST_DISKS)] = []
    hardware: _HardwareProfile = Field(default=_HardwareProfile(), alias="hardwareProfile")
    storage: _StorageProfile = Field(default=_StorageProfile(), alias="storageProfile")


class _Capability(AzDocument):
    name: _Text
    value: _Text | None = None


_Capabilities = Annotated[list[_Capability], Field(max_length=_MOST_ENTRIES)]
_Zones = Annotated[list[_Text], Field(max_length=_MOST_ENTRIES)]


class _ZoneDetail(AzDocument):
    zones: _Zones = Field(default=[], alias="name")
    capabilities: _Capabilities = []


class _Place(AzDocument):
    zones: _Zones = []
    details: Annotated[list[_ZoneDetail], Field(max_length=_MOST_ENTRIES)] = Field(
        default=[], alias="zoneDetails"
    )


class _RestrictionInfo(AzDocument):
    zones: _Zones = []


class _Restriction(AzDocument):
    type: _Text | None = None
    reason: _Text = Field(default="restricted", alias="reasonCode")
    info: _RestrictionInfo = Field(default=_RestrictionInfo(), alias="restrictionInfo")


class AzSku(AzDocument):
    """A VM size or a kind of disk in a region, as ``az vm list-skus`` lists it."""

    name: _Text
    kind: _Text = Field(default="", alias="resourceType")
    family: _Text = ""
    listed: _Capabilities = Field(default=[], alias="capabilities")
    places: Annotated[list[_Place], Field(max_length=_MOST_ENTRIES)] = Field(default=[], alias="locationInfo")
    restrictions: Annotated[list[_Restriction], Field(max_length=_MOST_ENTRIES)] = []

    @property
    def capabilities(self) -> dict[str, str]:
        """What it can do, by name; what has no value is left out."""
        return _by_name(self.listed)

    @property
    def zones(self) -> list[str]:
        """The zones that have it."""
        return sorted({zone for place in self.places for zone in place.zones})

    def in_zone(self, zone: str | None) -> dict[str, str]:
        """Return what it can do in a zone; without one, what it can do in the region."""
        able = {} if zone else self.capabilities
        for detail in (detail for place in self.places for detail in place.details):
            if zone in detail.zones:
                able |= _by_name(detail.capabilities)
        return able

    def restriction(self, zone: str | None) -> str:
        """Return why the subscription cannot have it; empty where it can."""
        for one in self.restrictions:
            if one.type != "Zone" or zone in one.info.zones:
                return one.reason
        return ""


def skus(answer: Any) -> list[AzSku]:
    """Return what ``az vm list-skus`` lists.

    Raises
    ------
    InputError
        When it is no such list.
    """
    if not isinstance(answer, list):
        raise InputError(f"az vm list-skus: a list was expected, not {type(answer).__name__}")
    return [AzSku.parse(entry, f"az vm list-skus: entry {n}") for n, entry in enumerate(answer, 1)]


def _by_name(capabilities: Sequence[_Capability]) -> dict[str, str]:
    return {one.name: one.value for one in capabilities if one.value}


class ImdsDisk(AzAttachedDisk):
    """A disk as the metadata service tells it; the throttles are told of Ultra Disks only."""

    iops_throttle: _PerSecondOrZero | None = Field(default=None, alias="opsPerSecondThrottle")
    bytes_throttle: _PerSecondOrZero | None = Field(default=None, alias="bytesPerSecondThrottle")


class _ResourceDisk(AzDocument):
    size: _Bytes | None = None


class _ImdsStorage(AzDocument):
    os_disk: ImdsDisk | None = Field(default=None, alias="osDisk")
    data_disks: Annotated[list[ImdsDisk], Field(max_length=_MOST_DISKS)] = Field(
        default=[], alias="dataDisks"
    )
    resource_disk: _ResourceDisk = Field(default=_ResourceDisk(), alias="resourceDisk")


class ImdsCompute(AzDocument):
    """The part ``compute`` of what the metadata service tells of the VM that asks."""

    size: _Text = Field(default="", alias="vmSize")
    location: _Text | None = None
    zone: _Text | None = None
    storage: _ImdsStorage = Field(default=_ImdsStorage(), alias="storageProfile")
