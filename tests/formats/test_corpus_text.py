"""Real terse and normal outputs of many fio versions, against values that were established independently."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from azbenchlib.core import units
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

CORPUS = os.environ.get("AZBENCH_CORPUS", "")

pytestmark = pytest.mark.skipif(not CORPUS, reason="AZBENCH_CORPUS names no folder of real outputs")


def _truth(kind: str) -> list[dict[str, Any]]:
    if not CORPUS:
        return []
    lines = (Path(CORPUS) / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["kind"] == kind]


def _name(row: dict[str, Any]) -> str:
    return "-".join(str(row[key]) for key in ("file", "line", "jobname", "op", "iops") if key in row)


@cache
def _tables(file: str) -> dict[str, pd.DataFrame]:
    return registry.read(Source.of(Path(CORPUS) / file))


@pytest.mark.parametrize("truth", _truth("fio_terse"), ids=_name)
@pytest.mark.sampled(7)
def test_every_figure_of_terse_lines_is_read(truth):
    tables = _tables(truth["file"])
    runs = tables["runs"]
    run = runs[(runs["job"] == truth["jobname"]) & (runs["group_id"] == int(truth["groupid"]))].iloc[0]
    assert run["error"] == int(truth["error"])
    assert pd.isna(run["tool_version"]) or run["tool_version"] == truth["fio_version"]
    place = (tables["results"]["run_id"] == run["run_id"]) & (tables["results"]["ddir"] == truth["op"])
    (result,) = tables["results"][place].to_dict("records")
    assert result["io_bytes"] == truth["io_bytes_total"]
    # truncated to KiB/s and to whole ones; bytes and time, or I/Os of normal text beside it, are exact
    assert 0 <= result["bw_bytes_per_s"] - truth["bw_Bps"] <= units.KIB
    assert 0 <= result["iops"] - truth["iops"] < 1
    assert result["runtime_s"] == truth["runtime_ms"] / 1000
    clat, percentiles = (
        table[
            (table["run_id"] == run["run_id"])
            & (table["ddir"] == truth["op"])
            & (table["lat_kind"] == "clat")
        ]
        for table in (tables["latency"], tables["percentiles"])
    )
    for moment in ("min", "mean", "max"):
        assert clat[f"lat_{moment}_us"].tolist() == [
            pytest.approx(truth[f"clat_{moment}_ns"] / 1000, rel=1e-12)
        ]
    expected = {float(p): ns / 1000 for p, ns in truth["clat_percentiles_ns"].items()}
    assert dict(zip(percentiles["percentile"], percentiles["lat_us"], strict=True)) == expected


@pytest.mark.parametrize("truth", _truth("fio_normal"), ids=_name)
@pytest.mark.sampled(16)
def test_every_figure_of_normal_output_is_read(truth):
    tables = _tables(truth["file"])
    rows = tables["results"].merge(tables["runs"], on="run_id")
    rows = rows[(rows["job"] == truth["jobname"]) & (rows["ddir"] == truth["op"])]
    slack = max(1, 0.01 * truth["iops"])  # printed with three or four digits, or cut to a whole number
    # a page may quote a job several times: the row with this run time and these IOPS
    (row,) = rows[
        (rows["runtime_s"] == truth["runtime_ms"] / 1000) & ((rows["iops"] - truth["iops"]).abs() <= slack)
    ].to_dict("records")
    of_run = tables["findings"][tables["findings"]["run_id"] == row["run_id"]]
    codes = set(of_run["code"])
    lost = 0.035 if "rounding_error" in codes else 0.01  # where a carry is lost: 29.0 stands for 29.96
    for name, told in (("bw_bytes_per_s", "bw_Bps_approx"), ("io_bytes", "io_bytes_approx")):
        assert row[name] == pytest.approx(truth[told], abs=units.KIB, rel=lost)
    if pd.notna(row["ios"]):
        assert row["iops"] == row["ios"] / row["runtime_s"]
    assert ("rounded_iops" in codes) == (truth.get("iops_rounded", False) and pd.isna(row["ios"]))
    if "no_job_header" not in codes:  # a direction that is quoted without its job tells no more
        assert (row["group_id"], row["error"]) == (truth["groupid"], truth["err"])
        assert row["level"] == ("group" if truth["jobs"] > 1 else "job")
        assert truth["jobs"] == 1 or row["numjobs"] == truth["jobs"]


def _files(*folders: str) -> list[str]:
    return [
        f"fio/{folder}/{path.name}"
        for folder in folders
        for path in sorted(Path(CORPUS, "fio", folder).glob("*"))
    ]


TEXTS = _files("terse", "terse_local", "normal", "normal_local") if CORPUS else []


@pytest.mark.parametrize("file", TEXTS)
@pytest.mark.sampled(21)
def test_every_text_is_claimed_and_read_without_damage(file):
    tables = _tables(file)
    claims = [fmt.name for fmt in registry.FORMATS if fmt.sniff(Source.of(Path(CORPUS) / file).opening)]
    assert len(claims) == 1
    assert claims[0] in ("fio terse", "fio text")
    assert len(tables["runs"])
    assert not set(tables["findings"]["code"]) & {
        "broken_lines",
        "text_differs",
        "option_not_read",
        "no_fio_job",
    }
    for table, key in (
        ("results", ["run_id", "ddir"]),
        ("percentiles", ["run_id", "ddir", "lat_kind", "percentile"]),
    ):
        assert not tables[table].duplicated(key).any()


@pytest.mark.parametrize("file", TEXTS)
def test_the_ios_of_normal_output_fit_the_rate_and_the_time(file):
    tables = _tables(file)
    rows = tables["results"].dropna(subset="ios")
    assert len(rows) or tables["results"]["ios"].isna().all()
    for row in rows.to_dict("records"):
        # printed with three digits, or cut to a whole number
        assert row["ios"] / row["runtime_s"] == pytest.approx(row["iops"], rel=0.01, abs=1), file


@pytest.mark.parametrize("file", _files("json", "json_local", "jsonplus_local") if CORPUS else [])
@pytest.mark.sampled(34)
def test_text_around_json_agrees_with_it(file):
    tables = _tables(file)
    assert "text_differs" not in set(tables["findings"]["code"])
    assert len(tables["runs"])


def test_exactly_one_format_may_claim_any_real_file():
    for path in sorted(path for path in Path(CORPUS).glob("*/**/*") if path.is_file()):
        opening = Source.of(path).opening
        assert len([fmt.name for fmt in registry.FORMATS if fmt.sniff(opening)]) <= 1, path
