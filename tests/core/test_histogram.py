"""fio's latency bins: the same numbers as fio, exact when merged."""

import json
import math
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.analysis import percentiles
from azbenchlib.core import histogram
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.formats.fio import json as fio_json
from azbenchlib.formats.source import Source

CORPUS = os.environ.get("AZBENCH_CORPUS", "")
LONGEST = 2**53  # ns, 104 days
DATASETS = Path(__file__).parents[2] / "datasets"

times_ns = st.integers(0, 2**12) | st.integers(0, 2**36) | st.integers(0, LONGEST)
PERCENTILES = st.sampled_from([0.1, 1, 5, 30, 50, 60, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100]) | st.floats(
    0.001, 100
)


def slow_index(value: int) -> int:
    """How fio finds a bin (stat.c, plat_val_to_idx): groups of 64 of the same width."""
    highest_bit = max(value.bit_length() - 1, 0)
    if highest_bit <= 6:
        return value
    dropped = highest_bit - 6
    return (dropped + 1) * 64 + (value >> dropped) % 64


def slow_value(index: int) -> int:
    """What fio prints for a bin (stat.c, plat_idx_to_val): the middle of its range."""
    if index < 128:
        return index
    dropped = index // 64 - 1
    return int(2 ** (dropped + 6) + (index % 64 + 0.5) * 2**dropped)


def bins_of(samples: list[int]) -> pd.DataFrame:
    values, counts = np.unique(histogram.value_of(histogram.index_of(samples)), return_counts=True)
    return pd.DataFrame({"bin_ns": values, "n": counts}).astype("Int64")


def test_every_bin_that_fio_has():
    indices = np.arange(29 * 64)  # FIO_IO_U_PLAT_NR
    values = histogram.value_of(indices)
    assert values.tolist() == [slow_value(int(index)) for index in indices]
    assert histogram.index_of(values).tolist() == indices.tolist()
    assert (np.diff(values) > 0).all()
    assert histogram.on_grid(values).all()


@given(times_ns)
def test_index_as_fio_finds_it(value):
    assert histogram.index_of(value) == slow_index(value)


@given(st.integers(0, 46), st.integers(-2, 2))
def test_index_at_powers_of_two(power, offset):
    value = max(0, 2**power + offset)
    assert histogram.index_of(value) == slow_index(value)


@given(times_ns, times_ns)
def test_longer_times_lie_in_later_bins(one, other):
    low, high = sorted((one, other))
    assert histogram.index_of(low) <= histogram.index_of(high)


@given(times_ns)
def test_a_value_read_back_is_off_by_half_a_bin_at_most(value):
    back = int(histogram.value_of(histogram.index_of(value)))
    assert abs(back - value) <= value / 128
    assert histogram.REL_ERROR == 1 / 128


def test_the_grid_tells_a_mistyped_value():
    # from 128 on a bin holds two values, from 256 on four; it is named by its middle
    assert histogram.on_grid([0, 127, 129, 131, 258, 262]).all()
    assert not histogram.on_grid([128, 130, 256, 257, 259, 260]).any()


def test_published_percentiles_lie_on_the_grid():
    """fio printed the middle of a bin in whole microseconds, rounded up."""
    rows = Dataset.read(DATASETS / "azure-local-disks-2020").percentiles
    printed = rows["lat_us"].astype(int)
    assert len(printed) == 102
    grid = histogram.value_of(np.arange(29 * 64))
    on_paper = set((-(-grid // 1000)).tolist())
    assert set(printed) <= on_paper
    assert len(on_paper) < 1300  # of the 17 million whole microseconds that they span


small = st.integers(0, 5000)


@given(st.lists(st.lists(small, min_size=1, max_size=30), min_size=1, max_size=5))
def test_merged_is_pooled(jobs):
    apart = pd.concat([bins_of(job) for job in jobs])
    together = bins_of([time for job in jobs for time in job])
    pd.testing.assert_frame_equal(histogram.merge(apart), together)


@given(st.lists(st.tuples(st.sampled_from("ab"), small), min_size=1, max_size=40))
def test_merging_keeps_apart_what_it_is_told_to(samples):
    apart = pd.concat([bins_of([time]).assign(job=job) for job, time in samples])
    merged = histogram.merge(apart, by=["job"])
    for job in {job for job, _ in samples}:
        mine = merged[merged["job"] == job][["bin_ns", "n"]].reset_index(drop=True)
        pd.testing.assert_frame_equal(mine, bins_of([time for name, time in samples if name == job]))


@given(st.lists(small, min_size=1, max_size=300), PERCENTILES)
def test_a_percentile_is_the_sample_at_its_rank(samples, percentile):
    bins = bins_of(samples)
    ordered = sorted(histogram.value_of(histogram.index_of(samples)).tolist())
    # fio: the first sample that so many do not exceed, in long double
    reach = np.longdouble(percentile) / 100 * len(samples)
    expected = next(value for rank, value in enumerate(ordered, 1) if rank >= reach)
    shuffled = bins.sample(frac=1, random_state=1)
    assert histogram.percentile(shuffled["bin_ns"], shuffled["n"], [percentile]) == [expected]


def test_percentiles_by_hand():
    bins, counts = [10, 20, 30], [50, 45, 5]
    assert histogram.percentile(bins, counts, [1, 50, 50.1, 95, 95.5, 100]).tolist() == [
        10,
        10,
        20,
        20,
        30,
        30,
    ]
    # as a double, 99.9 is a little more than 99.9, so fio asks for more than 999 of 1,000
    assert histogram.percentile([1, 2], [999, 1], [99.9]).tolist() == [2]


@given(st.lists(small, min_size=1, max_size=50), PERCENTILES, PERCENTILES)
def test_higher_percentiles_are_not_lower(samples, one, other):
    bins = bins_of(samples)
    low, high = histogram.percentile(bins["bin_ns"], bins["n"], sorted((one, other)))
    assert low <= high


@pytest.mark.parametrize(
    ("bins", "counts", "percentiles"),
    [([], [], [50]), ([1], [0], [50]), ([1], [1], [0]), ([1], [1], [100.1])],
)
def test_without_samples_or_beyond_the_range_there_is_no_percentile(bins, counts, percentiles):
    with pytest.raises(InputError, match="percentiles"):
        histogram.percentile(bins, counts, percentiles)


def test_p99_of_four_jobs_comes_from_the_bins_and_not_from_the_four_p99s():
    """Three quick jobs and a slow one: the mean of the p99s is no percentile of anything."""
    quick, slow = [100] * 99 + [200], [100] * 50 + [10_000] * 50
    jobs = [quick, quick, quick, slow]
    counted = [bins_of(job).assign(run_id=str(i), ddir="read") for i, job in enumerate(jobs)]
    bins = pd.concat(counted).assign(t_s=np.nan)
    merged = percentiles.merged(bins.assign(lat_kind="clat"), [50, 99], by=("ddir", "lat_kind"))
    p50, p99 = merged["lat_us"]
    # of 400 samples 347 take 100 ns, 3 take 200 and 50 take 10,000; bins below 128 ns are exact
    assert p50 == 0.1
    assert p99 == slow_value(slow_index(10_000)) / 1000
    of_each = [histogram.percentile(*bins_of(job).T.values.tolist(), [99])[0] for job in jobs]
    assert p99 * 1000 / np.mean(of_each) > 3


@pytest.mark.skipif(not CORPUS, reason="AZBENCH_CORPUS names no folder of real outputs")
def test_the_percentiles_that_fio_printed_follow_from_its_bins():
    files = sorted(Path(CORPUS, "fio", "jsonplus_local").glob("*.out"))
    checked = [_check_percentiles(fio_json.read_fio_json(Source.of(file)).frames()) for file in files]
    assert len(checked) >= 7
    assert min(checked) > 0


def _check_percentiles(tables: dict[str, pd.DataFrame]) -> int:
    """Compare all percentiles of a file with those from its bins; how many there were."""
    keys = ["run_id", "ddir", "lat_kind"]
    bins = dict(list(tables["bins"].groupby(keys)))
    checked = 0
    for key, printed in tables["percentiles"].groupby(keys):
        if key not in bins:
            continue
        ns = histogram.percentile(bins[key]["bin_ns"], bins[key]["n"], list(printed["percentile"]))
        assert (printed["lat_us"] * 1000).round().astype(int).tolist() == ns.tolist()
        checked += len(printed)
    return checked


@pytest.mark.fio
@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
@pytest.mark.parametrize("n", [20, 1000, 2000])
def test_the_percentiles_of_a_real_run_follow_from_its_bins(n, tmp_path):
    """1,000 and 2,000 I/Os put p99.9 and p99.95 on the edge between two ranks."""
    command = ["fio", "--name=edge", "--ioengine=null", "--rw=randread", "--bs=4k", "--size=1g"]
    command += [f"--number_ios={n}", "--norandommap", "--output-format=json+"]
    command += ["--percentile_list=1:30:50:60:95:99:99.9:99.95:99.99"]
    done = subprocess.run(command, capture_output=True, check=True, cwd=tmp_path)
    tables = fio_json.read_fio_json(Source("edge.json", done.stdout)).frames()
    assert tables["results"]["ios"].tolist() == [n]
    assert json.loads(done.stdout)["jobs"][0]["jobname"] == "edge"
    assert _check_percentiles(tables) >= 9


def test_bins_of_shipped_fixture_add_up_to_its_samples():
    found = Dataset.read(Path(__file__).parents[1] / "data" / "fio" / "group_jsonplus.json")
    counts = found.bins.groupby(["run_id", "ddir", "lat_kind"])["n"].sum()
    assert (counts == found.latency.set_index(["run_id", "ddir", "lat_kind"])["n"].loc[counts.index]).all()
    assert _check_percentiles(found.tables) == 51
    assert histogram.on_grid(found.bins["bin_ns"]).all()
    assert math.isclose(counts.sum(), 3 * 120)
