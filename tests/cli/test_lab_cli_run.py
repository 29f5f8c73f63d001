"""`azbench lab run` with real fio, `azbench lab mount` with the real storage daemon and the real iozone."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

import pytest
from lab_tools import SIZE, busy, ended, gone, late, need_fio, own_cache, qemu_storage_daemon  # noqa: F401
from measuring import Measurement
from typer.testing import CliRunner
from waiting import PATIENCE_S, wait_for

from azbenchlib.cli.lab import app
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.lab import mount
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.model.setup import Cap, Disk, Setup

JOB = "[one]\ndirectory=/mnt\nioengine=libaio\nrw=randwrite\nbs=8k\niodepth=32\nsize=1g\n"
P4 = ("--vm", "Standard_E8ds_v4", "--disk", "P4:None", "--as-of", "2020-07-01")
IOPS = 250  # at one I/O at a time: few enough for a busy machine


@pytest.fixture(autouse=True)
def _labs_of_our_own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Where labs are looked for; short, as the path of a socket must be."""
    with tempfile.TemporaryDirectory(prefix="azb") as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield
        assert not list(Path(folder).glob("azbench-*"))
    tempfile.tempdir = None


def azbench(*words: str) -> str:
    """What a verb prints; its error where it has one."""
    done = CliRunner().invoke(app, list(words), catch_exceptions=False, env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return done.output


# -- azbench lab run


@pytest.fixture
def job(tmp_path: Path) -> Path:
    need_fio()
    (tmp_path / "burst.fio").write_text(JOB)
    return tmp_path / "burst.fio"


@pytest.mark.fio
def test_it_runs_a_job_file_with_the_credits_and_the_time_scale_that_were_asked_for(
    job: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "ds"
    options = ("--max-seconds", "4", "--credit-seconds", "0.5", "--time-scale", "4")

    def measure() -> Dataset:  # a second one takes the place of the first
        said = azbench("run", *P4, str(job), "-o", str(folder), *options)
        assert str(folder) in said and "one" in said
        found = Dataset.load(folder)
        (setup,) = found.setups[["time_scale", "credit_s", "vm_size"]].values.tolist()
        assert setup == [4, 0.5, "Standard_E8ds_v4"]
        return found

    def holds(found: Dataset) -> None:
        (results,) = found.results.to_dict(orient="records")
        # 4 s, of which each is a quarter, at 120 IOPS, half a second of 3,380 more, and what was in flight.
        assert results["ios"] == pytest.approx(120 + 0.5 * 3380 + 32, rel=0.02)
        assert results["runtime_s"] == pytest.approx(1 + 32 / 120, rel=0.05)
        left = found.samples[found.samples["object"] == "p4-none disk_burst_iops"]
        left = left[left["metric"] == "credits"].sort_values("t_s")["value"]
        assert left.iloc[0] > 1000 and left.iloc[-1] < 10

    Measurement(measure, busy).check(holds)


@pytest.mark.fio
def test_a_second_run_takes_the_place_of_the_first(job: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ds"
    for disk in ("P4:None", "P10:None"):
        options = ("-o", str(folder), "--max-seconds", "1", "--time-scale", "1", "--format", "json")
        done = CliRunner().invoke(app, ["run", "--disk", disk, str(job), *options], catch_exceptions=False)
    assert list(Dataset.load(folder).disks["tier"]) == ["P10"]
    told = json.loads(done.stdout)  # how far it is goes to stderr
    assert list(told)[:2] == ["version", "dataset"] and told["disks"][0]["tier"] == "P10"


@pytest.mark.fio
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["a", "b", "c"], "one setup and one job file are needed, not 3 words"),
        (["none.fio", *P4], "job file none.fio: cannot be read: No such file"),
        (["burst.fio"], "no disk is given; add --disk"),
        (["nowhere", "burst.fio"], "nowhere"),
        (["burst.fio", *P4, "--time-scale", "3"], "time scale 3: a power of two is needed"),
        (["burst.fio", "--vm", "Standard_E8ds_v5x", "--disk", "P4"], "Standard_E8ds_v5x"),
    ],
)
def test_what_cannot_be_run_is_said(
    words: list[str], sentence: str, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(job.parent)
    with pytest.raises(InputError, match=sentence):
        azbench("run", *words)
    assert not list((job.parent / "datasets").glob("*/manifest.json"))


# -- azbench lab mount


def need_mount() -> None:
    qemu_storage_daemon()
    try:
        mount.daemon()
    except MissingToolError as error:
        pytest.skip(str(error))


def lab_of(*names: str) -> Lab:
    disks = tuple(Disk(name=name, size_bytes=SIZE, cap=Cap(iops=IOPS)) for name in names)
    return Lab(Setup(disks=disks), Options(latency=dict.fromkeys(names, "none")), time_scale=1)


def mounting(file: Path, *words: str) -> subprocess.Popen[str]:
    """The verb in a process of its own, when its file is there."""
    code = "from azbenchlib.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "lab", "mount", str(file), *words], stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: os.path.ismount(file) or process.poll() is not None)
    assert process.poll() is None, process.communicate()[1]
    return process


def daemons(file: Path) -> list[int]:
    found = subprocess.run(["pgrep", "-f", f"mountpoint={file}"], capture_output=True, text=True).stdout
    return [int(pid) for pid in found.split()]


def iozone(file: Path) -> dict[str, float]:
    """Operations per second of its tests, of 4 KiB each, past the page cache."""
    program = shutil.which("iozone")
    if program is None:
        pytest.skip("iozone is not installed")
    tests = ("-+N", "-i", "0", "-i", "2", "-s", "1m", "-r", "4k", "-O")
    done = subprocess.run(
        [program, "-I", *tests, "-f", str(file)], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr + done.stdout
    row = next(line.split() for line in done.stdout.splitlines() if line.split()[:2] == ["1024", "4"])
    return dict(zip(("write", "rewrite", "random read", "random write"), map(float, row[2:]), strict=True))


def test_iozone_finds_the_limit_of_the_disk_behind_the_file(tmp_path: Path) -> None:
    need_mount()
    with lab_of("data") as lab:
        file = tmp_path / "disk, one.img"  # a comma, which QEMU wants twice
        process = mounting(file)
        assert file.stat().st_size == SIZE

        def measure() -> tuple[dict[str, float], str]:
            return iozone(file), late(lab)

        def holds(result: tuple[dict[str, float], str]) -> None:
            for test in ("rewrite", "random read", "random write"):
                assert result[0][test] == pytest.approx(IOPS, rel=0.05), result

        Measurement(measure, itemgetter(1)).check(holds)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=PATIENCE_S)[1]
        assert lab.alive()
    assert process.returncode == 0
    assert "data is" in said and "iozone -I -+N" in said
    assert gone(file) and not daemons(file)


def test_a_file_that_was_there_is_itself_again_afterwards(tmp_path: Path) -> None:
    need_mount()
    file = tmp_path / "mine"
    file.write_text("mine")
    with lab_of("a", "b") as lab, mount.mounted(lab.folder / "nbd.sock", "b", file):
        with file.open("r+b") as handle:
            handle.write(b"theirs")
        assert file.read_bytes()[:6] == b"theirs"
        wait_for(lambda: lab.totals()["b"]["write_ios"] > 0)
        assert lab.totals()["a"]["write_ios"] == 0
    assert file.read_text() == "mine"


def test_it_ends_with_its_lab_and_with_whoever_kills_it(tmp_path: Path) -> None:
    need_mount()
    file = tmp_path / "disk.img"
    with lab_of("data"):
        killed = mounting(file)
        (daemon,) = daemons(file)
        killed.kill()
        assert killed.wait(PATIENCE_S)
        if shutil.which("setpriv"):
            wait_for(lambda: ended(daemon))
        else:
            os.kill(daemon, signal.SIGTERM)
        wait_for(lambda: not os.path.ismount(file))
        process = mounting(file, "--volume-name", "data")
    assert "The lab has ended" in process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 0
    assert not daemons(file)


def test_a_daemon_that_was_killed_leaves_no_file_behind(tmp_path: Path) -> None:
    need_mount()
    file = tmp_path / "disk.img"
    with lab_of("data") as lab, mount.mounted(lab.folder / "nbd.sock", "data", file) as process:
        process.kill()
        process.wait()
    assert gone(file)


def test_what_cannot_be_mounted_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need_mount()
    file = tmp_path / "disk.img"
    with pytest.raises(InputError, match="no lab is running in a temporary folder; start one in another"):
        azbench("mount", str(file))
    with pytest.raises(InputError, match=f"no lab is running in {tmp_path}"):
        azbench("mount", str(file), "--lab", str(tmp_path))
    with lab_of("a", "b") as lab:
        with pytest.raises(InputError, match="say which volume with --volume-name; there are: a, b"):
            azbench("mount", str(file))
        with pytest.raises(InputError, match="no volume 'c'; there are: a, b"):
            azbench("mount", str(file), "--volume-name", "c", "--lab", str(lab.folder))
        with pytest.raises(AzbenchError, match=r"/no/disk\.img: cannot be made: No such file"):
            azbench("mount", str(tmp_path / "no" / "disk.img"), "--volume-name", "a")
        missing = mount.mounted(lab.folder / "nbd.sock", "c", file)
        with (
            pytest.raises(AzbenchError, match=r"qemu-storage-daemon ended: .*there is no export 'c'"),
            missing,
        ):
            pass
        with monkeypatch.context() as patch:
            patch.setenv("PATH", str(tmp_path))
            with pytest.raises(MissingToolError, match=r"needs qemu-storage-daemon; install it with `apt"):
                azbench("mount", str(file), "--volume-name", "a")
        monkeypatch.setattr(mount, "FUSE", tmp_path / "fuse")
        with pytest.raises(MissingToolError, match=r"/fuse, which this user cannot open here.*modprobe fuse"):
            azbench("mount", str(file), "--volume-name", "a")
    assert gone(file)
