"""Probing with real fio: an emulated disk, a directory, what is refused, and a probe that was cut short."""

import itertools
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from measuring import Measurement
from typer.testing import CliRunner
from waiting import wait_for

import azbenchlib as az
from azbenchlib.answers.probe import ProbeAnswer
from azbenchlib.campaign import host, probing
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.planning.plan import PLAN_FILE
from azbenchlib.campaign.probe_runs import shown
from azbenchlib.campaign.targets.azure.existing import VM_ID_VARIABLE
from azbenchlib.campaign.workloads import program
from azbenchlib.cli import app
from azbenchlib.core.errors import AzbenchError, InputError, UnsafeTargetError
from azbenchlib.core.units import KIB, MIB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.model import VM, Setup, notation
from azbenchlib.probing.cache import CacheFound, CacheSeen
from azbenchlib.probing.drain import LEVEL_RUNS, Drain
from azbenchlib.probing.portrait import Portrait
from azbenchlib.probing.rounds import EACH_LOAD
from azbenchlib.probing.runs import ProbeRun, candidates
from azbenchlib.probing.session import Probe
from azbenchlib.probing.stages import Stages

ROOT = Path(__file__).parents[2]
SECONDS = 1.0


@pytest.fixture(autouse=True)
def _need_fio() -> None:
    if shutil.which("fio") is None:
        pytest.skip("no fio")


@pytest.fixture
def p30() -> Iterator[Setup]:
    if "nbd" not in program.find().engines:
        pytest.skip("this fio has no nbd engine")
    yield Setup(VM(), notation.with_names(notation.parse_disks(["P30"])), None)


def probe_of(runs: int) -> Probe:
    return Probe(runs=candidates(SECONDS), most_runs=runs, chains=100)  # how right it is: in tests/probing


def request(target: str, setup: Setup | None = None) -> probing.ProbeRequest:
    return probing.ProbeRequest(target=target, setup=setup, seconds=SECONDS, size_bytes=8 * MIB)


@pytest.mark.fio
@pytest.mark.slow
@pytest.mark.long
def test_an_emulated_disk_is_probed_and_a_probe_that_was_cut_short_goes_on(
    p30: Setup, tmp_path: Path
) -> None:
    folder, first = tmp_path / "probe", probe_of(6)

    def cut(done: int, total: int, text: str) -> None:
        if done == 2 and text.startswith("next"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probing.probe(request("lab", p30), folder, first, cut)
    kept = list(Journal(folder).kept())
    assert len(kept) == 2

    second = probe_of(6)
    found = probing.probe(request("lab", p30), folder, second)
    assert [shown.run for shown in second.shown[:2]] == [shown.run for shown in first.shown]
    assert list(Journal(folder).kept())[:2] == kept
    assert found["read_p50_us_4k"].value and 2 < len(second.shown) <= 6  # how right it is: benchmarks

    # as a dataset it has what was measured, and nothing of the runs that were not chosen
    dataset = Dataset.load(folder)
    assert len(dataset.tables["runs"]) == len(second.shown)
    assert len(dataset.manifest.commands) == len(second.shown)
    planned = [one for one in Journal(folder).events() if one["event"] == JournalEvent.PLANNED]
    assert [len(one["runs"]) for one in planned] == [0, 2]

    third = probe_of(6)  # it is finished: nothing is measured, and the same is known
    assert probing.probe(request("lab", p30), folder, third) == found


@pytest.mark.fio
@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.long
def test_credits_are_drained_after_the_probe_and_a_drain_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    if "nbd" not in program.find().engines:
        pytest.skip("this fio has no nbd engine")
    p10 = Setup(VM(), notation.with_names(notation.parse_disks(["P10"])), None)
    asked, folder = replace(request("lab", p10), credit_s=4.0), tmp_path / "probe"

    def cut(done: int, total: int, text: str) -> None:
        if text.startswith("next: a rest"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        probing.probe(asked, folder, probe_of(1), cut, stages=[Drain(seconds=SECONDS, minutes=1.0)])
    kept = list(Journal(folder).kept())
    assert len(kept) > LEVEL_RUNS
    drain = Drain(seconds=SECONDS, minutes=1.0)
    probing.probe(asked, folder, probe_of(1), stages=[drain])
    assert list(Journal(folder).kept())[: len(kept)] == kept
    found = drain.found()[0]
    assert found.quantity == "iops" and found.base and found.burst and found.bucket
    # P10: 500 IOPS, 3,500 with credits; of (3,500 - 500) × 4 s the probe's own run has spent some
    assert found.base.value == pytest.approx(500, rel=0.2)
    assert 1_000 < found.burst.value < 3_600
    assert 1_000 < found.bucket.value < 13_000


@pytest.mark.fio
@pytest.mark.slow
@pytest.mark.alone
def test_the_cache_of_an_emulated_disk_is_found_and_kept_runs_lead_to_the_same(tmp_path: Path) -> None:
    if "nbd" not in program.find().engines:
        pytest.skip("this fio has no nbd engine")
    disks = notation.with_names(notation.parse_disks(["P30:ReadWrite"]))
    asked = replace(request("lab", Setup(VM(), disks, None)), size_bytes=64 * MIB, cache_bytes=16.0 * MIB)

    def stages() -> Stages:
        return Stages.asked(seconds=SECONDS, size_bytes=64 * MIB, cache=True, fill_s=SECONDS)

    folders = (tmp_path / f"probe{n}" for n in itertools.count())

    def measure() -> tuple[Path, Portrait, CacheFound]:
        made, folder = stages(), next(folders)
        portrait = probing.probe(asked, folder, probe_of(2), stages=made.all_)
        assert made.stairs
        return folder, portrait, made.stairs.found(portrait)

    def strays(result: tuple[Path, Portrait, CacheFound]) -> str:
        return "latencies strayed" if result[2].seen is CacheSeen.UNSTEADY else ""

    def holds(result: tuple[Path, Portrait, CacheFound]) -> None:
        found = result[2]
        assert found.seen is CacheSeen.STEP and found.size
        assert found.size.value == pytest.approx(16 * MIB, rel=0.25)  # how right it is: in emulated time

    folder, portrait, found = Measurement(measure, strays).check(holds)
    again = stages()
    probing.probe(asked, folder, probe_of(2), stages=again.all_)
    assert again.stairs and again.stairs.found(portrait) == found


@pytest.mark.fio
@pytest.mark.long
def test_a_directory_is_probed_through_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    words = ["probe", str(tmp_path / "data"), "--runs", "2", "--seconds", "1", "--size", "8MiB"]
    words += ["--fsync", "--jobs"]
    done = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "out"), "--format", "json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert ProbeAnswer.load(tmp_path / "out").to_dict() | {"version": 1} == told
    assert len(told["runs"]) == 2 and told["figures"] and told["version"]
    assert list((tmp_path / "data").iterdir()) == []  # what was written is gone
    planned = json.loads((tmp_path / "out" / PLAN_FILE).read_text())["workloads"]
    assert len(planned) == len(candidates(1)) + 5 * EACH_LOAD
    assert told["fsync"]["longer_us"]["value"] and len(told["fsync"]["runs"]) == 2 * EACH_LOAD
    assert list(told["jobs"]["times_the_iops_of_one_job"]) == ["shared-data", "own-files"]
    assert told["jobs"]["times_the_iops_of_one_job"]["own-files"]["low"] > 0


@pytest.mark.fio
@pytest.mark.long  # as the notebook and docs/api.md do
def test_a_disk_is_probed_in_python_and_a_probe_that_has_ended_is_read(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    asked: dict[str, Any] = {"runs": 1, "seconds": 1, "size": 8 * MIB, "output": tmp_path / "out"}
    lines: list[str] = []
    answer = az.probe(tmp_path / "data", **asked, progress=lambda done, total, text: lines.append(text))
    assert answer.to_frame()["key"].is_unique and len(answer.result.runs) == 1 and lines
    assert az.probe(tmp_path / "data", **asked).to_dict() == answer.to_dict()  # a function still


@pytest.mark.long
@pytest.mark.fio
def test_a_probe_that_was_killed_goes_on(tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    words = ["probe", str(data), "--runs", "4", "--seconds", "1", "--size", "8MiB", "-o", str(folder)]
    with subprocess.Popen([Path(sys.executable).with_name("azbench"), *words]) as victim:
        wait_for(lambda: len(list(Journal(folder).kept())) >= 2, lambda: victim.poll() is None)
        kept = list(Journal(folder).kept())
        victim.kill()
    done = CliRunner().invoke(app, [*words, "--format", "json"])
    assert done.exit_code == 0, done.output
    events = [one["run"] for one in Journal(folder).events() if one["event"] == JournalEvent.KEPT]
    assert events[: len(kept)] == kept and len(set(events)) == len(events) <= 4
    assert [run["run"] for run in json.loads(done.stdout)["runs"]] == [Path(run).name for run in events]


def test_what_cannot_be_probed_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"a VM that is there already; name it with --vm-id, .* ssh:USER@HOST"
    ):
        probing.probe(request("azure"), tmp_path / "out", probe_of(1))
    with pytest.raises(InputError, match="--disk"):
        probing.probe(request("lab"), tmp_path / "out", probe_of(1))
    with pytest.raises(UnsafeTargetError, match="does not exist"):
        probing.probe(request(str(tmp_path / "nothere")), tmp_path / "out", probe_of(1))
    two = Setup(VM(), notation.with_names(notation.parse_disks(["P10", "P30"])), None)
    with pytest.raises(AzbenchError, match="one disk"):
        probing.probe(request("lab", two), tmp_path / "out", probe_of(1))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("azure", "needs a VM that is there already; name it with --vm-id"),
        ("azure --vm-id production", "must be a resource id"),
        (
            "azure --directory /mnt",
            "it needs a target ssh:USER@HOST or exec:COMMAND; in Azure, --disk says what is probed",
        ),
        ("azure --disk lun0 --disk lun1", "a probe is of one disk; name one"),
        ("azure --vm Standard_D2s_v3", "--vm is for the target lab"),
        ("azure --results-group", "--results-group is for --vm-id"),
        ("/mnt/data --vm-id x", "--vm-id is for the target azure, not /mnt/data"),
        ("/mnt/data --raw", "--raw is for the target azure"),
        ("/mnt/data --disk P30", "--disk is for the targets lab and azure"),
    ],
)
def test_what_is_for_another_target_is_refused(
    words: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VM_ID_VARIABLE, raising=False)
    done = CliRunner().invoke(app, ["probe", *words.split(), "-o", str(tmp_path / "out")])
    assert isinstance(done.exception, InputError) and said in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_a_paced_run_asks_fio_for_its_rate_in_both_directions() -> None:
    mixed = ProbeRun(read_share=0.5, bs_bytes=4 * KIB, depth=1, rate_iops=64)
    assert probing.workload(mixed, MIB).options == {"rate_iops": "32,32"}
    reads = ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=1, rate_iops=64)
    assert probing.workload(reads, MIB).options == {"rate_iops": "64,64"}


def test_a_wrong_day_is_told_before_anything_is_measured(tmp_path: Path) -> None:
    words = ["probe", str(tmp_path), "--as-of", "soon", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, InputError) and "soon" in str(done.exception)
    assert list(tmp_path.iterdir()) == [] and probing.disk_bytes(str(tmp_path), tmp_path) is None


def test_names_of_datasets_are_those_of_files() -> None:
    assert probing.dataset_name("ssh:me@host:22") == "probe-ssh-me-host-22"
    assert probing.dataset_name("/dev/sdc") == "probe-dev-sdc"
    assert probing.dataset_name("/") == "probe-here"


@pytest.mark.parametrize(
    ("dio", "backing", "memory"), [("0", "disk", True), ("1", "disk", False), ("1", "memory", True)]
)
def test_a_loop_device_is_a_disk_where_it_bypasses_the_page_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dio: str, backing: str, memory: bool
) -> None:
    """A directory on the second partition of a loop device, as the kernel shows both."""
    points = {name: tmp_path / name for name in ("disk", "memory", "looped")}
    for point in points.values():
        point.mkdir()
    kinds = {"disk": "ext4 /dev/sda1", "memory": "tmpfs tmpfs", "looped": "ext4 /dev/loop7p2"}
    lines = [f"{i} 1 8:{i} / {points[name]} rw - {kinds[name]} rw" for i, name in enumerate(points)]
    table, sysfs = tmp_path / "mountinfo", tmp_path / "block"
    table.write_text("\n".join(lines))
    for part in ("loop7/loop", "loop7/loop7p2", "sda/sda1"):
        (sysfs / part).mkdir(parents=True)
    for name in ("loop7p2", "sda1"):
        whole = next(sysfs.glob(f"*/{name}"))
        (whole / "partition").write_text(name[-1])
        (sysfs / name).symlink_to(whole)
    (sysfs / "loop7/loop/dio").write_text(f"{dio}\n")
    (sysfs / "loop7/loop/backing_file").write_text(f"{points[backing]}/image\n")
    monkeypatch.setattr(host, "MOUNTINFO", table)
    monkeypatch.setattr(host, "SYSFS", sysfs)
    assert host.answers_from_memory(points["looped"]) is memory
    assert host.answers_from_memory(points["memory"]) and not host.answers_from_memory(points["disk"])


@pytest.mark.fio
@pytest.mark.slow
@pytest.mark.long
def test_a_real_loop_device_through_the_page_cache_is_not_taken_for_a_disk(tmp_path: Path) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(64 * MIB)
    made = subprocess.run(
        ["losetup", "--find", "--show", "--direct-io=off", image], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"no loop device can be made here: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        with pytest.raises(InputError, match="memory answers there, and no disk"):
            probing.probe(request(device), tmp_path / "out", probe_of(1))
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


@pytest.mark.fio
def test_a_file_in_memory_is_not_taken_for_a_disk(tmp_path: Path) -> None:
    memory = Path("/dev/shm")  # noqa: S108  a place in memory is what is wanted
    if not memory.is_dir() or host.mount_of(memory).fstype not in host.MEMORY_FILE_SYSTEMS:
        pytest.skip("no file system in memory")
    session = probe_of(1)
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        with pytest.raises(InputError, match="memory answers there, and no disk"):
            probing.probe(request(folder), tmp_path / "out", session)
        assert not session.shown and not any(Path(folder).iterdir()) and not (tmp_path / "out").exists()


@pytest.mark.parametrize(("stddev", "error"), [(31.0, 0.0), (40.0, math.sqrt(600) / 100 / 10)])
def test_a_slow_disk_scatters_by_what_it_is_counted_in(tmp_path: Path, stddev: float, error: float) -> None:
    """At 100 IOPS, samples of 0.1 s have 10 I/Os, give or take √10. A hundred of them tell more."""
    output = ROOT / "datasets" / "premium-ssd-emulated-2026" / "raw" / "uncached" / "data" / "read-qd1.json"
    document = json.loads(output.read_text())
    document["jobs"][0]["read"] |= {"iops": 100.0, "iops_stddev": stddev, "runtime": 10_000}
    (tmp_path / "slow.json").write_text(json.dumps(document))
    told = shown(ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=1), tmp_path / "slow.json")
    assert told.error == pytest.approx(error)


def test_the_bins_of_an_output_tell_how_far_its_median_may_stray(tmp_path: Path) -> None:
    """Of 100 I/Os in three bins, by hand: the ranks on both sides of the median reach the last two."""
    output = ROOT / "datasets" / "premium-ssd-emulated-2026" / "raw" / "uncached" / "data" / "read-qd1.json"
    document = json.loads(output.read_text())
    read = document["jobs"][0]["read"]
    kind = read["lat_ns"] if "bins" in read["lat_ns"] else read["clat_ns"]
    kind["bins"] = {"1000000": 20, "2000000": 40, "3000000": 40}
    (tmp_path / "few.json").write_text(json.dumps(document))
    told = shown(ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=1), tmp_path / "few.json")
    assert told.read_p50_error == pytest.approx(math.log(3 / 2) / (4 * 0.972 * 100 ** (-1 / 3) * 10))
    assert told.write_p50_error is None
