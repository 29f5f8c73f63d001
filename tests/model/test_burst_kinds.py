"""The three kinds of burst: credits of the disk, on demand, credits of the VM. Each means the same to all."""

import numpy as np
import pytest

from azbenchlib.analysis.observation import Observation
from azbenchlib.core.units import KIB, MB, S_PER_HOUR
from azbenchlib.lab.engine.virtual_machine import Machine
from azbenchlib.model.ceilings import ceilings
from azbenchlib.model.credits import buckets
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.passed_limits import passed_limits
from azbenchlib.model.replay import replay
from azbenchlib.model.setup import VM, BurstKind, Cap, Setup
from azbenchlib.verdict import judge

DAY = "2026-08-17"


def setup(*disks: str, vm: str = "Standard_E48ds_v5") -> Setup:
    return resolve(Setup(VM(size=vm), parse_disks(disks)), DAY)


def test_each_burst_has_its_kind() -> None:
    full = setup("P60:burst", "P20", "P20:burst")
    assert [disk.cap.burst_kind for disk in full.disks] == [
        BurstKind.ON_DEMAND,
        BurstKind.CREDITS,
        BurstKind.CREDITS,
    ]
    assert full.vm.uncached.burst_kind == BurstKind.VM_CREDITS


def test_on_demand_bursting_is_there_all_the_time_and_has_no_credits() -> None:
    full = setup("P60:burst")
    load = [Load(volume="P60:burst", bs_bytes=4 * KIB)]
    for credits_there in (True, False):
        got = deliver(full, load, bursting=credits_there)
        assert (got.iops, got.binding) == (30_000, ("disk_burst_iops",))
        assert next(use.state for use in got.limits if use.label == "disk_burst_iops") == "steady"
    assert buckets(full.disks[0].cap) == {} and set(buckets(setup("P20").disks[0].cap)) == {
        "iops",
        "bytes_per_s",
    }
    assert {row.level for row in ceilings(full, [4 * KIB])} == {"base"}


@pytest.mark.parametrize(("disk", "throttled"), [("P60:burst", False), ("P20", True)])
def test_a_load_at_the_burst_for_two_hours(disk: str, throttled: bool) -> None:
    full = setup(disk)
    rate = float(full.disks[0].cap.limit("iops", bursting=True) or 0)
    nothing = np.zeros(2)
    history = LoadHistory(
        t_s=np.array([0.0, S_PER_HOUR]),
        interval_s=np.array([S_PER_HOUR, S_PER_HOUR], dtype=float),
        read_iops=np.array([rate, rate]),
        write_iops=nothing,
        read_bytes_per_s=np.array([rate, rate]) * 4 * KIB,
        write_bytes_per_s=nothing,
    )
    assert bool(replay(passed_limits(full, history), history).throttled) is throttled


def test_the_emulated_disk_shows_no_credits_where_there_are_none() -> None:
    shown = {disk: Machine(setup(disk)).live(0.0) for disk in ("P60:burst", "P20")}
    on_credits = {
        disk: {name for name, state in live.items() if "credits" in state and name.startswith(disk)}
        for disk, live in shown.items()
    }
    assert on_credits == {"P60:burst": set(), "P20": {"P20 disk_burst_iops", "P20 disk_burst_mbps"}}


def test_a_setup_has_credits_where_a_limit_on_its_way_does() -> None:
    bare = VM(uncached=Cap(iops=80_000, bytes_per_s=2_000 * MB))
    of = {disk: setup(disk).disks for disk in ("P60:burst", "P60", "P20")}
    assert {disk: Setup(bare, disks).has_credits for disk, disks in of.items()} == {
        "P60:burst": False,
        "P60": False,
        "P20": True,
    }
    assert setup("P60").has_credits  # the VM's


def test_two_hours_at_the_on_demand_burst_are_bound_by_it() -> None:
    seen = Observation(
        read_share=1.0,
        bs_bytes=4 * KIB,
        iops=30_000,
        queue_depth=2048,
        numjobs=8,
        runtime_s=7200,
        direct=True,
    )
    got = judge(seen, setup("P60:burst"))
    assert got.binding == ("disk_burst_iops",) and got.probability > 0.95
    assert not any("credits" in finding.message for finding in got.findings)
    assert "disk_iops" not in [row.label for row in got.limits]
