"""Histogram and heat map: every I/O stands where it belongs, and the figures fit a page."""

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.patches import PathPatch

from azbenchlib.analysis import distribution, grouping
from azbenchlib.core import histogram, schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import NS_PER_US
from azbenchlib.plots import heatmap
from azbenchlib.plots.drawing import svg
from azbenchlib.plots.drawing.label_layout import text_width
from azbenchlib.plots.drawing.style import LAYOUTS, NARROW, WIDE, Layout, Series
from azbenchlib.plots.heatmap import latency_heatmap
from azbenchlib.plots.histogram import latency_histogram

SVG = f"{{{svg.NAMESPACE}}}"
NAMES = ("a <b> & $x$ \x00", "漢字のディスク 😀", "Standard_L8s_v3_local_nvme_raid0_of_eight_devices", "x")


def tables_of(**rows: list[dict]) -> dict[str, pd.DataFrame]:
    known = {"level": "job", "rw": "randread", "bs_bytes": 4096, "source_sha256": "f", "source_doc": 0}
    rows["runs"] = [known | run for run in rows["runs"]]
    rows.setdefault("results", [])
    rows["results"] += [{"run_id": run["run_id"], "ddir": "read", "iops": 1.0} for run in rows["runs"]]
    return {name: schema.frame(name, rows.get(name, [])) for name in schema.TABLES}


def run(run_id: str, depth: int = 1, **values: object) -> dict:
    return {"run_id": run_id, "queue_depth": depth, "group_id": 0} | values


def bins_of(run_id: str, samples: list[int], kind: str = "clat", t_s: float | None = None) -> list[dict]:
    values, counts = np.unique(histogram.value_of(histogram.index_of(samples)), return_counts=True)
    row = {"run_id": run_id, "ddir": "read", "lat_kind": kind, "t_s": t_s}
    return [row | {"bin_ns": int(v), "n": int(n)} for v, n in zip(values, counts, strict=True)]


def lines_of(
    run_id: str, points: list[tuple[float, float]], bs: int | None, kind: str = "clat"
) -> list[dict]:
    row = {"run_id": run_id, "ddir": "read", "metric": f"{kind}_us", "bs_bytes": bs}
    return [row | {"seq": i, "t_s": t_s, "value": us} for i, (t_s, us) in enumerate(points)]


def spread_of(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    return distribution.spread(grouping.arrange(tables), tables)


def heat_of(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    return distribution.over_time(grouping.arrange(tables), tables)


# ---- classes of latency


@settings(max_examples=6)
@given(st.lists(st.integers(0, 10**10), min_size=1, max_size=60))
def test_every_io_is_in_a_class_that_holds_its_value(samples):
    tables = tables_of(runs=[run("r")], bins=bins_of("r", samples))
    found = spread_of(tables)
    assert set(found["n_total"]) == {len(samples)}
    assert float(found["share"].sum()) == pytest.approx(1)  # so few have no 1 in 1,000
    assert len(found) <= distribution.MOST_BARS + 2 or float(found["high_us"].max()) > 10**6
    for row in found.itertuples():
        inside = [s for s in samples if row.low_us * NS_PER_US <= s < row.high_us * NS_PER_US]
        assert row.share * row.n_total == pytest.approx(len(inside))


def test_the_fastest_and_slowest_in_a_thousand_are_left_out():
    samples = [500] + [100_000] * 4998 + [10**9]
    found = spread_of(tables_of(runs=[run("r")], bins=bins_of("r", samples)))
    assert len(found) == 1
    assert found["low_us"].iloc[0] <= 100 < found["high_us"].iloc[0]
    assert found["share"].iloc[0] == pytest.approx(4998 / 5000)


def test_runs_of_one_workload_are_added_up_and_none_stands_for_another():
    both = bins_of("a", [1000] * 3) + bins_of("b", [1000])
    found = spread_of(tables_of(runs=[run("a"), run("b")], bins=both))
    assert found["n_total"].tolist() == [4]
    assert spread_of(tables_of(runs=[run("a"), run("b")], bins=bins_of("a", [1000]))).empty


def test_completion_latency_comes_first_and_two_histograms_of_a_run_count_once():
    bins = bins_of("r", [1000] * 2) + bins_of("r", [1000] * 2, t_s=1.0) + bins_of("r", [9000], kind="lat")
    found = spread_of(tables_of(runs=[run("r")], bins=bins))
    assert found[["lat_kind", "n_total"]].to_numpy().tolist() == [["clat", 2]]
    total = spread_of(tables_of(runs=[run("r")], bins=bins_of("r", [9000], kind="lat")))
    assert total["lat_kind"].tolist() == ["lat"]


# ---- classes and time


@settings(max_examples=6)
@given(st.lists(st.tuples(st.floats(0, 100), st.integers(1, 10**6)), min_size=1, max_size=40))
def test_every_logged_io_is_in_a_cell_of_its_time_and_value(points):
    points = [(t_s, float(us)) for t_s, us in points]
    cells = heat_of(tables_of(runs=[run("r")], samples=lines_of("r", points, 4096)))
    fastest = np.quantile([us for _, us in points], 0.001, method="inverted_cdf")
    kept = [us for _, us in points if us >= fastest * (1 - 1 / 128)]
    assert cells["n"].sum() == len(kept) == len(points)
    assert set(cells["source"]) == {"log"}
    columns = cells.groupby("t_s")["share"].sum().to_numpy(dtype=float)
    assert columns == pytest.approx(np.ones(len(columns)))
    for row in cells.itertuples():
        inside = [us for _, us in points if row.low_us <= us < row.high_us]
        assert row.n <= len(inside)


def test_a_line_of_averages_is_a_column_and_says_that_it_is_no_single_io():
    points = [(0.1, 100.0), (0.201, 110.0), (0.3, 900.0), (0.4, 100.0)]
    cells = heat_of(tables_of(runs=[run("r")], samples=lines_of("r", points, None)))
    assert set(cells["source"]) == {"averages"}
    assert cells["t_s"].tolist() == pytest.approx([0, 0.1, 0.2, 0.3])
    assert cells["t_end_s"].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    assert (cells["low_us"].astype(float) <= [100, 110, 900, 100]).all()
    assert (cells["high_us"].astype(float) > [100, 110, 900, 100]).all()


def test_histogram_logs_are_preferred_to_averages_and_count_every_io():
    bins = bins_of("r", [10_000] * 99 + [10**6], t_s=1.0) + bins_of("r", [10_000] * 50, t_s=2.0)
    tables = tables_of(runs=[run("r")], bins=bins, samples=lines_of("r", [(0.5, 10.0)], None))
    cells = heat_of(tables)
    assert set(cells["source"]) == {"histogram"}
    assert cells.sort_values(["t_s", "low_us"])[["t_s", "n"]].to_numpy(dtype=float).tolist() == [
        [0, 99],
        [0, 1],
        [1, 50],
    ]


def test_many_lines_share_at_most_sixty_columns():
    points = [(i / 10, 100.0) for i in range(1, 1000)]
    cells = heat_of(tables_of(runs=[run("r")], samples=lines_of("r", points, None)))
    assert cells["t_s"].nunique() == distribution.MOST_COLUMNS
    assert cells["n"].sum() == len(points)


def test_without_logs_or_bins_there_are_no_cells():
    tables = tables_of(runs=[run("r")])
    assert heat_of(tables).empty and spread_of(tables).empty
    assert "source" in heat_of(tables).columns


# ---- figures


def some_series(count: int = 4) -> list[Series]:
    return [Series(f"key {i}", name, name, i) for i, name in enumerate(NAMES[:count])]


def some_spread(series: list[Series]) -> pd.DataFrame:
    low = 100 * 2.0 ** np.arange(8)
    share = np.array([0.01, 0.05, 0.3, 0.3, 0.2, 0.1, 0.03, 0.01])
    told = {
        "low_us": low,
        "high_us": 2 * low,
        "share": share,
        "n_total": 1234,
        "p50_us": 900,
        "p99_us": 12_000,
    }
    return pd.concat([pd.DataFrame(told | {"series": entry.key}) for entry in series])


def some_cells(series: list[Series]) -> pd.DataFrame:
    values = ((100.0, 990, 0.99), (400.0, 9, 0.009), (1600.0, 1, 0.001))
    rows = [
        {"series": entry.key, "t_s": t, "low_us": low, "high_us": 2 * low, "n": n, "share": share}
        for entry in series
        for t in range(5)
        for low, n, share in values
    ]
    return pd.DataFrame(rows).assign(t_end_s=lambda cells: cells["t_s"] + 1)


FIGURES = ((latency_histogram, some_spread), (latency_heatmap, some_cells))


@pytest.mark.parametrize(("draw", "data"), FIGURES)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.sampled(3)
def test_no_text_leaves_the_figure_and_no_two_touch(draw, data, layout: Layout, count):
    series = some_series(count)
    root = ET.fromstring(svg.inline(draw(data(series), series, layout), "p"))  # noqa: S314  (our own)
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    boxes = []
    for text in root.iter(f"{SVG}text"):
        size = float(text.attrib["font-size"])
        wide = text_width(text.text or "", size, bold=text.attrib.get("font-weight") in ("bold", "700"))
        x, y = float(text.attrib["x"]), float(text.attrib["y"])
        left = x - {"middle": wide / 2, "end": wide}.get(text.attrib.get("text-anchor", ""), 0)
        boxes.append((left, y - 0.75 * size, left + wide, y + 0.2 * size, text.text))
    assert len(boxes) > 8
    for left, top, right, bottom, said in boxes:
        assert left >= -0.5 and right <= width + 0.5 and top >= 0 and bottom <= height, said
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart, (one[4], other[4])


def test_the_bars_are_the_shares():
    series = some_series(1)
    panel = latency_histogram(some_spread(series), series, WIDE).figure.axes[0]
    (bars,) = [patch for patch in panel.patches if isinstance(patch, PathPatch)]
    corners = bars.get_path().vertices.reshape(-1, 5, 2)
    assert corners[:, 0, 0].tolist() == some_spread(series)["low_us"].tolist()
    assert corners[:, 2].tolist() == some_spread(series)[["high_us", "share"]].to_numpy().tolist()
    assert to_hex(bars.get_facecolor()) == series[0].colour


def test_the_opacity_of_a_cell_tells_its_share():
    series = some_series(2)
    figure = latency_heatmap(some_cells(series), series, WIDE).figure
    for entry, panel in zip(series, figure.axes, strict=True):
        shapes = {patch.get_gid(): patch for patch in panel.patches}
        assert set(shapes) == {f"cells-{entry.index}-{level}" for level in (0, 1, 5)}
        for level, low in ((0, 1600.0), (1, 400.0), (5, 100.0)):
            patch = shapes[f"cells-{entry.index}-{level}"]
            assert patch.get_alpha() == heatmap.LEVELS[level][1]
            corners = patch.get_path().vertices.reshape(-1, 5, 2)
            assert corners[:, 0].tolist() == [[t, low] for t in range(5)]
            assert to_hex(patch.get_facecolor()) == entry.colour


@pytest.mark.parametrize(("draw", "data"), FIGURES)
def test_the_figure_is_told_in_words(draw, data):
    series = some_series(1)
    label = draw(data(series), series, NARROW).label.replace("\u00a0", " ")
    expected = {
        latency_histogram: "p50 900 µs, p99 12 ms, 1,234 I/Os, most often 400 µs to 800 µs (30 %)",
        latency_heatmap: "100 µs to 3.2 ms in 5 s, most often 100 µs to 200 µs",
    }
    assert expected[draw] in label


@pytest.mark.parametrize(("draw", "data"), FIGURES)
def test_nothing_to_draw_is_refused_in_words(draw, data):
    with pytest.raises(InputError, match=r"no latency .* to draw"):
        draw(data(some_series()), [Series("other", "o", "o", 0)], WIDE)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_class_that_begins_at_zero_has_a_place_on_the_log_axis(layout):
    series = some_series(1)
    spread = some_spread(series).assign(low_us=lambda rows: rows["low_us"].where(rows["low_us"] > 100, 0.0))
    cells = some_cells(series).assign(low_us=lambda rows: rows["low_us"].where(rows["low_us"] > 100, 0.0))
    for drawn in (latency_histogram(spread, series, layout), latency_heatmap(cells, series, layout)):
        assert "nan" not in svg.inline(drawn, "p") and "inf" not in svg.inline(drawn, "p")
