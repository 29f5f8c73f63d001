"""Undoing the lab's time dilation: once, exactly, and nothing else."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.analysis.over_time import time_dilation
from azbenchlib.core import histogram, schema
from azbenchlib.dataset.read import Tables

K = 16.0


def tables(k: float | None = K) -> Tables:
    rows = {
        "setups": [
            {"setup_id": "slow", "environment": "lab", "time_scale": k},
            {"setup_id": "real", "environment": "azure"},
        ],
        "runs": [
            {
                "run_id": "a",
                "setup_id": "slow",
                "level": "job",
                "runtime_limit_s": 32.0,
                "ramp_s": 8.0,
                "rate_iops": 10,
                "rate_bytes_per_s": 40960,
                "thinktime_us": 16.0,
            },
            {"run_id": "b", "setup_id": "real", "level": "job", "runtime_limit_s": 32.0},
        ],
        "results": [
            {
                "run_id": run,
                "ddir": "read",
                "ios": 700,
                "io_bytes": 2867200,
                "runtime_s": 32.0,
                "iops": 22.0,
                "iops_stddev": 2.0,
                "bw_bytes_per_s": 89600.0,
            }
            for run in "ab"
        ],
        "latency": [
            {
                "run_id": run,
                "ddir": "read",
                "lat_kind": "clat",
                "n": 700,
                "lat_mean_us": 1600.0,
                "lat_max_us": 3200.0,
            }
            for run in "ab"
        ],
        "percentiles": [
            {"run_id": run, "ddir": "read", "lat_kind": "clat", "percentile": 99.0, "lat_us": 2000.0}
            for run in "ab"
        ],
        "bins": [
            {
                "run_id": run,
                "ddir": "read",
                "lat_kind": "clat",
                "bin_ns": int(histogram.value_of(900)),
                "n": 700,
            }
            for run in "ab"
        ],
        "samples": [
            {"run_id": run, "ddir": "read", "metric": metric, "seq": 0, "t_s": 16.0, "value": 160.0}
            for run in "ab"
            for metric in ("iops", "bw_bytes_per_s", "clat_us", "credits", "queue_depth")
        ],
    }
    return {name: schema.frame(name, rows.get(name, [])) for name in schema.TABLES}


def one(table: pd.DataFrame, run: str = "a") -> pd.Series:
    return table[table["run_id"] == run].iloc[0]


def test_times_become_shorter_and_rates_higher() -> None:
    found = time_dilation.undo(tables())
    run, result, moments = one(found["runs"]), one(found["results"]), one(found["latency"])
    assert (run["runtime_limit_s"], run["ramp_s"], run["rate_iops"]) == (2.0, 0.5, 160)
    assert (run["thinktime_us"], run["rate_bytes_per_s"]) == (1.0, 655_360)
    assert (result["runtime_s"], result["iops"], result["iops_stddev"]) == (2.0, 352.0, 32.0)
    assert result["bw_bytes_per_s"] == 89600 * 16
    assert (moments["lat_mean_us"], moments["lat_max_us"]) == (100.0, 200.0)
    assert one(found["percentiles"])["lat_us"] == 125.0
    assert one(found["bins"])["bin_ns"] == histogram.value_of(900 - 4 * histogram.PER_OCTAVE)


def test_counts_and_states_are_what_they_are() -> None:
    found = time_dilation.undo(tables())
    assert one(found["results"])["ios"] == 700
    assert one(found["results"])["io_bytes"] == 2867200
    assert one(found["latency"])["n"] == 700
    assert one(found["bins"])["n"] == 700
    samples = found["samples"][found["samples"]["run_id"] == "a"].set_index("metric")
    assert (samples["t_s"] == 1.0).all()
    values = {"iops": 2560, "bw_bytes_per_s": 2560, "clat_us": 10, "credits": 160, "queue_depth": 160}
    assert samples["value"].to_dict() == values


@pytest.mark.parametrize("k", [1.0, None])
def test_full_speed_changes_nothing(k: float | None) -> None:
    given = tables(k)
    for name, table in time_dilation.undo(given).items():
        pd.testing.assert_frame_equal(table, given[name])


def test_runs_of_other_setups_stay() -> None:
    given, found = tables(), time_dilation.undo(tables())
    for name, table in found.items():
        if "run_id" in table:
            pd.testing.assert_frame_equal(
                table[table["run_id"] == "b"].reset_index(drop=True),
                given[name][given[name]["run_id"] == "b"].reset_index(drop=True),
                check_dtype=True,
            )


@given(st.integers(100_000, 2**40), st.integers(0, 6))
def test_a_bin_divided_by_a_power_of_two_is_a_bin(value: int, power: int) -> None:
    """So a latency falls into the same bin, whether it is made shorter before or after it is counted."""
    slow = histogram.value_of(histogram.index_of([value]))
    fast = histogram.value_of(histogram.index_of([value >> power]))
    assert histogram.value_of(histogram.index_of(slow >> power)) == fast
