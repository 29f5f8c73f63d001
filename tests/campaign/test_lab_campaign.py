"""Measuring emulated disks: real fio, real labs, one way from a measurement file to a verdict."""

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_tools import busy
from measuring import Measurement
from process_list import fio_in
from waiting import PATIENCE_S, wait_for

from azbenchlib import campaign
from azbenchlib.campaign.files.measurement_file import load
from azbenchlib.campaign.targets.lab.plan import emulated
from azbenchlib.campaign.workloads import program
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.lab.server.live_log import running
from azbenchlib.verdict.run_verdicts import judge_runs

pytestmark = pytest.mark.fio
P4_S = 1800 + 600  # credits for 30 minutes, and ten minutes without
FILE = f"""
title: A small disk and a bought one
region: westeurope
as_of: 2020-07-01
setups:
  - name: small
    vm: Standard_E8ds_v4
    disks: {{os: {{role: os, sku: Premium_LRS, size: 32GiB}}}}
    workloads:
      drain: {{rw: randwrite, bs: 8k, iodepth: 32, size: 1g, runtime: {P4_S}}}
  - name: bought
    vm: Standard_E32-8s_v3
    zone: 1
    disks: {{data: {{sku: UltraSSD_LRS, size: 128GiB, iops: 10000, mbps: 50}}}}
    workloads:
      mixed: {{rw: randrw, bs: 8k, iodepth: 32, size: 1g, runtime: 60}}
      job: {{job: job.fio, runtime: 60}}
"""
JOB = "[one]\ndirectory=/azbench/data\nioengine=libaio\nrw=randread\nbs=64k\niodepth=8\nsize=1g\n"
SECONDS = 3.0


@pytest.fixture(autouse=True, scope="module")
def _labs_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where labs are looked for; short, as the path of a socket must be."""
    tmp_path_factory.getbasetemp()  # not in here: it must last
    folder = tempfile.mkdtemp(prefix="azb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", None)
        yield
    tempfile.tempdir = None
    assert not list(Path(folder).glob("azbench-*"))
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaign")
    (folder / "job.fio").write_text(JOB)
    (folder / "two.yaml").write_text(FILE)
    return folder / "two.yaml"


@pytest.fixture(scope="module")
def measured(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Measurement[Dataset]:
    folder = tmp_path_factory.mktemp("lab") / "ds"

    def measure() -> Dataset:
        campaign.run(campaign.load(file), folder, target="lab", longest_s=SECONDS, fresh=True)
        return Dataset.load(folder)

    return Measurement(measure, busy)


def rates(found: Dataset, job: str) -> tuple[float, float]:
    (run_id,) = found.runs.loc[found.runs["job"] == job, "run_id"]
    mine = found.results[found.results["run_id"] == run_id]
    return float(mine["iops"].sum()), float(mine["bw_bytes_per_s"].sum())


def test_the_figures_are_those_of_the_disk_at_full_speed(measured: Measurement[Dataset]) -> None:
    def holds(found: Dataset) -> None:
        iops, bytes_per_s = rates(found, "mixed")
        assert bytes_per_s == pytest.approx(50e6, rel=0.03)
        assert iops == pytest.approx(50e6 / 8192, rel=0.03)
        assert rates(found, "one")[1] == pytest.approx(50e6, rel=0.03)

    scale = measured.check(holds).setups.set_index("setup_id")["time_scale"]
    assert set(scale) <= {1, 2, 4, 8, 16, 32, 64}


def test_credits_run_out_as_they_would_in_forty_minutes(measured: Measurement[Dataset]) -> None:
    measured.check(credits_run_out)


def credits_run_out(found: Dataset) -> None:
    (run_id,) = found.runs.loc[found.runs["job"] == "drain", "run_id"]
    samples = found.samples[found.samples["run_id"] == run_id]
    trace = samples[samples["metric"] == "iops"].sort_values("t_s")
    assert trace["value"].iloc[1:5].mean() == pytest.approx(3500, rel=0.05)
    assert trace["value"].iloc[-5:-1].mean() == pytest.approx(120, rel=0.15)
    (credit_s,) = found.setups.loc[found.setups["setup_id"] == "small", "credit_s"]
    spent = float(((trace["value"] - 120) * trace["t_s"].diff().fillna(trace["t_s"].iloc[0])).clip(0).sum())
    assert spent == pytest.approx((3500 - 120) * credit_s, rel=0.05)
    balance = samples[(samples["metric"] == "credits") & (samples["object"] == "os disk_burst_iops")]
    assert balance["value"].min() == 0
    assert (
        balance["value"].iloc[-1] < 0.1 * 120
    )  # fio may have ended by then, a tenth of a second ago at most
    assert balance["value"].iloc[0] > 0.5 * (3500 - 120) * credit_s


def test_the_verdict_names_what_the_lab_imposed(measured: Measurement[Dataset]) -> None:
    def holds(found: Dataset) -> None:
        named = {one.run.name: one.judgement.binding[0] for one in judge_runs(found.tables)}
        assert named == {"drain": "disk_burst_iops", "mixed": "disk_mbps", "one": "disk_mbps"}

    measured.check(holds)


def test_the_dataset_says_what_was_done(measured: Measurement[Dataset]) -> None:
    def holds(found: Dataset) -> None:
        assert not (found.findings["code"] == "too_short").any()

    found = measured.check(holds)
    assert found.manifest is not None
    notes = " ".join(found.manifest.notes)
    assert "emulated" in notes
    assert "burst credits last" in notes
    assert all("nbd" in command.text or ".fio" in command.text for command in found.manifest.commands)
    assert set(found.setups["environment"]) == {"lab"}
    assert set(found.setups["as_of"]) == {"2020-07-01"}


def test_it_is_taken_up_and_not_measured_twice(file: Path, tmp_path: Path) -> None:
    every = emulated(load(file))
    lines: list[str] = []

    def stop_after_one(done: int, total: int, text: str) -> None:
        lines.append(text)
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        campaign.measure(
            campaign.LabTarget(emulated=every, title="t", longest_s=1),
            tmp_path / "ds",
            progress=stop_after_one,
        )
    assert not (tmp_path / "ds" / manifest.MANIFEST_FILE).exists()
    (first,) = (tmp_path / "ds" / "raw").rglob("*.json")
    before = first.stat()
    campaign.measure(campaign.LabTarget(emulated=every, title="t", longest_s=1), tmp_path / "ds")
    assert (first.stat().st_ino, first.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert len(list((tmp_path / "ds" / "raw").rglob("*.json"))) == 3
    assert running() == []
    campaign.measure(
        campaign.LabTarget(emulated=every, title="t", longest_s=1),
        tmp_path / "ds",
        progress=lambda *said: lines.append(said[2]),
    )
    assert "already measured" in lines[-1]
    with pytest.raises(InputError, match="measurements of another plan"):
        campaign.measure(campaign.LabTarget(emulated=every, title="t", longest_s=2), tmp_path / "ds")


def start(file: Path, folder: Path) -> subprocess.Popen[bytes]:
    code = (
        "import sys; from azbenchlib import campaign as c; from azbenchlib.lab import calibrate; "
        "c.run(c.load(sys.argv[1]), sys.argv[2], target='lab', longest_s=30)"
    )
    return subprocess.Popen([sys.executable, "-c", code, str(file), str(folder)], stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_neither_lab_nor_fio_outlives_it(how: signal.Signals, file: Path, tmp_path: Path) -> None:
    process = start(file, tmp_path / "ds")
    wait_for(lambda: fio_in(tmp_path, "drain") and running())
    process.send_signal(how)
    assert process.wait(PATIENCE_S) != 0
    wait_for(lambda: not running())
    wait_for(lambda: not fio_in(tmp_path, "drain"))


def test_what_a_failed_fio_left_is_kept(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[one]\nrw=randread\nsize=1g\nbs=64k\nverify=no-such-method\n")
    (tmp_path / "bad.yaml").write_text(FILE.replace("      mixed:", "      # mixed:"))
    every = emulated(load(tmp_path / "bad.yaml"))[1:]
    with pytest.raises(
        AzbenchError, match=r"workload bought-data-job: fio ended with status .* is in .*failed"
    ):
        campaign.measure(campaign.LabTarget(emulated=every, title="t", longest_s=1), tmp_path / "ds")
    assert list((tmp_path / "ds" / "failed").glob("*/job.fio"))
    assert running() == []


def test_what_is_missing_is_said(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    todo = campaign.load(file)
    with pytest.raises(InputError, match=r"longest_s '0\.5' must be"):
        campaign.run(todo, tmp_path / "ds", target="lab", longest_s=0.5)
    with pytest.raises(InputError, match="the choices are: lab, local, azure"):
        campaign.run(todo, tmp_path / "ds", target="moon")
    monkeypatch.setattr(program, "find", lambda: program.Fio("fio", "fio-3.1", ("libaio",)))
    with pytest.raises(MissingToolError, match="this fio has no NBD engine"):
        campaign.run(todo, tmp_path / "ds", target="lab")
    assert not (tmp_path / "ds").exists()
