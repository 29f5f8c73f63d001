"""Repeats whose rates lie around several levels are told apart; those of one level stay one number."""

import statistics
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from readback import foreign
from support.sides import medians_of_a_folder, side

from azbenchlib import judge
from azbenchlib.analysis.clusters import groups_of


@pytest.mark.parametrize(
    ("rates", "groups"),
    [
        ([5_089, 5_064, 7_665, 5_146, 7_604, 7_688], [[5_089, 5_064, 5_146], [7_665, 7_604, 7_688]]),
        ([5_000, 5_010, 4_990, 7_600], [[5_000, 5_010, 4_990], [7_600]]),
        ([194, 243, 195, 242], [[194, 195], [243, 242]]),
        ([5_000, 7_500], [[5_000], [7_500]]),
        ([5_000, 6_000], [[5_000, 6_000]]),
        ([120, 121, 500, 501, 3_500, 3_501], [[120, 121], [500, 501], [3_500, 3_501]]),
        ([100, 200, 400, 800], [[100, 200, 400, 800]]),  # as far apart as they scatter
        ([5_000], [[5_000]]),
    ],
)
def test_levels_are_groups(rates: list[int], groups: list[list[int]]) -> None:
    assert sorted(map(sorted, _values(rates))) == sorted(map(sorted, groups))


@given(seed=st.integers(0, 2**32), counts=st.lists(st.integers(2, 12), min_size=2, max_size=3))
def test_no_group_of_a_mixture_holds_runs_of_two_disks(seed: int, counts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    levels = 100 * np.cumprod([rng.uniform(1.3, 3.0) for _ in counts])
    disks = [level * np.exp(rng.uniform(-0.01, 0.01, n)) for level, n in zip(levels, counts, strict=True)]
    mixed = rng.permutation(np.concatenate(disks)).tolist()
    assert sorted(map(len, groups_of(mixed))) == sorted(counts)
    for values in _values(mixed):
        assert sum(disk.min() <= statistics.median(values) <= disk.max() for disk in disks) == 1


def test_repeats_of_one_disk_are_seldom_taken_for_two() -> None:
    rng = np.random.default_rng(3)
    for spread, most in ((0.02, 0), (0.05, 5), (0.10, 120)):  # of 3,000 sets of repeats
        sets = [np.exp(rng.normal(0, spread, n)).tolist() for n in (3, 5, 10) for _ in range(1_000)]
        assert sum(len(groups_of(rates)) > 1 for rates in sets) <= most


def test_a_folder_of_two_disks_shows_two_rates(tmp_path: Path) -> None:
    before, after = (5_064, 5_089, 5_146, 5_095), (7_604, 7_665, 7_688)
    shown = medians_of_a_folder(side(tmp_path / "mixed", (*before, *after)))
    assert shown == {
        "random reads, 4 of 7 runs near 5,092 IOPS": (5_092.0, 4),
        "random reads, 3 of 7 runs near 7,665 IOPS": (7_665.0, 3),
    }


def test_a_curve_is_of_one_disk_however_often_each_depth_was_measured(tmp_path: Path) -> None:
    for depth, counts in ((1, (3, 2)), (4, (2, 3)), (16, (3, 2))):
        for disk, n in zip((3_000, 5_000), counts, strict=True):
            for i in range(n):
                job = foreign.Job(
                    {"read": foreign.flow(disk * (16 + depth) / 32 + i, depth)}, "j", 4096, depth
                )
                at = foreign.MOMENT + 60 * depth + i
                (tmp_path / f"{disk}-{depth}-{i}.json").write_text(foreign.fio([job], at=at))
    curves = judge(str(tmp_path), vm="Standard_D16s_v5", disks=["P40"]).curves
    rates = sorted([round(rate, -2) for rate in curve.curve.rates] for curve in curves)
    assert rates == [[1_600, 1_900, 3_000], [2_700, 3_100, 5_000]]
    names = [curve.name for curve in sorted(curves, key=lambda curve: curve.curve.rates)]
    levels = ("lower", "higher")
    assert names == [f"4\xa0KiB random reads, the {level} of two levels, QD\xa01 to 16" for level in levels]


def _values(rates: Sequence[float]) -> list[list[float]]:
    return [[rates[place] for place in places] for places in groups_of(rates)]
