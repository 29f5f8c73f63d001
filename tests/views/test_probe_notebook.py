"""The notebook of the probe, from its parameters to its portrait."""

import ast
import inspect
import shutil
from pathlib import Path

import nbformat
import pytest

from azbenchlib.cli.probing import probe
from azbenchlib.report import execute
from azbenchlib.report.page import to_html
from azbenchlib.views.probe import ProbedDisk

# What the command line has alone: the VM's id, which a dataset does not tell, and what no cell has a use for.
COMMAND_LINE = {"vm_id", "vm", "as_of", "fresh", "format_"}


def test_the_parameters_of_the_notebook_are_those_of_the_class_and_of_the_command_line() -> None:
    cells = nbformat.read(execute.find_notebook("07_probe"), as_version=4).cells
    (parameters,) = (cell for cell in cells if "parameters" in cell.metadata.get("tags", []))
    names = [node.target.id for node in ast.parse(parameters.source).body]
    (call,) = (
        node
        for cell in cells
        for node in ast.walk(ast.parse(cell.source) if cell.cell_type == "code" else ast.parse(""))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "ProbedDisk"
    )
    assert names == [*(ast.unparse(one) for one in call.args), *(one.arg for one in call.keywords)]
    assert names == list(inspect.signature(ProbedDisk).parameters)
    options = set(inspect.signature(probe).parameters) - COMMAND_LINE
    assert set(names) == {{"output": "dataset"}.get(name, name) for name in options}


@pytest.mark.fio
@pytest.mark.slow
def test_a_directory_is_probed_and_its_portrait_drawn(tmp_path: Path) -> None:
    if shutil.which("fio") is None:
        pytest.skip("no fio")
    data, dataset = tmp_path / "data", tmp_path / "probe"
    data.mkdir()
    how = {"disk": "", "dataset": str(dataset), "seconds": 1.0, "runs": 2, "size": "8MiB"}
    executed = execute.run_notebook(execute.find_notebook("07_probe"), {"target": str(data), **how})
    page = to_html(executed, "Probe")
    assert "Reads, IOPS cap" in page and "led to this" in page and "nats" in page

    again = ProbedDisk(str(data), **how)  # finished: read, not measured
    assert len(again.runs()) == 2
    assert again.unlearnt()["minutes"].max() == 30
    roof = again.portrait().data
    assert roof is not None and set(roof["ddir"]) == {"read", "write"}
    assert (roof["low"] <= roof["iops"]).all() and (roof["iops"] <= roof["high"]).all()
