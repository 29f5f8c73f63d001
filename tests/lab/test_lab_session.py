"""A lab from its start to its end, and whatever may end it or a client of it in between."""

import io
import json
import math
import os
import shlex
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from lab_tools import connect, ended, fio, fio_command, free, gone, own_cache  # noqa: F401
from measuring import Measurement
from rich.console import Console
from typer.testing import CliRunner
from waiting import PATIENCE_S, wait_for

from azbenchlib.cli.lab import app
from azbenchlib.cli.printing import lab_view
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.core.units import KIB, MIB
from azbenchlib.formats import lab_log
from azbenchlib.lab import calibrate, dilation
from azbenchlib.lab.calibrate import Calibration
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.server import live_log
from azbenchlib.lab.server.serve import SOCKET
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.setup import VM, Disk, Setup


def lab(folder: Path | None = None) -> Lab:
    return Lab(*free("data"), time_scale=1, folder=folder)


def kill(pid: int | None, number: int) -> None:
    assert pid is not None
    os.kill(pid, number)


def test_only_its_owner_can_connect_and_nothing_is_left() -> None:
    with lab() as found:
        path, folder = found.folder / SOCKET, found.folder
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert found.uri("data") == f"nbd+unix:///data?socket={path}"
        assert {entry.name for entry in folder.iterdir()} == {
            SOCKET,
            live_log.LIVE_LOG,
        }  # the data has no name
        assert found.alive() and found.fault() == "" and found.sizes == {"data": 256 * 2**20}
        pid, process = found.pid or 0, found._process
    assert gone(folder) and ended(pid)
    assert process is not None and process._process.returncode == 0  # it was not killed
    assert not found.alive() and "stopped" in found.fault()
    found.stop()
    with pytest.raises(AzbenchError, match="was not started, or it was stopped"):
        found.totals()
    with pytest.raises(InputError, match="no volume 'data' in this lab"):
        found.uri("data")


def test_a_folder_of_the_users_keeps_the_log_alone(tmp_path: Path) -> None:
    with lab(tmp_path / "new" / "lab") as found:
        wait_for(lambda: len(live_log.read(found.log).lines) > 1)
    assert stat.S_IMODE(found.log.stat().st_mode) == 0o600
    assert stat.S_IMODE(found.folder.stat().st_mode) == 0o700
    assert [entry.name for entry in found.folder.iterdir()] == [live_log.LIVE_LOG]
    assert lab_log.sniff(found.log.read_text())
    begun = time.time()
    with lab(found.folder):  # again, in the same place
        assert all(line["unix_s"] >= begun - 0.001 for line in live_log.read(found.log).lines)


def test_the_log_can_be_read_as_samples(tmp_path: Path) -> None:
    from azbenchlib.dataset.dataset import Dataset

    with lab(tmp_path) as found, connect(found, "data") as client:
        for i in range(40):
            client.read(i * 4096, 4096)
            time.sleep(0.01)
    samples = Dataset.read(found.log).tables["samples"]
    assert set(samples["metric"]) == {"queue_depth"} and set(samples["object"]) == {"data"}


def test_two_labs_in_one_folder(tmp_path: Path) -> None:
    with lab(tmp_path) as first:
        with pytest.raises(AzbenchError, match=f"{tmp_path}: a lab is running there"):
            lab(tmp_path).start()
        with connect(first, "data") as client:
            assert len(client.read(0, 512)) == 512


@pytest.mark.parametrize(
    ("folder", "sentence"),
    [
        ("x" * 120, "too long for a socket, whose path has at most 103 bytes; TMPDIR=DIR, or --folder"),
        ("file/lab", "Not a directory"),
    ],
)
def test_a_folder_that_cannot_be(tmp_path: Path, folder: str, sentence: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(AzbenchError, match=sentence):
        lab(tmp_path / folder).start()


def test_a_setup_that_cannot_be_leaves_nothing() -> None:
    never = Lab(Setup(disks=(Disk(name="data"),)), Options(latency={"data": "no such table"}), time_scale=1)
    with pytest.raises(AzbenchError, match="no such table"):
        never.start()
    assert gone(never.folder)


def test_a_killed_server_is_told_and_its_remains_are_removed(tmp_path: Path) -> None:
    with lab() as found:
        kill(found.pid, signal.SIGKILL)
        wait_for(lambda: not found.alive())
        assert found.fault() == "the lab's server has ended by signal SIGKILL"
        with pytest.raises(AzbenchError, match="SIGKILL"):
            found.totals()
        assert not live_log.alive(found.log)
    assert gone(found.folder)
    with lab(tmp_path) as found:
        kill(found.pid, signal.SIGKILL)
        wait_for(lambda: not found.alive())
        with lab(tmp_path) as second, connect(second, "data") as client:  # over the socket of the dead one
            assert len(client.read(0, 512)) == 512


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_end_cleans_up(number: int) -> None:
    with lab() as found:
        kill(found.pid, number)
        wait_for(lambda: not found.alive())
        assert found.fault() == "the lab's server has ended with exit code 0"
        assert gone(found.folder)


@pytest.mark.fio
def test_a_server_killed_under_fio() -> None:
    with lab() as found:
        command = fio_command(found.uri("data"), "--rw=randread", "--bs=4k", "--size=8m", "--time_based")
        with subprocess.Popen(
            [*command, "--runtime=60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as run:
            wait_for(lambda: found.totals()["data"]["read_ios"] > 100)
            kill(found.pid, signal.SIGKILL)
            run.communicate(timeout=PATIENCE_S)
        assert run.returncode != 0
        assert not found.alive()
    assert gone(found.folder)


@pytest.mark.fio
def test_fio_killed_under_a_server() -> None:
    with lab() as found:
        command = fio_command(found.uri("data"), "--rw=randwrite", "--bs=64k", "--iodepth=32", "--size=8m")
        with subprocess.Popen([*command, "--time_based", "--runtime=60"], stdout=subprocess.DEVNULL) as run:
            wait_for(lambda: found.totals()["data"]["write_ios"] > 100)
            run.kill()
        job = fio(found.uri("data"), "--rw=read", "--bs=64k", "--size=8m")
        assert job["read"]["total_ios"] == 128
        assert found.alive() and not found.warnings()


FOLDERS = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]
PARENT = """
    import os, sys, time
    sys.path[:0] = {folders!r}
    from test_lab_session import lab
    found = lab().start()
    sibling = os.fork() if {sibling} else 0
    if {sibling} and not sibling:  # it holds the pipe to the server open
        time.sleep({patience_s})
        os._exit(0)
    print(found.pid, found.folder, sibling, flush=True)
    time.sleep({patience_s})
"""


@pytest.mark.parametrize("sibling", [False, True])
def test_a_server_does_not_outlive_its_parent(sibling: bool, own_cache: Path) -> None:  # noqa: F811
    lab().start().stop()  # so that it is calibrated
    code = textwrap.dedent(PARENT.format(folders=FOLDERS, sibling=sibling, patience_s=PATIENCE_S))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, folder, other = parent.stdout.readline().split()
        assert not gone(Path(folder))
        parent.kill()
        try:
            wait_for(lambda: ended(int(pid)))
        finally:
            if sibling:
                kill(int(other), signal.SIGKILL)
    assert gone(Path(folder))


def test_the_time_scale_is_a_power_of_two_that_all_three_needs_ask_for() -> None:
    found = Calibration(floor_s=50e-6, jitter_s=75e-6, iops=50_000, bytes_per_s=1e9)
    needs = {}
    for disk in ("temp", "P4", "P30x4"):
        day = "2020-07-01" if disk == "temp" else "2026-08-01"
        setup = resolve(Setup(VM(size="Standard_E8ds_v4"), parse_disks([disk])), day)
        needs[disk] = (
            dilation.needed_scales(setup, Options(), found),
            dilation.time_scale(setup, Options(), found),
        )
    assert needs["temp"][0]["IOPS"] == pytest.approx(77_000 / 20_000)
    assert needs["temp"][0]["latency"] == pytest.approx(75 / (0.03 * 145), rel=0.05)
    assert needs["temp"][1] == 32
    assert needs["P4"][0]["IOPS"] == pytest.approx(3_500 / 20_000)
    assert needs["P4"][0]["MB/s"] == pytest.approx(170e6 / 400e6)
    assert needs["P4"][1] == 2 and needs["P30x4"][1] in (1, 2, 4)
    slow = Calibration(floor_s=50e-6, jitter_s=1.0, iops=50_000, bytes_per_s=1e9)
    assert dilation.time_scale(setup, Options(), slow) == 64
    fast = Calibration(floor_s=50e-6, jitter_s=1e-9, iops=1e9, bytes_per_s=1e15)
    assert dilation.time_scale(setup, Options(), fast) == 1
    assert dilation.needed_scales(*free("data"), slow)["latency"] == 0  # none is to be emulated


def test_a_measurement_is_not_made_so_slow_that_it_has_a_handful_of_ios() -> None:
    temp = resolve(Setup(VM(size="Standard_D2s_v3"), parse_disks(["temp"])), "2026-08-01")
    per_s = (temp.vm.cached.bytes_per_s or 0) / MIB  # I/Os of 1 MiB

    def allowed(kib: int, queue_depth: int, latency: str = "none") -> float:
        asked = dilation.Asked(
            volume="temp", bs_bytes=kib * KIB, queue_depth=queue_depth, read_share=1.0, lasts_s=6.0
        )
        return dilation.allowed_scale(temp, Options(latency={"temp": latency}), [asked])

    assert allowed(1024, 1) == allowed(1024, 64) == pytest.approx(6 * per_s / 100)  # 100 I/Os are enough
    assert allowed(1024, 256) == pytest.approx(6 * per_s / 256)  # what is outstanding then ends in 6 s more
    assert allowed(4, 1) == pytest.approx(6 * 4000 / 100)
    assert allowed(4, 16, "standard-hdd") == pytest.approx(0.01 * 6 / 9e-3, rel=0.05)  # when the first ends
    assert dilation.allowed_scale(temp, Options(), []) == math.inf
    with pytest.raises(InputError, match="no volume 'data' in this setup; there are: temp"):
        dilation.allowed_scale(
            temp,
            Options(),
            [dilation.Asked(volume="data", bs_bytes=MIB, queue_depth=1, read_share=1.0, lasts_s=6.0)],
        )


def test_this_machine_keeps_up_with_the_rates_before_anything_else() -> None:
    temp = resolve(Setup(VM(size="Standard_D2s_v3"), parse_disks(["temp"])), "2026-08-01")
    asked = [dilation.Asked(volume="temp", bs_bytes=MIB, queue_depth=64, read_share=1.0, lasts_s=6.0)]
    quick = Calibration(floor_s=50e-6, jitter_s=1.0, iops=50_000, bytes_per_s=1e9)
    assert dilation.time_scale(temp, Options(), quick) == 64
    assert dilation.time_scale(temp, Options(), quick, asked) == 1
    assert dilation.time_scale(temp, Options(), replace(quick, iops=1_500), asked) == 8  # 4,000 of 600


def test_a_calibration_is_remembered_for_this_boot_and_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = [Calibration(*(float(10 * i + j) for j in range(4))) for i in range(4)]
    left = iter(found)
    monkeypatch.setattr(calibrate, "measure", lambda: next(left))
    assert calibrate.calibration() == calibrate.calibration() == found[0]
    path = tmp_path / "azbench" / "lab-calibration.json"
    content = json.loads(path.read_text())
    for i, change in enumerate(({"boot": "another"}, {"unix_s": content["unix_s"] - 601}), 1):
        path.write_text(json.dumps(content | change))
        assert calibrate.calibration() == found[i]
    path.write_text("[1, 2")
    assert calibrate.calibration() == found[3]
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    monkeypatch.setattr(calibrate, "measure", lambda: found[0])
    assert calibrate.calibration() == found[0]


def test_without_fio_this_machine_is_calibrated_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    def holds(found: Calibration) -> None:
        assert 0 < found.floor_s < 0.1 and 0 < found.jitter_s < 1
        assert found.iops > 1000 and found.bytes_per_s > 10e6

    Measurement(calibrate.measure).check(holds)


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("[]\n")
    (tmp_path / "y").write_text('{"azbench_lab": 2}\n')
    for name, sentence in (
        ("x", "no live log"),
        ("y", "azbench_lab 2: .*of this version"),
        ("z", "No such file"),
    ):
        with pytest.raises(InputError, match=sentence):
            live_log.read(tmp_path / name)
    assert not live_log.alive(tmp_path / "z")


COMMAND = [sys.executable, "-c", "from azbenchlib.cli.lab import app; app()"]


@pytest.mark.fio
def test_the_command_prints_what_works_and_ends_when_it_is_told(own_cache: Path) -> None:  # noqa: F811
    arguments = ["start", "--vm", "Standard_E8ds_v4", "--disk", "P4:None", "--as-of", "2026-08-01"]
    with subprocess.Popen(
        [*COMMAND, *arguments, "--time-scale", "2", "--credit-seconds", "30"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "120"},
    ) as process:
        assert process.stderr is not None and process.stdout is not None
        while "until Ctrl-C" not in process.stderr.readline():
            assert process.poll() is None
        shown = []
        while not (shown and shown[-1].startswith("azbench lab watch ")):
            shown.append(process.stdout.readline())
        (command,) = [line for line in shown if line.startswith("fio ")]
        done = subprocess.run(
            [*shlex.split(command), "--runtime=1"], capture_output=True, text=True, timeout=PATIENCE_S
        )
        folder = Path(shlex.split(shown[-1])[-1])
        assert (
            live_log.read(folder / live_log.LIVE_LOG).header.full_credits["P4:None disk_burst_iops"]
            == 30 * 3380
        )
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=PATIENCE_S)
    text = "".join(shown)
    assert "120, burst 3,500" in text and "25, burst 170" in text and "Time dilation 2x" in text
    assert done.returncode == 0 and "err= 0" in done.stdout
    assert process.returncode == 0 and "The lab has ended." in rest[1]
    assert gone(folder)


def test_the_command_refuses_with_a_sentence(tmp_path: Path) -> None:
    for arguments, sentence in (
        (["start", "--disk", "P4", "--time-scale", "3"], "time scale 3: a power of two"),
        (["start"], "no disk is given"),
        (["start", "--disk", "P4", "--cache-size", "much"], "'much' is not a size"),
        (["watch", str(tmp_path)], "lab.log: no live log"),
    ):
        done = CliRunner().invoke(app, arguments)
        assert isinstance(done.exception, AzbenchError) and sentence in str(done.exception)


def test_the_screen_ends_with_the_lab(capsys: pytest.CaptureFixture[str]) -> None:
    with lab() as found:
        wait_for(lambda: len(live_log.read(found.log).lines) > 0)
        screen = threading.Thread(target=lab_view.follow, args=(found.log,))
        screen.start()
        time.sleep(0.1)
        assert screen.is_alive()
    screen.join(PATIENCE_S)
    assert not screen.is_alive()
    assert "no VM limits: data, real time" in capsys.readouterr().out


def test_the_screen_shows_rates_hits_credits_and_what_holds_back() -> None:
    """Rates are per emulated second: between the lines, one real second, there is a quarter of one."""
    credits = {"a disk_burst_iops": 1000.0}
    header = live_log.Header(azbench_lab=1, setup="D8s_v3: a, b", time_scale=4, full_credits=credits)
    busy = {
        "a": {"queue_depth": 16, "cache_hit_ratio": 0.25},
        "b": {"queue_depth": 0},
        "a disk_burst_iops": {"credits": 250.0, "throttled_share": 0.9},
        "vm vm_uncached_iops": {"throttled_share": 0.05},
        "vm vm_cached_iops": {"throttled_share": 0.2},
        "b disk_iops": {},
    }
    times = ({"unix_s": 5.0, "t_s": 1.0}, {"unix_s": 9.0, "t_s": 2.0}, {"unix_s": 10.0, "t_s": 2.25})
    done = (
        {"a": [0, 0], "b": [0, 0]},
        {"a": [100, 10**6], "b": [0, 0]},
        {"a": [850, 4 * 10**6], "b": [0, 0]},
    )
    lines = tuple(
        live_log.Line.model_validate({**at, "late_us": 71.3, "done": counts, "objects": busy})
        for at, counts in zip(times, done, strict=True)
    )
    console = Console(width=110, record=True, file=io.StringIO())
    console.print(lab_view.view(live_log.State(header, lines)))
    text = console.export_text()
    shown = [line.split() for line in text.splitlines()]
    assert shown[0] == ["D8s_v3:", "a,", "b,", "time", "dilation", "4x"]
    held_back = ["disk", "burst", "IOPS", "90%,", "VM", "cached", "IOPS", "20%"]
    assert shown[2] == ["a", "3,000", "12", "16", "25%", *held_back]
    assert shown[3] == ["b", "0", "0", "0"]  # idle, so nothing holds it back
    assert shown[5][:5] == ["credits", "a", "disk", "burst", "IOPS"] and shown[5][-3:] == [
        "25%,",
        "250",
        "I/Os",
    ]
    assert shown[5][5].count("█") == 8
    assert "71.3 µs late" in text.replace("\u00a0", " ")
