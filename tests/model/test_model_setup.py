"""Setups as they are written: the short notation, the JSON of az, manifest rows, and the catalogue."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.azure.catalog import vm as vm_row
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MB
from azbenchlib.dataset import manifest
from azbenchlib.model.descriptions import from_rows
from azbenchlib.model.fill_from_catalogue import known_parts, resolve, statements, vm_of
from azbenchlib.model.from_azure import from_az
from azbenchlib.model.notation import parse_disk, parse_disks
from azbenchlib.model.setup import VM, BurstKind, Cap, Disk, Setup

ROOT = Path(__file__).parents[2]
PREMIUM, ULTRA = ({"storageAccountType": sku} for sku in ("Premium_LRS", "UltraSSD_LRS"))
AZ_VM = {
    "hardwareProfile": {"vmSize": "Standard_E8ds_v4"},
    "name": "vm",
    "storageProfile": {
        "osDisk": {"caching": "ReadWrite", "diskSizeGb": 30, "name": "os0", "managedDisk": PREMIUM},
        "dataDisks": [
            {"lun": 0, "caching": "None", "name": "log", "diskSizeGB": 128, "managedDisk": ULTRA},
            {"lun": 1, "caching": "ReadOnly", "name": "data", "diskSizeGb": 1024, "managedDisk": PREMIUM},
        ],
    },
}
AZ_ULTRA = {
    "name": "log",
    "diskIOPSReadWrite": 10000,
    "diskMBpsReadWrite": 50,
    "diskSizeBytes": 128 * GIB,
    "sku": {"name": "UltraSSD_LRS", "tier": "Ultra"},
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("P30", Disk(name="P30", sku="Premium_LRS", tier="P30")),
        ("p30x4", Disk(name="p30x4", role="data", sku="Premium_LRS", tier="P30", count=4, striped=True)),
        (
            "os:P4:ReadWrite",
            Disk(name="os:P4:ReadWrite", role="os", sku="Premium_LRS", tier="P4", caching="ReadWrite"),
        ),
        (
            "E10:hit=0.9:readonly",
            Disk(
                name="E10:hit=0.9:readonly",
                role="data",
                sku="StandardSSD_LRS",
                tier="E10",
                caching="ReadOnly",
                cache_hit=0.9,
            ),
        ),
        ("P30x2:zrs", Disk(name="P30x2:zrs", sku="Premium_ZRS", tier="P30", count=2, striped=True)),
        ("S30", Disk(name="S30", sku="Standard_LRS", tier="S30")),
        ("P4:None:noburst", Disk(name="P4:None:noburst", sku="Premium_LRS", tier="P4", bursting=False)),
        ("P50/4095GiB", Disk(name="P50/4095GiB", sku="Premium_LRS", tier="P50", size_bytes=4095 * GIB)),
        (
            "ultra:128GiB/10000iops/50MBps",
            Disk(
                name="ultra:128GiB/10000iops/50MBps",
                sku="UltraSSD_LRS",
                size_bytes=128 * GIB,
                cap=Cap(iops=10000, bytes_per_s=50 * MB),
            ),
        ),
        (
            "pv2x2:1TiB",
            Disk(
                name="pv2x2:1TiB",
                role="data",
                sku="PremiumV2_LRS",
                tier=None,
                size_bytes=1024 * GIB,
                count=2,
                striped=True,
            ),
        ),
        ("temp", Disk(name="temp", role="temp")),
        ("nvme", Disk(name="nvme", role="nvme", unstated=("count",))),
        ("ephemeral:temp", Disk(name="ephemeral:temp", role="ephemeral_os", placement="temp")),
        ("ephemeral", Disk(name="ephemeral", role="ephemeral_os")),
    ],
)
def test_the_short_notation(text: str, wanted: Disk) -> None:
    assert parse_disk(text) == wanted


def test_several_of_a_kind_are_told_apart() -> None:
    assert [disk.name for disk in parse_disks(["P30", "P30", "temp"])] == ["P30 (1)", "P30 (2)", "temp"]


@pytest.mark.parametrize(
    "text",
    (
        *("", ":", "Q30", "P30x0", "os", "os:", "P30:Write", "P30:hit=x", "P30:hit=2"),
        *("ephemeral:ram", "P30:1x/2iops", "ultra:0iops"),
    ),
)
def test_what_is_no_disk_is_refused_with_examples(text: str) -> None:
    with pytest.raises(InputError):
        parse_disk(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ultra:128/10000iops", "'128': 128 of what"),
        ("ultra:1TB", "whole GiB, and '1TB' are 931.3; write one such as 931GiB"),
        ("P50/0GiB", "whole GiB"),
    ],
)
def test_a_disk_has_whole_gib_and_says_so(text: str, why: str) -> None:
    with pytest.raises(InputError, match=re.escape(why)):
        parse_disk(text)
    assert parse_disk("ultra:1TiB/10kiops/1.2kMBps") == replace(
        parse_disk("ultra:1024GiB/10000iops/1200MBps"), name="ultra:1TiB/10kiops/1.2kMBps"
    )


@given(st.text(max_size=30))
def test_any_text_is_a_disk_or_refused(text: str) -> None:
    try:
        assert parse_disk(text).name == text.strip()
    except InputError as refusal:
        assert str(refusal)


def test_az_vm_show_with_its_disks() -> None:
    os0, log, data = from_az(AZ_VM, [AZ_ULTRA]).disks
    assert (os0.role, os0.caching, os0.size_bytes) == ("os", "ReadWrite", 30 * GIB)
    assert (log.cap, log.sku, log.caching) == (Cap(iops=10000, bytes_per_s=50 * MB), "UltraSSD_LRS", "None")
    assert (data.role, data.caching) == ("data", "ReadOnly")
    full = resolve(from_az(AZ_VM, [AZ_ULTRA]), "2022-07-01")
    assert [disk.tier for disk in full.disks] == ["P4", None, "P30"]
    assert full.disks[0].cap == Cap(
        iops=120, bytes_per_s=25 * MB, burst_iops=3500, burst_bytes_per_s=170 * MB
    )


def test_an_ephemeral_os_disk_says_where_it_lies() -> None:
    os_disk = {
        "name": "o",
        "caching": "ReadOnly",
        "diffDiskSettings": {"option": "Local", "placement": "ResourceDisk"},
    }
    vm = {
        "properties": {
            "hardwareProfile": {"vmSize": "Standard_D8ds_v5"},
            "storageProfile": {"osDisk": os_disk},
        }
    }
    (disk,) = from_az(vm).disks
    assert (disk.role, disk.placement, disk.place) == ("ephemeral_os", "temp", "temp")


@pytest.mark.parametrize("key", ["diskIopsReadWrite", "diskIOPSReadWrite", "DISKIOPSREADWRITE"])
def test_the_spelling_of_keys_does_not_count(key: str) -> None:
    (disk,) = from_az(None, [{"name": "d", key: 120, "diskMbpsReadWrite": 25, "diskSizeGb": 5}]).disks
    assert (disk.cap, disk.size_bytes) == (Cap(iops=120, bytes_per_s=25 * MB), 5 * GIB)


def test_a_vm_without_a_size_is_refused() -> None:
    with pytest.raises(InputError, match=r"hardwareProfile\.vmSize"):
        from_az({"name": "vm"})


def az_samples() -> list[Path]:
    corpus = os.environ.get("AZBENCH_CORPUS")
    folder = Path(corpus).parent / "facts" / "samples" / "az" if corpus else None
    return sorted(folder.glob("az_disk_*.json")) if folder else []


@pytest.mark.skipif(not az_samples(), reason="AZBENCH_CORPUS is not set, or has no samples of az beside it")
def test_real_output_of_az_disk_show_becomes_a_tier() -> None:
    shown: list[dict[str, Any]] = [json.loads(path.read_text()) for path in az_samples()]
    disks = resolve(from_az(None, shown), "2024-01-16").disks
    assert [(disk.tier, disk.cap.iops) for disk in disks] == [("P2", 120), ("P3", 120)]


def test_the_rows_of_a_manifest() -> None:
    tables = manifest.load(ROOT / "datasets" / "azure-local-disks-2020").tables()
    setups, disks = tables["setups"].set_index("setup_id"), tables["disks"]
    found = {
        name: from_rows(row, disks[disks["setup_id"] == name])
        for name, row in setups.to_dict(orient="index").items()
    }
    (os_disk,) = resolve(found["E8ds_v4-os-none"], "2026-01-01").disks
    assert os_disk.cap == Cap(iops=120, bytes_per_s=25 * MB, burst_iops=3500, burst_bytes_per_s=170 * MB)
    assert found["E8ds_v4-ephemeral-os"].disks[0].place == "cache"
    assert found["E8ds_v4-temp"].as_of == "2020-07-01" and found["E8ds_v4-temp"].disks[0].place == "temp"


def test_missing_values_of_a_manifest_are_none() -> None:
    disks = pd.DataFrame({"setup_id": ["s"], "disk": ["d"], "role": ["data"]})
    found = from_rows({"vm_size": pd.NA, "as_of": pd.NA}, schema.conform("disks", disks))
    assert found == Setup(VM(), (Disk(name="d", unstated=("caching",)),))


def test_what_is_stated_goes_before_the_catalogue() -> None:
    vm = VM(size="Standard_E8ds_v4", uncached=Cap(iops=1000))
    setup = resolve(Setup(vm, (Disk(name="d", tier="P4", cap=Cap(iops=240)),)), "2024-01-01")
    assert setup.vm == vm and setup.disks[0].cap == Cap(
        iops=240, bytes_per_s=25 * MB, burst_iops=3500, burst_bytes_per_s=170 * MB
    )


def test_on_demand_bursting_only_where_it_was_asked_for() -> None:
    off, on = resolve(Setup(disks=parse_disks(["P30", "P30:burst"])), "2024-01-01").disks
    assert off.cap.burst_iops is None and on.cap == Cap(
        iops=5000,
        bytes_per_s=200 * MB,
        burst_iops=30000,
        burst_bytes_per_s=1000 * MB,
        burst_kind=BurstKind.ON_DEMAND,
    )


def test_limits_are_those_of_the_day() -> None:
    early, late = (vm_of(vm_row("E8ds_v4", day)) for day in ("2020-07-01", "2024-09-01"))
    assert not early.temp and early.cached.iops == late.cached.iops == 77000
    assert late.temp == Cap(iops=38000, bytes_per_s=500 * MB)
    assert early.uncached.burst_iops is None and late.uncached.burst_iops == 16000
    (p4,) = resolve(Setup(disks=parse_disks(["P4"])), "2019-06-01").disks
    assert p4.cap == Cap(iops=120, bytes_per_s=25 * MB)


def test_local_nvme_is_refused_where_a_size_has_none() -> None:
    """The other disks of such a setup keep their limits."""
    disks = (Disk(name="scratch", role="nvme"), Disk(name="data", tier="P30", caching="ReadOnly"))
    setup = Setup(VM(size="Standard_E8ds_v4"), disks)
    with pytest.raises(InputError, match=r"no local NVMe on 2026-08-17 .*; it has a temp disk: temp"):
        resolve(setup, "2026-08-17")
    known, lacking = known_parts(setup, "2026-08-17")
    assert known.vm.cached.iops == 77_000 and any("no local NVMe" in what for what in lacking)


def test_writes_to_nvme_are_not_limited_by_what_is_documented_of_reads() -> None:
    nvme = vm_of(vm_row("L8s_v2", "2020-07-01")).nvme
    assert nvme.iops == 400_000 and nvme.limit("iops", write=True) == float("inf")


def test_every_limit_has_its_source() -> None:
    assert all(limit.source_id for limit in statements("Standard_E8ds_v4", "2020-07-01"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "log"},
        {"caching": "Off"},
        {"placement": "ram"},
        {"count": 0},
        {"cache_hit": 1.5},
    ],
)
def test_a_disk_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Disk(name="d", **wrong)


def test_two_disks_of_one_name_and_limits_of_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="2 times"):
        Setup(disks=(Disk(name="d"), Disk(name="d")))
    with pytest.raises(InputError, match="above 0"):
        Cap(iops=0)
