"""Whoever is killed, a job of fio, fio or azbench: nothing of that run counts, and nothing is left of it."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from azbenchlib.campaign import LocalTarget, Workload, measure
from azbenchlib.campaign.journal import Journal
from azbenchlib.campaign.workloads import fio, guard, program
from azbenchlib.campaign.workloads.iozone import IozoneProgram
from azbenchlib.campaign.workloads.limits import NO_LIMITS, RunLimits, Watch
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.units import GIB

pytestmark = pytest.mark.fio

CHILD = """
import sys
from pathlib import Path
from azbenchlib.campaign.workloads import fio, program
from azbenchlib.campaign.workloads.limits import RunLimits
limits = RunLimits(seconds=60)  # rarely, fio waits for ever after a signal
print(program.run(sys.argv[2:], fio.find(), Path(sys.argv[1]), limits=limits), flush=True)
"""
LONG = "--name=long --rw=randwrite --bs=4k --size=1m --runtime=600 --time_based=1 --numjobs=2 --filename=data"


def argument_list(options: str) -> list[str]:
    return ["fio", *options.split(), "--ioengine=psync", "--output-format=json+", "--output=long.json"]


def until(is_so: Callable[[], object], pause_s: float = 0.02) -> None:
    while not is_so():
        time.sleep(pause_s)


def of_fio(folder: Path) -> list[int]:
    """The processes of fio in a folder: the first is that which has started the others."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            command = (one / "cmdline").read_bytes().split(b"\0")
            if command[0] == b"fio" and (one / "cwd").readlink().is_relative_to(folder):
                found.append(int(one.name))
        except OSError:
            continue
    return sorted(found)


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def group(pid: int) -> int:
    return os.getpgid(pid)


def does_io(folder: Path) -> bool:
    return len(of_fio(folder)) == 3


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """azbench's process, beside which fio and two jobs of it are at work in a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path), *argument_list(LONG)], stdout=subprocess.PIPE, text=True
    )
    until(lambda: does_io(tmp_path))
    yield process
    process.kill()
    process.wait()
    until(lambda: not of_fio(tmp_path))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("whom", ["fio", "guard", "group of fio", "azbench"])
def test_nothing_is_left_whoever_is_killed(
    whom: str, number: signal.Signals, running: subprocess.Popen[str], tmp_path: Path
) -> None:
    first = of_fio(tmp_path)[0]
    if whom == "azbench":
        running.send_signal(number)
        running.wait()
    elif whom == "group of fio":
        os.killpg(group(first), number)
    else:
        os.kill(first if whom == "fio" else parent(first), number)
    said, _ = running.communicate()
    assert whom == "azbench" or not said.startswith("(0,")
    until(lambda: not of_fio(tmp_path))  # those of the guard alone, where azbench is gone


def test_a_job_that_the_kernel_killed_is_measured_again(tmp_path: Path) -> None:
    """fio ends with 0, and its output counts I/Os without bytes: the run does not count."""
    work = Workload(
        name="one", rw="randwrite", bs_bytes=4096, iodepth=1, size_bytes=2**20, runtime_s=3, ioengine="psync"
    )

    def kill_job() -> None:
        until(lambda: len(of_fio(tmp_path / "ds")) == 2 and not (tmp_path / "ds/raw/.part-layout").exists())
        job = of_fio(tmp_path / "ds")[1]
        until(lambda: "\nwrite_bytes: 0\n" not in Path(f"/proc/{job}/io").read_text())
        os.kill(job, signal.SIGKILL)

    threading.Thread(target=kill_job, daemon=True).start()
    with pytest.raises(AzbenchError, match=r"workload one: fio ended with status (0|-11): .*(signal|killed)"):
        measure(LocalTarget(directory=tmp_path, workloads=[work]), tmp_path / "ds")
    kinds = [event["event"] for event in Journal(tmp_path / "ds").events()]
    assert kinds[-1] == "failed" and "kept" not in kinds
    assert [path.name[:4] for path in (tmp_path / "ds" / "failed").iterdir()] == ["one-"]
    measure(LocalTarget(directory=tmp_path, workloads=[work]), tmp_path / "ds")
    assert (tmp_path / "ds" / "raw" / "one.json").is_file()


def test_what_takes_longer_than_it_may_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("azbenchlib.campaign.workloads.limits.MARGIN_S", 0.0)
    status, text = program.run(argument_list(LONG), fio.find(), tmp_path, limits=RunLimits(seconds=1.0))
    assert status == program.GIVEN_UP
    assert text.splitlines()[-1] == "it was ended after 1\u00a0s, in which it should have ended by far"
    assert not of_fio(tmp_path)


def test_the_writing_of_data_is_given_up_where_it_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def halted(process: "subprocess.Popen[str]", token: str, watch: Watch) -> tuple[int, str]:
        until(lambda: of_fio(tmp_path), pause_s=0)
        for pid in of_fio(tmp_path):
            os.kill(pid, signal.SIGSTOP)
        return real(process, token, watch)

    real = program._watched
    monkeypatch.setattr(program, "_watched", halted)
    monkeypatch.setattr("azbenchlib.campaign.workloads.limits.MARGIN_S", 1.0)
    monkeypatch.setattr("azbenchlib.campaign.workloads.limits.LEAST_BYTES_PER_S", GIB)
    work = Workload(name="one", rw="randread", bs_bytes=4096, iodepth=1, size_bytes=GIB // 4, runtime_s=1)
    with pytest.raises(AzbenchError, match=r"it was ended after .*, in which it should have ended by far"):
        measure(LocalTarget(directory=tmp_path, workloads=[work]), tmp_path / "ds")
    assert not of_fio(tmp_path)


def test_what_does_no_io_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("azbenchlib.campaign.workloads.limits.STALLED_S", 1.0)
    asleep = IozoneProgram(shutil.which("sleep") or "", "")
    status, text = program.run(["sleep", "600"], asleep, tmp_path, limits=RunLimits())
    assert (status, text.strip()) == (program.GIVEN_UP, "it was ended, for it did no I/O for 1\u00a0s")


def test_what_does_io_is_not_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has no known end may last much longer than it may be idle."""
    monkeypatch.setattr("azbenchlib.campaign.workloads.limits.STALLED_S", 0.5)
    monkeypatch.setattr("azbenchlib.campaign.workloads.limits._LOOK_AT_IO_S", 0.1)
    options = LONG.replace("runtime=600", "runtime=3").replace("--numjobs=2", "--fsync=1")
    assert program.run(argument_list(options), fio.find(), tmp_path, limits=RunLimits())[0] == 0


def test_a_job_that_waits_for_ever_ends_with_its_fio(tmp_path: Path) -> None:
    """What has left its session and its parent is known by the token that it inherited."""
    shell = IozoneProgram(shutil.which("sh") or "", "")
    script = "setsid sleep 600 & until pgrep -P $$ >/dev/null; do :; done; kill -KILL $$"
    status, _ = program.run(["sh", "-c", script], shell, tmp_path, limits=NO_LIMITS)
    assert status == -signal.SIGKILL
    asleep = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists())
    assert b"sleep\x00600\x00" not in list(asleep)


def test_the_token_tells_processes_apart() -> None:
    process = subprocess.Popen(["sleep", "600"], env={guard.TOKEN: "one", "PATH": os.environ["PATH"]})
    try:
        until(lambda: guard.processes("one"))
        assert guard.processes("one") == [process.pid]
        assert not guard.processes("on")
    finally:
        guard.sweep("one")
        process.wait()
        assert not guard.processes("one")
