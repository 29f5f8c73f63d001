"""Several VMs at a time, with the real az against the fake Azure: one dataset, as of one after the other."""

import os
import re
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest
from fake_azure.campaigns import azbench, started, until
from fake_azure.identity import PRINCIPAL, SUBSCRIPTION, TENANT
from fake_azure.login import Azure
from process_list import words_seen
from waiting import PATIENCE_S, wait_for

from azbenchlib import campaign
from azbenchlib.campaign import status
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.targets.azure.side_by_side import folders
from azbenchlib.core.errors import WorkloadsFailedError
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

FILE = """
title: Two VMs
region: westeurope
disks:
  data: {sku: Premium_LRS, size: 32GiB}
workloads:
  first: {rw: randread, bs: 4k, size: 4m, runtime: 1}
  second: {rw: randwrite, bs: 4k, size: 4m, runtime: 1}
setups:
  - {name: two, vm: Standard_D2s_v3}
  - {name: four, vm: Standard_D4as_v4}
"""
RUNS = {f"{setup}/data/{name}" for setup in ("two", "four") for name in ("first", "second")}


@pytest.fixture
def file(signed_in: Azure, tmp_path: Path) -> Path:
    """A measurement file of two VMs, and this process logged in to the fake Azure."""
    path = tmp_path / "file.yaml"
    path.write_text(FILE)
    return path


def measured(file: Path, at_once: int = 2, name: str = "out", told: list[str] | None = None) -> Path:
    """Measure in this process."""
    said: list[str] = [] if told is None else told
    return campaign.run(
        campaign.load(file),
        file.with_name(name),
        target="azure",
        at_once=at_once,
        progress=lambda done, total, text: said.append(f"{done}/{total} {text}"),
    )


def outputs(folder: Path) -> dict[str, int]:
    """The outputs that are in their place, and when each was written."""
    found = folder.glob("raw/*/*/*.json")
    return {
        f"{path.parent.relative_to(folder / 'raw')}/{path.stem}": path.stat().st_mtime_ns for path in found
    }


def journalled(folder: Path) -> list[str]:
    """The runs that the journal tells to be kept, in alphabetical order."""
    return sorted(one["run"] for one in Journal(folder).events() if one["event"] == JournalEvent.KEPT)


def groups(azure: Azure) -> list[str]:
    """The resource groups that there are."""
    return [key for key in azure.arm.resources if re.search(r"/resourcegroups/[^/]+$", key)]


@pytest.mark.long
def test_runs_that_were_killed_are_taken_up_on_their_vms_and_joined(signed_in: Azure, file: Path) -> None:
    """Killed when one workload is measured: the processes of both VMs end with the one that is killed."""
    out = file.with_name("out")
    process = started(file, options=["--at-once", "2"])
    until(process, "  1/4  ")
    process.kill()
    process.communicate()
    assert len(groups(signed_in)) == 2
    before = status.of(out)
    assert before.done >= 1
    assert before.total == 4
    (first, *_) = [*out.glob(".vms/*/raw/*/*/*.json")]
    at, told = first.stat().st_mtime_ns, list[str]()
    assert measured(file, told=told) == out  # at once, while processes of the killed run still end
    assert any("going on in azbench-two-vms-" in text for text in told)
    assert not groups(signed_in)
    assert outputs(out).keys() == RUNS
    assert at in outputs(out).values()
    assert journalled(out) == sorted(RUNS)
    assert not (out / ".vms").exists()
    found = Dataset.load(out)
    assert len(found.results.query("iops > 0")) == 4
    assert [*found.setups["vm_size"]] == ["Standard_D2s_v3", "Standard_D4as_v4"]
    assert status.of(out).state == "finished"


@pytest.mark.long
def test_two_vms_at_a_time_give_the_dataset_of_one_after_the_other(signed_in: Azure, file: Path) -> None:
    told: list[str] = []
    one = Dataset.load(measured(file, name="one", told=told))
    both = [number for number, text in enumerate(told) if "vm-1 deletes the group by itself" in text]
    first_deleted = next(number for number, text in enumerate(told) if "deleting azbench-" in text)
    assert len(both) == 2
    assert max(both) < first_deleted  # both VMs are there before one goes
    assert len(signed_in.arm.bodies("PUT", r"/resourceGroups/[^/]+$")) >= 2
    assert not groups(signed_in)
    other = Dataset.load(measured(file, at_once=1, name="other"))
    columns = ["setup_id", "disks", "job", "rw", "bs_bytes", "iodepth", "working_set_bytes"]
    assert one.runs[columns].equals(other.runs[columns])
    assert one.setups.equals(other.setups)
    assert one.disks.equals(other.disks)
    mine, theirs = one.manifest, other.manifest
    same = {"title", "about", "measured", "setups", "tools"}
    assert mine.model_dump(include=same) == theirs.model_dump(include=same)
    assert mine.raw.keys() == theirs.raw.keys()
    assert "Up to 2 VMs were measured at a time, each with disks of its own." in mine.notes
    assert not [command for command in mine.commands if "vm delete" in command.text]


@pytest.mark.long
def test_a_vm_that_is_refused_leaves_the_other_running_and_is_made_by_the_same_command(
    signed_in: Azure, file: Path
) -> None:
    signed_in.arm.quotas = {"standardDASv4Family": (9, 10)}
    told: list[str] = []
    with pytest.raises(WorkloadsFailedError, match=r"2 of 4 workloads failed.*standardDASv4Family 9 of 10"):
        measured(file, told=told)
    assert any("it is tried again when another VM is deleted" in text for text in told)
    out = file.with_name("out")
    before = outputs(out)
    assert before.keys() == {run for run in RUNS if run.startswith("two")}
    assert set(Dataset.load(out).runs["setup_id"]) == {"two"}
    assert len(status.of(out).failed) == 2
    assert not groups(signed_in)
    signed_in.arm.quotas = {}
    measured(file)
    assert outputs(out).items() >= before.items()
    assert set(Dataset.load(out).runs["setup_id"]) == {"two", "four"}
    assert journalled(out) == sorted(RUNS)


@pytest.mark.long
def test_a_vm_for_which_there_is_no_room_beside_the_other_follows_it(signed_in: Azure, file: Path) -> None:
    signed_in.faults.preflight("QuotaExceeded", nth=2)
    told: list[str] = []
    file.write_text(f"{FILE}at_once: 2\n")
    out = measured(file, at_once=0, told=told)  # as the file says
    assert any("it is tried again when another VM is deleted" in text for text in told)
    assert outputs(out).keys() == RUNS
    assert not groups(signed_in)


@pytest.mark.long
def test_an_interrupt_deletes_all_groups_and_a_run_of_one_vm_at_a_time_goes_on(
    signed_in: Azure, file: Path
) -> None:
    process = started(file, options=["--at-once", "2"])
    until(process, "  1/4  ")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, said
    assert said.count("interrupted; deleting azbench-two-vms-") == 2
    assert "Nothing is left in Azure" in said.splitlines()[-1]
    assert not groups(signed_in)
    out = file.with_name("out")
    assert status.of(out).state == "interrupted"
    before = outputs(out)
    assert before
    measured(file, at_once=1)
    assert outputs(out).items() >= before.items()
    assert outputs(out).keys() == RUNS
    assert journalled(out) == sorted(RUNS)


@pytest.mark.long
def test_what_killed_runs_of_several_vms_left_is_deleted_by_one_of_a_vm_at_a_time(
    signed_in: Azure, file: Path
) -> None:
    process = started(file, options=["--at-once", "2"])
    until(process, "  1/4  ")
    process.kill()
    process.communicate()
    left, told = groups(signed_in), list[str]()
    out = measured(file, at_once=1, told=told)
    assert len(left) == 2
    assert sum(text.endswith("which an earlier run left …") for text in told) == 2
    assert not groups(signed_in)
    assert outputs(out).keys() == RUNS
    assert journalled(out) == sorted(RUNS)


@pytest.mark.long
def test_a_group_that_could_not_be_deleted_is_named_and_the_same_command_deletes_it(
    signed_in: Azure, file: Path
) -> None:
    locked = {"status": 409, "times": 8}  # four tries for each
    signed_in.faults.refuse("DELETE", r"/resourceGroups/[^/]+$", "ScopeLocked", "There is a lock.", **locked)
    process = started(file, options=["--at-once", "2"])
    said, _ = process.communicate(timeout=PATIENCE_S)
    left = groups(signed_in)
    assert len(left) == 2
    assert process.returncode == 2, said
    for group in left:
        name = group.rpartition("/")[2]
        assert re.search(rf"RESOURCE GROUP {name} IS STILL IN AZURE", said.splitlines()[-1], re.IGNORECASE)
    out = measured(file)
    assert not groups(signed_in)
    assert outputs(out).keys() == RUNS
    assert not (out / ".vms").exists()


@pytest.mark.long
def test_two_users_with_two_vms_each_do_each_other_no_harm_and_tell_nothing_secret(
    signed_in: Azure, file: Path
) -> None:
    """While all four VMs measure, both clean up, and one starts the same once more in a second terminal."""
    file.write_text(FILE.replace("setups:", "  third: {rw: randread, bs: 8k, size: 4m, runtime: 1}\nsetups:"))
    signed_in.faults.hold("PUT", "/runCommands/", "--name=first", times=4)  # the scripts that measure
    users = {name: {**os.environ, "LOGNAME": name} for name in ("jane", "joe")}
    runs, said = {}, ""
    with words_seen() as seen, ExitStack() as stack:
        for name, environment in users.items():
            (folder := file.with_name(name)).mkdir()
            (folder / file.name).write_text(file.read_text())
            runs[name] = started(folder / file.name, options=["--at-once", "2"], env=environment)
            stack.callback(runs[name].kill)
        for name, run in runs.items():
            out = file.with_name(name) / "out"
            wait_for(
                lambda out=out: {own for own, _ in folders.events(out)} == {"two", "four"},
                lambda run=run: run.poll() is None,
            )
        there = groups(signed_in)
        assert len(there) == 4
        for environment in users.values():
            command = ["cleanup", "--yes", "--all-owners"]
            done = azbench(*command, environment=environment, folder=file.parent)
            assert done.stdout.count("its run is alive: it renews its lease") == 4, done.stdout + done.stderr
        second = started(file.with_name("joe") / file.name, options=["--at-once", "2"], env=users["joe"])
        refusal, _ = second.communicate(timeout=PATIENCE_S)
        assert second.returncode == 2
        assert "measures into it; wait for it, end it with" in refusal.replace("\n", " ")
        assert "STILL IN AZURE" not in refusal
        signed_in.arm.let_go.set()
        for run in runs.values():
            text, _ = run.communicate(timeout=PATIENCE_S)
            assert run.returncode == 0, text
            said += text
    assert not groups(signed_in)
    asked = [one.path for one in signed_in.arm.log if one.method == "DELETE" and one.status < 300]
    assert {path.split("/")[4].lower() for path in asked} == {path.split("/")[4].lower() for path in there}
    for name in users:
        assert len(Dataset.load(file.with_name(name) / "out").runs) == 6
        written = [path for path in file.with_name(name).rglob("*") if path.is_file()]
        said += "".join(path.read_text(errors="replace") for path in written)
    for secret in ("sig=", "AccountKey", SUBSCRIPTION, TENANT, PRINCIPAL):
        assert secret not in said, secret
    assert any("curl" in line for line in seen)
    assert not [line for line in seen if "sig=" in line]
