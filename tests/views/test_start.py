"""The first notebook: what is there, and the figures of one dataset to go on with."""

import re
from pathlib import Path

import cells
import matplotlib.pyplot as plt
import pytest

from azbenchlib.core.errors import InputError
from azbenchlib.views.latency import Latency
from azbenchlib.views.start import Start

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SHIPPED = sorted(
    path.parent.name for path in (Path(__file__).parents[2] / "datasets").glob("*-20*/manifest.json")
)


def test_the_shipped_datasets_are_listed_by_name() -> None:
    data = Start(["ultra-disk-2019"]).known().data
    assert data is not None and set(SHIPPED) <= set(data["name"])
    assert len(data) == data["name"].nunique()


def test_the_results_are_those_that_were_published() -> None:
    block = Start(["azure-local-disks-2020"]).results()
    assert block.data is not None
    fastest = block.data.loc[block.data["iops"].idxmax()]
    assert (fastest["series"], fastest["iops"]) == ("L8s_v2-nvme", 261_000)
    assert "261,000" in block.html and len(block.data) == block.html.count("<tr") - 1 == 12


def test_the_notebook_runs_and_leads_to_the_others() -> None:
    notebook = cells.executed("00_start")
    shown = [cell.outputs[0].data["text/html"] for cell in notebook.cells if cell.get("outputs")]
    assert ["<table" in html for html in shown] == [True] * 3 and 'class="dataframe"' in shown[2]
    prose = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    linked = re.findall(r"\]\(([^)]+)\)", prose)
    others = {path.name for path in NOTEBOOKS.glob("*.ipynb")} - {"00_start.ipynb"}
    assert [name for name in others if name not in linked] == []


def test_no_dataset_is_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match="name at least one dataset"):
        Start([])


def test_a_choice_of_the_menus_is_drawn_or_refused_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    menus = Latency(["azure-local-disks-2020"]).menus()
    x, y, hue, style = menus.children[:4]
    assert [menu.value for menu in (x, y, hue, style)] == ["queue_depth", "p99", "series", "series"]
    menus.update()
    assert plt.get_fignums()
    plt.close("all")
    x.value = "iops"  # latencies and rates were measured in runs of their own
    menus.update()
    assert not plt.get_fignums()
    told = [text for output in menus.out.outputs for text in output.get("text", "").splitlines()]
    assert "no run has both iops and p99" in [*told, *capsys.readouterr().out.splitlines()]
