"""Folders that are named side by side: each a setup of its own, compared with the first, never pooled."""

import statistics
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sides import side

from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.setups import Assumed
from azbenchlib.model.notation import stated_setup
from azbenchlib.report import to_json
from azbenchlib.views.report import Report

SETUP = {"vm": "Standard_D8s_v5", "disks": ["P30"]}
BEFORE, AFTER = (5_002, 5_011, 4_995, 5_007, 4_999), (7_503, 7_498, 7_511, 7_495, 7_506)


def medians(*folders: Path) -> dict[str, float]:
    """The rate that a report shows of each setup."""
    assumed = Assumed(stated_setup("Standard_D8s_v5", ["P30"], open_sizes=True))
    found = Dataset.load_each([str(folder) for folder in folders], assumed=assumed)
    return {one["setup"]: one["iops"] for one in to_json.record(found)["setups"]}


def test_sides_are_setups_called_by_their_folders(tmp_path: Path) -> None:
    folders = side(tmp_path / "before", BEFORE), side(tmp_path / "after", AFTER, day=1)
    assert medians(*folders) == {"before": statistics.median(BEFORE), "after": statistics.median(AFTER)}


def test_the_report_compares_them(tmp_path: Path) -> None:
    folders = side(tmp_path / "before", BEFORE), side(tmp_path / "after", AFTER, day=1)
    report = Report(list(map(str, folders)), **SETUP)
    html = str(report.compared().html)
    assert "after compared with before" in html
    assert "Better: 4\xa0KiB random reads, QD\xa032: IOPS ×1.5" in html.replace("<wbr>", "")
    head = str(report.header().html)
    assert "150\xa0% of the disk limit of 5,000\xa0IOPS" in head
    cards = str(report.cards().html)
    assert all(f">{name}<" in cards and name.capitalize() not in cards for name in ("before", "after"))
    alone = Report([str(folders[0])], **SETUP)
    assert not str(alone.compared().html).strip()


def test_folders_with_nothing_in_common_stay_one_setup(tmp_path: Path) -> None:
    folders = side(tmp_path / "reads", BEFORE), side(tmp_path / "writes", AFTER, rw="read", day=1)
    report = Report(list(map(str, folders)), **SETUP)
    assert len(report.parts[0].setup_ids) == 1
    assert not str(report.compared().html).strip()


def repeats_of_a_disk(level: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(level, level + level // 20), min_size=1, max_size=3, unique=True)


@given(rates=st.lists(st.integers(200, 60_000).flatmap(repeats_of_a_disk), min_size=2, max_size=3))
@settings(max_examples=3)
def test_no_rate_is_pooled_over_sides(
    rates: list[list[int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("sides")
    folders = [side(root / f"side{i}", tuple(some), day=i) for i, some in enumerate(rates)]
    shown = medians(*folders)
    assert shown == {f"side{i}": pytest.approx(statistics.median(some)) for i, some in enumerate(rates)}
