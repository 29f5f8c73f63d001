"""A VM that is there already: nothing is created, and nothing of its owner's is touched."""

import signal
import subprocess
import time
from pathlib import Path

import pytest
from fake_azure.campaigns import AZBENCH, refused, until
from fake_azure.identity import SUBSCRIPTION, TENANT
from fake_azure.login import Azure
from fake_azure.roles import documented
from fake_azure.standing import LOOK, LUN, VM, make_vm, run_there
from waiting import PATIENCE_S, wait_for

from azbenchlib import campaign
from azbenchlib.azure.az_errors import AzError
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.interrupts import SAME_S
from azbenchlib.campaign.targets.azure.existing import VM_ID_VARIABLE, found_disks
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

FILE = """
title: There already
region: westeurope
vm: Standard_D2s_v3
disks:
  os: {role: os}
  files: {sku: Premium_LRS, size: 64GiB, mount: /srv/bench}
  bare: {sku: Premium_LRS, size: 32GiB, raw: true}
workloads:
  first: {rw: randread, bs: 4k, size: 4m, runtime: 1}
"""


@pytest.fixture
def file(signed_in: Azure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A measurement file; and a VM with a disk that holds data and an empty one, which is measured on."""
    make_vm(signed_in)
    monkeypatch.setenv(VM_ID_VARIABLE, VM)
    path = tmp_path / "there.yaml"
    path.write_text(FILE)
    return path


def test_what_is_there_is_measured_and_left_as_it_was(signed_in: Azure, file: Path) -> None:
    file.write_text(
        FILE.replace("  bare: {sku: Premium_LRS, size: 32GiB, raw: true}\n", "").replace(
            "  os: {role: os}\n", ""
        )
    )
    before, resources = run_there(signed_in, LOOK), set(signed_in.arm.resources)
    signed_in.arm.actions = documented()[2]
    folder = campaign.run(campaign.load(file), file.with_name("out"), target="azure")
    assert run_there(signed_in, LOOK) == before
    assert set(signed_in.arm.resources) == resources
    found = Dataset.load(folder)
    assert set(found.runs["disks"]) == {"files"}
    assert (found.results["iops"] > 0).all()
    made = {one.path for one in signed_in.arm.log if one.method == "PUT" and one.command.startswith("vm")}
    assert made and all("/runCommands/azbench-" in path for path in made)
    told = "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())
    assert SUBSCRIPTION not in told


@pytest.mark.long
def test_results_come_through_a_storage_account_where_a_group_may_be_made_for_it(
    signed_in: Azure, file: Path
) -> None:
    """A run that was killed leaves its group and its scripts, which the next one deletes."""
    file.write_text(FILE.replace("  bare: {sku: Premium_LRS, size: 32GiB, raw: true}\n", ""))
    before, resources = run_there(signed_in, LOOK), set(signed_in.arm.resources)
    command = [str(AZBENCH), "run", str(file), "--target", "azure", "-o", str(file.with_name("out"))]
    process = subprocess.Popen(
        [*command, "--vm-id", VM, "--results-group"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until(process, "storage for the results")
    process.kill()
    process.communicate()
    assert any("azbench" in one.get("tags", {}).values() for one in signed_in.arm.resources.values())
    # At once: the kernel of the killed run may live, which is waited for.
    folder = campaign.run(campaign.load(file), file.with_name("out"), target="azure", results_group=True)
    assert run_there(signed_in, LOOK) == before
    assert set(signed_in.arm.resources) == resources
    assert set(Dataset.load(folder).runs["disks"]) == {"files", "os"}
    log = (folder / "az.log.jsonl").read_text()
    assert '"invoke"' not in log and '"blob", "download"' in log
    told = "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())
    assert not [secret for secret in (SUBSCRIPTION, TENANT, "sig=") if secret in told]


@pytest.mark.long
def test_a_bare_disk_is_driven_where_it_is_empty_and_refused_where_it_is_not(
    signed_in: Azure, file: Path
) -> None:
    file.write_text(FILE.replace("  files: ", "  #"))
    run_there(signed_in, f"echo precious | dd of={LUN}1 conv=notrunc bs=1M seek=0")
    before = run_there(signed_in, LOOK)
    said = refused(file)
    words = said.partition("permit it with the words '")[2].partition("'")[0]
    assert "wipefs does not know, at byte 0, and measuring would overwrite it" in said
    assert words.startswith("overwrite /dev/")
    assert run_there(signed_in, LOOK) == before
    folder = campaign.run(campaign.load(file), file.with_name("out"), target="azure", allow_unsafe=words)
    found = Dataset.load(folder)
    assert set(found.runs["disks"]) == {"bare", "os"}
    assert found.tables["disks"].set_index("disk")["lun"].dropna().to_dict() == {"bare": 1}
    assert run_there(signed_in, "ls /var/lib/azbench /azbench 2>&1; true").count("No such file") == 2


@pytest.mark.long
def test_a_second_interrupt_ends_what_runs_there_and_removes_the_folder(signed_in: Azure, file: Path) -> None:
    file.write_text(FILE.replace("runtime: 1", "runtime: 300"))
    before = run_there(signed_in, LOOK)
    command = [str(AZBENCH), "run", str(file), "--target", "azure", "-o", str(file.with_name("out"))]
    process = subprocess.Popen(
        [*command, "--vm-id", VM], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    until(process, "randread")
    wait_for(lambda: "fio" in run_there(signed_in, "pgrep -a fio"), lambda: process.poll() is None)
    process.send_signal(signal.SIGINT)
    until(process, "Ctrl-C once more ends it at once")
    time.sleep(2 * SAME_S)  # signals that are closer together count as one
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, text
    assert "Nothing is left on the VM" in text
    assert run_there(signed_in, LOOK) == before
    assert "fio" not in run_there(signed_in, "pgrep -a fio")


def test_what_is_no_vm_and_what_the_file_says_otherwise_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "there.yaml"
    path.write_text(FILE)
    asked = measurement_file.load(path)
    disk = {"name": "x", "caching": "None", "managedDisk": {"storageAccountType": "Premium_LRS"}}
    shown = {
        "location": "westeurope",
        "hardwareProfile": {"vmSize": "standard_d2s_v3"},
        "storageProfile": {
            "dataDisks": [
                {**disk, "lun": 3, "diskSizeGb": 32},
                {**disk, "lun": 1, "diskSizeGb": 32, "name": "Bare"},
                {**disk, "lun": 7, "diskSizeGb": 64, "managedDisk": None},
            ]
        },
    }
    assert found_disks(asked, shown) == {"files": 7, "bare": 1}
    with pytest.raises(InputError, match=r"vm: the file says Standard_D2s_v3, and the VM is Standard_D4s_v3"):
        found_disks(asked, {**shown, "hardwareProfile": {"vmSize": "Standard_D4s_v3"}})
    with pytest.raises(InputError, match="region: the file says westeurope, and the VM is eastus"):
        found_disks(asked, {**shown, "location": "eastus"})
    with pytest.raises(
        InputError, match=r"disk 'files': the VM has no Premium_LRS of 64 GiB .* no data disk"
    ):
        found_disks(asked, {**shown, "storageProfile": {"dataDisks": []}})
    for hostile in (None, [], {}, {"location": 1}, {**shown, "storageProfile": 7}):
        with pytest.raises(AzError, match="describes no VM"):
            found_disks(asked, hostile)


@pytest.mark.parametrize(
    ("change", "vm_id", "said"),
    [
        (("", ""), "production", "--vm-id 'production': must be a resource id"),
        (("raw: true", "raw: true, count: 2"), VM, "disk 'bare': no stripe is made on a VM that is not ours"),
        (
            ("title", "setups: [{name: a}, {name: b}]\ntitle"),
            VM,
            "an existing VM is one setup, and the file has 2",
        ),
    ],
)
def test_what_an_existing_vm_cannot_be_asked_for_is_told_before_azure_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[str, str], vm_id: str, said: str
) -> None:
    path = tmp_path / "there.yaml"
    path.write_text(FILE.replace(*change) if change[0] else FILE)
    monkeypatch.setenv("AZBENCH_AZ", "no-such-az")
    monkeypatch.setenv(VM_ID_VARIABLE, vm_id)
    with pytest.raises(InputError) as caught:
        campaign.run(campaign.load(path), tmp_path / "out", target="azure")
    assert said in str(caught.value)
    with pytest.raises(InputError, match="max_cost is for VMs that azbench creates"):
        campaign.run(campaign.load(path), tmp_path / "out", target="azure", max_cost=1)
