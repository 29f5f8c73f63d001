"""The comparison of host-cache settings: its figures, its notebook, and the sentence on what was missed."""

import ast
import json
import re
from html import unescape
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from cells import page

from azbenchlib import plots
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MIB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.plots.drawing.style import LAYOUTS, NARROW, WIDE
from azbenchlib.plots.slices import FILE_SIZE, throughput_slices
from azbenchlib.plots.surface import throughput_surface
from azbenchlib.report import execute
from azbenchlib.views.host_cache import HostCache

SEED = "iozone-host-cache-2012"
ONE = [plots.Series("a", "A disk", "disk", 0)]


def words(html: str) -> str:
    bare = re.sub(r"<(style|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\u00a0", " "))


def cells(records: int = 4, files: int = 3) -> pd.DataFrame:
    """A grid of figures in which each is another; the largest record does not fit into the smallest file."""
    sizes = [(64 * KIB * 4**i, MIB * 8**j) for j in range(files) for i in range(records)]
    rows = [(bs, ws, 1e6 * (k + 1)) for k, (bs, ws) in enumerate(sizes) if bs <= ws]
    return pd.DataFrame(rows, columns=["bs_bytes", "working_set_bytes", "bw_bytes_per_s"])


# --- figures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_the_map_beside_the_surface_has_every_value(layout: plots.Layout) -> None:
    drawn = throughput_surface(cells(), ONE, layout)
    solid = [panel for panel in drawn.figure.axes if panel.name == "3d"]
    (flat,) = (panel for panel in drawn.figure.axes if panel.name != "3d")
    assert len(solid) == 1 and len(flat.patches) == len(cells()) == 11
    shown = [text.get_text() for text in flat.texts]
    assert shown[:11] == ["1", "2", "3", *map(str, range(5, 13))]
    assert "from 1 MB/s (records of 64 KiB in a file of 1 MiB) to 12 MB/s" in drawn.label.replace(
        "\u00a0", " "
    )


def test_the_map_marks_where_files_outgrow_the_memory() -> None:
    drawn = throughput_surface(cells(), ONE, WIDE, ram_bytes=10 * MIB)
    (flat,) = (panel for panel in drawn.figure.axes if panel.name != "3d")
    (line,) = flat.lines
    assert set(np.asarray(line.get_ydata(), dtype=float)) == {2.0}  # above 1 MiB and 8 MiB, below 64 MiB
    assert "RAM 10\u00a0MiB: above it, files do not fit" in [text.get_text() for text in flat.texts]
    assert not throughput_surface(cells(), ONE, WIDE).figure.axes[0].lines


@pytest.mark.parametrize(("records", "files"), [(1, 3), (4, 1)])
def test_a_surface_needs_two_sizes_of_each(records: int, files: int) -> None:
    rows = cells(records, files)
    said = f"there are {rows['bs_bytes'].nunique()} record sizes and {files} file sizes"
    with pytest.raises(InputError, match=said):
        throughput_surface(rows, ONE, WIDE)


def test_all_lines_of_a_slice_share_one_axis() -> None:
    two = [*ONE, plots.Series("b", "Another", "other", 1)]
    sizes = [MIB, 2 * MIB, 8 * MIB]
    rows = pd.DataFrame(
        {"series": ["a"] * 3 + ["b"] * 3, "size_bytes": sizes * 2, "bw_bytes_per_s": [2e8] * 3 + [2e7] * 3}
    )
    drawn = throughput_slices(rows, two, NARROW, over=FILE_SIZE, ram_bytes=4 * MIB)
    (panel,) = drawn.figure.axes
    low, high = panel.get_ylim()
    assert low <= 2e7 and high >= 2e8
    assert [len(titles) for titles in drawn.titles.values()] == [3, 3]
    assert any(text.get_text() == "RAM 4\u00a0MiB" for text in panel.texts)
    alone = throughput_slices(rows, two, NARROW, over=FILE_SIZE, ram_bytes=GIB)
    assert not any("RAM" in text.get_text() for text in alone.figure.axes[0].texts)
    with pytest.raises(InputError, match="no throughput over record size"):
        throughput_slices(rows, [plots.Series("c", "c", "c", 2)], WIDE)


# --- the notebook --------------------------------------------------------------------------------


def test_the_medians_are_those_of_the_workbook() -> None:
    text = words(HostCache([SEED]).medians().html)
    assert "first write 231,136 200,333 195,408 19,802 11.7" in text
    assert "rewrite 429,362 191,290 192,154 19,365 22.2" in text
    assert "random write 402,039 186,043 192,318 17,679" in text


def test_the_finding_names_the_setting_and_the_memory() -> None:
    text = words(HostCache([SEED]).finding().html)
    assert (
        "First write: Medium, data disk, ReadWrite cache has 19,802 KiB/s, 0.10 of the 200,333 KiB/s" in text
    )
    assert "The page cache served 609 of 676 runs (85 % to 97 % certain)" in text


@pytest.mark.slow
def test_the_notebook_tells_what_the_author_missed() -> None:
    html = page("02b_host_cache")
    text = words(html)
    assert "missed that writes with ReadWrite ran at a tenth of the others" in text
    assert "19,802 KiB/s, 0.10 of the 200,333 KiB/s" in text
    assert len(set(re.findall(r'<figure[^>]* id="(d0-record-\d)-figure"', html))) == 5
    assert "has one file size: nothing can be drawn over it" in text
    assert "has one file size only, and a surface needs two" in text


def test_a_dataset_of_several_file_sizes_has_surfaces_and_lines_by_size(tmp_path: Path) -> None:
    shown = HostCache([str(one_machine(tmp_path))], tests=["read"])
    assert 'id="d0-surface-0-figure"' in shown.surfaces().html
    lines = words(shown.over_file_size().html)
    assert "Read, a line a size of records: throughput." in lines and "RAM 10 MiB" in lines
    assert "Read, a line a size of files: throughput." in words(shown.over_record_size().html)
    assert "page cache" not in words(shown.finding().html)


def one_machine(folder: Path) -> Path:
    """A dataset of one machine with 10 MiB of memory, read past the page cache."""
    row = "{:>16}{:>8}" + " " * 18 + " {:>8}\n"
    rows = [
        row.format(ws // KIB, bs // KIB, round(rate / KIB))
        for bs, ws, rate in cells().itertuples(index=False)
    ]
    head = "\tCommand line used: iozone -I -i 1 -f /d\n" + " " * 14 + "kB  reclen    write  rewrite    read\n"
    (folder / "raw").mkdir()
    (folder / "raw" / "sheet.txt").write_text(
        "\tIozone: Performance Test of File I/O\n" + head + "".join(rows)
    )
    setup = {"setup_id": "m", "environment": "local", "ram_bytes": 10 * MIB}
    described = {"name": "m", "title": "M", "about": "", "measured": "today", "tools": {}, "setups": [setup]}
    (folder / "manifest.json").write_text(json.dumps(described))
    assert len(Dataset.load(folder).results) == len(cells())
    return folder


@pytest.mark.parametrize(
    ("datasets", "tests", "said"),
    [
        ([], [], "name one"),
        (["ultra-disk-2019"], [], "has no throughput measured with iozone"),
        ([SEED], ["walk"], "has no test 'walk' of iozone; it has: write, rewrite"),
    ],
)
def test_what_cannot_be_compared_is_refused(datasets: list[str], tests: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        HostCache(datasets, tests=tests)


def test_each_cell_is_prose_parameters_or_one_library_call() -> None:
    notebook = nbformat.read(execute.find_notebook("02b_host_cache"), as_version=4)
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        if cell.id.startswith("going-on"):
            continue
        assert cell.outputs == []
        body = ast.parse(cell.source).body
        if "parameters" in cell.metadata.get("tags", []):
            assert all(isinstance(line, ast.AnnAssign) for line in body)
            continue
        lines = [line for line in body if not isinstance(line, ast.ImportFrom)]
        assert isinstance(lines[-1], ast.Expr) and len(lines) <= 2
        assert sum(isinstance(node, ast.Call) for line in lines for node in ast.walk(line)) == len(lines)
