"""What is not known of one part of a setup is an open fact, and costs nothing that is known of the others."""

import pytest

from azbenchlib.analysis.observation import Observation
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.core.units import KIB, TIB
from azbenchlib.model.disk_row import DiskRow
from azbenchlib.model.fill_from_catalogue import known_parts, resolve
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.setup import VM, Disk, Setup
from azbenchlib.verdict import Judgement, judge
from azbenchlib.verdict.limit_sources import resolved
from azbenchlib.verdict.run_verdicts import resolved_setup

DAY = "2026-08-17"
D16DS = "Standard_D16ds_v5"


def judged(setup: Setup, iops: float, **known: object) -> Judgement:
    usual = {"read_share": 1.0, "bs_bytes": 4 * KIB, "queue_depth": 256, "runtime_s": 60, "direct": True}
    full, _ = resolved(setup, DAY)
    return judge(Observation(iops=iops, **{**usual, **known}), full)  # type: ignore[arg-type]


def of(vm: str | None, *disks: str) -> Setup:
    return Setup(VM(size=vm), parse_disks(disks))


@pytest.mark.parametrize("disk", ["ultra:1TiB", "pv2:1TiB", "pv2:1TiB/40000iops"])
def test_a_disk_without_figures_leaves_those_of_the_vm(disk: str) -> None:
    full, findings = resolved(of(D16DS, disk), DAY)
    assert full.vm.uncached.iops == 25_600
    assert full.disks[0].cap.bytes_per_s is None and "cap" in full.disks[0].unstated
    (finding,) = findings
    assert finding.code == Code.LIMITS_NOT_KNOWN and "are not stated" in finding.message
    assert judged(of(D16DS, disk), 25_650).binding == ("vm_uncached_iops",)


def test_what_a_provisioned_disk_may_have_is_told_with_what_it_would_mean() -> None:
    got = judged(of(D16DS, "pv2:1TiB"), 20_400)
    assert got.binding == ("disk_iops",) and got.probability < 0.95
    assert got.open_fact is not None
    assert got.open_fact.startswith("what the disk is provisioned with is not stated (")
    assert "about this rate means the disk IOPS limit" in got.open_fact
    assert got.posterior.get("above_documented_limit", 0) < 0.01


def test_an_os_disk_without_a_tier_leaves_the_cached_limit_of_the_vm() -> None:
    disk = Disk(name="os", role="os", sku="Premium_LRS", caching="ReadWrite")
    got = judged(Setup(VM(size="Standard_D8s_v3"), (disk,)), 16_250)
    assert got.binding == ("vm_cached_iops",)
    assert "vm_cached_iops" in [row.label for row in got.limits]


TIERS = [
    ("premium", 5_050, "P30", "disk_iops"),
    ("premium", 7_450, "P40 or P50", "disk_iops"),
    ("premium", 3_490, "P1 to P20", "disk_burst_iops"),
    ("Standard HDD", 2_010, "S70 or S80", "disk_iops"),
]


@pytest.mark.parametrize(("disk", "iops", "tier", "label"), TIERS)
def test_a_tier_that_nobody_states_is_each_that_there_is(
    disk: str, iops: float, tier: str, label: str
) -> None:
    """The answer names those within a few percent of what was measured."""
    setup = Setup(VM(size=D16DS), parse_disks([disk], open_sizes=True))
    got = judged(setup, iops)
    assert got.binding == (label,) and got.words.endswith(f"IOPS limit, if its tier is {tier}")
    few = judged(setup, iops, queue_depth=16)
    assert few.open_fact is None or f"not stated ({tier} means" in few.open_fact


@pytest.mark.parametrize("iops", [1_105, 3_490, 16_000])
@pytest.mark.parametrize(("depth", "size"), [(1, 1024 * KIB), (4, 64 * KIB)])
def test_where_tier_and_caching_are_open_many_paths_are_alike(iops: float, depth: int, size: int) -> None:
    """None of them has a tenth of the probability; the next run is chosen by those that are likeliest."""
    disk = Disk(name="x", sku="Premium_LRS", unstated=("caching",))
    got = judged(Setup(VM(size=D16DS), (disk,)), iops, queue_depth=depth, bs_bytes=size)
    assert got.next_run or got.why_no_run or got.probability >= 0.95


def test_more_than_any_tier_allows_is_above_the_largest() -> None:
    got = judged(Setup(VM(size=D16DS), parse_disks(["Standard SSD"], open_sizes=True)), 12_700)
    assert got.binding == ("above_documented_limit",)
    assert [row.value for row in got.limits if row.label == "disk_iops"] == [6_000]


def test_a_kind_alone_is_enough_only_where_its_size_may_stay_open() -> None:
    with pytest.raises(InputError, match="state the size of the Premium SSD"):
        parse_disks(["premium"])
    (disk,) = parse_disks(["premium"], open_sizes=True)
    assert (disk.sku, disk.tier, disk.size_bytes) == ("Premium_LRS", None, None)


def test_each_part_that_fails_is_named_and_the_others_stay() -> None:
    setup = of("Standard_D16ds_v55", "P30", "ultra:1TiB")
    full, lacking = known_parts(setup, DAY)
    assert [disk.cap.iops for disk in full.disks] == [5_000, None]
    assert len(lacking) == 2 and "Standard_D16ds_v55" in lacking[0] and "ultra:1TiB" in lacking[1]
    with pytest.raises(InputError, match="Standard_D16ds_v55"):
        resolve(setup, DAY)


def test_what_azure_refuses_is_told_and_judged() -> None:
    cached = Disk(name="d", sku="Premium_LRS", tier="P50", size_bytes=4 * TIB, caching="ReadOnly")
    full, lacking = known_parts(Setup(VM(size=D16DS), (cached, *parse_disks(["temp"]))), DAY)
    assert full.disks[0].caching == "None" and full.disks[0].cap.iops == 7_500 and full.vm.temp
    assert len(lacking) == 1 and "no host caching" in lacking[0]


def test_a_temp_disk_that_the_size_does_not_have_has_no_limits() -> None:
    full, lacking = known_parts(of("Standard_D16s_v5", "temp", "P30"), DAY)
    assert "no temp disk" in lacking[0] and not full.vm.cached and full.vm.uncached


@pytest.mark.parametrize("parts", [(D16DS,), (None, "P30")])
def test_a_vm_alone_and_a_disk_alone_are_judged_with_what_is_open(parts: tuple[str, ...]) -> None:
    vm, *disks = parts
    got = judged(of(vm, *disks), 25_700 if vm else 5_080)
    assert got.binding == (("vm_uncached_iops",) if vm else ("disk_iops",))
    missing = judged(of(vm, *disks), 12_000 if vm else 3_000, queue_depth=4)
    assert missing.probability < 0.95


def test_the_number_of_local_devices_is_open_also_on_the_way_through_a_dataset() -> None:
    (disk,) = parse_disks(["nvme"])
    assert DiskRow.from_disk(disk, "nvme").count is None
    full, _ = resolved_setup(of("Standard_L16s_v3", "nvme"), DAY, nvme=False)
    assert full.disks[0].unstated == ("count",)
    got = judged(of("Standard_L16s_v3", "nvme"), 550_000, queue_depth=512)
    assert got.open_fact is not None and got.open_fact.startswith("the number of NVMe devices is not stated")


def test_cost_and_lab_take_what_the_size_includes_and_note_that_it_is_not_stated() -> None:
    full = resolve(of(None, "pv2:1TiB"), DAY).disks[0]
    assert full.cap.iops == 3_000 and "cap" in full.unstated
    whole = resolve(of(None, "pv2:1TiB/3000iops/125MBps"), DAY).disks[0]
    assert whole.unstated == ()


def test_the_base_below_a_burst_of_a_disk_without_a_tier_is_not_told_as_one_figure() -> None:
    disk = parse_disks(["premium"], open_sizes=True)
    got = judged(Setup(VM(), disk), 3_490)
    (message,) = [finding.message for finding in got.findings if finding.code == Code.BASE_NOT_SEEN]
    assert message.endswith("the base, 120 to 2,300 IOPS depending on what is not stated")
    assert got.next_run is not None and "expected" not in got.next_run.advice
    (told,) = [
        finding.message
        for finding in judged(of(None, "P10"), 3_490).findings
        if finding.code == Code.BASE_NOT_SEEN
    ]
    assert told.endswith("the base of 500 IOPS")
