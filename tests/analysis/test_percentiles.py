"""What a report compares: series, rates, curves, cards; and that nothing is counted twice."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from azbenchlib.analysis import grouping, percentiles, setup_names, summary
from azbenchlib.analysis.over_time import timeline
from azbenchlib.core import histogram, schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB
from azbenchlib.dataset.dataset import Dataset

FIO = Path(__file__).parents[1] / "data" / "fio"
DATASETS = Path(__file__).parents[2] / "datasets"
NAMES = (
    "azure-local-disks-2020",
    "iozone-host-cache-2012",
    "l-series-iometer-2017",
    "ultra-disk-2019",
    "zone-redundant-disks-2022",
)


def tables_of(**rows: list[dict]) -> dict[str, pd.DataFrame]:
    """All tables, with these rows; runs get what every run has."""
    known = {"level": "job", "rw": "randread", "bs_bytes": 4096, "queue_depth": 1, "source_sha256": "f"}
    known |= {"source_doc": 0, "group_id": 0, "source_path": "f.json"}
    rows["runs"] = [known | run for run in rows.get("runs", [])]
    return {name: schema.frame(name, rows.get(name, [])) for name in schema.TABLES}


def rated(runs: list[dict], iops: list[float], ddir: str = "read") -> dict[str, pd.DataFrame]:
    """Tables of runs with one rate each."""
    named = [{"run_id": f"r{i}"} | run for i, run in enumerate(runs)]
    results = [
        {"run_id": run["run_id"], "ddir": ddir, "iops": value, "bw_bytes_per_s": value * 4096}
        for run, value in zip(named, iops, strict=True)
    ]
    return tables_of(runs=named, results=results)


def bins_of(run_id: str, samples: list[int], **row: str) -> list[dict]:
    values, counts = np.unique(histogram.value_of(histogram.index_of(samples)), return_counts=True)
    row = {"ddir": "read", "lat_kind": "clat"} | row
    return [
        row | {"run_id": run_id, "bin_ns": int(v), "n": int(n)} for v, n in zip(values, counts, strict=True)
    ]


def timed(samples: dict[str, list[int]], with_bins: bool = True, **run: object) -> dict[str, pd.DataFrame]:
    """Tables of runs with percentiles of their samples (ns), with or without the bins."""
    row = {"ddir": "read", "lat_kind": "clat"}
    bins = [entry for run_id, values in samples.items() for entry in bins_of(run_id, values)]
    told = [
        row | {"run_id": run_id, "percentile": p, "lat_us": float(np.percentile(values, p)) / 1000}
        for run_id, values in samples.items()
        for p in (50.0, 99.0)
    ]
    return tables_of(
        runs=[{"run_id": run_id, "source_doc": i} | run for i, run_id in enumerate(samples)],
        latency=[row | {"run_id": run_id, "n": len(values)} for run_id, values in samples.items()],
        percentiles=told,
        bins=bins if with_bins else [],
    )


# ---- percentiles


@pytest.mark.parametrize(("percentile", "n"), [(50, 6), (97.5, 146), (99, 368), (99.9, 3688), (99.99, 36887)])
def test_fewest_samples_of_a_percentile(percentile, n):
    assert percentiles.min_samples(percentile) == n


@given(st.floats(0.1, 99.9999))
def test_so_many_samples_reach_beyond_the_percentile(percentile):
    """The largest of n lies above it with 97.5 %; that of n - 1 with less."""
    n, q = percentiles.min_samples(percentile), percentile / 100
    assert 1 - q**n >= 0.975 * (1 - 1e-12)
    assert n == 1 or 1 - q ** (n - 1) < 0.975 * (1 + 1e-12)


@pytest.mark.parametrize("percentile", [0, 100, -1, 200, float("nan")])
def test_no_number_of_samples_bounds_the_ends(percentile):
    with pytest.raises(InputError, match=f"not {percentile}"):
        percentiles.min_samples(percentile)


def test_wide_gives_a_column_each_and_invents_none():
    told = Dataset.read(FIO / "randrw.json").percentiles
    table = percentiles.wide(told, [99, 50, 12.5, 99.99999])
    assert list(table.columns) == ["run_id", "ddir", "lat_kind", "p99", "p50", "p12.5", "p99.99999"]
    assert len(table) == len(told.drop_duplicates(["run_id", "ddir", "lat_kind"]))
    one = told[(told["ddir"] == "read") & (told["percentile"] == 99)]
    assert table.loc[table["ddir"] == "read", "p99"].tolist() == one["lat_us"].tolist()
    assert table[["p12.5", "p99.99999"]].isna().all(axis=None)
    assert percentiles.wide(schema.empty("percentiles"), [50]).empty


samples = st.lists(st.integers(0, 10**7), min_size=1, max_size=40)


@given(st.lists(samples, min_size=1, max_size=4), st.floats(1, 100))
def test_merged_percentiles_are_those_of_the_pooled_samples(jobs, percentile):
    apart = [entry for i, job in enumerate(jobs) for entry in bins_of(f"r{i}", job)]
    pooled = bins_of("r", [value for job in jobs for value in job])
    merged = percentiles.merged(schema.frame("bins", apart), [percentile])
    alone = percentiles.merged(schema.frame("bins", pooled), [percentile])
    pd.testing.assert_frame_equal(merged, alone)


def test_without_bins_nothing_is_merged():
    with pytest.raises(InputError, match="without bins; run fio with --output-format=json"):
        percentiles.merged(schema.empty("bins"), [99])


# ---- labels


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "azure-local-disks-2020",
            [
                "E8as_v4, temp disk",
                "E8ds_v4, temp disk",
                "E8ds_v4, OS disk, ReadWrite cache",
                "E8ds_v4, OS disk, no cache",
                "E8ds_v4, ephemeral OS disk",
                "L8s_v2, local NVMe",
            ],
        ),
        (
            "iozone-host-cache-2012",
            [
                "Medium, temp disk",
                "Medium, data disk, no cache",
                "Medium, data disk, ReadOnly cache",
                "Medium, data disk, ReadWrite cache",
            ],
        ),
        ("l-series-iometer-2017", ["L4s, temp disk", "L16s, temp disk"]),
        (
            "ultra-disk-2019",
            [
                "E32-8s_v3, data disk, 10,000 IOPS, 50 MB/s",
                "E32-8s_v3, data disk, 10,000 IOPS, 100 MB/s",
                "E32-8s_v3, data disk, 32,000 IOPS, 2,000 MB/s",
            ],
        ),
        (
            "zone-redundant-disks-2022",
            [
                "D4as_v4, data disk, Premium ZRS, zone 1",
                "D4as_v4, data disk, Premium LRS, zone 1",
                "D4as_v4, data disk, Premium ZRS, zone 2",
                "D4as_v4, data disk, Premium ZRS, zone 3",
            ],
        ),
    ],
)
@pytest.mark.sampled(3)
def test_labels_of_the_shipped_datasets(name, expected):
    series = grouping.arrange(Dataset.read(DATASETS / name).tables).series
    assert series["label"].tolist() == expected
    assert series["short"].is_unique
    assert series["short"].str.len().max() <= 30


@pytest.mark.parametrize("name", NAMES)
def test_every_setup_can_be_told_from_the_others(name):
    found = Dataset.read(DATASETS / name)
    named = setup_names.setup_labels(found.setups, found.disks, found.setups["setup_id"].tolist())
    assert named["label"].is_unique
    assert named["short"].is_unique
    assert (named["label"].str.len() > 0).all()


ids = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True)
facts = st.fixed_dictionaries(
    {},
    optional={
        "vm_size": st.sampled_from(["Standard_D4as_v4", "Standard_E8ds_v4"]),
        "region": st.sampled_from(["westeurope"]),
        "label": st.sampled_from(["mine", "a"]),
    },
)


@given(ids, st.lists(facts, min_size=6, max_size=6), st.booleans())
def test_no_two_setups_are_called_the_same(keys, known, with_disks):
    setups = [{"setup_id": key} | entry for key, entry in zip(keys[:-1], known, strict=False)]
    disks = [{"setup_id": key, "disk": "d", "role": "data"} for key in keys if with_disks]
    named = setup_names.setup_labels(schema.frame("setups", setups), schema.frame("disks", disks), keys)
    assert named["key"].tolist() == keys
    assert named["label"].is_unique
    assert named["short"].is_unique
    assert (named["label"] != "").all()


def test_labels_of_no_setup():
    named = setup_names.setup_labels(schema.empty("setups"), schema.empty("disks"), [])
    assert list(named.columns) == ["key", "label", "short", "detail"]


@pytest.mark.parametrize(
    ("workload", "text"),
    [
        (("randwrite", 8192, 1024), "8 KiB random writes, QD 1,024"),
        (("record_rewrite", 4096, pd.NA), "4 KiB record rewrite"),
        ((pd.NA, pd.NA, pd.NA), "pattern not stated"),
    ],
)
def test_workloads_in_words(workload, text):
    assert setup_names.workload_text(*workload).replace("\u00a0", " ") == text


# ---- arrangement


def test_several_setups_are_the_series_and_one_setup_gives_loads():
    runs = [{"setup_id": "a"}, {"setup_id": "a", "queue_depth": 8}, {"setup_id": "a", "rw": "read"}]
    one = grouping.arrange(rated(runs, [1, 2, 3]))
    assert one.by == "load"
    assert [label.replace("\u00a0", " ") for label in one.series["label"]] == [
        "4 KiB, QD 1",
        "4 KiB, QD 8",
    ]
    assert one.runs["facet"].tolist() == ["random reads", "random reads", "sequential reads"]
    two = grouping.arrange(rated([*runs, {"setup_id": "b"}], [1, 2, 3, 4]))
    assert two.by == "setup"
    assert two.series["key"].tolist() == ["a", "b"]
    assert two.runs["series"].tolist() == ["a", "a", "a", "b"]


def test_runs_without_a_setup_are_a_series_of_their_own_beside_others():
    arrangement = grouping.arrange(rated([{"setup_id": "a"}, {}, {}], [1, 2, 4]))
    assert arrangement.series["label"].tolist() == ["a", "f.json"]
    assert arrangement.series["detail"].tolist() == ["", "setup not stated"]
    assert grouping.rates(arrangement)["iops"].tolist() == [1, 6]
    assert [card.rate["iops"] for card in summary.cards(arrangement, rated([{}], [1]))] == [1, 6]


def test_an_empty_dataset_arranges_to_nothing():
    arrangement = grouping.arrange(tables_of())
    assert arrangement.runs.empty
    assert arrangement.series.empty
    assert grouping.rates(arrangement).empty
    assert grouping.curves(arrangement, tables_of()).empty
    assert timeline.envelope(arrangement, tables_of()).empty
    assert summary.cards(arrangement, tables_of()) == []
    assert summary.results_table(arrangement, tables_of()).empty
    assert summary.overview(tables_of()).empty


def test_jobs_that_ran_together_add_up():
    arrangement = grouping.arrange(rated([{"queue_depth": 4}] * 3, [10, 20, 30]))
    row = grouping.rates(arrangement).iloc[0]
    assert row[["iops", "bw_bytes_per_s", "n_runs"]].tolist() == [60, 60 * 4096, 3]
    assert row["queue_depth"] == 12
    assert row["series"].replace("\u00a0", " ") == "4 KiB, QD 12"


@pytest.mark.parametrize("apart", ["source_sha256", "source_doc", "group_id"])
def test_repeats_give_their_median(apart):
    places = ["x", "y", "z"] if apart == "source_sha256" else [0, 1, 2]
    arrangement = grouping.arrange(rated([{apart: place, "setup_id": "s"} for place in places], [10, 90, 20]))
    table = grouping.rates(arrangement)
    assert table[["iops", "n_runs", "queue_depth"]].values.tolist() == [[20, 3, 1]]
    assert table[["repeats", "iops_low", "iops_high"]].values.tolist() == [[3, 10, 90]]


def test_experiments_of_one_publication_did_not_run_together():
    """They share a file, and belong to no group of jobs."""
    arrangement = grouping.arrange(rated([{"group_id": None, "setup_id": "s"}] * 3, [10, 90, 20]))
    assert grouping.rates(arrangement)["iops"].tolist() == [20]


@settings(max_examples=8)
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=6))
def test_parallel_jobs_deliver_the_sum_and_repeats_lie_between(iops):
    together = grouping.rates(grouping.arrange(rated([{}] * len(iops), iops)))
    assert together["iops"].tolist() == [pytest.approx(sum(iops))]
    repeats = grouping.rates(
        grouping.arrange(rated([{"source_doc": i, "setup_id": "s"} for i in range(len(iops))], iops))
    )
    assert min(iops) <= repeats["iops"][0] <= max(iops)


def test_a_missing_rate_stays_missing():
    tables = rated([{}, {}], [10, 20])
    tables["results"]["iops"] = pd.array([pd.NA, pd.NA], dtype="Float64")
    row = grouping.rates(grouping.arrange(tables)).iloc[0]
    assert pd.isna(row["iops"])
    assert row["bw_bytes_per_s"] == 30 * 4096


@pytest.mark.parametrize("level", ["all", "host", "group"])
def test_sums_of_other_rows_are_not_added_again(level):
    arrangement = grouping.arrange(rated([{}, {}, {"level": level}], [10, 20, 30]))
    assert grouping.rates(arrangement)["iops"].tolist() == [30]


def test_all_clients_of_a_real_run_are_not_counted_again():
    found = Dataset.read(FIO / "clients.json")
    assert set(found.runs["level"]) == {"job", "all"}
    table = grouping.rates(grouping.arrange(found.tables))
    jobs = found.runs.loc[found.runs["level"] == "job", "run_id"]
    assert table["iops"].sum() == found.results.loc[found.results["run_id"].isin(jobs), "iops"].sum()


def test_states_on_the_way_are_not_counted():
    found = Dataset.read(FIO / "status_interval.json")
    table = grouping.rates(grouping.arrange(found.tables))
    assert table["n_runs"].tolist() == [1]
    assert table["iops"].tolist() == found.results["iops"].tolist()[-1:]


def test_mixed_is_not_counted_beside_what_it_sums():
    found = Dataset.read(FIO / "unified_both.json")
    assert set(found.results["ddir"]) == {"read", "write", "mixed"}
    assert grouping.rates(grouping.arrange(found.tables))["ddir"].tolist() == ["read", "write"]
    alone = rated([{}], [10], "mixed")
    assert grouping.rates(grouping.arrange(alone))["ddir"].tolist() == ["mixed"]


def test_a_run_with_percentiles_alone_is_kept():
    tables = timed({"r": [1000, 2000]})
    table = summary.results_table(grouping.arrange(tables), tables)
    assert table["iops"].isna().tolist() == [True]
    assert table["p99"].notna().tolist() == [True]


# ---- curves


def test_one_run_keeps_the_percentiles_that_its_tool_told():
    found = Dataset.read(FIO / "randrw.json")
    curves = grouping.curves(grouping.arrange(found.tables), found.tables)
    told = found.percentiles[found.percentiles["lat_kind"] == "clat"]
    assert sorted(curves["lat_us"]) == sorted(told["lat_us"])
    assert set(curves["lat_kind"]) == {"clat"}
    ios = found.results.set_index("ddir")["ios"]
    assert curves.groupby("ddir")["n"].first().to_dict() == ios.to_dict()


def test_several_runs_are_merged_from_their_bins():
    runs = {"quick": [1000] * 99 + [2000], "slow": [50_000] * 100}
    tables = timed(runs, setup_id="s")
    curves = grouping.curves(grouping.arrange(tables), tables).set_index("percentile")
    pooled = pd.DataFrame(bins_of("r", runs["quick"] + runs["slow"]))
    expected = histogram.percentile(pooled["bin_ns"], pooled["n"], [50, 99])
    assert curves.loc[[50, 99], "lat_us"].tolist() == (expected / 1000).tolist()
    assert set(curves["n"]) == {200}


def test_several_runs_without_all_their_bins_are_left_out():
    tables = timed({"one": [1000] * 5, "two": [9000] * 5}, with_bins=False, setup_id="s")
    assert grouping.curves(grouping.arrange(tables), tables).empty
    tables["bins"] = schema.frame("bins", bins_of("one", [1000] * 5))
    assert grouping.curves(grouping.arrange(tables), tables).empty


def test_completion_latency_before_total_latency():
    tables = timed({"r": [1000]})
    total = tables["percentiles"].assign(lat_kind="lat", lat_us=77.0)
    submission = tables["percentiles"].assign(lat_kind="slat", lat_us=1.0)
    every = tables | {"percentiles": pd.concat([submission, total, tables["percentiles"]], ignore_index=True)}
    assert set(grouping.curves(grouping.arrange(every), every)["lat_kind"]) == {"clat"}
    some = tables | {"percentiles": pd.concat([submission, total], ignore_index=True)}
    assert set(grouping.curves(grouping.arrange(some), some)["lat_us"]) == {77.0}
    assert set(summary.overview(some | {"results": tables["results"]})["p50_us"]) == {77.0}


# ---- cards and tables


def cards_of(name: str) -> list[summary.Card]:
    found = Dataset.read(DATASETS / name)
    return summary.cards(grouping.arrange(found.tables), found.tables)


def test_the_headline_of_2012_is_the_tenfold_loss():
    """Random writes of 4 KiB: not reads, which the page cache answered."""
    cards = cards_of("iozone-host-cache-2012")
    assert {card.rate["facet"].replace("\u00a0", " ") for card in cards} == {"4 KiB random write"}
    assert [card.rate["bw_bytes_per_s"] / KIB for card in cards] == [157943, 18161, 19328, 2516]


def test_the_headline_of_2022_is_writes_at_depth():
    cards = cards_of("zone-redundant-disks-2022")
    assert {(card.rate["ddir"], card.rate["queue_depth"]) for card in cards} == {("write", 256)}
    assert [card.rate["iops"] for card in cards] == [5180, 5140, 5180, 5180]
    assert [sorted(card.quotes["value"]) for card in cards] == [
        [3.2, 4.3],
        [1.3, 2.2],
        [2.2, 3.2],
        [3.2, 4.8],
    ]


def test_the_cards_of_2020_tell_rate_and_latency_with_their_loads():
    card = cards_of("azure-local-disks-2020")[0]
    assert card.rate["queue_depth"] == 1024
    assert card.latency == {50.0: 147.0, 95.0: 375.0, 99.0: 578.0}
    assert card.latencies[0].of.endswith(", QD\u00a01")


def test_a_bound_is_told_as_one():
    bounds = {card.series: card.rate["iops_bound"] for card in cards_of("ultra-disk-2019")}
    assert bounds == {"ultra-10000-50": "~", "ultra-10000-100": ">", "ultra-32000-2000": "="}


def test_buffered_reads_make_no_headline():
    """The page cache may have answered them, whatever the load."""
    runs = [{"rw": "read", "direct": False, "queue_depth": 32}, {"rw": "write", "direct": True}]
    runs = [run | {"setup_id": setup, "group_id": i} for setup in "ab" for i, run in enumerate(runs)]
    tables = rated(runs, [900, 10, 800, 20])
    assert [card.rate["iops"] for card in summary.cards(grouping.arrange(tables), tables)] == [10, 20]
    tables["runs"]["direct"] = True
    assert [card.rate["iops"] for card in summary.cards(grouping.arrange(tables), tables)] == [900, 800]


def test_the_headline_is_a_workload_that_most_setups_share():
    runs = [{"setup_id": "a"}, {"setup_id": "b"}, {"setup_id": "b", "queue_depth": 64, "group_id": 1}]
    tables = rated(runs, [10, 20, 999])
    assert [card.rate["iops"] for card in summary.cards(grouping.arrange(tables), tables)] == [10, 20]


def test_the_latency_of_a_card_is_that_of_the_least_load():
    tables = timed({"busy": [9000] * 9, "quiet": [1000] * 9, "other": [2000] * 9}, setup_id="a")
    tables["runs"]["queue_depth"] = pd.array([32, 1, 1], dtype="Int64")
    tables["runs"]["setup_id"] = pd.array(["a", "a", "b"], dtype="string")
    assert [card.latency[99.0] for card in summary.cards(grouping.arrange(tables), tables)] == [1.0, 2.0]


def test_two_quoted_latencies_of_a_workload_make_no_second_row():
    tables = rated([{"source_doc": i, "setup_id": "s"} for i in range(2)], [18, 20])
    quote = {"quantity": "latency", "stat": "unstated", "unit": "ms", "bound": "=", "measured": True}
    quotes = [quote | {"run_id": f"r{i}", "value": float(i + 1)} for i in range(2)]
    tables["published"] = schema.frame("published", quotes)
    table = summary.results_table(grouping.arrange(tables), tables)
    assert table[["iops", "value"]].values.tolist() == [[19, 1.0]]


def test_one_setup_gives_a_card_each_load_and_pattern():
    found = Dataset.read(FIO / "randrw.json")
    cards = summary.cards(grouping.arrange(found.tables), found.tables)
    assert [card.facet for card in cards] == ["mixed random I/O"]
    assert cards[0].rate["iops"] == pytest.approx(found.results["iops"].sum())
    assert [told.of for told in cards[0].latencies] == ["mixed random I/O, reads", "mixed random I/O, writes"]
    assert all(set(told.values) == {50.0, 95.0, 99.0} for told in cards[0].latencies)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(2)
def test_the_table_of_results_keeps_every_workload(name):
    found = Dataset.read(DATASETS / name)
    arrangement = grouping.arrange(found.tables)
    table = summary.results_table(arrangement, found.tables)
    keys = ["series", "facet", "ddir"]
    assert not table.duplicated(keys).any()
    assert len(table) == len(arrangement.runs.drop_duplicates(keys))
    rates = arrangement.runs["iops"].notna().sum(), arrangement.runs["bw_bytes_per_s"].notna().sum()
    assert (table["iops"].notna().sum(), table["bw_bytes_per_s"].notna().sum()) == rates


def test_medians_over_block_sizes():
    found = Dataset.read(DATASETS / "iozone-host-cache-2012")
    medians = summary.medians_by_pattern(grouping.rates(grouping.arrange(found.tables)))
    assert len(medians) == 13
    assert (medians.loc["write"] / KIB).round().tolist() == [231136, 200333, 195408, 19802]


def test_overview_has_a_row_each_run_and_direction():
    found = Dataset.read(FIO)
    table = summary.overview(found.tables)
    told = pd.concat([found.results[["run_id", "ddir"]], found.percentiles[["run_id", "ddir"]]])
    assert len(table) == len(told.drop_duplicates())
    assert table["source_path"].notna().all()


# ---- time


def logged(times: list[float], values: list[float], metric: str = "clat_us", run_id: str = "r") -> list[dict]:
    return [
        {"run_id": run_id, "ddir": "read", "metric": metric, "seq": i, "t_s": t, "value": value}
        for i, (t, value) in enumerate(zip(times, values, strict=True))
    ]


def envelope_of(*logs: list[dict]) -> pd.DataFrame:
    tables = rated([{"run_id": "r"}, {"run_id": "s"}], [1, 1])
    tables["samples"] = schema.frame("samples", [row for log in logs for row in log])
    return timeline.envelope(grouping.arrange(tables), tables)


@settings(max_examples=6)
@given(st.lists(st.tuples(st.floats(0, 3600), st.floats(0, 1e6)), min_size=1, max_size=50))
def test_the_envelope_keeps_the_extremes_and_stays_within_them(points):
    times, values = zip(*points, strict=True)
    found = envelope_of(logged(list(times), list(values)))
    assert found["lat_max_us"].max() == max(values)
    slack = 1e-9 * max(values)
    assert (found["lat_us"] <= found["lat_max_us"] + slack).all()
    assert found["lat_us"].min() >= min(values) - slack
    assert found["t_s"].between(min(times) - 1e-9, max(times) + 1e-9).all()


def test_the_envelope_is_thinned_with_the_right_means():
    times = np.linspace(0, 60, 6000, endpoint=False)
    values = np.where(np.arange(6000) % 20 == 7, 100.0, 1.0)  # one in twenty: each span of 0.2 s has one
    found = envelope_of(logged(times.tolist(), values.tolist()))
    assert len(found) == timeline.MOST_POINTS == 300
    assert found["lat_us"].mean() == pytest.approx(values.mean())
    assert (found["lat_max_us"] == 100).all()
    assert found["t_s"].is_monotonic_increasing


def test_a_log_of_one_point_is_one_point():
    found = envelope_of(logged([3.5], [42.0]))
    assert found[["t_s", "lat_us", "lat_max_us"]].values.tolist() == [[3.5, 42.0, 42.0]]
    several = envelope_of(logged([2.0, 2.0], [1.0, 3.0]))
    assert several[["t_s", "lat_us", "lat_max_us"]].values.tolist() == [[2.0, 2.0, 3.0]]


def test_only_completion_latency_is_taken_where_both_were_logged():
    found = envelope_of(logged([1.0], [9.0], "lat_us"), logged([1.0], [5.0]), logged([1.0], [7.0], "iops"))
    assert found["lat_us"].tolist() == [5.0]
    assert envelope_of(logged([1.0], [9.0], "lat_us"))["lat_us"].tolist() == [9.0]
    assert envelope_of(logged([1.0], [7.0], "iops")).empty


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(2)
def test_no_log_no_envelope(name):
    found = Dataset.read(DATASETS / name)
    table = timeline.envelope(grouping.arrange(found.tables), found.tables)
    assert table.empty
    assert list(table.columns) == ["series", "facet", "ddir", "t_s", "lat_us", "lat_max_us"]


def test_a_mixed_run_counts_whole_and_its_directions_stand_apart_in_the_table() -> None:
    tables = tables_of(
        runs=[{"run_id": "m", "rw": "randrw"}, {"run_id": "r", "group_id": 1}],
        results=[
            {"run_id": "m", "ddir": "read", "iops": 700.0},
            {"run_id": "m", "ddir": "write", "iops": 300.0},
            {"run_id": "r", "ddir": "read", "iops": 900.0},
        ],
    )
    arrangement = grouping.arrange(tables)
    shown = {card.facet: card.rate["iops"] for card in summary.cards(arrangement, tables)}
    assert shown == {"mixed random I/O": 1000, "random reads": 900}
    table = summary.results_table(arrangement, tables).set_index("facet")["iops"]
    assert table.to_dict() == {
        "mixed random I/O, reads": 700,
        "mixed random I/O, writes": 300,
        "random reads": 900,
    }
