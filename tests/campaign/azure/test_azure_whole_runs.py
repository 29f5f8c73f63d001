"""What a review of real subscriptions found, in whole runs: options of disks, networks, leases, refusals."""

import re
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_azure import run_commands
from fake_azure.campaigns import SMALL, measured, measured_and_told, refused, shortened
from fake_azure.groups import put_network
from fake_azure.identity import PRINCIPAL, SUBSCRIPTION, TENANT
from fake_azure.login import Azure
from waiting import wait_for

from azbenchlib import campaign
from azbenchlib.azure import retries
from azbenchlib.campaign.targets.azure import cloud, money, vm
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.core.errors import AzbenchError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.report.part import Part
from azbenchlib.report.sections import method

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

THEIRS = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/theirs"
NETWORK = f"{THEIRS}/providers/Microsoft.Network/virtualNetworks/v"
DISKS = """
  large: {sku: Premium_LRS, size: 1024GiB, bursting: true, performance_plus: true}
  sectors: {sku: PremiumV2_LRS, size: 32GiB, sector: 512}
"""
WORKLOADS = """
workloads:
  first: {disks: [sectors], rw: randread, bs: 512, size: 4m, runtime: 1}
  second: {rw: write, bs: 64k, size: 4m, runtime: 1}
"""


@pytest.mark.long
def test_a_run_in_a_given_subnet_without_storage_on_disks_with_options(
    signed_in: Azure, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two scripts are kept on the VM; the lease is renewed and the VM's end put off again and again."""
    monkeypatch.setattr(vm, "MOST_SCRIPTS", 2)
    monkeypatch.setattr(run_commands, "MOST_KEPT", 2)  # of Azure, for which azbench has 5 to spare
    monkeypatch.setattr(orphans, "RENEW_S", 0.5)
    monkeypatch.setattr(cloud, "LEAST_LEFT_S", 4 * 3600)
    arm, subnet = signed_in.arm, f"{NETWORK}/subnets/s"
    arm.put(THEIRS, {"location": "westeurope", "tags": {}})
    put_network(arm, NETWORK, {"location": "westeurope", "properties": {"subnets": [{"name": "s"}]}})
    before = set(arm.resources)
    signed_in.faults.refuse("PUT", "/storageAccounts/", "RequestDisallowedByPolicy", status=403, times=9)
    signed_in.faults.refuse("PUT", "/disks/azbench_results$", "RequestDisallowedByPolicy", status=403)
    head = re.sub(r"\n  data: .*\n", DISKS, SMALL.replace("zone: 1", f"zone: 1\nsubnet: {subnet}"))
    small.write_text(head.partition("workloads:")[0] + WORKLOADS)
    folder = campaign.run(campaign.load(small), small.with_name("out"), target="azure", show_identity=True)
    assert set(arm.resources) == before
    found = Dataset.load(folder)
    assert len(found.results.query("iops > 0")) == 3
    assert not arm.bodies("PUT", "/virtualNetworks/")
    assert subnet.lower() in str(arm.bodies("PUT", "/deployments/")).lower()
    large, sectors = (one["properties"] for one in arm.bodies("PUT", "/disks/(large|sectors)$"))
    assert large["burstingEnabled"] and large["creationData"]["performancePlus"]
    assert sectors["creationData"]["logicalSectorSize"] == 512
    log = (folder / "az.log.jsonl").read_text()
    assert '"run-command", "delete"' in log and '"invoke"' in log
    assert log.count("What runs on the VM") == 1
    assert len(arm.bodies("PUT", "/schedules/")) > 1
    assert len({one["tags"]["expires"] for one in arm.bodies("PUT", r"resourceGroups/azbench[^/]+$")}) > 1
    assert f"fake ({SUBSCRIPTION})" in (folder / "manifest.json").read_text()
    told = method.environment(Part(found, folder), None).html
    assert TENANT in told and PRINCIPAL in told
    assert not [secret for secret in (SUBSCRIPTION, TENANT, PRINCIPAL) if secret in log]


@pytest.mark.long
def test_a_vm_without_a_way_to_the_outside_installs_nothing_and_brings_its_results(
    signed_in: Azure, small: Path
) -> None:
    small.write_text(SMALL.replace("zone: 1", "zone: 1\noutbound: none"))
    folder, told = measured_and_told(small)
    assert (Dataset.load(folder).results["iops"] > 0).all()
    (network,) = signed_in.arm.bodies("PUT", "/virtualNetworks/azbench-network$")
    (subnet,) = (one["properties"] for one in network["properties"]["subnets"])
    assert subnet["defaultOutboundAccess"] is False
    assert [one["service"] for one in subnet["serviceEndpoints"]] == ["Microsoft.Storage"]
    (config,) = signed_in.arm.custom_data.values()
    assert b"apt-daily.timer" in config and b"package" not in config
    assert [
        text for text in told if "cannot delete the group by itself (it has no way to the outside)" in text
    ]
    assert not signed_in.arm.bodies("PUT", "/roleAssignments/")
    assert not signed_in.arm.resources


@pytest.mark.long
def test_a_vm_that_was_stopped_is_noticed_though_azure_says_that_its_script_runs(
    signed_in: Azure, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vm, "STATE_S", 1.0)
    small.write_text(SMALL + "  second: {rw: randwrite, bs: 4k, size: 4m, runtime: 8}\n")
    arm = signed_in.arm
    arm.unaware = True

    def stop(n_scripts: int) -> None:
        wait_for(lambda: len(arm.bodies("PUT", "/runCommands/")) > n_scripts)
        with arm.lock:
            for key in list(arm.machines):
                arm.machines.pop(key).stop()

    def stopping(done: int, total: int, said: str) -> None:
        if done == 1 and "randwrite" in said:
            threading.Thread(target=stop, args=[len(arm.bodies("PUT", "/runCommands/"))]).start()

    with pytest.raises(AzbenchError, match=r"vm-1: Azure says PowerState/deallocated.* 1 of 2 workloads"):
        campaign.run(campaign.load(small), small.with_name("out"), target="azure", progress=stopping)
    assert not signed_in.arm.resources
    (first,) = small.parent.glob("out/raw/**/first.json")
    at = first.stat().st_mtime_ns
    assert set(Dataset.load(measured(small)).runs["job"]) == {"first", "second"}
    assert first.stat().st_mtime_ns == at
    assert not signed_in.arm.resources


def test_a_quota_that_is_used_up_is_told_before_anything_is_created(signed_in: Azure, small: Path) -> None:
    signed_in.arm.quotas = {"standardDSv3Family": (9, 10)}
    said = refused(small)
    assert "Standard_D2s_v3 takes 2 vCPUs, and of the quota standardDSv3Family 9 of 10 are in use" in said
    assert not signed_in.arm.bodies("PUT", "resourcegroups")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("Standard_D2s_v3", "Standard_D2ps_v5"),
            "is an Arm size, for which Azure has no managed run-commands",
        ),
        (("size: 32GiB", "size: 4096GiB, caching: ReadOnly"), "Azure caches disks of up to 4095 GiB"),
        (
            ("zone: 1", "zone: 1\nimage: Debian:debian-12:12-gen2:1\ncontroller: NVMe"),
            "has no disk controller NVMe",
        ),
    ],
)
@pytest.mark.sampled(1)
def test_what_a_vm_cannot_have_is_told_before_anything_is_created(
    signed_in: Azure, small: Path, change: tuple[str, str], said: str
) -> None:
    small.write_text(SMALL.replace(*change))
    assert said in refused(small)
    assert not signed_in.arm.bodies("PUT", "resourcegroups")


@pytest.mark.long
def test_a_run_that_took_all_that_it_may_ends_and_keeps_what_is_measured(
    signed_in: Azure, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate would have refused it: Azure took longer than is reckoned."""
    monkeypatch.setattr(money.Budget, "check", lambda self: None)
    small.write_text(SMALL + "  second: {rw: randwrite, bs: 4k, size: 4m, runtime: 1}\n")
    passed_s = [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed_s[0])
    monkeypatch.setattr(money, "time", clock)

    def late(done: int, total: int, said: str) -> None:
        passed_s[0] = 3600.0 if done else 0.0

    todo, out = campaign.load(small), small.with_name("out")
    with pytest.raises(AzbenchError, match=r"max_hours 0.9 is reached \(1.\d h.* 1 of 2 workloads are kept"):
        campaign.run(todo, out, target="azure", progress=late, max_hours=0.9)
    assert not signed_in.arm.resources


@pytest.mark.long
def test_a_conflict_is_not_taken_for_the_refusal_that_a_file_expects(
    signed_in: Azure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another operation is in the way when a disk is attached that Azure should refuse for its zone.

    The same where a disk is detached and where a VM is deleted, and a disk is not to be seen yet.
    """
    monkeypatch.setattr(retries, "FIRST_TRY_PAUSE_S", 0.1)
    file = shortened("zone-redundant-disks", tmp_path, keep=["sync-read"])
    second = {"command": "vm disk attach", "nth": 2}  # of the VM in zone 2
    fault = signed_in.faults.refuse("PUT", "/virtualMachines/vm-2$", "OperationPreempted", **second)
    faults = [
        fault,
        signed_in.faults.refuse("PUT", "/virtualMachines/vm-1$", "Conflict", command="vm disk detach"),
        signed_in.faults.refuse("DELETE", "/virtualMachines/vm-2$", "AnotherOperationInProgress"),
        signed_in.faults.refuse(
            *("PUT", "/virtualMachines/vm-1$", "ResourceNotFound"), status=404, command="vm disk attach"
        ),
    ]
    folder, told = measured_and_told(file)
    assert [fault.hits for fault in faults] == [1] * len(faults)
    assert [text for text in told if text.startswith("waiting, for ") and "OperationPreempted" in text]
    (note,) = [one for one in Dataset.load(folder).manifest.notes if "as expected" in one]
    assert "OperationPreempted" not in note and "zone" in note
    assert not signed_in.arm.resources
