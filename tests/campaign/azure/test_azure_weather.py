"""Random fault sequences with the real az; benchmarks/azure_weather.py runs as many as are asked for."""

import os
from pathlib import Path

import pytest
from azure_weather import carry_out, plan
from fake_azure.login import Azure

from azbenchlib.azure import retries
from azbenchlib.azure.az_errors import Passing
from azbenchlib.campaign.targets.azure import eviction
from azbenchlib.campaign.targets.azure.ending import orphans

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.fio]


@pytest.mark.parametrize("seed", range(30))
def test_nothing_is_lost_measured_twice_or_left_unnamed(
    azure: Azure, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seed: int
) -> None:
    monkeypatch.setattr(retries, "FIRST_TRY_PAUSE_S", 0.1)
    monkeypatch.setattr(eviction, "EVICTION_PAUSES_S", (0.1, 0.1, 0.1))
    monkeypatch.setitem(retries.WHILE_MEASURING, Passing.not_there_yet, 10)
    for name in ("LONGEST_PAUSE_S", "LONGEST_LOOK_S"):
        monkeypatch.setattr(orphans, name, 0.5)
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in azure.environment.items():
        monkeypatch.setenv(name, value)
    assert carry_out(azure, tmp_path, seed) == [], plan(azure, seed)
