"""What a Kubernetes cluster tells of a pod, its volumes and its node, as typed values: JSON of kubectl.

Only what says which disk a path of a pod lies on. It may come from anybody: a name that is none of a
Kubernetes object is refused, and what is there besides is passed over. Source: Kubernetes API reference 1.32,
Pod, PersistentVolumeClaim, PersistentVolume, StorageClass, VolumeAttributesClass and Node.
"""

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any

from pydantic import AliasPath, BeforeValidator, Field

from azbenchlib.azure.documents import OutsideDocument
from azbenchlib.core.units import KB, KIB

_MOST_ENTRIES, _MOST_BYTES = 1000, KIB**6
_LONGEST_PATH = 4096  # characters. Source: PATH_MAX of Linux
# Source: kubernetes.io, "Object names and IDs", DNS subdomain names. No shell makes anything of one.
OBJECT_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_POWERS = "KMGTPE"
# Source: Kubernetes API reference, Quantity: binary and decimal suffixes, thousandths, or an exponent.
_QUANTITY = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,9})?)(?:([kMGTPE]|[KMGTPE]i|m)|[eE]([+-]?[0-9]{1,2}))?")


def _bytes(text: Any) -> Any:
    match = _QUANTITY.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError("Input should be a quantity, such as 64Gi")
    number, unit = Fraction(match[1]) * Fraction(10) ** int(match[3] or 0), match[2] or ""
    if unit == "m":
        return math.ceil(number / KB)
    base, power = KIB if unit.endswith("i") else KB, 1 + _POWERS.find(unit[:1].upper() or "-")
    return math.ceil(number * base**power)


def _in_lower_case(values: Any) -> Any:
    return {name.lower(): values[name] for name in values} if isinstance(values, Mapping) else values


def _at(*path: str, default: Any = None) -> Any:
    return Field(default, validation_alias=AliasPath(*path))


_Name = Annotated[str, Field(pattern=f"^{OBJECT_NAME.pattern}$")]
_MaybeName = Annotated[_Name | None, BeforeValidator(lambda text: text or None)]
_Path = Annotated[str, Field(max_length=_LONGEST_PATH)]
_Values = Annotated[dict[str, str], Field(max_length=_MOST_ENTRIES)]
# A driver takes the names of its parameters in any case.
_Parameters = Annotated[_Values, BeforeValidator(_in_lower_case)]
_Bytes = Annotated[int, BeforeValidator(_bytes), Field(le=_MOST_BYTES)]


class KubernetesObject(OutsideDocument):
    """What all objects have."""

    kind: str = ""
    name: _MaybeName = _at("metadata", "name")
    namespace: _MaybeName = _at("metadata", "namespace")
    annotations: _Values = _at("metadata", "annotations", default={})
    labels: _Values = _at("metadata", "labels", default={})


class PodMount(OutsideDocument):
    """Where a volume is in a container: the folder, or the device."""

    name: _Name
    folder: _Path | None = _at("mountPath")
    device: _Path | None = _at("devicePath")


_Mounts = Annotated[list[PodMount], Field(max_length=_MOST_ENTRIES)]


class PodContainer(OutsideDocument):
    """A container of a pod."""

    name: _Name
    mounts: _Mounts = _at("volumeMounts", default=[])
    devices: _Mounts = _at("volumeDevices", default=[])


class PodVolume(OutsideDocument):
    """A volume of a pod: behind a claim, on the node, or elsewhere."""

    name: _Name
    claim: _MaybeName = _at("persistentVolumeClaim", "claimName")
    ephemeral: dict[str, Any] | None = None
    empty: dict[str, Any] | None = _at("emptyDir")
    host: dict[str, Any] | None = _at("hostPath")


_Containers = Annotated[list[PodContainer], Field(max_length=_MOST_ENTRIES)]


class Pod(KubernetesObject):
    """A pod."""

    node: _MaybeName = _at("spec", "nodeName")
    containers: _Containers = _at("spec", "containers", default=[])
    init: _Containers = _at("spec", "initContainers", default=[])
    debug: _Containers = _at("spec", "ephemeralContainers", default=[])
    volumes: Annotated[list[PodVolume], Field(max_length=_MOST_ENTRIES)] = _at("spec", "volumes", default=[])

    def claim_of(self, volume: PodVolume) -> str | None:
        """Return the name of a volume's claim; None: it has none."""
        # Source: kubernetes.io, "Ephemeral Volumes", PersistentVolumeClaim naming
        return f"{self.name}-{volume.name}" if volume.ephemeral is not None else volume.claim


class VolumeClaim(KubernetesObject):
    """A claim of a volume."""

    volume: _MaybeName = _at("spec", "volumeName")
    storage_class: _MaybeName = _at("spec", "storageClassName")
    attributes_class: _MaybeName = _at("status", "currentVolumeAttributesClassName")
    size_bytes: _Bytes | None = _at("status", "capacity", "storage")


class PersistentVolume(KubernetesObject):
    """A volume of the cluster."""

    size_bytes: _Bytes | None = _at("spec", "capacity", "storage")
    driver: str | None = _at("spec", "csi", "driver")
    attributes: _Parameters = _at("spec", "csi", "volumeAttributes", default={})
    azure_disk: str | None = _at("spec", "azureDisk", "diskURI")
    caching: str | None = _at("spec", "azureDisk", "cachingMode")
    azure_file: dict[str, Any] | None = _at("spec", "azureFile")


class VolumeClass(KubernetesObject):
    """A StorageClass, or a VolumeAttributesClass: what a volume has from a later day on."""

    provisioner: str = ""
    parameters: _Parameters = _at("parameters", default={})


class Node(KubernetesObject):
    """A node."""

    provider: str = _at("spec", "providerID", default="")
