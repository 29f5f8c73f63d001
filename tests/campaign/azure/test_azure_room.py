"""Where Azure has no room: another size or zone; quota, controllers, spot VMs, ways to the outside."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_azure.campaigns import SMALL, measured
from fake_azure.identity import SUBSCRIPTION
from fake_azure.login import Azure
from fake_azure.machines import remove_machine
from fake_azure.skus import all_skus, family, restrict

from azbenchlib import campaign
from azbenchlib.azure import documents, retries
from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import Passing
from azbenchlib.azure.quota import Quota
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.targets.azure import commands, steps
from azbenchlib.campaign.targets.azure.preflight import Region
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

OTHERWISE = "zone: 1\notherwise: [{vm: Standard_D2ads_v5}, {zone: 3}]"
NETWORK = "providers/Microsoft.Network/virtualNetworks/v"
SUBNET_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/theirs/{NETWORK}/subnets/s"
VM = r"/virtualMachines/[^/]+$"


def chosen(
    folder: Path, usage: Mapping[str, tuple[int, int]], *changes: tuple[str, str], zone: str = ""
) -> Any:
    """What the only setup of a file gets in a region with so much of its quotas used."""
    text = SMALL
    for change in changes:
        assert change[0] in text
        text = text.replace(*change)
    (folder / "file.yaml").write_text(text)
    skus = [sku for sku in all_skus() if sku["locations"] == ["westeurope"]]
    if zone:
        restrict(next(sku for sku in skus if sku["name"] == "Standard_D2s_v3"), zone)
    (setup,) = measurement_file.load(folder / "file.yaml").setups
    sizes = {sku["name"]: documents.skus([sku]) for sku in skus if sku["resourceType"] == "virtualMachines"}
    disks = documents.skus([sku for sku in skus if sku["resourceType"] == "disks"])
    used = {name.lower(): Quota(name, *told) for name, told in usage.items()}
    return Region(az=Az(path="no-such-az"), name="westeurope", disks=disks, usage=used, sizes=sizes).choose(
        setup
    )


def test_quotas_are_looked_at_before_anything_is_created(tmp_path: Path) -> None:
    assert family("Standard_D2s_v3") == "standardDSv3Family"
    full = {"standardDSv3Family": (9, 10)}
    with pytest.raises(
        InputError, match=r"Standard_D2s_v3 takes 2 vCPUs, and of the quota standardDSv3Family 9 of 10"
    ):
        chosen(tmp_path, full)
    assert chosen(tmp_path, {"standardDSv3Family": (8, 10)}) == {}
    assert chosen(tmp_path, full, ("zone: 1", "zone: 1\npriority: spot")) == {}
    with pytest.raises(InputError, match="of the quota lowPriorityCores 3 of 3 are in use"):
        chosen(tmp_path, {"lowPriorityCores": (3, 3)}, ("zone: 1", "zone: 1\npriority: spot"))


def test_the_next_size_or_zone_is_taken_where_the_file_names_one(tmp_path: Path) -> None:
    change = ("zone: 1", OTHERWISE)
    assert chosen(tmp_path, {}, change) == {}
    assert chosen(tmp_path, {}, change, zone="1") == {"vm": "Standard_D2ads_v5"}
    assert chosen(tmp_path, {"standardDADSv5Family": (99, 99)}, change, zone="1") == {"zone": "3"}
    with pytest.raises(InputError, match="of the quota cores 98 of 99 are in use"):
        chosen(tmp_path, {"cores": (98, 99)}, change)
    (tmp_path / "file.yaml").write_text(
        SMALL.replace("zone: 1", "setups: [{name: a, zone: 1}, {name: b, zone: 2}]\notherwise: [{zone: 3}]")
    )
    with pytest.raises(
        InputError, match="another zone can be taken only where all setups are measured on one VM"
    ):
        measurement_file.load(tmp_path / "file.yaml")


def test_sizes_without_scsi_get_nvme_and_arm_is_refused(tmp_path: Path) -> None:
    v6 = ("Standard_D2s_v3", "Standard_D2s_v6")
    assert chosen(tmp_path, {}, v6) == {"controller": "NVMe"}
    with pytest.raises(InputError, match="has no disk controller SCSI, only NVMe"):
        chosen(tmp_path, {}, v6, ("zone: 1", "zone: 1\ncontroller: SCSI"))
    with pytest.raises(InputError, match="is an Arm size, for which Azure has no managed run-commands"):
        chosen(tmp_path, {}, ("Standard_D2s_v3", "Standard_D2ps_v5"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([("size: 32GiB", "size: 4096GiB, caching: ReadOnly")], "Azure caches disks of up to 4095 GiB"),
        (
            [("size: 32GiB", "size: 32GiB, caching: ReadOnly"), ("Standard_D2s_v3", "Standard_L8s_v3")],
            r"Standard_L8s_v3 does not support host caching of data disks \(azure-compute-docs lsv3-series",
        ),
        ([("size: 32GiB", "size: 32GiB, write_accelerator: true")], "has no write accelerator for so many"),
        (
            [
                ("Standard_D2s_v3", "Standard_E8ds_v5"),
                ("disks:", "disks:\n  os: {role: ephemeral_os, placement: CacheDisk}"),
            ],
            "has no room for an ephemeral OS disk on its CacheDisk",
        ),
    ],
)
def test_what_a_disk_cannot_have_is_told_beforehand(
    tmp_path: Path, changes: list[tuple[str, str]], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        chosen(tmp_path, {}, *changes)


def test_a_size_without_trusted_launch_is_told_with_the_way_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skus = copy.deepcopy(all_skus())
    for sku in skus:
        if sku["name"] == "Standard_D2s_v3":
            sku["capabilities"].append({"name": "TrustedLaunchDisabled", "value": "True"})
    monkeypatch.setitem(globals(), "all_skus", lambda: skus)
    with pytest.raises(InputError, match="has no trusted launch; say security_type: Standard"):
        chosen(tmp_path, {})
    assert chosen(tmp_path, {}, ("zone: 1", "zone: 1\nsecurity_type: Standard")) == {}


def test_a_subnet_that_is_there_is_used_and_none_is_created(tmp_path: Path) -> None:
    (tmp_path / "file.yaml").write_text(SMALL.replace("zone: 1", f"zone: 1\nsubnet: {SUBNET_ID}"))
    found = steps.steps(measurement_file.load(tmp_path / "file.yaml"), "g", {}, "0700")
    called = [step.argv for step in found if isinstance(step, steps.Call)]
    assert not [argv for argv in called if argv[0] == "network"]
    (made,) = [argv for argv in called if argv[:2] == ["vm", "create"]]
    assert made[made.index("--subnet") + 1] == SUBNET_ID and "--vnet-name" not in made
    assert commands.NAT not in str(called)


@pytest.mark.long
def test_where_azure_has_no_room_after_all_the_next_size_is_measured(signed_in: Azure, small: Path) -> None:
    small.write_text(SMALL.replace("zone: 1", OTHERWISE))
    signed_in.faults.fail("PUT", VM, "ZonalAllocationFailed")
    folder = measured(small)
    assert not signed_in.arm.resources
    assert set(Dataset.load(folder).setups["vm_size"]) == {"Standard_D2ads_v5"}
    assert len(signed_in.arm.bodies("PUT", "/deployments/")) == 2
    assert len(signed_in.arm.bodies("PUT", r"resourceGroups/[^/]+$")) == 1
    assert measured(small) == folder  # the same file again


@pytest.mark.long
@pytest.mark.parametrize("n_evictions", [1, 2])
def test_a_spot_vm_that_is_evicted_is_made_again_as_often_as_that_is_tried(
    signed_in: Azure, small: Path, monkeypatch: pytest.MonkeyPatch, n_evictions: int
) -> None:
    """On a size with NVMe alone, in a network with a NAT gateway; again while a disk is prepared."""
    monkeypatch.setitem(retries.WHILE_MEASURING, Passing.not_there_yet, 0.1)
    monkeypatch.setattr(steps, "EVICTION_PAUSES_S", (0.1,))
    text = SMALL.replace("zone: 1", "zone: 1\npriority: spot\noutbound: nat").replace("D2s_v3", "D2s_v6")
    small.write_text(text + "  second: {rw: randwrite, bs: 4k, size: 4m, runtime: 1}\n")
    evicted: list[str] = []

    def evicting(done: int, total: int, said: str) -> None:
        awaited = ("randwrite", "prepare data")[len(evicted) :][:1]
        if done == 1 and len(evicted) < n_evictions and awaited[0] in said:
            evicted.append(said)
            with signed_in.arm.lock:
                for key in list(signed_in.arm.machines):
                    remove_machine(signed_in.arm, key)

    def run() -> Path:
        return campaign.run(campaign.load(small), small.with_name("out"), target="azure", progress=evicting)

    if n_evictions == 2:
        with pytest.raises(
            AzbenchError, match=r"took the spot VM vm-1 back, once .* 1 of 2 workloads are kept"
        ):
            run()
        assert not signed_in.arm.resources
    folder = run()
    assert len(evicted) == n_evictions
    found = Dataset.load(folder)
    assert set(found.runs["job"]) == {"first", "second"}
    assert ("another one was made" in str(found.manifest.notes)) == (n_evictions == 1)
    assert len(signed_in.arm.bodies("PUT", r"resourceGroups/[^/]+$")) == n_evictions
    assert not signed_in.arm.resources
    resources = signed_in.arm.bodies("PUT", "/deployments/")[0]["properties"]["template"]["resources"]
    (vm,) = [one["properties"] for one in resources if one["type"] == "Microsoft.Compute/virtualMachines"]
    assert (vm["priority"], vm["evictionPolicy"]) == ("Spot", "Delete")
    assert vm["storageProfile"]["diskControllerType"] == "NVMe"
    (subnet,) = signed_in.arm.bodies("PUT", "/subnets/azbench-subnet$")[:1]
    assert subnet["properties"]["natGateway"]["id"].endswith("/natGateways/azbench-nat")
    (network, *_) = signed_in.arm.bodies("PUT", "/virtualNetworks/azbench-network$")
    assert network["properties"]["subnets"][0]["properties"]["defaultOutboundAccess"] is False
