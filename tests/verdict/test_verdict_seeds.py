"""The verdicts on every measurement of the shipped publications."""

from functools import cache
from pathlib import Path

import pytest

from azbenchlib.dataset.dataset import Dataset
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.setup import VM, Setup
from azbenchlib.verdict import Judgement
from azbenchlib.verdict.run_verdicts import judge_runs

DATASETS = Path(__file__).parents[2] / "datasets"


@cache
def judged(name: str) -> dict[str, Judgement]:
    return {one.run.name: one.judgement for one in judge_runs(Dataset.read(DATASETS / name).tables)}


LOCAL, ZONES = "azure-local-disks-2020", "zone-redundant-disks-2022"
IOMETER, ULTRA, IOZONE = "l-series-iometer-2017", "ultra-disk-2019", "iozone-host-cache-2012"
BINDING = {
    (LOCAL, "000-E8as-temp-async"): ("temp_iops", "temp_mbps"),
    (LOCAL, "000-E8ds-temp-async"): ("temp_mbps",),
    (LOCAL, "000-E8ds-os-cacheRW-async"): ("vm_cached_mbps",),
    (LOCAL, "000-E8ds-ephemeral-async"): ("vm_cached_mbps",),
    (LOCAL, "000-E8ds-os-nocache-async"): ("disk_burst_iops",),
    (IOMETER, "001-L4-seqread"): ("temp_mbps",),
    (IOMETER, "001-L4-filewrite"): ("temp_mbps",),
    (IOMETER, "001-L4-randread"): ("temp_iops",),
    (IOMETER, "001-L4-randwrite"): ("temp_iops",),
    (ULTRA, "003-8k-50MB"): ("disk_mbps",),
    (ULTRA, "003-8k-100MB"): ("disk_iops",),
    (ULTRA, "003-64k"): ("vm_uncached_mbps",),
}
BINDING |= {
    (ZONES, f"002-{where}-async-{what}"): ("disk_iops",)
    for where in ("z1-zrs", "z1-lrs", "z2-zrs", "z3-zrs")
    for what in ("read", "write")
}
LATENCY = [
    *((LOCAL, f"000-{name}-sync") for name in ("E8as-temp", "E8ds-temp", "E8ds-os-cacheRW")),
    *((LOCAL, f"000-{name}-sync") for name in ("E8ds-os-nocache", "E8ds-ephemeral", "L8sv2-nvme")),
    *(
        (ZONES, f"002-{where}-sync-{what}")
        for where in ("z1-zrs", "z1-lrs", "z2-zrs", "z3-zrs")
        for what in ("read", "write")
    ),
]


@pytest.mark.parametrize(("dataset", "name"), BINDING, ids=lambda part: part)
def test_the_limit_that_binds(dataset: str, name: str) -> None:
    got = judged(dataset)[name]
    assert set(got.binding) == set(BINDING[dataset, name])
    assert got.tie == (len(got.binding) > 1)
    assert got.probability >= 0.95 and got.words.startswith("Bound by")


@pytest.mark.parametrize(("dataset", "name"), LATENCY, ids=lambda part: part)
def test_one_outstanding_io_is_bound_by_its_latency(dataset: str, name: str) -> None:
    got = judged(dataset)[name]
    assert got.binding == ("latency_qd",) and got.probability >= 0.95


def test_all_measured_runs_of_the_small_publications_are_among_them() -> None:
    others = {"000-L8sv2-nvme-async", "001-L16-filewrite", "001-L16-randwrite-4w"}
    for dataset in (LOCAL, ZONES, IOMETER, ULTRA):
        expected = {name for where, name in (*BINDING, *LATENCY) if where == dataset}
        assert set(judged(dataset)) - others == expected


def test_not_60000_iops_but_485_mb_per_s() -> None:
    got = judged(LOCAL)["000-E8ds-temp-async"]
    rows = {row.label: row for row in got.limits}
    assert rows["temp_mbps"].value == 484_442_112 and rows["temp_mbps"].utilisation == pytest.approx(
        1, abs=2e-3
    )
    assert rows["temp_iops"].utilisation == pytest.approx(59_200 / 77_000)
    assert rows["temp_mbps"].as_of == "2020-07-01" and "sku-api" in (rows["temp_mbps"].row or "")


def test_nvme_writes_have_no_documented_limit() -> None:
    got = judged(LOCAL)["000-L8sv2-nvme-async"]
    assert got.binding == ("unknown",) and got.probability < 0.95
    assert "no_documented_limit" in {finding.code for finding in got.findings}


def test_a_minute_cannot_show_the_base_of_a_p4() -> None:
    got = judged(LOCAL)["000-E8ds-os-nocache-async"]
    (message,) = [finding.message for finding in got.findings if finding.code == "base_not_seen"]
    assert "60 s" in message and "120 IOPS" in message
    assert got.next_run and "runtime=2160" in got.next_run.job


def test_four_workers_on_16_cores_are_bound_by_queue_depth() -> None:
    """4 outstanding / 45,000 per second = 89 µs each: latency, not a throttle of cores."""
    got = judged(IOMETER)["001-L16-randwrite-4w"]
    assert got.binding == ("latency_qd",) and got.probability >= 0.9
    assert judged(IOMETER)["001-L16-filewrite"].binding == ("latency_qd",)


def test_buffered_iozone_tells_of_the_page_cache_but_where_it_is_slower_than_memory() -> None:
    """A disk with ReadWrite caching took 2.6 to 23.5 MB/s of writes."""
    found = judged(IOZONE)
    assert len(found) == 676
    cached = {name for name, got in found.items() if got.binding == ("page_cache",)}
    sure = {name for name in cached if found[name].probability >= 0.8}
    assert 600 <= len(sure) <= len(cached) < 640
    tests = ("write", "rewrite", "random_write", "fwrite", "frewrite")
    slow = {name for name in found if name.split("-")[3:5] in [["readwrite", test] for test in tests]}
    assert len(slow) == 65 and not sure & slow
    assert all(found[name].next_run and "direct=1" in found[name].next_run.job for name in sure)


def test_read_write_caching_writes_at_a_tenth_and_the_cause_is_open() -> None:
    slow = {
        name: finding.message
        for name, got in judged(IOZONE).items()
        for finding in got.findings
        if finding.code == "caching_ratio"
    }
    assert {name.split("-")[3] for name in slow} == {"readwrite"}
    tests = {name.split("-")[4] for name in slow}
    assert tests == {"write", "rewrite", "random_write", "fwrite", "frewrite"}
    assert slow["004-iozone-data-readwrite-write-4k"].startswith("10.1 times slower")
    assert all("do not tell the cause" in message for message in slow.values())


def test_the_limits_of_another_day_are_said_to_be_another_days() -> None:
    """The temp disk of E8ds_v4 had 77,000 IOPS in common with the cache in 2020, later 38,000 of its own."""
    tables = Dataset.read(DATASETS / LOCAL).tables
    judged = {one.run.name: one.judgement for one in judge_runs(tables, as_of="2026-08-17")}
    later = judged["000-E8ds-temp-async"]
    assert later.binding == ("above_documented_limit",)
    assert {row.as_of for row in later.limits} == {"2026-08-17"}


def test_the_nvme_interface_has_limits_of_its_own() -> None:
    disks = parse_disks(["P30x8"])
    tables = Dataset.read(DATASETS / ZONES).tables
    for nvme, value in ((False, 24_200), (True, 33_000)):
        setup = Setup(VM(size="Standard_E8bds_v5"), disks)
        got = judge_runs(tables, setup, "2026-08-17", nvme)[0].judgement
        rows = {row.label: row for row in got.limits}
        assert rows["vm_uncached_iops"].value == value
