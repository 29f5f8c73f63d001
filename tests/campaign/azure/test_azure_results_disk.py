"""Results where storage accounts are forbidden: a disk brings them, read through an address of Azure's."""

import json
import signal
import time
from pathlib import Path

import pytest
from fake_azure.campaigns import SMALL, measured, measured_and_told, on_this_machine, started
from fake_azure.identity import PRINCIPAL, SUBSCRIPTION, TENANT
from fake_azure.login import Azure
from fake_azure.roles import documented
from loop_devices import loop_device
from process_list import words_seen
from waiting import PATIENCE_S, wait_for

from azbenchlib import campaign
from azbenchlib.campaign.planning import plan_text
from azbenchlib.campaign.targets.azure import guest
from azbenchlib.campaign.targets.azure.commands import RUN
from azbenchlib.campaign.targets.azure.container import RESULTS_DISK_NAME as NAME
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

JOBS = {"first", "w0", "w1"}
MORE = "".join(f"  w{n}: {{rw: randread, bs: {4 << n}k, size: 4m, runtime: 1}}\n" for n in range(2))
GRANTING = "Microsoft.Compute/disks/beginGetAccess/action"


@pytest.fixture
def three(signed_in: Azure, small: Path) -> Path:
    """A file of three workloads, in a subscription whose policy forbids storage accounts."""
    signed_in.faults.refuse("PUT", "/storageAccounts/", "RequestDisallowedByPolicy", status=403, times=99)
    small.write_text(SMALL + MORE)
    return small


def commands(folder: Path) -> list[str]:
    """The commands of az that a run took, without their options."""
    told = [json.loads(line)["command"] for line in (folder / "az.log.jsonl").read_text().splitlines()]
    return [" ".join(words).partition(" --")[0].removeprefix("az ") for words in told]


def measured_at(folder: Path) -> list[int]:
    """When each workload began, by fio's own clock."""
    return [json.loads(path.read_text())["timestamp"] for path in folder.glob("raw/*/*/*.json")]


def deleted(azure: Azure) -> list[str]:
    """The disks that were deleted, each by its name."""
    gone = [one for one in azure.arm.log if one.method == "DELETE" and "/disks/" in one.path]
    return [one.path.rpartition("/")[2] for one in gone if one.status < 300]


@pytest.mark.long
def test_a_disk_brings_the_results_of_one_script_and_nothing_secret_is_seen(signed_in, three):
    with words_seen() as seen:
        folder, told = measured_and_told(three)
    assert set(Dataset.load(folder).runs["job"]) == JOBS
    assert not (folder / "failed").exists()
    assert any("so they come by a disk when a script has ended" in text for text in told)
    took = commands(folder)
    for verb, times in {
        "vm run-command create": 4,  # guard, disk, workloads, and what they left onto the disk
        "vm run-command invoke": 0,
        "disk grant-access": 1,
        "storage blob download": 2,
    }.items():
        assert took.count(verb) == times, verb
    (made,) = [one for one in signed_in.arm.bodies("PUT", f"/disks/{NAME}$") if one]
    assert (made["zones"], made["sku"]["name"]) == (["1"], "StandardSSD_LRS")
    assert made["properties"]["diskSizeGB"] == 4
    assert deleted(signed_in)[-1] == NAME
    assert not signed_in.arm.resources and not signed_in.arm.readable
    written = "".join(path.read_text(errors="replace") for path in three.parent.rglob("*") if path.is_file())
    assert any("--blob-url" in line for line in seen)
    for secret in ("sig=", SUBSCRIPTION, TENANT, PRINCIPAL):
        assert secret not in written, secret
    assert not [line for line in seen if "sig=" in line]


@pytest.mark.long
def test_where_disks_may_not_be_read_the_results_come_in_pieces(signed_in, three):
    """More of them than the script tells of at its end."""
    signed_in.arm.actions -= {GRANTING}
    many = "".join(f"  n{n}: {{rw: randread, bs: 4k, size: 4m, runtime: 1}}\n" for n in range(12))
    three.write_text(SMALL + MORE + many)
    folder, told = measured_and_told(three)
    assert set(Dataset.load(folder).runs["job"]) == JOBS | {f"n{n}" for n in range(12)}
    (why,) = [text for text in told if text.startswith("no disk for the results, so they come in pieces")]
    assert "AuthorizationFailed" in why
    took = commands(folder)
    assert took.count("vm run-command invoke") > 15
    assert took.count("vm run-command create") == 4
    assert took.count("disk grant-access") == 1
    assert NAME in deleted(signed_in)
    assert not signed_in.arm.resources


@pytest.mark.long
def test_what_arrives_damaged_comes_in_pieces(signed_in, three, monkeypatch):
    whole = guest.hand_over

    def damaged(lun: int, places: list[str]) -> str:
        return f'{whole(lun, places)}printf x | dd of="$(by_lun {lun})" bs=1 seek=9000 conv=notrunc,fsync\n'

    monkeypatch.setattr(guest, "hand_over", damaged)
    folder, told = measured_and_told(three)
    assert any("what is on the disk is not what the VM wrote" in text for text in told)
    assert set(Dataset.load(folder).runs["job"]) == JOBS
    assert commands(folder).count("vm run-command invoke") >= 3
    assert not signed_in.arm.resources


@pytest.mark.long
def test_a_run_that_is_killed_before_the_download_is_taken_up_and_measures_nothing_twice(signed_in, three):
    """Its address was given meanwhile: the disk that is left can be neither attached nor deleted as it is."""
    arm = signed_in.arm
    held = signed_in.faults.hold("POST", "/beginGetAccess$", "")
    with started(three) as process:
        wait_for(lambda: held.hits, lambda: process.poll() is None)
        process.kill()
    killed = time.time()
    arm.let_go.set()
    wait_for(lambda: arm.readable)
    folder = measured(three)
    assert set(Dataset.load(folder).runs["job"]) == JOBS
    assert len(times := measured_at(folder)) == 3 and max(times) <= killed
    assert len(arm.bodies("PUT", "/deployments/")) == 1
    assert deleted(signed_in).count(NAME) >= 2
    assert commands(folder).count("vm run-command invoke") == 0
    assert not arm.resources and not arm.readable


@pytest.mark.long
def test_a_run_that_is_killed_with_the_disk_attached_is_taken_up(signed_in, three):
    held = signed_in.faults.hold("PUT", "/runCommands/", 'hand_over "$(by_lun')
    with started(three) as process:
        wait_for(lambda: held.hits, lambda: process.poll() is None)
        process.kill()
    signed_in.arm.let_go.set()
    folder = measured(three)
    assert set(Dataset.load(folder).runs["job"]) == JOBS
    assert commands(folder).count("vm run-command invoke") == 0
    assert commands(folder).count("vm disk detach") == 2
    assert not signed_in.arm.resources


@pytest.mark.long
def test_what_is_measured_is_kept_when_a_run_is_ended_while_its_script_goes_on(signed_in, three):
    three.write_text(three.read_text() + "  last: {rw: randread, bs: 4k, size: 4m, runtime: 300}\n")
    with started(three) as process:
        wait_for(
            lambda: signed_in.arm.machines and _is_there(signed_in, "w1.sum"), lambda: process.poll() is None
        )
        process.send_signal(signal.SIGTERM)
        text, _ = process.communicate(timeout=PATIENCE_S)
    assert "Nothing is left in Azure; 3 of 4 workloads are kept" in text
    found = {path.stem for path in three.with_name("out").glob("raw/*/*/*.json")}
    assert found == JOBS
    assert not signed_in.arm.resources


def _is_there(azure: Azure, name: str) -> bool:
    """Whether a VM has a file with the outputs of a workload."""
    (vm,) = azure.arm.machines.values()
    vm.run("look", f"find /var/lib/azbench/out -name {name}", 60)
    wait_for(lambda: vm.status("look")["state"] != "Running")
    return name in vm.status("look")["output"]


@pytest.mark.long
def test_in_a_given_group_the_disk_of_the_run_alone_is_made_and_deleted(signed_in, three):
    """Another one of that name is somebody else's."""
    arm, at = signed_in.arm, f"/subscriptions/{SUBSCRIPTION}/resourceGroups/theirs"
    role, _, _, within = documented()
    arm.actions = role | within
    arm.put(at, {"location": "westeurope", "tags": {}})
    arm.put(f"{at}/providers/Microsoft.Compute/disks/{NAME}", {"location": "westeurope"})
    before = set(arm.resources)
    three.write_text(three.read_text().replace("zone: 1", "zone: 1\ngroup: theirs"))
    folder = measured(three)
    assert set(Dataset.load(folder).runs["job"]) == JOBS
    assert commands(folder).count("vm run-command invoke") == 0
    assert {key for key in arm.resources if "/deployments/" not in key} == before
    (made,) = arm.bodies("PUT", f"/disks/azb[^/]+-{NAME}$")
    assert made["tags"][RUN].startswith("azb")
    assert NAME not in deleted(signed_in)


def test_nothing_is_written_onto_a_disk_that_is_not_empty(tmp_path: Path) -> None:
    (tmp_path / "home" / "out" / "a").mkdir(parents=True)
    for name, text in {"b.sum": "0 1 x 0 -", "b.figures": "figures", "c.figures": "no sum yet"}.items():
        (tmp_path / "home" / "out" / "a" / name).write_text(text)
    with loop_device(tmp_path / "disk", 1 << 22) as disk:
        done = on_this_machine(tmp_path, f"hand_over {disk} a/b a/c a/d")
        assert (done.returncode, done.stderr) == (0, "")
        written = disk.read_bytes()
        assert written.startswith(b"azbench-results 10240 ") and b"no sum yet" not in written
        again = on_this_machine(tmp_path, f"hand_over {disk} a/b")
        assert again.returncode == 3 and "so no results are written onto it" in again.stderr
        assert disk.read_bytes() == written


@pytest.mark.parametrize("n_workloads", [2, 3])
def test_a_plan_tells_of_the_account_and_the_disk_where_there_are_enough_workloads(
    tmp_path: Path, n_workloads: int
) -> None:
    more = "".join(MORE.splitlines(keepends=True)[: n_workloads - 1])
    (tmp_path / "f.yaml").write_text(SMALL.replace("zone: 1", "zone: 1\ngroup: theirs") + more)
    text = "\n".join(plan_text.lines(campaign.load(tmp_path / "f.yaml")))
    told = [f"--name RUN-{NAME} --sku StandardSSD_LRS --size-gb 4 --zone 1", "az storage account create"]
    assert [line in text for line in told] == [n_workloads == 3] * 2
