"""The lab's limits beside those of QEMU's throttle groups, with the same settings and the same clients.

QEMU's storage daemon is the independent reference: another program, another implementation of the same leaky
buckets. Its reads of zeroes bypass the throttle, so its disks are ``null-co`` without ``read-zeroes``; its
first 100 ms are free of charge, so fio gets a ramp. An Azure credit bucket is two nested groups: one of rate
base and capacity (burst − base) × T, under one of rate burst.
"""

import json
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import pytest
from lab_tools import assert_measured, fio_command, late, own_cache, qemu_storage_daemon  # noqa: F401
from measuring import Measurement
from waiting import PATIENCE_S, wait_for

from azbenchlib.campaign.probe_runs import shown
from azbenchlib.lab.client import Client
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.server.serve import SOCKET
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.setup import VM, Cap, Disk, Setup
from azbenchlib.probing.portrait import Knowledge
from azbenchlib.probing.runs import PATTERN_OF, ProbeRun, Shown, candidates
from azbenchlib.probing.session import Probe

pytestmark = pytest.mark.fio
SIZE = 2**30


@pytest.fixture(scope="module")
def daemon() -> str:
    path = qemu_storage_daemon()
    if path is None:
        pytest.skip("qemu-storage-daemon is not installed, and only root on Debian or Ubuntu may install it")
    return path


@dataclass(frozen=True)
class Limit:
    """A throttle group: of rate, and of capacity if that is another than QEMU's own."""

    name: str
    iops: int = 0
    bytes_per_s: int = 0
    capacity: int = 0

    def json(self) -> str:
        limits = {"iops-total": self.iops, "bps-total": self.bytes_per_s, "iops-total-max": self.capacity}
        content = {"qom-type": "throttle-group", "id": self.name}
        return json.dumps(content | {"limits": {key: value for key, value in limits.items() if value}})


@contextmanager
def qemu(daemon: str, folder: Path, disks: dict[str, Sequence[Limit]]) -> Iterator[Path]:
    """A daemon with these disks, each behind its limits, the innermost first; yields its socket."""
    path = folder / "qemu.sock"
    command = [daemon, "--nbd-server", f"addr.type=unix,addr.path={path},max-connections=0"]
    for limit in {limit.name: limit for limits in disks.values() for limit in limits}.values():
        command += ["--object", limit.json()]
    for disk, limits in disks.items():
        node = f"{disk}-null"
        command += ["--blockdev", f"driver=null-co,node-name={node},size={SIZE},read-zeroes=off"]
        for limit in limits:
            inner, node = node, f"{disk}-{limit.name}"
            group = f"throttle-group={limit.name},file={inner}"
            command += ["--blockdev", f"driver=throttle,node-name={node},{group}"]
        command += ["--export", f"type=nbd,id={disk},node-name={node},name={disk},writable=on"]
    with subprocess.Popen(command) as process:
        try:
            wait_for(lambda: listening(path), lambda: process.poll() is None)
            yield path
        finally:
            process.terminate()


def listening(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


Rates = dict[str, tuple[float, float]]


def measured(path: Path, jobs: dict[str, Sequence[str]]) -> Rates:
    """IOPS and bytes per second of all jobs, at once, by real fio; each drives the disk of its name."""
    options = ["--time_based", "--ramp_time=1", "--runtime=2500ms", f"--size={SIZE}", "--iodepth=4"]
    command = fio_command("", *options)
    command = [part for part in command if not part.startswith(("--uri", "--name"))]
    for name, own in jobs.items():
        command += [f"--name={name}", f"--uri=nbd+unix:///{name}?socket={path}", *own]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    found = {}
    for job in json.loads(done.stdout[done.stdout.index("{") :])["jobs"]:
        both = [job[ddir] for ddir in ("read", "write")]
        seconds = max(part["runtime"] for part in both) / 1000
        found[job["jobname"]] = tuple(
            sum(part[key] for part in both) / seconds for key in ("total_ios", "io_bytes")
        )
    return found


def measured_in_lab(setup: Setup, jobs: dict[str, Sequence[str]]) -> tuple[Rates, str]:
    """And what tells that the lab was late."""
    with Lab(setup, Options(latency=dict.fromkeys(jobs, "none")), time_scale=1) as lab:
        return measured(lab.folder / SOCKET, jobs), late(lab)


def shown_by(socket_path: Path, disk: str, run: ProbeRun, folder: Path) -> Shown:
    """A run of a probe, by real fio."""
    output = folder / f"{run.name}.json"
    rates = {
        1.0: f"{run.rate_iops}",
        0.0: f",{run.rate_iops}",
        0.5: f"{run.rate_iops // 2},{run.rate_iops // 2}",
    }
    paced = [f"--rate_iops={rates[run.read_share]}"] if run.rate_iops else []
    command = fio_command(
        f"nbd+unix:///{disk}?socket={socket_path}",
        *("--time_based", "--ramp_time=1", f"--runtime={run.seconds}", f"--size={SIZE}", "--direct=1"),
        *(f"--bs={run.bs_bytes}", f"--rw={PATTERN_OF[run.read_share]}", f"--iodepth={run.depth}"),
        *paced,
        f"--output={output}",
    )
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S)
    return shown(run, output)


@pytest.mark.long
def test_a_probe_finds_the_limits_of_qemus_throttle_group_and_none_where_there_is_none(
    daemon: str, tmp_path: Path
) -> None:
    hidden = {"slow": [Limit("l", 3_000, 60 * MB)], "free": []}
    with qemu(daemon, tmp_path, hidden) as path:
        found = {}
        for disk in hidden:
            session, folder = Probe(runs=candidates(3.0)), tmp_path / disk
            folder.mkdir()
            while chosen := session.next():
                session.tell(shown_by(path, disk, chosen.run, folder))
            found[disk] = session.portrait()
    for way in ("read", "write"):
        for key, true in ((f"{way}_iops", 3_000), (f"{way}_bytes_per_s", 60 * MB)):
            figure = found["slow"][key]
            assert figure.low * 0.98 <= true <= figure.high * 1.02, figure
            if figure.state is Knowledge.KNOWN:
                assert figure.value == pytest.approx(true, rel=0.02)
            free = found["free"][key]  # what fio, the socket and the daemon let through
            assert free.low > 2 * true and (free.value is None or free.value > 2 * true), free
    assert not found["slow"].buffered


MB = 10**6
# IOPS, bytes per second, block size, pattern.
SETTINGS = {
    "a": (500, 0, 4096, "randread"),
    "b": (1500, 0, 4096, "randwrite"),
    "c": (2000, 0, 16384, "randrw"),
    "d": (0, 20 * MB, 16384, "read"),
    "e": (0, 60 * MB, 65536, "write"),
    "f": (800, 10 * MB, 8192, "randread"),  # IOPS bind
    "g": (2000, 10 * MB, 8192, "randread"),  # bytes bind
}


def test_iops_and_bytes_within_one_per_cent_on_seven_settings(daemon: str, tmp_path: Path) -> None:
    disks, limits, jobs, wanted = [], {}, {}, {}
    for name, (iops, rate, bs, rw) in SETTINGS.items():
        disks.append(Disk(name=name, size_bytes=SIZE, cap=Cap(iops=iops or None, bytes_per_s=rate or None)))
        limits[name] = [Limit(f"l{name}", iops, rate)]
        jobs[name] = [f"--bs={bs}", f"--rw={rw}"]
        wanted[name] = min(iops or rate / bs, (rate or iops * bs) / bs)
    expected = {
        name: (pytest.approx(wanted[name], rel=0.01), pytest.approx(wanted[name] * bs, rel=0.01))
        for name, (_, _, bs, _) in SETTINGS.items()
    }

    def measure() -> tuple[list[Rates], str]:
        with qemu(daemon, tmp_path, limits) as path:
            theirs = measured(path, jobs)
        ours, told = measured_in_lab(Setup(disks=tuple(disks)), jobs)
        return [ours, theirs], told

    assert_measured(measure, [expected, expected])


@pytest.mark.long
def test_nested_and_shared_limits_within_one_per_cent(daemon: str, tmp_path: Path) -> None:
    """Four disks of a VM that allows 1,600 IOPS: two have less of their own, two share what is left."""
    caps = {"a": 200, "b": 400, "c": 2000, "d": 2000}
    vm = Limit("vm", 1600)
    setup = Setup(
        VM(uncached=Cap(iops=1600)),
        tuple(Disk(name=name, size_bytes=SIZE, cap=Cap(iops=iops)) for name, iops in caps.items()),
    )
    jobs = {name: ["--bs=4k", "--rw=randread"] for name in caps}
    limits = {name: [vm, Limit(f"l{name}", iops)] for name, iops in caps.items()}
    said = deliver(setup, [Load(volume=name, bs_bytes=4096) for name in caps])
    assert [use.iops for use in said.volumes] == [200, 400, 500, 500]

    def measure() -> tuple[Rates, Rates, str]:
        with qemu(daemon, tmp_path, limits) as path:
            theirs = measured(path, jobs)
        return theirs, *measured_in_lab(setup, jobs)

    def holds(result: tuple[Rates, Rates, str]) -> None:
        theirs, ours, _ = result
        assert sum(iops for iops, _ in theirs.values()) == pytest.approx(1600, rel=0.01)
        assert sum(iops for iops, _ in ours.values()) == pytest.approx(1600, rel=0.01)
        for use in said.volumes:
            assert ours[use.volume][0] == pytest.approx(use.iops, rel=0.01)
        assert theirs["a"][0] == pytest.approx(ours["a"][0], rel=0.01)

    Measurement(measure, itemgetter(2)).check(holds)


def drive(client: Client, seconds: float) -> tuple[int, float, float]:
    """As fast as it goes, eight at a time: I/Os, when they began, when the last was complete."""
    ios, begun = 0, time.perf_counter()
    while time.perf_counter() < begun + seconds:
        client.read_many(range(0, 8 * 4096, 4096), 4096)
        ios += 8
    return ios, begun, time.perf_counter()


BASE, BURST, CREDIT_S, PAUSE_S = 300, 1500, 1.0, 1.5


def credits(path: Path) -> tuple[float, float, float]:
    """Credits spent, those gained in a pause, and what the pause should have brought."""
    with Client(path, "data") as client:
        first, begun, ended = drive(client, 2.0)
        time.sleep(PAUSE_S)
        second, again, last = drive(client, 1.2)
    spent = first - BASE * (ended - begun)
    return spent, second - BASE * (last - again), BASE * (again - ended)


@pytest.mark.long
def test_credits_spent_and_gained_again(daemon: str, tmp_path: Path) -> None:
    stock = (BURST - BASE) * CREDIT_S
    groups = [Limit("credit", BASE, capacity=int(stock)), Limit("cap", BURST)]
    setup = Setup(disks=(Disk(name="data", size_bytes=SIZE, cap=Cap(iops=BASE, burst_iops=BURST)),))

    def measure() -> tuple[list[tuple[float, float, float]], str]:
        with qemu(daemon, tmp_path, {"data": groups}) as path:
            theirs = credits(path)
        with Lab(setup, Options(credit_s=CREDIT_S, latency={"data": "none"}), time_scale=1) as lab:
            return [credits(lab.folder / SOCKET), theirs], late(lab)

    def holds(result: tuple[list[tuple[float, float, float]], str]) -> None:
        for spent, gained, expected in result[0]:
            assert spent == pytest.approx(stock, rel=0.01)
            assert gained == pytest.approx(expected, rel=0.02)

    Measurement(measure, itemgetter(1)).check(holds)
