"""How a run in Azure ends when something goes wrong at its end: nothing is left, or it is named.

The measurement itself is cut short in most of these, since az takes a second a call.
"""

import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import termios
import time
from pathlib import Path

import pytest
from fake_azure.campaigns import SMALL, azbench, measured, refused, started, until
from fake_azure.identity import SUBSCRIPTION
from fake_azure.login import Azure
from waiting import PATIENCE_S, wait_for

from azbenchlib import campaign
from azbenchlib.azure.az import Az
from azbenchlib.campaign import lock
from azbenchlib.campaign.interrupts import SAME_S
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.targets.azure.ending import orphans, teardown
from azbenchlib.campaign.targets.azure.manifest import CloudPlan
from azbenchlib.core.errors import AzbenchError

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

OTHER = "44444444-4444-4444-4444-444444444444"
GROUP = r"resourceGroups/[^/]+$"


@pytest.fixture
def small(azure: Azure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A small measurement file; and this process logged in, with its own copy of what az keeps."""
    shutil.copytree(azure.environment["AZURE_CONFIG_DIR"], tmp_path / "config")
    environment = {**azure.environment, "AZURE_CONFIG_DIR": str(tmp_path / "config")}
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


def set_account(folder: Path) -> None:
    """What `az account set` does in another terminal: another subscription is the one that az is set to."""
    path = folder / "config" / "azureProfile.json"
    profile = json.loads(path.read_text())
    (first,) = profile["subscriptions"]
    other = {**first, "id": OTHER, "name": "other", "isDefault": True}
    path.write_text(json.dumps({**profile, "subscriptions": [{**first, "isDefault": False}, other]}))


def noted(file: Path) -> list[str]:
    """The groups that the dataset folder remembers."""
    return json.loads(file.with_name("out").joinpath("plan.json").read_text())["groups"]


def group_of(azure: Azure) -> str:
    (group,) = {path.split("/")[4] for path in azure.arm.resources}
    return group


@pytest.mark.long
def test_another_subscription_set_in_the_middle_of_a_run_changes_nothing(azure, small):
    azure.faults.preflight("QuotaExceeded")  # to end soon
    process = started(small)
    until(process, "resource group")
    set_account(small.parent)
    text, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert "QuotaExceeded" in text
    assert "Nothing is left in Azure" in text
    assert not azure.arm.resources
    assert noted(small) == []
    said = [json.loads(line)["command"] for line in (small.with_name("out") / "az.log.jsonl").open()]
    assert all("--subscription" in command for command in said if command[1:3] != ["account", "show"])
    assert {
        request.path.split("/")[2] for request in azure.arm.log if "resourcegroups" in request.path.lower()
    } == {SUBSCRIPTION}


@pytest.mark.long
def test_only_azures_own_word_means_that_a_group_is_gone(azure, small, monkeypatch):
    """A proxy answers 404 to the deletion, then the network is away, then a look at the group gets a page."""
    monkeypatch.setattr(orphans, "LONGEST_PAUSE_S", 1.0)
    azure.faults.preflight("QuotaExceeded")  # to end soon
    azure.faults.page("DELETE", GROUP)
    azure.faults.page("GET", GROUP, command="group show")
    azure.faults.away("DELETE", GROUP, nth=2, times=4)  # of a call, all tries
    told: list[str] = []
    with pytest.raises(AzbenchError, match=r"Nothing is left in Azure"):
        campaign.run(
            campaign.load(small),
            small.with_name("out"),
            target="azure",
            progress=lambda done, total, text: told.append(text),
        )
    assert all(fault.hits == fault.times for fault in azure.faults.planned)
    assert not azure.arm.resources
    lines = [text for text in told if "is still there" in text]
    assert all(
        line.endswith("Trying again for another 60 minutes; Ctrl-C ends the waiting") for line in lines
    )
    assert len(lines) == 3


@pytest.mark.long
@pytest.mark.parametrize("again", [True, False])
def test_a_login_that_ends_in_mid_run_leaves_nothing_unnamed(azure, small, monkeypatch, again):
    """As by `az logout` in another terminal; whoever logs in again meanwhile has the group deleted."""
    monkeypatch.setattr(orphans, "DELETION_PATIENCE_S", 60 if again else 0)
    config, saved = small.with_name("config"), small.with_name("saved")
    shutil.copytree(config, saved)

    def progress(done: int, total: int, text: str) -> None:
        if text.startswith("prepare data"):
            shutil.rmtree(config)
        elif again and "is still there: az is not logged in" in text:
            shutil.copytree(saved, config, dirs_exist_ok=True)

    with pytest.raises(AzbenchError, match="az is not logged in; run `az login`") as caught:
        campaign.run(campaign.load(small), small.with_name("out"), target="azure", progress=progress)
    if again:
        assert "Nothing is left in Azure; 0 of 1 workloads are kept" in str(caught.value)
    else:
        group = group_of(azure)
        assert f"az group delete --name {group} --yes --subscription {SUBSCRIPTION}" in str(caught.value)
        assert noted(small) == [group]
        shutil.copytree(saved, config, dirs_exist_ok=True)
        measured(small)
    assert not azure.arm.resources


@pytest.mark.long
def test_a_finished_run_whose_group_is_left_is_no_success_until_it_is_deleted(azure, small):
    azure.faults.refuse("DELETE", GROUP, "ScopeLocked", status=409, times=1000)
    said = [refused(small)]
    group = group_of(azure)
    raw = small.with_name("out") / "raw"
    assert [path.stem for path in raw.glob("**/*.json")] == ["first"]  # nothing of the measurement is lost
    listed = azbench("cleanup", environment=dict(os.environ), folder=small.parent)
    assert re.match(
        rf"{group}  \(westeurope, owner .*kept: its run is alive: it renews its lease\n", listed.stdout
    )
    set_account(small.parent)
    said.append(refused(small))  # nothing is to be measured any more, and yet it is no success
    for text in said:
        assert f"RESOURCE GROUP {group} IS STILL IN AZURE AND COSTS MONEY" in text
        assert f"az group delete --name {group} --yes --subscription {SUBSCRIPTION}" in text
    assert noted(small) == [group]
    azure.faults.planned.clear()
    measured(small)
    assert not azure.arm.resources
    assert len(azure.arm.bodies("PUT", GROUP)) == 1
    assert SUBSCRIPTION not in small.with_name("out").joinpath("plan.json").read_text()


@pytest.mark.long
@pytest.mark.parametrize("impatient", [False, True])
def test_a_second_start_is_refused_and_a_second_interrupt_stops_the_waiting_only(
    azure, small, monkeypatch, impatient
):
    """The same where interrupts come again and again until the command has ended."""
    monkeypatch.setattr(lock, "WAIT_S", 0.1)
    azure.arm.deletion_s = 3600
    first = started(small)
    until(first, "network …")
    second = refused(small)
    assert re.search(rf"out: process \d+ on {socket.gethostname()} .* measures into it", second)
    assert "STILL IN AZURE" not in second  # it is the other one's, and goes on
    assert not [request for request in azure.arm.log if request.method == "DELETE"]
    first.send_signal(signal.SIGINT)
    until(first, "interrupted; deleting azbench-small-")
    wait_for(lambda: any(request.command == "group show" for request in azure.arm.log))
    first.send_signal(signal.SIGINT)
    while impatient and first.poll() is None:
        time.sleep(1.1 * SAME_S)  # closer together, they are one
        first.send_signal(signal.SIGINT)
    text, _ = first.communicate(timeout=PATIENCE_S)
    # One that comes when Python itself ends has the default effect.
    assert first.returncode in (130, -signal.SIGINT if impatient else 130), text
    assert "Traceback" not in text
    group = group_of(azure)
    assert [request.status for request in azure.arm.log if request.method == "DELETE"] == [202]
    (last,) = [line for line in text.splitlines() if line.startswith("azbench: ")]
    assert "STILL IN AZURE" not in text
    assert f"Azure has accepted the deletion of resource group {group} and carries it out by itself" in last
    assert f"`azbench cleanup --subscription {SUBSCRIPTION}` looks whether it is gone" in last
    assert noted(small) == [group]


@pytest.mark.long  # tests/campaign/azure/test_azure_faults.py interrupts a run by a signal
def test_a_closed_terminal_leaves_nothing(azure, small):
    """Nobody can be told any more: writing ends in EIO, and the terminal's end comes as SIGHUP."""
    ours, terminal = pty.openpty()
    process = started(
        small,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(terminal)
    text = b""
    while b"network " not in text:
        text += os.read(ours, 1000)
    os.close(ours)
    assert process.wait(PATIENCE_S) == 130
    assert not azure.arm.resources
    assert noted(small) == []


@pytest.mark.long
def test_a_full_disk_here_is_named_and_nothing_is_said_to_be_left_there(azure, small):
    full = small.with_name("full")
    full.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", full], check=True)

    def fill(done: int, total: int, text: str) -> None:
        if text == "network …":
            with contextlib.suppress(OSError), (full / "filler").open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))

    try:
        with pytest.raises(AzbenchError) as caught:
            campaign.run(campaign.load(small), full / "out", target="azure", progress=fill)
    finally:
        subprocess.run(["umount", full], check=True)
    assert f"{full}/out/" in str(caught.value)
    assert "No space left on device" in str(caught.value)
    assert "Nothing is left in Azure" in str(caught.value)
    assert "STILL" not in str(caught.value)
    assert not azure.arm.resources


@pytest.mark.long
def test_cleanup_takes_ones_own_that_have_expired_and_the_rest_only_when_told(azure, small):
    past, future = "2026-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"
    tags = {"tool": "azbench", "campaign": "c"}
    for name, owner, expires in (
        ("mine-old", "jane", past),
        ("mine-running", "jane", future),
        ("his-old", "joe", past),
        ("mine-undated", "jane", "soon"),
    ):
        body = {"location": "westeurope", "tags": {**tags, "owner": owner, "expires": expires}}
        azure.arm.put(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}", body)
    alive = {**tags, "owner": "jane", "expires": past, "lease": future, "holder": "elsewhere-1-1"}
    azure.arm.put(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/mine-alive", {"tags": alive})
    his = {**tags, "owner": "joe", "expires": past}
    azure.arm.put(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/his-older", {"tags": his})
    azure.arm.put(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/foreign", {"tags": {"tool": "azbench"}})

    def cleanup(*arguments: str) -> tuple[list[str], set[str]]:
        environment = {**os.environ, "LOGNAME": "jane"}
        done = azbench("cleanup", *arguments, environment=environment, folder=small.parent)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines(), {path.split("/")[4] for path in azure.arm.resources}

    lines, left = cleanup("--yes")
    assert left == {"mine-running", "mine-alive", "his-old", "his-older", "mine-undated", "foreign"}
    told = {line.split()[0]: line for line in lines}
    assert set(told) == {"mine-old", "mine-running", "mine-alive", "his-old", "his-older", "mine-undated"}
    assert told["mine-alive"].endswith("kept: its run is alive: it renews its lease")
    assert told["mine-old"].endswith("to be deleted")
    assert told["mine-running"].endswith("kept: its run may go on: it has not expired")
    assert told["his-old"].endswith("kept: it is not jane's")
    _, left = cleanup("--group", "his-old", "--yes")
    assert left == {"mine-running", "mine-alive", "his-older", "mine-undated", "foreign"}
    _, left = cleanup("--all-owners", "--yes")
    assert left == {"mine-running", "mine-alive", "mine-undated", "foreign"}
    listed, _ = cleanup("--format", "json")
    assert {one["group"]: one["deleted"] for one in json.loads(listed[0])["groups"]} == dict.fromkeys(
        ("mine-running", "mine-alive", "mine-undated"), False
    )
    gone, left = cleanup("--all", "--yes", "--format", "json")
    assert left == {"foreign"}
    groups = json.loads(gone[0])["groups"]
    assert len(groups) == 3 and all(one["deleted"] and one["left"] is None for one in groups)


def test_a_group_that_no_run_made_is_not_deleted_whoever_notes_it(signed_in, tmp_path):
    """A folder of measurements can be somebody else's, and its plan can name any group."""
    small = tmp_path / "small.yaml"
    small.write_text(SMALL)
    az = Az.find().within(SUBSCRIPTION)
    az.json("group", "create", "--name", "production", "--location", "westeurope")
    experiment = campaign.load(small).experiment
    noted_there = CloudPlan(experiment=experiment, started=plan.now(), groups=["production"])
    folder = small.with_name("out")
    folder.mkdir()
    plan.save(folder, noted_there.model_copy(update={"subscription": SUBSCRIPTION}))
    for fresh in (False, True):
        with pytest.raises(AzbenchError, match=r"production is noted .* but it has no tags of azbench"):
            teardown.delete_earlier(
                CloudPlan(experiment=experiment, started=plan.now()), folder, fresh, lambda *_: None
            )
    assert noted(small) == ["production"]
    assert [group["name"] for group in az.json("group", "list")] == ["production"]


@pytest.mark.long
def test_what_keeps_a_group_from_being_deleted_is_named_within_bounds(azure, small, monkeypatch):
    """By the run, by cleanup, and by the same command again; the deletion itself goes on."""
    monkeypatch.setattr(orphans, "DELETION_PATIENCE_S", 1.0)
    azure.faults.preflight("QuotaExceeded")  # to end soon
    azure.arm.deletion_s = 3600
    words = r"still being deleted after .*, with azbench-network \(Microsoft\.Network/virtualNetworks\) in it"
    assert re.search(words, refused(small))
    assert re.search(words, refused(small))
    deletion = orphans.Deletion(az=Az.find().within(SUBSCRIPTION), group=group_of(azure), tell=print)
    assert re.search(words, deletion.carry_out().left)
    azure.arm.let_go.set()
    wait_for(lambda: not azure.arm.resources)
