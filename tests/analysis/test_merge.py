"""Runs taken together are what one run with all the I/Os would have told, or the merge is refused."""

import subprocess
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import PATIENCE_S

from azbenchlib.analysis.merge import merge
from azbenchlib.analysis.percentiles import merged, once
from azbenchlib.core import histogram, schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import NS_PER_US
from azbenchlib.dataset.dataset import Dataset

FIO = Path(__file__).parents[1] / "data" / "fio"
ALL = {"by": (), "percentiles": [50.0, 99.0]}


def bins_of(samples: list[int], **row: object) -> list[dict]:
    values, counts = np.unique(histogram.value_of(histogram.index_of(samples)), return_counts=True)
    return [row | {"bin_ns": int(v), "n": int(n)} for v, n in zip(values, counts, strict=True)]


def told(samples: list[int], **row: object) -> dict:
    """The moments as fio tells them: µs, and the standard deviation of a sample."""
    us = np.array(samples) / NS_PER_US
    stddev = float(us.std(ddof=1)) if len(us) > 1 else 0.0
    low, mean, high = (float(value) for value in (us.min(), us.mean(), us.max()))
    return row | {
        "n": len(us),
        "lat_min_us": low,
        "lat_mean_us": mean,
        "lat_stddev_us": stddev,
        "lat_max_us": high,
    }


def tables_of(jobs: list[list[int]], with_bins: bool = True, **columns: object) -> dict[str, pd.DataFrame]:
    """Tables of jobs of one document with these latencies in ns; columns are of the table runs."""
    known = {"rw": "randread", "bs_bytes": 4096, "level": "job", "source_sha256": "f", "source_doc": 0}
    known |= {"group_id": 0, "source_path": "four.json"} | columns
    rows: dict[str, list[dict]] = {name: [] for name in schema.TABLES}
    for i, samples in enumerate(jobs):
        row = {"run_id": f"r{i}", "ddir": "read"}
        own = {name: value[i] if isinstance(value, list) else value for name, value in known.items()}
        rows["runs"].append({"run_id": f"r{i}", "job": f"j{i}", "job_index": i} | own)
        rows["results"].append(row | {"ios": len(samples), "iops": 100.0 + i, "bw_bytes_per_s": 4096.0})
        rows["latency"].append(told(samples, lat_kind="clat", **row))
        p99 = float(np.percentile(samples, 99, method="inverted_cdf")) / NS_PER_US
        rows["percentiles"].append(row | {"lat_kind": "clat", "percentile": 99.0, "lat_us": p99})
        if with_bins:
            rows["bins"] += bins_of(samples, lat_kind="clat", **row)
    return {name: schema.frame(name, rows[name]) for name in schema.TABLES}


def p99(tables: dict[str, pd.DataFrame]) -> float:
    found = merge(tables, **ALL).percentiles
    return float(found.loc[found["percentile"] == 99, "lat_us"].iloc[0])


# ---- percentiles and moments


def test_the_p99_of_four_jobs_is_that_of_all_their_io_not_the_mean_of_theirs():
    """Three fast jobs and a slow one: peers print 5.06 ms, which none of a million I/Os took."""
    tables = tables_of([[80_000] * 1000, [80_000] * 1000, [80_000] * 1000, [20_000_000] * 1000])
    assert tables["percentiles"]["lat_us"].mean() == pytest.approx(5060)
    assert p99(tables) == pytest.approx(20_000, rel=histogram.REL_ERROR)
    assert merge(tables, **ALL).rel_error == pytest.approx(0.0078, abs=5e-5)


samples = st.lists(st.integers(0, 10**8), min_size=1, max_size=30)


@settings(max_examples=3)
@given(st.lists(samples, min_size=1, max_size=4), st.randoms())
def test_merged_is_pooled_in_any_order(jobs, random):
    found = merge(tables_of(jobs), **ALL)
    pooled = merge(tables_of([list(chain(*jobs))]), **ALL)
    shuffled = [*jobs]
    random.shuffle(shuffled)
    other = merge(tables_of(shuffled), **ALL)
    for one in (pooled, other):
        pd.testing.assert_frame_equal(found.percentiles, one.percentiles)
        pd.testing.assert_frame_equal(found.bins, one.bins)
        pd.testing.assert_frame_equal(found.latency, one.latency, rtol=1e-9, atol=1e-6)
    exact = np.percentile(list(chain(*jobs)), 99, method="inverted_cdf") / NS_PER_US
    assert p99(tables_of(jobs)) == pytest.approx(exact, rel=found.rel_error * (1 + 1e-9), abs=0)


def test_moments_are_those_of_all_samples():
    jobs = [[1000, 2000, 9000], [500], [40_000, 41_000]]
    (row,) = schema.records(merge(tables_of(jobs), **ALL).latency)
    us = np.array(list(chain(*jobs))) / NS_PER_US
    assert row["n"] == 6
    assert (row["lat_min_us"], row["lat_max_us"]) == (us.min(), us.max())
    assert row["lat_mean_us"] == pytest.approx(us.mean())
    assert row["lat_stddev_us"] == pytest.approx(us.std(ddof=1))


def test_what_one_run_does_not_tell_is_not_told_of_all():
    tables = tables_of([[1000, 2000], [3000]])
    latency = tables["latency"]
    latency.loc[1, ["lat_mean_us", "lat_max_us"]] = pd.NA
    latency.loc[0, "n"] = pd.NA  # fio 2 has none; its bins count
    (row,) = schema.records(merge(tables, **ALL).latency)
    assert row["n"] == 3
    assert row["lat_min_us"] == 1
    assert [row["lat_mean_us"], row["lat_stddev_us"], row["lat_max_us"]] == [None, None, None]


@pytest.mark.fio
def test_four_real_jobs_merge_to_the_percentiles_of_all_their_logged_io(tmp_path):
    command = ["fio", "--name=four", "--rw=randread", "--bs=4k", "--size=2m", "--numjobs=4", "--thread"]
    command += [
        f"--directory={tmp_path}",
        "--write_lat_log=four",
        "--output-format=json+",
        "--output=four.json",
    ]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE_S)
    logs = [np.loadtxt(log, delimiter=",", usecols=1) for log in tmp_path.glob("four_clat.*.log")]
    assert [len(log) for log in logs] == [512] * 4
    found = merge(Dataset.read(tmp_path / "four.json").tables, by=("rw",), percentiles=[1, 50, 90, 99, 99.9])
    pooled = np.sort(np.concatenate(logs))
    ranks = np.ceil(found.percentiles["percentile"].to_numpy(dtype=float) / 100 * len(pooled)).astype(int)
    exact = pooled[ranks - 1] / NS_PER_US
    assert found.percentiles["lat_us"].to_numpy(dtype=float) == pytest.approx(exact, rel=found.rel_error)
    clat = found.latency[found.latency["lat_kind"] == "clat"].iloc[0]
    assert clat["n"] == 2048
    assert clat["lat_mean_us"] == pytest.approx(pooled.mean() / NS_PER_US)
    assert clat["lat_stddev_us"] == pytest.approx(pooled.std(ddof=1) / NS_PER_US)


# ---- nothing counts twice


def test_a_million_and_one_io_count_once_though_two_histograms_hold_them():
    tables = tables_of([[10_000]])
    row = {"run_id": "r0", "ddir": "read", "lat_kind": "clat", "bin_ns": 10_048}
    whole = [row | {"n": 1_000_001}]
    logged = [row | {"t_s": t_s, "n": n} for t_s, n in ((1.0, 400_000), (2.0, 600_000))]
    for bins, n in ((whole, 1_000_001), (whole + logged, 1_000_001), (logged, 1_000_000)):
        tables["bins"] = schema.frame("bins", bins)
        assert merge(tables, **ALL).bins["n"].sum() == n
        assert once(tables["bins"])["n"].sum() == n


def test_merged_percentiles_do_not_mix_the_two_histograms_of_a_run():
    row = {"run_id": "r", "ddir": "read", "lat_kind": "clat"}
    whole = bins_of([1000] * 60 + [9000] * 40, **row)
    logged = bins_of([9000] * 40, t_s=1.0, **row)
    found = merged(schema.frame("bins", whole + logged), [50.0])
    assert found["lat_us"].tolist() == pytest.approx([1.0], rel=histogram.REL_ERROR)


def test_sums_of_other_rows_are_left_out():
    tables = tables_of([[1000] * 5, [2000] * 5, [1000] * 5 + [2000] * 5], level=["job", "job", "all"])
    found = merge(tables, **ALL)
    assert found.bins["n"].sum() == 10
    assert found.rates["n_runs"].tolist() == [2]
    only = {name: rows[rows["run_id"] == "r2"] if "run_id" in rows else rows for name, rows in tables.items()}
    assert merge(only, **ALL).bins["n"].sum() == 10


def test_mixed_rows_that_sum_read_and_write_are_left_out():
    tables = Dataset.read(FIO / "unified_both.json").tables
    found = merge({**tables, "percentiles": tables["percentiles"][:0]}, by=("rw",)).rates
    assert set(found["ddir"]) == {"read", "write"}
    results = tables["results"].set_index("ddir")
    assert found["ios"].sum() == results.loc["mixed", "ios"]


def test_interim_states_of_a_run_are_left_out():
    tables = Dataset.read(FIO / "status_interval.json").tables
    found = merge({**tables, "percentiles": tables["percentiles"][:0]}, by=("rw",))
    assert found.rates["n_runs"].tolist() == [1]
    assert found.rates["ios"].iloc[0] == tables["results"]["ios"].max()


# ---- rates


def test_rates_of_jobs_side_by_side_add_up_and_those_of_repeats_do_not():
    together = merge(tables_of([[1000]] * 3), **ALL).rates
    assert together["iops"].tolist() == [100 + 101 + 102]
    assert together["bw_bytes_per_s"].tolist() == [3 * 4096]
    repeats = merge(tables_of([[1000]] * 3, source_sha256=["a", "b", "c"]), **ALL).rates
    assert repeats["iops"].tolist() == [101]
    assert repeats["ios"].tolist() == [3]
    hosts = merge(tables_of([[1000]] * 3, source_sha256=["a", "b", "c"]), side_by_side=(), **ALL).rates
    assert hosts["iops"].tolist() == [303]


def test_figures_of_a_publication_did_not_run_side_by_side():
    assert merge(tables_of([[1000]] * 3, group_id=None), **ALL).rates["iops"].tolist() == [101]


def test_columns_that_are_kept_apart_come_first():
    tables = tables_of([[1000], [2000]], rw=["randread", "read"])
    found = merge(tables, by=("rw", "bs_bytes"))
    assert list(found.rates.columns[:3]) == ["rw", "bs_bytes", "ddir"]
    assert found.latency.set_index("rw")["n"].to_dict() == {"randread": 1, "read": 1}


# ---- refusals


def test_without_bins_it_refuses_and_names_run_and_remedy():
    with pytest.raises(InputError, match=r"four\.json \(job j0\).*--output-format=json\+"):
        merge(tables_of([[1000], [2000]], with_bins=False), **ALL)


def test_a_run_without_latency_is_not_passed_over_beside_one_that_has_it():
    tables = tables_of([[1000], [2000]])
    for name in ("latency", "percentiles", "bins"):
        tables[name] = tables[name][tables[name]["run_id"] != "r1"]
    with pytest.raises(InputError, match=r"four\.json \(job j1\)"):
        merge(tables, **ALL)


def test_kinds_that_fio_gives_no_histogram_of_keep_their_moments():
    tables = tables_of([[1000], [2000]])
    total = [told([5000], run_id=f"r{i}", ddir="read", lat_kind="lat") for i in range(2)]
    tables["latency"] = pd.concat([tables["latency"], schema.frame("latency", total)])
    found = merge(tables, **ALL)
    assert found.latency.set_index("lat_kind")["lat_mean_us"].to_dict() == {"clat": 1.5, "lat": 5}
    assert set(found.percentiles["lat_kind"]) == {"clat"}


def test_block_sizes_are_not_mixed_silently():
    tables = tables_of([[1000], [2000], [3000]], bs_bytes=[4096, 65536, None])
    with pytest.raises(InputError, match=r"4\sKiB, 64\sKiB, not stated.*by=\['bs_bytes'\]"):
        merge(tables, **ALL)
    assert len(merge(tables, by=("bs_bytes",)).rates) == 3
    writes = tables_of([[1000], [2000]], bs_write_bytes=[8192, 16384])
    with pytest.raises(InputError, match=r"8\sKiB, 16\sKiB"):
        merge(writes, by=("bs_bytes",))


def test_an_unknown_column_and_no_run_are_refused():
    with pytest.raises(InputError, match="'colour'; the columns are: run_id"):
        merge(tables_of([[1000]]), by=("colour",))
    with pytest.raises(InputError, match="no run to merge"):
        merge(tables_of([]))


@pytest.mark.parametrize("joined", [2, 8, 64])
@pytest.mark.parametrize("unit", [1, NS_PER_US])
def test_bins_that_a_histogram_log_joined_have_a_wider_bound(joined, unit):
    tables = tables_of([[1000], [2000]])
    first = histogram.index_of(np.arange(200, 90_000, 713)) // joined * joined
    middles = (histogram.value_of(first) + histogram.value_of(first + joined - 1)) // 2
    rows = [{"bin_ns": int(m) * unit, "n": 1, "t_s": 1.0} for m in np.unique(middles)]
    log = [
        {"run_id": run_id, "ddir": "read", "lat_kind": "clat"} | row
        for run_id in ("r0", "r1")
        for row in rows
    ]
    tables["bins"] = schema.frame("bins", log)
    assert merge(tables, **ALL).rel_error == histogram.REL_ERROR
    tables["findings"] = schema.frame(
        "findings", [{"run_id": "r1", "code": "hist_coarse", "severity": "info", "message": "joined"}]
    )
    assert merge(tables, **ALL).rel_error == joined * histogram.REL_ERROR
