"""What a run in Azure takes and costs, reckoned beforehand; its limits; the lease on its group."""

import os
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from programs import azbench

from azbenchlib.azure.prices.book import book
from azbenchlib.azure.prices.rows import PAYG, SPOT, Meter
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.targets.azure import money
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.campaign.targets.azure.manifest import CloudPlan
from azbenchlib.campaign.targets.azure.money import Budget
from azbenchlib.campaign.targets.azure.target import hours
from azbenchlib.core.errors import AzbenchError, InputError

ROOT = Path(__file__).parents[2]
HEAD = """
title: Small
region: westeurope
vm: Standard_D2s_v3
zone: 1
disks: {data: {sku: Premium_LRS, size: 32GiB}}
workloads:
"""
OWN_IMAGE = "/subscriptions/1/resourceGroups/g/providers/Microsoft.Compute/images/mine"


def experiment(folder: Path, *lines: str, head: str = HEAD):
    path = folder / "file.yaml"
    path.write_text(head + "".join(f"  {line}\n" for line in lines))
    return measurement_file.load(path)


def workloads(number: int, runtime: int = 60) -> list[str]:
    return [f"w{n}: {{rw: randread, bs: 4k, size: 1g, runtime: {runtime}}}" for n in range(number)]


def test_sixty_workloads_take_little_more_than_themselves(tmp_path):
    found = money.estimate(experiment(tmp_path, *workloads(60)))
    assert 3600 < found.seconds <= 1.2 * 3600 + 15 * 60


@pytest.mark.parametrize(
    ("name", "whole_h"),
    [
        ("l-series-ssd", 2.2),
        ("zone-redundant-disks", 1.6),
        ("local-disks", 1.6),
        ("ultra-disk", 2.9),
        ("host-cache", 9.3),
    ],
)
def test_no_vm_stops_itself_before_a_shipped_file_is_measured(name: str, whole_h: float) -> None:
    """What each takes in real Azure, reckoned by hand, where every result comes in pieces of 30 s each."""
    assert hours(measurement_file.load(name)) > whole_h


def test_a_file_that_lasts_longer_than_vms_run_is_refused(tmp_path):
    long = experiment(tmp_path, *workloads(20, runtime=3600))
    with pytest.raises(InputError, match="VMs stop by themselves within a day; split the measurement file"):
        hours(long)


def test_the_price_is_that_of_the_vm_and_all_disks(tmp_path):
    """eastus2, the newest prices shipped: a review found 126.79 USD a day, 75.72 of them the disk.

    The OS disk, which that left out, is a P4 of 4.8001 USD a month.
    """
    found = money.estimate(measurement_file.load(ROOT / "campaigns" / "ultra-disk.yaml"))
    os_disk = 4.8001 * 12 / 365
    assert float(found.prices.total * 24) == pytest.approx(126.79 + os_disk, abs=0.01)
    assert float(found.prices.disks * 24) == pytest.approx(75.72 + os_disk, abs=0.01)
    assert "75.88 when the VM has stopped itself" in found.text
    unknown = money.estimate(
        experiment(tmp_path, *workloads(1), head=HEAD.replace("westeurope", "chinaeast2"))
    )
    assert unknown.prices.total is None and "what it costs is not known" in unknown.text


def monthly(region: str, tier: str) -> float:
    """What the shipped price book says of a tier."""
    wanted = Meter("Premium SSD Managed Disks", f"{tier} LRS Disk")
    (price,) = (one for meter, one in book(region).prices.items() if meter == wanted)
    return float(price.unit_price)


@pytest.mark.parametrize(
    ("change", "tiers", "said"),
    [
        (("", ""), ("P4", "P4"), ""),
        (("{data:", "{os: {role: os, size: 128GiB}, data:"), ("P4", "P10"), ""),
        (("{data:", "{os: {role: ephemeral_os}, data:"), ("P4",), ""),
        (("zone: 1", f"zone: 1\nimage: {OWN_IMAGE}"), ("P4",), "not priced: the OS disk, which is as large"),
        (
            ("zone: 1", "zone: 1\noutbound: nat"),
            ("P4", "P4"),
            "not priced: the NAT gateway",
        ),
        (
            ("32GiB}", "32GiB}, slow: {sku: Standard_LRS, size: 32GiB, count: 2}"),
            None,
            "not priced: I/Os on slow",
        ),
    ],
)
def test_the_os_disk_is_counted_and_what_has_no_price_is_named(tmp_path, change, tiers, said):
    lines = [line.replace(": {rw", ": {disks: [data], rw") for line in workloads(1)]
    found = money.hourly(experiment(tmp_path, *lines, head=HEAD.replace(*change)))
    if tiers:
        expected = sum(monthly("westeurope", tier) for tier in tiers) / 730
        assert float(found.disks) == pytest.approx(expected, rel=1e-6)
    assert [note for note in found.notes if "not priced" in note] == [*filter(None, found.notes)]
    assert any(said in note for note in found.notes) if said else not found.notes


def test_a_spot_vm_is_counted_at_its_price_where_the_book_has_one(tmp_path):
    spot = HEAD.replace("zone: 1", "zone: 1\npriority: spot")
    regular = money.hourly(experiment(tmp_path, *workloads(1)))
    found = money.hourly(experiment(tmp_path, *workloads(1), head=spot))
    prices = book("westeurope").prices
    of_spot, of_regular = (prices[Meter.of_vm("Standard_D2s_v3", kind)].unit_price for kind in (SPOT, PAYG))
    assert (found.vm, regular.vm) == (of_spot, of_regular)
    assert found.notes == ("Standard_D2s_v3: the spot price, which Azure changes, up to 0.12 USD an hour",)
    elsewhere = money.hourly(experiment(tmp_path, *workloads(1), head=spot.replace("westeurope", "eastus2")))
    assert elsewhere.vm == book("eastus2").prices[Meter.of_vm("Standard_D2s_v3")].unit_price
    assert "no spot price is known there, so the regular one counts" in elsewhere.notes[0]


def test_a_size_that_may_be_taken_instead_is_counted_where_it_is_dearer(tmp_path):
    other = HEAD.replace("zone: 1", "zone: 1\notherwise: [{vm: Standard_D8s_v3}]")
    found = money.hourly(experiment(tmp_path, *workloads(1), head=other))
    assert found.vm == book("westeurope").prices[Meter.of_vm("Standard_D8s_v3")].unit_price


def test_a_limit_refuses_beforehand_and_ends_a_run(tmp_path):
    found = experiment(tmp_path, *workloads(60))
    Budget.of(found, 100.0, 100.0).check()
    Budget.of(found, 0.0, 0.0).check()
    with pytest.raises(InputError, match=r"max_cost 0.01: .* about 1\.\d hours and at most 0\.\d+ USD"):
        Budget.of(found, 0.01, 0.0).check()
    with pytest.raises(InputError, match=r"max_hours 0.5: the run takes about 1"):
        Budget.of(found, 0.0, 0.5).check()
    late = Budget.of(found, 0.0, 2.0)
    late.check_spent()
    with pytest.raises(AzbenchError, match=r"max_hours 2 is reached \(3.0 h, 0\.\d+ USD\)"):
        replace(late, begun=late.begun - 3 * 3600).check_spent()
    with pytest.raises(AzbenchError, match=r"max_cost 0.01 is reached"):
        replace(late, max_cost=0.01, begun=late.begun - 3600).check_spent()


def test_the_command_line_refuses_before_az_is_asked(tmp_path):
    file = ROOT / "campaigns" / "ultra-disk.yaml"
    done = azbench("run", file, "--target", "azure", "--max-cost", "1", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert "max_cost 1: the run takes about 2." in done.stderr


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ("", True),
        ("title: Another name", True),
        ("more", True),
        ("less", True),
        ("region: northeurope", False),
        ("vm: Standard_D4s_v3", False),
        ("other", False),
    ],
)
def test_a_file_may_gain_and_lose_workloads_but_not_change_them(tmp_path, change, same):
    key = change.partition(":")[0]
    head = (
        "\n".join(change if key and line.startswith(f"{key}:") else line for line in HEAD.splitlines()) + "\n"
    )
    lines = {"more": workloads(3), "less": workloads(1), "other": workloads(2, 61)}.get(change, workloads(2))
    one, two = (
        CloudPlan(experiment=found, started="2026-11-22T09:00:00+00:00")
        for found in (experiment(tmp_path, *workloads(2)), experiment(tmp_path, *lines, head=head))
    )
    assert one.same_as(two) == two.same_as(one) == same


def test_a_lease_holds_while_it_is_renewed_and_its_process_lives():
    now = datetime.now(UTC)
    own = orphans.lease_tags(now)
    with subprocess.Popen(["sleep", "60"]) as other:
        others = {**own, orphans.HOLDER: orphans.lease_holder(other.pid)}
        assert orphans.is_leased(others, now)
        assert not orphans.is_leased(others, now + timedelta(seconds=orphans.LEASE_S + 1))
        other.kill()
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        assert not orphans.is_leased(
            others, now
        )  # it has ended, and is listed as long as nobody waits for it
    assert not orphans.is_leased(others, now)
    assert not orphans.is_leased(own, now)  # by this process itself
    assert orphans.is_leased({**own, orphans.HOLDER: f"elsewhere-{os.getpid()}-1"}, now)
    for odd in ({}, {orphans.LEASE: "soon"}, {orphans.LEASE: ""}):
        assert not orphans.is_leased(odd, now)
