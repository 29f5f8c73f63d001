"""Curves over the queue depth: what belongs to one, where it is best, and what is said of it."""

import json
import math
import re
from collections.abc import Iterable, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import azbench

import azbenchlib as az
from azbenchlib.analysis.grouping import arrange
from azbenchlib.analysis.load_curves import LoadCurve, load_curves, percentile_of, rate_of
from azbenchlib.analysis.sweeps import swept_folders
from azbenchlib.core.units import KIB, MB, US_PER_S
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.views.report import Report

DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
P30_IOPS, P30_MBPS = 5_000, 200
P30 = {"vm": "Standard_D8s_v5", "disks": ["P30"]}


def runs(
    latency_us: float = 1_400.0, depths: Sequence[int] = DEPTHS, bs: int = 4 * KIB, **facts: Any
) -> pd.DataFrame:
    """Runs as a P30 gives them: one I/O takes its latency until a limit is reached; then the queue waits."""
    most = min(P30_IOPS, P30_MBPS * MB / bs) * 1.01
    rates = [min(most, depth * US_PER_S / latency_us) for depth in depths]
    waits = [depth * US_PER_S / rate for depth, rate in zip(depths, rates, strict=True)]
    rows = {
        "rw": "randread",
        "bs_bytes": bs,
        "iodepth": depths,
        "numjobs": 1,
        "queue_depth": depths,
        "ioengine": "libaio",
        "direct": True,
        "tool": "fio",
        "iops": rates,
        "bw_bytes_per_s": [rate * bs for rate in rates],
        "runtime_s": 60.0,
        "lat_kind": "clat",
        "n": [round(60 * rate) for rate in rates],
        "lat_mean_us": waits,
        "p50_us": waits,
        "p99_us": [2 * wait for wait in waits],
    }
    return pd.DataFrame(rows | facts)


def together(frames: Iterable[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(list(frames), ignore_index=True)


def curves_of(frame: pd.DataFrame, **setup: Any) -> list[LoadCurve]:
    dataset: Dataset = az.read(frame, **(setup or P30))
    return load_curves(arrange(dataset.tables), dataset.tables)


@given(latency_us=st.floats(200, 20_000), size=st.sampled_from([4, 16, 64, 256]))
@settings(max_examples=3)
def test_the_best_depth_is_the_first_at_the_highest_rate(latency_us: float, size: int) -> None:
    frame = runs(latency_us, bs=size * KIB)
    (curve,) = curves_of(frame)
    assert list(curve.values) == list(DEPTHS)
    assert [rate_of(point) for point in curve.points] == pytest.approx(list(frame["iops"]))
    reached = frame.loc[frame["iops"] >= 0.97 * frame["iops"].max(), "queue_depth"]
    assert curve.best_value == reached.min()


def test_a_pattern_and_a_size_are_a_curve_each_in_order_of_depth() -> None:
    frame = together([runs(), runs(2_000, bs=64 * KIB), runs(3_000, rw="randwrite")])
    mixed = frame.sample(frac=1, random_state=3)
    named = {curve.name: list(curve.values) for curve in curves_of(mixed)}
    assert sorted(named) == ["4\xa0KiB random reads", "4\xa0KiB random writes", "64\xa0KiB random reads"]
    assert set(map(tuple, named.values())) == {DEPTHS}


def test_two_depths_are_no_curve_and_neither_are_unlike_workloads() -> None:
    assert curves_of(runs(depths=(1, 32))) == []
    assert curves_of(together([runs(depths=(1, 2)), runs(depths=(4, 8), thinktime_us=100.0)])) == []


def test_a_grid_of_depths_and_jobs_is_a_curve_for_each_number_of_jobs() -> None:
    per_job = (1, 4, 16)
    grid = [runs(depths=[n * depth for depth in per_job], iodepth=per_job, numjobs=n) for n in (1, 4)]
    found = curves_of(together(grid))
    assert [list(curve.values) for curve in found] == [[1, 4, 16], [4, 16, 64]]


def test_repeats_are_one_point_with_the_range_of_their_own_percentiles() -> None:
    apart = [runs(latency, started_at=f"2026-11-2{i}T08:00:00Z") for i, latency in enumerate((1_300, 1_400))]
    (curve,) = curves_of(together(apart))
    assert len(curve.points) == len(DEPTHS)
    first = curve.points[0]
    assert percentile_of(first, 99) == pytest.approx((2_600, 2_800))
    assert rate_of(first) == pytest.approx((US_PER_S / 1_300 + US_PER_S / 1_400) / 2)


def test_the_sentence_holds_for_the_rows_that_it_is_made_from() -> None:
    answer = az.judge(runs(), **P30)
    (verdict,) = answer.curves
    rows = answer.to_frame()
    at_limit = rows.loc[rows["limit"] == "disk_iops", "iops"]
    binds_from = min(depth for depth, iops in zip(DEPTHS, rows["iops"], strict=True) if iops >= min(at_limit))
    assert verdict.binds_from == binds_from == math.ceil(P30_IOPS * 1_400 / US_PER_S / 4) * 4
    assert verdict.sentence.endswith(f"from QD\xa0{binds_from} on")
    best, deepest = runs()["p99_us"].iloc[3], runs()["p99_us"].iloc[-1]
    assert verdict.slower == pytest.approx(deepest / best)
    assert f"({deepest / best:,.0f} times)" in verdict.beyond.text


def test_a_limit_binds_from_the_first_depth_that_it_binds() -> None:
    """A rate a little below the limit is at it already, though the highest rate is a little above."""
    frame = runs(1_000)
    frame["iops"] = [1_000, 2_000, 4_000, 0.99 * P30_IOPS, *[1.03 * P30_IOPS] * 4]
    frame["bw_bytes_per_s"] = frame["iops"] * 4 * KIB
    waits = US_PER_S * frame["queue_depth"] / frame["iops"]
    frame = frame.assign(lat_mean_us=waits, p50_us=waits, p99_us=2 * waits)
    (verdict,) = az.judge(frame, **P30).curves
    assert verdict.binds_from == 8
    assert verdict.curve.best_value == 16


def test_a_rate_that_still_grows_or_falls_is_told() -> None:
    growing = az.judge(runs(depths=(1, 2, 4)), **P30).curves[0]
    assert "the rate grows" in growing.beyond.text and growing.binds_from is None
    falling = runs()
    falling.loc[6:, ["iops", "bw_bytes_per_s"]] *= 0.6
    assert "the rate falls" in az.judge(falling, **P30).curves[0].beyond.text


def test_all_surfaces_show_a_curve_once(tmp_path: Path) -> None:
    answer = az.judge(together([runs(), runs(rw="randwrite")]), **P30)
    record = json.loads(json.dumps(answer.to_dict()))
    assert len(record["verdicts"]) == 2 * len(DEPTHS) == len(answer.to_frame())
    assert [len(curve["points"]) for curve in record["curves"]] == [len(DEPTHS)] * 2
    for curve, shown in zip(answer.curves, record["curves"], strict=True):
        assert shown["sentence"] == curve.sentence
        for surface in (answer.to_text(200), answer.to_markdown(), str(answer.to_html().html)):
            assert surface.count(curve.name[1:]) == 1
            assert curve.sentence in surface.replace("\n", " ")


def written(
    folder: Path,
    depths: Sequence[int],
    target: str = "/dev/sdc",
    again: int = 0,
    kib: int = 4,
    most: float = math.inf,
) -> Path:
    """Outputs of fio, a file a depth, as a person has them who states no setup; `most`: IOPS."""
    folder.mkdir(exist_ok=True)
    for depth in depths:
        iops = min(depth / 1.4e-3, most)
        lat_ns = 1e9 * depth / iops
        moments = {"min": lat_ns / 2, "max": 3 * lat_ns, "mean": lat_ns, "stddev": 1e5, "N": round(60 * iops)}
        read = {
            "io_bytes": round(60 * iops) * kib * KIB,
            "bw_bytes": round(iops * kib * KIB),
            "iops": iops,
            "runtime": 60_000,
            "total_ios": round(60 * iops),
            "clat_ns": moments | {"percentile": {"50.000000": lat_ns, "99.000000": 2 * lat_ns}},
        }
        options = {"rw": "randread", "bs": f"{kib}k", "iodepth": str(depth), "filename": target}
        how = {"ioengine": "libaio", "direct": "1"}
        job = {"jobname": f"q{depth}", "error": 0, "job options": options | how}
        document = {"fio version": "fio-3.33", "timestamp": 1763452800 + depth + 1000 * again}
        document |= {"jobs": [job | {"read": read}]}
        (folder / f"q{depth}-{kib}k{'b' * again}.json").write_text(json.dumps(document))
    return folder


def test_files_of_one_folder_are_a_curve_where_nobody_states_the_setup(tmp_path: Path) -> None:
    (curve,) = az.judge(written(tmp_path / "a", (1, 2, 4, 8))).curves
    assert list(curve.curve.values) == [1, 2, 4, 8]
    shown = azbench("verdict", str(tmp_path / "a")).stdout
    assert shown.replace("\xa0", " ").startswith("4 KiB random reads, QD 1 to 8")


def test_a_folder_is_swept_where_no_two_files_measured_the_same() -> None:
    rows = pd.DataFrame(
        {
            "source_path": ["a/1", "a/2", "a/3", "b/1", "b/2", "b/3", "b/4"],
            "rw": "randread",
            "bs_bytes": 4096,
            "queue_depth": [1, 2, 4, 1, 2, 4, 4],
            "host": pd.NA,
            "target": "/dev/sdc",
            "tool": "fio",
            "iodepth": pd.NA,
            "rate_iops": pd.NA,
            "working_set_bytes": pd.NA,
        }
    )
    assert list(swept_folders(rows).fillna("")) == ["a"] * 3 + [""] * 4
    assert swept_folders(rows.assign(host=[*"xxy", *"xxxx"])).isna().all()


def test_files_that_measured_the_same_or_other_targets_are_none(tmp_path: Path) -> None:
    twice = written(tmp_path / "twice", (1, 2, 4, 8))
    written(twice, (8,), again=1)
    assert az.judge(twice).curves == ()
    targets = written(tmp_path / "targets", (1, 2))
    written(targets, (4, 8), target="/dev/sdd")
    assert az.judge(targets).curves == ()


def test_a_report_has_a_card_a_curve_and_the_figure(tmp_path: Path) -> None:
    folder = written(tmp_path / "a", (1, 2, 4, 8))
    report = Report([str(folder)], vm="Standard_D8s_v5", disks=["P30"])
    cards = str(report.cards().html)
    assert cards.count("<article") == 1
    assert "QD\xa01 to 8" in cards and "At QD\xa08" in cards
    figure = str(report.over_load().html)
    assert figure.count("<figure") >= 1 and "The rate grows up to" in figure
    assert not str(report.percentiles().html).strip()


def words(html: str) -> str:
    """The text of a part of the page, spaces and breaks being one space."""
    return " ".join(unescape(re.sub("<[^>]+>", " ", html)).split())


def test_of_many_curves_at_one_limit_the_lead_names_three_and_counts_the_others(tmp_path: Path) -> None:
    sizes = (1, 2, 4, 8, 16, 24, 32)
    for kib in sizes:
        folder = written(tmp_path / "a", (1, 2, 4, 8, 16, 32), kib=kib, most=5_050.0)
    report = Report([str(folder)], vm="Standard_D8s_v5", disks=["P30"])
    lead = words(report.header().html)
    assert (
        f"and {len(sizes) - 3} more (blocks of 1 to 32 KiB) all stop at 5,000 IOPS, not at 200 MB/s" in lead
    )
    cards = words(report.cards().html)
    assert cards.count("ound by the disk limit of 5,000 IOPS") == len(sizes)
    fewer = sizes[:4]
    for kib in set(sizes) - set(fewer):
        for output in folder.glob(f"q*-{kib}k.json"):
            output.unlink()
    shorter = words(Report([str(folder)], vm="Standard_D8s_v5", disks=["P30"]).header().html)
    assert (
        all(f"{kib} KiB random reads (from QD 8 on)" in shorter for kib in fewer) and "more (" not in shorter
    )
