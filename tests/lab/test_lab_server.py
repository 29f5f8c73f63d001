"""The lab's server with real clients: data kept, many of them, those that misbehave, a full disk."""

import os
import resource
import socket
import struct
import time
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from lab_tools import LATE_S, SIZE, connect, fio, free, late, own_cache, status  # noqa: F401
from measuring import Measurement
from waiting import PATIENCE_S

from azbenchlib.core.errors import AzbenchError
from azbenchlib.lab.client import Client
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.nbd import FLUSH, READ, WRITE
from azbenchlib.lab.server import live_log
from azbenchlib.lab.server.protocol import MOST_REQUESTS
from azbenchlib.lab.server.serve import SOCKET
from azbenchlib.model.setup import Cap, Disk, Setup


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    """Two volumes without limits."""
    with Lab(*free("data", "log:2/x"), time_scale=1) as found:
        yield found


@pytest.mark.fio
def test_fio_reads_back_what_it_wrote(lab: Lab) -> None:
    job = fio(
        lab.uri("log:2/x"),
        *("--rw=randwrite", "--bsrange=512-256k", "--size=24m", "--iodepth=32"),
        *("--verify=crc32c", "--do_verify=1", "--verify_fatal=1", "--verify_state_save=0"),
        "--fsync=50",
    )
    assert job["error"] == 0
    assert job["read"]["io_bytes"] == job["write"]["io_bytes"] == 24 * 2**20
    counted = lab.totals()["log:2/x"]
    assert counted["write_bytes"] == counted["read_bytes"] == 24 * 2**20
    assert counted["write_ios"] == job["write"]["total_ios"] and counted["flush_ios"] > 0


@pytest.mark.fio
def test_several_jobs_and_connections_of_fio_on_one_volume(lab: Lab) -> None:
    before = lab.totals()["data"]["read_ios"]
    job = fio(
        lab.uri("data"),
        *("--rw=randread", "--bs=4k", "--size=4m", "--iodepth=8", "--numjobs=4", "--group_reporting"),
    )
    assert job["read"]["total_ios"] == lab.totals()["data"]["read_ios"] - before == 4096


def test_connections_see_the_same_and_exports_do_not(lab: Lab) -> None:
    with connect(lab, "data") as one, connect(lab, "data") as two, connect(lab, "log:2/x") as other:
        assert one.size_bytes == SIZE
        data = os.urandom(9000)
        one.write(SIZE - 9000, data)
        assert two.read(SIZE - 9000, 9000) == data
        assert other.read(SIZE - 9000, 9000) != data
        assert two.request(FLUSH) == (0, b"")


def test_the_largest_request_and_the_memory_it_gives_back(lab: Lab) -> None:
    data = os.urandom(32 * 2**20)
    with connect(lab, "data") as client:
        before = status(lab.pid or 0, "VmRSS")
        for _ in range(3):
            client.write(0, data)
            assert client.read(0, len(data)) == data
        assert status(lab.pid or 0, "VmRSS") - before < 8 * 1024


def test_a_thousand_connections(lab: Lab) -> None:
    """Each writes and reads; idle, all of them together take little memory."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1200:
        pytest.skip(f"this user may have {hard} files open; 1,200 are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
    before = status(lab.pid or 0, "VmRSS")
    clients = [connect(lab, "data") for _ in range(1000)]
    try:
        for i, client in enumerate(clients):
            client.write(i * 4096, struct.pack(">Q", i) * 512)
        for i, client in enumerate(clients):
            assert client.read((999 - i) * 4096, 4096) == struct.pack(">Q", 999 - i) * 512
        assert status(lab.pid or 0, "VmRSS") - before < 20 * 1024
    finally:
        for client in clients:
            client.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not lab.warnings()


def test_who_sends_garbage_is_cut_off_and_the_others_are_not(lab: Lab) -> None:
    with connect(lab, "data") as good, socket.socket(socket.AF_UNIX) as bad, connect(lab, "data") as worse:
        bad.connect(str(lab.folder / SOCKET))
        bad.sendall(b"GET / HTTP/1.1\r\nHost: lab\r\n\r\n")
        bad.settimeout(PATIENCE_S)
        assert bad.recv(100)[:8] == b"NBDMAGIC" and bad.recv(100) == b""
        with pytest.raises((AzbenchError, OSError)):
            worse._socket.sendall(os.urandom(2**20 + 13))
            worse.read(0, 512)
        assert len(good.read(0, 4096)) == 4096
    told = lab.warnings()
    assert len(told) == 2 and told[0] == (
        "a client was cut off: it began with 0x47455420, which no NBD client does"
    )
    assert told[1].endswith("is not how an NBD request begins")


def test_an_unknown_export_is_refused(lab: Lab) -> None:
    with pytest.raises(AzbenchError, match="hung up"):
        connect(lab, "nothing")
    assert lab.warnings() == ["a client was cut off: there is no export 'nothing'; there are: data, log:2/x"]


def test_more_than_may_be_in_flight_is_taken_when_there_is_room(lab: Lab) -> None:
    many = 3 * MOST_REQUESTS
    with connect(lab, "data") as client:
        client.read_many([i * 512 for i in range(many)], 512)
        client.read_many([0] * 5, 32 * 2**20)
        assert len(client.read(0, 512)) == 512


def test_who_does_not_fetch_replies_holds_nobody_up(lab: Lab) -> None:
    before = status(lab.pid or 0, "VmRSS")
    with connect(lab, "data") as lazy, connect(lab, "data") as busy:
        request = struct.pack(">IHHQQI", 0x25609513, 0, READ, 0, 0, 8 * 2**20)
        lazy._socket.sendall(request * 100)
        for i in range(200):
            assert len(busy.read(i * 4096, 4096)) == 4096
        assert status(lab.pid or 0, "VmRSS") - before < 128 * 1024  # not 800 MiB
        for _ in range(100):
            assert len(lazy._reply({0: 8 * 2**20})[1]) == 8 * 2**20


def test_a_full_disk_is_told_and_outlived() -> None:
    with Lab(*free("data"), time_scale=1) as lab, connect(lab, "data") as client:
        _, hard = resource.prlimit(lab.pid or 0, resource.RLIMIT_FSIZE)
        resource.prlimit(lab.pid or 0, resource.RLIMIT_FSIZE, (2**20, hard))
        assert client.request(WRITE, 2**20 - 2048, data=bytes(4096)) == (28, b"")
        assert client.request(WRITE, 2**21, data=bytes(4096)) == (28, b"")
        client.write(0, b"x" * 4096)
        assert client.read(0, 4096) == b"x" * 4096
        told = lab.warnings()
        assert len(told) == 1 and told[0].startswith("volume 'data': no more room for its data")
        assert lab.alive()


def test_without_free_descriptors_clients_wait_and_then_get_in() -> None:
    with Lab(*free("data"), time_scale=1) as lab:
        open_now = len(list(Path(f"/proc/{lab.pid}/fd").iterdir()))
        resource.prlimit(lab.pid or 0, resource.RLIMIT_NOFILE, (open_now + 2, open_now + 2))
        first, second = connect(lab, "data"), connect(lab, "data")
        with socket.socket(socket.AF_UNIX) as third:
            third.connect(str(lab.folder / SOCKET))  # into the queue of those who wait
            third.settimeout(0.5)
            with pytest.raises(TimeoutError):
                third.recv(18)
            assert len(first.read(0, 512)) == 512
            second.close()
            third.settimeout(PATIENCE_S)
            assert third.recv(18)[:8] == b"NBDMAGIC"
            time.sleep(0.5)  # the server looks after those who wait every 0.2 s
        assert len(first.read(0, 512)) == 512
        first.close()
        assert [line[:22] for line in lab.warnings()] == ["a client has to wait: "]


@pytest.mark.fio
@pytest.mark.alone
def test_limits_hold_under_time_dilation() -> None:
    """4,000 IOPS and 10 ms at k = 4: counted by the server and timed by fio, until the machine is on time."""
    setup = Setup(disks=(Disk(name="data", sku="Premium_LRS", size_bytes=SIZE, cap=Cap(iops=4000)),))

    def measure() -> tuple[dict[str, Any], str]:
        with Lab(setup, Options(latency={"data": "none"}), time_scale=4) as lab:
            job = fio(
                lab.uri("data"), "--rw=randread", "--bs=4k", "--iodepth=40", "--time_based", "--runtime=2"
            )
            told, counted = late(lab), lab.totals()["data"]["read_ios"]
        assert job["read"]["total_ios"] == counted
        return job["read"], told

    def holds(result: tuple[dict[str, Any], str]) -> None:
        read, _ = result
        counted, seconds = read["total_ios"], read["runtime"] / 1000
        assert counted - 40 - 0.01 * 4000 <= 4000 / 4 * seconds <= counted * 1.01 + 40
        assert read["clat_ns"]["percentile"]["50.000000"] == pytest.approx(40e6, rel=0.05)

    Measurement(measure, itemgetter(1)).check(holds)


@pytest.mark.fio
@pytest.mark.alone
def test_the_live_log_tells_what_the_volume_does() -> None:
    setup = Setup(disks=(Disk(name="data", size_bytes=SIZE, cap=Cap(iops=500, burst_iops=1000)),))
    options = Options(latency={"data": "none"}, credit_s=0.5)

    def measure() -> tuple[list[live_log.Line], str]:
        with Lab(setup, options, time_scale=2) as lab:
            begun = time.time()
            fio(lab.uri("data"), "--rw=randwrite", "--bs=4k", "--iodepth=16", "--time_based", "--runtime=2")
            state, told = live_log.read(lab.log), late(lab)
            assert live_log.alive(lab.log) and lab.log in live_log.running()
        assert not live_log.alive(lab.log) and lab.log not in live_log.running()
        assert state.header.time_scale == 2 and state.header.setup == "no VM limits: data"
        return [line for line in state.lines if line.unix_s > begun], told

    def holds(result: tuple[list[live_log.Line], str]) -> None:
        lines, _ = result
        credits = [line.objects["data disk_burst_iops"].credits for line in lines]
        assert credits[0] > 50 and min(credits) < 5
        # A reply leaves before its I/O is due, by what its way takes: the next I/O may be there already.
        assert median(line.objects["data"].queue_depth for line in lines) == 16
        first, last = lines[0], lines[-1]
        assert (last.t_s - first.t_s) * 2 == pytest.approx(last.unix_s - first.unix_s, abs=0.01)

    Measurement(measure, itemgetter(1)).check(holds)


@pytest.mark.alone
def test_completions_are_on_time_where_nothing_else_runs() -> None:
    """What a lab says of its own lateness excuses the figures of other tests, so it must be true.

    A second has four lines of the log, and stalls of a millisecond that no load explains can be in two
    or three of them. A lab that is late by itself is late in each of three.
    """
    setup = Setup(disks=(Disk(name="data", size_bytes=SIZE, cap=Cap(iops=500)),))

    def lateness_s() -> float:
        with (
            Lab(setup, Options(latency={"data": "none"}), time_scale=1) as lab,
            connect(lab, "data") as client,
        ):
            for i in range(500):
                client.read(4096 * i, 4096)
            return live_log.lateness_s(lab.log)[1]

    def measure() -> float:
        late_s = lateness_s()
        for _ in range(2):
            late_s = late_s if late_s < LATE_S else lateness_s()
        return late_s

    def holds(late_s: float) -> None:
        assert late_s < LATE_S

    Measurement(measure).check(holds)


def test_a_port_is_open_when_it_is_asked_for() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with Lab(*free("log:2/x"), time_scale=1, port=port) as lab:
        assert lab.uri("log:2/x") == f"nbd://127.0.0.1:{port}/log%3A2%2Fx"
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
            assert client.recv(18)[:8] == b"NBDMAGIC"
        with pytest.raises(AzbenchError, match=f"port {port} of this machine cannot be taken"):
            Lab(*free("data"), time_scale=1, port=port).start()
        with Client(lab.folder / SOCKET, "log:2/x") as client:
            assert client.size_bytes == SIZE
