"""What is not stated is open: host caching, NVMe devices, direct I/O, disks, the VM."""

from dataclasses import replace

import pytest

from azbenchlib.analysis.flow import Flow
from azbenchlib.analysis.observation import Observation
from azbenchlib.core.units import GIB, KIB, MB
from azbenchlib.model.notation import parse_disk
from azbenchlib.model.setup import VM, Cap, Disk, Setup
from azbenchlib.verdict import judge, posterior
from azbenchlib.verdict.readings import readings

SILENT = ("caching",)
P30 = Disk(name="p30", sku="Premium_LRS", tier="P30", cap=Cap(iops=5000, bytes_per_s=200 * MB))
D8S = VM(uncached=Cap(iops=12_800, bytes_per_s=192 * MB), cached=Cap(iops=16_000, bytes_per_s=128 * MB))
LSV4 = VM(
    nvme=Cap(iops=275_000, bytes_per_s=1500 * MB, write_iops=110_000, write_bytes_per_s=750 * MB),
    nvme_count=2,
)
NVME = Disk(name="nvme", role="nvme", unstated=("count",))


def run(**known: object) -> Observation:
    usual = {"read_share": 1.0, "bs_bytes": 4 * KIB, "queue_depth": 64, "runtime_s": 60, "direct": True}
    return Observation(**{**usual, **known})  # type: ignore[arg-type]


def test_a_rate_that_a_cache_explains_is_not_above_the_limit_where_caching_is_not_stated() -> None:
    seen = run(iops=16_250)
    assert judge(seen, Setup(D8S, (P30,))).binding == ("above_documented_limit",)
    silent = judge(seen, Setup(D8S, (replace(P30, unstated=SILENT),)))
    assert silent.binding == ("vm_cached_iops",)
    assert silent.posterior.get("above_documented_limit", 0) > 0


def test_the_answer_names_the_fact_that_would_settle_it() -> None:
    seen = run(iops=9_000, queue_depth=4)
    silent = judge(seen, Setup(D8S, (replace(P30, unstated=SILENT),)))
    assert silent.open_fact is not None and silent.probability < 0.95
    assert silent.open_fact.startswith("the host caching is not stated (None means a limit above")
    assert silent.open_fact in silent.words
    assert judge(seen, Setup(D8S, (P30,))).open_fact is None


@pytest.mark.parametrize(
    "disk",
    [
        P30,
        Disk(name="d", sku="UltraSSD_LRS", cap=Cap(iops=5000), unstated=SILENT),
        replace(P30, size_bytes=4096 * GIB, unstated=SILENT),
        Disk(name="temp", role="temp", unstated=SILENT),
    ],
)
def test_nothing_is_open_where_it_is_stated_or_azure_allows_one_value(disk: Disk) -> None:
    (only,) = readings(Setup(D8S, (disk,)), Flow(observation=run(iops=1)))
    assert only.weight == 1 and only.facts == ()


def test_the_weights_of_the_readings_sum_to_one() -> None:
    for setup in (
        Setup(D8S, (replace(P30, unstated=SILENT),)),
        Setup(D8S, (replace(P30, role="os", unstated=SILENT),)),
        Setup(LSV4, (NVME,)),
        Setup(replace(D8S, temp=Cap(iops=9_000))),
    ):
        found = readings(setup, Flow(observation=run(iops=1)))
        assert len(found) > 1 and sum(one.weight for one in found) == pytest.approx(1)


@pytest.mark.parametrize(("iops", "top"), [(276_000, "nvme_iops"), (138_000, "nvme_iops")])
def test_a_rate_of_one_nvme_device_or_of_all_fits_where_the_number_is_open(iops: float, top: str) -> None:
    assert judge(run(iops=iops), Setup(LSV4, (NVME,))).binding == (top,)


def test_a_stated_number_of_devices_is_honoured() -> None:
    one, both = replace(NVME, unstated=()), replace(NVME, count=2, striped=True)
    assert judge(run(iops=276_000), Setup(LSV4, (one,))).binding == ("above_documented_limit",)
    assert "nvme_iops" not in judge(run(iops=138_000), Setup(LSV4, (both,))).binding
    assert "count" in parse_disk("nvme").unstated and not parse_disk("nvmex2").unstated


def test_the_limits_of_a_vm_bind_where_its_disks_are_not_described() -> None:
    got = judge(run(iops=13_000), Setup(D8S))
    assert got.binding == ("vm_uncached_iops",) and "disks are not stated" in (
        got.open_fact or "disks are not stated"
    )
    assert judge(run(iops=16_250), Setup(D8S)).binding == ("vm_cached_iops",)


def test_a_limit_of_a_vm_that_is_not_stated_may_bind() -> None:
    """No figure of it is known, so that the cause is unknown, and never surely so."""
    got = judge(run(iops=2_000, queue_depth=512), Setup(VM(), (P30,)))
    assert got.binding == ("unknown",) and got.probability < 0.95
    assert got.posterior["vm_uncached_iops"] > got.posterior["vm_uncached_mbps"] > 0
    assert got.open_fact == "the limits of the VM are not known, and one of them may bind"
    assert (
        judge(run(iops=2_000, queue_depth=512), Setup(D8S, (P30,))).posterior["unknown"]
        > got.probability - 0.2
    )


def test_without_any_limit_unknown_comes_before_latency_at_a_depth_above_one() -> None:
    temp = Setup(VM(max_data_disks=32), (Disk(name="temp", role="temp"),))
    assert judge(run(iops=90_000, mean_us=700), temp).binding == ("unknown",)
    assert judge(run(iops=5_000, queue_depth=1), temp).binding == ("latency_qd",)


@pytest.mark.parametrize(
    ("tool", "least", "most"),
    [("iotune", 0, 0), ("fio", 0.001, 0.4), ("sysbench", 0.05, 0.9), (None, 0.001, 0.4)],
)
def test_whether_the_page_cache_may_have_answered_depends_on_the_tool(
    tool: str | None, least: float, most: float
) -> None:
    got = judge(run(iops=9_000, direct=None, tool=tool), Setup(D8S, (P30,)))
    assert least <= got.posterior.get("page_cache", 0) <= most


def test_a_limit_without_a_figure_is_a_part_of_the_unknown_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both names are right of it: where nothing is probable, the first has a part of the other's chance."""
    setup = Setup(VM(), (Disk(name="d", sku="Premium_LRS", unstated=("cap",)),))
    seen = run(iops=2000, queue_depth=32, unloaded_us=700)
    together = judge(seen, setup)
    monkeypatch.setattr(posterior, "SAME_CAUSE", 0.0)
    apart = judge(seen, setup)
    assert together.binding == apart.binding == ("unknown",) and apart.probability < 0.8
    limits = [label for label in apart.posterior if label.is_limit]
    moved = 0.4 * sum(apart.posterior[label] for label in limits)
    assert together.probability == pytest.approx(apart.probability + moved)
    assert sum(together.posterior.values()) == pytest.approx(1.0)
    others = [label for label in apart.posterior if label not in (*limits, "unknown")]
    assert all(together.posterior[label] == pytest.approx(apart.posterior[label]) for label in others)
