"""The platform's view of a run below its rate: whose use is drawn, where its steps are, and its words."""

import numpy as np
import pandas as pd
import pytest

from azbenchlib.core.palette import NEUTRAL
from azbenchlib.plots import NARROW, WIDE, Layout, Series
from azbenchlib.plots.throttle import MOST_USED, rate_over_time

ENTRY = Series("a", "A disk", "A", 1)
TRACE = pd.DataFrame({"t_s": np.arange(1.0, 151.0), "iops": 5000.0})
# minutes that begin 20 s before the run; the last of them ends after it
MINUTES = (-20.0, 40.0, 100.0)
PERCENT = {"the least": 0.2, "VM": 40.0, "disk": 100.0, "cache": 3.0, "other": 2.0}
USED = pd.DataFrame(
    [
        (name, t_s, most * share)
        for name, most in PERCENT.items()
        for t_s, share in zip(MINUTES, (0.5, 1, 0.9), strict=True)
    ],
    columns=["name", "t_s", "percent"],
)


@pytest.mark.parametrize("layout", [WIDE, NARROW])
def test_the_most_used_limits_are_steps_of_a_minute_within_the_run(layout: Layout) -> None:
    drawn = rate_over_time(TRACE, [("limit", 5000.0)], ENTRY, layout, used=USED)
    rate, below = drawn.figure.axes
    lines = [line for line in below.lines if not str(line.get_label()).startswith("_")]
    assert [line.get_label() for line in lines] == ["disk, %", "VM, %", "cache, %"]
    assert len(lines) == MOST_USED
    assert [line.get_color() for line in lines] == [ENTRY.colour, NEUTRAL["ink3"], NEUTRAL["ink3"]]
    assert np.asarray(lines[0].get_xdata()).tolist() == [0, 40, 40, 100, 100, 150]
    assert np.asarray(lines[0].get_ydata()).tolist() == [50, 50, 100, 100, 90, 90]
    assert below.get_ylim()[1] > 100 and below.get_xlim() == rate.get_xlim()
    said = "the most that a minute used of each limit: disk 100 %; VM 40 %; cache 3 %."
    assert drawn.label.endswith(f" Azure Monitor: {said}")


def test_below_the_credits_there_is_room_for_it() -> None:
    trace = TRACE.assign(credits=np.linspace(1000, 0, 150))
    drawn = rate_over_time(trace, [], ENTRY, WIDE, used=USED)
    boxes = [panel.get_position() for panel in drawn.figure.axes]
    assert len(boxes) == 3
    assert boxes[0].y0 > boxes[1].y1 > boxes[1].y0 > boxes[2].y1 > boxes[2].y0 > 0
    assert boxes[0].height > 2 * boxes[1].height == pytest.approx(2 * boxes[2].height)


@pytest.mark.parametrize("used", [None, USED[:0], USED[USED["name"] == "the least"]])
def test_without_use_there_is_no_panel(used: pd.DataFrame | None) -> None:
    drawn = rate_over_time(TRACE, [], ENTRY, WIDE, used=used)
    assert len(drawn.figure.axes) == 1 and "Azure Monitor" not in drawn.label
