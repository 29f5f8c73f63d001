"""Many files of one workload without a stated setup are one series, which says how they spread."""

import pandas as pd
import pytest

from azbenchlib.analysis import file_sets, grouping, summary
from azbenchlib.analysis.file_sets import FileSet
from azbenchlib.core import schema
from azbenchlib.core.units import NBSP

RATES = (100, 101, 102, 103, 104, 105, 106)


def tables_of(runs: list[dict], **others: list[dict]) -> dict[str, pd.DataFrame]:
    """All tables, with a run for each of these, in a file of its own where none is named."""
    known = {
        "level": "job",
        "tool": "fio",
        "rw": "randread",
        "bs_bytes": 4096,
        "queue_depth": 4,
        "iodepth": 4,
    }
    rows = [
        known | {"run_id": f"r{i}", "source_path": f"out/f{i}.json", "source_sha256": f"{i}", "source_doc": 0}
        | {"group_id": 0} | run
        for i, run in enumerate(runs)
    ]  # fmt: skip
    others["runs"] = rows
    return {name: schema.frame(name, others.get(name, [])) for name in schema.TABLES}


def rated(
    runs: list[dict], rates: list[float] | tuple[float, ...], **others: list[dict]
) -> dict[str, pd.DataFrame]:
    results = [
        {"run_id": f"r{i}", "ddir": "read", "iops": rate, "bw_bytes_per_s": rate * 4096}
        for i, rate in enumerate(rates)
    ]
    return tables_of(runs, results=results, **others)


def the_set(tables: dict[str, pd.DataFrame]) -> FileSet:
    (series,) = grouping.arrange(tables).series["key"]
    found = file_sets.file_set(grouping.arrange(tables), series)
    assert found is not None
    return found


def labels(tables: dict[str, pd.DataFrame]) -> list[str]:
    return [label.replace(NBSP, " ") for label in grouping.arrange(tables).series["label"]]


def n_series(runs: list[dict], **others: list[dict]) -> int:
    return len(grouping.arrange(rated(runs, [100.0] * len(runs), **others)).series)


def test_seven_files_of_one_workload_are_one_series_and_six_are_six() -> None:
    assert (n_series([{}] * 7), n_series([{}] * 6)) == (1, 6)


@pytest.mark.parametrize("apart", [{"host": "a"}, {"target": "/dev/sdb"}, {"job": "other"}, {"group_id": 3}])
def test_hosts_paths_and_jobs_make_no_other_workload(apart: dict) -> None:
    assert n_series([{}] * 6 + [apart]) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"rw": "randwrite"},
        {"bs_bytes": 8192},
        {"queue_depth": 8},
        {"iodepth": 2},
        {"tool": "diskspd"},
        {"working_set_bytes": 1 << 30},
        {"direct": True},
        {"ioengine": "psync"},
        {"rate_iops": 100.0},
    ],
)
@pytest.mark.sampled(3)
def test_what_is_another_workload_stays_alone(other: dict) -> None:
    assert n_series([{}] * 7 + [other]) == 2
    assert n_series([{}] * 6 + [other]) == 7


@pytest.mark.parametrize("lacking", [{"rw": None}, {"bs_bytes": None}, {"source_path": None}])
def test_what_is_not_known_to_be_the_same_is_not_put_together(lacking: dict) -> None:
    arrangement = grouping.arrange(rated([lacking] * 8, [100.0] * 8))
    assert not arrangement.runs["in_set"].any()


def in_folders(**files: int) -> list[dict]:
    """Runs of one workload, so many in each folder."""
    return [{"source_path": f"out/{name}/f{i}.json"} for name, n in files.items() for i in range(n)]


def test_folders_side_by_side_are_a_set_each() -> None:
    """Two disks of one workload are never told as one median, though most files are of one of them."""
    tables = rated(in_folders(before=2, after=6), [190.0] * 2 + [360.0] * 6)
    assert labels(tables) == [
        "before: 2 files of 4 KiB random reads, QD 4",
        "after: 6 files of 4 KiB random reads, QD 4",
    ]
    medians = grouping.rates(grouping.arrange(tables)).set_index("series")["iops"]
    assert sorted(medians) == [190.0, 360.0]


@pytest.mark.parametrize(
    "runs",
    [
        in_folders(before=1, after=7),  # a file by itself is compared with nothing
        in_folders(**{f"day{i}": 2 for i in range(7)}),  # more folders than a figure has colours
        [run | {"host": run["source_path"][4]} for run in in_folders(a=4, b=4)],  # told by host
    ],
)
def test_one_file_a_folder_many_folders_and_hosts_are_one_set(runs: list[dict]) -> None:
    assert n_series(runs) == 1


def test_a_share_of_reads_tells_mixed_loads_apart_and_no_others() -> None:
    assert (
        n_series([{"rw": "randrw", "rwmix_read_pct": 50.0}] * 7 + [{"rw": "randrw", "rwmix_read_pct": 70.0}])
        == 2
    )
    assert n_series([{}] * 6 + [{"rwmix_read_pct": 70.0}]) == 1


def test_runs_of_a_stated_setup_are_none_of_a_set() -> None:
    setups = [{"setup_id": "vm", "environment": "azure", "vm_size": "Standard_D2s_v3"}]
    runs = [{}] * 7 + [{"setup_id": "vm"}] * 7
    tables = rated(runs, [100.0] * 14, setups=setups)
    assert labels(tables) == ["7 files of 4 KiB random reads, QD 4", "D2s_v3"]
    arrangement = grouping.arrange(tables)
    assert arrangement.runs.loc[arrangement.runs["in_set"], "setup_id"].unique().tolist() == [
        "setup not stated"
    ]


def test_a_file_with_as_many_workloads_as_there_are_files_stays_a_file() -> None:
    sizes = [{"bs_bytes": 1024 << i} for i in range(8)]
    runs = [size | {"source_path": f"out/f{i}.json", "group_id": i} for i in range(8) for size in sizes]
    assert n_series(runs) == 8
    assert (
        n_series([run for run in runs if run["bs_bytes"] <= 65536]) == 7
    )  # a set for each of seven workloads


def test_sets_that_differ_in_little_are_named_by_it() -> None:
    runs = [{"ioengine": "libaio"}] * 7 + [{"ioengine": "psync"}] * 8
    tables = rated(runs, [100.0] * 15)
    named = grouping.arrange(tables).series
    assert labels(tables) == [
        "7 files of 4 KiB random reads, QD 4, libaio",
        "8 files of 4 KiB random reads, QD 4, psync",
    ]
    assert named["short"].tolist() == ["7 files", "8 files"]
    assert set(named["detail"]) == {"setup not stated"}


def test_files_at_two_levels_are_two_sets_unless_one_holds_three_quarters() -> None:
    low, high = [5_000.0, 5_020.0, 4_990.0, 5_010.0, 5_030.0, 5_040.0], [7_500.0, 7_520.0]
    name = "4 KiB random reads, QD 4"
    assert labels(rated([{}] * 9, [*low, *high, 7_490.0])) == [
        f"6 files of {name}, near 5,015 IOPS",
        f"3 files of {name}, near 7,500 IOPS",
    ]
    found = the_set(rated([{}] * 8, [*low, *high]))
    assert (found.n_files, len(found.outliers)) == (8, 2)


def test_median_and_range_are_of_what_ran_at_once() -> None:
    """Two jobs of each file add up: 200, 202, … 212."""
    runs = [{"source_path": f"out/f{i}.json", "source_sha256": f"{i}"} for i in range(7) for _ in range(2)]
    found = the_set(rated(runs, [rate for rate in RATES for _ in range(2)]))
    assert (found.n_files, found.median, found.low, found.high) == (7, 206.0, 200.0, 212.0)
    rates = grouping.rates(grouping.arrange(rated(runs, [rate for rate in RATES for _ in range(2)])))
    assert rates[["iops", "repeats", "iops_low", "iops_high"]].to_numpy().tolist() == [[206, 7, 200, 212]]


def test_hosts_have_their_medians_the_lowest_first() -> None:
    hosts = [{"host": "b"}] * 3 + [{"host": "a"}] * 4
    found = the_set(rated(hosts, RATES)).hosts
    assert found[["median", "low", "high", "files"]].to_dict(orient="index") == {
        "b": {"median": 101, "low": 100, "high": 102, "files": 3},
        "a": {"median": 104.5, "low": 103, "high": 106, "files": 4},
    }
    assert the_set(rated([{"host": "a"}] * 7, RATES)).hosts.empty
    assert the_set(rated([*hosts[:6], {}], RATES)).hosts.empty  # a file that names no host


@pytest.mark.parametrize(
    ("value", "is_outlier"),
    [
        (110, False),  # far by its modified z-score, 0.6745 × 8 ÷ 2 below 3.5 too
        (123, False),  # z-score 6.7, yet not 1.2 times the median of 103
        (124, True),
        (85, True),  # 103 ÷ 85 is 1.21
        (87, False),
    ],
)
def test_an_outlier_is_far_by_both_rules(value: float, is_outlier: bool) -> None:
    values = pd.Series([100.0, 101.0, 102.0, 103.0, 104.0, 105.0, value])
    median = sorted(values)[3]
    assert file_sets.apart(values).tolist() == [False] * 6 + [
        is_outlier and not 1 / 1.2 < value / median < 1.2
    ]
    assert bool(file_sets.apart(values).iloc[-1]) is is_outlier


def test_values_that_vary_much_have_no_outlier() -> None:
    """Median 400 and median absolute deviation 200: 1,200 has a modified z-score of 2.7."""
    assert not file_sets.apart(pd.Series([100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 1200.0])).any()


def test_equal_values_have_no_spread_to_hide_an_outlier() -> None:
    assert file_sets.apart(pd.Series([100.0] * 6 + [121.0])).tolist() == [False] * 6 + [True]
    assert not file_sets.apart(pd.Series([100.0] * 6 + [119.0])).any()
    assert not file_sets.apart(pd.Series([100.0, 100.0, 100.0, 1000.0])).any()  # too few to tell


def test_outliers_are_named_by_file_and_host_the_farthest_first() -> None:
    runs = [{"host": f"h{i % 2}", "source_path": f"day{i % 2}/{i // 2}.json"} for i in range(9)]
    found = the_set(rated(runs, [*RATES, 30, 160])).outliers
    assert found.to_numpy().tolist() == [["day1/3.json", "h1", 30.0], ["4.json", "h0", 160.0]]


# --- latencies ----------------------------------------------------------------------------------------


def latencies(with_bins: bool) -> dict[str, pd.DataFrame]:
    """Six files of a thousand I/Os of 0.1 ms, and one of which a tenth took 6.4 ms."""
    row = {"ddir": "read", "lat_kind": "clat"}
    slow = [{"run_id": "r6", "bin_ns": 6_422_528, "n": 100}, {"run_id": "r6", "bin_ns": 100_864, "n": 900}]
    bins = [{"run_id": f"r{i}", "bin_ns": 100_864, "n": 1000} for i in range(6)] + slow
    told = [
        {"run_id": f"r{i}", "percentile": p, "lat_us": 100.864} for i in range(7) for p in (50.0, 95.0, 99.0)
    ]
    told = [
        one | {"lat_us": 6422.528} if one["run_id"] == "r6" and one["percentile"] > 90 else one
        for one in told
    ]
    return rated(
        [{}] * 7,
        RATES,
        percentiles=[row | one for one in told],
        bins=[row | one for one in bins] if with_bins else [],
    )


def test_percentiles_are_merged_from_bins_and_never_averaged() -> None:
    """100 of 7,000 I/Os are slow: p95 is fast, and so is p98; p99 is slow."""
    tables = latencies(with_bins=True)
    (card,) = summary.cards(grouping.arrange(tables), tables)
    (told,) = card.latencies
    assert told.values == pytest.approx({50.0: 100.864, 95.0: 100.864, 99.0: 6422.528}, rel=0.01)
    assert not told.ranges


def test_without_bins_a_card_has_the_range_of_each_files_own_percentiles() -> None:
    tables = latencies(with_bins=False)
    (card,) = summary.cards(grouping.arrange(tables), tables)
    (told,) = card.latencies
    assert not told.values
    assert told.ranges == {50.0: (100.864, 100.864), 95.0: (100.864, 6422.528), 99.0: (100.864, 6422.528)}


def test_a_percentile_that_a_file_lacks_has_no_range() -> None:
    tables = latencies(with_bins=False)
    told = tables["percentiles"]
    tables["percentiles"] = told[(told["run_id"] != "r3") | (told["percentile"] != 99.0)]
    (card,) = summary.cards(grouping.arrange(tables), tables)
    assert list(card.latencies[0].ranges) == [50.0, 95.0]
