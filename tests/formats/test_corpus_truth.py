"""Real outputs of many fio versions and machines, against values that were established independently."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from azbenchlib.core import units
from azbenchlib.formats.base import Beside
from azbenchlib.formats.fio import json as fio_json
from azbenchlib.formats.fio.logs import log as fio_log
from azbenchlib.formats.fio.logs import log_lines
from azbenchlib.formats.source import Source

CORPUS = os.environ.get("AZBENCH_CORPUS", "")
NS_PER_US = 1000

pytestmark = pytest.mark.skipif(not CORPUS, reason="AZBENCH_CORPUS names no folder of real outputs")


def _truth(kind: str) -> list[dict[str, Any]]:
    if not CORPUS:
        return []
    lines = (Path(CORPUS) / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] == kind]


def _name(row: dict[str, Any]) -> str:
    return "-".join(str(row[key]) for key in ("file", "doc", "job_index", "op") if key in row)


@cache
def _tables(file: str) -> dict[str, pd.DataFrame]:
    return fio_json.read_fio_json(Source.of(Path(CORPUS) / file)).frames()


def _only(data: pd.DataFrame, **wanted: Any) -> dict[str, Any]:
    """The one row with these values; NA is None."""
    for column, value in wanted.items():
        data = data[data[column] == value]
    assert len(data) == 1, wanted
    row = data.iloc[0].to_dict()
    return {column: None if pd.isna(value) else value for column, value in row.items()}


FIO_JSON = _truth("fio_json")
MEASURED = [row for row in FIO_JSON if "expect" not in row]


@pytest.mark.parametrize("truth", MEASURED, ids=_name)
@pytest.mark.sampled(9)
def test_every_figure_of_fio_json_is_read(truth):
    tables = _tables(truth["file"])
    run = _only(tables["runs"], source_doc=truth["doc"], job_index=truth["job_index"])
    for column, key in (
        ("job", "jobname"),
        ("host", "hostname"),
        ("group_id", "groupid"),
        ("error", "error"),
        ("tool_version", "fio_version"),
    ):
        assert run[column] == truth[key], column
    for column, key, as_number in (
        ("rw", "opt_rw", lambda rw: rw.replace("readwrite", "rw")),
        ("bs_bytes", "opt_bs", units.fio_size),
        ("iodepth", "opt_iodepth", int),
        ("numjobs", "opt_numjobs", int),
    ):
        if truth[key] is not None:
            assert run[column] == as_number(truth[key]), column
    assert run["source_path"] == str(Path(CORPUS) / truth["file"])
    assert tables["runs"]["source_doc"].max() + 1 == truth["n_docs"]
    result = _only(tables["results"], run_id=run["run_id"], ddir=truth["op"])
    assert result["iops"] == truth["iops"]
    assert result["io_bytes"] == truth["io_bytes_total"]
    assert result["runtime_s"] == truth["runtime_ms"] / 1000
    assert result["ios"] == truth["total_ios"]
    rate = truth["bw_Bps_recomputed"] if truth["bw_bytes"] is None else truth["bw_bytes"]
    assert result["bw_bytes_per_s"] == pytest.approx(rate, abs=1, rel=0)


@pytest.mark.parametrize("truth", MEASURED, ids=_name)
@pytest.mark.sampled(14)
def test_every_latency_of_fio_json_is_read(truth):
    tables = _tables(truth["file"])
    run = _only(tables["runs"], source_doc=truth["doc"], job_index=truth["job_index"])
    latency, percentiles = (
        table[(table["run_id"] == run["run_id"]) & (table["ddir"] == truth["op"])]
        for table in (tables["latency"], tables["percentiles"])
    )
    sampled = {kind for kind in ("slat", "clat", "lat") if f"{kind}_mean_ns" in truth}
    assert set(latency["lat_kind"]) == sampled
    for kind in sampled:
        row = _only(latency, lat_kind=kind)
        for moment in ("min", "mean", "max"):
            expected = truth[f"{kind}_{moment}_ns"] / NS_PER_US
            assert row[f"lat_{moment}_us"] == pytest.approx(expected, rel=1e-12), (kind, moment)
    for kind in ("slat", "clat", "lat"):
        expected = {float(p): ns / NS_PER_US for p, ns in truth.get(f"{kind}_percentiles_ns", {}).items()}
        rows = percentiles[percentiles["lat_kind"] == kind]
        assert dict(zip(rows["percentile"], rows["lat_us"], strict=True)) == pytest.approx(
            expected, rel=1e-12
        )


@pytest.mark.parametrize("truth", [row for row in FIO_JSON if "expect" in row], ids=_name)
def test_nothing_is_made_up_for_a_job_without_io(truth):
    tables = _tables(truth["file"])
    assert tables["runs"]["error"].tolist() == truth["errors"]
    for table in ("results", "latency", "percentiles", "bins"):
        assert tables[table].empty, table
    assert {"job_failed", "no_io", "fio_error_line"} <= set(tables["findings"]["code"])


def _fio_json_files() -> list[str]:
    folders = ("json", "jsonplus_local", "json_local")
    return [
        f"fio/{path.parent.name}/{path.name}" for f in folders for path in Path(CORPUS, "fio", f).glob("*")
    ]


@pytest.mark.parametrize("file", sorted(_fio_json_files()) if CORPUS else [])
def test_every_fio_json_file_is_claimed_and_read(file):
    source = Source.of(Path(CORPUS) / file)
    assert fio_json.sniff(source.text[: 64 * 1024])
    assert not log_lines.sniff(source.text[: 64 * 1024])
    tables = _tables(file)
    assert len(tables["runs"])
    assert not set(tables["findings"]["code"]) & {"broken_json", "unexpected_value", "not_a_number"}
    for key in (("run_id", "ddir", "lat_kind", "percentile"), ("run_id", "ddir", "lat_kind", "bin_ns")):
        table = tables["percentiles" if "percentile" in key else "bins"]
        assert not table.duplicated(list(key)).any()


@pytest.mark.parametrize("file", sorted(_fio_json_files()) if CORPUS else [])
def test_bins_hold_every_sample_and_agree_with_the_percentiles(file):
    """The bins of json+ sum up to the I/Os, and a percentile is one of the bins or the largest value."""
    tables = _tables(file)
    keys = ["run_id", "ddir", "lat_kind"]
    if tables["bins"].empty:
        assert "jsonplus" not in file
        return
    counted = tables["bins"].groupby(keys)["n"].sum().reset_index()
    both = counted.merge(tables["results"], on=["run_id", "ddir"]).merge(tables["latency"], on=keys)
    assert len(both) == len(counted)
    assert (both["n_x"] == both["ios"]).all()
    for run, ddir, kind in counted[keys].itertuples(index=False):
        chosen = [
            table.set_index(keys).loc[[(run, ddir, kind)]] for table in (tables["bins"], tables["latency"])
        ]
        largest_us = chosen[0]["bin_ns"].max() / NS_PER_US
        assert largest_us == pytest.approx(chosen[1]["lat_max_us"].iloc[0], rel=1 / 64)


@pytest.mark.parametrize("truth", _truth("fio_log"), ids=_name)
def test_every_sample_of_fio_logs_is_read(truth):
    version = "fio-2.14" if "fio-2." in truth["file"] else "fio-3.33"
    source = Source.of(Path(CORPUS) / truth["file"])
    samples = fio_log.read_fio_log(source, Beside("run", version)).frames()["samples"]
    metric = truth["file"].split("_")[-1].split(".")[0]
    to_metric = {"bw": 1024, "iops": 1}.get(metric, 1 if version == "fio-2.14" else 1 / NS_PER_US)
    assert len(samples) == truth["n_rows"]
    assert samples["value"].sum() == pytest.approx(truth["sum_value"] * to_metric)
    codes = {"0": "read", "1": "write", "2": "trim"}
    assert set(samples["ddir"]) == {codes[code] for code in truth["ddirs"]}
    since = 0 if int(truth["first"][0]) < 10**11 else int(truth["first"][0])
    for row, expected in ((samples.iloc[0], truth["first"]), (samples.iloc[-1], truth["last"])):
        assert row["t_s"] == (int(expected[0]) - since) / 1000
        assert row["value"] == pytest.approx(int(expected[1]) * to_metric)
        assert row["ddir"] == codes[expected[2]]
        assert pd.isna(row["bs_bytes"]) if expected[3] == "0" else row["bs_bytes"] == int(expected[3])


def test_every_fio_log_is_claimed_but_histograms_are_not():
    for path in sorted(Path(CORPUS, "fio").glob("log*/*")):
        claimed = log_lines.sniff(Source.of(path).text[: 64 * 1024])
        assert claimed == ("clat_hist" not in path.name), path.name


def test_no_other_file_is_taken_for_fio_json_or_a_log():
    own = {"json", "json_local", "jsonplus_local", "log", "log_local"}
    others = [path for path in Path(CORPUS).glob("*/*/**/*") if path.is_file()]
    for path in others:
        if path.relative_to(CORPUS).parts[:2] not in {("fio", name) for name in own}:
            opening = Source.of(path).text[: 64 * 1024]
            assert not fio_json.sniff(opening), path
            assert not log_lines.sniff(opening), path
