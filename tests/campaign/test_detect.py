"""What an Azure VM is: asked of a metadata service like the real one, in made-up trees of devices."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import imds
import pytest
import typer
from imds import PRIVATE, Service, compute, data_disk, os_disk
from typer.testing import CliRunner

from azbenchlib.campaign import host
from azbenchlib.campaign.detect import detect as library
from azbenchlib.campaign.detect import devices
from azbenchlib.campaign.detect.detect import Detected, describe, detect, driven
from azbenchlib.campaign.files import measurement_file
from azbenchlib.cli.setup import setup
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.manifest import ManifestSetup
from azbenchlib.model import descriptions
from azbenchlib.model.disk_row import DiskRow

GIB = 2**30
E8DS = compute(
    "Standard_E8ds_v4",
    os_disk("Premium_LRS", 32, "ReadWrite"),
    [
        data_disk(0, "Premium_LRS", 1024, "ReadOnly"),
        data_disk(3, "UltraSSD_LRS", 128, iops="10000", rate="50000000"),
        data_disk(4, "PremiumV2_LRS", 100),
    ],
    resource="307200",
)
DISKS = typer.Typer()
DISKS.add_typer(setup, name="setup")


class Tree:
    """A folder with the parts of ``/dev`` and ``/sys`` that tell of disks."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("dev/disk", "sys/class/block", "sys/dev/block", "sys/class/dmi/id"):
            (root / folder).mkdir(parents=True)

    def disk(self, name: str, gib: int = 1, *, above: str = "", model: str = "") -> str:
        """A block device; a partition where it lies on another."""
        entry = self.root / "sys/devices" / above / name
        entry.mkdir(parents=True)
        (entry / "size").write_text(f"{gib * 2**21}\n")
        if above:
            (entry / "partition").write_text("1\n")
        if model:
            (entry / "device").mkdir()
            (entry / "device/model").write_text(f"{model}   \n")
        (self.root / "sys/class/block" / name).symlink_to(entry)
        (self.root / "dev" / name).touch()
        return name

    def over(self, name: str, *members: str, level: str = "", chunk: int = 65536) -> str:
        """A device made from others: a RAID of a level, else a mapped device."""
        self.disk(name)
        entry = self.root / "sys/devices" / name
        (entry / "slaves").mkdir()
        for member in members:
            (entry / "slaves" / member).symlink_to(self.root / "sys/class/block" / member)
        if level:
            (entry / "md").mkdir()
            (entry / "md/level").write_text(f"{level}\n")
            (entry / "md/chunk_size").write_text(f"{chunk}\n")
        return name

    def link(self, link: str, name: str) -> None:
        path = self.root / "dev/disk/azure" / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(self.root / "dev" / name)

    def bears(self, tag: str) -> None:
        (self.root / "sys/class/dmi/id/chassis_asset_tag").write_text(f"{tag}\n")

    def holds(self, target: Path, name: str) -> None:
        """Say that the file system of a target is on a device."""
        number = target.stat().st_dev
        at = self.root / f"sys/dev/block/{os.major(number)}:{os.minor(number)}"
        at.unlink(missing_ok=True)
        at.symlink_to(self.root / "sys/class/block" / name)


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(devices.IMDS_VARIABLE, raising=False)
    monkeypatch.setattr(devices, "PAUSES_S", (0.05, 0.05))


@pytest.fixture
def service() -> Iterator[Service]:
    with imds.serving(E8DS) as running:
        yield running


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """The devices of E8DS, with the links of WALinuxAgent."""
    made = Tree(tmp_path / "root")
    for name, gib, link in (
        ("sda", 32, "root"),
        ("sdb", 300, "resource"),
        ("sdc", 1024, "scsi1/lun0"),
        ("sdd", 128, "scsi1/lun3"),
        ("sde", 100, "scsi1/lun4"),
    ):
        made.link(link, made.disk(name, gib))
    made.disk("sda1", above="sda")
    made.link("root-part1", "sda1")
    return made


def answer(told: Any, root: Path) -> Detected:
    with imds.serving(told) as running:
        found = detect(root, running.address)
    assert found is not None
    return found


def striped(root: Path, lower: Callable[[Tree, list[str]], str]) -> Detected:
    """A VM with four equal data disks, and a device over them that holds the folder."""
    made = Tree(root)
    names = [made.disk(f"sd{letter}", 1024) for letter in "cdef"]
    for lun, name in enumerate(names):
        made.link(f"scsi1/lun{lun}", name)
    disks = [data_disk(lun, "Premium_LRS", 1024, "ReadOnly") for lun in range(4)]
    found = answer(compute("Standard_E8ds_v4", os_disk("Premium_LRS", 32, "ReadWrite"), disks), root)
    made.holds(root, lower(made, names))
    return found


def test_the_vm_and_each_disk_with_its_device(service: Service, tree: Tree) -> None:
    found = detect(tree.root, service.address)
    assert found is not None
    known = found.setup
    assert (known.environment, known.region, known.zone) == ("azure", "northeurope", "1")
    assert (known.vm_size, known.label) == ("Standard_E8ds_v4", None)
    assert known.ram_bytes == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert [row.to_row() for row in known.disks] == [
        {
            "disk": "os",
            "role": "os",
            "sku": "Premium_LRS",
            "tier": "P4",
            "size_bytes": 32 * GIB,
            "host_caching": "ReadWrite",
        },
        {
            "disk": "data-0",
            "role": "data",
            "sku": "Premium_LRS",
            "tier": "P30",
            "size_bytes": 1024 * GIB,
            "host_caching": "ReadOnly",
            "lun": 0,
        },
        {
            "disk": "data-3",
            "role": "data",
            "sku": "UltraSSD_LRS",
            "size_bytes": 128 * GIB,
            "host_caching": "None",
            "provisioned_iops": 10000,
            "provisioned_bytes_per_s": 50_000_000,
            "lun": 3,
        },
        {
            "disk": "data-4",
            "role": "data",
            "sku": "PremiumV2_LRS",
            "size_bytes": 100 * GIB,
            "host_caching": "None",
            "lun": 4,
        },
        {"disk": "temp", "role": "temp", "size_bytes": 300 * GIB},
    ]
    assert {disk: [path.name for path in paths] for disk, paths in found.devices.items()} == {
        "os": ["sda"],
        "data-0": ["sdc"],
        "data-3": ["sdd"],
        "data-4": ["sde"],
        "temp": ["sdb"],
    }
    assert len(schema.frame("disks", [row.to_row() for row in known.disks])) == 5


def test_one_question_with_the_header_and_a_version_that_tells_throttles(
    service: Service, tree: Tree
) -> None:
    detect(tree.root, service.address)
    assert service.paths == ["/metadata/instance/compute?api-version=2021-12-13"]


def test_links_of_azure_vm_utils_count_and_what_has_no_link_has_no_device(tmp_path: Path) -> None:
    made = Tree(tmp_path / "root")
    made.link("os", made.disk("nvme0n1", 32))
    made.link("data/by-lun/0", made.disk("nvme0n2", 1024))
    made.link("data/by-lun/3", "nvme0n9")  # dangling
    found = answer(E8DS, made.root)
    assert found.devices["os"] == (made.root / "dev/nvme0n1",)
    assert found.devices["data-0"] == (made.root / "dev/nvme0n2",)
    assert found.devices["data-3"] == ()
    assert "temp" not in found.devices  # there are links, and none is of a temp disk


def test_an_ephemeral_os_disk_has_no_managed_tier(tmp_path: Path) -> None:
    told = compute("Standard_E8ds_v4", os_disk("Standard_LRS", 30, "ReadOnly", ephemeral=True), [], zone="")
    found = answer(told, Tree(tmp_path / "root").root)
    assert [row.to_row() for row in found.setup.disks] == [
        {"disk": "os", "role": "ephemeral_os", "size_bytes": 30 * GIB, "host_caching": "ReadOnly"}
    ]
    assert found.setup.zone is None


def test_a_temp_disk_without_links_is_told_by_the_service_but_not_its_size(tmp_path: Path) -> None:
    found = answer(E8DS, Tree(tmp_path / "root").root)
    assert found.setup.disks[-1].to_row() == {"disk": "temp", "role": "temp"}
    assert found.devices["temp"] == ()


@pytest.mark.parametrize("linked", [True, False])
def test_local_nvme_disks_by_index_else_by_model(tmp_path: Path, linked: bool) -> None:
    made = Tree(tmp_path / "root")
    made.disk("nvme0n1", 32, model="MSFT NVMe Accelerator v1.0")
    for number, index in ((1, 2), (2, 1), (3, 10)):
        made.disk(f"nvme{number}n1", 440, model="Microsoft NVMe Direct Disk v2")
        made.disk(f"nvme{number}n1p1", above=f"nvme{number}n1")
        if linked:
            made.link(f"local/by-index/{index}", f"nvme{number}n1")
            made.link(f"local/by-index/{index}-part1", f"nvme{number}n1p1")
    found = answer(compute("Standard_D16ads_v6", os_disk("Premium_LRS", 32, "ReadWrite"), []), made.root)
    assert found.setup.disks[-1] == DiskRow(disk="nvme", role="nvme", size_bytes=440 * GIB, count=3)
    order = ["nvme2n1", "nvme1n1", "nvme3n1"] if linked else ["nvme1n1", "nvme2n1", "nvme3n1"]
    assert [device.name for device in found.devices["nvme"]] == order


def test_a_sku_that_the_catalogue_does_not_know_has_no_tier(tmp_path: Path) -> None:
    told = compute("Standard_D2s_v9", os_disk("PremiumV9_LRS", 32, "None"), [data_disk(0, "", 8)])
    first, second = answer(told, Tree(tmp_path / "root").root).setup.disks
    assert (first.sku, first.tier) == ("PremiumV9_LRS", None)
    assert second.sku is None
    assert second.size_bytes == 8 * GIB


@pytest.mark.parametrize("tag", [None, "None", "7783-7084"])
def test_off_azure_nothing_is_asked(
    service: Service, tree: Tree, tag: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "ADDRESS", service.address)
    if tag:
        tree.bears(tag)
    assert detect(tree.root) is None
    assert service.paths == []


def test_azures_asset_tag_is_enough(service: Service, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "ADDRESS", service.address)
    tree.bears(library.ASSET_TAG)
    found = detect(tree.root)
    assert found is not None
    assert found.setup.vm_size == "Standard_E8ds_v4"


def test_the_variable_names_the_service(
    service: Service, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(devices.IMDS_VARIABLE, service.address)
    assert detect(tree.root) is not None


def test_nobody_answers(tree: Tree) -> None:
    with imds.serving(E8DS) as gone:
        address = gone.address
    assert detect(tree.root, address) is None


def test_an_answer_that_takes_too_long_is_none(service: Service, tree: Tree) -> None:
    service.delay_s = 2.5
    assert detect(tree.root, service.address) is None


def test_proxies_are_bypassed(service: Service, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    with imds.serving(E8DS) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.address)
        monkeypatch.setenv("no_proxy", "")
        assert detect(tree.root, service.address) is not None
        assert proxy.paths == []


def test_a_redirect_is_not_followed(service: Service, tree: Tree) -> None:
    service.passing = [302]
    with pytest.raises(InputError, match="answered 302"):
        detect(tree.root, service.address)
    assert len(service.paths) == 1


@pytest.mark.parametrize("statuses", [[429], [410, 500]])
def test_a_service_that_is_busy_is_asked_again(service: Service, tree: Tree, statuses: list[int]) -> None:
    service.passing = list(statuses)
    assert detect(tree.root, service.address) is not None
    assert len(service.paths) == len(statuses) + 1


def test_a_service_that_stays_busy_is_an_error(service: Service, tree: Tree) -> None:
    service.asked = [time.monotonic()] * imds.PER_SECOND
    with pytest.raises(InputError, match=r"127\.0\.0\.1:\d+: the metadata service answered 429, not 200"):
        detect(tree.root, service.address)
    assert len(service.paths) == 3


def test_a_version_that_is_refused_is_an_error(
    service: Service, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "QUESTION", "/metadata/instance/compute?api-version=2099-01-01")
    with pytest.raises(InputError, match="answered 400"):
        detect(tree.root, service.address)


@pytest.mark.parametrize("raw", [b"<html>", b"[]", b"{}", b'{"vmSize": ""}', b"\xff"])
def test_what_answers_is_no_metadata_service(service: Service, tree: Tree, raw: bytes) -> None:
    service.raw = raw
    with pytest.raises(InputError, match="without a vmSize"):
        detect(tree.root, service.address)


@pytest.mark.parametrize("address", ["169.254.169.254", "https://a", "http://", "http://a:b", "file:///etc"])
def test_an_address_that_is_none(tree: Tree, address: str) -> None:
    with pytest.raises(InputError, match=r"AZBENCH_IMDS '.*': must be an address such as http://169"):
        detect(tree.root, address)


# What a target lies on


def names(rows: list[DiskRow]) -> list[str]:
    return [row.disk for row in rows]


@pytest.mark.parametrize(
    ("device", "disk"), [("sda1", "os"), ("sdb", "temp"), ("sdc", "data-0"), ("sdd", "data-3")]
)
def test_a_directory_lies_on_a_disk(service: Service, tree: Tree, device: str, disk: str) -> None:
    found = detect(tree.root, service.address)
    assert found is not None
    tree.holds(tree.root, device)
    assert names(driven(found, tree.root, tree.root)) == [disk]


def test_a_directory_on_nothing_that_is_known(service: Service, tree: Tree) -> None:
    found = detect(tree.root, service.address)
    assert found is not None
    assert driven(found, tree.root, tree.root) == []
    tree.holds(tree.root, tree.disk("sdz"))
    assert driven(found, tree.root, tree.root) == []
    tree.holds(tree.root, tree.over("md5", "sdc", "sdz", level="raid0"))  # one of two is known
    assert driven(found, tree.root, tree.root) == []


def test_equal_disks_in_a_stripe_are_one_row_that_the_model_takes(tmp_path: Path) -> None:
    root = tmp_path / "root"
    found = striped(root, lambda made, names: made.over("md0", *names, level="raid0"))
    [row] = driven(found, root, root)
    assert (row.disk, row.count, row.stripe) == ("stripe", 4, "RAID 0, chunks of 64\u00a0KiB")
    assert (row.tier, row.host_caching, row.lun) == ("P30", "ReadOnly", None)
    setups = found.setup.model_copy(update={"disks": [row]})
    table = schema.frame("disks", [{"setup_id": setups.setup_id, **row.to_row()}])
    [disk] = descriptions.from_rows(setups.model_dump(), table).disks
    assert (disk.count, disk.striped, disk.caching) == (4, True, "ReadOnly")


def test_through_encryption_and_partitions_of_a_stripe(tmp_path: Path) -> None:
    root = tmp_path / "root"

    def lower(made: Tree, names: list[str]) -> str:
        parts = [made.disk(f"{name}1", above=name) for name in names]
        return made.over("dm-0", made.over("md0", *parts, level="raid0", chunk=2**20))

    found = striped(root, lower)
    [row] = driven(found, root, root)
    assert (row.count, row.stripe) == (4, "RAID 0, chunks of 1\u00a0MiB")


@pytest.mark.parametrize("level", ["", "raid1", "raid10", "linear"])
def test_another_union_keeps_its_disks_apart(tmp_path: Path, level: str) -> None:
    root = tmp_path / "root"
    found = striped(root, lambda made, names: made.over("md0", *names, level=level))
    rows = driven(found, root, root)
    assert names(rows) == ["data-0", "data-1", "data-2", "data-3"]
    assert not any(row.stripe for row in rows)


def test_a_stripe_of_mirrors_is_not_a_stripe_of_four(tmp_path: Path) -> None:
    root = tmp_path / "root"

    def lower(made: Tree, names: list[str]) -> str:
        mirrors = [made.over(f"md{i}", *names[2 * i : 2 * i + 2], level="raid1") for i in range(2)]
        return made.over("md9", *mirrors, level="raid0")

    found = striped(root, lower)
    rows = driven(found, root, root)
    assert len(rows) == 4
    assert not any(row.stripe for row in rows)


def test_unlike_disks_in_a_stripe_have_a_row_each(service: Service, tree: Tree) -> None:
    found = detect(tree.root, service.address)
    assert found is not None
    tree.holds(tree.root, tree.over("md0", "sdc", "sdd", level="raid0"))
    rows = driven(found, tree.root, tree.root)
    assert names(rows) == ["data-0", "data-3"]
    assert {row.stripe for row in rows} == {"RAID 0, chunks of 64\u00a0KiB"}


@pytest.mark.parametrize("used", [1, 2, 3])
def test_so_many_of_the_local_nvme_disks_as_are_driven(tmp_path: Path, used: int) -> None:
    made = Tree(tmp_path / "root")
    local = [made.disk(f"nvme{i}n1", 440, model="Microsoft NVMe Direct Disk v2") for i in range(1, 4)]
    found = answer(compute("Standard_D16ads_v6", os_disk("Premium_LRS", 32, "ReadWrite"), []), made.root)
    made.holds(made.root, made.over("md0", *local[:used], level="raid0"))
    [row] = driven(found, made.root, made.root)
    assert (row.disk, row.count, bool(row.stripe)) == ("nvme", used, used > 1)


def test_btrfs_tells_its_devices_itself(
    service: Service, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = detect(tree.root, service.address)
    assert found is not None
    mounts = tree.root / "mountinfo"
    mounts.write_text(f"1 0 0:55 / {tree.root} rw - btrfs {tree.root}/dev/sdc rw\n")
    monkeypatch.setattr(host, "MOUNTINFO", mounts)
    (tree.root / "sys/fs/btrfs/features").mkdir(parents=True)
    members = tree.root / "sys/fs/btrfs/1c9c/devices"
    members.mkdir(parents=True)
    for name in ("sdc", "sde"):
        (members / name).symlink_to(tree.root / "sys/class/block" / name)
    assert names(driven(found, tree.root, tree.root)) == ["data-0", "data-4"]


def test_describe_says_the_vm_with_the_disk_that_is_driven(service: Service, tree: Tree) -> None:
    tree.holds(tree.root, "sdc")
    known = describe(tree.root, tree.root, service.address)
    assert (known.setup_id, known.environment, known.vm_size) == ("this-machine", "azure", "Standard_E8ds_v4")
    assert names(known.disks) == ["data-0"]


def test_describe_keeps_what_it_sees_where_the_disk_is_not_known(service: Service, tree: Tree) -> None:
    known = describe(tree.root, tree.root, service.address)
    assert known.vm_size == "Standard_E8ds_v4"
    assert known.disks == host.describe(tree.root).disks


def test_describe_elsewhere_is_as_before(tree: Tree) -> None:
    assert describe(tree.root, tree.root) == host.describe(tree.root)


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[list[str]]:
    """Two real loop devices."""
    made: list[str] = []
    try:
        for i in range(2):
            image = tmp_path / f"image-{i}"
            image.touch()
            os.truncate(image, 16 * 2**20)
            done = subprocess.run(
                ["losetup", "--show", "-f", image], capture_output=True, text=True, check=False
            )
            if done.returncode:
                pytest.skip(f"no loop device can be made here: {done.stderr.strip()}")
            made.append(done.stdout.strip())
        yield made
    finally:
        for device in made:
            subprocess.run(["losetup", "-d", device], check=True)


def on_loops(loops: list[str]) -> Detected:
    """A VM whose data disks are loop devices."""
    kind = DiskRow(
        disk="", role="data", sku="Premium_LRS", tier="P10", size_bytes=128 * GIB, host_caching="None"
    )
    rows = [replace(kind, disk=f"data-{lun}", lun=lun) for lun in range(len(loops))]
    setup = ManifestSetup(setup_id="vm", environment="azure", vm_size="Standard_D2s_v3", disks=rows)
    return Detected(setup, {row.disk: (Path(device),) for row, device in zip(rows, loops, strict=True)})


def test_a_real_device_and_a_real_file_system_on_it(loops: list[str], tmp_path: Path) -> None:
    found = on_loops(loops)
    assert names(driven(found, Path(loops[1]))) == ["data-1"]
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("no mkfs.ext4 (e2fsprogs) to put a file system on a loop device")
    point = tmp_path / "point"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", loops[0]], check=True)
    subprocess.run(["mount", loops[0], point], check=True)
    try:
        assert names(driven(found, point)) == ["data-0"]
    finally:
        subprocess.run(["umount", point], check=True)


# The verb


def say(address: str, root: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> str:
    monkeypatch.setattr(library.detect, "__defaults__", (root, address))
    done = CliRunner().invoke(
        DISKS, ["setup", "detect", *more], env={"COLUMNS": "150"}, catch_exceptions=False
    )
    assert done.exit_code == 0
    return done.stdout


def test_the_table(service: Service, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = say(service.address, tree.root, monkeypatch).splitlines()
    assert lines[0].startswith("Standard_E8ds_v4 in northeurope, zone 1; ")
    assert lines[1].split() == ["Disk", "SKU", "Tier", "Size", "Caching", "IOPS", "MB/s", "Device"]
    shown = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    assert shown["data-0"][:5] == ["Premium_LRS", "P30", "1", "TiB", "ReadOnly"]
    assert shown["data-3"][:6] == ["UltraSSD_LRS", "128", "GiB", "None", "10,000", "50"]
    assert shown["temp"][-1].endswith("/dev/sdb")


def test_the_json(service: Service, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.loads(say(service.address, tree.root, monkeypatch, "--format", "json"))
    assert (told["vm_size"], told["label"]) == ("Standard_E8ds_v4", None)
    first = told["disks"][0]
    assert set(first) == {*schema.TABLES["disks"].columns, "devices"} - {"setup_id"}
    assert (first["tier"], first["provisioned_iops"]) == ("P4", None)
    assert first["devices"] == [str(tree.root / "dev/sda")]


def test_the_yaml_is_a_measurement_file(
    service: Service, tree: Tree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "vm.yaml"
    file.write_text(say(service.address, tree.root, monkeypatch, "--format", "yaml"))
    read = measurement_file.load(file)
    [only] = read.setups
    assert (read.region, only.vm, only.zone) == ("northeurope", "Standard_E8ds_v4", "1")
    assert list(only.disks) == ["os", "data-0", "data-3", "data-4", "temp"]
    data, ultra = only.disks["data-0"], only.disks["data-3"]
    assert (data.sku, data.size, data.caching) == ("Premium_LRS", 1024 * GIB, "ReadOnly")
    assert (ultra.iops, ultra.mbps, ultra.caching) == (10000, 50, None)
    assert only.disks["os"].caching == "ReadWrite"


def test_the_file_of_a_vm_with_nothing_but_local_disks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Tree(tmp_path / "root")
    for i in (1, 2):
        made.disk(f"nvme{i}n1", 440, model="Microsoft NVMe Direct Disk v2")
    told = compute("Standard_D16ads_v6", os_disk("Standard_LRS", 30, "ReadOnly", ephemeral=True), [], zone="")
    file = tmp_path / "vm.yaml"
    with imds.serving(told) as running:
        file.write_text(say(running.address, made.root, monkeypatch, "--format", "yaml"))
    [only] = measurement_file.load(file).setups
    assert (only.disks["os"].role, only.disks["nvme"].count, only.zone) == ("ephemeral_os", 2, None)


@pytest.mark.parametrize("form", ["text", "table", "json", "csv", "md", "yaml"])
def test_nothing_private_is_told(
    service: Service, tree: Tree, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    assert json.dumps(E8DS).count(PRIVATE) > 20
    assert PRIVATE not in say(service.address, tree.root, monkeypatch, "--format", form)
    tree.holds(tree.root, "sdc")
    assert PRIVATE not in describe(tree.root, tree.root, service.address).model_dump_json()


def test_elsewhere_the_verb_says_so_and_ends_with_2() -> None:
    with imds.serving(E8DS) as gone:
        address = gone.address
    script = "from azbenchlib.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "setup", "detect"],
        env={**os.environ, devices.IMDS_VARIABLE: address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("azbench: no Azure metadata service answered")
    assert done.stderr.count("\n") == 1


# The service of the tests itself, against what is documented


def test_the_service_refuses_what_the_documentation_says(service: Service) -> None:
    def ask(path: str, method: str = "GET", **headers: str) -> tuple[int, Any]:
        service.asked.clear()
        connection = http.client.HTTPConnection(*service.server_address[:2], timeout=5)
        connection.request(
            method, path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
        answered = connection.getresponse()
        body = answered.read()
        connection.close()
        return answered.status, json.loads(body) if body.startswith((b"{", b"[")) else body

    compute_path = "/metadata/instance/compute"
    version = "api-version=2021-12-13"
    assert ask(f"{compute_path}?{version}")[0] == 400
    assert ask(f"{compute_path}?{version}", Metadata="true", X_Forwarded_For="10.0.0.1")[0] == 400
    status, refused = ask(compute_path, Metadata="true")
    assert (status, refused["newest-versions"]) == (400, ["2025-04-07", "2024-07-17", "2024-03-15"])
    assert ask(f"{compute_path}?{version}&{version}", Metadata="true")[0] == 400
    assert ask(f"/metadata/instance/nothing?{version}", Metadata="true")[0] == 404
    assert ask(f"{compute_path}?{version}", "POST", Metadata="true")[0] == 405
    assert ask(f"{compute_path}/vmSize?{version}", Metadata="true")[0] == 400
    assert ask(f"{compute_path}/vmSize?{version}&format=text", Metadata="true") == (200, b"Standard_E8ds_v4")
    old = ask(f"{compute_path}/storageProfile?api-version=2019-06-01", Metadata="true")[1]
    assert "resourceDisk" not in old
    assert "opsPerSecondThrottle" not in old["dataDisks"][1]
