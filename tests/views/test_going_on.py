"""What notebooks have in common: the parameters that state a setup, and a last cell to go on from."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from azbenchlib.core.errors import InputError
from azbenchlib.views.latency import Latency
from azbenchlib.views.start import Start

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "tests" / "data" / "fio" / "randrw.json"
GOING_ON = ["02_latency", "02b_host_cache", "03_limits", "04_cost", "05_compare", "06_size"]
OF_DATASETS = ["00_start", "02_latency", "02b_host_cache", "03_limits", "04_cost", "report"]
STATED = {"vm": "str", "disks": "list", "region": "str", "group_by": "str"}


def cells(name: str) -> list[dict[str, Any]]:
    document = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text())
    return [cell for cell in document["cells"] if cell["cell_type"] == "code"]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


@pytest.mark.parametrize("name", OF_DATASETS)
def test_every_notebook_of_datasets_takes_a_setup_by_the_same_parameters(name: str) -> None:
    parameters, *others = cells(name)
    taken = dict(
        line.split(" = ")[0].split(": ")
        for line in source(parameters).splitlines()
        if not line.startswith("#")
    )
    assert STATED.items() <= taken.items()
    used = "".join(map(source, others)).replace(" ", "").replace("\n", "")
    for given in STATED:
        assert f"{given}={given}" in used


@pytest.mark.parametrize("name", GOING_ON)
@pytest.mark.sampled(3)
def test_the_last_cell_goes_on_with_a_dataframe(name: str) -> None:
    parameters, first, *_, last = map(source, cells(name))
    *lines, end = last.strip().removesuffix(";").split("\n")
    known: dict[str, Any] = {}
    for text in (parameters, first, "\n".join(lines)):
        exec(text, known)  # noqa: S102  (our own notebook)
    shown = eval(end, known)  # noqa: S307
    rows = getattr(shown, "data", shown)
    assert isinstance(rows, pd.DataFrame | pd.Series) and len(rows) > 2
    assert sum(bool(line) and "import " not in line for line in lines) <= 2  # and the end


def test_a_setup_is_stated_of_an_output() -> None:
    stated = Start(str(OUTPUT), vm="E8ds_v5", disks="P30", region="westeurope")
    (part,) = stated.parts
    assert part.dataset.setups["vm_size"].tolist() == ["Standard_E8ds_v5"]
    assert part.dataset.setups["region"].tolist() == ["westeurope"]
    assert Start([str(OUTPUT)]).parts[0].dataset.setups["vm_size"].isna().all()


def test_a_setup_is_not_stated_where_all_tell_theirs() -> None:
    with pytest.raises(InputError, match="setup"):
        Latency(["azure-local-disks-2020"], vm="E8ds_v5", disks=["P30"])
    with pytest.raises(InputError, match="group_by 'vm' is not one of"):
        Start([str(OUTPUT)], group_by="vm")
