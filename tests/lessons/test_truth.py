"""What lessons and documents say is what the model, the catalogue or a dataset gives."""

import re
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtrit

from azbenchlib.analysis.compare import ComparedSide, Shift, compare
from azbenchlib.analysis.compare.published_repeats import LARGEST, PAIRS
from azbenchlib.azure import catalog
from azbenchlib.azure.catalog.latency import HOST_CACHE, percentiles
from azbenchlib.core.histogram import REL_ERROR
from azbenchlib.core.units import GIB, KIB, MB, MIB, US_PER_S
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.lab.engine.simulate import SimulatedJob, simulate
from azbenchlib.lab.engine.virtual_machine import Machine, Options
from azbenchlib.lessons.answers import IN_IOPS
from azbenchlib.lessons.course import entry_of, open_lesson
from azbenchlib.lessons.exercises.burst import bucket_of
from azbenchlib.lessons.exercises.cases import _small, case_book
from azbenchlib.lessons.exercises.nested import CATALOGUE_DAY, striped
from azbenchlib.lessons.exercises.repeats import judged
from azbenchlib.lessons.exercises.throttle import TICK_MS
from azbenchlib.lessons.experiments import caches, cases, flush, queue, repeats, tails, throttle
from azbenchlib.lessons.shipped import COURSE, LessonEntry
from azbenchlib.model import VM, Cap, Disk, Load, Setup, deliver
from azbenchlib.model.credits import BURST_S
from azbenchlib.model.io_path import legs
from azbenchlib.model.unloaded_latency import expected_us, quantile_us
from azbenchlib.report import execute
from azbenchlib.views.host_cache import HostCache
from azbenchlib.views.start import Start

DOCS = Path(__file__).parents[2] / "docs"
EACH = pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
SEEDS = range(200)


def prose(name: str) -> str:
    cells = nbformat.read(execute.find_notebook(f"lessons/{entry_of(name).notebook}"), as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def test_numbers_of_lesson_1() -> None:
    text = prose("units")
    rows = Start(["azure-local-disks-2020"]).results().data
    assert 59_200 in set(rows["iops"].dropna())
    assert f"59,200 × 8,192 bytes are {59_200 * 8 * KIB / MB:.0f} MB/s" in text
    assert f"error of {100 * (KIB / 1000 - 1):.1f} % or {100 * (MIB / MB - 1):.1f} %" in text


def test_numbers_of_lesson_2() -> None:
    text = prose("queue")
    assert f"2.2 ms each, there are {US_PER_S / queue._latency_us(5_000):.0f} IOPS" in text
    assert f"4 outstanding ÷ 45,000 per second are {4 / 45_000 * US_PER_S:.0f} µs" in text
    assert f"16 workers the same latency allows {16 * 45_000 // 4:,} IOPS" in text


def test_numbers_of_lesson_3() -> None:
    text, ios = prose("throttle"), throttle._simulated(16)
    later = ios.loc[ios["t_s"] > 1, "lat_us"]
    median, slow = np.percentile(later, [50, 80])
    assert 0.25 < (later > 10 * median).mean() < 1 / 3 and round(slow / median) == 17
    assert "more than a quarter of the I/Os take about seventeen times as long" in text
    assert f"average read takes {later.mean() / 1e3:.1f} ms" in text
    assert f"1,024 ÷ 3,499 per second is {1_024 / 3_499 * 1e3:.0f} ms" in text


def test_numbers_of_lesson_4() -> None:
    text = prose("nested")
    cap = striped("D8s_v3", "P30", 4).vm.uncached
    full = f"{cap.burst_iops:,.0f} IOPS and {(cap.burst_bytes_per_s or 0) / MB:.0f} MB/s"
    assert f"a D8s_v3 allows {full} for half an hour" in text
    assert f"then {cap.iops:,.0f} and {(cap.bytes_per_s or 0) / MB:.0f}." in text and BURST_S == 1_800
    cached = striped("D8s_v3", "P30", 4).vm.cached.bytes_per_s or 0
    assert f"{cached / MB:g} for a D8s_v3" in text


def test_numbers_of_lesson_5() -> None:
    text, p4 = prose("burst"), bucket_of("P4")
    assert f"({p4.burst:,.0f} − {p4.base:,.0f}) × 1,800 s, {p4.capacity / 1e6:.2f} million I/Os" in text
    # while it bursts, a run of a minute draws what is above the base limit
    assert f"the run took {100 * (3_499 - p4.base) * 60 / p4.capacity:.1f} % of it" in text
    bursting = [
        t for t in ("P4", "P10", "P15", "P20", "P30") if striped("D8s_v3", t, 1).disks[0].cap.burst_iops
    ]
    assert f"Premium SSDs up to {bursting[-1]} may go above" in text


def test_numbers_of_lesson_6() -> None:
    text, cold, warm = prose("caches"), caches._rate(0.0), caches._rate(1.0)
    assert f"look {warm / cold:.0f} times faster" in text
    assert (
        1.5 < caches._rate(0.5) / cold < 2
        and "with half of the data cached the rate not even doubles" in text
    )
    assert warm - caches._rate(0.9) > caches._rate(0.9)  # the last tenth brings more than all the rest
    assert 45 < percentiles(HOST_CACHE, True)[50.0] < 55 and "in some fifty" in text
    one = open_lesson("caches")
    warm_s = [
        next(
            w.t_s
            for w in caches._curve(share, one._blocks(), one._end_s())
            if w.iops >= 0.99 * one.expected(share)
        )
        for share in (0.1, 1.0)
    ]
    assert warm_s[1] > 5 * warm_s[0] and "the larger the cache and the slower the misses, the longer" in text


def test_the_case_of_lesson_6_is_what_its_dataset_says() -> None:
    text = prose("caches")
    rows = HostCache(["iozone-host-cache-2012"], tests=["write", "rewrite", "random_write", "read"]).medians()
    assert rows.data is not None
    rates = rows.data.pivot_table(index="rw", columns="setup_id", values="bw_bytes_per_s")
    writes = rates.drop(index="read")
    tenth = writes["data-readwrite"] / writes[["data-none", "data-readonly"]].mean(axis=1)
    assert tenth.between(0.09, 0.105).all() and "with ReadWrite, writes ran at a tenth of the others" in text
    reads = rates.loc["read"] / 1e9
    assert reads.between(2, 3).all() and "two to three GB/s with every setting" in text
    assert Dataset.load("iozone-host-cache-2012").runs["working_set_bytes"].max() == GIB
    assert "a file of 1 GiB" in text


def test_numbers_of_lesson_7() -> None:
    text, one = prose("tails"), open_lesson("tails")
    right, fast, slow = one.expected(0.1), *(tails._table(key) for key in ("fast", "slow"))
    assert f"p99.9 of 500 I/Os is {500 * 0.001} I/O".replace("0.5", "half an") in text
    assert right == pytest.approx(quantile_us(slow, False, 90.0), rel=0.01)
    assert "so p99 of the whole is about p90 of the slow disk" in text
    assert f"a Premium SSD, is {quantile_us(fast, False, 99.0) / 1e3:.1f} ms" in one.question
    assert f"Standard HDD, is {quantile_us(slow, False, 99.0) / 1e3:.0f} ms" in one.question
    found = Dataset.load("azure-local-disks-2020")
    setups = found.runs.set_index("run_id")["setup_id"]
    wide = found.percentiles.assign(setup=found.percentiles["run_id"].map(setups)).pivot_table(
        index="setup", columns="percentile", values="lat_us"
    )
    own, cached = wide.loc["E8ds_v4-ephemeral-os"], wide.loc["E8ds_v4-os-readwrite"]
    assert f"p50 {own[50.0]:.0f} µs against {cached[50.0]:.0f} µs, four times as long" in text
    assert round(own[50.0] / cached[50.0]) == 4
    assert f"p99.95 {own[99.95] / 1e3:.1f} ms against {cached[99.95] / 1e3:.1f} ms" in text
    less, more = (wide.loc["E8ds_v4-temp", p] / wide.loc["E8as_v4-temp", p] - 1 for p in (95.0, 99.9))
    assert less < 0 < more
    assert (
        f"p95 differ by {-less:.0%} and whose p99.9 differ by {more:.0%}, in the other".replace("%", " %")
        in text
    )


def test_numbers_of_lesson_8() -> None:
    text, one = prose("redundancy"), open_lesson("redundancy")
    found = Dataset.load("zone-redundant-disks-2022")
    writes = found.runs[found.runs["rw"] == "randwrite"][["run_id", "setup_id", "queue_depth"]]
    iops = writes.merge(found.results, on="run_id").dropna(subset="iops").set_index("setup_id")["iops"]
    assert f"queue depth of 256, found {iops['zrs-zone1']:,.0f} and {iops['lrs-zone1']:,.0f} IOPS" in text
    ms = writes.merge(found.published[found.published["quantity"] == "latency"], on="run_id")
    ms = ms.set_index("setup_id")["value"]
    zrs = ms[ms.index.str.startswith("zrs")]
    low, high = zrs.min(), zrs.max()
    assert f"took {ms['lrs-zone1']} ms with LRS and {low} to {high} ms with ZRS" in text
    assert f"takes {ms['lrs-zone1']} ms on LRS and, from a VM in zone 3, {ms['zrs-zone3']} ms" in one.question
    assert one.expected(3) == pytest.approx(1_000 / ms["zrs-zone3"], rel=0.01)
    costs = Dataset.load("ultra-disk-2019").published.query("quantity == 'cost'").set_index("stat")["value"]
    parts = [costs[part] for part in ("capacity", "iops", "mbps")]
    assert sum(parts) == pytest.approx(costs["total_corrected"]) and costs["total_as_printed"] == 2.488496
    assert f"added up {parts[0]:g} + 1.008 + {parts[2]:g} and printed 2.488496 USD" in text
    assert (
        parts[0] + 1.008 + parts[2] != pytest.approx(2.488496)
        and f"one of the parts was {parts[1]:g}" in text
    )


def test_numbers_of_lesson_9() -> None:
    text, one = prose("flush"), open_lesson("flush")
    hit_us = caches.mean_us(HOST_CACHE, True)
    assert (
        f"after {hit_us / 1e3:.2f} ms, so without flushes the log gets {1e6 / hit_us:,.0f}"[:-3]
        in one.question
    )
    assert f"which takes {flush._disk_us() / 1e3:.1f} ms" in one.question
    times = 1e6 / hit_us / flush._plain()
    assert round(times) == 15 and "the benchmark became fifteen times faster" in text
    local = Dataset.load("azure-local-disks-2020")
    rates = local.runs.merge(local.results, on="run_id").dropna(subset="iops").set_index("setup_id")
    cached, alone = rates.loc["E8ds_v4-os-readwrite"], rates.loc["E8ds_v4-os-none"]
    assert pd.isna(cached["fsync"]) and "Whether anything was flushed is not said" in text
    assert f"found {cached['iops']:,.0f} IOPS for writes of {cached['bs_bytes'] // KIB} KiB" in text
    assert f"and {alone['iops']:,.0f} on that disk without" in text
    taken, written = cached["iops"] * 60, alone["iops"] * 60
    assert f"took in {taken / 1e6:.1f} million writes" in text
    assert f"{round(written, -4):,.0f} of them, {100 * written / taken:.0f} %" in text


def test_numbers_of_lesson_10() -> None:
    text, one = prose("reading"), open_lesson("reading")
    block = re.search(r"```text\n(.*?)```", text, re.DOTALL)
    assert block
    output = " ".join(block[1].split())
    for quoted in re.findall(r"^\| `([^`]+)` ", text, re.MULTILINE):
        name, _, value = quoted.rpartition(" … ") if " … " in quoted else quoted.partition(": ")
        assert all(" ".join(part.split()) in output for part in (name, value)), quoted
    rates = [float(found) for found in re.findall(r"IOPS=(\d+)", output)]
    means = [float(found) for found in re.findall(r" lat \(usec\): [^=]*=[^=]*=[^=]*=([\d.]+)", output)]
    (clat, *_), (median, *_) = (
        [float(found) for found in re.findall(pattern, output)]
        for pattern in (r"clat \(usec\): .*?avg=([\d.]+)", r"50\.00th=\[ *(\d+)")
    )
    under_way = [iops * us / US_PER_S for iops, us in zip(rates, means, strict=True)]
    assert (
        f"{rates[0]:,.0f} per second × {means[0] / 1e3:.3f} ms are {under_way[0]:.1f} reads under way" in text
    )
    assert f"and {rates[1]:,.0f} × {means[1] / 1e3:.3f} ms are {under_way[1]:.1f} writes. Together 8" in text
    assert round(sum(under_way)) == 8
    assert f"the mean is {clat / median:.1f} times the median" in text
    assert f"up to {100 * 2 * REL_ERROR:.1f} % wide" in text
    right, latency_us = one.expected(4), expected_us(one.latencies(4)[0][1], 1.0)
    assert f"{right:g} per second × {8 / right * 1e3:g} ms are 8" in text
    assert (
        f"takes {latency_us / 1e3:.1f} ms when nothing else runs. Where it takes {8 / right * 1e3:g} ms"
        in text
    )
    found = Dataset.load("zone-redundant-disks-2022")
    depths = found.runs.merge(found.results, on="run_id").dropna(subset="iops")["queue_depth"]
    latencies = found.published.query("quantity == 'latency'")
    singles = found.runs[found.runs["run_id"].isin(latencies["run_id"])]
    assert set(depths) == {256} and set(singles["queue_depth"]) == {1}
    assert latencies["stat"].str.startswith("unspecified").all() and 4.3 in set(latencies["value"])
    assert f"4.3 ms are {1_000 / 4.3:.0f} IOPS" in text


def test_numbers_of_lesson_11() -> None:
    text, one = prose("repeats"), open_lesson("repeats")
    reach = float(stdtrit(2 * 3, 0.975))
    assert (
        f"{reach:.2f} with 4 runs a side. {reach:.2f} × 2 % × √(2 ÷ 4) is {100 * one.expected(4):.1f} %"
        in text
    )
    assert one.expected(8) < 0.03 < one.expected(4)
    assert "an update that costs 3 % does not show in 4 runs, but in 8 it does" in text
    limits = [disk.cap.iops or 0.0 for disk in repeats._setup(4_000, 1).disks]
    before, after = np.array(limits[::2]), np.array(limits[1::2])
    assert before.std() / before.mean() == pytest.approx(0.02, rel=0.05)
    assert after.mean() / before.mean() == pytest.approx(0.97, abs=0.002)
    in_sixteen = [repeats._setup(16, seed).disks for seed in range(20)]
    days = [[disk.cap.iops or 0.0 for disk in one] for one in in_sixteen]
    answers = [judged(one[::2], one[1::2]) for one in days]
    small = [one.answer is Shift.NOT_WORSE and (one.interval or (0, 2))[1] < 1 for one in answers]
    assert sum(small) > 10 and "so it is here, as 16 runs a side mostly show" in text
    assert round(1_960 / 2_040, 2) == 0.96 and "2,040 IOPS, after it 1,960. “Four percent slower”" in text
    assert f"Of {PAIRS} such pairs" in text and f"the second read is {LARGEST:.2f} times as fast" in text
    found = Dataset.load("iozone-host-cache-2012")
    rates = found.runs.merge(found.results, on="run_id").pivot_table(
        index=["setup_id", "bs_bytes"], columns="rw", values="bw_bytes_per_s"
    )
    ratios = np.concatenate([rates["reread"] / rates["read"], rates["freread"] / rates["fread"]])
    assert len(ratios) == PAIRS and ratios.max() == pytest.approx(LARGEST, abs=5e-4)
    assert np.median(np.exp(np.abs(np.log(ratios)))) < 1.1 and "half are within a tenth of each other" in text
    zones = Dataset.load("zone-redundant-disks-2022")
    sides = [ComparedSide(name=name, tables=zones.tables, setup=name) for name in ("lrs-zone1", "zrs-zone1")]
    (reads,) = (one for one in compare(sides).pairs[0].figures if "reads" in one.evidence.workload.name)
    assert reads.medians == (5_140, 5_140) and "the same 5,140 IOPS for reads" in text
    assert reads.answer is Shift.UNDECIDED and "even for two equal numbers azbench says “undecided”" in text


def test_numbers_of_lesson_12() -> None:
    text, one = prose("cases"), open_lesson("cases")
    per_s, rate = 1_000 / cases._latency_ms(), one.expected(1) / MB
    assert f"takes {cases._latency_ms():.1f} ms" in one.question
    assert (
        f"they come {per_s:.0f} times a second, and {per_s:.0f} blocks of 64 KiB are {rate:.1f} MB/s" in text
    )
    assert "reaches 200 MB/s with 8." in text and one.expected(4) < 200 * MB == one.expected(8)
    book = case_book()
    for case in (one for one in book.cases if one.origin):
        error, run = (_small(one) for one in (book.errors[case.error][0], book.runs[case.run]))
        assert f"- {case.told} **The error:** {error}. **What would tell:** {run}. (`{case.origin}`)" in text
    counts = f"{len(book.cases)} benchmarks, {sum(bool(one.origin) for one in book.cases)} of them published"
    assert f"the error of {counts}" in (DOCS / "teaching.md").read_text()


def test_numbers_of_the_cases_of_lessons_2_to_5() -> None:
    local, ultra = (Dataset.load(name) for name in ("azure-local-disks-2020", "ultra-disk-2019"))
    of_disk = local.runs.query("setup_id == 'E8ds_v4-os-none'")
    disk = of_disk.merge(local.results, on="run_id")
    assert f"reached {disk['iops'].max():,.0f} IOPS with 4 × 256" in prose("throttle")
    alone = local.percentiles[local.percentiles["run_id"].isin(of_disk["run_id"])]
    median_ms = alone.query("percentile == 50")["lat_us"].item() / 1e3
    assert f"one write at a time took {median_ms:.1f} ms" in prose("throttle")
    assert f"for 60 s at {disk['iops'].max():,.0f} IOPS" in prose("burst")
    assert f"The disk is sold with {bucket_of('P4').base:.0f} IOPS" in prose("burst")
    rates = ultra.published.query("quantity == 'bandwidth'")["value"]
    assert f"measured {rates.max():.0f} MB/s" in prose("nested")
    provisioned = ultra.disks["provisioned_bytes_per_s"].max() / MB
    assert f"had {provisioned:,.0f} MB/s provisioned" in prose("nested")
    uncached = striped("E32-8s_v3", "P30", 1).vm.uncached.bytes_per_s or 0
    assert f"allowed {uncached / MB:.0f} MB/s to its disks" in prose("nested")
    assert uncached < provisioned * MB / 2 and "less than half of what was provisioned" in prose("nested")
    workers = Dataset.load("l-series-iometer-2017").results["iops"].max()
    assert f"found {workers:,.0f} IOPS with 4 workers" in prose("queue")


def test_a_miss_counts_in_the_limits_of_the_disk_and_in_the_uncached_ones_of_the_vm() -> None:
    vm = VM(cached=Cap(iops=3), uncached=Cap(iops=2))
    setup = Setup(vm, (Disk(name="data", caching="ReadOnly", cap=Cap(iops=1)),))
    passed = {
        leg.scope for leg in legs(vm, setup.volumes()[0], Load(volume="data", bs_bytes=KIB, cache_hit=0.0))
    }
    text = " ".join((DOCS / "explanation.md").read_text().split())
    assert {"disk", "vm_uncached"} <= passed
    assert "counts in the limits of the disk and in the uncached limits of the VM as well" in text


@EACH
def test_the_answer_of_each_exercise_holds_in_the_state_that_its_question_tells(entry: LessonEntry) -> None:
    for seed in SEEDS:
        exercise = open_lesson(entry.name).exercise_of(seed)
        text = exercise.question
        tiers = re.findall(r"\b(P\d+)\b", text)
        if any(striped("D8s_v3", tier, 1).disks[0].cap.burst_iops for tier in tiers) and "USD" not in text:
            assert "credits" in text, text
        stripe = re.search(
            r"(\d+) disks (P\d+) are striped on a VM of the size (\w+),.* blocks of (\d+) KiB", text
        )
        if stripe is None:
            continue
        state = re.search(
            r"burst credits of (?:disks and VM|the VM \(a P\d+ has none\)) are (full|spent)\. ", text
        )
        assert state, text
        full = state[1] == "full"
        setup = striped(stripe[3], stripe[2], int(stripe[1]))
        loads = [Load(volume=one.name, bs_bytes=int(stripe[4]) * KIB) for one in setup.volumes()]
        got = deliver(setup, loads, bursting=full)
        assert exercise.right == (got.iops if exercise.unit is IN_IOPS else got.bytes_per_s)


@EACH
def test_a_lesson_tells_whose_latencies_it_shows(entry: LessonEntry) -> None:
    one = open_lesson(entry.name, quick=True)
    shown = " ".join(re.sub(r"<[^>]+>", " ", one.confront(one.knob.start).html).split())
    for name, _, write in one.latencies(one.knob.start):
        told = re.search(
            rf"Latency of {name}: (\S+): .*?; (read|write)s of (\d) KiB, 20\d\d, (one value|\d+ percentiles)",
            shown,
        )
        assumed = re.search(rf"Latency of {name}: our assumption", shown)
        assert assumed or (told and (told[2] == "write" or not write))


@pytest.mark.parametrize("depth", [1, 8, 16, 64])
def test_rates_and_means_are_the_same_with_and_without_ticks(depth: int) -> None:
    assert throttle._options(1).tick_s == 0.05
    setup, job = throttle._setup(), SimulatedJob(volume="data", queue_depth=depth)
    ticks, smooth = (
        simulate(Machine(setup, Options(tick_s=tick, seed=1)), job, 20.0) for tick in (0.05, 0.0)
    )
    assert len(ticks) == pytest.approx(len(smooth), rel=0.01)
    means = [ios.loc[ios["t_s"] > 1, "lat_us"].mean() for ios in (ticks, smooth)]
    assert means[0] == pytest.approx(means[1], rel=0.01)
    for name in ("queue", "redundancy"):
        assert "Rates and means are the same with either" in prose(
            name
        ) or "throttle is that of lesson 2" in prose(name)


def test_numbers_of_how_disks_behave() -> None:
    text = " ".join((DOCS / "explanation.md").read_text().partition("## How limits combine")[0].split())
    limit, latency_s = 5_000, queue._latency_us(5_000) / US_PER_S
    alone = f"take {latency_s * 1_000:.1f} ms each are {4 / latency_s:,.0f} per second"
    assert f"4 reads outstanding that {alone}" in text
    assert f"is reached with {limit * latency_s:.0f} outstanding" in text
    assert f"16 take {16 / limit * 1_000:.1f} ms each" in text
    in_a_tick = throttle._LIMIT * TICK_MS / 1_000
    assert f"a limit of {throttle._LIMIT:,} IOPS is {in_a_tick:.0f} I/Os a tick" in text
    bucket = bucket_of("P10")
    stock = f"({bucket.burst:,.0f} − {bucket.base:,.0f}) × {BURST_S:,.0f}"
    assert f"{stock} = {bucket.capacity / 1e6:.1f} million" in text
    assert f"they end after {bucket.time_to_empty(2_000) / 60:.0f} minutes" in text
    assert f"they are back after {bucket.capacity / bucket.base / 3_600:.0f} hours" in text
    assert f"a read takes {(0.09 + 2.2) / 2:.3f} ms" in text and f"is {2_000 / (0.09 + 2.2):.0f} IOPS" in text
    assert f"the {1_000 / 0.09 // 1_000 * 1_000:,.0f} of the cache alone" in text
    fast, slow = (quantile_us(tails._table(key), False, 99.0) / 1_000 for key in ("fast", "slow"))
    assert f"a p99 of {fast:.1f} ms and once from one with {slow:.0f} ms" in text
    assert f"has a p99 of {tails._mixed_us(0.1, 99.0) / 1_000:.0f} ms" in text
    assert f"The mean of the two p99, {(fast + slow) / 2:.0f} ms" in text


def test_examples_of_the_glossary_are_right() -> None:
    text = (DOCS / "glossary.md").read_text()
    assert f"5,000 IOPS of 8 KiB are {5_000 * 8 * KIB / MB:.0f} MB/s" in text
    assert f"5,000 IOPS × 2.2 ms = {5_000 * 0.0022:.0f}" in text
    assert f"a P10 holds {bucket_of('P10').capacity / 1e6:.1f} million I/Os" in text
    (p30,) = striped("D8s_v3", "P30", 1).disks
    assert f"4 × P30 are {4 * (p30.cap.iops or 0):,.0f} IOPS" in text
    (row,) = (one for one in catalog.disk_tiers(CATALOGUE_DAY) if one.name == "P30")
    assert f"P30: {row.on_demand_burst_iops:,.0f} IOPS" in text
    assert f"2,000 IOPS × 4 ms = {2_000 * 0.004:.0f}" in text


def test_the_glossary_has_the_words_of_the_course_with_the_same_meaning() -> None:
    cells = nbformat.read(execute.find_notebook("lessons/00_course"), as_version=4).cells
    words = next(cell.source for cell in cells if "| Word | Meaning | Lesson |" in cell.source)
    rows = [line.strip("|").split("|") for line in words.splitlines() if line.startswith("| **")]
    glossary = (DOCS / "glossary.md").read_text()
    assert len(rows) > 30
    assert [word for word, meaning, _ in rows if f"|{word}|{meaning}|" not in glossary] == []
