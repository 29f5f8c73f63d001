"""The latency notebook: it runs on any dataset, shows what there is, and says what is missing."""

import ast
import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import cells
import nbformat
import pytest
from waiting import PATIENCE_S

from azbenchlib.core.errors import InputError
from azbenchlib.report import execute
from azbenchlib.views.latency import Latency

ROOT = Path(__file__).parents[2]
LOCAL_DISKS = ROOT / "datasets" / "azure-local-disks-2020"


def words(html: str) -> str:
    bare = re.sub(r"<(style|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\u00a0", " "))


def figures(html: str) -> list[str]:
    return re.findall(r'<figure[^>]* id="(d\d-[a-z]+)-\d+-figure"', html)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset as a measurement leaves it: json+ and logs, one of them of single I/Os."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "raw").mkdir()
    for name, more in (("averaged", ["--log_avg_msec=50"]), ("single", ["--iodepth=2", "--rate_iops=500"])):
        command = [
            "fio",
            f"--name={name}",
            "--rw=randrw",
            "--bs=4k",
            "--size=1m",
            "--runtime=1",
            "--time_based",
        ]
        command += [f"--filename={folder / 'file'}", f"--write_lat_log={name}", "--output-format=json+"]
        command += [f"--output={name}.json", "--ioengine=libaio", "--time_based", *more]
        subprocess.run(command, cwd=folder / "raw", check=True, capture_output=True, timeout=PATIENCE_S)
    (folder / "file").unlink()
    about = {
        "name": "measured",
        "title": "Two <b>loads</b>",
        "setups": [{"setup_id": "here", "environment": "local", "os": "Linux"}],
    }
    described = json.loads((LOCAL_DISKS / "manifest.json").read_text())
    described |= {"raw": {}, "commands": [], "sources": [], "notes": []} | about
    (folder / "manifest.json").write_text(json.dumps(described))
    return folder


@pytest.mark.fio
@pytest.mark.slow
def test_a_measurement_is_shown_in_all_five_ways(measured):
    html = cells.page("02_latency", datasets=[str(measured)])
    kinds = ("percentiles", "histogram", "time", "heat")
    assert set(figures(html)) == {f"d0-{kind}" for kind in kinds}
    assert len(figures(html)) == 2 * len(kinds)  # reads and writes
    text = words(html)
    assert "averages of an interval (log_avg_msec), not single I/Os" in text
    assert "Every line of the log is one I/O." in text
    assert "has no" not in text
    assert "<b>loads</b>" not in html


@pytest.mark.slow
def test_a_dataset_of_percentiles_alone_says_what_it_lacks():
    html = cells.page("02_latency", datasets=[str(LOCAL_DISKS)], percentiles=[50.0, 99.9])
    assert figures(html) == ["d0-percentiles"]
    text = words(html)
    lacks = "“Local and remote disks of three Azure VM sizes” has no"
    assert (
        text.count(f"{lacks} histogram of latency. To have it next time, run fio with --output-format=json+")
        == 1
    )
    assert (
        text.count(f"{lacks} log of latencies. To have it next time, run fio with --write_lat_log=NAME") == 2
    )
    assert "p50 p99.9 I/Os" in text and "E8as_v4, temp disk" in text


def test_each_cell_is_prose_parameters_or_one_library_call():
    notebook = nbformat.read(execute.find_notebook("02_latency"), as_version=4)
    for cell in notebook.cells:
        if cell.cell_type != "code" or cell.id.startswith("going-on"):
            continue
        assert cell.outputs == []
        body = ast.parse(cell.source).body
        if "parameters" in cell.metadata.get("tags", []):
            assert all(isinstance(line, ast.AnnAssign) for line in body)
            assert cell.source.count("#") == len(body)
            continue
        lines = [line for line in body if not isinstance(line, ast.ImportFrom)]
        assert isinstance(lines[-1], ast.Expr) and len(lines) <= 2
        assert sum(isinstance(node, ast.Call) for line in lines for node in ast.walk(line)) == len(lines)


@pytest.mark.fio
def test_runs_directions_and_kinds_can_be_picked(measured):
    every = Latency([str(measured)])
    assert words(every.table().html).count("completion latency") == 0  # it begins the sentence
    assert figures(every.heat_map().html) == ["d0-heat"] * 2
    some = Latency([str(measured)], runs="single", ddir="write", percentiles=[99])
    assert figures(some.heat_map().html) == ["d0-heat"]
    assert "not single I/Os" not in some.heat_map().html
    assert "4 KiB, QD 2" in words(some.table().html)
    assert "4 KiB, QD 1" not in words(some.table().html)
    total = Latency([str(measured)], lat_kind="lat")
    assert figures(total.over_time().html) == ["d0-time"] * 2
    assert "has no histogram of latency" in total.histogram().html  # fio gives total latency none


@pytest.mark.fio
def test_several_datasets_are_told_apart(measured):
    block = Latency([str(measured), str(LOCAL_DISKS)]).histogram()
    assert figures(block.html) == ["d0-histogram"] * 2
    assert "Two &lt;b&gt;loads&lt;/b&gt;" in block.html
    assert "three Azure VM sizes” has no histogram" in block.html


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ddir": "up"}, "ddir 'up' is not one of: read, write, trim, mixed"),
        ({"lat_kind": "slat"}, "lat_kind 'slat' is not one of: clat, lat"),
        ({"percentiles": [50, 0]}, "percentiles must be above 0 and at most 100, not 0"),
        ({"runs": "nothing"}, "no run has 'nothing' in the name of its job; there are: 000-E8as-temp-sync"),
        ({"datasets": []}, "at least one dataset"),
        ({"datasets": ["no-such"]}, "no dataset 'no-such'"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(given, said):
    with pytest.raises(InputError, match=re.escape(said)):
        Latency(**{"datasets": [str(LOCAL_DISKS)]} | given)


def test_hostile_names_stay_text(tmp_path):
    folder = tmp_path / "hostile"
    shutil.copytree(LOCAL_DISKS, folder)
    evil = "<script>alert(1)</script>\"'>{{ 7*7 }}"
    described = json.loads((folder / "manifest.json").read_text()) | {"title": evil}
    described["setups"][0]["label"] = evil
    (folder / "manifest.json").write_text(json.dumps(described))
    latency = Latency([str(folder)])
    made = latency.table() + latency.curves() + latency.histogram() + latency.heat_map()
    assert "alert(1)" in words(made.html) and "{{ 7*7 }}" in made.html
    values = made.html.count('<script type="application/json"')  # of charts, not executed
    assert made.html.count("<script") == values and "\\u003cscript>alert(1)\\u003c/script>" in made.html


def test_two_figures_of_all_runs_stand_against_each_other() -> None:
    latency = Latency([str(LOCAL_DISKS)])
    grid = latency.explore(x="queue_depth", y="p99")
    published = latency.parts[0].dataset.percentiles.query("percentile == 99")["lat_us"]
    (marks,) = grid.ax.collections
    assert sorted(marks.get_offsets()[:, 1]) == sorted(published.astype(float))
    assert {"E8as_v4, temp disk", "L8s_v2, local NVMe"} <= {text.get_text() for text in grid.legend.texts}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"x": "series"}, "x 'series' is not one of: queue_depth, bs_bytes"),
        ({"hue": "p99"}, "hue 'p99' is not one of: series, rw, ddir"),
        ({"x": "iops", "y": "p99"}, "no run has both iops and p99"),
    ],
)
def test_what_cannot_be_explored_is_refused_in_a_sentence(given: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        Latency([str(LOCAL_DISKS)]).explore(**given)


def test_each_figure_has_its_dataframe() -> None:
    latency = Latency([str(LOCAL_DISKS)], percentiles=[50, 99])
    table = latency.table().data
    assert table is not None and set(table["percentile"]) == {50.0, 99.0} and len(table) == 12
    assert table.loc[table["lat_us"].idxmin(), "series"] == "L8s_v2-nvme"
    curves, courses = latency.curves().data, latency.over_time().data
    assert curves is not None and len(curves) == 6 * 17  # the percentiles that fio printed
    assert courses is not None and courses.empty
