"""What is said where an extra of azbench is not installed."""

from importlib import metadata
from pathlib import Path

import pytest

from azbenchlib.core.extras import install, lacking

NEEDS = ["numpy>=2", "papermill>=2.7; extra == 'notebooks'", 'jupyter-client>=8; extra == "notebooks"']


@pytest.mark.parametrize("module", ["papermill", "papermill.engines", "jupyter_client.manager"])
def test_a_module_of_an_extra_names_the_extra_and_the_way_to_get_it(module: str) -> None:
    told = lacking(module, NEEDS)
    assert told is not None
    assert "extra 'notebooks'" in told and "pip install 'azbench[notebooks]'" in told


@pytest.mark.parametrize("module", ["numpy", "azbenchlib.nowhere", ""])
def test_what_belongs_to_no_extra_is_no_matter_of_extras(module: str) -> None:
    assert lacking(module, NEEDS) is None


@pytest.mark.parametrize(
    ("file", "command"),
    [("uv-receipt.toml", "uv tool install"), ("pipx_metadata.json", "pipx install --force")],
)
def test_an_environment_of_another_tool_gets_the_extra_from_that_tool(
    file: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / file).touch()
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    assert install("lake") == f"{command} 'azbench[lake]'"
    assert str(lacking("papermill", NEEDS)).endswith(f": {command} 'azbench[notebooks]'")


def test_the_installed_azbench_knows_its_own_extras() -> None:
    assert "azbench[notebooks]" in (lacking("seaborn") or "")
    assert {"notebooks", "dev"} <= set(metadata.metadata("azbench").get_all("Provides-Extra"))
