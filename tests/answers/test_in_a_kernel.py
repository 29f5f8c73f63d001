"""Answers as last lines of cells, in a real kernel: each is one output, small, and has a text."""

import nbclient
import nbformat
import pytest

from azbenchlib.answers.blocks import MIME

CALLS = (
    "az.read('azure-local-disks-2020')",
    "az.judge('azure-local-disks-2020')",
    "az.judge('azure-local-disks-2020').figures",
    "az.price('Standard_E8ds_v4', ['P30x4'], region='westeurope')",
    "az.advise(iops=2_400, size='1TiB', region='westeurope')",
    "az.compare('azure-local-disks-2020:E8ds_v4-os-none', 'azure-local-disks-2020:E8ds_v4-temp')",
)
PRINTED = f"print({CALLS[3]})"
MOST_CHARACTERS = 30_000


@pytest.fixture(scope="module")
def cells() -> dict[str, list[nbformat.NotebookNode]]:
    """The outputs of each cell."""
    sources = ["import azbenchlib as az", *CALLS, PRINTED]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    return {cell.source: cell.outputs for cell in notebook.cells}


@pytest.mark.parametrize("call", CALLS)
def test_an_answer_is_one_small_output(call: str, cells: dict[str, list[nbformat.NotebookNode]]) -> None:
    (output,) = cells[call]
    data = dict(output["data"])
    data.pop(MIME, None)  # for reports
    assert data["text/plain"].strip() and "<" in data["text/html"]
    assert sum(map(len, data.values())) < MOST_CHARACTERS


def test_what_is_printed_is_text(cells: dict[str, list[nbformat.NotebookNode]]) -> None:
    (output,) = cells[PRINTED]
    assert output["output_type"] == "stream"
    assert output["text"].splitlines()[0] == "Standard_E8ds_v4 in westeurope, USD"  # without colours
