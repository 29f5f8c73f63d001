"""What is bought of a disk, found on the VM, and striped: from the measurement file to the VM."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_azure.campaigns import SMALL, TINY, measured, on_this_machine
from fake_azure.login import Azure, refused
from fake_azure.skus import GIB
from fake_azure.vm import CLOUD_INIT_DONE, Hardware, Vm, available, make_image, make_os_disk
from waiting import wait_for

from azbenchlib.campaign.files import measurement_file, spec
from azbenchlib.campaign.targets.azure import guest, steps
from azbenchlib.campaign.targets.azure.manifest import CloudPlan, make_manifest
from azbenchlib.campaign.targets.azure.preflight import check_version
from azbenchlib.campaign.targets.azure.steps import Prepare
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)

DISK = "{sku: Premium_LRS, size: 32GiB}"
LARGE = "{sku: Premium_LRS, size: 1024GiB, bursting: true, performance_plus: true, write_accelerator: true}"
ULTRA = "{sku: UltraSSD_LRS, size: 64GiB, iops: 5000, mbps: 100, sector: 512}"


def loaded(folder: Path, disk: str, bs: str = "4k"):
    """A file with one disk, and one workload of blocks of this size."""
    path = folder / "file.yaml"
    text = TINY.replace(DISK, disk).replace("bs: 4k", f"bs: {bs}").replace("disks:", "zone: 1\ndisks:")
    path.write_text(text)
    return measurement_file.load(path)


def called(experiment, *verb: str) -> list[str]:
    """The one command of az that begins so."""
    found = [step.argv for step in steps.steps(experiment, "g", {}, "0700") if isinstance(step, steps.Call)]
    (argv,) = [argv for argv in found if argv[: len(verb)] == list(verb)]
    return argv


@pytest.mark.parametrize(
    ("disk", "bs", "said"),
    [
        ("{sku: Premium_LRS, size: 512GiB, bursting: true}", "4k", "a Premium SSD larger than 512 GiB only"),
        (
            "{sku: StandardSSD_LRS, size: 1TiB, bursting: true}",
            "4k",
            "a Premium SSD larger than 512 GiB only",
        ),
        (
            "{sku: UltraSSD_LRS, size: 1TiB, performance_plus: true}",
            "4k",
            "performance_plus is for data disks",
        ),
        (
            "{sku: Premium_LRS, size: 512GiB, performance_plus: true}",
            "4k",
            "performance_plus is for data disks",
        ),
        (
            "{sku: Premium_LRS, size: 32GiB, sector: 512}",
            "4k",
            "sector can be chosen for PremiumV2_LRS and U",
        ),
        ("{sku: UltraSSD_LRS, size: 32GiB, sector: 1024}", "4k", "sector"),
        (
            "{sku: StandardSSD_LRS, size: 32GiB, write_accelerator: true}",
            "4k",
            "write_accelerator is for data",
        ),
        (
            "{sku: Premium_LRS, size: 32GiB, write_accelerator: true, caching: ReadWrite}",
            "4k",
            "write_accelerator goes with the host caching None or ReadOnly only",
        ),
        ("{sku: UltraSSD_LRS, size: 32GiB}", "512", "blocks of 512 B .* whose sectors have 4096 B"),
        ("{sku: PremiumV2_LRS, size: 32GiB}", "6k", "blocks of 6144 B .* or say sector: 512"),
    ],
)
def test_what_no_disk_can_be_bought_with_is_refused(tmp_path: Path, disk: str, bs: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        loaded(tmp_path, disk, bs)


def test_what_is_bought_reaches_az_and_the_dataset(az_path: Path, tmp_path: Path) -> None:
    large, ultra = loaded(tmp_path, LARGE), loaded(tmp_path, ULTRA, "512")
    made, attached = called(large, "disk", "create"), called(large, "vm", "disk", "attach")
    sectors = called(ultra, "disk", "create")
    assert made[-4:] == ["--enable-bursting", "true", "--performance-plus", "true"]
    assert attached[-1] == "--enable-write-accelerator"
    assert sectors[-2:] == ["--logical-sector-size", "512"]
    assert refused(az_path, [made, attached, sectors]) == ["", "", ""]
    (row,) = spec.planned(large)["disks"].to_dict("records")
    # A P30 with Performance Plus: Microsoft Learn, "Increase IOPS and throughput limits", 2024.
    assert (row["provisioned_iops"], row["provisioned_bytes_per_s"], row["bursting"]) == (8000, 300e6, True)
    for experiment, note in (
        (large, "Disk data has Performance Plus, the Write Accelerator."),
        (ultra, "Disk data has sectors of 512 B."),
    ):
        todo = CloudPlan(experiment=experiment, started="2026-11-23T09:00:00+00:00")
        assert note in make_manifest("x", todo, []).notes


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("2.59.3", "is too old; 2.60 or later is needed: `az upgrade`"),
        ("2.60.0", ""),
        ("2.77.0", ""),
        (
            "2.78.0",
            "gives VMs no scripts to run, a fault of that version; another one is needed: `az upgrade`",
        ),
        ("2.79.0", ""),
        ("2.91.0", ""),
        ("3.0", ""),
    ],
)
def test_an_az_that_is_too_old_or_loses_scripts_is_refused(told: str, why: str) -> None:
    if why:
        with pytest.raises(InputError, match=re.escape(f"az {told} {why}")):
            check_version(told)
    else:
        check_version(told)


def test_nvme_disks_are_found_by_their_namespaces_where_an_image_has_no_links(tmp_path: Path) -> None:
    """As on Debian: the OS disk is namespace 1, LUN 0 is 2; another controller's disks are none of them."""
    for name, model in (
        ("nvme0n1", "MSFT NVMe Accelerator v1.0"),
        ("nvme0n2", "MSFT NVMe Accelerator v1.0"),
        ("nvme1n5", "Microsoft NVMe Direct Disk v2"),
        ("nvme0n5", "MSFT NVMe Accelerator v1.0"),
    ):
        folder = tmp_path / "sys/class/block" / name / "device"
        folder.mkdir(parents=True)
        folder.joinpath("model").write_text(f"{model}  \n")
    assert on_this_machine(tmp_path, "by_lun 0; by_lun 3").stdout.split() == ["/dev/nvme0n2", "/dev/nvme0n5"]


def test_a_stripe_that_the_system_began_under_another_name_is_ended_first(tmp_path: Path) -> None:
    (tmp_path / "sys/class/block/sdc/holders/md127").mkdir(parents=True)
    mdadm = tmp_path / "mdadm"
    mdadm.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/given\n')
    mdadm.chmod(0o755)
    done = on_this_machine(tmp_path, "assemble /dev/md/azbench-data /dev/sdc /dev/sdd")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "given").read_text().splitlines() == [
        "--stop /dev/md127",
        "--assemble /dev/md/azbench-data /dev/sdc /dev/sdd",
    ]


def prepared(vm: Vm, script: str, name: str) -> tuple[str, str]:
    """Run a script on an emulated VM: the state it ended in, and what it said."""
    vm.run(name, script, 60)
    wait_for(lambda: vm.status(name)["state"] != "Running")
    status = vm.status(name)
    return status["state"], status["output"] + status["error"]


@pytest.mark.slow
def test_a_stripe_keeps_its_data_on_another_vm(tmp_path: Path) -> None:
    """A stripe remembers the host that made it, and another one would not take it for its own."""
    if available():
        pytest.skip(f"no VM can be emulated here: {available()}")
    experiment = loaded(tmp_path, DISK.replace("32GiB", "32GiB, count: 2"))
    (step,) = [one for one in steps.steps(experiment, "g", {}, "0700") if isinstance(one, Prepare)]
    images = tmp_path / "images"
    images.mkdir()
    for name in ("data-1", "data-2"):
        make_image(images / name, GIB)
    said = {}
    for host in ("vm-1", "vm-2"):
        make_os_disk(images / f"{host}-os", GIB)
        vm = Vm(host, images, f"{host}-os", Hardware(), CLOUD_INIT_DONE)
        for lun, name in enumerate(("data-1", "data-2")):
            vm.attach(lun, name, 512)
        state, text = prepared(vm, guest.prepare(step, "token"), "prepare")
        assert state == "Succeeded", text
        where = step.setup.mount(step.disk)
        said[host] = prepared(vm, f"cat {where}/kept; echo kept >{where}/kept; umount {where}", "use")[1]
        vm.stop()
    assert "No such file" in said["vm-1"]
    assert said["vm-2"] == "kept\n"


# What lies on an image, and where; a negative place counts from the end.
ON_DISK = {
    "zeros first, then data": (2 << 20, b"data" * (10 << 20)),
    "one byte": ((40 << 20) + 1, b"x"),
    "the last byte": (-1, b"x"),
    "a RAID superblock at the end": (-8192, b"\xfc\x4e\x2b\xa9\1\0\0\0"),
    "a second GPT": (-512, b"EFI PART"),
    "a LUKS header": (0, b"LUKS\xba\xbe\0\2"),
}


@pytest.fixture
def vm(tmp_path: Path) -> Iterator[Vm]:
    """An emulated VM; its images are in the folder `images`."""
    if available():
        pytest.skip(f"no VM can be emulated here: {available()}")
    images = tmp_path / "images"
    images.mkdir()
    make_os_disk(images / "os", GIB)
    there = Vm("vm", images, "os", Hardware(), CLOUD_INIT_DONE)
    yield there
    there.stop()


def called_there(vm: Vm, call: str) -> tuple[str, str]:
    return prepared(vm, guest._script(call), "call")


@pytest.mark.slow
def test_what_lies_anywhere_on_a_disk_is_neither_formatted_nor_driven(vm: Vm, tmp_path: Path) -> None:
    for lun, (place, data) in enumerate(ON_DISK.values()):
        image = tmp_path / "images" / f"disk-{lun}"
        make_image(image, 64 << 20)
        with image.open("r+b") as file:
            file.seek(place, 0 if place >= 0 else 2)
            file.write(data)
        before = hashlib.sha256(image.read_bytes()).digest()
        vm.attach(lun, image.name, 512)
        device = f'"$(by_lun {lun})"'
        for call, said in (
            (f"prepare_data data /azbench/{lun} ext4 64 token {device}", "so it is neither formatted nor"),
            (f"prepare_data data /azbench/{lun} raw 64 token {device}", "so it is neither formatted nor"),
            (f"use_disk /azbench/{lun} raw 64 '' token {device}", "the words 'overwrite /dev/"),
            (f"hand_over {device} none", "so no results are written onto it"),
        ):
            state, text = called_there(vm, call)
            assert state == "Failed" and "holds " in text and said in text, text
        vm.detach(lun, image.name)
        assert hashlib.sha256(image.read_bytes()).digest() == before


@pytest.mark.slow
@pytest.mark.parametrize("form", ["ext4", "raw", "there already"])
def test_a_run_knows_its_own_disk_again_and_no_other_run_takes_it(form: str, vm: Vm, tmp_path: Path) -> None:
    make_image(tmp_path / "images" / "disk", 64 << 20)
    vm.attach(0, "disk", 512)
    call = f'prepare_data data /azbench/data {form} 64 token "$(by_lun 0)"'
    write, read = "echo kept >/azbench/data; true", "head -n 1 /azbench/data"
    if form == "ext4":
        write, read = "echo kept >/azbench/data/kept; umount", "cat /azbench/data/kept"
    if form == "there already":
        call = """use_disk /azbench/data raw 64 '' token "$(by_lun 0)" """
    assert called_there(vm, f"{call}; {write} /azbench/data")[0] == "Succeeded"
    state, text = called_there(vm, call.replace("token", "another"))
    assert state == "Failed" and "holds " in text
    assert called_there(vm, f"{call}; {read}") == ("Succeeded", "kept\n")


RESTARTED = """! mountpoint -q /azbench/data || umount /azbench/data
echo another >/boot_id
mount --bind /boot_id /proc/sys/kernel/random/boot_id
"""


@pytest.mark.slow
@pytest.mark.parametrize("form", ["ext4", "raw", "there already"])
def test_after_a_restart_a_workload_runs_on_its_disk_or_not_at_all(form: str, vm: Vm, tmp_path: Path) -> None:
    """Nothing is mounted then, and the disk has another device: what is at its place may be another disk."""
    for name in ("disk", "another"):
        make_image(tmp_path / "images" / name, 64 << 20)
    vm.attach(0, "disk", 512)
    call = f'prepare_data data /azbench/data {form} 64 token "$(by_lun 0)"'
    if form == "there already":
        call = """use_disk /azbench/data raw 64 '' token "$(by_lun 0)" """
    there = "cat /azbench/data/own" if form == "ext4" else "readlink -f /azbench/data"
    write = "echo own >/azbench/data/own" if form == "ext4" else "true"
    before = called_there(vm, f"{call}; kept data; {write}; {there}")
    assert called_there(vm, f"begin a 60; {there}") == before
    assert prepared(vm, RESTARTED, "restart")[0] == "Succeeded"
    vm.detach(0, "disk")
    vm.attach(1, "another", 512)
    vm.attach(0, "disk", 512)
    state, text = called_there(vm, f"begin a 60; {there}")
    if form == "there already":
        assert state == "Failed" and "the VM was restarted, and its disk data could not be made ready" in text
    elif form == "raw":
        assert (state, text) == called_there(vm, "by_lun 0") != before
    else:
        assert (state, text) == before


OTHERS = """mkdir -p '/mnt/my disk'
mkfs.ext4 -q "$(by_lun 0)"
mount "$(by_lun 0)" '/mnt/my disk'
use_disk /azbench/data ext4 64 'fill /mnt/my disk' token "$(by_lun 0)"
"""


@pytest.mark.slow
def test_a_vm_of_others_is_left_with_nothing_of_ours_and_all_of_theirs(vm: Vm, tmp_path: Path) -> None:
    """Paths that hold blanks, a mount in our folder, a process that has our worker's number."""
    make_image(tmp_path / "images" / "disk", 64 << 20)
    vm.attach(0, "disk", 512)
    assert called_there(vm, OTHERS)[0] == "Succeeded"
    bound = "mkdir -p '/mnt/my disk/azbench-data/in' /theirs; echo kept >/theirs/file; mount --bind /theirs"
    assert called_there(vm, f"{bound} '/mnt/my disk/azbench-data/in'; leave")[0] == "Failed"
    assert called_there(vm, "cat /theirs/file; umount '/mnt/my disk/azbench-data/in'") == (
        "Succeeded",
        "kept\n",
    )
    theirs = 'setsid sleep 600 >/dev/null 2>&1 & echo "$!" >"$home/worker"; echo "$!" >/theirs/process'
    assert called_there(vm, theirs)[0] == "Succeeded"
    assert called_there(vm, "leave")[0] == "Succeeded"
    kept = "kill -0 \"$(cat /theirs/process)\"; ls '/mnt/my disk'; ls -d /azbench || echo gone"
    assert called_there(vm, kept)[1].split()[:1] == ["lost+found"]
    assert "gone" in called_there(vm, kept)[1]


@pytest.mark.slow
def test_memory_that_is_swapped_to_is_no_file_system(vm: Vm, tmp_path: Path) -> None:
    make_image(tmp_path / "images" / "disk", 64 << 20)
    vm.attach(0, "disk", 512)
    swapped = 'lsblk() { echo "[SWAP]"; }'  # the machine under the emulation shall not swap to it
    state, text = called_there(vm, f"{swapped}; use_disk /azbench/data ext4 64 '' token \"$(by_lun 0)\"")
    assert state == "Failed" and "has no file system that is mounted" in text


@pytest.mark.slow
def test_a_disk_whose_formatting_was_cut_short_is_formatted(vm: Vm, tmp_path: Path) -> None:
    make_image(tmp_path / "images" / "disk", 64 << 20)
    vm.attach(0, "disk", 512)
    cut = 'mkfs.ext4() { head -c 9999 /dev/urandom | dd of="$(by_lun 0)" conv=notrunc seek=99; exit 9; }'
    call = 'prepare_data data /azbench/data ext4 64 token "$(by_lun 0)"'
    assert called_there(vm, f"{cut}\n{call}")[0] == "Failed"
    assert called_there(vm, f"{call}; mountpoint -q /azbench/data")[0] == "Succeeded"


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.long
def test_a_stripe_moves_to_another_size_and_the_dataset_tells_of_which_image(
    signed_in: Azure, small: Path
) -> None:
    text = SMALL.replace("size: 32GiB", "size: 32GiB, count: 2").replace("vm: Standard_D2s_v3\n", "")
    sizes = "setups: [{name: one, vm: Standard_D2s_v3}, {name: two, vm: Standard_D2ads_v5}]\n"
    small.write_text(text + sizes)
    found = Dataset.load(measured(small))
    assert set(found.runs["setup_id"]) == {"one", "two"}
    assert set(found.disks["count"]) == {2}

    assert not signed_in.arm.resources
    notes = [note for note in found.manifest.notes if "was made of the image" in note]
    assert notes[0] == "vm-1 was made of the image Canonical:ubuntu-24_04-lts:server:24.04.202511010."
    assert [note[:4] for note in notes] == ["vm-1", "vm-2"]
