"""Hosts, over every way to one: whole campaigns, connections that break, what is refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from loop_devices import content, loop_device, put
from process_list import processes
from waiting import PATIENCE_S, wait_for
from ways_to_hosts import WAYS, Host, Way, nothing_left

from azbenchlib.campaign import experiment
from azbenchlib.campaign.experiment import Todo
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.core.errors import AzbenchError, InputError, UnsafeTargetError
from azbenchlib.core.units import MIB
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset

pytestmark = pytest.mark.fio

FILE = """\
title: On a host
region: westeurope
vm: Standard_D4as_v5
repeats: 2
zone: 1
disks:
  data: {sku: Premium_LRS, size: 128GiB}
workloads:
  tiny: {rw: [randread, randwrite], bs: 4k, size: 1m, runtime: RUNTIME, ioengine: psync, direct: false,
    rate_iops: 4000}
  own: {job: own.fio}
"""
JOB = "[own]\nrw=randread\nbs=4k\nsize=1m\nruntime=RUNTIME\ntime_based=1\nioengine=psync\n"


@pytest.fixture(autouse=True)
def nothing_is_left_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with nothing_left(monkeypatch):
        yield


@pytest.fixture(params=WAYS, ids=[way.name for way in WAYS])
def way(request: pytest.FixtureRequest) -> Way:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def host(way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    with way.hosts(tmp_path / "hosts", monkeypatch, "here") as (one,):
        yield one


@pytest.fixture
def target(way: Way, host: Host) -> str:
    return way.target([host])


def todo(folder: Path, runtime: str = "0.2") -> Todo:
    (folder / "file.yaml").write_text(FILE.replace("RUNTIME", runtime))
    (folder / "own.fio").write_text(JOB.replace("RUNTIME", "200ms"))
    return experiment.load(folder / "file.yaml")


def run(folder: Path, asked: Todo, target: str, **options: object) -> Path:
    return experiment.run(asked, folder / "ds", target=target, **options)  # type: ignore[arg-type]


def begun(folder: Path, target: str, directory: str = "") -> "subprocess.Popen[bytes]":
    """The same in a process of its own, for a file that is there."""
    code = (
        "import sys; from azbenchlib.campaign import experiment as e\n"
        "folder, target, directory = sys.argv[1:]\n"
        "e.run(e.load(folder + '/file.yaml'), folder + '/ds', target=target, directory=directory)"
    )
    argv = [sys.executable, "-c", code, folder, target, directory]
    return subprocess.Popen(argv, stderr=subprocess.DEVNULL)


def token(folder: Path) -> str:
    """By which a campaign knows what is its own."""
    return str(json.loads((folder / "ds" / "plan.json").read_text())["token"])


def left_on(host: Host) -> list[str]:
    return [path.name for path in host.home.iterdir()]


def kept(folder: Path) -> list[str]:
    return [event["run"] for event in Journal(folder / "ds").events() if event["event"] == JournalEvent.KEPT]


@pytest.mark.sampled(2)
def test_a_whole_campaign(way: Way, host: Host, target: str, tmp_path: Path) -> None:
    asked = todo(tmp_path)
    folder = run(tmp_path, asked, target)
    assert kept(tmp_path) == [work.name for work in asked.workloads] and len(kept(tmp_path)) == 6
    assert left_on(host) == []  # nothing is left there
    data = Dataset.read(folder)
    assert len(data.runs) == 6 and set(data.runs["setup_id"]) == {"host"}
    found = manifest.load(folder)
    (setup,) = found.setups
    assert setup.environment == "other" and setup.kernel == os.uname().release
    assert any("randomised complete blocks" in note for note in found.notes)
    written = "".join(path.read_text(errors="replace") for path in folder.rglob("*.json*"))
    assert str(host.home) not in written and target not in written
    assert f" on a host reached {way.told}, " in found.about
    assert setup.label.startswith(f"Host reached {way.told}, ")


@pytest.mark.sampled(1)
def test_job_files_alone_share_no_data(host: Host, target: str, tmp_path: Path) -> None:
    own = [work for work in todo(tmp_path).workloads if work.own_data]
    folder = run(tmp_path, Todo(own), target)
    assert kept(tmp_path) == [work.name for work in own] and left_on(host) == []
    assert [command.title for command in manifest.load(folder).commands] == [work.title for work in own]


@pytest.mark.sampled(1)
def test_a_connection_that_breaks_in_mid_run(host: Host, target: str, tmp_path: Path) -> None:
    """The run lives on the host: it is the same fio before and after, and it is measured once.

    It is halted until the break was noticed, which may take longer than it runs.
    """
    asked, seen, broken = todo(tmp_path, "2"), [], []

    def running() -> set[int]:
        ours = host.fio("tiny")
        if not any(bytes_read(pid) > 2**22 for pid in ours):  # it has not begun
            return set()
        send(ours, signal.SIGSTOP)
        return ours

    def look(done: int, total: int, text: str) -> None:
        if text.endswith("…") and "randread" in text and not broken:
            break_when_it_runs(host, running, seen, broken)
        if "the connection broke" in text:
            seen.append(host.fio("tiny"))
            send(seen[0], signal.SIGCONT)

    run(tmp_path, asked, target, progress=look)
    assert broken == [True] and len(seen) >= 2
    assert seen[0] & seen[1]  # it ran on while nobody was connected
    assert kept(tmp_path) == [work.name for work in asked.workloads]
    begun = [
        event["run"] for event in Journal(tmp_path / "ds").events() if event["event"] == JournalEvent.BEGUN
    ]
    assert begun == kept(tmp_path)
    assert left_on(host) == []


def break_when_it_runs(host: Host, runs: Callable[[], set[int]], seen: list, broken: list) -> None:
    def break_it() -> None:
        wait_for(lambda: (pids := runs()) and not seen.append(pids))
        broken.append(bool(host.hang_up()))

    threading.Thread(target=break_it).start()


def bytes_read(pid: int) -> int:
    """By a process that may have ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/io").read_text().split()[1])
    return 0


def send(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@pytest.mark.long
def test_a_killed_campaign_collects_what_ran_meanwhile(host: Host, target: str, tmp_path: Path) -> None:
    asked = todo(tmp_path, "2")
    process = begun(tmp_path, target)
    wait_for(lambda: host.fio("tiny"))
    process.kill()
    process.wait()
    first = Journal(tmp_path / "ds").events()[-1]["run"]
    status = next((host.home / ".azbench").glob("*")) / first / "status"
    wait_for(status.exists)  # it ends there though nobody is connected
    ended = status.stat().st_mtime_ns
    lines: list[str] = []

    def look(done: int, total: int, text: str) -> None:
        lines.append(text)
        if f"{first}" in kept(tmp_path):
            return
        assert not status.exists() or status.stat().st_mtime_ns == ended  # it is not run again

    run(tmp_path, asked, target, progress=look)
    assert kept(tmp_path) == [work.name for work in asked.workloads]
    assert left_on(host) == []
    for left in Path(tempfile.gettempdir()).glob("azbench-ssh-*"):
        shutil.rmtree(left)  # of the one that was killed, which could not do so itself


def test_what_could_lose_data_is_refused_as_here(host: Host, target: str, tmp_path: Path) -> None:
    asked = todo(tmp_path)
    with pytest.raises(UnsafeTargetError, match=r"/nowhere: does not exist"):
        run(tmp_path, asked, target, directory="/nowhere")
    (host.home / "precious").write_text("data")
    with pytest.raises(UnsafeTargetError, match=r"precious: exists and is neither a directory nor a block"):
        run(tmp_path, asked, target, directory=str(host.home / "precious"))
    with pytest.raises(InputError, match=r"directory 'there' must be an absolute path on the host"):
        run(tmp_path, asked, target, directory="there")
    assert left_on(host) == ["precious"] and (host.home / "precious").read_text() == "data"


# Where the tools are that look at devices; elsewhere the words are needed.
guarded = pytest.mark.parametrize(
    "way", [way for way in WAYS if way.has_device_tools], ids=lambda way: way.name
)


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Path]:
    """A loop device of 16 MiB of zeros."""
    with loop_device(tmp_path / "image", 16 * MIB) as made:
        yield made


def on_a_device(folder: Path, runtime: str = "0.2") -> Todo:
    (folder / "file.yaml").write_text(FILE.replace("RUNTIME", runtime).replace("  own: {job: own.fio}\n", ""))
    return experiment.load(folder / "file.yaml")


@pytest.mark.sampled(1)
@guarded
def test_devices_on_the_host(host: Host, target: str, tmp_path: Path, device: Path) -> None:
    asked = on_a_device(tmp_path)
    folder = run(tmp_path, asked, target, directory=str(device))
    assert len(kept(tmp_path)) == 4 and left_on(host) == []
    job = json.loads(next((folder / "raw").glob("*.json")).read_text())["jobs"][0]
    assert job["job options"]["filename"] == str(device)
    with pytest.raises(
        UnsafeTargetError,
        match=rf"{device}: holds the data of another campaign of azbench, .* 'overwrite {device}'",
    ):
        experiment.run(asked, tmp_path / "two", target=target, directory=str(device))
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    with pytest.raises(UnsafeTargetError, match=rf"{device}: holds ext4, .* the words 'overwrite {device}'"):
        experiment.run(asked, tmp_path / "two", target=target, directory=str(device))
    (tmp_path / "point").mkdir()
    subprocess.run(["mount", device, tmp_path / "point"], check=True)
    with pytest.raises(UnsafeTargetError, match=rf"is in use: .* mounted, .*'overwrite mounted {device}'"):
        experiment.run(asked, tmp_path / "two", target=target, directory=str(device))
    assert (tmp_path / "point" / "lost+found").is_dir()


@pytest.mark.parametrize(
    ("offset", "data"),
    [(2 * MIB, b"data" * MIB), (9 * MIB + 1, b"x"), (-1, b"x"), (-8192, b"\xfc\x4e\x2b\xa9\1\0\0\0")],
    ids=["zeros first, then data", "one byte", "the last byte", "RAID superblock at the end"],
)
@pytest.mark.sampled(6)
@guarded
def test_what_lies_anywhere_on_a_device_of_a_host_is_left_as_it_is(
    offset: int, data: bytes, host: Host, target: str, tmp_path: Path, device: Path
) -> None:
    put(device, offset, data)
    before = content(device)
    with pytest.raises(UnsafeTargetError, match=rf"{device}: holds .*the words 'overwrite {device}'"):
        run(tmp_path, on_a_device(tmp_path), target, directory=str(device))
    assert content(device) == before and left_on(host) == [] and not (tmp_path / "ds").exists()


@guarded
def test_a_device_of_a_host_that_a_process_writes_to_is_left_alone(
    host: Host, target: str, tmp_path: Path, device: Path
) -> None:
    with (
        device.open("r+b"),
        pytest.raises(UnsafeTargetError, match=rf"process {os.getpid()} .* open for wri"),
    ):
        run(tmp_path, on_a_device(tmp_path), target, directory=str(device))
    assert left_on(host) == []


@pytest.mark.parametrize("runtime", ["0.3", "2"], ids=["between runs", "in a run"])
@pytest.mark.sampled(1)
@guarded
def test_a_campaign_on_a_device_of_a_host_goes_on_after_a_kill(
    runtime: str, host: Host, target: str, tmp_path: Path, device: Path
) -> None:
    asked = on_a_device(tmp_path, runtime)
    process = begun(tmp_path, target, str(device))
    wait_for(
        lambda: host.fio("tiny") if runtime == "2" else kept(tmp_path),
        goes_on=lambda: process.poll() is None,
    )
    process.kill()
    process.wait()
    run(tmp_path, asked, target, directory=str(device))
    assert kept(tmp_path) == [work.name for work in asked.workloads] and left_on(host) == []
    marks = [one for one in Journal(tmp_path / "ds").events() if one["event"] == JournalEvent.MARKED]
    assert len(marks) == 1
    for left in Path(tempfile.gettempdir()).glob("azbench-ssh-*"):
        shutil.rmtree(left)  # of the one that was killed, which could not do so itself


@pytest.mark.sampled(1)
def test_two_interrupts_end_fio_on_the_host_and_leave_nothing(
    host: Host, target: str, tmp_path: Path
) -> None:
    asked = todo(tmp_path, "60").file
    asked.write_text(asked.read_text().replace("tiny:", "to-be-stopped:"))
    process = begun(tmp_path, target)
    wait_for(lambda: host.fio("to-be-stopped"), goes_on=lambda: process.poll() is None)
    process.send_signal(signal.SIGTERM)  # as a second Ctrl-C
    assert process.wait(PATIENCE_S) != 0
    assert host.fio("to-be-stopped") == set()
    assert left_on(host) == []


# --- several at once -----------------------------------------------------------------------------

TOGETHER = FILE.replace("RUNTIME", "0.5").replace("  own: {job: own.fio}\n", "").replace("repeats: 2\n", "")


# What hands a socket on is there; elsewhere several at once are refused.
relayed = pytest.mark.parametrize("way", [way for way in WAYS if way.has_relay], ids=lambda way: way.name)


@pytest.mark.sampled(1)
@relayed
def test_two_hosts_at_once_are_told_apart_and_together(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with way.hosts(tmp_path / "hosts", monkeypatch, "one", "two") as hosts:
        (tmp_path / "file.yaml").write_text(TOGETHER)
        asked = experiment.load(tmp_path / "file.yaml")
        data: list[int] = []

        def look(done: int, total: int, text: str) -> None:
            if text.endswith("…") and "randread" in text:
                data.extend(len(list(host.home.glob(".azbench-*/azbench.fio-data"))) for host in hosts)

        folder = experiment.run(asked, tmp_path / "ds", target=way.target(hosts), progress=look)
        assert data == [1, 1]  # each has its own
        assert [left_on(host) for host in hosts] == [[], []]
    runs = Dataset.read(folder).runs
    assert set(runs["host"].dropna()) == {"host-1", "host-2"}
    jobs = runs[runs["level"] == "job"]
    assert len(jobs) == 4 and (runs["level"] == "all").sum() == 2
    rates = Dataset.read(folder).results.merge(runs[["run_id", "level", "source_path"]], on="run_id")
    for _, mine in rates.groupby("source_path"):
        parts, whole = mine[mine["level"] == "job"], mine[mine["level"] == "all"]
        assert whole["ios"].sum() == parts["ios"].sum() > 0
    begun = jobs.groupby("source_path")["ended_at"].nunique()
    assert (begun == 1).all()  # one document: at the same time
    written = (folder / "plan.json").read_text() + (folder / "manifest.json").read_text()
    assert f"servers reached {way.told}: " in written and str(tmp_path / "hosts") not in written


@pytest.mark.long
@relayed
def test_a_connection_that_breaks_while_several_hosts_measure(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one of them did alone is no result: all of them run the workload again, and it is kept once."""
    with way.hosts(tmp_path / "hosts", monkeypatch, "one", "two") as hosts:
        (tmp_path / "file.yaml").write_text(TOGETHER.replace("0.5", "2"))
        asked, lines, broken = experiment.load(tmp_path / "file.yaml"), [], []

        def server() -> set[int]:
            ours = {pid for pid, _, args in processes() if "--server=sock:" in args and "/host-2" in args}
            return {pid for pid in ours if bytes_read(pid) > 2**22}  # it reads what is measured

        def look(done: int, total: int, text: str) -> None:
            lines.append(text)
            if text.endswith("…") and "randread" in text and not broken:
                break_when_it_runs(hosts[1], server, [], broken)

        experiment.run(asked, tmp_path / "ds", target=way.target(hosts), progress=look)
        assert broken == [True]
        assert sum("a host could not be heard to the end" in line for line in lines) == 1
        assert not [
            args for _, _, args in processes() if f"--server=sock:/tmp/azbench-{token(tmp_path)}" in args
        ]
        assert [left_on(host) for host in hosts] == [[], []]
    assert kept(tmp_path) == [work.name for work in asked.workloads]
    runs = Dataset.read(tmp_path / "ds").runs
    assert set(runs.loc[runs["level"] == "job", "host"]) == {"host-1", "host-2"}


def test_several_hosts_need_what_all_can_do(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with way.hosts(tmp_path / "hosts", monkeypatch, "one", "two") as hosts:
        asked = todo(tmp_path)
        with pytest.raises(
            InputError, match=r"workload 'own-r1': several hosts at once run workloads of fio"
        ):
            experiment.run(asked, tmp_path / "ds", target=way.target(hosts))
        with pytest.raises(InputError, match=r" is there twice; name each host once"):
            experiment.run(asked, tmp_path / "ds", target=way.target([hosts[0], hosts[0]]))
        assert [left_on(host) for host in hosts] == [[], []]


@pytest.mark.sampled(1)
def test_a_run_that_takes_longer_than_it_may_is_ended_on_the_host(
    host: Host, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host ends it by itself, so that it ends also where nobody looks on any more."""
    monkeypatch.setattr("azbenchlib.campaign.targets.hosts.target._limit_s", lambda work: 1.0)
    with pytest.raises(AzbenchError, match="ended with status 124: it was ended after 1"):
        run(tmp_path, todo(tmp_path, "600"), target)
    assert not host.fio("tiny")
