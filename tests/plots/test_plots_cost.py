"""Prices over a demand: the figures hold the data, name what crosses, and nothing in them overlaps."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_plots import NAMES, ink, line_data, overlap, parsed

from azbenchlib.core.errors import InputError
from azbenchlib.plots.cost import Crossing, Scale, price_lines
from azbenchlib.plots.drawing import svg
from azbenchlib.plots.drawing.style import LAYOUTS, NARROW, WIDE, Drawn, Layout, Series

SCALE = Scale("IOPS on average", "USD a month")
TWO = [Series("a", "Premium SSD P30", "P30", 1), Series("b", "Standard SSD E30", "E30", 0)]


def curves(**prices: list[float | None]) -> pd.DataFrame:
    rows = [
        {"series": key, "x": 100.0 * i, "price": price, "what": key}
        for key, values in prices.items()
        for i, price in enumerate(values)
    ]
    return pd.DataFrame(rows).astype({"price": "Float64"})


def crossing(layout: Layout = WIDE, at: float = 100.0) -> Drawn:
    table = curves(a=[150, 150, 150], b=[75, 150, 225])
    return price_lines(table, TWO, SCALE, layout, [Crossing(at, 150.0, "100")])


def test_lines_hold_the_data_and_leave_out_what_is_missing() -> None:
    table = curves(a=[150, 150, None], b=[75, 150, 225])
    figure = price_lines(table, TWO, SCALE, WIDE).figure
    assert [list(values) for values in line_data(figure, "price-1")] == [[0, 100], [150, 150]]
    assert [list(values) for values in line_data(figure, "price-0")] == [[0, 100, 200], [75, 150, 225]]


def test_a_ring_stands_where_two_lines_meet_and_says_so() -> None:
    drawn = crossing()
    assert [list(values) for values in line_data(drawn.figure, "crossing")] == [[100], [150]]
    assert drawn.titles["crossing"] == ["100"]
    assert drawn.label == (
        "Chart of USD a month over IOPS on average. Premium SSD P30: 150 at 0, 150 at 200; "
        "Standard SSD E30: 75.00 at 0, 225 at 200. Lines cross at 100."
    )
    assert "<title>100</title>" in svg.inline(drawn, "f")


def test_the_cheapest_has_a_filled_marker() -> None:
    table = curves(a=[150, 150, 150], b=[75, 160, 225]).assign(x=lambda t: t["x"] + 1000)
    table["best"] = [False, True, True, True, False, False]
    drawn = price_lines(table, TWO, SCALE, WIDE)
    for gid, xs in (("best-1", [1100, 1200]), ("other-1", [1000]), ("best-0", [1000])):
        assert list(line_data(drawn.figure, gid)[0]) == xs
    assert drawn.titles["other-1"] == ["a: 150 USD a month, 1,000 IOPS on average"]
    faces = {line.get_gid(): line.get_markerfacecolor() for line in drawn.figure.axes[0].lines}
    assert faces["best-1"] == TWO[0].colour != faces["other-1"]


@pytest.mark.parametrize(("last", "scale"), [(400.0, "linear"), (40_000.0, "log")])
def test_an_axis_is_logarithmic_where_prices_spread_far(last: float, scale: str) -> None:
    figure = price_lines(curves(a=[100, 200, last]), TWO, SCALE, WIDE).figure
    assert figure.axes[0].get_yscale() == scale and figure.axes[0].get_xscale() == "linear"


def test_without_a_price_nothing_is_drawn() -> None:
    with pytest.raises(InputError, match="no price to draw"):
        price_lines(curves(a=[None, None]), TWO, SCALE, WIDE)


@given(
    names=st.lists(NAMES, min_size=1, max_size=5),
    levels=st.lists(st.floats(0.01, 1e6), min_size=5, max_size=5),
    at=st.floats(0, 1000),
    layout=st.sampled_from(LAYOUTS),
)
@example(names=["WM" * 25] * 5, levels=[1, 10, 100, 1e4, 1e6], at=0.0, layout=NARROW)
@example(names=["Premium SSD v2 striped"] * 5, levels=[5.0] * 5, at=1000.0, layout=WIDE)
@settings(max_examples=5)
def test_no_text_overlaps_or_is_cut_off(
    names: list[str], levels: list[float], at: float, layout: Layout
) -> None:
    series = [Series(f"k{i}", name, name, i) for i, name in enumerate(names)]
    xs = np.linspace(0, 1000, 5)
    rows = [(f"k{i}", x, levels[i] * (1 + x / 1000)) for i in range(len(names)) for x in xs]
    table = pd.DataFrame(rows, columns=["series", "x", "price"])
    mark = Crossing(at, levels[0] * (1 + at / 1000), "1,000")
    text = svg.inline(price_lines(table, series, SCALE, layout, [mark]), "f")
    width, height = map(float, parsed(text).attrib["viewBox"].split()[2:])
    boxes = ink(text)
    for name, box in boxes.items():
        assert box[0] >= -1 and box[1] >= -1 and box[2] <= width + 1 and box[3] <= height + 1, name
    for (one, a), (other, b) in combinations(boxes.items(), 2):
        assert not overlap(a, b), (one, other)
