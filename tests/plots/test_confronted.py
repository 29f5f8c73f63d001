"""The figure of a lesson: what the model says, what was measured, what was predicted."""

import pandas as pd
import pytest

from azbenchlib import plots
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_count
from azbenchlib.plots import NARROW, WIDE, Layout, Series
from azbenchlib.plots.confronted import MEASURED, MODEL, PREDICTED, Chart, confronted

ONE = [Series("disk", "the disk", "disk", 1)]
CHART = Chart(
    x_title="Queue depth", y_title="IOPS", x_text=format_count, y_text=format_count, x_ticks=(1, 2, 4, 8, 16)
)


def points(predicted: float | None = None) -> pd.DataFrame:
    rows = [{"series": "disk", "kind": MODEL, "x": x, "y": min(450.0 * x, 5_000)} for x in (1, 4, 16)]
    rows += [{"series": "disk", "kind": MEASURED, "x": x, "y": min(440.0 * x, 4_990)} for x in (1, 16)]
    rows += [{"series": "disk", "kind": PREDICTED, "x": 4, "y": predicted}] if predicted else []
    return pd.DataFrame(rows)


@pytest.mark.parametrize("layout", [WIDE, NARROW], ids=lambda layout: layout.name)
def test_line_markers_and_prediction_are_drawn(layout: Layout) -> None:
    drawn = confronted(points(2_000), ONE, CHART, layout)
    lines = {line.get_gid(): line for line in drawn.figure.axes[0].lines if line.get_gid()}
    assert list(lines["model-1"].get_ydata()) == [450, 1800, 5000]
    assert list(lines["measured-1"].get_ydata()) == [440, 4990]
    assert list(lines["predicted-1"].get_ydata()) == [2000]
    assert "the disk, measured: 440 at 1 to 4,990 at 16" in drawn.label
    assert drawn.titles["predicted-1"] == ["the disk, predicted, 4: 2,000"]
    svg = plots.inline(drawn, "test")
    assert "your prediction" in svg and "further out" not in svg


def test_a_prediction_far_off_stands_at_the_edge_and_says_so() -> None:
    drawn = confronted(points(9e9), ONE, CHART, WIDE)
    (panel,) = drawn.figure.axes
    assert panel.get_ylim()[1] < 20_000
    assert "further out than drawn" in plots.inline(drawn, "test")


def test_a_measurement_without_a_model_has_a_line_of_its_own() -> None:
    only = points()[lambda rows: rows["kind"] == MEASURED]
    drawn = confronted(only, ONE, CHART, WIDE)
    assert {line.get_gid() for line in drawn.figure.axes[0].lines} >= {"model-1", "measured-1"}


def test_what_is_missing_is_left_out_and_nothing_at_all_is_refused() -> None:
    missing = points().assign(y=None)
    with pytest.raises(InputError, match="nothing to draw"):
        confronted(missing, ONE, CHART, WIDE)
