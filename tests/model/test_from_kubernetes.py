"""The disk of a pod, from what its cluster tells: facts, documented choices, and what stays open."""

from typing import Any

import kubernetes_objects as made
import pytest

from azbenchlib.azure.kubernetes import Node, PersistentVolume, Pod, VolumeClaim, VolumeClass
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB
from azbenchlib.model.from_kubernetes import ClaimedDisk, claimed_disk, node_vm, volume_at

WHERE = "kubectl"
NO_SKU = "Its class names no kind of disk, for which the driver takes StandardSSD_LRS."
MADE_ELSEWHERE = (
    "The cluster is not known to have made the disk, so what it is stays open: see `az disk show`."
)
NO_CACHING = "Nothing says how the disk is cached, for which the driver takes ReadOnly."


def disk(volume: Any, storage_class: Any = None, claim: Any = None, later: Any = None) -> ClaimedDisk:
    return claimed_disk(
        VolumeClaim.parse(claim or made.claim(), WHERE),
        volume and PersistentVolume.parse(volume, WHERE),
        storage_class and VolumeClass.parse(storage_class, WHERE),
        later and VolumeClass.parse(later, WHERE),
    )


def facts(found: ClaimedDisk) -> dict[str, Any]:
    assert found.row
    return {name: value for name, value in found.row.to_row().items() if name not in ("disk", "role")}


@pytest.mark.parametrize(
    ("volume", "row", "notes"),
    [
        (made.volume(), {"sku": "StandardSSD_LRS", "host_caching": "ReadOnly"}, (NO_SKU, NO_CACHING)),
        (
            made.volume(skuname="Premium_ZRS", cachingmode="None"),
            {"sku": "Premium_ZRS", "host_caching": "None"},
            (),
        ),
        (
            made.volume(storageAccountType="Standard_LRS", cachingMode="ReadWrite"),
            {"sku": "Standard_LRS", "host_caching": "ReadWrite"},
            (),
        ),
        (
            made.volume(skuName="PremiumV2_LRS", DiskIOPSReadWrite="5000", DiskMBpsReadWrite="200"),
            {
                "sku": "PremiumV2_LRS",
                "host_caching": "None",
                "provisioned_iops": 5000,
                "provisioned_bytes_per_s": 200_000_000,
            },
            (),
        ),
        (
            made.volume("4Ti", skuName="Premium_LRS", cachingMode="ReadOnly", enableBursting="true"),
            {"sku": "Premium_LRS", "host_caching": "None", "bursting": True, "size_bytes": 4096 * GIB},
            (),
        ),
        # what cannot be provisioned of its kind is left aside, as the driver does
        (
            made.volume(skuName="Premium_LRS", cachingMode="None", diskIOPSReadWrite="5000"),
            {"sku": "Premium_LRS", "host_caching": "None"},
            (),
        ),
    ],
)
def test_a_disk_that_the_driver_made(volume: Any, row: dict[str, Any], notes: tuple[str, ...]) -> None:
    found = disk(volume)
    assert facts(found) == {"size_bytes": 128 * GIB} | row
    assert found.notes == notes


def test_a_class_says_nothing_of_a_disk_that_a_person_made() -> None:
    """Its class is but a word by which the claim finds the volume."""
    found = disk(made.static_volume(), made.storage_class(skuName="Premium_LRS"))
    assert facts(found) == {"size_bytes": 128 * GIB}
    assert found.notes == (MADE_ELSEWHERE,)
    assert facts(disk(made.static_volume(cachingMode="None")))["host_caching"] == "None"


def test_a_volume_of_the_driver_in_kubernetes_itself() -> None:
    """Its class says the kind, in any case of letters."""
    old = made.storage_class("kubernetes.io/azure-disk", storageaccounttype="premium_lrs", kind="Managed")
    found = disk(made.in_tree_volume(), old)
    assert facts(found) == {"sku": "Premium_LRS", "host_caching": "ReadWrite", "size_bytes": 5 * GIB}
    # the class is a later one of that name, of another driver
    assert "sku" not in facts(disk(made.in_tree_volume(), made.storage_class(skuName="Premium_LRS")))


def test_without_rights_on_the_volume_its_class_tells() -> None:
    parameters = made.storage_class(skuName="Premium_LRS")
    assert facts(disk(None, parameters)) == {
        "sku": "Premium_LRS",
        "size_bytes": 128 * GIB,
        "host_caching": "ReadOnly",
    }
    assert "sku" not in facts(disk(None, parameters, made.claim(annotations={})))  # who made it is not known
    assert facts(disk(None)) == {"size_bytes": 128 * GIB}  # its claim says by which driver


def test_what_was_bought_later_counts() -> None:
    volume = made.volume(skuName="PremiumV2_LRS", DiskIOPSReadWrite="3000", DiskMBpsReadWrite="125")
    claim = made.claim(status={"currentVolumeAttributesClassName": "fast"})
    later = made.one("VolumeAttributesClass", "fast", parameters={"DiskIOPSReadWrite": "9000"})
    known = facts(disk(volume, claim=claim, later=later))
    assert (known["provisioned_iops"], known["provisioned_bytes_per_s"]) == (9000, 125_000_000)
    assert "provisioned_iops" not in facts(disk(volume, claim=claim))


@pytest.mark.parametrize(
    ("volume", "note"),
    [
        (made.volume(driver="file.csi.azure.com"), "a file share of the driver file.csi.azure.com: no disk"),
        (made.volume(driver="ebs.csi.aws.com"), "a volume of the driver ebs.csi.aws.com: no disk"),
        (made.volume(driver="\x1b[2Jx"), "a volume of the driver that is not known: no disk"),
        (made.one("PersistentVolume", "a", spec={"nfs": {"server": "x"}}), "that is not known: no disk"),
        (
            made.one("PersistentVolume", "a", spec={"azureFile": {}}),
            "a file share of the driver kubernetes.io",
        ),
    ],
)
def test_no_disk_is_made_up(volume: Any, note: str) -> None:
    found = disk(volume)
    assert found.row is None and note in found.notes[0]


@pytest.mark.parametrize(
    ("parameters", "note"),
    [
        ({"skuName": "Platinum_LRS"}, "names a kind of disk that azbench does not know"),
        ({"skuName": "UltraSSD_LRS", "diskIOPSReadWrite": "many"}, "of diskiopsreadwrite is no number"),
        ({"skuName": "UltraSSD_LRS", "diskIOPSReadWrite": "-1"}, "of diskiopsreadwrite is no number"),
    ],
)
def test_what_makes_no_sense_stays_open(parameters: dict[str, str], note: str) -> None:
    found = disk(made.volume(cachingMode="some", **parameters))
    assert note in " ".join(found.notes) and "provisioned_iops" not in facts(found)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("100Gi", 100),
        ("1Ti", 1024),
        ("137438953472", 128),
        ("100G", 94),
        ("1.5Gi", 2),
        ("137438953472000m", 128),
        ("1e11", 94),
        ("1E", 931322575),
    ],
)
def test_quantities(text: str, size: int) -> None:
    """The driver rounds up to whole GiB."""
    assert facts(disk(made.volume(text)))["size_bytes"] == size * GIB


@pytest.mark.parametrize("text", ["", "Gi", "-1Gi", "1 Gi", "1Zi", "1e999", "٣Gi", "9" * 99, 7, {}, "99E"])
def test_what_is_no_quantity_is_refused(text: Any) -> None:
    with pytest.raises(InputError, match=r"^kubectl: spec\.capacity\.storage"):
        disk(made.volume(text))


def at(document: Any, path: str, container: str = "") -> str | None:
    found = volume_at(Pod.parse(document, WHERE), container, [path])
    return found and found.name


def test_the_deepest_mount_holds_a_path() -> None:
    volumes = ({"name": name, "emptyDir": {}} for name in ("all", "data", "inner"))
    one = made.pod({"/": "all", "/data": "data", "/data/inner": "inner"}, *volumes)
    places = {"/data": "data", "/data/x": "data", "/data/inner/x": "inner", "/database": "all"}
    assert {path: at(one, path) for path in places} == places
    del one["spec"]["containers"][0]["volumeMounts"][0]
    assert at(one, "/elsewhere") is None


def test_each_container_has_its_own_mounts() -> None:
    other = {"name": "db", "volumeDevices": [{"name": "raw", "devicePath": "/dev/xvda"}]}
    one = made.pod({"/data": "data"}, made.by_claim(), {"name": "raw", "emptyDir": {}})
    one["spec"]["containers"].append(other)
    assert (at(one, "/data"), at(one, "/data", "db"), at(one, "/dev/xvda", "db")) == ("data", None, "raw")
    one["metadata"]["annotations"] = {"kubectl.kubernetes.io/default-container": "db"}
    assert at(one, "/data") is None
    with pytest.raises(InputError, match=r"the pod has no container 'web'; the choices are: fio, db$"):
        at(one, "/data", "web")


@pytest.mark.parametrize(
    ("labels", "vm"),
    [
        ({}, ("Standard_D4s_v5", "westeurope", "1")),
        ({"topology.kubernetes.io/zone": "0"}, ("Standard_D4s_v5", "westeurope", None)),
        ({"node.kubernetes.io/instance-type": ""}, (None, "westeurope", "1")),
        (
            {"node.kubernetes.io/instance-type": "a b", "beta.kubernetes.io/instance-type": "Standard_B8ms"},
            ("Standard_B8ms", "westeurope", "1"),
        ),
    ],
)
def test_a_node_is_a_vm_by_its_labels(labels: dict[str, str], vm: tuple[str | None, ...]) -> None:
    assert tuple(node_vm(Node.parse(made.node(**labels), WHERE)).values()) == vm


def test_a_node_elsewhere_is_no_vm_of_azure() -> None:
    other = made.node()
    other["spec"]["providerID"] = "aws:///eu-central-1a/i-1"
    assert node_vm(Node.parse(other, WHERE)) == node_vm(None) == {}
