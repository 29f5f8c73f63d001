"""Repeats at several levels are drawn over the times of their runs, under when the rate changed."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from azbenchlib import Report
from azbenchlib.analysis.over_time.levels_over_time import levels_over_time
from azbenchlib.report.part import Part

FIRST = datetime.fromisoformat("2026-03-02T09:00:00+00:00")


def folder(at: Path, rates: list[float], apart: timedelta = timedelta(hours=1)) -> Path:
    """One output of fio a rate, one after the other."""
    at.mkdir()
    for i, rate in enumerate(rates):
        when = FIRST + i * apart
        side = {"iops": rate, "bw_bytes": rate * 4096, "runtime": 60_000, "total_ios": round(rate * 60)}
        options = {"rw": "randread", "bs": "4k", "iodepth": "32", "direct": "1", "filename": "/dev/sdc"}
        output = {
            "fio version": "fio-3.36",
            "timestamp": int(when.timestamp()),
            "time": f"{when:%a %b %d %H:%M:%S %Y}",
            "jobs": [{"jobname": "nightly", "error": 0, "job options": options, "read": side}],
        }
        (at / f"nightly-{i:02d}.json").write_text(json.dumps(output))
    return at


def report(at: Path) -> Report:
    return Report([str(at)], vm="D8s_v5", disks=["P40"])


def course(part: Part) -> pd.DataFrame:
    return levels_over_time(part.arrangement, part.dataset.tables)


def test_a_change_between_runs_is_named_with_its_time_and_both_rates(tmp_path: Path) -> None:
    rates = [5080.0, 5100.0, 5120.0, 7650.0, 7660.0, 7670.0]
    page = report(folder(tmp_path / "change", rates))
    html = page.over_time().html.replace("\xa0", " ")
    assert "7,660 IOPS from 2 March 2026, 12:00 UTC on, 5,100 IOPS before" in html
    rows = course(page.parts[0])
    assert rows["iops"].tolist() == rates and rows["t_s"].tolist() == [3600.0 * i for i in range(6)]
    (lines,) = re.findall(r'<script type="application/json" class="chart-lines">(.*?)</script>', html)
    drawn = json.loads(lines)[0][0]
    assert [y for y in drawn["y"] if y is not None] == rates and drawn["y"][1::2] == [None] * 6


def test_levels_in_turn_are_named_without_a_time(tmp_path: Path) -> None:
    at = folder(tmp_path / "turns", [5080.0, 7650.0, 5100.0, 7660.0, 5120.0, 7670.0])
    assert "6 runs lie around 5,100\xa0IOPS and 7,660\xa0IOPS" in report(at).over_time().html


@pytest.mark.parametrize(
    ("rates", "apart"),
    [([5080.0, 5100.0, 5120.0], timedelta(hours=1)), ([5080.0, 5090.0, 7660.0, 7670.0], timedelta())],
    ids=["one level", "one time"],
)
def test_one_level_or_one_time_has_no_such_figure(
    tmp_path: Path, rates: list[float], apart: timedelta
) -> None:
    page = report(folder(tmp_path / "same", rates, apart))
    assert course(page.parts[0]).empty and "-levels-" not in page.over_time().html
