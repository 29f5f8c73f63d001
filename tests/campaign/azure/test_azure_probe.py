"""A probe of a disk of a VM that is there already: what it is told, and nothing of its owner's is touched."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fake_azure.campaigns import AZBENCH, until
from fake_azure.identity import SUBSCRIPTION, TENANT
from fake_azure.login import Azure
from fake_azure.roles import documented
from fake_azure.standing import GROUP, LOOK, VM, attach, make_vm, run_there
from waiting import PATIENCE_S

from azbenchlib.azure.az_errors import AzError
from azbenchlib.azure.documents import AzDisk
from azbenchlib.campaign import probing
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.probe_runs import workload
from azbenchlib.campaign.targets.azure.manifest import ExistingPlan
from azbenchlib.campaign.targets.azure.probed_vm import NOT_SHOWN, chosen_disk, experiment_of
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.core.units import GIB, MIB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.probing.runs import candidates
from azbenchlib.probing.session import Probe
from azbenchlib.probing.stages import Stages
from azbenchlib.probing.to_json import document
from azbenchlib.report.build import ReportFormat, build

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]


@pytest.fixture
def there(signed_in: Azure) -> Azure:
    """A VM with a disk of 64 GiB, mounted and with data on it, and an empty one of 32 GiB."""
    make_vm(signed_in)
    signed_in.arm.actions = documented()[2]
    return signed_in


def asked(disk: str, **how: Any) -> probing.ProbeRequest:
    return probing.ProbeRequest(
        target="azure", disk=disk, **{"vm_id": VM, "seconds": 1.0, "size_bytes": 8 * MIB, **how}
    )


def few_runs(runs: int = 3) -> Probe:
    return Probe(runs=candidates(1.0), most_runs=runs, chains=100)  # how right it is: in tests/probing


def refused(disk: str, folder: Path, **how: Any) -> str:
    with pytest.raises(AzbenchError) as caught:
        probing.probe(asked(disk, **how), folder, few_runs())
    return str(caught.value)


@pytest.mark.long
def test_a_disk_is_probed_reported_and_left_as_it_was(there: Azure, tmp_path: Path) -> None:
    before, resources, folder = run_there(there, LOOK), set(there.arm.resources), tmp_path / "out"
    disk = there.arm.get(f"{GROUP}/providers/Microsoft.Compute/disks/data_disk")
    disk["properties"] |= {"tier": "P10", "diskIOPSReadWrite": 500, "diskMBpsReadWrite": 100}
    session, told = few_runs(), []
    found = probing.probe(asked("Data_Disk"), folder, session, lambda done, total, text: told.append(text))
    assert run_there(there, LOOK) == before and set(there.arm.resources) == resources
    assert any("about two minutes more in Azure" in text for text in told)

    (row,) = Dataset.load(folder).tables["disks"].to_dict("records")
    assert (row["disk"], row["lun"], row["sku"], row["tier"]) == ("data-0", 0, "Premium_LRS", "P10")
    assert row["size_bytes"] == probing.disk_bytes("azure", folder) == 64 * GIB
    assert len(session.shown) == 3 and found["read_p50_us_4k"].high < float("inf")
    probing.keep(folder, document(session, found, [], Stages()))
    page = build([str(folder)], tmp_path / "report", format_=ReportFormat.html).html.read_text()
    assert "Reads, IOPS cap" in page and "data-0" in page

    files = [path for path in folder.rglob("*") if path.is_file()]
    text = page + "".join(path.read_text(errors="replace") for path in files)
    assert not [secret for secret in (SUBSCRIPTION, TENANT, "data_disk") if secret in text]

    again = few_runs()  # it is finished: nothing is measured, and the same is known
    assert probing.probe(asked("lun0"), folder, again) == found


def test_what_cannot_be_probed_is_told_and_nothing_is_run_on_the_vm(there: Azure, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = refused("", out)
    assert "--disk is needed, for the VM has 2 data disks; the choices are: os (" in said
    assert "lun0 (data_disk: Premium_LRS, 64 GiB, None), lun1 (other_disk: " in said
    assert "--disk 'lun7': is no disk of the VM; the choices are: " in refused("lun7", out)
    assert "must be a resource id" in refused("lun0", out, vm_id="production")
    assert "ResourceNotFound" in refused("lun0", out, vm_id=VM + "2")
    assert not out.exists()
    there.arm.actions |= {"Microsoft.Compute/virtualMachines/deallocate/action"}
    there.az("vm", "deallocate", "--ids", VM)
    assert "the VM production does not run; start it" in refused("lun0", out)
    assert not there.arm.below(f"{VM}/runCommands")


@pytest.mark.long
def test_a_bare_disk_is_probed_where_that_is_said_and_it_is_empty(there: Azure, tmp_path: Path) -> None:
    """It has a twin at another LUN; and there is no right to ask for the disk, which a dataset notes."""
    there.arm.actions = documented()[0]
    attach(there, 2, "twin", 4)
    there.arm.actions = documented()[2] - {"Microsoft.Compute/disks/read"}
    before, out = run_there(there, LOOK), tmp_path / "out"
    said = refused("twin", out)
    assert "has no file system that is mounted; mount it, or, where it is empty, have it driven bare" in said
    assert "is mounted at /data" in refused("lun0", tmp_path / "theirs", raw=True)
    assert run_there(there, LOOK) == before
    probing.probe(asked("lun2", raw=True), tmp_path / "bare", few_runs(1))
    found = Dataset.load(tmp_path / "bare")
    (row,) = found.tables["disks"].to_dict("records")
    assert (row["disk"], row["lun"]) == ("data-2", 2) and NOT_SHOWN in found.manifest.notes
    assert run_there(there, LOOK) == before


@pytest.mark.long
def test_a_probe_that_was_killed_goes_on_and_leaves_nothing(there: Azure, tmp_path: Path) -> None:
    before, resources, folder = run_there(there, LOOK), set(there.arm.resources), tmp_path / "out"
    words = [AZBENCH, "probe", "azure", "--vm-id", VM, "--disk", "lun0", "--runs", "3", "--seconds", "1"]
    words += ["--size", "8MiB", "--jobs", "-o", str(folder)]
    victim = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    until(victim, "IOPS")
    until(victim, "next:")
    until(victim, "QD")
    victim.kill()
    victim.communicate()
    kept = list(Journal(folder).kept())
    assert len(kept) == 1 and set(there.arm.resources) != resources
    done = subprocess.run([*words, "--format", "json"], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    events = [one["run"] for one in Journal(folder).events() if one["event"] == JournalEvent.KEPT]
    assert events[:1] == kept and len(set(events)) == len(events)
    told = json.loads(done.stdout)
    assert [run["run"] for run in told["runs"]] == [Path(run).name for run in events[: len(told["runs"])]]
    assert told["jobs"]["times_the_iops_of_one_job"]["own-files"]["low"] > 0
    assert run_there(there, LOOK) == before and set(there.arm.resources) == resources


@pytest.mark.long
def test_results_of_a_probe_come_through_a_storage_account(there: Azure, tmp_path: Path) -> None:
    there.arm.actions = documented()[0]
    before, resources = run_there(there, LOOK), set(there.arm.resources)
    probing.probe(asked("lun0", results_group=True), tmp_path / "out", few_runs(1))
    assert run_there(there, LOOK) == before and set(there.arm.resources) == resources
    assert '"invoke"' not in (tmp_path / "out" / "az.log.jsonl").read_text()


MANAGED = {"storageAccountType": "Premium_LRS", "id": "/subscriptions/s/resourceGroups/g/providers/x/disks/d"}
SHOWN = {
    "location": "WestEurope",
    "zones": ["2"],
    "hardwareProfile": {"vmSize": "Standard_D4ds_v5"},
    "storageProfile": {
        "osDisk": {"name": "Root", "diskSizeGb": 30, "caching": "ReadWrite", "managedDisk": MANAGED},
        "dataDisks": [
            {"lun": 4, "name": "Fast", "diskSizeGb": 1024, "caching": "ReadOnly", "managedDisk": MANAGED},
        ],
    },
}


def found(shown: Any, disk: str, told: Any = None, raw: bool = False) -> dict[str, Any]:
    """What a plan says of a disk: what is more than nothing."""
    works = [workload(run, 8 * MIB) for run in candidates(1.0)]
    experiment = experiment_of(
        shown, told and AzDisk.parse(told, "disk"), chosen_disk(shown, disk), works, raw
    )
    ((name, spec),) = experiment.setups[0].disks.items()
    assert experiment.region == "westeurope" and experiment.setups[0].zone == "2"
    return {"name": name, **spec.model_dump(exclude_defaults=True)}


def changed(disk: dict[str, Any]) -> dict[str, Any]:
    entry = {**SHOWN["storageProfile"]["dataDisks"][0], **disk}
    return {**SHOWN, "storageProfile": {**SHOWN["storageProfile"], "dataDisks": [entry]}}


def test_the_setup_is_what_azure_tells_of_the_vm_and_its_disk() -> None:
    fast = {"sku": "Premium_LRS", "size": 1024 * GIB, "caching": "ReadOnly"}
    assert found(SHOWN, "") == {"name": "data-4", **fast}
    told = {"name": "FAST", "sku": {"name": "Premium_LRS"}, "diskSizeGb": 1024, "tier": "P50"}
    told |= {"diskIopsReadWrite": 7500, "diskMBpsReadWrite": 250, "burstingEnabled": True}
    assert found(SHOWN, "fast", told) == {"name": "data-4", **fast, "tier": "P50", "bursting": True}
    plus = {**told, "tier": "P30", "burstingEnabled": None, "creationData": {"performancePlus": True}}
    assert found(SHOWN, "lun4", plus)["performance_plus"] is True

    ultra = changed({"caching": None, "managedDisk": {**MANAGED, "storageAccountType": "UltraSSD_LRS"}})
    told = {"sku": {"name": "UltraSSD_LRS"}, "diskSizeGb": 1024, "creationData": {"logicalSectorSize": 512}}
    told |= {"diskIopsReadWrite": 9000, "diskMBpsReadWrite": 300}
    bought = {"iops": 9000, "mbps": 300, "sector": 512, "sku": "UltraSSD_LRS", "size": 1024 * GIB}
    assert found(ultra, "", told, raw=True) == {"name": "data-4", "raw": True, **bought}

    assert found(changed({"writeAcceleratorEnabled": True}), "")["write_accelerator"] is True
    system = {"role": "os", "sku": "Premium_LRS", "size": 30 * GIB, "caching": "ReadWrite"}
    assert found(SHOWN, "os") == {"name": "os", **system}
    assert found(SHOWN, "temp") == {"name": "temp", "role": "temp"}
    ephemeral = {"name": "x", "diffDiskSettings": {"option": "Local"}, "managedDisk": MANAGED}
    local = {**SHOWN, "storageProfile": {"osDisk": ephemeral, "dataDisks": None}}
    assert found(local, "OS") == {"name": "os", "role": "ephemeral_os"}
    assert chosen_disk(local, "os").disk_id == "" and chosen_disk(SHOWN, "os").disk_id


def test_what_azure_tells_of_no_use_is_refused() -> None:
    with pytest.raises(InputError, match=r"--disk 'lun4': what Azure tells of it cannot be probed: .* sku"):
        found(changed({"managedDisk": None}), "")
    with pytest.raises(InputError, match="cannot be driven raw"):
        found(SHOWN, "os", raw=True)
    with pytest.raises(InputError, match="the VM has no data disks; the choices are: os"):
        found({**SHOWN, "storageProfile": {"dataDisks": []}}, "")
    for hostile in (None, [], {}, {**SHOWN, "storageProfile": 7}):
        with pytest.raises(AzError, match="describes no VM"):
            chosen_disk(hostile, "lun0")


def test_a_probe_is_taken_up_only_with_the_same_runs_to_choose_from() -> None:
    def plan(*, seconds: float = 1.0, cache: bool = False, probed: bool = True) -> ExistingPlan:
        stages = Stages.asked(seconds=seconds, size_bytes=64 * MIB, cache=cache)
        runs = [*candidates(seconds), *(run for stage in stages.all_ for run in stage.runs())]
        works = [workload(run, 64 * MIB) for run in runs]
        experiment = experiment_of(SHOWN, None, chosen_disk(SHOWN, ""), works, raw=False)
        return ExistingPlan(experiment=experiment, started="2026-11-25", vm="vm", probed=probed)

    assert plan().same_as(plan())
    assert not plan(cache=True).same_as(plan()) and not plan(seconds=2.0).same_as(plan())
    assert not plan().same_as(plan(probed=False)) and not plan(probed=False).same_as(plan())
