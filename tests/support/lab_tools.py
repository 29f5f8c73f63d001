"""What the tests of the lab share: a setup of plain numbers, real fio against it, what it counted."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from measuring import Measurement
from waiting import PATIENCE_S

from azbenchlib.core.units import US_PER_S, format_us
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.lab.client import Client
from azbenchlib.lab.engine.virtual_machine import Options
from azbenchlib.lab.lab import Lab
from azbenchlib.lab.server import live_log
from azbenchlib.lab.server.serve import SOCKET
from azbenchlib.model.setup import Disk, Setup

SIZE = 256 * 2**20
LATE_S = 0.001  # real; with completions later than this, the machine was too busy for a test of a per cent


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """This machine is calibrated once for all tests, and nothing of it is left."""
    folder = tmp_path_factory.getbasetemp() / "lab-cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


def free(*names: str) -> tuple[Setup, Options]:
    """Volumes without limits and without latency."""
    disks = tuple(Disk(name=name, size_bytes=SIZE) for name in names)
    return Setup(disks=disks), Options(latency=dict.fromkeys(names, "none"))


def connect(lab: Lab, volume: str) -> Client:
    return Client(lab.folder / SOCKET, volume)


def need_fio() -> str:
    """The path of a fio that speaks NBD."""
    path = shutil.which("fio")
    if path is None:
        pytest.skip("fio is not installed")
    engines = subprocess.run([path, "--enghelp"], capture_output=True, text=True).stdout.split()
    if "nbd" not in engines:
        pytest.skip("this fio has no nbd engine")
    return path


def qemu_storage_daemon() -> str | None:
    """The path of the program, installed if that can be done without asking."""
    name = "qemu-storage-daemon"
    if shutil.which(name) is None and os.geteuid() == 0 and shutil.which("apt-get"):
        command = ["apt-get", "install", "-y", "--no-install-recommends", "qemu-system-common"]
        subprocess.run(command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, capture_output=True)
    return shutil.which(name)


def fio_command(uri: str, *options: str) -> list[str]:
    command = [
        need_fio(),
        "--name=test",
        "--ioengine=nbd",
        f"--uri={uri}",
        "--output-format=json",
        "--thread",
    ]
    return [*command, *options]


def fio(uri: str, *options: str) -> dict[str, Any]:
    """The first job of a run of fio, whose options stand behind the usual ones."""
    done = subprocess.run(fio_command(uri, *options), capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr + done.stdout
    job: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    return job


def late(lab: Lab) -> str:
    """Return how late completions were where they were latest, in words; empty where they were on time.

    A single stall counts too, for a limit lets pass in a moment what it did not during the stall.
    """
    lines = live_log.read(lab.log).lines
    latest_us = max((line.late_us for line in lines if line.late_us is not None), default=0.0)
    return f"completions came {format_us(latest_us)} late" if latest_us >= LATE_S * US_PER_S else ""


def busy(found: Dataset) -> str:
    """Return what a dataset of emulated disks says of a busy machine; empty where nothing."""
    notes = found.manifest.notes if found.manifest else []
    return " ".join(note for note in notes if "this machine was busy" in note)


def assert_measured(measure: Callable[[], tuple[Any, str]], expected: Any) -> None:
    """What is measured is what is expected; `measure` returns it, and what tells that the lab was late."""

    def holds(result: tuple[Any, str]) -> None:
        assert result[0] == expected

    Measurement(measure, itemgetter(1)).check(holds)


def gone(*paths: Path) -> bool:
    return not any(path.exists() for path in paths)


def status(pid: int, field: str) -> int:
    """A number of /proc/PID/status, such as VmRSS in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{field}:")))


def ended(pid: int) -> bool:
    """Whether a process is no more, or waits only for its parent to take note."""
    path = Path(f"/proc/{pid}/stat")
    return not path.exists() or path.read_text().rpartition(")")[2].split()[0] == "Z"
