"""The notebook of sizing: designs, figures with limits and credits, times; what it says without telemetry."""

import re
from html import unescape
from pathlib import Path

import cells
import numpy as np
import pytest

from azbenchlib.model import VM, Cap, Disk, Setup
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.report import execute
from azbenchlib.report.page import to_html
from azbenchlib.sizing.traces import POINTS_OF_A_LINE, caps, trace
from azbenchlib.views.sizing import Sizing

FILE = Path(__file__).parents[1] / "data" / "sysstat" / "extended.json"


class OnlySetup:
    """A candidate of which the setup alone is asked."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup


def words(html: str) -> str:
    bare = re.sub(r"<(style|script|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\u00a0", " ")).strip()


@pytest.fixture(scope="module")
def sizing() -> Sizing:
    return Sizing([str(FILE)], held_back="0s", size="1TiB", as_of="2026-11-20")


def test_the_designs_are_those_of_the_answer(sizing: Sizing) -> None:
    text = words(sizing.designs().html)
    assert (
        "The cheapest design that meets the requirement" in text
        and "By the 95th percentile of peaks of 10 min × 1.3" in text
        and "USD a month" in text
    )
    assert "between 0 s and" in text
    assert list(sizing.designs().data["design"]) == [
        "recommended",
        "cheapest",
        "by_percentile",
    ]  # nothing is cheaper


def test_the_load_is_drawn_below_its_limits(sizing: Sizing) -> None:
    block = sizing.over_time()
    assert block.html.count("<figure") == 2
    text = words(block.html)
    assert "not throttled" in text and "limit of the" in text
    assert re.search(r'aria-label="Line chart of IOPS over [^"]*Limits: ', block.html)
    assert sizing.load().data["iops"].max() == 1501


@pytest.mark.slow
def test_the_notebook_runs_as_it_stands_and_without_telemetry() -> None:
    found = execute.find_notebook("06_size")
    html = to_html(execute.run_notebook(found, {}), "Size")
    assert "The cheapest design that meets the requirement" in words(html)
    assert "is throttled" in words(html) and html.count("<figure") == 6  # a cheaper one, and a percentile's
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert not re.search(r"\b(nan|NaN|<NA>)\b", words(html))
    empty = words(cells.page("06_size", telemetry=[]))
    assert "No telemetry is named" in empty and "iostat -x -t -y" in empty


def test_a_line_keeps_its_peaks_and_the_lowest_credits() -> None:
    from azbenchlib.sizing.design import Design

    n = 5000
    iops = np.full(n, 100.0)
    iops[1234] = 900
    history = LoadHistory(
        t_s=np.arange(n) * 60.0, interval_s=np.full(n, 60.0), read_iops=iops, write_iops=iops * 0,
        read_bytes_per_s=iops * 4096, write_bytes_per_s=iops * 0,
    )  # fmt: skip
    setup = Setup(VM(uncached=Cap(iops=2000)), (Disk(name="d", cap=Cap(iops=200, burst_iops=1000)),))
    design = Design(OnlySetup(setup), history, 0.0)
    rows = trace(design, "iops")
    assert len(rows) == POINTS_OF_A_LINE and rows["iops"].max() == 900
    full = 800 * 1800
    assert rows["credits"].max() == pytest.approx(full)
    assert rows["credits"].min() == pytest.approx(full - 700 * 60)
    assert caps(design, "iops") == [("burst limit of the disks", 1000), ("limit of the disks", 200)]
    assert caps(design, "bytes_per_s") == []
