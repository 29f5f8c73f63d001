"""Answers of Azure Monitor: which samples they hold, which runs they speak of, what damage does to them."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.analysis.over_time.monitored import Monitor
from azbenchlib.analysis.runs import runs
from azbenchlib.core import schema
from azbenchlib.core.findings import Code
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.model import VM, Setup, notation
from azbenchlib.verdict.run_verdicts import judge_runs

FILE = Path(__file__).parents[1] / "data" / "azure_monitor" / "two_disks.json"
BEGUN = datetime(2026, 11, 20, 10, tzinfo=UTC).timestamp()


def output(iops: float, begun_s: float, seconds: float) -> str:
    """fio's JSON of a run of random reads that began so many seconds after the first minute."""
    read = {"total_ios": round(iops * seconds), "io_bytes": round(iops * seconds) * 4096, "iops": iops}
    read |= {"bw_bytes": round(iops * 4096), "runtime": round(seconds * 1000)}
    options = {"rw": "randread", "bs": "4k", "iodepth": "64", "direct": "1", "ioengine": "libaio"}
    options |= {"time_based": "1", "runtime": str(round(seconds)), "size": "100g", "filename": "/dev/sdc"}
    job = {"jobname": "job", "error": 0, "job options": options, "read": read}
    ended = round(BEGUN + begun_s + seconds)
    return json.dumps({"fio version": "fio-3.33", "timestamp": ended, "jobs": [job]})


def test_every_figure_is_a_sample_of_its_disk_or_path() -> None:
    tables = registry.read(Source.of(FILE))
    expected = pd.read_csv(FILE.with_suffix(".samples.csv"))
    found = tables["samples"][list(expected.columns)]
    assert [tuple(row) for row in found.fillna("").astype(object).itertuples(index=False)] == [
        tuple(row) for row in expected.fillna("").astype(object).itertuples(index=False)
    ]
    assert not tables["samples"].duplicated(["run_id", "ddir", "metric", "seq"]).any()
    (run,) = tables["runs"].to_dict("records")
    assert (run["tool"], run["started_at"], run["ended_at"]) == (
        "Azure Monitor",
        "2026-11-20T10:00:00+00:00",
        "2026-11-20T10:03:00+00:00",
    )
    assert tables["findings"][["code", "severity"]].to_numpy().tolist() == [["metrics_left_out", "info"]]
    assert "Percentage CPU" in tables["findings"]["message"].iloc[0]


@pytest.mark.parametrize(
    ("begun_s", "seconds", "consumed", "rate"),
    [
        (0, 60, 40.0, 121.5),  # its first minute alone
        (55, 70, 101.0, 2.0),  # the one that lies within, not the others that it touches
        (125, 20, 99.0, 243.0),  # shorter than a minute: the one that it lies in
        (1000, 60, None, None),
    ],
)
@pytest.mark.sampled(2)
def test_a_run_gets_the_minutes_of_its_own_time(
    tmp_path: Path, begun_s: float, seconds: float, consumed: float | None, rate: float | None
) -> None:
    (tmp_path / "monitor.json").write_bytes(FILE.read_bytes())
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "job.json").write_text(output(1000, begun_s, seconds))
    (run,) = runs(Dataset.read(tmp_path).tables)
    seen = run.flows[0].observation
    assert seen.consumed_pct.get("vm_uncached_mbps") == (
        None if consumed is None else 12 + begun_s // 60 + (1 if begun_s == 55 else 0)
    )
    assert "disk_iops" not in seen.consumed_pct  # two LUNs, and nothing tells which one it was
    alone = json.loads(FILE.read_text())
    for metric in alone["value"]:
        metric["timeseries"] = [one for one in metric["timeseries"] if "3" not in str(one["metadatavalues"])]
    (tmp_path / "monitor.json").write_text(json.dumps(alone))
    seen = runs(Dataset.read(tmp_path).tables)[0].flows[0].observation
    assert seen.consumed_pct.get("disk_iops") == consumed


@pytest.mark.parametrize(("iops", "severity"), [(121.5, "info"), (200.0, "warning")])
def test_its_figure_stands_beside_that_of_the_tool(tmp_path: Path, iops: float, severity: str) -> None:
    (tmp_path / "monitor.json").write_bytes(FILE.read_bytes())
    told: dict[str, Any] = json.loads(FILE.read_text())
    told["value"] = told["value"][:1]
    told["value"][0]["timeseries"][0]["data"][1]["average"] = 120.5
    told["value"][0]["timeseries"][0]["data"][2]["average"] = 120.5
    del told["value"][0]["timeseries"][1]
    (tmp_path / "monitor.json").write_text(json.dumps(told))
    (tmp_path / "job.json").write_text(output(iops, 0, 180))
    (judged,) = judge_runs(Dataset.read(tmp_path).tables)
    (view,) = [one for one in judged.judgement.findings if one.code == Code.AZURE_MONITOR]
    assert view.message == f"Azure Monitor: it counted 120 IOPS at the disks, and fio {round(iops)}"
    assert view.severity == severity


def test_what_it_says_changes_the_verdict(tmp_path: Path) -> None:
    """Reads at the limit of the disk: a full percentage makes it sure, a low one is evidence against it."""
    setup = Setup(VM(size="Standard_D4s_v5"), notation.parse_disks(["P30"]), "2026-11-20")
    probability = {}
    for name, percent in (("full", 100.0), ("free", 30.0)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "job.json").write_text(output(5000, 0, 180))
        told: dict[str, Any] = json.loads(FILE.read_text())
        series = told["value"][2]["timeseries"]
        for point in series[0]["data"]:
            point["average"] = percent
        told["value"] = told["value"][2:3]
        (folder / "monitor.json").write_text(json.dumps(told))
        (judged,) = judge_runs(Dataset.read(folder).tables, setup, "2026-11-20")
        shares = judged.judgement.posterior
        (view,) = [one.message for one in judged.judgement.findings if one.code == Code.AZURE_MONITOR]
        assert view == f"Azure Monitor: it shows as used: disk iops {percent:.0f} %"
        probability[name] = sum(share for label, share in shares.items() if label.startswith("disk"))
    odds = {name: share / (1 - share) for name, share in probability.items()}
    assert odds["full"] > 100 * odds["free"]


@pytest.mark.parametrize("value", [10**400, -(10**400), 1e308, math.nan, True])
def test_a_value_that_no_disk_has_is_left_out(value: float) -> None:
    content = json.loads(FILE.read_text())
    plain = registry.read(Source("monitor.json", json.dumps(content).encode()))["samples"]
    content["value"][0]["timeseries"][0]["data"][0]["average"] = value
    left = registry.read(Source("monitor.json", json.dumps(content).encode()))["samples"]
    assert len(left) == len(plain) - 1


@given(st.data())
def test_no_answer_raises(data: st.DataObject) -> None:
    """Any JSON in any place of a whole one."""
    content = json.loads(FILE.read_text())
    anything = st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=5,
    )
    place: Any = content
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            place[key] = data.draw(anything)
            break
        place = place[key]
    tables = registry.read(Source("monitor.json", json.dumps(content).encode()))
    assert tables["results"].empty


@pytest.mark.parametrize(
    ("begun_s", "seconds", "minutes"),
    [
        (0, 180, [(0, 40.0), (60, 101.0), (120, 99.0)]),
        (55, 70, [(-55, 40.0), (5, 101.0), (65, 99.0)]),  # touches the first and the last
        (60, 60, [(0, 101.0)]),
        (1000, 60, []),
    ],
)
def test_the_minutes_of_a_run_are_counted_from_its_start(
    tmp_path: Path, begun_s: float, seconds: float, minutes: list[tuple[float, float]]
) -> None:
    alone = json.loads(FILE.read_text())
    for metric in alone["value"]:
        metric["timeseries"] = [one for one in metric["timeseries"] if "3" not in str(one["metadatavalues"])]
    (tmp_path / "monitor.json").write_text(json.dumps(alone))
    (tmp_path / "job.json").write_text(output(1000, begun_s, seconds))
    tables = Dataset.read(tmp_path).tables
    (job,) = schema.records(tables["runs"][tables["runs"]["tool"] == "fio"])
    found = Monitor(tables).over_time(job, seconds)
    disk = found[found["label"] == "disk_iops"]
    assert list(disk[["t_s", "percent"]].itertuples(index=False, name=None)) == minutes
    assert set(found["label"]) == ({"disk_iops", "vm_uncached_mbps"} if minutes else set())


def test_half_an_answer_is_told(tmp_path: Path) -> None:
    tables = registry.read(Source("monitor.json", FILE.read_bytes()[:2000]))
    assert tables["samples"].empty
    assert tables["findings"]["severity"].tolist() == ["error"]
