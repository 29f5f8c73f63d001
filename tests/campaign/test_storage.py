"""What a machine stores on: this one, and one that scripts reach, tell it in the words that one place
understands.
"""

import os
import subprocess
import tempfile
from pathlib import Path, PurePosixPath

import pytest
from ways_to_hosts import WAYS, Way

from azbenchlib.campaign import device_guard, experiment, host, probing
from azbenchlib.campaign.host import Loop, Mount, Storage
from azbenchlib.campaign.targets.hosts import host as remote
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB, MIB
from azbenchlib.dataset import manifest
from azbenchlib.probing.runs import candidates
from azbenchlib.probing.session import Probe

MEMORY = Path("/dev/shm")  # noqa: S108  a place in memory is what is wanted

MEASURED = """title: Memory
region: westeurope
vm: Standard_D4as_v5
disks:
  data: {sku: Premium_LRS, size: 128GiB}
workloads:
  read:
    rw: randread
    bs: 4k
    size: 8m
    runtime: 0.2
    direct: false
    ioengine: psync
"""

# A loop device on a disk, one on a file in memory, and a file system on a partition of the latter.
MOUNTS = (
    "22 27 8:1 / / rw - ext4 /dev/sda1 rw",
    "23 22 0:9 / /run rw,nosuid shared:1 - tmpfs tmpfs rw",
    r"24 22 7:3 / /a\040b rw - xfs /dev/loop3p1 rw",
    "25 22 7:4 / /image rw - xfs /dev/loop4 rw",
)
# The last ones were taken apart while they were looked at.
LOOPS = ("loop3 1 /run/an image", "loop4 1 /srv/image", "loop5 0 /srv/image", "loop6 0", "loop7 1 ", "loop8 ")


@pytest.fixture
def storage() -> Storage:
    return Storage.told(ram_kib="2048", mounts=MOUNTS, loops=LOOPS)


def test_what_is_told_is_read(storage: Storage) -> None:
    assert storage.ram_bytes == 2 * MIB and Storage().ram_bytes is None
    assert storage.mounts[2] == Mount(PurePosixPath("/a b"), "xfs", "/dev/loop3p1")
    assert storage.loops["loop3"] == Loop(bypasses=True, file=PurePosixPath("/run/an image"))
    assert list(storage.loops) == ["loop3", "loop4", "loop5"]


@pytest.mark.parametrize(
    ("place", "memory"),
    [
        ("/srv", False),
        ("/run/lock", True),
        ("/a b/c", True),  # past the page cache, to a file in memory
        ("/image/a", False),
        ("/dev/loop4", False),
        ("/dev/loop4p1", False),
        ("/dev/loop5", True),
        ("/dev/loop5p2", True),
        ("/dev/loop3", True),
        ("/dev/sda", False),
    ],
)
def test_memory_is_seen_behind_mounts_and_loop_devices(storage: Storage, place: str, memory: bool) -> None:
    assert storage.answers_from_memory(PurePosixPath(place), device=place.startswith("/dev")) is memory


def test_the_script_for_a_host_tells_what_this_machine_tells_itself(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["sh", "-s"], input=remote.machine(str(tmp_path)).encode(), capture_output=True, env=env, check=True
    )
    told, here = remote.storage(device_guard.facts(done.stdout)), Storage.here()
    assert told.ram_bytes == here.ram_bytes == int(Path("/proc/meminfo").read_text().split()[1]) * KIB
    for place in (tmp_path, MEMORY):
        assert told.mount_of(PurePosixPath(place)) == here.mount_of(PurePosixPath(place))
    for name in told.loops.keys() & here.loops.keys():  # others may make some meanwhile
        assert told.loops[name] == here.loops[name]


@pytest.mark.fio
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
@pytest.mark.sampled(2)
def test_memory_of_a_host_is_not_taken_for_a_disk(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not MEMORY.is_dir() or host.mount_of(MEMORY).fstype not in host.MEMORY_FILE_SYSTEMS:
        pytest.skip("no file system in memory")
    with (
        way.hosts(tmp_path / "hosts", monkeypatch, "here") as hosts,
        tempfile.TemporaryDirectory(dir=MEMORY) as folder,
    ):
        asked = probing.ProbeRequest(
            target=way.target(hosts), directory=str(folder), seconds=1.0, size_bytes=8 * MIB
        )
        session = Probe(runs=candidates(1.0), most_runs=1, chains=50, sweeps=1)
        with pytest.raises(InputError, match="memory answers there, and no disk"):
            probing.probe(asked, tmp_path / "probe", session)
        (tmp_path / "file.yaml").write_text(MEASURED)
        todo = experiment.load(tmp_path / "file.yaml")
        experiment.run(todo, tmp_path / "out", target=way.target(hosts), directory=str(folder))
    found = manifest.load(tmp_path / "out")
    assert host.MEMORY_NOTE in found.notes
    (setup,) = found.setups
    assert setup.ram_bytes == Storage.here().ram_bytes and setup.disks[0].sku == "tmpfs"
