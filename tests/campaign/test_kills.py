"""Campaigns that are killed at random moments end as undisturbed ones do."""

from pathlib import Path

import kill_campaigns
import pytest
from loop_devices import loop_device

pytestmark = [pytest.mark.fio, pytest.mark.slow]


@pytest.mark.parametrize("kills", [3, pytest.param(30, marks=pytest.mark.long)])
@pytest.mark.long
def test_kills_of_campaigns_on_a_device_lose_nothing_and_write_nothing_of_others(
    kills: int, tmp_path: Path
) -> None:
    with loop_device(tmp_path / "trial", kill_campaigns.DEVICE_BYTES):  # or it is skipped
        tally = kill_campaigns.run(kills, 5, tmp_path, on_device=True)
    assert tally.faults == [] and tally.kills == kills


@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.long)])
def test_kills_lose_no_run_and_make_none_twice(kills: int, tmp_path: Path) -> None:
    tally = kill_campaigns.run(kills, 3, tmp_path)
    assert tally.faults == []
    assert tally.kills == kills
    assert "begun" in tally.at  # while fio ran, not only between runs
