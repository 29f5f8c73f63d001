"""The last resort: a VM that deletes its own resource group when its run is dead, by its own identity."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fake_azure.campaigns import measured_and_told
from fake_azure.identity import SUBSCRIPTION
from fake_azure.login import Azure
from fake_azure.machines import create_machine
from fake_azure.rights import CONTRIBUTOR
from fake_azure.roles import documented
from fake_azure.routing import Request
from waiting import wait_for

from azbenchlib.azure import retries
from azbenchlib.azure.az_errors import Passing
from azbenchlib.campaign.targets.azure import cloud, guest
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg"
VM = f"{GROUP}/providers/Microsoft.Compute/virtualMachines/vm"
ROLE = "/providers/Microsoft.Authorization/roleAssignments/"


def moment(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="seconds")


def asked(azure: Azure, whose: str = "") -> list[tuple[str, int]]:
    """What VMs, or the one with an identity, asked for in their own names, and how it was answered."""
    return [(one.method, one.status) for one in azure.arm.log if one.caller and one.caller.endswith(whose)]


def make(azure: Azure, lease: float, expires: float, role: bool = True) -> None:
    """A group whose run is to be dead or alive, with a VM that watches it."""
    tags = {"tool": "azbench", "lease": moment(lease), "expires": moment(expires)}
    azure.arm.put(GROUP, {"location": "northeurope", "tags": tags})
    properties = {
        "hardwareProfile": {"vmSize": "Standard_D2s_v3"},
        "storageProfile": {"osDisk": {"createOption": "FromImage", "deleteOption": "Delete"}},
        "networkProfile": {"networkInterfaces": []},
        "osProfile": {},
    }
    body = {"location": "northeurope", "identity": {"type": "SystemAssigned"}, "properties": properties}
    principal = create_machine(azure.arm, VM, body)["identity"]["principalId"]
    if role:
        given = {"principalId": principal, "roleDefinitionId": f"/roleDefinitions/{CONTRIBUTOR}"}
        path = f"{GROUP}{ROLE}1"
        azure.arm.answer(Request("PUT", path, {}, {"properties": given}, ""))
    script = guest.guard(azure.arm.base, GROUP)
    body = {"properties": {"source": {"script": script}, "asyncExecution": True}}
    azure.arm.answer(Request("PUT", f"{VM}/runCommands/guard", {}, body, ""))


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "GUARD_LOOK_S", 0.1)


def test_a_group_whose_run_is_dead_is_deleted_by_its_vm(azure: Azure) -> None:
    make(azure, lease=-0.1, expires=0.3)  # half an hour before the VM stops itself
    wait_for(lambda: not azure.arm.resources)
    wait_for(lambda: {("DELETE", 202), ("DELETE", 200)} & set(asked(azure)))


def test_a_run_that_is_away_as_long_as_it_waits_for_the_network_keeps_its_group() -> None:
    away_s = retries.WHILE_MEASURING[Passing.network]
    assert away_s + orphans.RENEW_S <= cloud.LEAST_LEFT_S - guest.GUARD_EARLY_S


@pytest.mark.parametrize(("lease", "expires"), [(0.1, -1), (-0.1, 0.7)])
def test_a_group_whose_run_may_be_alive_or_has_time_left_stays(
    azure: Azure, lease: float, expires: float
) -> None:
    make(azure, lease=lease, expires=expires)
    wait_for(lambda: asked(azure).count(("GET", 200)) > 3)
    assert {method for method, _ in asked(azure, azure.arm.find(VM)["identity"]["principalId"])} == {"GET"}
    azure.arm.find(GROUP)["tags"] |= {"lease": moment(-1), "expires": moment(-1)}
    wait_for(lambda: not azure.arm.resources)


def test_a_vm_without_the_role_deletes_nothing_nor_one_whose_group_has_no_such_tags(azure: Azure) -> None:
    make(azure, lease=-1, expires=-1, role=False)
    principal = azure.arm.find(VM)["identity"]["principalId"]
    wait_for(lambda: asked(azure, principal).count(("GET", 403)) > 1)
    assert {status for _, status in asked(azure, principal)} == {403}
    del azure.arm.find(GROUP)["tags"]["lease"]
    given = {"principalId": principal, "roleDefinitionId": f"/roleDefinitions/{CONTRIBUTOR}"}
    azure.arm.answer(Request("PUT", f"{GROUP}{ROLE}1", {}, {"properties": given}, ""))
    wait_for(lambda: asked(azure, principal).count(("GET", 200)) > 2)
    assert "DELETE" not in dict(asked(azure, principal))


KILLED = """
import os, signal, sys
from azbenchlib import campaign
from azbenchlib.campaign.targets.azure import guest
guest.GUARD_LOOK_S = 0.5
def told(done, total, text):
    if text.startswith("prepare data"):
        os.kill(os.getpid(), signal.SIGKILL)
campaign.run(campaign.load(sys.argv[1]), sys.argv[2], target="azure", progress=told)
"""


@pytest.mark.long
def test_what_a_killed_run_left_deletes_itself(azure: Azure, small: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(small), str(small.with_name("out"))], check=False)
    (group,) = [one for key, one in azure.arm.resources.items() if key.count("/") == 4]
    wait_for(lambda: ("GET", 200) in asked(azure))
    group["tags"] |= {"lease": moment(-1), "expires": moment(-1)}  # hours later
    wait_for(lambda: not azure.arm.resources)


@pytest.mark.long
def test_where_roles_may_not_be_given_the_run_goes_on_and_says_so(azure: Azure, small: Path) -> None:
    azure.arm.actions, *_ = documented()
    folder, told = measured_and_told(small)
    (said,) = [text for text in told if "cannot delete the group by itself" in text]
    assert "AuthorizationFailed" in said and "its disks stay until `azbench cleanup --yes`" in said
    assert set(Dataset.load(folder).runs["job"]) == {"first"}
    assert not azure.arm.resources
