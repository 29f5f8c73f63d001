"""Outputs of a lab given by themselves: at full speed where the dilation factor is known, else no verdict."""

import json
import shutil
from pathlib import Path

import drained
import pytest
from typer.testing import CliRunner

from azbenchlib.advisor.demands.achieved import achieved
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError
from azbenchlib.dataset import lab_outputs
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.model import VM, Setup
from azbenchlib.model.notation import parse_disks
from azbenchlib.verdict.run_verdicts import judge_runs

HEAD = '{"azbench_lab": 1, "started_unix_s": 1}'
URI = "nbd+unix:///os?socket=/tmp/azbench-lab-8gkako9h/nbd.sock"
FLAT = [(0.1 * i, 54.6875) for i in range(1, 601)]  # 64 times slower than 3,500


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return drained.dataset(tmp_path / "ds", FLAT, time_scale=64, uri=URI)


def rate(found: Dataset) -> float:
    return float(found.results["iops"].sum())


@pytest.mark.parametrize("part", ["", "raw", "raw/drain.json"])
def test_what_lies_in_a_dataset_is_at_full_speed(dataset: Path, part: str) -> None:
    found = Dataset.read(dataset / part)
    assert rate(found) == pytest.approx(3500, rel=0.001)
    assert found.results["runtime_s"].tolist() == [pytest.approx(60 / 64)]
    assert found.runs["setup_id"].tolist() == ["p4"]
    (one,) = judge_runs(found.tables)
    judged = one.judgement
    assert judged.binding == ("disk_burst_iops",) and judged.iops == pytest.approx(3500, rel=0.001)
    assert achieved(found.tables).iops == pytest.approx(3500, rel=0.001)


def test_it_is_so_for_several_files_and_by_a_path_from_here(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = drained.dataset(tmp_path / "other", [(t, 2 * v) for t, v in FLAT], time_scale=16, uri=URI)
    found = Dataset.read(dataset / "raw" / "drain.json", other / "raw" / "drain.json")
    assert sorted(round(v) for v in found.results["iops"]) == [1750, 3500]
    assert set(found.setups["setup_id"]) == {"p4", "other/p4"}
    monkeypatch.chdir(dataset / "raw")
    assert rate(Dataset.read("drain.json")) == pytest.approx(3500, rel=0.001)


@pytest.mark.parametrize("slower", [1, 2, 64])
def test_the_log_of_the_lab_beside_an_output_tells_how_slow_it_is(
    dataset: Path, tmp_path: Path, slower: int
) -> None:
    shutil.copy(dataset / "raw" / "drain.json", tmp_path / "drain.json")
    drained.lab_log(tmp_path / "drain_lab.log", slower * 1.003)
    assert lab_outputs.slowness(tmp_path / "drain.json") == slower
    found = Dataset.read(tmp_path / "drain.json")
    assert rate(found) == pytest.approx(54.6875 * slower, rel=0.001)
    setup = Setup(VM(size="Standard_E8ds_v4"), parse_disks(["P4"]), "2020-07-01")
    (one,) = judge_runs(found.tables, setup)
    judged = one.judgement
    assert judged.iops == pytest.approx(54.6875 * slower, rel=0.001)


@pytest.mark.parametrize(
    "log",
    [
        None,
        "",
        "no log\n",
        f"{HEAD}\n",
        f'{HEAD}\n{{"unix_s": 1, "t_s": 1}}\n{{"unix_s": 2, "t_s": 1}}\n[]\n{{"unix_s": "x"}}\n',
        f'{HEAD}\n{{"unix_s": 1, "t_s": 0}}\n{{"unix_s": 4, "t_s": 1}}\n',  # 3 times
        f'{HEAD}\n{{"unix_s": 1e999, "t_s": 0}}\n{{"unix_s": 4, "t_s": 1e-300}}\n',
    ],
)
@pytest.mark.sampled(3)
def test_without_knowing_how_slow_there_is_no_verdict_and_nothing_to_ask_for(
    dataset: Path, tmp_path: Path, log: str | None
) -> None:
    shutil.copy(dataset / "raw" / "drain.json", tmp_path / "drain.json")
    if log is not None:
        (tmp_path / "drain_lab.log").write_text(log)
    known = ["--vm", "Standard_E8ds_v4", "--disk", "P4"]
    done = CliRunner().invoke(app, ["verdict", str(tmp_path / "drain.json"), *known, "--format", "json"])
    (entry,) = json.loads(done.stdout)["verdicts"]
    assert (entry["binding"], entry["limits"], entry["achieved"]) == (
        ["unknown"],
        [],
        {"iops": None, "mbps": None},
    )
    assert "slow_motion_unknown" in [finding["code"] for finding in entry["findings"]]
    text = " ".join(CliRunner().invoke(app, ["verdict", str(tmp_path / "drain.json"), *known]).stdout.split())
    assert (
        "No verdict: fio drove an emulated disk with dilated time, and the dilation factor is not known"
        in text
    )
    assert (
        "the dilation factor is not known"
        in CliRunner().invoke(app, ["read", str(tmp_path / "drain.json")]).stderr
    )
    with pytest.raises(InputError, match="with dilated time, and the dilation factor is not known"):
        achieved(Dataset.read(tmp_path / "drain.json").tables)


@pytest.mark.parametrize("uri", ["nbd://10.0.0.4/disk", "nbd+unix:///?socket=/run/qemu/nbd.socket", ""])
def test_what_is_no_lab_is_taken_at_its_word(tmp_path: Path, uri: str) -> None:
    folder = drained.dataset(tmp_path / "ds", FLAT, uri=uri)
    (folder / "manifest.json").unlink()
    found = Dataset.read(folder / "raw" / "drain.json")
    assert rate(found) == pytest.approx(54.6875, rel=0.001)
    assert "slow_motion_unknown" not in set(found.findings["code"])


def test_a_file_that_the_manifest_does_not_list_is_not_of_the_dataset(dataset: Path) -> None:
    mine = dataset / "raw" / "mine.json"
    mine.write_text((dataset / "raw" / "drain.json").read_text().replace("drain", "mine"))
    found = Dataset.read(mine)
    assert rate(found) == pytest.approx(54.6875, rel=0.001) and found.runs["setup_id"].isna().all()
    (dataset / "manifest.json").write_text("{")
    damaged = Dataset.read(dataset / "raw" / "drain.json")
    assert "slow_motion_unknown" in set(damaged.findings["code"])
