"""How results come from Azure: one script for all workloads, a container of blobs, a run that is taken up."""

import json
import os
import re
import shutil
import subprocess
import threading
import time
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path

import pytest
from fake_azure.campaigns import AZBENCH, SMALL, measured, started, until
from fake_azure.identity import PRINCIPAL, SUBSCRIPTION, TENANT
from fake_azure.login import Azure
from process_list import words_seen
from waiting import PATIENCE_S, wait_for

from azbenchlib import campaign
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.targets.azure import money
from azbenchlib.core.errors import AzbenchError, WorkloadsFailedError
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

MANY = SMALL + "".join(f"  w{n}: {{rw: randread, bs: {4 << n}k, size: 4m, runtime: 1}}\n" for n in range(3))


A_MINUTE_S = 60
# Seconds that calls of these words take in Azure, and what they set off there.
STATED_S = money.CALL_S | {
    "vm run-command create": money.SCRIPT_S,
    "storage account create": money.CONTAINER_S,
    "group delete": money.DOWN_S,
}
OTHERS_S = 10
MEASURING = 3  # the script on a VM that measures: others guard the group and prepare the disk


def reckoned_s(commands: list[list[str]], n_workloads: int) -> float:
    """What takes time in Azure beside workloads: calls before them and after them, and packing each result.

    What is called meanwhile, also by a run that is taken up, takes no time of its own.
    """
    verbs = [" ".join(takewhile(lambda word: not word.startswith("-"), words[1:])) for words in commands]
    scripts = [number for number, verb in enumerate(verbs) if verb == "vm run-command create"]
    last = max(number for number, verb in enumerate(verbs) if verb == "storage blob download")
    apart = [*verbs[: scripts[MEASURING - 1] + 1], *verbs[last + 1 :]]
    known = [[key for key in STATED_S if verb.startswith(key)] for verb in apart]
    each = sum(STATED_S[max(keys, key=len)] if keys else OTHERS_S for keys in known)
    booting = money.FIRST_SCRIPT_S - money.SCRIPT_S
    return each + booting + n_workloads * money.PER_RESULT_S


@pytest.fixture
def small(signed_in: Azure, tmp_path: Path) -> Path:
    """A measurement file of four workloads, and this process logged in to the fake Azure."""
    path = tmp_path / "many.yaml"
    path.write_text(MANY)
    return path


def measured_again(azure: Azure) -> list[str]:
    """The places whose outputs came more than once."""
    names = [name for blobs in azure.arm.blobs.values() for name in blobs if name.endswith(".figures")]
    places = [name.rpartition("/")[0] for name in names]
    return sorted({place for place in places if places.count(place) > 1})


def until_measuring(process: subprocess.Popen[str], folder: Path) -> None:
    """Wait until the journal of a run tells that a workload was begun."""
    while not any(event["event"] == JournalEvent.BEGUN for event in Journal(folder).events()):
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.05)


@pytest.mark.long
def test_a_killed_run_goes_on_on_its_vm_though_the_file_lost_and_gained_workloads(azure, small):
    first = started(small)
    lines = until(first, "  1/4  ")
    copied = small.with_name("copy")
    shutil.copytree(small.with_name("out"), copied)
    with pytest.raises(AzbenchError, match="is held by another run of this measurement"):
        campaign.run(campaign.load(small), copied, target="azure")
    first.kill()
    first.communicate()
    kept = {path: path.stat().st_mtime_ns for path in small.with_name("out").glob("raw/*/*/*.json")}
    assert kept, lines
    small.write_text(MANY.replace("  w2:", "  other:").replace("bs: 16k", "bs: 32k"))
    folder = measured(small)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(azure.arm.bodies("PUT", "/deployments/")) == 1
    assert {"first", "w0", "w1", "other"} <= set(Dataset.load(folder).runs["job"])
    assert measured_again(azure) == []
    assert not azure.arm.resources


@pytest.mark.long
def test_sixty_workloads_killed_at_the_fortieth_are_taken_up_in_little_more_than_their_time(azure, small):
    lines = [f"  n{n}: {{rw: randread, bs: 4k, size: 4m, runtime: 1, ioengine: psync}}\n" for n in range(59)]
    small.write_text(SMALL + "".join(lines))
    first = started(small)
    until(first, "  40/60  ")
    first.kill()
    first.communicate()
    kept = {path: path.stat().st_mtime_ns for path in small.with_name("out").glob("raw/*/*/*.json")}
    assert len(kept) >= 40
    folder = measured(small)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(Dataset.load(folder).runs["job"].unique()) == 60
    assert len(azure.arm.bodies("PUT", "/deployments/")) == 1
    assert measured_again(azure) == []
    assert not azure.arm.resources
    commands = [json.loads(line)["command"] for line in (folder / "az.log.jsonl").read_text().splitlines()]
    assert sum(command[1:4] == ["vm", "run-command", "create"] for command in commands) <= 4
    assert not any("invoke" in command for command in commands)
    assert (
        reckoned_s(commands, 60) <= 0.2 * 60 * A_MINUTE_S + 15 * A_MINUTE_S
    )  # beside 60 workloads of a minute


@pytest.mark.long
def test_a_script_that_dies_leaves_the_workloads_running_that_it_waits_for(azure, small):
    """As where the VM's agent is started anew: no workload is run again, and none is lost."""
    small.write_text(MANY.replace("runtime: 1", "runtime: 4"))
    over, workers = threading.Event(), []

    def kill() -> None:
        while not any(name.endswith(".figures") for blobs in azure.arm.blobs.values() for name in blobs):
            if over.wait(0.02):
                return
        (vm,) = azure.arm.machines.values()
        vm.kill([one.path for one in azure.arm.log if "/runCommands/" in one.path][-1].rpartition("/")[2])
        vm.run("look", 'pgrep --session "$(cat /var/lib/azbench/worker)" --list-full', 60)
        wait_for(lambda: vm.status("look")["state"] != "Running")
        workers.append(vm.status("look")["output"])

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        folder = measured(small)
    finally:
        over.set()
        killer.join()
    assert "/agent-" in workers[0]
    assert set(Dataset.load(folder).runs["job"]) == {"first", "w0", "w1", "w2"}
    assert len(azure.arm.bodies("PUT", "/runCommands/")) == 4  # guard, disk, workloads, and these once more
    assert measured_again(azure) == []
    assert not (folder / "failed").exists()
    assert not azure.arm.resources


@pytest.mark.parametrize("az_is_a_program", [False, pytest.param(True, marks=pytest.mark.long)])
def test_one_script_runs_all_workloads_and_nothing_secret_is_seen(
    azure, small, az_path, monkeypatch, az_is_a_program
):
    """A bad workload among them is noted, and the others go on. As a program, each az is seen as such."""
    if az_is_a_program:
        monkeypatch.setenv("AZBENCH_AZ", str(az_path))
    small.write_text(MANY + "  bad: {rw: randread, bs: 4k, size: 4m, runtime: 1, ioengine: windowsaio}\n")
    told: list[str] = []
    with words_seen() as seen, pytest.raises(WorkloadsFailedError, match="1 of 5 workloads failed"):
        campaign.run(
            campaign.load(small),
            small.with_name("out"),
            target="azure",
            progress=lambda done, total, text: told.append(text),
        )
    found = Dataset.load(small.with_name("out"))
    assert set(found.runs["job"]) == {"first", "w0", "w1", "w2"}, told
    assert any("windowsaio" in note for note in found.manifest.notes)
    assert any(re.search(r"IOPS \(so far \d\.\d h, 0\.\d+ USD\)( \(about|$)", text) for text in told), told
    assert not azure.arm.resources
    log = (small.with_name("out") / "az.log.jsonl").read_text()
    assert (
        log.count('"run-command", "create"') == 3
    )  # one guards the group, one prepares the disk, one measures
    assert '"invoke"' not in log
    assert b"apt-daily.timer" in next(iter(azure.arm.custom_data.values()))  # nothing runs behind its back
    written = "".join(path.read_text(errors="replace") for path in small.parent.rglob("*") if path.is_file())
    lines = [line for line in seen if "curl" in line or "az" in line]
    assert any("curl" in line for line in lines)
    assert not [line for line in lines if "sig=" in line]
    for secret in ("sig=", "AccountKey", SUBSCRIPTION, TENANT, PRINCIPAL):
        assert secret not in written, secret


@pytest.mark.long
def test_two_users_side_by_side_do_each_other_no_harm(azure, small):
    """Each measures, and each cleans up meanwhile, all owners' as well; nothing that is alive goes."""
    small.write_text(SMALL + "  w1: {rw: randwrite, bs: 4k, size: 4m, runtime: 1}\n")
    held = azure.faults.hold("PUT", "/runCommands/", "--name=first", times=2)  # the scripts that measure
    users = ("jane", "joe")
    environments = {user: {**os.environ, "LOGNAME": user} for user in users}
    command = [str(AZBENCH), "run", str(small), "--target", "azure", "-o"]
    with ExitStack() as stack:
        runs = {}
        for user in users:
            runs[user] = subprocess.Popen(
                [*command, str(small.with_name(user))],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=environments[user],
            )
            stack.callback(runs[user].kill)
        for user in users:
            until_measuring(runs[user], small.with_name(user))
        groups = {path.split("/")[4] for path in azure.arm.resources}
        assert len(groups) == 2
        for user in users:
            done = subprocess.run(
                [str(AZBENCH), "cleanup", "--yes", "--all-owners"],
                env=environments[user],
                capture_output=True,
                text=True,
                check=True,
            )
            alive = done.stdout.count("its run is alive: it renews its lease")
            assert alive == 2, done.stdout + done.stderr
        azure.arm.let_go.set()
        for user in users:
            text, _ = runs[user].communicate(timeout=PATIENCE_S)
            assert runs[user].returncode == 0, text
            assert set(Dataset.load(small.with_name(user)).runs["job"]) == {"first", "w1"}
    assert held.hits == 2
    assert not azure.arm.resources
    assert {
        one.path.split("/")[4] for one in azure.arm.log if one.method == "DELETE" and one.status < 300
    } == groups


@pytest.mark.long
@pytest.mark.parametrize("may_write", [True, False])
def test_where_keys_are_forbidden_the_user_signs_else_a_disk_brings_the_results(azure, small, may_write):
    azure.faults.refuse("PUT", "/storageAccounts/", "RequestDisallowedByPolicy", status=403)
    azure.arm.blob_role = may_write
    folder = measured(small)
    assert set(Dataset.load(folder).runs["job"]) == {"first", "w0", "w1", "w2"}
    assert azure.arm.bodies("PUT", "/storageAccounts/")[-1]["properties"]["allowSharedKeyAccess"] is False
    names = [name for blobs in azure.arm.blobs.values() for name in blobs]
    assert len([name for name in names if name.endswith(".figures")]) == (4 if may_write else 0)
    assert not [one for one in azure.arm.log if one.path.endswith("/listKeys")]
    log = (folder / "az.log.jsonl").read_text()
    assert '"invoke"' not in log
    assert ('"grant-access"' in log) is not may_write
    assert not azure.arm.resources
