"""Figures: the data that went in come out, nothing overlaps, and the SVG is fit for a page."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from itertools import combinations, pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from hypothesis import example as given_example
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from azbenchlib.analysis.percentiles import min_samples
from azbenchlib.core import palette
from azbenchlib.core.errors import InputError
from azbenchlib.plots import percentiles, rates, timeline
from azbenchlib.plots.drawing import label_layout, scales, style, svg
from azbenchlib.plots.drawing.style import LAYOUTS, NARROW, WIDE, Drawn, Layout, Series
from azbenchlib.plots.roofline import roofline

SVG = f"{{{svg.NAMESPACE}}}"

NASTY = (
    "Standard_E104ids_v5 with a very long description of its storage",
    'a <b> & "c" \'d\' ]]> &amp; $x$ id="e" url(#f) 0.123456',
    "漢字のディスク 😀",
    "Standard_L8s_v3_local_nvme_raid0_of_eight_devices",
    "a\x00b\x07c\nd",
    "x",
)
PERCENTILES = (1.0, 50.0, 90.0, 95.0, 99.0, 99.9, 99.99)


def some_series(names: tuple[str, ...] = NASTY) -> list[Series]:
    return [Series(f"key {i}", name, name, i) for i, name in enumerate(names)]


def some_curves(
    series: list[Series], lowest: list[float], steps: tuple[float, ...] = PERCENTILES
) -> pd.DataFrame:
    rows = [
        {
            "series": entry.key,
            "percentile": p,
            "lat_us": low * (1 + rank),
            "n": 5000 if entry.index % 2 else None,
        }
        for entry, low in zip(series, lowest, strict=True)
        for rank, p in enumerate(steps)
    ]
    return pd.DataFrame(rows).astype({"percentile": "Float64", "lat_us": "Float64", "n": "Int64"})


def some_rates(series: list[Series], iops: list[float | None]) -> pd.DataFrame:
    values = pd.array(iops, dtype="Float64")
    return pd.DataFrame(
        {
            "series": [entry.key for entry in series],
            "iops": values,
            "bw_bytes_per_s": values * 8192,
            "note": "8 KiB, QD 1,024",
        }
    )


def some_envelope(series: list[Series], levels: list[float], points: int = 5) -> pd.DataFrame:
    frames = [
        pd.DataFrame(
            {
                "series": entry.key,
                "t_s": np.arange(points) * 0.5,
                "lat_us": pd.array(level * (1 + np.arange(points)), dtype="Float64"),
                "lat_max_us": pd.array(level * (3 + np.arange(points)), dtype="Float64"),
            }
        )
        for entry, level in zip(series, levels, strict=True)
    ]
    return pd.concat(frames, ignore_index=True)


def draw(kind: str, series: list[Series], values: list[float], layout: Layout) -> Drawn:
    if kind == "percentiles":
        return percentiles.percentile_curves(some_curves(series, values), series, layout)
    if kind == "rates":
        return rates.rates_side_by_side(some_rates(series, list(values)), series, layout)
    return timeline.latency_over_time(some_envelope(series, values), series, layout)


KINDS = ("percentiles", "rates", "timeline")
every_figure = pytest.mark.parametrize(
    ("kind", "count", "layout"),
    [(kind, count, layout) for kind in KINDS for count in (1, 3, 6) for layout in LAYOUTS],
    ids=lambda value: value.name if isinstance(value, Layout) else str(value),
)


def example(kind: str, count: int, layout: Layout) -> Drawn:
    return draw(kind, some_series()[:count], [10.0**i for i in range(count)], layout)


@cache
def example_svg(kind: str, count: int, layout: Layout) -> str:
    return svg.inline(example(kind, count, layout), "one")


def parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314  (made here)


def line_data(figure: Figure, gid: str) -> tuple[np.ndarray, np.ndarray]:
    (line,) = [line for panel in figure.axes for line in panel.lines if line.get_gid() == gid]
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


def words(figure: Figure) -> dict[str, str]:
    """Every text in the panels, with its colour."""
    return {text.get_text(): to_hex(text.get_color()) for panel in figure.axes for text in panel.texts}


# ---------------------------------------------------------------- data out = data in


def test_percentile_curves_hold_the_data():
    series = some_series()
    curves = some_curves(series, [70.0, 30.0, 500.0, 2.0, 9e6, 1.0]).sample(frac=1, random_state=1)
    curves["series"] = pd.Categorical(curves["series"], categories=[s.key for s in reversed(series)])
    figure = percentiles.percentile_curves(curves, series, WIDE).figure
    for entry, low in zip(series, [70.0, 30.0, 500.0, 2.0, 9e6, 1.0], strict=True):
        x, y = line_data(figure, f"curve-{entry.index}")
        np.testing.assert_allclose(x, 1 / (1 - np.array(PERCENTILES) / 100))
        np.testing.assert_array_equal(y, low * (1 + np.arange(len(PERCENTILES))))
        (line,) = [line for line in figure.axes[0].lines if line.get_gid() == f"curve-{entry.index}"]
        assert to_hex(line.get_color()) == entry.colour


def test_rare_percentiles_have_whole_odds():
    series = some_series()[:1]
    curves = pd.DataFrame(
        {
            "series": series[0].key,
            "percentile": [50.0, 99.9, 99.9999999],
            "lat_us": [1.0, 2.0, 3.0],
            "n": pd.NA,
        }
    )
    said = words(percentiles.percentile_curves(curves, series, WIDE).figure)
    assert {"1 in 1,000", "1 in 1,000,000,000"} <= said.keys()


def test_a_direct_label_has_the_colour_and_the_value_of_its_line():
    series = some_series(("slow", "fast"))
    said = words(percentiles.percentile_curves(some_curves(series, [1000.0, 10.0]), series, WIDE).figure)
    assert (said["slow"], said["fast"]) == (series[0].colour, series[1].colour)
    assert (said["7\u00a0ms"], said["70\u00a0µs"]) == (series[0].colour, series[1].colour)


def test_a_curve_that_ends_early_says_where():
    series = some_series(("whole", "part"))
    curves = some_curves(series, [10.0, 10.0])
    curves = curves[(curves["series"] == series[0].key) | (curves["percentile"] <= 99)]
    said = words(percentiles.percentile_curves(curves, series, WIDE).figure)
    assert {"70\u00a0µs", "50\u00a0µs (p99)"} <= set(said)


def test_what_a_log_axis_cannot_show_is_left_out():
    series = some_series(("a",))
    curves = some_curves(series, [10.0], steps=(50.0, 90.0, 99.0, 100.0))
    curves.loc[1, "lat_us"] = pd.NA
    x, _ = line_data(percentiles.percentile_curves(curves, series, NARROW).figure, "curve-0")
    np.testing.assert_allclose(x, [2, 100])
    with pytest.raises(InputError, match="no latency percentile"):
        percentiles.percentile_curves(curves[curves["percentile"] == 100], series, NARROW)


@given(
    n=st.one_of(st.none(), st.integers(1, 50_000)),
    steps=st.lists(st.sampled_from((20.0, *percentiles.MARKED)), min_size=1, unique=True),
)
@given_example(n=min_samples(99), steps=[99.0])
@given_example(n=min_samples(99) - 1, steps=[99.0])
def test_markers_are_hollow_exactly_where_there_are_too_few(n: int | None, steps: list[float]):
    series = some_series(("a",))
    steps = sorted(steps)
    curves = some_curves(series, [10.0], tuple(steps))
    curves["n"] = pd.array([n] * len(steps), dtype="Int64")
    drawn = percentiles.percentile_curves(curves, series, NARROW)
    marked = [p for p in steps if p in percentiles.MARKED or p == steps[-1]]
    hollow = [p for p in marked if n is not None and n < min_samples(p)]
    seen = {}
    for line in drawn.figure.axes[0].lines:
        if "mark" in (line.get_gid() or ""):
            filled = to_hex(line.get_markerfacecolor()) == series[0].colour
            seen[filled] = [round(100 - 100 / x, 6) for x in line.get_xdata()]
    assert seen.get(False, []) == pytest.approx(hollow)
    assert seen.get(True, []) == pytest.approx([p for p in marked if p not in hollow])
    assert sum("are needed" in text for texts in drawn.titles.values() for text in texts) == len(hollow)


@pytest.mark.parametrize("plot", [sns.lineplot, sns.stripplot])
def test_an_unsorted_categorical_hue_keeps_labels_with_their_data(plot: Callable):
    """pandas 3.0.x mixed up the groups of such a column; seaborn groups by it."""
    names = ["zeta", "alpha", "mid"]
    frame = pd.DataFrame(
        {
            "x": [0, 1] * 3,
            "y": [1.0, 1.1, 20.0, 20.1, 300.0, 300.1],
            "setup": pd.Categorical(np.repeat(names, 2), categories=names),
        }
    )
    panel = Figure().subplots()
    palette = dict(zip(names, ("#ff0000", "#00ff00", "#0000ff"), strict=True))
    how = {"sort": False, "estimator": None} if plot is sns.lineplot else {"dodge": True}
    plot(frame, x="x", y="y", hue="setup", palette=palette, ax=panel, **how)
    drawn: dict[str, list[float]] = {}
    for line in panel.lines:
        drawn.setdefault(to_hex(line.get_color()), []).extend(map(float, line.get_ydata()))
    for points in panel.collections:
        for colour, (_, y) in zip(points.get_facecolors(), points.get_offsets(), strict=True):
            drawn.setdefault(to_hex(colour), []).append(float(y))
    legend = panel.get_legend()
    for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=True):
        expected = frame.loc[frame["setup"] == text.get_text(), "y"]
        colour = handle.get_color() if plot is sns.lineplot else handle.get_markerfacecolor()
        assert to_hex(colour) == palette[text.get_text()]
        np.testing.assert_allclose(sorted(drawn[to_hex(colour)]), expected)


def test_rates_hold_the_data_and_say_what_is_not_stated():
    series = some_series(("a", "b", "c"))
    table = some_rates(series, [16_300, None, 59_200]).iloc[::-1]
    drawn = rates.rates_side_by_side(table, series, WIDE)
    for i, value in ((0, 16_300), (2, 59_200)):
        assert line_data(drawn.figure, f"iops-{i}")[0] == [value]
        assert line_data(drawn.figure, f"bw_bytes_per_s-{i}")[0] == pytest.approx([value * 8192 / 1e6])
    assert not [line for panel in drawn.figure.axes for line in panel.lines if line.get_gid() == "iops-1"]
    assert [[t.get_text() for t in panel.texts].count("not stated") for panel in drawn.figure.axes] == [1, 1]
    assert (
        "b, 8 KiB, QD 1,024: IOPS not stated, MB/s not stated; c, 8 KiB, QD 1,024: 59,200 IOPS, 485 MB/s"
        in drawn.label
    )
    assert drawn.titles["iops-2"] == ["c, 8 KiB, QD 1,024: 59,200 IOPS"]
    with pytest.raises(InputError, match="no rates"):
        rates.rates_side_by_side(some_rates(series, [None] * 3), series, WIDE)


@pytest.mark.parametrize(
    ("values", "scale"), [([10, 290], "linear"), ([10, 310], "log"), ([0, 310], "linear")]
)
def test_rates_are_on_a_log_axis_where_they_spread_far(values: list[float], scale: str):
    figure = rates.rates_side_by_side(
        some_rates(some_series(("a", "b")), values), some_series(("a", "b")), WIDE
    ).figure
    assert [panel.get_xscale() for panel in figure.axes] == [scale, scale]
    assert ("IOPS (log scale)" in words(figure)) == (scale == "log")


@pytest.mark.parametrize("count", [1, 3, 4, 5, 6])
def test_timeline_holds_the_data_in_one_panel_or_in_many(count: int):
    series = some_series()[:count]
    envelope = some_envelope(series, [100.0 * (i + 1) for i in range(count)]).sample(frac=1, random_state=2)
    figure = timeline.latency_over_time(envelope, series, WIDE).figure
    assert len(figure.axes) == (1 if count <= timeline.MOST_LINES else count)
    assert len({(panel.get_xlim(), panel.get_ylim()) for panel in figure.axes}) == 1
    for i in range(count):
        x, y = line_data(figure, f"line-{i}")
        np.testing.assert_array_equal(x, np.arange(5) * 0.5)
        np.testing.assert_array_equal(y, 100.0 * (i + 1) * (1 + np.arange(5)))


def test_a_gap_stays_a_gap_and_a_lone_point_is_seen():
    series = some_series(("a",))
    envelope = some_envelope(series, [100.0])
    envelope.loc[[1, 3], ["lat_us", "lat_max_us"]] = pd.NA
    figure = timeline.latency_over_time(envelope, series, WIDE).figure
    _, y = line_data(figure, "line-0")
    np.testing.assert_array_equal(y, [100, np.nan, 300, np.nan, 500])
    dots = [line for line in figure.axes[0].lines if line.get_marker() != "None" and len(line.get_xdata())]
    assert [list(line.get_ydata()) for line in dots] == [[100, 300, 500]]
    envelope["lat_us"] = pd.NA
    with pytest.raises(InputError, match="no latency to draw"):
        timeline.latency_over_time(envelope, series, WIDE)


def test_latency_over_time_takes_the_unit_of_time_that_suits():
    series = some_series(("a",))
    frame = pd.DataFrame({"series": series[0].key, "t_s": [0.0, 3600.0], "lat_us": [100.0, 200.0]})
    drawn = timeline.latency_over_time(frame, series, WIDE)
    np.testing.assert_array_equal(line_data(drawn.figure, "line-0")[0], [0, 60])
    assert drawn.figure.axes[0].get_xlabel() == "Minutes since the start"
    assert "a: 100\u00a0µs to 200\u00a0µs in 3,600 s" in drawn.label


def test_the_words_give_the_numbers():
    series = some_series(("a", "b"))
    label = percentiles.percentile_curves(some_curves(series, [10.0, 1000.0]), series, WIDE).label
    assert "At p50: a 20\u00a0µs; b 2\u00a0ms." in label
    assert "At p99.99: a 70\u00a0µs; b 7\u00a0ms." in label


# ---------------------------------------------------------------- the SVG


@every_figure
def test_svg_is_clean(kind: str, count: int, layout: Layout):
    text = example_svg(kind, count, layout)
    root = parsed(text)
    assert root.attrib["role"] == "img" and root.attrib["class"] == f"fig-{layout.name}"
    assert root.attrib["aria-label"]
    assert root.attrib["viewBox"].split()[2] == str(layout.width)
    assert text.count("http") == 1 and "http" in text[:50]  # the namespace
    assert not re.search(r"<(style|script|image|metadata|foreignObject)\b| style=|\son\w+=|xlink", text)
    assert list(root.iter(f"{SVG}defs"))
    for defined in root.iter(f"{SVG}defs"):
        assert not [el for el in defined.iter() if {"fill", "stroke"} & set(el.attrib)]


@every_figure
def test_every_colour_of_the_svg_has_a_dark_rule(kind: str, count: int, layout: Layout):
    rules, seen = palette.dark_rules(), set()
    for element in parsed(example_svg(kind, count, layout)).iter():
        seen |= {(name, element.attrib[name]) for name in ("fill", "stroke") if name in element.attrib}
    seen.discard(("fill", "none"))
    assert {colour for _, colour in seen} >= {light for light, _ in palette.COLOURS[:count]}
    for name, colour in seen:
        assert f'.fig [{name}="{colour}"]' in rules


def ids_of(root: ET.Element) -> list[str]:
    return [element.attrib["id"] for element in root.iter() if "id" in element.attrib]


@every_figure
def test_ids_are_prefixed_and_found(kind: str, count: int, layout: Layout):
    root = parsed(example_svg(kind, count, layout))
    ids = ids_of(root)
    used = [el.attrib.get("href", el.attrib.get("clip-path", "")).strip("url(#)") for el in root.iter()]
    assert len(ids) == len(set(ids)) and ids
    assert set(filter(None, used)) == set(ids)
    assert all(name.startswith("one-") for name in ids)


@every_figure
def test_geometry_is_rounded_to_a_hundredth_of_a_pixel(kind: str, count: int, layout: Layout):
    for element in parsed(example_svg(kind, count, layout)).iter():
        numbers = [element.attrib.get(name, "") for name in ("d", "x", "y", "width", "height", "transform")]
        assert not re.search(r"\.\d{3}", " ".join(numbers))


def test_labels_survive_as_they_are():
    series = some_series()
    texts = [
        element.text for element in parsed(example_svg("rates", 6, WIDE)).iter(f"{SVG}text") if element.text
    ]
    for entry in series:
        assert label_layout.clean(entry.label).replace(" ", "") in "".join(texts).replace(" ", "")
    assert label_layout.clean("a\x00b\nc") == "a\u2400b c"


def test_hover_texts_stand_on_their_markers():
    series = some_series(("a <1>", "b"))
    drawn = percentiles.percentile_curves(some_curves(series, [10.0, 1000.0]), series, WIDE)
    root = parsed(svg.inline(drawn, "f"))
    places = {
        use.find(f"{SVG}title").text: float(use.attrib["x"])
        for use in root.iter(f"{SVG}use")
        if use.find(f"{SVG}title") is not None
    }
    mine = [places[f"a <1>, p{p}: {v}\u00a0µs"] for p, v in (("50", 20), ("90", 30), ("99", 50))]
    assert mine == sorted(mine)
    assert len(places) == 12  # p50 to p99.99 of both


def test_both_widths_with_ids_of_their_own():
    both = parsed(f"<div>{svg.both(lambda layout: example('rates', 2, layout), 'r')}</div>")
    first, second = both
    assert [first.attrib["class"], second.attrib["class"]] == ["fig-wide", "fig-narrow"]
    assert len(ids_of(both)) == len(set(ids_of(both)))


# ---------------------------------------------------------------- nothing overlaps


def ink(text: str) -> dict[str, tuple[float, float, float, float]]:
    """What each text of an SVG covers, measured by matplotlib's outlines in the widest font."""
    found = {}
    root = parsed(text)
    for i, element in enumerate(root.iter(f"{SVG}text")):
        size, anchor = float(element.attrib["font-size"]), element.attrib.get("text-anchor", "start")
        font = FontProperties(family=style.METRICS_FONT, weight=element.attrib.get("font-weight", "normal"))
        box = TextPath((0, 0), element.text, size=size, prop=font).get_extents()
        left = float(element.attrib["x"]) - box.width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        y = float(element.attrib["y"])
        found[f"{i} {element.text}"] = (left, y - box.y1, left + box.width, y - box.y0)
    return found


def overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return min(a[2], b[2]) - max(a[0], b[0]) > 0.5 and min(a[3], b[3]) - max(a[1], b[1]) > 0.5


NAMES = st.text(st.sampled_from("WMgjl_-/.,1 AZ()&<"), min_size=1, max_size=50).filter(str.strip)


@pytest.mark.parametrize("kind", KINDS)
@given(
    names=st.lists(NAMES, min_size=1, max_size=6),
    values=st.lists(st.floats(1, 1e7), min_size=6, max_size=6) | st.floats(1, 1e7).map(lambda v: [v] * 6),
    layout=st.sampled_from(LAYOUTS),
)
@given_example(names=["WM" * 25] * 6, values=[1.0, 10.0, 1e3, 1e4, 1e6, 1e7], layout=NARROW)
@given_example(names=["WM" * 25] * 6, values=[5.0] * 6, layout=WIDE)
@given_example(names=["A"], values=[1e9 / 8192], layout=NARROW)  # its label is wider than the tick below it
@settings(max_examples=2)
def test_no_text_overlaps_or_is_cut_off(kind: str, names: list[str], values: list[float], layout: Layout):
    text = svg.inline(draw(kind, some_series(tuple(names)), values[: len(names)], layout), "f")
    width, height = map(float, parsed(text).attrib["viewBox"].split()[2:])
    boxes = ink(text)
    assert len(boxes) > len(names)
    for name, box in boxes.items():
        assert box[0] >= -1 and box[1] >= -1 and box[2] <= width + 1 and box[3] <= height + 1, name
    for (one, a), (other, b) in combinations(boxes.items(), 2):
        assert not overlap(a, b), (one, other)


@given(
    st.lists(st.tuples(st.floats(0, 500), st.floats(1, 40)), min_size=1, max_size=8),
)
def test_spread_keeps_labels_apart_in_order_and_inside(labelled: list[tuple[float, float]]):
    centres, heights = zip(*sorted(labelled), strict=True)
    places = label_layout.spread(centres, heights, 0, 500)
    assert places[0] - heights[0] / 2 >= -1e-6 and places[-1] + heights[-1] / 2 <= 500 + 1e-6
    for (a, ha), (b, hb) in pairwise(zip(places, heights, strict=True)):
        assert b - a >= (ha + hb) / 2 - 1e-6


def test_spread_moves_no_more_than_it_must():
    assert label_layout.spread([10, 100], [20, 20], 0, 200) == [10, 100]
    assert label_layout.spread([50, 50, 150], [20, 20, 20], 0, 200) == [40, 60, 150]
    assert label_layout.spread([0, 0], [20, 20], 0, 200) == [10, 30]


@given(NAMES, st.floats(20, 200))
def test_wrapped_lines_fit_and_hold_the_text(text: str, width: float):
    lines = label_layout.wrap(text, width, 12)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(label_layout.text_width(line, 12) <= width for line in lines)


def test_wrap_breaks_names_where_people_would():
    assert label_layout.wrap("Standard_E8ds_v4 disk", 75, 12) == ["Standard_", "E8ds_v4", "disk"]
    assert label_layout.wrap("no break\u00a0here", 60, 12) == ["no", "break\u00a0her", "e"]


def test_text_width_is_what_matplotlib_draws():
    for bold in (False, True):
        font = FontProperties(family=style.METRICS_FONT, weight="bold" if bold else "normal")
        text = "WHHH 59,200 IOPS at 4 KiBH"
        drawn = TextPath((0, 0), text, size=13, prop=font).get_extents()
        assert label_layout.text_width(text, 13, bold) == pytest.approx(drawn.width, rel=0.03)


@given(st.floats(1e-2, 1e9), st.floats(1, 1e10), st.floats(110, 500))
def test_log_ticks_lie_inside_and_apart(low: float, ratio: float, length: float):
    low, high = scales.log_limits([low, low * ratio])
    ticks = scales.log_ticks(low, high, length)
    assert len(ticks) >= 2 and low <= ticks[0] and ticks[-1] <= high
    gaps = np.diff(np.log(ticks)) / np.log(high / low) * length
    assert gaps.min() >= scales.TICK_GAP - 1e-6


# ---------------------------------------------------------------- style


def test_light_colours_are_unique_and_all_reach_the_style_sheet():
    pairs = [*palette.COLOURS, *palette.NEUTRALS.values()]
    assert len({light for light, _ in pairs}) == len(pairs) == palette.dark_rules().count("\n") + 1
    assert "--setup-5:#24292f;" in palette.variables() and "--setup-5:#e8ecf5;" in palette.variables(
        dark=True
    )
    assert "--surface:#ffffff;" in palette.variables()


def test_a_series_below_zero_is_refused():
    with pytest.raises(InputError, match="'g': index -1 has no colour; they begin with 0"):
        Series("g", "g", "g", -1)


def test_colours_come_again_with_other_markers():
    looks = {(one.colour, one.marker(8)["marker"]) for one in (Series("g", "g", "g", i) for i in range(36))}
    assert len(looks) == 36
    twin = style.TwinSeries("g", "g", "g", 7).marker(8)
    assert twin["markeredgecolor"] == Series("g", "g", "g", 7).marker(8)["markerfacecolor"]
    assert twin["markerfacecolor"] == palette.NEUTRAL["surface"]


def test_drawing_leaves_no_trace():
    figures = plt.get_fignums()
    with mpl.rc_context({"axes.grid": True, "font.size": 30, "svg.fonttype": "path"}):
        before = dict(mpl.rcParams)
        text = svg.inline(example("percentiles", 3, WIDE), "f")
        assert dict(mpl.rcParams) == before
    assert text == svg.inline(example("percentiles", 3, WIDE), "f")
    assert plt.get_fignums() == figures


def test_wrap_keeps_a_number_with_its_unit():
    assert label_layout.wrap("limit 2,000 MB/s here", 75, 12) == ["limit", "2,000\u00a0MB/s", "here"]


def test_equal_ceilings_are_one_line_with_both_names():
    entries = some_series(("a", "b", "c"))
    rows = [
        {"series": entry.key, "bs_bytes": size, "iops": iops, "crossover_bytes": None}
        for entry, iops in zip(entries, (5000.0, 5000.0, 900.0), strict=True)
        for size in (4096.0, 8192.0)
    ]
    drawn = roofline(pd.DataFrame(rows), entries, WIDE)
    assert "a and b: 5,000 IOPS at 4\u00a0KiB" in drawn.label and drawn.label.count("5,000 IOPS") == 1
    assert list(line_data(drawn.figure, "roof-0")[1]) == [5000.0, 5000.0]
    assert not [line for panel in drawn.figure.axes for line in panel.lines if line.get_gid() == "roof-1"]
