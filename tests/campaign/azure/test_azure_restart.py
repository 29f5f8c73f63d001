"""A VM that is restarted while it measures, as for maintenance: the run goes on, on its own disks."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure_weather import SHORT
from fake_azure.campaigns import SMALL
from fake_azure.login import Azure
from fake_azure.machines import restart
from waiting import wait_for

from azbenchlib import campaign
from azbenchlib.campaign.targets.azure import container, guest, outcome, vm
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

BARE = "  bare: {sku: Premium_LRS, size: 32GiB, raw: true}\n"
SECOND = "  second: {rw: randwrite, bs: 4k, size: 4m, runtime: 6}\n"
# The devices of the two disks, and those that are at their paths.
PLACES = (
    "cd /dev/disk/azure/scsi1; readlink lun0 lun1; findmnt -n -o SOURCE /azbench/data; readlink /azbench/bare"
)


def said(azure: Azure, script: str) -> list[str]:
    """The words that a script on the only VM says; none while there is no VM."""
    with azure.arm.lock:
        for vm in azure.arm.machines.values():
            vm.run("look", script, 60)
            wait_for(lambda vm=vm: vm.status("look")["state"] != "Running")
            return vm.status("look")["output"].split()
    return []


def restarted_in(azure: Azure, command: str) -> float:
    """Restart the VM while it runs a command; when that was."""
    wait_for(lambda: said(azure, f"pgrep -f '{command}'"))
    time.sleep(1)
    restart(azure.arm, next(iter(azure.arm.machines)))
    return time.time()


@pytest.mark.parametrize("contained", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_restart_in_mid_run_costs_the_workload_in_hand_alone(signed_in, small, monkeypatch, contained):
    """Azure goes on to say that the script runs; disks have other names. Outputs come by a container, or not.

    What looks after the group when its run is dead is there again, too.
    """
    for module, name, value in (*SHORT, (outcome, "QUIET_S", 2.0)):
        monkeypatch.setattr(module, name, value)
    if not contained:
        monkeypatch.setattr(container, "FEWEST_FOR_CONTAINER", 9)
    small.write_text(SMALL.replace("workloads:", f"{BARE}workloads:") + SECOND)
    places: list[str] = []
    guards: list[str] = []

    def progress(done: int, total: int, text: str) -> None:
        if done == total and not places:
            places.extend(said(signed_in, PLACES))
            guards.extend(said(signed_in, "pgrep -f kept-[.]guard"))

    todo, out = campaign.load(small), small.with_name("out")
    with ThreadPoolExecutor() as other:
        restarted = other.submit(restarted_in, signed_in, "fio.*second")
        dataset = Dataset.load(campaign.run(todo, out, target="azure", progress=progress))
    ended = [json.loads(path.read_text())["timestamp_ms"] / 1000 for path in out.glob("raw/**/*.json")]
    assert len(dataset.runs) == len(ended) == 4
    assert sum(moment > restarted.result() for moment in ended) == 2
    assert places[:2] == places[2:]
    assert guards
    assert not list(out.glob("failed/*"))
    assert not signed_in.arm.resources


def test_a_restart_while_a_disk_is_made_ready_costs_minutes(signed_in, small, monkeypatch):
    """Azure goes on to say that the script runs; it is begun anew."""
    for module, name, value in (*SHORT, (vm, "STATE_S", 3.0)):
        monkeypatch.setattr(module, name, value)
    prepare = guest.prepare

    def slow_at_first(step, token):
        functions, ready, calls = prepare(step, token).rpartition("\nready\n")
        return f'{functions}{ready}if mkdir "$home/slow" 2>/dev/null; then sleep 3600; fi\n{calls}'

    monkeypatch.setattr(guest, "prepare", slow_at_first)
    told: list[str] = []
    todo, out = campaign.load(small), small.with_name("out")
    with ThreadPoolExecutor() as other:
        other.submit(restarted_in, signed_in, "sleep 3600")
        dataset = Dataset.load(
            campaign.run(todo, out, target="azure", progress=lambda done, total, text: told.append(text))
        )
    assert len(dataset.runs) == 1
    assert sum("was restarted" in text for text in told) == 1
    assert not signed_in.arm.resources
