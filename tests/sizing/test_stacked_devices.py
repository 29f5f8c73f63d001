"""A load counts once, however many devices of a report it passes through on its way to the disks."""

from collections.abc import Mapping

import numpy as np
import pytest

from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.sizing.counted_devices import Reason
from azbenchlib.sizing.device_text import sentences
from azbenchlib.sizing.telemetry import Telemetry, telemetry

KIB = 1024
N = 24  # reports
RATES = ("r/s", "w/s", "rkB/s", "wkB/s")
Load = np.ndarray  # shape (4, N): the rates above
Devices = Mapping[str, Load]


def load(seed: int, iops: float = 1000.0) -> Load:
    """Reads and writes that change from report to report, of sizes that do so too."""
    draw = np.random.default_rng(seed)
    rates = draw.uniform(0.2, 1, (2, N)) * iops
    return np.round(np.concatenate([rates, rates * draw.uniform(4, 64, (2, N))]), 2)


def merged(disk: Load, factor: float = 1.2) -> Load:
    """What lies on a disk asks for more I/Os of the same bytes: some are merged on their way."""
    return disk * np.array([[1], [factor], [1], [1]])


def mirror(load: Load) -> list[Load]:
    """Two disks of which each holds all: a read comes from one of them."""
    share = np.random.default_rng(7).uniform(0.4, 0.6, N)
    return [load * np.array([part, np.ones(N), part, np.ones(N)]) for part in (share, 1 - share)]


def halves(load: Load, seed: int = 5) -> list[Load]:
    """Two disks of which each holds every other stripe: nearly the same load."""
    share = 0.5 + np.random.default_rng(seed).normal(0, 0.004, N)
    return [load * share, load * (1 - share)]


def constant(reads: float, writes: float, kib: float = 8) -> Load:
    return np.array([[reads], [writes], [reads * kib], [writes * kib]]) * np.ones(N)


def iostat(devices: Devices) -> str:
    """As ``iostat -x -t 60`` prints it; the first report is of the time since boot."""
    parts = ["Linux 6.1.0 (vm1) \t11/20/26 \t_x86_64_\t(8 CPU)\n"]
    for i in range(N + 1):
        parts.append(f"\n11/20/26 10:{i:02}:00\nDevice   {'  '.join(RATES)}  %util\n")
        parts += [
            f"{name}  {'  '.join(f'{rate:.2f}' for rate in rates[:, max(i - 1, 0)])}  20.00\n"
            for name, rates in devices.items()
        ]
    return "".join(parts)


def sar(devices: Devices) -> str:
    """As ``sar -d`` prints it every ten minutes; with -p it has names."""
    parts = ["Linux 5.14.0-362.el9.x86_64 (vm1) \t2023-09-24 \t_x86_64_\t(4 CPU)\n"]
    for i in range(1, N + 1):
        begin, end = (f"{10 + (10 * j) // 60:02}:{(10 * j) % 60:02}:01" for j in (i - 1, i))
        parts.append(f"\n{begin}  DEV  tps  rkB/s  wkB/s  areq-sz  aqu-sz  await  %util\n")
        for name, (reads, writes, read_kb, written_kb) in devices.items():
            figures = (reads[i - 1] + writes[i - 1], read_kb[i - 1], written_kb[i - 1], 8.0, 0.5, 1.0, 20.0)
            parts.append(f"{end} {name:>12} {' '.join(f'{figure:9.2f}' for figure in figures)}\n")
    return "".join(parts)


def sized(text: str, **options: object) -> Telemetry:
    return telemetry(registry.read(Source("telemetry.txt", text.encode())), **options)


A, B, C, D = (load(seed) for seed in range(4))
IDLE = constant(0, 0)
CACHED, UNCACHED = (np.array([[reads], [1], [reads], [1]]) for reads in (0.6, 0.4))
UUID = "0b9a4b3e-7d0b-4f4a-9f5f-1d2c3b4a5f60"

# Devices as a report lists them, and which of them count.
STACKS = {
    "volumes on a disk": (
        {"sda": A + B + C, "rootvg-rootlv": A, "rootvg-varlv": B, "rootvg-tmplv": C, "sdb": IDLE},
        ["sda", "sdb"],
    ),
    "merged I/Os": ({"sda": A, "dm-0": merged(A), "vg0-data": merged(A, 1.3)}, ["sda"]),
    "linear volume over two disks": ({"sda": C, "sdc": A, "sdd": B, "data-lv": A + B}, ["sda", "sdc", "sdd"]),
    "volumes across two disks": ({"sdc": A + B, "sdd": C + D, "vg-a": A + C, "vg-b": B + D}, ["sdc", "sdd"]),
    "striped volume with an alias": (
        {"sda": B, **dict(zip(("sdc", "sdd"), halves(A), strict=True)), "oradata": A},
        ["sda", "sdc", "sdd"],
    ),
    "volume on crypt on NVMe": (
        {"nvme0n1": A, "nvme0n1p1": A, f"luks-{UUID}": A, "ubuntu--vg-ubuntu--lv": merged(A)},
        ["nvme0n1"],
    ),
    "RAID 0 on crypt on disks": (
        {"sda": A, "sdb": B, "crypta": A, "cryptb": B, "md127": A + B},
        ["sda", "sdb"],
    ),
    "RAID 1": ({**dict(zip(("sda", "sdb"), mirror(A), strict=True)), "md0": A}, ["md0"]),
    "constant RAID 1": (dict.fromkeys(("sda", "sdb", "md0"), constant(0, 2000)), ["md0"]),
    "volumes on RAID 1": (
        {
            "sdc": D,
            **dict(zip(("sda", "sdb"), mirror(A + B), strict=True)),
            **{"md_d0": A + B, "vg-a": A, "vg-b": B},
        },
        ["sdc", "md_d0"],
    ),
    "RAID 10": (
        {
            **dict(zip(("sda", "sdb"), mirror(halves(A)[0]), strict=True)),
            **dict(zip(("sdc", "sdd"), mirror(halves(A)[1]), strict=True)),
            "md0": A,
        },
        ["md0"],
    ),
    "constant RAID 10": (
        {**dict.fromkeys(("sda", "sdb", "sdc", "sdd"), constant(0, 500)), "md0": constant(0, 1000)},
        ["md0"],
    ),
    "two RAID 1 on the same disks": (
        {**dict(zip(("sda", "sdb"), mirror(A + B), strict=True)), "md0": A, "md1": B},
        ["md0", "md1"],
    ),
    "two RAID 0": (
        {
            **dict.fromkeys(("sda", "sdb", "sdc", "sdd"), constant(0, 500)),
            **dict.fromkeys(("md0", "md1"), constant(0, 1000)),
        },
        ["sda", "sdb", "sdc", "sdd"],
    ),
    "multipath of PowerPath": (
        {**dict(zip(("hdisk0", "hdisk1"), halves(A), strict=True)), "hdiskpower0": A, "hdisk2": B},
        ["hdisk0", "hdisk1", "hdisk2"],
    ),
    "write-through cache": (  # what it holds is read from it, all is written to both
        {"nvme0n1": A * CACHED, "sdb": A * UNCACHED, "bcache0": A},
        ["nvme0n1", "sdb"],
    ),
    "cached volume": (
        {
            **{"sda": D, "sdb": A * UNCACHED, "nvme0n1": A * CACHED, "vg-cvol_cdata": A * CACHED},
            **{"vg-cvol_cmeta": IDLE, "vg-lv_corig": A * UNCACHED, "vg-lv": A},
        },
        ["sda", "sdb", "nvme0n1"],
    ),
    "mirrored volume and its images": (
        {
            "sda": D,
            **dict(zip(("sdb", "sdc"), mirror(A), strict=True)),
            **dict(zip(("vg-lv_rimage_0", "vg-lv_rimage_1"), mirror(A), strict=True)),
            **{"vg-lv_rmeta_0": IDLE, "vg-lv_rmeta_1": IDLE, "vg-lv": A},
        },
        ["sda", "vg-lv"],
    ),
    "mirrored volume": (
        {**dict(zip(("dev8-0", "dev8-16"), mirror(A), strict=True)), "dev253-0": A},
        ["dev253-0"],
    ),
    "multipath": (
        {
            **dict(zip(("sda", "sdb"), halves(A), strict=True)),
            **dict(zip(("sdc", "sdd"), (B, IDLE), strict=True)),
            "mpatha": A,
            "36000d31000ba7a000000000000000021": B,
        },
        ["sda", "sdb", "sdc", "sdd"],
    ),
    "other drivers by name": (
        {"sda": A, "bcache0": A, "drbd0": A, "zd16": A, "loop0": B, "zram0": C, "sr0": D},
        ["sda"],
    ),
    "other drivers by number": (
        {"dev8-0": A, "dev9-127": A, "dev147-0": A, "dev230-16": A, "dev7-0": B, "dev11-0": C, "dev1-0": C},
        ["dev8-0"],
    ),
    "partitions by number": (
        {"dev8-0": A + B, "dev8-1": A, "dev8-2": B, "dev65-16": C, "dev65-19": C, "dev202-1": D},
        ["dev8-0", "dev65-16", "dev202-1"],
    ),
    "NVMe by number": (
        {"dev259-0": A + B, "dev259-1": A, "dev259-2": B, "dev259-3": C, "dev253-0": B},
        ["dev259-0", "dev259-3"],
    ),
    "striped NVMe by number": (
        {**dict(zip(("dev259-0", "dev259-1"), halves(A), strict=True)), "dev253-0": A},
        ["dev259-0", "dev259-1"],
    ),
    "virtio by number": (
        {"dev252-0": A, "dev252-16": B + C, "dev253-0": A, "dev253-1": B, "dev253-2": C},
        ["dev252-0", "dev252-16"],
    ),
    "names by -j ID": (
        {
            "scsi-360022480c8a1": A + B,
            "scsi-360022480c8a1-part1": A + B,
            "dm-name-vg-a": A,
            "dm-uuid-LVM-4LhQ": B,
        },
        ["scsi-360022480c8a1"],
    ),
    "device mapper alone": ({"dm-0": A + B, "dm-1": A, "dm-2": B, "dm-3": C}, ["dm-0", "dm-3"]),
}  # fmt: skip


@pytest.mark.parametrize("tool", [iostat, sar])
@pytest.mark.parametrize("name", STACKS)
@pytest.mark.sampled(19)
def test_each_byte_counts_once(name: str, tool) -> None:
    devices, counted = STACKS[name]
    found = sized(tool(devices))
    assert sorted(found.devices["vm1"]) == sorted(counted)
    expected = sum(devices[device] for device in counted)
    history = found.history
    assert np.allclose(history.bytes_per_s, (expected[2] + expected[3]) * KIB, rtol=1e-4)
    assert np.allclose(history.iops, expected[0] + expected[1], rtol=1e-4)
    assert not found.choices["vm1"].left_out_for(Reason.UNCLEAR)


# The disks of a RHEL and a SLES host as `sar -d` has them, by number, and of one with `sar -dp`. Layouts are
# those of Azure's images: the device mapper on a partition of the OS disk, and on a data disk.
# Sources: sar(1), -p (names as in /dev, else devM-n); Microsoft Learn, "Azure Disk Encryption: LVM" (rootvg).
SAR = {
    "RHEL": ("dev8-0", "dev8-16", "dev8-32", "dev253-{}"),
    "SLES": ("dev8-0", "dev8-16", "dev8-32", "dev254-{}"),
    "names": ("sda", "sdb", "sdc", "rootvg-lv{}"),
}


@pytest.mark.parametrize("form", SAR)
def test_sar_on_hosts_with_volumes(form: str) -> None:
    os_disk, temp, data, volume = SAR[form]
    root, var, swap = load(11, 20), load(12, 60), IDLE
    devices = {os_disk: root + var, temp: IDLE, data: A}
    devices |= {volume.format(i): one for i, one in enumerate((root, var, swap, A))}
    found = sized(sar(devices))
    assert found.devices["vm1"] == (os_disk, temp, data)
    assert np.allclose(found.history.iops, (root + var + A)[:2].sum(axis=0), atol=0.02)


APART = {
    "NVMe disks with nearly the same load": dict(zip(("dev259-0", "dev259-1"), halves(A), strict=True)),
    "virtio disks": {"dev252-0": A, "dev252-16": B / 4, "dev252-32": IDLE},
    "a busier disk of a dynamic number": {"dev8-0": A / 100, "dev252-0": B, "dev252-16": C / 4},
    "disks of one load": dict.fromkeys(("sda", "sdb", "sdc"), constant(100, 100)),
    "partitions without their disk": {"sda1": A, "sda2": B},
    "disks of another system": {"ada0": A, "ada1": B, "nda-0": C},
}


@pytest.mark.parametrize("name", APART)
def test_disks_that_are_alike_all_count(name: str) -> None:
    devices = APART[name]
    found = sized(sar(devices))
    assert found.devices["vm1"] == tuple(devices)
    assert np.allclose(found.history.iops, sum(devices.values())[:2].sum(axis=0), rtol=1e-4)


def test_what_cannot_be_told_is_left_out_and_said() -> None:
    found = sized(sar({"dev8-0": A, "dev253-0": A * 0.6}))
    choice = found.choices["vm1"]
    assert choice.counted == ("dev8-0",)
    assert [one.device for one in choice.left_out_for(Reason.UNCLEAR)] == ["dev253-0"]
    chosen = sized(sar({"dev8-0": A, "dev253-0": A * 0.6}), devices=["dev*"])
    assert chosen.devices["vm1"] == ("dev8-0", "dev253-0")


def test_rates_in_few_digits_still_fit() -> None:
    coarse = {
        name: np.round(rates / KIB, 2) * KIB for name, rates in {"sda": A + B, "vg-a": A, "vg-b": B}.items()
    }
    found = sized(iostat(coarse))
    (choice,) = found.choices.values()
    assert choice.counted == ("sda",)
    assert {one.on for one in choice.left_out} == {("sda",)}


def test_io_under_way_between_two_reports_still_fits() -> None:
    done = np.cumsum(np.concatenate([A, A], axis=1), axis=1)[:, :N]
    late = done + np.random.default_rng(3).uniform(0, 10, done.shape)  # of seconds of a minute's rates
    later = np.diff(late, prepend=0)
    found = sized(iostat({"sda": A, "oradata": np.maximum(later, 0)}))
    assert found.choices["vm1"].left_out[0].on == ("sda",)


def test_a_host_in_words() -> None:
    found = sized(sar({"dev8-0": A + B, "dev8-1": A, "dev8-2": B, "dev253-0": B, "dev7-0": C}))
    assert sentences("vm1", found.choices["vm1"]) == (
        "vm1: dev8-0 counts; dev8-1, dev8-2 are partitions of dev8-0; dev253-0 lies on dev8-2; "
        "dev7-0 is no disk",
    )
    unsure = sized(sar({"sda": A, "oradata": A * 0.6}))
    (_, asked) = sentences("vm1", unsure.choices["vm1"])
    assert asked.endswith("only sda counts; state what counts, such as --device sda --device oradata")
