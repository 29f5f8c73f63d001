"""Objects of a cluster as ``kubectl get -o json`` prints them: made here, in the forms of public recordings.

A dynamic CSI volume: kubernetes-sigs/azuredisk-csi-driver, pull request 801 (2021-04-20); a static one:
deploy/example/pv-azuredisk-csi.yaml@d983d613 (2026-08-22) there; an in-tree one: kubernetes/kubernetes, pull
request 67121 (2018-08-08); classes of AKS: Microsoft Learn, "Create and manage persistent volumes with Azure
Disks in AKS" (2026); labels of a node: Microsoft Learn, "Use labels in an AKS cluster" (2026).
"""

from collections.abc import Mapping
from typing import Any

# What must not leave detection: every name of an object has this in it.
PRIVATE = "do-not-tell"
POD, CLAIM, VOLUME, NODE = (f"{PRIVATE}-{kind}" for kind in ("pod", "claim", "volume", "node"))
CLASS = "managed-csi"
IDENTITY = {"storage.kubernetes.io/csiProvisionerIdentity": "1618890129812-8081-disk.csi.azure.com"}
DISK_ID = f"/subscriptions/{PRIVATE}/resourceGroups/{PRIVATE}/providers/Microsoft.Compute/disks/{VOLUME}"
Objects = dict[tuple[str, str], Any]


def one(kind: str, name: str, version: str = "v1", **more: Any) -> dict[str, Any]:
    meta = {"name": name, "uid": PRIVATE, **more.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **more}


def pod(mounts: Mapping[str, str], *volumes: Any, **more: Any) -> dict[str, Any]:
    """A pod whose container has volumes mounted: folder and name of each."""
    listed = [{"name": name, "mountPath": folder} for folder, name in mounts.items()]
    meta = {"namespace": "lab", **more.pop("metadata", {})}
    spec = {"nodeName": NODE, "containers": [{"name": "fio", "volumeMounts": listed}], "volumes": volumes}
    return one("Pod", POD, metadata=meta, spec={**spec, **more}, status={"phase": "Running"})


def claim(name: str = CLAIM, size: str = "128Gi", **more: Any) -> dict[str, Any]:
    spec = {"storageClassName": CLASS, "volumeName": VOLUME, "resources": {"requests": {"storage": size}}}
    status = {"phase": "Bound", "capacity": {"storage": size}, **more.pop("status", {})}
    annotations = more.pop("annotations", {"volume.kubernetes.io/storage-provisioner": "disk.csi.azure.com"})
    meta = {"namespace": "lab", "annotations": annotations}
    return one("PersistentVolumeClaim", name, metadata=meta, spec={**spec, **more}, status=status)


def volume(size: str = "128Gi", driver: str = "disk.csi.azure.com", **attributes: str) -> dict[str, Any]:
    """A volume that the driver made, with these parameters."""
    csi = {"driver": driver, "volumeHandle": DISK_ID, "volumeAttributes": IDENTITY | attributes}
    return one("PersistentVolume", VOLUME, spec={"capacity": {"storage": size}, "csi": csi})


def static_volume(**attributes: str) -> dict[str, Any]:
    made = volume()
    made["metadata"]["annotations"] = {"pv.kubernetes.io/provisioned-by": "disk.csi.azure.com"}
    made["spec"]["csi"]["volumeAttributes"] = {"fsType": "ext4", **attributes}
    return made


def in_tree_volume(**more: Any) -> dict[str, Any]:
    disk = {"cachingMode": "ReadWrite", "diskName": VOLUME, "diskURI": DISK_ID, "kind": "Managed"}
    by = {"pv.kubernetes.io/provisioned-by": "kubernetes.io/azure-disk"}
    spec = {"capacity": {"storage": "5Gi"}, "azureDisk": disk | {"readOnly": False} | more}
    return one("PersistentVolume", VOLUME, metadata={"annotations": by}, spec=spec)


def storage_class(provisioner: str = "disk.csi.azure.com", **parameters: str) -> dict[str, Any]:
    return one("StorageClass", CLASS, "storage.k8s.io/v1", provisioner=provisioner, parameters=parameters)


def node(**more: str) -> dict[str, Any]:
    labels = {
        "node.kubernetes.io/instance-type": "Standard_D4s_v5",
        "topology.kubernetes.io/region": "westeurope",
        "topology.kubernetes.io/zone": "westeurope-1",
        "kubernetes.azure.com/storagetier": "Premium_LRS",
    }
    return one("Node", NODE, metadata={"labels": labels | more}, spec={"providerID": f"azure:///{PRIVATE}"})


def by_claim(name: str = "data") -> dict[str, Any]:
    """A volume of a pod behind the claim."""
    return {"name": name, "persistentVolumeClaim": {"claimName": CLAIM}}


def objects(*changed: dict[str, Any]) -> Objects:
    """A pod with a Premium SSD at /data and all that belongs to it; `changed` in the place of the like."""
    there = (
        pod({"/data": "data"}, by_claim()),
        claim(),
        volume(skuName="Premium_LRS", cachingMode="None"),
        storage_class(skuName="Premium_LRS", cachingMode="None"),
        node(),
        *changed,
    )
    return {(item["kind"], item["metadata"]["name"]): item for item in there}


def listed(found: Objects) -> dict[str, Any]:
    """As one file."""
    return {"apiVersion": "v1", "kind": "List", "items": list(found.values())}
