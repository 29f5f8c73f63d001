"""What is told of a rate whose run had phases, of all of it and of a part."""

import pandas as pd
import pytest

from azbenchlib.analysis.over_time.steady import Segment
from azbenchlib.analysis.over_time.sustained import OF_A_PART, with_phases

BURST = [Segment(0, 600, 3500.0, 60), Segment(600, 1200, 120.0, 60)]


def rates(*at_once: str) -> pd.DataFrame:
    some = pd.DataFrame({"at_once": pd.array(at_once, dtype="string")})
    return some.assign(iops=pd.array([1810.0] * len(some), dtype="Float64"), bw_bytes_per_s=1810.0 * 4096)


def test_the_last_phase_is_the_rate_of_a_whole_run():
    found = with_phases(rates("a"), {"a": BURST})
    assert found.loc[0, "iops"] == 120
    assert found.loc[0, "bw_bytes_per_s"] == pytest.approx(120 * 4096)
    assert found.loc[0, "phases"].startswith("3,500 IOPS for 10")


def test_a_direction_of_several_keeps_its_mean_and_says_that_it_is_one():
    found = with_phases(rates("a", "a", "b"), {"a": BURST})
    assert found["iops"].tolist() == [1810.0] * 3
    assert found["phases"].tolist() == [OF_A_PART, OF_A_PART, ""]


def test_without_phases_nothing_is_said():
    assert with_phases(rates("a", "a", "b"), {})["phases"].tolist() == [""] * 3
