"""Campaigns that are killed at random moments end as undisturbed ones do."""

from pathlib import Path

import kill_campaigns
import pytest

pytestmark = [pytest.mark.fio, pytest.mark.slow]


@pytest.mark.parametrize("kills", [15, pytest.param(50, marks=pytest.mark.long)])
def test_kills_lose_no_run_and_make_none_twice(kills: int, tmp_path: Path) -> None:
    tally = kill_campaigns.run(kills, 3, tmp_path)
    assert tally.faults == []
    assert tally.kills == kills
    assert "begun" in tally.at  # while fio ran, not only between runs
