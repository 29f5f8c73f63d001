"""The notebook of comparisons: its sentence, its table as numbers, both sides on shared axes."""

import ast
import re
from html import unescape
from pathlib import Path

import cells
import nbformat
import numpy as np
import pytest
from compared_runs import fio_outputs, side

from azbenchlib.analysis.compare.curves import sides_curves, sides_rates
from azbenchlib.core.errors import InputError
from azbenchlib.views.compare import Compare

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "05_compare.ipynb"
NONE, CACHED = (f"azure-local-disks-2020:E8ds_v4-os-{cache}" for cache in ("none", "readwrite"))


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)).replace("\u00a0", " "))


@pytest.fixture(scope="module")
def shown() -> Compare:
    return Compare(NONE, [CACHED])


def test_the_answer_stands_first_and_says_what_differs(shown: Compare) -> None:
    result = shown.result()
    assert (
        words(result.html)
        .strip()
        .startswith(
            "Undecided: 8 KiB random writes, QD 1: p50 ×0.021 is different, but not repeated; 5 of 5 figures "
        )
    )
    assert "Differs: host caching: None and ReadWrite." in words(result.html)
    assert list(result.data["fact"]) == ["host caching", "bursting"]


def test_the_table_is_there_as_numbers(shown: Compare) -> None:
    table = shown.table()
    row = table.data.set_index("metric").loc["p99"]
    assert (row["old"], row["new"]) == (3556, 685) and row["ratio"] == pytest.approx(685 / 3556)
    assert row["answer"] == "undecided" and row["old_runs"] == 1
    assert "8 KiB random writes, QD 1 p50" in words(table.html)  # the workload stands above its figures
    assert "p99 3.56 ms (1) 685 µs (1) ×0.193" in words(table.html)


def test_both_sides_stand_on_shared_axes(shown: Compare) -> None:
    curves = shown.percentiles()
    assert set(curves.data["series"]) == {NONE, CACHED}
    assert "At p99: old 3.56 ms; new 685 µs." in unescape(curves.html).replace("\u00a0", " ")
    assert "p50 ×0.021" in words(curves.html)
    rates = shown.rates()
    assert "IOPS ×17.2" in words(rates.html) and set(rates.data["iops"].dropna()) == {3499, 60100}


def test_curves_of_several_runs_are_those_of_all_their_i_os() -> None:
    rng = np.random.default_rng(1)
    samples = [rng.lognormal(5, 0.3, 2000) for _ in range(3)]
    both = [side(name, [{"samples_us": own, "iops": 10.0} for own in samples]) for name in ("a", "b")]
    curve = sides_curves(both).set_index(["series", "percentile"])["lat_us"]
    for p in (50.0, 99.0):
        assert curve["a", p] == pytest.approx(np.percentile(np.concatenate(samples), p), rel=0.01)
    bare = [side(name, [{"percentiles": {99.0: 5.0}}] * 2) for name in ("a", "b")]
    assert sides_curves(bare).empty and sides_rates(bare)["iops"].isna().all()


def test_sides_that_cannot_be_drawn_say_so(tmp_path: Path) -> None:
    shown = Compare(*(str(fio_outputs(tmp_path / name, [len(name) * 10])) for name in ("old", "newer")))
    assert "--output-format=json+" in shown.percentiles().html
    with pytest.raises(InputError, match="at most 5"):
        Compare(NONE, [CACHED] * 6)


def test_the_parameters_of_the_notebook_are_those_of_the_class() -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    (parameters,) = (cell for cell in cells if "parameters" in cell.metadata.get("tags", []))
    names = [node.target.id for node in ast.parse(parameters.source).body]
    (call,) = (
        node
        for cell in cells
        if cell.id == "load"
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Compare"
    )
    assert names == [*(ast.unparse(one) for one in call.args), *(one.arg for one in call.keywords)]
    assert all(cell.get("execution_count") is None for cell in cells)


@pytest.mark.slow
def test_the_notebook_runs() -> None:
    text = cells.page("05_compare", margin=0.1)
    assert "Undecided" in text and "<svg" in text
