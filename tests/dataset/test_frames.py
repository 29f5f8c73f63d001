"""Runs that come as a DataFrame lead to what their outputs lead to; what does not fit is refused."""

from pathlib import Path

import pandas as pd
import pytest

import azbenchlib as az
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.patterns import direction_of
from azbenchlib.dataset.dataset import Dataset

FIO = Path(__file__).parents[1] / "data" / "fio"
VM, DISK = "Standard_E8ds_v4", "P30"


def own() -> pd.DataFrame:
    """As a spreadsheet has it: a row a run."""
    return pd.DataFrame(
        {
            "rw": "randread",
            "bs_bytes": 4096,
            "queue_depth": [1, 32, 64],
            "iops": [500, 5001, 5000.0],
            "lat_kind": "clat",
            "p99.9_us": [2000, 12_000, float("nan")],
        }
    )


@pytest.mark.parametrize("name", ["randrw.json", "clients.json", "unified_both.json", "status_interval.json"])
def test_an_overview_leads_back_to_the_figures_that_it_shows(name: str) -> None:
    shown = az.read(FIO / name).overview()
    again = az.read(shown)
    finished = shown[shown["state"].isna()].reset_index(drop=True)
    pd.testing.assert_frame_equal(again.overview(), finished)
    assert len(finished) == len(shown) - 3 * (name == "status_interval.json")
    for table, rows in again.tables.items():
        assert list(rows.columns) == list(schema.TABLES[table].columns)


def test_verdicts_of_merged_tables_are_those_of_their_output() -> None:
    """All that the runs tell is in them; an overview does not say whether I/O was direct."""
    output = az.read(FIO / "randrw.json")
    merged = output.runs.merge(output.results, on="run_id")
    columns = ["run", "iops", "limit", "sentence"]
    of_frame, of_file = (az.judge(data, vm=VM, disks=DISK).to_frame()[columns] for data in (merged, output))
    pd.testing.assert_frame_equal(of_frame, of_file)


def test_rows_of_a_spreadsheet_are_judged() -> None:
    rows = az.judge(own(), vm=VM, disks=DISK).to_frame()
    assert list(rows["run"]) == ["row 0", "row 1", "row 2"]
    assert list(rows["limit"]) == ["latency_qd", "disk_iops", "disk_iops"]
    dataset = az.read(own())
    assert dataset.percentiles[["percentile", "lat_us"]].to_numpy().tolist() == [[99.9, 2000], [99.9, 12_000]]
    assert dataset.latency.empty and dataset.setups.empty
    assert set(dataset.results["ddir"]) == {"read"} and dataset.results["bw_bytes_per_s"].isna().all()


def test_two_frames_are_compared() -> None:
    old = pd.concat([own().assign(iops=own()["iops"] * (1 + i / 1000)) for i in range(5)])
    worse = az.compare(old, old.assign(iops=old["iops"] * 0.7)).to_frame().set_index("metric")
    assert set(worse.loc["iops", "answer"]) == {"worse"} and set(worse.loc["iops", "old_runs"]) == {5}
    with pytest.raises(InputError, match="15 of 15 runs are on both sides"):
        az.compare(old, old)


def test_rows_in_other_directions_are_one_run_and_repeats_are_several() -> None:
    mixed = pd.DataFrame({"rw": "randrw", "ddir": ["read", "write"] * 2, "iops": [70, 30, 71.0, 29]})
    dataset = Dataset.of_frame(mixed)
    assert len(dataset.runs) == 2
    assert dataset.results.groupby("run_id", sort=False)["iops"].sum().tolist() == [100, 100]
    named = Dataset.of_frame(mixed.assign(run_id=["a", "a", "b", "b"]))
    assert list(named.runs["run_id"]) == ["a", "b"]


@pytest.mark.parametrize("named", [True, False], ids=["run_id", "no run_id"])
def test_rows_of_other_latencies_are_one_run_whose_rates_count_once(named: bool) -> None:
    output = az.read(FIO / "randrw.json")
    merged = output.runs.merge(output.results, on="run_id").merge(output.latency, on=["run_id", "ddir"])
    assert set(merged["lat_kind"]) == {"clat", "lat"}
    again = az.read(merged if named else merged.drop(columns="run_id"))
    assert len(again.runs) == len(output.runs)
    assert again.results["iops"].tolist() == output.results["iops"].tolist()
    assert len(again.latency) == len(merged)


def test_rows_of_a_run_that_contradict_each_other_are_refused() -> None:
    twice = pd.DataFrame({"run_id": "a", "rw": "randread", "iops": [70.0, 80.0]})
    with pytest.raises(InputError, match="row 1 of the frame: an earlier row of its run has other results"):
        az.read(twice)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (own().rename(columns={"iops": "IOPS"}), "column 'IOPS' is unknown; the nearest names are iops"),
        (own().drop(columns="rw"), "row 0 of the frame has no rw (a pattern of fio such as randread)"),
        (own().assign(rw="trimwrite"), "row 0 of the frame has no ddir (read, write, trim or mixed)"),
        (
            own().drop(columns="lat_kind"),
            "row 0 of the frame has no lat_kind (clat, lat or slat, of p99.9_us)",
        ),
        (own()[["rw"]], "row 0 of the frame has no figure, such as iops"),
        (own().assign(bs_bytes="4k"), "runs.bs_bytes: value '4k' is not"),
        (own().assign(iops=-1.0), "results.iops: value '-1.0' is not"),
        (pd.concat([own(), own()["rw"]], axis="columns"), "column rw is there 2 times"),
    ],
)
def test_what_does_not_fit_is_named(frame: pd.DataFrame, said: str) -> None:
    with pytest.raises(InputError) as raised:
        az.read(frame)
    assert said in str(raised.value)


def test_frames_stand_by_themselves() -> None:
    with pytest.raises(InputError, match="read by itself"):
        az.read(own(), own())
    with pytest.raises(InputError, match="group_by is for outputs"):
        az.judge(own(), group_by="job")


@pytest.mark.parametrize(
    ("rw", "way"),
    [
        ("randread", "read"),
        ("rw", "mixed"),
        ("randtrim", "trim"),
        ("trimwrite", None),
        ("reread", "read"),
        ("", None),
    ],
)
def test_a_pattern_tells_its_direction(rw: str, way: str | None) -> None:
    assert direction_of(rw) == way
