"""Random fault sequences with the real az; benchmarks/azure_weather.py runs as many as are asked for."""

import os
import subprocess
import sys
import time
from pathlib import Path

import azure_weather
import pytest
from azure_weather import SHORT, carry_out, finished, plan, summary
from fake_azure.login import Azure

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
