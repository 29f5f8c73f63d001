"""The custom role of docs/azure.md: it has what runs take, and nothing that no run takes.

Every other test with the fake Azure runs with no more rights than the document names.
"""

import re
from pathlib import Path

import pytest
from fake_azure.campaigns import SMALL, measured, refused
from fake_azure.identity import SUBSCRIPTION
from fake_azure.login import Azure
from fake_azure.roles import DOCUMENT, documented, operation

from azbenchlib.campaign.targets.azure import cloud, money, vm

pytest_plugins = ("fake_azure.fixtures",)

IN = "/subscriptions/s"
COMPUTE = f"{IN}/resourceGroups/g/providers/Microsoft.Compute"
# For `az login`, and for the state of a VM, which is part of it in the fake.
NOT_EMULATED = {
    "Microsoft.Resources/subscriptions/read",
    "Microsoft.Compute/virtualMachines/instanceView/read",
}


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/subscriptions", ""),
        ("GET", IN, "Microsoft.Resources/subscriptions/read"),
        ("PUT", f"{IN}/resourceGroups/g", "Microsoft.Resources/subscriptions/resourceGroups/write"),
        ("GET", f"{IN}/providers/Microsoft.Compute", "Microsoft.Resources/subscriptions/providers/read"),
        ("POST", f"{IN}/providers/Microsoft.Compute/register", "Microsoft.Compute/register/action"),
        ("DELETE", f"{COMPUTE}/disks/d", "Microsoft.Compute/disks/delete"),
        (
            "POST",
            f"{COMPUTE}/virtualMachines/v/runCommand",
            "Microsoft.Compute/virtualMachines/runCommand/action",
        ),
        (
            "PUT",
            f"{COMPUTE}/virtualMachines/v/runCommands/r",
            "Microsoft.Compute/virtualMachines/runCommands/write",
        ),
        (
            "GET",
            f"{IN}/providers/Microsoft.Features/providers/Microsoft.Compute/features/f",
            "Microsoft.Features/providers/features/read",
        ),
        (
            "GET",
            f"{COMPUTE}/virtualMachines/v/providers/Microsoft.Insights/metrics",
            "Microsoft.Insights/metrics/read",
        ),
    ],
)
def test_requests_are_named_as_azure_names_them(method: str, path: str, name: str) -> None:
    assert operation(method, path) == name


@pytest.mark.slow
def test_az_takes_the_role_as_it_is_printed(signed_in: Azure, tmp_path: Path) -> None:
    """What Azure gets is what the stand-in for it refuses and permits by."""
    (printed,) = re.findall(r"^```json\n(\{.*?)^```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    role = tmp_path / "azbench-role.json"
    role.write_text(printed.replace("SUBSCRIPTION", SUBSCRIPTION))
    signed_in.arm.actions |= {"Microsoft.Authorization/roleDefinitions/*"}
    made = signed_in.az("role", "definition", "create", "--role-definition", f"@{role}")
    assert made["roleName"] == "azbench"
    (got,) = signed_in.arm.bodies("PUT", "/roleDefinitions/")
    (permission,) = got["properties"]["permissions"]
    assert frozenset(permission["actions"]) == documented()[0]
    assert got["properties"]["assignableScopes"] == [f"/subscriptions/{SUBSCRIPTION}"]


@pytest.mark.slow
@pytest.mark.fio
def test_an_account_without_a_right_is_told_so_and_nothing_is_made(signed_in: Azure, small: Path) -> None:
    signed_in.arm.actions = documented()[0] - {"Microsoft.Resources/subscriptions/resourceGroups/write"}
    said = refused(small)
    assert "AuthorizationFailed" in said and "lacks the rights; ask for the role Contributor" in said
    assert not signed_in.arm.resources


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.long
def test_the_role_has_nothing_that_no_run_takes(
    signed_in: Azure, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run by a container, through a NAT gateway, with Azure Monitor; one in pieces; and one by a disk."""
    monkeypatch.setattr(vm, "MOST_SCRIPTS", 1)
    monkeypatch.setattr(vm, "STATE_S", 0.0)
    monkeypatch.setattr(money, "MONITORED_S", 0.0)
    monkeypatch.setattr(cloud, "MONITOR_PAUSE_S", 0.1)
    signed_in.arm.actions = documented()[0]
    signed_in.arm.prompt = False  # what takes time is asked for again
    more = "".join(f"  w{n}: {{rw: randread, bs: {4 << n}k, size: 4m, runtime: 1}}\n" for n in range(2))
    small.write_text(SMALL.replace("zone: 1", "zone: 1\noutbound: nat\nsecurity_type: Standard") + more)
    measured(small)
    assert not signed_in.arm.resources
    small.write_text(SMALL.replace("title: Small", "title: Smaller").replace("westeurope", "northeurope"))
    small.with_name("out").rename(small.with_name("before"))
    measured(small)
    assert not signed_in.arm.resources
    signed_in.faults.refuse("PUT", "/storageAccounts/", "RequestDisallowedByPolicy", status=403, times=2)
    small.write_text(SMALL.replace("title: Small", "title: By a disk") + more)
    small.with_name("out").rename(small.with_name("between"))
    measured(small)
    assert not signed_in.arm.resources
    used = signed_in.arm.actions_used
    unused = signed_in.arm.actions - used - NOT_EMULATED
    # What takes time to be made is looked at, which the fake does not ask of every version of an API.
    assert {action for action in unused if action.replace("/read", "/write") not in used} == set()
