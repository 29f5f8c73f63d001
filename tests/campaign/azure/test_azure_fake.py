"""The fake Azure itself: what the real az says to it and what it says back, and VMs whose scripts run."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_azure.identity import SUBSCRIPTION
from fake_azure.login import Azure, refused
from fake_azure.machines import create_machine
from fake_azure.routing import Answer, Request
from fake_azure.skus import restrict
from fake_azure.vm import (
    CLOUD_INIT_DONE,
    GuestError,
    Hardware,
    Vm,
    available,
    images_in_use,
    make_image,
    make_os_disk,
)
from waiting import wait_for

pytest_plugins = ("fake_azure.fixtures",)

GIB = 2**30
GROUP = ["--resource-group", "rg"]
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg"
COMPUTE = f"{GROUP_ID}/providers/Microsoft.Compute"
NETWORK = f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/v"
CLOUD_CONFIG = "#cloud-config\npackages: [fio]\n"
LUN0 = "/dev/disk/azure/scsi1/lun0"

# az takes a second a call: what a test is not about is asked of the fake directly. What is about az is long:
# tests of azbench against this fake tell each time what is wrong with it.


def ask(azure: Azure, method: str, path: str, body: Any = None, **query: str) -> Answer:
    return azure.arm.answer(Request(method, path, query, body, ""))


def make_group(azure: Azure) -> None:
    """Make a group with a network."""
    azure.arm.put(GROUP_ID, {"location": "northeurope", "tags": {}})
    azure.arm.put(NETWORK, {"location": "northeurope"})
    azure.arm.put(f"{NETWORK}/subnets/s", {})


def make_disk(azure: Azure, name: str, sku: str, *zones: str) -> Answer:
    properties = {"creationData": {"createOption": "Empty"}, "diskSizeGB": 8}
    body = {"location": "northeurope", "sku": {"name": sku}, "zones": list(zones), "properties": properties}
    return ask(azure, "PUT", f"{COMPUTE}/disks/{name}", body)


def make_machine(azure: Azure, name: str, zone: str) -> None:
    properties = {
        "hardwareProfile": {"vmSize": "Standard_D2s_v3"},
        "storageProfile": {"osDisk": {"createOption": "FromImage", "deleteOption": "Delete"}},
        "networkProfile": {"networkInterfaces": []},
        "osProfile": {},
    }
    body = {"location": "northeurope", "zones": [zone], "properties": properties}
    create_machine(azure.arm, f"{COMPUTE}/virtualMachines/{name}", body)


@pytest.fixture
def ready(azure: Azure) -> Azure:
    """A group with one small VM named vm, in zone 1; whoever asks may do everything."""
    azure.arm.actions = frozenset({"*"})
    make_group(azure)
    make_machine(azure, "vm", "1")
    return azure


def vm_create(folder: Path, size: str, zone: str, *more: str) -> list[str]:
    """Give the arguments of a `vm create` as the project writes it."""
    key, cloud = folder / "key.pub", folder / "cloud.yaml"
    key.write_text("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk1yY0G0fW2nF3bqVb8cQ3mO2q8n1G2u8nJv0c1b2d3 test\n")
    cloud.write_text(CLOUD_CONFIG)
    image = ["--image", "Canonical:ubuntu-24_04-lts:server:latest", "--size", size, "--zone", zone]
    network = ["--nsg", "", "--public-ip-address", "", "--vnet-name", "v", "--subnet", "s"]
    access = ["--admin-username", "azureuser", "--ssh-key-values", str(key), "--custom-data", str(cloud)]
    rest = [
        "--security-type",
        "Standard",
        "--os-disk-delete-option",
        "Delete",
        "--nic-delete-option",
        "Delete",
    ]
    return ["vm", "create", *GROUP, "--name", "vm", *image, *network, *access, *rest, *more]


def attach(vm: str, disk: str) -> list[str]:
    where = ["--vm-name", vm, "--name", disk, "--lun", "0", "--caching", "None"]
    return ["vm", "disk", "attach", *GROUP, *where]


def invoke(azure: Azure, vm: str, script: str) -> tuple[str, str]:
    """Run a script in a VM; give its output and errors."""
    body = {"commandId": "RunShellScript", "script": [script]}
    return told(ask(azure, "POST", f"{COMPUTE}/virtualMachines/{vm}/runCommand", body).body)


def told(result: Any) -> tuple[str, str]:
    """Take an invoked run-command's message apart."""
    head, both = result["value"][0]["message"].split("\n[stdout]\n", 1)
    assert head == "Enable succeeded: "
    output, error = both.split("\n[stderr]\n", 1)
    return output, error


def command(verb: str, name: str, *more: str) -> list[str]:
    return ["vm", "run-command", verb, *GROUP, "--vm-name", "vm", "--run-command-name", name, *more]


def view(azure: Azure, name: str) -> Any:
    path = f"{COMPUTE}/virtualMachines/vm/runCommands/{name}"
    return ask(azure, "GET", path, **{"$expand": "instanceView"}).body["properties"]["instanceView"]


def asleep(number: int) -> str:
    """A command that no other run of these tests has."""
    return f"sleep {number}{os.getpid():07}"


def is_running(words: str) -> bool:
    return subprocess.run(["pgrep", "-f", words], check=False, capture_output=True).returncode == 0


# --- groups, networks, disks --------------------------------------------------------------------------------


@pytest.mark.long
def test_a_group_comes_is_found_by_tag_and_goes(azure: Azure) -> None:
    tags = ["--tags", "owner=me", "campaign=x"]
    azure.az("group", "create", "--name", "rg", "--location", "northeurope", *tags)
    assert azure.arm.bodies("PUT", "/rg$")[0]["tags"] == {"owner": "me", "campaign": "x"}
    azure.arm.put(GROUP_ID + "2", {"tags": {"campaign": "y"}})
    assert [g["name"] for g in azure.az("group", "list", "--tag", "campaign=x")] == ["rg"]
    azure.arm.deletion_s = 3.0
    azure.az("group", "delete", "--name", "rg", "--yes", "--no-wait")
    assert azure.arm.group(GROUP_ID)["properties"]["provisioningState"] == "Deleting"
    wait_for(lambda: azure.arm.find(GROUP_ID) is None)
    assert azure.az("group", "exists", "--name", "rg") is False
    assert [resource["name"] for resource in azure.arm.resources.values()] == ["rg2"]


@pytest.mark.long
def test_a_network_says_that_it_reaches_out(azure: Azure) -> None:
    make_group(azure)
    subnets = "[{name:s,address-prefix:10.0.0.0/24,default-outbound-access:true}]"
    prefixes = ["--address-prefixes", "10.0.0.0/16"]
    made = azure.az("network", "vnet", "create", *GROUP, "--name", "n", *prefixes, "--subnets", subnets)
    assert made["newVNet"]["name"] == "n"
    (body,) = azure.arm.bodies("PUT", "/virtualNetworks/n$")
    assert body["properties"]["subnets"][0]["properties"]["defaultOutboundAccess"] is True


@pytest.mark.long
def test_a_disk_is_made_as_asked_and_changed(azure: Azure) -> None:
    make_group(azure)
    name = [*GROUP, "--name", "u"]
    rates = [
        "--disk-iops-read-write",
        "2000",
        "--disk-mbps-read-write",
        "100",
        "--logical-sector-size",
        "512",
    ]
    azure.az("disk", "create", *name, "--sku", "UltraSSD_LRS", "--size-gb", "8", "--zone", "1", *rates)
    (body,) = azure.arm.bodies("PUT", "/disks/u$")
    assert (body["sku"]["name"], body["zones"]) == ("UltraSSD_LRS", ["1"])
    properties = body["properties"]
    assert (properties["diskIOPSReadWrite"], properties["diskMBpsReadWrite"]) == (2000, 100)
    assert properties["creationData"]["logicalSectorSize"] == 512
    azure.az("disk", "update", *name, "--disk-iops-read-write", "2400")
    shown = azure.az("disk", "show", *name)
    assert (shown["diskIOPSReadWrite"], shown["diskMBpsReadWrite"]) == (2400, 100)
    assert (shown["diskState"], shown["diskSizeBytes"]) == ("Unattached", 8 * GIB)


@pytest.mark.parametrize(
    ("sku", "zones", "why"),
    [
        ("UltraSSD_LRS", [], "must specify a zone"),
        ("Premium_ZRS", ["1"], "must not specify a zone"),
        ("Premium_LRS", ["4"], "supported zones for location 'northeurope' are '1, 2, 3'"),
        ("Premium_V3", ["1"], "not supported"),
    ],
)
def test_a_disk_that_azure_would_not_make(azure: Azure, sku: str, zones: list[str], why: str) -> None:
    make_group(azure)
    answer = make_disk(azure, "d", sku, *zones)
    assert (answer.status, why in answer.body["error"]["message"]) == (400, True)


@pytest.mark.long
def test_the_catalogue_shows_restrictions(azure: Azure) -> None:
    restrict(azure.arm.sku("Standard_D2s_v3", "northeurope"), "2")
    question = [
        "--location",
        "northeurope",
        "--resource-type",
        "virtualMachines",
        "--size",
        "Standard_D2s_v3",
    ]
    (sku,) = azure.az("vm", "list-skus", *question, "--all")
    assert sku["restrictions"][0]["restrictionInfo"]["zones"] == ["2"]
    assert {c["name"]: c["value"] for c in sku["capabilities"]}["MaxDataDiskCount"] == "4"
    disks = azure.az("vm", "list-skus", "--location", "westus", "--resource-type", "disks", "--all")
    assert {"Premium_LRS", "Premium_ZRS"} & {d["name"] for d in disks} == {"Premium_LRS"}


@pytest.mark.long
def test_providers_and_features_are_shown_and_registered(azure: Azure) -> None:
    azure.arm.providers["microsoft.compute"] = "NotRegistered"
    azure.arm.features["Microsoft.Compute/X"] = "NotRegistered"
    provider = azure.az("provider", "show", "--namespace", "Microsoft.Compute")
    assert provider["registrationState"] == "NotRegistered"
    azure.az("provider", "register", "--namespace", "Microsoft.Compute")
    assert azure.arm.providers["microsoft.compute"] == "Registered"
    feature = azure.az("feature", "show", "--namespace", "Microsoft.Compute", "--name", "X")
    assert feature["properties"]["state"] == "NotRegistered"


# --- machines and their disks -------------------------------------------------------------------------------

LOOK_AROUND = f"""
hostname; cloud-init status --wait; ls /mnt/*README*; ls {Path(__file__).parents[3]}; blkid {LUN0}
findmnt -n -o SOURCE /mnt; readlink -f /dev/disk/azure/resource-part1
mkfs.ext4 -q {LUN0} && mkdir /data && mount {LUN0} /data
fio --name=x --directory=/data --size=1m --rw=write --direct=1 --bs=4k --output-format=json >/data/fio.json
grep -c '"fio version"' /data/fio.json
blockdev --getss {LUN0}; lsblk -b -n -o SIZE /dev/disk/azure/resource
"""


@pytest.mark.long
def test_a_machine_with_everything(azure: Azure, tmp_path: Path) -> None:
    make_group(azure)
    make_disk(azure, "u", "UltraSSD_LRS", "1")
    ephemeral = ["--ephemeral-os-disk", "true", "--ephemeral-os-disk-placement", "ResourceDisk"]
    os_disk = ["--os-disk-caching", "ReadOnly", "--os-disk-size-gb", "40"]
    more = ["--ultra-ssd-enabled", "true", "--disk-controller-type", "SCSI", "--tags", "owner=me"]
    azure.az(*vm_create(tmp_path, "Standard_E8ds_v4", "1", *ephemeral, *os_disk, *more))
    azure.az("vm", "auto-shutdown", *GROUP, "--name", "vm", "--time", "2300")
    azure.az(*attach("vm", "u"))
    shown = azure.az("vm", "show", *GROUP, "--name", "vm")
    storage = shown["storageProfile"]
    assert storage["osDisk"]["diffDiskSettings"] == {"option": "Local", "placement": "ResourceDisk"}
    assert (storage["osDisk"]["caching"], storage["osDisk"]["diskSizeGB"]) == ("ReadOnly", 40)
    assert (storage["dataDisks"][0]["lun"], storage["dataDisks"][0]["caching"]) == (0, "None")
    assert (shown["zones"], shown["tags"], "customData" in shown["osProfile"]) == (
        ["1"],
        {"owner": "me"},
        False,
    )
    assert list(azure.arm.custom_data.values()) == [CLOUD_CONFIG.encode()]
    assert azure.arm.bodies("PUT", "/schedules/")[0]["properties"]["dailyRecurrence"] == {"time": "2300"}
    run_it = ["--command-id", "RunShellScript", "--scripts", LOOK_AROUND]
    output, error = told(azure.az("vm", "run-command", "invoke", *GROUP, "--name", "vm", *run_it))
    host, _, status, readme, mounted, temp, fio, sector, size = output.split()
    assert (host, status, readme) == ("vm", "done", "/mnt/DATALOSS_WARNING_README.txt")
    assert (mounted, fio, sector, size) == (temp, "1", "4096", str((300 - 40) * GIB))
    assert error == ""  # the folder of the checkout is there, and empty


@pytest.mark.long
def test_a_disk_moves_with_its_contents(ready: Azure) -> None:
    make_disk(ready, "z", "Premium_ZRS")
    make_disk(ready, "l", "Premium_LRS", "1")
    make_machine(ready, "other", "2")
    ready.az(*attach("vm", "z"))
    invoke(ready, "vm", f"mkfs.ext4 -q {LUN0}; mount {LUN0} /mnt; echo kept >/mnt/file; umount /mnt")
    assert "is already owned by VM" in ready.run(*attach("other", "z")).stderr
    ready.az("vm", "disk", "detach", *GROUP, "--vm-name", "vm", "--name", "z")
    assert "cannot access" in invoke(ready, "vm", f"ls {LUN0}")[1]
    ready.az(*attach("other", "z"))
    assert invoke(ready, "other", f"mount {LUN0} /mnt; cat /mnt/file") == ("kept\n", "")
    refusal = ready.run("vm", "disk", "attach", *GROUP, "--vm-name", "other", "--name", "l", "--lun", "1")
    assert (refusal.returncode, "(BadRequest)" in refusal.stderr) == (1, True)
    assert "it is not in the same zone as the VM. VM zone: '2'. Disk zone: '1'." in refusal.stderr


@pytest.mark.long
def test_a_machine_goes_with_all_that_is_its_own(ready: Azure) -> None:
    make_disk(ready, "d", "Premium_LRS", "1")
    ready.az(*attach("vm", "d"))
    invoke(ready, "vm", f"mkfs.ext4 -q {LUN0}; mount {LUN0} /srv; cd /srv; setsid {asleep(1)} &")
    wait_for(lambda: is_running(asleep(1)))
    assert ask(ready, "DELETE", f"{COMPUTE}/disks/d").body["error"]["code"] == "OperationNotAllowed"
    ready.az("vm", "delete", *GROUP, "--name", "vm", "--yes")
    assert ready.arm.below(f"{COMPUTE}/virtualMachines") == []
    (disk,) = ready.arm.below(f"{COMPUTE}/disks")
    assert (disk["name"], disk["properties"]["diskState"]) == ("d", "Unattached")
    assert not is_running(asleep(1))
    assert images_in_use(ready.arm.images) == set()


@pytest.mark.long
def test_a_stopped_machine_loses_its_temporary_disk(ready: Azure) -> None:
    invoke(ready, "vm", "echo a >/mnt/gone; echo b >/srv/kept")
    ready.az("vm", "deallocate", *GROUP, "--name", "vm")
    stopped = ask(ready, "POST", f"{COMPUTE}/virtualMachines/vm/runCommand", {})
    assert "when the VM is not running" in stopped.body["error"]["message"]
    ready.az("vm", "start", *GROUP, "--name", "vm")
    assert invoke(ready, "vm", "ls /mnt/gone /srv/kept")[0] == "/srv/kept\n"


# --- run-commands -------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_script_runs_on_behind_an_asynchronous_command(ready: Azure) -> None:
    go = ["--script", "while [ ! -e /tmp/go ]; do sleep 0.1; done; echo done", "--async-execution", "true"]
    ready.az(*command("create", "long", *go, "--timeout-in-seconds", "100"))
    assert ready.arm.bodies("PUT", "/runCommands/long$")[0]["properties"]["timeoutInSeconds"] == 100
    assert (
        ready.az(*command("show", "long", "--instance-view"))["instanceView"]["executionState"] == "Running"
    )
    ready.az(*command("create", "short", "--script", "touch /tmp/go; seq 2000; echo oh >&2; exit 7"))
    short = view(ready, "short")
    assert (short["executionState"], short["exitCode"], short["error"]) == ("Failed", 7, "oh\n")
    assert short["output"] == "".join(f"{n}\n" for n in range(1, 2001))[-4096:]
    wait_for(lambda: view(ready, "long")["executionState"] != "Running")
    long = view(ready, "long")
    assert (long["executionState"], long["exitCode"], long["output"]) == ("Succeeded", 0, "done\n")


@pytest.mark.long
def test_a_script_has_only_its_time_and_dies_with_its_command(ready: Azure) -> None:
    ready.az(*command("create", "late", "--script", "sleep 100", "--timeout-in-seconds", "1"))
    assert (view(ready, "late")["executionState"], view(ready, "late")["exitCode"]) == ("Failed", -1)
    body = {"properties": {"source": {"script": asleep(2)}, "asyncExecution": True}}
    ask(ready, "PUT", f"{COMPUTE}/virtualMachines/vm/runCommands/gone", body)
    wait_for(lambda: is_running(asleep(2)))
    ready.az(*command("delete", "gone", "--yes"))
    assert not is_running(asleep(2))


@pytest.mark.long
def test_a_lost_machine_answers_nothing(ready: Azure) -> None:
    body = {"properties": {"source": {"script": "sleep 100"}, "asyncExecution": True}}
    ask(ready, "PUT", f"{COMPUTE}/virtualMachines/vm/runCommands/x", body)
    (machine,) = ready.arm.machines.values()
    machine.stop()
    done = ready.run(*command("show", "x", "--instance-view"))
    assert (done.returncode, "VMAgentStatusCommunicationError" in done.stderr) == (1, True)


# --- faults -------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_refusal_strikes_when_it_is_due(azure: Azure) -> None:
    make_group(azure)
    fault = azure.faults.refuse("PUT", "/disks/", "QuotaExceeded", nth=2)
    assert make_disk(azure, "a", "Premium_LRS").status == 200
    done = azure.run("disk", "create", *GROUP, "--name", "b", "--sku", "Premium_LRS", "--size-gb", "8")
    assert (done.returncode, "(QuotaExceeded)" in done.stderr) == (1, True)
    assert make_disk(azure, "c", "Premium_LRS").status == 200
    assert (fault.seen, fault.hits) == (3, 1)


@pytest.mark.parametrize(("code", "status"), [("TooManyRequests", 429), ("InternalServerError", 500)])
@pytest.mark.long
def test_az_itself_tries_again(azure: Azure, code: str, status: int) -> None:
    make_group(azure)
    fault = azure.faults.refuse("PUT", "/disks/", code, status=status, command="disk create")
    azure.az("disk", "create", *GROUP, "--name", "a", "--sku", "Premium_LRS", "--size-gb", "8")
    assert fault.hits == 1
    assert [request.status for request in azure.arm.log if "/disks/" in request.path] == [status, 200]


@pytest.mark.long
def test_a_size_that_is_not_to_be_had(azure: Azure, tmp_path: Path) -> None:
    make_group(azure)
    restrict(azure.arm.sku("Standard_D2s_v3", "northeurope"), "2")
    done = azure.run(*vm_create(tmp_path, "Standard_D2s_v3", "2"))
    assert (done.returncode, "Code: SkuNotAvailable" in done.stderr) == (1, True)
    azure.faults.preflight("QuotaExceeded")
    done = azure.run(*vm_create(tmp_path, "Standard_D2s_v3", "1"))
    assert (done.returncode, "Code: QuotaExceeded" in done.stderr) == (1, True)
    assert azure.arm.below(f"{COMPUTE}/virtualMachines") == []


@pytest.mark.long
def test_a_machine_that_fails_after_it_was_accepted(azure: Azure, tmp_path: Path) -> None:
    make_group(azure)
    azure.faults.fail("PUT", "/virtualMachines/", "ZonalAllocationFailed")
    done = azure.run(*vm_create(tmp_path, "Standard_D2s_v3", "1"))
    assert done.returncode == 1
    outer = json.loads(done.stderr[done.stderr.index("{") :])["error"]
    assert outer["code"] == "DeploymentFailed"
    assert outer["details"][0]["details"][0]["code"] == "ZonalAllocationFailed"
    (failed,) = azure.arm.below(f"{COMPUTE}/virtualMachines")
    assert failed["properties"]["provisioningState"] == "Failed"
    assert ask(azure, "DELETE", failed["id"]).status == 200


@pytest.mark.long
def test_a_deletion_that_fails_once(azure: Azure) -> None:
    make_group(azure)
    azure.faults.refuse("DELETE", "/rg$", "Conflict")
    delete = ["group", "delete", "--name", "rg", "--yes"]
    assert "Conflict" in azure.run(*delete, "--no-wait").stderr
    azure.faults.fail("DELETE", "/rg$", "InternalServerError")
    assert "InternalServerError" in azure.run(*delete).stderr
    assert azure.arm.find(GROUP_ID)
    azure.az(*delete)
    assert azure.arm.resources == {}


@pytest.mark.long
def test_a_script_that_fails_while_az_is_content(ready: Azure) -> None:
    ready.faults.kill_script("/runCommands/fio$")
    ready.az(*command("create", "fio", "--script", "echo never"))
    seen = view(ready, "fio")
    assert (seen["executionState"], seen["exitCode"], seen["output"]) == ("Failed", 137, "")
    ready.faults.cut_output(2)
    assert [invoke(ready, "vm", "echo now")[0] for _ in range(2)] == ["w\n", "now\n"]


@pytest.mark.long
def test_every_operation_can_take_its_time(azure: Azure, tmp_path: Path) -> None:
    azure.arm.prompt = False
    make_group(azure)
    azure.az("disk", "create", *GROUP, "--name", "d", "--sku", "Premium_LRS", "--size-gb", "8", "--zone", "1")
    azure.az(*vm_create(tmp_path, "Standard_D2s_v3", "1"))
    azure.az(*attach("vm", "d"))
    run_it = ["--command-id", "RunShellScript", "--scripts", "echo hello"]
    assert told(azure.az("vm", "run-command", "invoke", *GROUP, "--name", "vm", *run_it)) == ("hello\n", "")
    azure.az(*command("create", "x", "--script", "exit 3"))
    assert view(azure, "x")["exitCode"] == 3
    asked = re.compile("/(operations|DiskOperations|operationStatuses)/", re.IGNORECASE)
    polled = [request.command for request in azure.arm.log if asked.search(request.path)]
    assert {*polled} == {
        *("disk create", "vm create", "vm disk attach"),
        *("vm run-command invoke", "vm run-command create"),
    }


# --- the emulated VM, without az ----------------------------------------------------------------------------


@pytest.fixture
def images(tmp_path: Path) -> Iterator[Path]:
    """A folder with an OS disk and a data disk; nothing may be left that uses them."""
    if available():
        pytest.skip(f"no VM can be emulated here: {available()}")
    make_os_disk(tmp_path / "os", GIB)
    make_image(tmp_path / "data", GIB)
    yield tmp_path
    assert images_in_use(tmp_path) == set()


def test_nvme_disks_have_their_own_links(images: Path) -> None:
    vm = Vm("vm", images, "os", Hardware(nvme_bytes=[GIB, 2 * GIB], controller="NVMe"), CLOUD_INIT_DONE)
    vm.attach(3, "data", 512)
    disks = "/dev/disk/azure/data/by-lun/3 /dev/disk/azure/local/by-index/1 /dev/disk/azure/local/by-index/2"
    vm.run("x", f"for disk in {disks}; do blockdev --getsize64 $disk; done", 60)
    wait_for(lambda: vm.status("x")["state"] != "Running")
    status = vm.status("x")
    vm.stop()
    assert status["output"].split() == [str(GIB), str(GIB), str(2 * GIB)]


def test_a_mounted_disk_is_not_taken_out(images: Path) -> None:
    vm = Vm("vm", images, "os", Hardware(), CLOUD_INIT_DONE)
    vm.attach(0, "data", 512)
    vm.run("x", f"mkfs.ext4 -q {LUN0}; mount {LUN0} /mnt", 60)
    wait_for(lambda: vm.status("x")["state"] != "Running")
    with pytest.raises(GuestError, match="still mounted at /mnt"):
        vm.detach(0, "data")
    vm.stop()


PROGRAM = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2] / "support")!r})
from pathlib import Path
from fake_azure.vm import CLOUD_INIT_DONE, Hardware, Vm
vm = Vm("vm", Path(sys.argv[1]), "os", Hardware(temp_bytes=2**30), CLOUD_INIT_DONE)
vm.attach(0, "data", 512)
vm.run("x", "mkfs.ext4 -q {LUN0}; mount {LUN0} /srv; setsid {asleep(3)} & {asleep(3)}", 60)
print(flush=True)
input()
"""


def test_nothing_outlives_a_killed_process(images: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(images)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        wait_for(lambda: is_running(f"^{asleep(3)}"))
        assert len(images_in_use(images)) == 3  # OS, temporary and data disk
        os.kill(process.pid, signal.SIGKILL)
    wait_for(lambda: not is_running(asleep(3)) and not images_in_use(images))


# --- azure-cli's parser -------------------------------------------------------------------------------------


@pytest.mark.long
def test_azure_clis_own_parser_judges_command_lines(az_path: Path) -> None:
    disk = ["disk", "create", *GROUP, "--name", "d"]
    account = ["storage", "account", "delete", *GROUP, "--yes"]
    good, abbreviated, bad_value, unknown, named, misnamed, no_command = refused(
        az_path,
        [
            [*disk, "--sku", "Premium_LRS", "--size-gb", "8"],
            [*disk, "--size", "8"],
            [*disk, "--sku", "Bogus_LRS"],
            [*disk, "--bogus", "1"],
            [*account, "--name", "a"],
            [*account, "--account-name", "a"],
            ["disk", "fly"],
        ],
    )
    assert good == ""
    assert abbreviated == "no full option names: --size"
    assert "'Bogus_LRS' is not a valid value for '--sku'" in bad_value
    assert "unrecognized arguments: --bogus" in unknown
    assert named == ""
    assert "unrecognized arguments: --account-name" in misnamed
    assert no_command == "'disk fly' is no az command"
