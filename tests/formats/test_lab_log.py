"""The lab's own log: which samples it holds, whose they are, and what damage does to it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.campaign.targets.lab import target
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

HEAD = '{"azbench_lab": 1, "started_unix_s": 1000.0}\n'
OBJECTS = {
    "os": {"queue_depth": 12, "cache_hit_ratio": 0.75, "iops": 5},
    "os disk_burst_iops": {"credits": 5070.5, "throttled_share": 1.0},
}
LINE = json.dumps({"unix_s": 1002.5, "t_s": 1.0, "late_us": 30.0, "objects": OBJECTS}) + "\n"


def log(tmp_path: Path, text: str, name: str = "drain_lab.log") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def test_every_object_and_metric_is_a_sample(tmp_path: Path) -> None:
    found = Dataset.read(log(tmp_path, HEAD + LINE + LINE.replace("1002.5", "1003.5"))).samples
    first = found[found["t_s"] == 2.5].set_index(["object", "metric"])["value"].to_dict()
    assert first == {
        ("os", "queue_depth"): 12.0,
        ("os", "cache_hit_ratio"): 0.75,
        ("os disk_burst_iops", "credits"): 5070.5,
        ("os disk_burst_iops", "throttled_share"): 1.0,
    }
    assert sorted(found["t_s"].unique()) == [2.5, 3.5]
    assert not found.duplicated(["run_id", "ddir", "metric", "seq"]).any()


def test_it_belongs_to_the_run_beside_it(tmp_path: Path) -> None:
    jobs = [{"jobname": "drain", "read": {"total_ios": 3, "iops": 1.0}} for _ in range(2)]
    (tmp_path / "drain.json").write_text(json.dumps({"fio version": "fio-3.33", "jobs": jobs}))
    log(tmp_path, HEAD + LINE)
    found = Dataset.read(tmp_path)
    assert len(found.runs) == 2
    assert len(found.samples) == 4
    assert set(found.samples["run_id"]) == {found.runs["run_id"].iloc[0]}


def test_broken_lines_are_left_out_and_counted(tmp_path: Path) -> None:
    found = Dataset.read(log(tmp_path, HEAD + LINE + LINE[:40] + "\n" + LINE.replace("5070.5", '"x"')))
    assert len(found.samples) == 4
    assert "2 broken lines" in found.findings.set_index("code").loc["broken_lines", "message"]


@given(st.binary(max_size=200), st.integers(0, len(HEAD + LINE)))
def test_no_damage_raises(noise: bytes, place: int) -> None:
    whole = (HEAD + LINE).encode()
    for data in (whole[:place] + noise, whole[:place] + noise + whole[place:], HEAD.encode() + noise):
        registry.read(Source("x_lab.log", data))


@pytest.mark.parametrize(
    "number", ["9" * 309, "9" * 4000, "9" * 5000, "1e999", "NaN", "-Infinity", "[]", "null"]
)
@pytest.mark.parametrize("place", ["1000.0", "1002.5", "5070.5"])
def test_a_number_that_is_none_leaves_its_line_out(number: str, place: str) -> None:
    text = (HEAD + LINE).replace(place, number)
    found = registry.read(Source("x_lab.log", text.encode()))
    assert found["samples"].empty
    assert not found["findings"].empty


def test_a_first_line_nested_without_end_is_a_finding() -> None:
    for nested in ("[" * 100_000, '{"a":' * 10_000):
        text = HEAD.replace("1000.0", nested) + LINE
        found = registry.read(Source("x_lab.log", text.encode()))
        assert found["samples"].empty
        assert found["findings"]["code"].tolist()[0] == "no_start"


def test_a_name_that_is_no_text_leaves_its_line_out() -> None:
    found = registry.read(Source("x_lab.log", (HEAD + LINE.replace('"os":', '"\\ud800":') + LINE).encode()))
    assert len(found["samples"]) == 4
    assert found["findings"]["code"].tolist() == ["broken_lines"]


def test_a_log_without_a_sample_is_a_finding() -> None:
    found = registry.read(Source("x_lab.log", HEAD.encode()))
    assert found["findings"]["code"].tolist() == ["no_figures"]


def test_a_workloads_part_of_the_log_begins_when_measuring_does(tmp_path: Path) -> None:
    whole = log(tmp_path, HEAD + LINE, "live.jsonl")
    mark = target.Mark.now(whole)
    with whole.open("a") as file:
        for moment in ("1004.0", "1005.0", "1006.0"):
            file.write(LINE.replace("1002.5", moment))
        file.write(LINE[:50])  # the server is writing
    target.keep(mark, 1005.0, tmp_path / "part_lab.log")
    found = Dataset.read(tmp_path / "part_lab.log")
    assert sorted(found.samples["t_s"].unique()) == [0.0, 1.0]
    assert found.findings[found.findings["code"] == "broken_lines"].empty


@pytest.mark.parametrize("text", ["{}", '{"fio version": "fio-3.33", "jobs": []}'])
def test_other_json_is_not_claimed(text: str) -> None:
    found = registry.recognise(Source("x_lab.log", text.encode()))
    assert found is None or found.name != "lab log"
