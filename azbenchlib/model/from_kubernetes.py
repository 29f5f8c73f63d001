"""The disk and the VM of a pod, as the documents of its cluster tell them; what they leave open stays open.

Where the driver is documented to choose for whoever says nothing, its choice is taken, and a note says so.
Source of parameters and defaults: kubernetes-sigs/azuredisk-csi-driver docs/driver-parameters.md@d983d613
(2026-08-22); of disks that are attached without caching, pkg/azuredisk/azure_controller_common.go there.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from azbenchlib.azure import disk_kinds
from azbenchlib.azure.kubernetes import Node, PersistentVolume, Pod, PodVolume, VolumeClaim, VolumeClass
from azbenchlib.core.choices import HOST_CACHING
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MB
from azbenchlib.model.disk_row import DiskRow

_CSI, _IN_TREE = "disk.csi.azure.com", "kubernetes.io/azure-disk"
_FILES = ("file.csi.azure.com", "kubernetes.io/azure-file")
_DEFAULT_SKU, _DEFAULT_CACHING = "StandardSSD_LRS", "ReadOnly"
_UNCACHED_BYTES = 4096 * GIB  # disks from this size on
# What the provisioner writes to volumes that it makes: to CSI volumes, to others, and to their claims.
_MADE, _MADE_BY = "storage.kubernetes.io/csiprovisioneridentity", "pv.kubernetes.io/provisioned-by"
_MADE_FOR = ("volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner")
_CONTAINER = "kubectl.kubernetes.io/default-container"
# Labels of nodes, now and before Kubernetes 1.17. Source: kubernetes.io, "Well-Known Labels".
_SIZE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_REGION = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
_ZONE = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
_LABEL, _WHOLE = re.compile(r"[A-Za-z0-9_-]{1,63}"), re.compile(r"[1-9][0-9]{0,8}")
_MADE_ELSEWHERE = (
    "The cluster is not known to have made the disk, so what it is stays open: see `az disk show`."
)
_DRIVER = re.compile(r"[a-z0-9./-]{1,100}")


@dataclass(frozen=True, kw_only=True)
class ClaimedDisk:
    """A disk behind a claim; no `row`: none of Azure's, or unknown. Notes say why something is open."""

    row: DiskRow | None = None
    performance_plus: bool = False
    notes: tuple[str, ...] = ()


def volume_at(pod: Pod, container: str, paths: Sequence[str]) -> PodVolume | None:
    """The volume of a container that holds a path, or is a device; None: the path is the container's own.

    Parameters
    ----------
    pod : Pod
    container : str
        Empty: the one that kubectl takes.
    paths : sequence of str
        The path, as it was named and without links; the deepest folder that holds either counts.

    Raises
    ------
    InputError
        When the pod has no such container.
    """
    there = {one.name: one for one in (*pod.containers, *pod.init, *pod.debug)}
    container = container or pod.annotations.get(_CONTAINER) or next(iter(there), "")
    if container not in there:
        raise InputError(f"the pod has no container '{container}'; the choices are: {', '.join(there)}")
    inside = there[container]
    deepest = {one.name: 0 for one in inside.devices if one.device in paths}
    for mount in inside.mounts:
        folder = PurePosixPath(mount.folder or "-")
        if any(PurePosixPath(path).is_relative_to(folder) for path in paths):
            deepest[mount.name] = max(len(folder.parts), deepest.get(mount.name, 0))
    name = max(deepest, key=deepest.__getitem__, default=None)
    return next((volume for volume in pod.volumes if volume.name == name), None)


def claimed_disk(
    claim: VolumeClaim,
    volume: PersistentVolume | None,
    storage_class: VolumeClass | None,
    later: VolumeClass | None,
) -> ClaimedDisk:
    """The disk behind a claim.

    Parameters
    ----------
    claim : VolumeClaim
    volume, storage_class : optional
        None: there is none, or it was not told.
    later : VolumeClass, optional
        The VolumeAttributesClass that the claim names.
    """
    driver = _driver(claim, volume, storage_class)
    if driver not in (_CSI, _IN_TREE):
        what = "a file share" if driver in _FILES else "a volume"
        known = driver if _DRIVER.fullmatch(driver) else "that is not known"
        note = f"The path lies on {what} of the driver {known}: no disk of Azure is known behind it."
        return ClaimedDisk(notes=(note,))
    notes: list[str] = []
    values, is_made = _parameters(driver, claim, volume, storage_class)
    if not is_made:
        notes.append(_MADE_ELSEWHERE)
    has_defaults = driver == _CSI and (volume is not None or storage_class is not None)
    sku = _sku(values, has_defaults and is_made, notes)
    kind = disk_kinds.of_sku(sku)
    size = (volume and volume.size_bytes) or claim.size_bytes
    is_uncached = (kind and not kind.cacheable) or (size and size >= _UNCACHED_BYTES)
    caching = "None" if is_uncached else _caching(values, has_defaults and bool(sku), notes)
    bought: Mapping[str, str] = values if kind and kind.provisioned else {}
    if bought and claim.attributes_class:
        bought = values | later.parameters if later else {}
    iops, mbps = (_whole(bought, f"disk{unit}readwrite", notes) for unit in ("iops", "mbps"))
    row = DiskRow(
        disk="data",
        role="data",
        sku=sku,
        size_bytes=-(-size // GIB) * GIB if size else None,  # the driver rounds up
        host_caching=caching,
        provisioned_iops=iops,
        provisioned_bytes_per_s=mbps and mbps * MB,
        bursting=values.get("enablebursting", "").lower() == "true" or None,
    )
    plus = values.get("enableperformanceplus", "").lower() == "true"
    return ClaimedDisk(row=row, performance_plus=plus, notes=tuple(notes))


def _driver(claim: VolumeClaim, volume: PersistentVolume | None, storage_class: VolumeClass | None) -> str:
    """Who made the volume, or attaches it; empty where nobody tells."""
    if volume is None:
        made_for = next((claim.annotations[name] for name in _MADE_FOR if name in claim.annotations), "")
        return made_for or (storage_class.provisioner if storage_class else "")
    if volume.azure_disk is not None:
        return _IN_TREE
    return volume.driver or (_FILES[1] if volume.azure_file is not None else "")


def _parameters(
    driver: str,
    claim: VolumeClaim,
    volume: PersistentVolume | None,
    storage_class: VolumeClass | None,
) -> tuple[dict[str, str], bool]:
    """What the disk was made with, and whether the cluster made it; else its class says nothing of it."""
    of_class = storage_class.parameters if storage_class and storage_class.provisioner == driver else {}
    own: dict[str, str] = {}
    if volume is None:
        is_made = any(name in claim.annotations for name in _MADE_FOR)
    elif volume.driver:  # its attributes are the parameters that the driver was given
        own, is_made = volume.attributes, _MADE in volume.attributes
        of_class = {}
    else:
        own = {"cachingmode": volume.caching or ""}
        is_made = volume.annotations.get(_MADE_BY) == driver
    return (of_class | own if is_made else own), is_made


def _sku(values: Mapping[str, str], has_default: bool, notes: list[str]) -> str | None:
    """The kind of disk as Azure writes it: the in-tree driver took it in any case."""
    text = values.get("skuname") or values.get("storageaccounttype") or ""
    if not text and has_default:
        notes.append(f"Its class names no kind of disk, for which the driver takes {_DEFAULT_SKU}.")
        return _DEFAULT_SKU
    skus = {sku.lower(): sku for kind in disk_kinds.managed() for sku in kind.skus()}
    if text and text.lower() not in skus:
        notes.append("Its class names a kind of disk that azbench does not know.")
    return skus.get(text.lower())


def _caching(values: Mapping[str, str], has_default: bool, notes: list[str]) -> str | None:
    text = values.get("cachingmode", "")
    if not text and has_default:
        notes.append(f"Nothing says how the disk is cached, for which the driver takes {_DEFAULT_CACHING}.")
        return _DEFAULT_CACHING
    return next((choice for choice in HOST_CACHING if choice.lower() == text.lower()), None)


def _whole(values: Mapping[str, str], name: str, notes: list[str]) -> int | None:
    text = values.get(name, "")
    if text and not _WHOLE.fullmatch(text):
        notes.append(f"What its class says of {name} is no number.")
        return None
    return int(text) if text else None


def node_vm(node: Node | None) -> dict[str, str | None]:
    """VM size, region and zone by the labels of a node; nothing where it is none of Azure's."""
    if node is None or not node.provider.startswith("azure://"):
        return {}
    size, region, zone = (
        next((node.labels[name] for name in names if _LABEL.fullmatch(node.labels.get(name, ""))), None)
        for names in (_SIZE, _REGION, _ZONE)
    )
    # westeurope-1; a number alone is a fault domain, of a VM that is in no zone
    number = re.fullmatch(r"[a-z0-9]+-([1-9])", zone or "")
    return {"vm_size": size, "region": region and region.lower(), "zone": number and number[1]}
