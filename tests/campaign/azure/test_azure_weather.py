"""Random fault sequences with the real az; benchmarks/azure_weather.py runs as many as are asked for."""

import os
from pathlib import Path

import pytest
from azure_weather import SHORT, carry_out, plan
from fake_azure.login import Azure

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.fio]


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
