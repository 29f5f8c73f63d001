"""Whoever is killed, a job of fio, fio or azbench: nothing of that run counts, and nothing is left of it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from waiting import PATIENCE_S, wait_for

from azbenchlib.campaign import LocalTarget, Workload, measure
from azbenchlib.campaign.journal import Journal
from azbenchlib.campaign.workloads import guard, program
from azbenchlib.campaign.workloads.iozone import IozoneProgram
from azbenchlib.campaign.workloads.limits import NO_LIMITS, RunLimits, Watch
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.units import GIB

pytestmark = pytest.mark.fio

CHILD = """
import sys
from pathlib import Path
from azbenchlib.campaign.workloads import program
from azbenchlib.campaign.workloads.limits import RunLimits
limits = RunLimits(seconds=60)  # rarely, fio waits for ever after a signal
print(program.run(sys.argv[2:], program.find(), Path(sys.argv[1]), limits=limits), flush=True)
"""
LONG = "--name=long --rw=randwrite --bs=4k --size=1m --runtime=600 --time_based=1 --numjobs=2 --filename=data"


def argument_list(options: str) -> list[str]:
    return ["fio", *options.split(), "--ioengine=psync", "--output-format=json+", "--output=long.json"]


def in_folder(folder: Path, program: bytes = b"fio") -> list[int]:
    """The processes of a program in a folder: the first is that which has started the others."""
    numbers = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            name = (one / "cmdline").read_bytes().partition(b"\0")[0]
            if name == program and (one / "cwd").readlink().is_relative_to(folder):
                numbers.append(int(one.name))
        except OSError:
            continue
    return sorted(numbers)


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """azbench's process, beside which fio and two jobs of it are at work in a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path), *argument_list(LONG)], stdout=subprocess.PIPE, text=True
    )
    wait_for(lambda: len(in_folder(tmp_path)) == 3, lambda: process.poll() is None)
    yield process
    process.kill()
    process.wait()
    wait_for(lambda: not in_folder(tmp_path))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("whom", ["fio", "guard", "group of fio", "azbench"])
@pytest.mark.sampled(5)
def test_nothing_is_left_whoever_is_killed(
    whom: str, number: signal.Signals, running: subprocess.Popen[str], tmp_path: Path
) -> None:
    first = in_folder(tmp_path)[0]
    if whom == "azbench":
        running.send_signal(number)
    elif whom == "group of fio":
        os.killpg(os.getpgid(first), number)
    else:
        os.kill(first if whom == "fio" else parent(first), number)
    said, _ = running.communicate(timeout=PATIENCE_S)
    assert whom == "azbench" or not said.startswith("(0,")
    wait_for(lambda: not in_folder(tmp_path))  # those of the guard alone, where azbench is gone


def test_a_job_that_the_kernel_killed_is_measured_again(tmp_path: Path) -> None:
    """fio ends with 0, and its output counts I/Os without bytes: the run does not count."""
    work = Workload(
        name="one", rw="randwrite", bs_bytes=4096, iodepth=1, size_bytes=2**20, runtime_s=3, ioengine="psync"
    )

    def kill_job() -> None:
        wait_for(
            lambda: len(in_folder(data)) == 2 and not (data / "raw/.part-layout").exists(), measuring.is_set
        )
        job = in_folder(data)[1]
        wait_for(lambda: "\nwrite_bytes: 0\n" not in Path(f"/proc/{job}/io").read_text(), measuring.is_set)
        os.kill(job, signal.SIGKILL)

    data, measuring = tmp_path / "ds", Event()
    measuring.set()
    killed = ThreadPoolExecutor(1).submit(kill_job)
    with pytest.raises(AzbenchError, match=r"workload one: fio ended with status (0|-11): .*(signal|killed)"):
        measure(LocalTarget(directory=tmp_path, workloads=[work]), data)
    measuring.clear()
    killed.result()
    kinds = [event["event"] for event in Journal(data).events()]
    assert kinds[-1] == "failed" and "kept" not in kinds
    assert [path.name[:4] for path in (data / "failed").iterdir()] == ["one-"]
    measure(LocalTarget(directory=tmp_path, workloads=[work]), data)
    assert (data / "raw" / "one.json").is_file()


def test_what_takes_longer_than_it_may_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("azbenchlib.campaign.workloads.limits.MARGIN_S", 0.0)
    status, text = program.run(argument_list(LONG), program.find(), tmp_path, limits=RunLimits(seconds=1.0))
    assert status == program.GIVEN_UP
    assert text.splitlines()[-1] == "it was ended after 1\u00a0s, in which it should have ended by far"
    assert not in_folder(tmp_path)


def test_the_writing_of_data_is_given_up_where_it_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def halted(process: "subprocess.Popen[str]", token: str, watch: Watch) -> tuple[int, str]:
        wait_for(lambda: in_folder(tmp_path), lambda: process.poll() is None)
        for pid in in_folder(tmp_path):
            os.kill(pid, signal.SIGSTOP)
        return real(process, token, watch)

    real = program._watched
    monkeypatch.setattr(program, "_watched", halted)
    monkeypatch.setattr("azbenchlib.campaign.workloads.limits.MARGIN_S", 1.0)
    monkeypatch.setattr("azbenchlib.campaign.workloads.limits.LEAST_BYTES_PER_S", GIB)
    work = Workload(name="one", rw="randread", bs_bytes=4096, iodepth=1, size_bytes=GIB // 4, runtime_s=1)
    with pytest.raises(AzbenchError, match=r"it was ended after .*, in which it should have ended by far"):
        measure(LocalTarget(directory=tmp_path, workloads=[work]), tmp_path / "ds")
    assert not in_folder(tmp_path)


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
    assert program.run(argument_list(options), program.find(), tmp_path, limits=RunLimits())[0] == 0


def test_a_job_that_waits_for_ever_ends_with_its_fio(tmp_path: Path) -> None:
    """What has left its session and its parent is known by the token that it inherited."""
    shell = IozoneProgram(shutil.which("sh") or "", "")
    script = "setsid sleep 600 & until pgrep -P $$ >/dev/null; do :; done; kill -KILL $$"
    status, _ = program.run(["sh", "-c", script], shell, tmp_path, limits=NO_LIMITS)
    assert status == -signal.SIGKILL
    assert not in_folder(tmp_path, b"sleep")


def test_the_token_tells_processes_apart(tmp_path: Path) -> None:
    token = str(tmp_path)
    process = subprocess.Popen(["sleep", "600"], env={guard.TOKEN: token, "PATH": os.environ["PATH"]})
    try:
        wait_for(lambda: guard.processes(token), lambda: process.poll() is None)
        assert guard.processes(token) == [process.pid]
        assert not guard.processes(token[:-1])
    finally:
        guard.sweep(token)
        process.wait()
        assert not guard.processes(token)
