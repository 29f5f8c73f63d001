"""What goes wrong in Azure: one sentence, results kept, and nothing left or the leftover named."""

import os
import re
import signal
from pathlib import Path

import pytest
from fake_azure.campaigns import SMALL, azbench, measured, measured_and_told, refused, started, until
from fake_azure.login import write_config
from fake_azure.skus import restrict
from waiting import PATIENCE_S

from azbenchlib import campaign
from azbenchlib.azure import az as deadlines
from azbenchlib.azure import retries
from azbenchlib.campaign.targets.azure import money
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

TWO = SMALL + "  second: {rw: randwrite, bs: 4k, size: 4m, runtime: 1}\n"
VM = r"/virtualMachines/[^/]+$"


def kept(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("out/raw/**/*.json"))


@pytest.mark.long
def test_a_size_that_the_subscription_cannot_have_costs_nothing(azure, small):
    restrict(azure.arm.sku("Standard_D2s_v3", "westeurope"), "1")
    said = refused(small)
    assert "cannot have Standard_D2s_v3 in westeurope, zone 1 (NotAvailableForSubscription)" in said
    assert not azure.arm.bodies("PUT", "resourcegroups")


@pytest.mark.parametrize("code", ["SkuNotAvailable", pytest.param("QuotaExceeded", marks=pytest.mark.long)])
def test_a_vm_that_is_refused(azure, small, code):
    azure.faults.preflight(code)
    said = refused(small)
    assert said.startswith(f"az vm create: {code}: ")
    assert "Nothing is left in Azure; 0 of 1 workloads are kept" in said
    assert not azure.arm.resources


@pytest.mark.long  # another refusal than that of the VM
def test_a_policy_against_the_network_is_told_with_the_ways_that_a_file_can_name(azure, small):
    """None of them passes by itself, so that it is asked for once."""
    policy = "Resource 'azbench-network' was disallowed by policy: 'Subnets should be private'."
    fault = azure.faults.refuse(
        "PUT", "/virtualNetworks/", "RequestDisallowedByPolicy", policy, status=403, times=9
    )
    said = refused(small)
    assert said.startswith("az network vnet create: RequestDisallowedByPolicy: ")
    assert "outbound: nat or none, or a subnet of yours with subnet:. Nothing is left in Azure" in said
    assert fault.hits == 1
    assert not azure.arm.resources


@pytest.mark.long  # another refusal than that at once
def test_a_vm_that_fails_after_it_was_accepted(azure, small):
    azure.faults.fail("PUT", VM, "ZonalAllocationFailed")
    said = refused(small)
    assert "ZonalAllocationFailed" in said
    assert "try later, or another zone" in said
    assert not azure.arm.resources


@pytest.mark.long
def test_a_disk_over_the_quota(azure, small):
    azure.faults.refuse("PUT", "/disks/", "QuotaExceeded", status=409)
    said = refused(small)
    assert said.startswith("az disk create: QuotaExceeded: ")
    assert "ask for more quota" in said
    assert not azure.arm.resources


@pytest.mark.long
def test_what_passes_by_itself_is_no_fault(azure, small, monkeypatch):
    """Whatever comes between, in one run: each would have ended it, and is waited for."""
    monkeypatch.setattr(retries, "FIRST_TRY_PAUSE_S", 0.1)
    azure.faults.refuse("PUT", "/disks/", "TooManyRequests", status=429)
    azure.faults.cut_output(1000, times=1000)  # which comes in smaller pieces
    azure.faults.fail("DELETE", r"resourceGroups/[^/]+$", "InternalServerError")
    azure.faults.refuse("PUT", "/virtualNetworks/", "ResourceGroupNotFound", "could not be found", status=404)
    azure.faults.refuse("PUT", "/disks/", "AnotherOperationInProgress")
    azure.faults.refuse("GET", VM, "ExpiredAuthenticationToken", status=401, command="vm disk attach")
    azure.faults.lose("PUT", VM, command="vm disk attach")
    azure.faults.refuse("PUT", "/runCommands/", "Conflict", "A run command is in progress.")
    azure.faults.page("GET", "/runCommands/", 200, command="vm run-command show")
    azure.faults.broken("GET", "/runCommands/", nth=3, command="vm run-command show")
    azure.faults.broken("PUT", "/disks/", nth=3)
    azure.faults.refuse("POST", "/runCommand$", "Conflict", "Run command extension execution is in progress.")
    azure.faults.away("POST", "/runCommand$", times=4)
    azure.faults.lose("POST", "/runCommand$", nth=2)
    folder, told = measured_and_told(small)
    assert [fault for fault in azure.faults.planned if not fault.hits] == []
    assert len([text for text in told if text.startswith("waiting, for ")]) >= 6
    assert Dataset.load(folder).results["iops"].gt(0).all()
    log = (folder / "az.log.jsonl").read_text()
    assert log.count('"invoke"') > 4
    assert log.count('"group", "delete"') == 2
    assert len(azure.arm.bodies("PUT", r"resourceGroups/[^/]+$")) == 1
    assert not azure.arm.resources


@pytest.mark.long
@pytest.mark.parametrize("number", [90033, 0])
def test_a_sign_in_service_that_is_away_for_a_moment_is_no_missing_login(azure, tmp_path, number):
    """The account is logged in and its token is not at hand. az keeps the refusal for a minute."""
    write_config(tmp_path / "config", azure.arm.base)
    refusal = azure.faults.sign_in(number)
    environment = {**azure.environment, "AZURE_CONFIG_DIR": str(tmp_path / "config")}
    done = azbench("cleanup", environment=environment, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("Nothing of azbench is in this subscription")
    assert refusal.hits == 1


@pytest.mark.long
def test_a_script_that_fails_though_az_says_all_is_well_and_the_run_taken_up(azure, small):
    small.write_text(TWO.replace("workloads:", "rest: 1\nworkloads:"))  # so each has a script of its own
    azure.faults.kill_script("/runCommands/", nth=4, times=3)  # after guard, disk and first workload
    said = refused(small)
    assert "data: randwrite" in said
    assert "1 of 2 workloads are kept" in said
    assert not azure.arm.resources
    assert kept(small.parent) == ["first"]
    first = next(small.parent.glob("out/raw/**/first.json")).stat().st_mtime_ns
    folder = measured(small)  # the same again goes on
    assert kept(small.parent) == ["first", "second"]
    assert next(folder.glob("raw/**/first.json")).stat().st_mtime_ns == first
    assert set(Dataset.load(folder).runs["job"]) == {"first", "second"}
    assert not azure.arm.resources


@pytest.mark.long
def test_a_fio_that_fails_leaves_what_it_said(azure, small):
    small.write_text(SMALL.replace("rw: randread", "ioengine: windowsaio, rw: randread"))
    said = refused(small)
    assert "fio ended with status" in said
    (kept,) = small.parent.glob("out/failed/*")
    assert "windowsaio" in (kept / "layout.txt").read_text()
    assert not azure.arm.resources


@pytest.mark.long
def test_outputs_that_never_come_whole(azure, small):
    azure.faults.cut_output(200, times=1000)
    said = refused(small)
    assert "its outputs came damaged, again and again" in said
    assert not azure.arm.resources


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_an_interrupt_takes_everything_down(azure, small, number):
    process = started(small)
    until(process, "prepare data")
    process.send_signal(number)
    text, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, text
    assert not azure.arm.resources
    assert "interrupted; deleting azbench-small-" in text
    assert "azbench: interrupted. Nothing is left in Azure; 0 of 1 workloads are kept" in text


@pytest.mark.long
def test_a_killed_run_is_found_by_cleanup_and_by_the_next_run(azure, small):
    small.write_text(TWO)
    process = started(small)
    until(process, "data: randwrite")
    process.kill()
    process.wait()
    assert azure.arm.resources
    (left,) = {path.split("/")[4] for path in azure.arm.resources}
    listed = azbench("cleanup", environment=azure.environment, folder=small.parent)
    assert left in listed.stdout
    measured(small)  # deletes what it left, and goes on
    assert not azure.arm.resources
    assert kept(small.parent) == ["first", "second"]


@pytest.mark.long  # as the provider below
def test_a_feature_that_is_missing_is_asked_for(azure, small):
    small.write_text(SMALL.replace("zone: 1", "zone: 1\nsecurity_type: Standard"))
    azure.arm.features["Microsoft.Compute/UseStandardSecurityType"] = "NotRegistered"
    said = refused(small)
    assert "feature Microsoft.Compute/UseStandardSecurityType: is NotRegistered" in said
    assert any(entry.command == "feature register" for entry in azure.arm.log)


def test_a_provider_that_is_missing_is_registered(azure, small):
    azure.arm.providers["microsoft.compute"] = "NotRegistered"
    restrict(azure.arm.sku("Standard_D2s_v3", "westeurope"))  # to end soon
    refused(small)
    assert any(entry.command == "provider register" for entry in azure.arm.log)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("Standard_D2s_v3", "Standard_D2_v5"), "westeurope does not offer the size Standard_D2_v5"),
        (("zone: 1", "zone: 7"), "has zones 1, 2, 3 in westeurope, not zone 7"),
        (("size: 32GiB", "size: 32GiB, count: 9"), "takes 4 data disks at most, not 9"),
    ],
)
@pytest.mark.sampled(1)
def test_what_the_region_does_not_have_is_said_before_anything_is_made(azure, small, change, said):
    small.write_text(SMALL.replace(*change))
    with pytest.raises(InputError, match=said):
        measured(small)
    assert not azure.arm.bodies("PUT", "resourcegroups")


def test_without_a_login_one_sentence_says_what_to_do(azure, small, tmp_path):
    (tmp_path / "config").mkdir()
    environment = {**azure.environment, "AZURE_CONFIG_DIR": str(tmp_path / "config")}
    done = azbench("run", small, "--target", "azure", environment=environment, folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "azbench: az is not logged in; run `az login`, then start again"
    restrict(azure.arm.sku("Standard_D2s_v3", "westeurope"))  # to end soon
    again = azbench("run", small, "--target", "azure", environment=azure.environment, folder=tmp_path)
    assert "this subscription cannot have Standard_D2s_v3" in again.stderr  # the folder is no hindrance


def test_an_az_that_is_too_old_is_told_with_the_oldest_that_will_do(azure, small, monkeypatch):
    """The real one, which says that it is of another version."""
    az, real = small.with_name("az"), os.environ["AZBENCH_AZ"]
    old = """'s/"2\\.[0-9.]*"/"2.59.3"/'"""
    az.write_text(
        f'#!/bin/sh\nif [ "$1" = version ]; then {real} "$@" | sed {old}; else exec {real} "$@"; fi\n'
    )
    az.chmod(0o755)
    monkeypatch.setenv("AZBENCH_AZ", str(az))
    assert re.match(
        "az 2.59.3 is too old; 2.60 or later is needed: `az upgrade`, or `make azure`", refused(small)
    )
    assert not [request for request in azure.arm.log if request.method != "GET"]


def test_without_az_one_sentence_says_what_to_do(small, monkeypatch):
    monkeypatch.setenv("AZBENCH_AZ", "no-such-az")
    with pytest.raises(MissingToolError, match="get it with `make azure`, then log in with `az login`"):
        measured(small)


# --- what never ends

NETWORK = "/virtualNetworks/"


@pytest.mark.long  # tests/azure/test_az.py has a call that never ends
def test_an_operation_that_never_ends_is_given_up(azure, small, monkeypatch):
    """Azure takes the request and never says that it is done."""
    monkeypatch.setitem(deadlines.CALL_LIMITS_S, "network vnet create", 6.0)
    azure.faults.hold("PUT", NETWORK, "")
    said = refused(small)
    azure.arm.let_go.set()
    assert said.startswith("az network vnet create: was ended: no answer came within 6")
    assert "the operation may still go on in Azure" in said
    assert "Nothing is left in Azure" in said
    assert not azure.arm.resources


@pytest.mark.long
def test_a_wait_of_an_hour_does_not_outlive_the_hours_of_a_run(azure, small, monkeypatch):
    """az waits as long as Azure tells it to, and the run has an end; what it made is deleted after that."""
    monkeypatch.setattr(money.Budget, "check", lambda self: None)
    azure.faults.wait("*", "", 3600, times=10**6)
    todo, out = campaign.load(small), small.with_name("out")
    # A slow machine may reach the limit before az waits.
    words = r"max_hours 0\.005 is reached.*Nothing is left in Azure"
    with pytest.raises(AzbenchError, match=words):
        campaign.run(todo, out, target="azure", max_hours=0.005)
    assert not azure.arm.resources
