"""Fixtures; a test module takes them with `pytest_plugins = ("fake_azure.fixtures",)`."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .campaigns import SMALL
from .login import Azure, environment, find_az, warm, write_config
from .recorded import ModelCheck
from .server import Server
from .vm import available


@pytest.fixture(scope="session")
def az_path() -> Path:
    """The real az."""
    found = find_az()
    if found is None:
        pytest.skip("az is not installed: `make azure` gets it")
    return found


@pytest.fixture(scope="session")
def _azure(az_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azure]:
    folder = tmp_path_factory.mktemp("azure")
    config = folder / "config"
    with Server(folder) as server:
        write_config(config, server.base)
        variables = environment(config, server.certificate)
        with warm(az_path, config, folder / "warm") as az:
            yield Azure(az, variables | {"AZBENCH_AZ": str(az)}, server.arm)


@pytest.fixture(scope="session")
def model_check(az_path: Path) -> Iterator[ModelCheck]:
    """What judges whether an answer is one of Azure's."""
    check = ModelCheck(az_path)
    yield check
    check.close()


@pytest.fixture
def azure(_azure: Azure, model_check: ModelCheck) -> Iterator[Azure]:
    """An empty subscription, all of whose answers are as az knows them and as others recorded them.

    Skips where this machine can emulate no VMs.
    """
    reason = available()
    if reason:
        pytest.skip(f"no VM can be emulated here: {reason}")
    _azure.arm.reset()
    yield _azure
    answers = [*_azure.arm.log]
    _azure.arm.reset()
    found = model_check.differences(answers)
    assert not found, "not as Azure answers:\n" + "\n".join(found)


@pytest.fixture
def signed_in(azure: Azure, monkeypatch: pytest.MonkeyPatch) -> Azure:
    """The same, and this process is logged in to it."""
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in azure.environment.items():
        monkeypatch.setenv(name, value)
    return azure


@pytest.fixture
def small(signed_in: Azure, tmp_path: Path) -> Path:
    """A small measurement file, and this process logged in to the fake Azure."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path
