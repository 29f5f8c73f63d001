"""The emulated latencies: published quantiles come out again, and each kind of disk finds its table."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from azbenchlib.azure import catalog
from azbenchlib.azure.catalog import files
from azbenchlib.azure.catalog.latency import LATENCY_FILE, percentiles
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, KIB, MB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.lab.engine import latency
from azbenchlib.lab.engine.simulate import SimulatedJob, simulate
from azbenchlib.lab.engine.virtual_machine import Machine
from azbenchlib.model import VM, Cap, Disk, Setup, unloaded_latency
from azbenchlib.model.fill_from_catalogue import vm_of
from azbenchlib.model.unloaded_latency import table_of

PUBLISHED = Path(__file__).parents[2] / "datasets" / "azure-local-disks-2020" / "raw" / "measurements.csv"
SETUPS = {
    "E8as_v4-temp": "temp-amd",
    "E8ds_v4-temp": "temp",
    "E8ds_v4-os-readwrite": "host-cache",
    "E8ds_v4-os-none": "premium",
    "E8ds_v4-ephemeral-os": "ephemeral",
    "L8s_v2-nvme": "nvme",
}
P4 = Disk(
    name="d",
    role="os",
    sku="Premium_LRS",
    tier="P4",
    cap=Cap(iops=120, bytes_per_s=25 * MB, burst_iops=3500, burst_bytes_per_s=170 * MB),
)


def published(setup: str) -> dict[float, float]:
    with PUBLISHED.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["setup"] == setup and row["quantity"] == "clat"]
    return {float(row["stat"][1:]): float(row["value"]) for row in rows}


def sample(table: str, write: bool = True) -> np.ndarray:
    draw = latency.sampler(table, write, seed=1)
    return np.array([draw() for _ in range(latency.SAMPLE_SIZE)]) * 1e6


@pytest.mark.parametrize("setup", SETUPS)
def test_every_deck_has_the_published_quantiles(setup: str) -> None:
    quantiles = published(setup)
    assert len(quantiles) == 17
    drawn = sample(SETUPS[setup])
    for percentile in (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5):
        assert np.percentile(drawn, percentile) == pytest.approx(quantiles[percentile], rel=0.01)
    assert drawn.max() <= unloaded_latency.SLOWEST * quantiles[99.99]
    assert drawn.min() >= unloaded_latency.FASTEST * quantiles[1]


@pytest.mark.parametrize(
    ("setup", "disk"),
    [
        ("E8as_v4-temp", Disk(name="d", role="temp")),
        ("E8ds_v4-temp", Disk(name="d", role="temp")),
        ("E8ds_v4-os-readwrite", replace(P4, caching="ReadWrite")),
        ("E8ds_v4-os-none", P4),
        ("E8ds_v4-ephemeral-os", Disk(name="d", role="ephemeral_os")),
        ("L8s_v2-nvme", Disk(name="d", role="nvme")),
    ],
)
@pytest.mark.sampled(3)
def test_emulated_setups_are_as_slow_as_the_measured_ones(setup: str, disk: Disk) -> None:
    vm = vm_of(catalog.vm(setup.split("-")[0], "2020-07-01"))
    drawn = simulate(
        Machine(Setup(vm, (disk,))),
        SimulatedJob(volume="d", queue_depth=1, bs_bytes=8 * KIB, read_share=0, working_set_bytes=5 * GIB),
        6,
    )
    drawn = drawn["lat_us"][: len(drawn) // latency.SAMPLE_SIZE * latency.SAMPLE_SIZE]  # whole samples
    quantiles = published(setup)
    for percentile in (50, 95, 99):
        assert np.percentile(drawn, percentile) == pytest.approx(quantiles[percentile], rel=0.01)


@pytest.mark.parametrize("setup", SETUPS)
def test_a_few_outliers_do_not_shift_p99(setup: str) -> None:
    drawn = np.concatenate([sample(SETUPS[setup])] * 5)
    late = np.concatenate([drawn, np.full(15, 1e6)])  # 15 of 10,000
    assert np.percentile(late, 99) == pytest.approx(published(setup)[99], rel=0.02)


def test_the_deck_is_shuffled_by_its_seed_and_dealt_over_and_over() -> None:
    drawn = sample("temp")
    assert not np.all(np.diff(drawn) >= 0)
    again, other = latency.sampler("temp", True, 1), latency.sampler("temp", True, 2)
    twice = np.array([again() for _ in range(2 * latency.SAMPLE_SIZE)]) * 1e6
    assert np.array_equal(twice, np.tile(drawn, 2))
    assert not np.array_equal(drawn, [other() * 1e6 for _ in range(latency.SAMPLE_SIZE)])


def test_one_quantile_makes_a_log_normal_with_the_spread_of_a_premium_ssd() -> None:
    for write, median in ((False, 2200), (True, 1300)):
        drawn = sample("premium-large", write)
        assert np.percentile(drawn, 50) == pytest.approx(median, rel=0.001)
        assert np.percentile(drawn, 95) / median == pytest.approx(2868 / 2474, rel=0.001)


def test_two_quantiles_make_the_log_normal_that_has_both() -> None:
    assert np.percentile(sample("standard-hdd", False), [50, 99]) == pytest.approx([9000, 20_000], rel=0.01)
    assert np.percentile(sample("ultra"), [50, 99]) == pytest.approx([700, 1000], rel=0.01)


@pytest.mark.parametrize(
    ("size", "disk", "table"),
    [
        ("Standard_E8as_v4", Disk(name="x", role="temp"), "temp-amd"),
        ("Standard_E32-8as_v4", Disk(name="x", role="temp"), "temp-amd"),
        ("Standard_E8ds_v4", Disk(name="x", role="temp"), "temp"),
        (None, Disk(name="x", role="temp"), "temp"),
        (None, Disk(name="x", role="nvme"), "nvme"),
        (None, Disk(name="x", role="ephemeral_os"), "ephemeral"),
        (None, Disk(name="x", role="ephemeral_os", placement="nvme"), "nvme"),
        (None, Disk(name="x", sku="Premium_LRS", tier="P4"), "premium"),
        (None, Disk(name="x", sku="Premium_LRS", tier="P30"), "premium-large"),
        (None, Disk(name="x", sku="Premium_ZRS", tier="P30"), "premium-zrs"),
        (None, Disk(name="x", sku="PremiumV2_LRS"), "premium-v2"),
        (None, Disk(name="x", sku="UltraSSD_LRS"), "ultra"),
        (None, Disk(name="x", sku="StandardSSD_LRS", tier="E10"), "standard-ssd"),
        (None, Disk(name="x", sku="Standard_LRS", tier="S10"), "standard-hdd"),
        (None, Disk(name="x"), "premium"),
    ],
)
def test_each_kind_of_disk_finds_its_table(size: str | None, disk: Disk, table: str) -> None:
    assert table_of(VM(size=size), disk) == table
    assert table in latency.names()


def test_every_row_tells_where_it_comes_from() -> None:
    with (files.DATA / LATENCY_FILE).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["kind"] for row in rows} == {"published", "assumed"}
    assert all(row["source"] and row["date"] for row in rows)
    assert all(("our assumption" in row["source"]) == (row["kind"] == "assumed") for row in rows)


def test_a_table_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match=r"'warp'; there are: temp-amd, .*none"):
        latency.sampler("warp", True, 1)


def test_each_zone_of_a_zrs_disk_has_the_latencies_that_were_published_for_it() -> None:
    """The printed figures are those of the shipped dataset: ms, by zone and direction."""
    found = Dataset.load("zone-redundant-disks-2022")
    rows = found.published.merge(found.runs[["run_id", "setup_id", "queue_depth", "rw"]], on="run_id")
    single = rows[(rows["queue_depth"] == 1) & (rows["quantity"] == "latency")]
    printed = single.set_index(["setup_id", "rw"])["value"]
    for zone in (1, 2, 3):
        for write, rw in ((False, "randread"), (True, "randwrite")):
            table = percentiles(f"premium-zrs-zone{zone}", write)
            assert table == {50: pytest.approx(1000 * printed[f"zrs-zone{zone}", rw])}
