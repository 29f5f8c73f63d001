"""Datasets: from files to tables, to disk and back, and several of them together."""

import gc
import io
import json
import os
import shutil
import socket
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError, OutputError
from azbenchlib.dataset import dataset, manifest
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.manifest import Manifest
from azbenchlib.verdict import checks

FIO = Path(__file__).parents[1] / "data" / "fio"
SETUP = {
    "setup_id": "here",
    "environment": "local",
    "disks": [
        {"disk": "d", "role": "data", "host_caching": "None", "count": 2},
        {"disk": "e", "bursting": True},
    ],
}
MEASUREMENTS = """\
source_file,source_line,experiment,setup,quantity,stat,value,unit,rw
a.txt,1,{},{},iops,mean,{},IOPS,read
"""


def _read(*paths: Path | str, log_unit: str | None = None) -> Dataset:
    """What is read, with the findings of the reading alone: those on figures are tested elsewhere."""
    found = Dataset.read(*paths, log_unit=log_unit)
    told = found.findings[~found.findings["code"].isin(list(checks.CHECKS))]
    return replace(found, tables=found.tables | {"findings": told.reset_index(drop=True)})


def a_manifest(name: str = "n", *setups: dict) -> Manifest:
    return Manifest(name=name, title="t", about="a", measured="today", setups=list(setups or [SETUP]))


@pytest.fixture
def folder(tmp_path) -> Path:
    """A dataset folder: a fio run with its log, json+ of another, and published figures."""
    raw = tmp_path / "set" / "raw"
    raw.mkdir(parents=True)
    for name in ("randrw.json", "group_jsonplus.json", "failed_job.json"):
        shutil.copy(FIO / name, raw)
    shutil.copy(FIO / "rw_clat.1.log", raw / "randrw_clat.1.log")
    (raw / "p.csv").write_text(MEASUREMENTS.format("e1", "here", 100))
    manifest.save(raw.parent, a_manifest())
    return raw.parent


def assert_same(one: dict[str, pd.DataFrame], other: dict[str, pd.DataFrame]) -> None:
    assert list(one) == list(other) == list(schema.TABLES)
    for name in schema.TABLES:
        pd.testing.assert_frame_equal(one[name], other[name])


def assert_sound(found: Dataset) -> None:
    """Every table is as the registry says."""
    for name, described in schema.TABLES.items():
        dtypes = {column: str(dtype) for column, dtype in found.tables[name].dtypes.items()}
        assert dtypes == {column: entry.dtype for column, entry in described.columns.items()}, name
        schema.check(name, found.tables[name])


def test_a_file_by_path_or_name():
    found = _read(FIO / "randrw.json")
    assert_sound(found)
    assert found.runs["job"].tolist() == ["mix"]
    assert found.runs["source_path"].tolist() == [str(FIO / "randrw.json")]
    assert_same(found.tables, _read(str(FIO / "randrw.json")).tables)


def test_a_folder_with_folders_hidden_files_and_loops(tmp_path):
    for place in ("b/deep", "a", ".cache", "b"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    shutil.copy(FIO / "randrw.json", tmp_path / "b" / "deep")
    shutil.copy(FIO / "unified_both.json", tmp_path / "a")
    shutil.copy(FIO / "failed_job.json", tmp_path / ".cache")
    shutil.copy(FIO / "failed_job.json", tmp_path / "a" / ".failed.json.part")
    (tmp_path / "b" / "round").symlink_to(tmp_path)
    (tmp_path / "b" / "gone.json").symlink_to(tmp_path / "nowhere")
    found = _read(tmp_path)
    assert_sound(found)
    assert found.runs["job"].tolist() == ["uni", "mix"]
    assert found.findings["code"].tolist() == ["not_read"]
    assert found.findings["source_path"].tolist() == [str(tmp_path / "b" / "gone.json")]


def test_bins_are_left_out_where_they_are_not_wanted():
    path = FIO / "group_jsonplus.json"
    whole, less = Dataset.read(path), Dataset.read(path, bins=False)
    assert len(whole.bins) and less.bins.empty
    for name in set(schema.TABLES) - {"bins"}:
        pd.testing.assert_frame_equal(less.tables[name], whole.tables[name])


def test_runs_are_checked_when_findings_or_all_tables_are_first_used():
    path = FIO / "randrw.json"
    found, other = Dataset.read(path), Dataset.read(path)
    results = found.results
    assert "tables" not in vars(found)
    assert "too_short" in set(found.findings["code"])
    assert found.results is found.tables["results"] is results
    assert set(found.tables) == set(schema.TABLES)
    for name, table in other.tables.items():
        pd.testing.assert_frame_equal(table, found.tables[name])
    pd.testing.assert_frame_equal(deepcopy(Dataset.read(path)).findings, found.findings)
    assert replace(Dataset.read(path), place=path).findings.equals(found.findings)


def test_what_is_changed_in_a_table_is_not_what_is_checked():
    found, other = Dataset.read(FIO / "randrw.json"), Dataset.read(FIO / "randrw.json")
    found.runs.loc[:, "direct"] = True  # the finding says that I/O was buffered
    pd.testing.assert_frame_equal(found.findings, other.findings)


def test_a_dataset_is_itself_alone_and_lists_its_tables():
    found, other = Dataset.read(FIO / "randrw.json"), Dataset.read(FIO / "randrw.json")
    assert found == found and found != other and len({found, other}) == 2
    assert {"tables", *schema.TABLES} <= set(dir(found))


def test_an_empty_name_is_no_folder():
    with pytest.raises(InputError, match="one of the names is empty"):
        Dataset.read("")


def test_collections_go_on_after_reading_as_before(tmp_path):
    (tmp_path / "some.json").write_text("{}")
    Dataset.read(tmp_path)
    assert gc.isenabled()
    gc.disable()
    try:
        Dataset.read(tmp_path)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_links_are_not_followed_out_of_the_folder(tmp_path):
    for place in ("inside", "outside"):
        (tmp_path / place).mkdir()
    shutil.copy(FIO / "randrw.json", tmp_path / "outside")
    shutil.copy(FIO / "unified_both.json", tmp_path / "inside" / "a.json")
    (tmp_path / "inside" / "folder").symlink_to(tmp_path / "outside")
    (tmp_path / "inside" / "file.json").symlink_to(tmp_path / "outside" / "randrw.json")
    (tmp_path / "inside" / "again.json").symlink_to("a.json")
    found = _read(tmp_path / "inside")
    assert found.runs["job"].tolist() == ["uni"]
    told = found.findings.set_index("source_path")["code"].to_dict()
    inside = tmp_path / "inside"
    left_out = {str(inside / "folder"): "not_read", str(inside / "file.json"): "not_read"}
    assert told == left_out | {str(inside / "again.json"): "counted_once"} or told == left_out | {
        str(inside / "a.json"): "counted_once"
    }


def test_what_is_no_file_is_told_and_does_not_stop_the_others(tmp_path):
    shutil.copy(FIO / "randrw.json", tmp_path)
    os.mkfifo(tmp_path / "pipe.json")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket.json"))
    found = _read(tmp_path)
    assert found.runs["job"].tolist() == ["mix"]
    assert found.findings["code"].tolist() == ["not_read"] * 2
    assert _read(tmp_path / "pipe.json").findings["code"].tolist() == ["not_read"]


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: no such file or folder"):
        _read(FIO / "randrw.json", tmp_path / "nowhere")
    with pytest.raises(InputError, match="the folder holds no file"):
        _read(tmp_path)
    with pytest.raises(InputError, match="at least one"):
        _read()
    (tmp_path / ".hidden").touch()
    with pytest.raises(InputError, match="the folder holds no file"):
        _read(tmp_path)


def test_a_file_that_cannot_be_read_is_told_and_the_others_are_read(tmp_path, monkeypatch):
    shutil.copy(FIO / "randrw.json", tmp_path)
    (tmp_path / "locked.json").write_text("{}")
    opened = Path.open

    def refuse(path: Path, *args: object) -> object:
        if path.name == "locked.json":
            raise PermissionError(13, "Permission denied")
        return opened(path, *args)

    monkeypatch.setattr(Path, "open", refuse)  # root may read everything
    found = _read(tmp_path)
    assert found.runs["job"].tolist() == ["mix"]
    (finding,) = schema.records(found.findings)
    assert finding["code"] == "not_read"
    assert "locked.json: not read: Permission denied" in finding["message"]


def test_an_unknown_file_is_told_and_the_others_are_read(tmp_path):
    shutil.copy(FIO / "randrw.json", tmp_path)
    (tmp_path / "photo.jpg").write_bytes(bytes(range(256)))
    (tmp_path / "empty").touch()
    found = _read(tmp_path)
    assert found.runs["job"].tolist() == ["mix"]
    assert found.findings["code"].tolist() == ["empty_file", "not_recognised"]
    assert found.findings["source_path"].tolist() == [str(tmp_path / name) for name in ("empty", "photo.jpg")]


def test_a_dataset_knows_its_tables_by_name():
    found = _read(FIO / "randrw.json")
    assert found.results is found.tables["results"]
    with pytest.raises(AttributeError, match="no table latencies; it has: setups, disks, runs"):
        found.latencies  # noqa: B018


@pytest.mark.parametrize("separately", [False, True])
def test_a_log_belongs_to_the_json_beside_it(tmp_path, separately):
    shutil.copy(FIO / "randrw.json", tmp_path / "a.json")
    for name in ("clat.1", "clat.2"):
        shutil.copy(FIO / "rw_clat.1.log", tmp_path / f"a_{name}.log")
    paths = sorted(tmp_path.iterdir(), reverse=True) if separately else [tmp_path]
    found = _read(*paths)
    assert_sound(found)
    mine = found.samples[found.samples["run_id"] == found.runs["run_id"][0]]
    lines = len((FIO / "rw_clat.1.log").read_text().splitlines())
    assert len(mine) == lines
    assert len(found.samples) == 2 * lines
    second = found.runs.iloc[1]  # a job that the JSON does not have, but its version tells the unit
    assert (second["job"], second["job_index"], second["tool_version"]) == ("a", 1, "fio-3.33")
    assert found.findings.empty


def test_logs_without_an_output_are_one_run_a_job(tmp_path):
    for name in ("a_clat.1", "a_bw.1", "a_clat.2", "b_clat.1"):
        (tmp_path / f"{name}.log").write_text(f"1, {len(name)}{ord(name[0])}, 0, 4096\n2, 5, 1, 4096\n")
    found = _read(tmp_path)
    assert_sound(found)
    runs = found.runs.set_index("run_id")
    assert sorted(zip(runs["job"], runs["job_index"], strict=True)) == [("a", 0), ("a", 1), ("b", 0)]
    assert set(runs["level"]) == {"job"} and set(runs["tool"]) == {"fio"}
    metrics = found.samples.groupby("run_id")["metric"].unique().map(sorted)
    first = runs.index[(runs["job"] == "a") & (runs["job_index"] == 0)][0]
    assert metrics[first] == ["bw_bytes_per_s", "clat_us"]
    assert found.findings["code"].tolist() == ["log_unit_assumed"] * 3
    (tmp_path / "deeper").mkdir()
    for path in list(tmp_path.glob("*.log")):
        path.rename(tmp_path / "deeper" / path.name)
    assert set(_read(tmp_path).runs["run_id"]) == set(runs.index)


@pytest.mark.parametrize(("unit", "us"), [("us", 5000), ("ns", 5)])
def test_the_user_tells_the_unit_of_a_log(tmp_path, unit, us):
    (tmp_path / "a_lat.1.log").write_text("1, 5000, 0, 4096\n")
    found = _read(tmp_path, log_unit=unit)
    assert found.samples["value"].tolist() == [us]
    assert found.findings.empty
    with pytest.raises(InputError, match="log unit 'ms' is not one of: us, ns"):
        _read(tmp_path, log_unit="ms")


def test_an_output_knows_the_unit_better_than_the_user(tmp_path):
    shutil.copy(FIO / "randrw.json", tmp_path / "a.json")
    (tmp_path / "a_lat.1.log").write_text("1, 5000, 0, 4096\n")
    assert _read(tmp_path, log_unit="us").samples["value"].tolist() == [5]


def test_latencies_of_all_jobs_of_a_row_are_its_own_but_rates_are_of_one_job(tmp_path):
    shutil.copytree(FIO / "grouped", tmp_path / "g")
    for place in (1, 2):
        (tmp_path / "g" / f"grp_iops.{place}.log").write_text("500, 20, 0, 0\n")
    found = _read(tmp_path)
    assert_sound(found)
    row = found.runs[found.runs["source_path"].str.endswith("grp.json")].iloc[0]
    mine = found.samples[found.samples["run_id"] == row["run_id"]]
    assert mine.groupby("metric").size().to_dict() == {"clat_us": 40, "lat_us": 40}
    assert mine[mine["metric"] == "lat_us"]["seq"].tolist() == list(range(40))
    rates = found.samples[found.samples["metric"] == "iops"]
    assert rates["value"].tolist() == [20, 20]
    jobs = found.runs.set_index("run_id").loc[rates["run_id"]]
    assert jobs["job_index"].tolist() == [0, 1]
    assert set(jobs["rw"]) == {"randread"} and set(jobs["bs_bytes"]) == {4096}
    assert set(found.findings["code"]) == {"empty_log"}


def test_one_log_of_several_jobs_is_a_run_for_each_and_of_none_of_the_rows():
    """fio writes the lines of a job when it ends, so which row a part of the log is of cannot be told."""
    found = _read(FIO / "shared_logs")
    assert_sound(found)
    own = found.runs[found.runs["source_path"].str.endswith(".log")]
    assert own["job"].tolist() == ["one"] * 3
    assert own["job_index"].tolist() == [0, 1, 2]
    assert set(found.samples["run_id"]) == set(own["run_id"])
    sizes = found.samples.groupby(["metric", "run_id"]).size().groupby("metric").agg(list).to_dict()
    assert sizes == {
        "bw_bytes_per_s": [3] * 3,
        "clat_us": [4] * 3,
        "iops": [3] * 3,
        "lat_us": [4] * 3,
    }


def test_a_log_of_a_server_belongs_to_its_host(tmp_path):
    output = json.loads((FIO / "clients.json").read_text())
    output["client_stats"][1]["hostname"] = "other"
    (tmp_path / "c.json").write_text(json.dumps(output))
    (tmp_path / "c_lat.1.log.other").write_text("1, 7000, 0, 0\n")  # each server counts its own jobs
    found = _read(tmp_path)
    assert found.samples["value"].tolist() == [7]
    runs = found.runs.set_index("run_id").loc[found.samples["run_id"]]
    assert runs[["job", "host", "level"]].values.tolist() == [["w", "other", "job"]]


def test_a_log_is_found_by_the_name_of_its_job(tmp_path):
    shutil.copy(FIO / "randrw.json", tmp_path / "output.txt")
    shutil.copy(FIO / "rw_clat.1.log", tmp_path / "mix_clat.1.log")
    found = _read(tmp_path)
    assert set(found.samples["run_id"]) == set(found.runs["run_id"])
    assert len(found.runs) == 1


def test_an_empty_or_stored_log_is_told(tmp_path):
    (tmp_path / "a_slat.1.log").touch()
    shutil.copy(FIO / "stored_lat.1.log.fz", tmp_path)
    findings = _read(tmp_path).findings.set_index("code")
    assert findings.loc["empty_log", "severity"] == "info"
    assert findings.loc["compressed_log", "advice"] == (
        "fio --inflate-log=stored_lat.1.log.fz > stored_lat.1.log"
    )


def test_a_job_file_is_left_out_where_its_output_is_there(tmp_path):
    for name in ("sections.fio", "sections_common.inc", "sections.json"):
        shutil.copy(FIO / name, tmp_path)
    found = _read(tmp_path)
    assert found.runs["job"].tolist() == ["first read", "mix", "split"]
    assert set(found.runs["source_path"]) == {str(tmp_path / "sections.json")}
    assert "job_description" not in set(found.findings["code"])
    (tmp_path / "sections.json").unlink()
    alone = _read(tmp_path)
    assert alone.runs["job"].tolist() == ["first read", "mix", "split"]
    assert alone.results.empty


def test_a_job_file_of_another_run_of_that_name_is_kept(tmp_path):
    for place in ("jobs", "out"):
        (tmp_path / place).mkdir()
    shutil.copy(FIO / "randrw.json", tmp_path / "out")
    text = "[mix]\nrw={}\nbs=4k\n"
    (tmp_path / "jobs" / "a.fio").write_text(text.format("read"))
    assert len(_read(tmp_path).runs) == 2
    run = _read(tmp_path / "out").runs.iloc[0]
    job = f"[mix]\nrw={run['rw']}\nbs={run['bs_bytes']}\niodepth={run['iodepth']}\n"
    (tmp_path / "jobs" / "a.fio").write_text(job)
    assert len(_read(tmp_path).runs) == 1


def test_a_dataset_folder(folder):
    found = Dataset.read(folder)
    assert_sound(found)
    assert found.manifest == manifest.load(folder)
    assert found.setups["setup_id"].tolist() == ["here"]
    assert found.disks["disk"].tolist() == ["d", "e"]
    assert set(found.runs["setup_id"]) == {"here"}  # the only one
    assert set(found.runs["source_path"]) == {f"raw/{p.name}" for p in (folder / "raw").iterdir()} - {
        "raw/randrw_clat.1.log"
    }
    assert set(found.samples["run_id"]) <= set(found.runs["run_id"])
    assert "raw_changed" not in set(found.findings["code"])


def test_a_dataset_without_raw_output_is_refused(tmp_path):
    manifest.save(tmp_path, a_manifest())
    with pytest.raises(InputError, match="raw: no raw output"):
        _read(tmp_path)


def test_saved_and_loaded_is_the_same(folder):
    fresh = Dataset.read(folder)
    assert fresh.save(folder) == folder
    written = sorted(path.name for path in (folder / "tables").iterdir())
    assert written == sorted([*(f"{name}.parquet" for name in schema.TABLES), dataset.STAMP])
    loaded = Dataset.load(folder)
    assert_sound(loaded)
    assert_same(loaded.tables, fresh.tables)
    assert loaded.manifest == fresh.manifest


def test_load_takes_the_tables_that_were_made_before(folder):
    found = Dataset.read(folder)
    marked = found.tables | {"results": found.results.assign(ios=12345)}
    Dataset(tables=marked, manifest=found.manifest).save(folder)
    assert set(Dataset.load(folder).results["ios"]) == {12345}


def spoil_raw(folder: Path) -> None:
    (folder / "raw" / "p.csv").write_text(MEASUREMENTS.format("e1", "here", 7))


def add_raw(folder: Path) -> None:
    (folder / "raw" / "q.csv").write_text(MEASUREMENTS.format("e2", "here", 7))


def edit_manifest(folder: Path) -> None:
    manifest.save(folder, a_manifest("n", SETUP | {"label": "renamed"}))


def lose_table(folder: Path) -> None:
    (folder / "tables" / "runs.parquet").unlink()


def spoil_table(folder: Path) -> None:
    (folder / "tables" / "runs.parquet").write_bytes(b"PAR1")


def lose_column(folder: Path) -> None:
    pd.DataFrame({"elsewhere": [1]}).to_parquet(folder / "tables" / "runs.parquet")


def spoil_stamp(folder: Path) -> None:
    (folder / "tables" / dataset.STAMP).write_text("{")


@pytest.mark.parametrize(
    "change", [spoil_raw, add_raw, edit_manifest, lose_table, spoil_table, lose_column, spoil_stamp]
)
@pytest.mark.sampled(3)
def test_stale_or_damaged_tables_are_made_again(folder, change):
    found = Dataset.read(folder)
    marked = found.tables | {"results": found.results.assign(ios=12345)}
    Dataset(tables=marked, manifest=found.manifest).save(folder)
    change(folder)
    loaded = Dataset.load(folder)
    assert 12345 not in set(loaded.results["ios"])
    assert_same(loaded.tables, Dataset.read(folder).tables)


def test_raw_files_that_are_not_as_recorded_are_told(folder):
    spoil_raw(folder)
    (folder / "raw" / "group_jsonplus.json").unlink()
    found = Dataset.load(folder).findings.set_index("code")
    assert found.loc["raw_changed", "severity"] == "warning"
    assert str(folder / "raw" / "p.csv") in found.loc["raw_changed", "message"]
    assert found.loc["raw_missing", "severity"] == "error"
    assert str(folder / "raw" / "group_jsonplus.json") in found.loc["raw_missing", "message"]


def test_no_dataset_is_saved_without_a_manifest(tmp_path):
    with pytest.raises(InputError, match="without a manifest"):
        _read(FIO / "randrw.json").save(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_unwritable_place_is_named_and_left_as_it_was(folder, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="cannot be written"):
        Dataset.read(folder).save(tmp_path / "file" / "set")
    with pytest.raises(OutputError, match="cannot be written"):
        dataset.write_tables(Dataset.read(folder).tables, tmp_path / "file", "csv")
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "set"]


def test_a_failed_save_leaves_no_stamp(folder):
    (folder / "tables" / "runs.parquet").mkdir(parents=True)
    with pytest.raises(OutputError, match=r"runs\.parquet"):
        Dataset.read(folder).save(folder)
    assert not (folder / "tables" / dataset.STAMP).exists()
    assert not list((folder / "tables").glob(".*"))
    assert len(Dataset.load(folder).runs) == len(Dataset.read(folder).runs)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_written_out_are_read_back(folder, tmp_path, kind):
    """Also the string None, which pandas takes for missing unless told otherwise."""
    found = Dataset.read(folder)
    written = dataset.write_tables(found.tables, tmp_path / "out", kind)
    assert [path.name for path in written] == [f"{name}.{kind}" for name in schema.TABLES]

    def read_back(path: Path) -> pd.DataFrame:
        if kind == "parquet":
            return pd.read_parquet(path)
        return pd.read_csv(io.BytesIO(path.read_bytes()), keep_default_na=False, na_values=[""])

    tables = {path.stem: schema.conform(path.stem, read_back(path)) for path in written}
    assert tables["disks"]["host_caching"].tolist()[0] == "None"
    assert tables["disks"]["host_caching"].isna().tolist() == [False, True]
    assert_same(tables, found.tables)


def test_the_same_file_twice_counts_once(tmp_path):
    shutil.copy(FIO / "group_jsonplus.json", tmp_path / "one.json")
    shutil.copy(FIO / "group_jsonplus.json", tmp_path / "two.json")
    for name in ("one", "two"):
        shutil.copy(FIO / "rw_clat.1.log", tmp_path / f"{name}_clat.1.log")
    once, twice = _read(tmp_path / "one.json", tmp_path / "one_clat.1.log"), _read(tmp_path)
    assert_sound(twice)
    for name in set(schema.TABLES) - {"findings"}:
        pd.testing.assert_frame_equal(twice.tables[name], once.tables[name])
    assert twice.findings["code"].tolist() == ["counted_once"] * 2
    assert set(twice.findings["source_path"]) == {
        str(tmp_path / name) for name in ("two.json", "two_clat.1.log")
    }


def test_a_log_twice_counts_once_without_its_json(tmp_path):
    for name in ("a", "b"):
        shutil.copy(FIO / "rw_clat.1.log", tmp_path / f"{name}_clat.1.log")
    found = _read(tmp_path)
    assert len(found.samples) == len((FIO / "rw_clat.1.log").read_text().splitlines())
    assert len(found.runs) == 1
    assert sorted(found.findings["code"]) == ["counted_once", "log_unit_assumed"]


def test_counting_once_loses_no_finding(tmp_path):
    """Two rows of one file cannot be read, and a copy lies beside it."""
    text = MEASUREMENTS.format("e1", "here", 100) + "too,short\nshort,too\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(text)
    codes = _read(tmp_path).findings["code"].value_counts().to_dict()
    assert codes == {"row_not_read": 4, "counted_once": 1}


def other_dataset(folder: Path, name: str, value: int, *setups: dict) -> Path:
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / "p.csv").write_text(MEASUREMENTS.format("e1", "here", value))
    manifest.save(folder, a_manifest(name, *setups))
    return folder


@pytest.mark.parametrize(
    ("names", "ids"), [(("a", "b"), ["a/here", "b/here"]), (("a", "a"), ["a/here", "a-2/here"])]
)
def test_setups_of_two_datasets_stay_apart(tmp_path, names, ids):
    first = other_dataset(tmp_path / "1", names[0], 1)
    second = other_dataset(tmp_path / "2", names[1], 2, SETUP, {"setup_id": "mine", "environment": "lab"})
    found = _read(first, second)
    assert_sound(found)
    assert found.manifest is None
    assert found.setups["setup_id"].tolist() == [*ids, "mine"]
    assert found.disks["setup_id"].tolist() == [ids[0]] * 2 + [ids[1]] * 2
    assert found.runs["setup_id"].tolist() == ids
    assert found.results["iops"].tolist() == [1, 2]


def test_a_dataset_beside_a_copy_of_itself_is_one(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    found = _read(folder, tmp_path / "copy")
    assert_sound(found)
    alone = Dataset.read(folder)
    assert found.setups["setup_id"].tolist() == ["n/here"]
    for name in ("results", "percentiles", "bins", "samples", "published"):
        pd.testing.assert_frame_equal(found.tables[name], alone.tables[name])


def test_a_dataset_beside_a_loose_file_keeps_its_manifest(folder):
    found = _read(FIO / "unified_both.json", folder)
    assert_sound(found)
    assert found.manifest == manifest.load(folder)
    assert found.runs["setup_id"].isna().tolist() == [True] + [False] * (len(found.runs) - 1)


def test_merging_one_is_that_one():
    found = _read(FIO / "randrw.json")
    assert Dataset.merge([found]) is found
    with pytest.raises(InputError, match="at least one"):
        Dataset.merge([])


def test_a_run_has_the_same_name_wherever_it_lies(tmp_path):
    shutil.copy(FIO / "randrw.json", tmp_path / "elsewhere.out")
    here, there = _read(FIO / "randrw.json"), _read(tmp_path / "elsewhere.out")
    assert here.runs["run_id"].tolist() == there.runs["run_id"].tolist()


def test_resolve_by_path_and_by_name(folder, tmp_path):
    home, empty = tmp_path / "home", tmp_path / "empty"
    shutil.copytree(folder, home / "mine")
    empty.mkdir()
    assert dataset.find_dataset(str(folder), []) == folder
    assert dataset.find_dataset("mine", [empty, home]) == home / "mine"
    shutil.copytree(folder, empty / "mine")
    assert dataset.find_dataset("mine", [empty, home]) == empty / "mine"


def test_resolve_lists_what_there_is(folder, tmp_path):
    for name in ("b", "a"):
        shutil.copytree(folder, tmp_path / "home" / name)
    (tmp_path / "home" / "no-dataset").mkdir()
    with pytest.raises(InputError, match=r"no dataset 'c': .* the known names are a, b$"):
        dataset.find_dataset("c", iter([tmp_path / "home", tmp_path / "nowhere"]))
    with pytest.raises(InputError, match="the known names are none"):
        dataset.find_dataset("c", [])


def test_records_of_a_dataset_are_json(folder):
    tables = {name: schema.records(rows) for name, rows in Dataset.read(folder).tables.items()}
    back = json.loads(json.dumps(tables, allow_nan=False))
    assert back == tables
    assert back["disks"][0]["host_caching"] == "None"
    assert not any(
        isinstance(value, np.generic) for rows in tables.values() for row in rows for value in row.values()
    )


def test_a_single_name_is_a_list_of_one_and_its_dataset_is_shown_in_two_lines() -> None:
    (dataset,) = Dataset.load_each("ultra-disk-2019")
    assert len(Dataset.load_each(["ultra-disk-2019"])) == 1
    shown = repr(dataset).splitlines()
    assert len(shown) == 2 and len(repr(dataset)) < 400 and dataset.manifest.title in shown[0]
    with pytest.raises(InputError, match="nothing is named"):
        Dataset.load_each("")
