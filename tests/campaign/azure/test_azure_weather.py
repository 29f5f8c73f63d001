"""Random fault sequences with the real az; benchmarks/azure_weather.py runs as many as are asked for."""

import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import azure_weather
import pytest
from azure_weather import EVENTS, SHORT, carry_out, finished, plan, summary
from fake_azure.login import Azure
from waiting import wait_for

from azbenchlib.campaign.planning import plan as campaign_plan

pytest_plugins = ("fake_azure.fixtures",)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.fio
@pytest.mark.parametrize("seed", range(30))
def test_nothing_is_lost_measured_twice_or_left_unnamed(
    azure: Azure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seed: int
) -> None:
    for module, name, value in SHORT:
        monkeypatch.setattr(module, name, value)
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in azure.environment.items():
        monkeypatch.setenv(name, value)
    assert carry_out(azure, tmp_path, seed) == [], plan(azure, seed)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.fio
@pytest.mark.usefixtures("azure")
def test_a_job_of_sequences_that_was_killed_goes_on_with_those_that_are_left(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    command = [sys.executable, azure_weather.__file__, "--sequences", "2", "--state", str(state)]
    with subprocess.Popen(command, start_new_session=True) as job:
        while not finished(state) and job.poll() is None:
            time.sleep(0.2)
        os.killpg(job.pid, 9)
    (first,) = finished(state)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not any(line.startswith(f"{first} ") for line in done.stdout.splitlines())
    assert done.stdout.endswith("2 of 2 sequences were run; bad: 0\n")


def test_each_event_can_be_drawn() -> None:
    drawn = {what for seed in range(200) for _, what in azure_weather.happening(seed)}
    assert drawn == {*azure_weather.EVENTS, "Azure takes the VM back"}


DISK = ("disk", "create", "-g", "g", "-n", "d", "--size-gb", "4")
DELETE = ("group", "delete", "-n", "g", "--yes", "--no-wait")
# What az says when it happened, or that it does not end.
SEEN: dict[str, tuple[tuple[str, ...], str | None]] = {
    "a policy changes tags": (("group", "show", "-n", "g"), '"owner": "policy"'),
    "the group is locked": (DELETE, "ScopeLocked"),
    "the sign-in expires": (("group", "list"), "ExpiredAuthenticationToken"),
    "an operation never ends": (DISK, None),
    "Retry-After is an hour": (DISK, None),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", SEEN)
def test_an_event_of_azure_does_what_it_says(azure: Azure, tmp_path: Path, what: str) -> None:
    azure.az("group", "create", "-n", "g", "-l", "westeurope", "--tags", "tool=azbench")
    EVENTS[what](azure, tmp_path)
    argv, said = SEEN[what]
    if said is None:
        with pytest.raises(subprocess.TimeoutExpired):
            subprocess.run([azure.az_path, *argv], env=azure.environment, capture_output=True, timeout=6)
    else:
        done = azure.run(*argv)
        assert said in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("what", ["the deletion is slow", "the deletion never ends"])
def test_a_deletion_is_seen_for_as_long(azure: Azure, tmp_path: Path, what: str) -> None:
    azure.az("group", "create", "-n", "g", "-l", "westeurope")
    EVENTS[what](azure, tmp_path)
    azure.az(*DELETE)
    assert azure.az("group", "show", "-n", "g")["properties"]["provisioningState"] == "Deleting"
    if what == "the deletion is slow":
        wait_for(lambda: not azure.arm.resources)


def test_an_event_of_this_machine_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("azbenchlib") and getattr(module, "datetime", None) is datetime:
            monkeypatch.setattr(module, "datetime", datetime)  # as it is afterwards
    nothing = cast(Azure, None)
    monkeypatch.setattr(azure_weather.Clock, "wrong_by", timedelta())
    EVENTS["the clock is 30 hours ahead"](nothing, tmp_path)
    assert datetime.fromisoformat(campaign_plan.now()) > datetime.now(UTC) + timedelta(hours=29)
    if os.geteuid() == 0:
        with azure_weather.small_disk(tmp_path / "disk") as disk:
            EVENTS["the local disk is full"](nothing, disk / "out")
            with pytest.raises(OSError, match="No space left"):
                (disk / "more").write_bytes(bytes(8192))


def test_what_takes_too_long_is_ended_and_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(azure_weather, "BOUND_S", 0.1)
    wrong: list[str] = []
    with azure_weather.bounded(wrong):
        time.sleep(60)
    assert wrong == ["a command took longer than 0 s"]


def test_a_summary_counts_the_latest_of_each_sequence_and_names_the_bad_ones(tmp_path: Path) -> None:
    state = tmp_path / "state.jsonl"
    lines = [
        '{"seed": 0, "wrong": ["a group is left"], "faults": "away"}',
        '{"seed": 1, "wrong": ["only first"], "faults": "lose"}',
        '{"seed": 0, "wrong": [], "faults": "away"}',
        '{"seed": 2, "wro',
    ]
    state.write_text("\n".join(lines))
    assert summary(range(3), state) == ("1: only first (lose)\n2 of 3 sequences were run; bad: 1", False)
    assert summary([0], state) == ("1 of 1 sequences were run; bad: 0", True)
    assert summary([0, 2], state)[1] is False
