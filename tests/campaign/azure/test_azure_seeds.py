"""The shipped experiments, shortened, through the real az, real fio and the fake Azure: nothing is left."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from fake_azure.campaigns import azbench, shortened
from fake_azure.identity import PRINCIPAL, SUBSCRIPTION, TENANT
from fake_azure.login import Azure
from fake_azure.vm import available

from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.fio]

OWNER = "jane-roe"
# What is left of each file: every VM, every disk and every step, one workload or two, or one matrix.
KEPT = {
    "local-disks": ("async", "async-os", "async-nvme"),
    "l-series-ssd": ("four-k",),
    "zone-redundant-disks": ("async-write",),
    "ultra-disk": (),
    "host-cache": ("four-k",),
    "premium-ssd": ("read-qd1",),
}


@dataclass(frozen=True)
class Ran:
    """All of them after they ran: the fake Azure, and the folder of their datasets."""

    azure: Azure
    folder: Path

    def dataset(self, name: str) -> Dataset:
        return Dataset.load(self.folder / "out" / name)

    def bodies(self, name: str, method: str, path: str) -> list[dict]:
        """Request bodies of one file's run."""
        group = json.loads((self.folder / "out" / name / "az.log.jsonl").read_text().splitlines()[-1])
        mine = group["command"][group["command"].index("--name") + 1]
        return self.azure.arm.bodies(method, f"/{mine}/.*{path}")


@pytest.fixture(scope="module")
def ran(_azure: Azure, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """Every shipped file, run side by side: an empty subscription before, an empty one after."""
    if reason := available():
        pytest.skip(f"no VM can be emulated here: {reason}")
    folder = tmp_path_factory.mktemp("campaigns")
    _azure.arm.reset()
    environment = {**_azure.environment, "LOGNAME": OWNER}

    def run(name: str) -> None:
        file = shortened(name, folder, KEPT[name])
        output = folder / "out" / name
        done = azbench("run", file, "--target", "azure", "-o", output, environment=environment, folder=folder)
        assert done.returncode == 0, f"{name}\n{done.stdout}\n{done.stderr}"

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(run, KEPT))
    assert not _azure.arm.resources
    yield Ran(_azure, folder)


# Its setups are those of local-disks and ultra-disk; tests/test_lab_campaign.py runs the like in the lab.
EMULATED = "emulated-disks"


def test_every_shipped_file_is_run():
    files = {path.stem for path in (Path(__file__).parents[3] / "campaigns").glob("*.yaml")}
    assert files - {EMULATED} == set(KEPT)


def test_the_disks_are_what_the_file_asked_for(ran):
    made = {body["sku"]["name"]: body for body in ran.bodies("zone-redundant-disks", "PUT", "/disks/")}
    assert set(made) == {"Premium_ZRS", "Premium_LRS"}
    assert all(body["properties"]["diskSizeGB"] == 1024 for body in made.values())
    assert made["Premium_LRS"]["zones"] == ["1"]
    assert not made["Premium_ZRS"].get("zones")


def test_the_ultra_disk_is_bought_in_three_steps(ran):
    create = ran.bodies("ultra-disk", "PUT", "/disks/")
    update = ran.bodies("ultra-disk", "PATCH", "/disks/")
    bought = [
        (body["properties"]["diskIOPSReadWrite"], body["properties"]["diskMBpsReadWrite"])
        for body in (*create, *update)
    ]
    assert bought == [(10_000, 50), (10_000, 100), (32_000, 2_000)]
    assert create[0]["sku"]["name"] == "UltraSSD_LRS"
    assert create[0]["zones"] == ["1"]


def test_host_caching_is_what_the_file_asked_for(ran):
    last = ran.bodies("host-cache", "PUT", r"/virtualMachines/[^/]+$")[-1]
    attached = last["properties"]["storageProfile"]["dataDisks"]
    found = {disk["managedDisk"]["id"].rpartition("/")[2]: disk["caching"] for disk in attached}
    assert found == {"none": "None", "read-only": "ReadOnly", "read-write": "ReadWrite"}


def test_os_disks_are_what_the_file_asked_for(ran):
    machines = [_machine(body) for body in ran.bodies("local-disks", "PUT", "/deployments/")]
    os_disks = [machine["storageProfile"]["osDisk"] for machine in machines]
    assert [machine["hardwareProfile"]["vmSize"] for machine in machines] == [
        "Standard_E8as_v4",
        "Standard_E8ds_v4",
        "Standard_E8ds_v4",
        "Standard_E8ds_v4",
        "Standard_L8s_v3",
    ]
    assert [disk.get("caching") for disk in os_disks[1:4]] == ["ReadWrite", "None", "ReadOnly"]
    assert os_disks[3]["diffDiskSettings"] == {"option": "Local", "placement": "CacheDisk"}
    assert all(disk["deleteOption"] == "Delete" for disk in os_disks)


def test_all_local_disks_of_a_vm_are_driven(ran):
    """The question is whether performance follows the cores, and the larger size has a second disk."""
    disks = ran.dataset("l-series-ssd").disks.set_index("setup_id")
    assert dict(disks["count"]) == {"l8s": 1, "l16s": 2}


def test_vms_have_no_address_and_nobodys_key(ran):
    for name in KEPT:
        assert not ran.bodies(name, "PUT", "/publicIPAddresses/")
        for body in ran.bodies(name, "PUT", "/deployments/"):
            keys = _machine(body)["osProfile"]["linuxConfiguration"]["ssh"]["publicKeys"]
            assert [key["keyData"].split()[-1] for key in keys] == ["nobody@azbench"]


def test_groups_tell_owner_and_expiry(ran):
    groups = ran.azure.arm.bodies("PUT", r"resourcegroups/[^/]+$")
    assert len(groups) == len(KEPT)
    for body in groups:
        assert body["tags"]["tool"] == "azbench"
        assert body["tags"]["owner"] == OWNER
        assert set(body["tags"]) == {"tool", "owner", "campaign", "expires", "lease", "holder"}
        assert pd.Timestamp(body["tags"]["expires"]) > pd.Timestamp.now("UTC")


def test_every_vm_stops_by_itself(ran):
    for name in KEPT:
        machines = ran.bodies(name, "PUT", "/deployments/")
        assert len(ran.bodies(name, "PUT", "/schedules/")) == len(machines)


def test_the_refusal_of_the_locally_redundant_disk_is_a_result(ran):
    found = ran.dataset("zone-redundant-disks")
    (note,) = [note for note in found.manifest.notes if "refused" in note]
    assert "zone-2" in note
    assert "refused to attach lrs, as expected" in note
    assert "not in the same zone" in note
    assert set(found.runs["setup_id"]) == {"zone-1-zrs", "zone-1-lrs", "zone-2-zrs", "zone-3-zrs"}


def test_the_moved_disk_keeps_its_data(ran):
    log = (ran.folder / "out" / "zone-redundant-disks" / "az.log.jsonl").read_text()
    assert log.count('"disk", "create"') == 2
    scripts = [
        body["properties"]["source"]["script"]
        for body in ran.bodies("zone-redundant-disks", "PUT", "/runCommands/")
    ]
    assert sum("lay_out /zrsdisk/" in script for script in scripts) == 3  # asked for in every zone …
    raw = ran.folder / "out" / "zone-redundant-disks" / "raw"
    assert not list(raw.rglob("layout*"))  # … and its output is not a measurement


def test_every_setup_has_results_with_its_disk(ran):
    for name in KEPT:
        found = ran.dataset(name)
        runs = found.runs.merge(found.setups, on="setup_id", suffixes=("", "_setup"))
        measured = runs[runs["run_id"].isin(found.results["run_id"])]
        assert set(measured["setup_id"]) == set(found.setups["setup_id"])
        assert (measured["environment"] == "azure").all()
        disks = found.disks.set_index("setup_id")["disk"]
        assert (measured["disks"] == measured["setup_id"].map(disks)).all()
        assert (found.results["iops"] > 0).all()


def test_the_manifest_tells_commands_and_versions(ran):
    found = ran.dataset("ultra-disk").manifest
    assert found.tools["fio"].startswith("fio-3")
    assert found.tools["az"] == "2.91.0"
    texts = [command.text for command in found.commands]
    assert any(text.startswith("az disk update") and "--disk-mbps-read-write 100" in text for text in texts)
    assert any(text.startswith("fio --name=mixed-8k") and "--rwmixread=50" in text for text in texts)
    assert {disk.provisioned_iops for setup in found.setups for disk in setup.disks} == {10_000, 32_000}


def test_nothing_secret_and_nobodys_name_is_in_a_dataset(ran):
    for path in (ran.folder / "out").rglob("*"):
        if path.is_file():
            text = path.read_bytes()
            for secret in (SUBSCRIPTION, TENANT, PRINCIPAL, OWNER):
                assert secret.encode() not in text, (path, secret)


def test_a_report_is_made_of_all_of_them(ran):
    folders = [ran.folder / "out" / name for name in KEPT]
    done = azbench(
        "report", *folders, "-o", ran.folder / "report", environment=ran.azure.environment, folder=ran.folder
    )
    assert done.returncode == 0, done.stderr
    page = (ran.folder / "report" / "report.html").read_text().replace("\xa0", " ")
    assert (ran.folder / "report" / "report.pdf").stat().st_size > 10_000
    assert "10,000 IOPS, 50 MB/s" in page
    assert "refused to attach lrs" in page
    assert "az vm create" in page


def _machine(body: dict) -> dict:
    resources = body["properties"]["template"]["resources"]
    return next(r for r in resources if r["type"] == "Microsoft.Compute/virtualMachines")["properties"]
