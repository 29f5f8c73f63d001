"""Curves over offered rates, sizes of the data and block sizes: what is one, and what is said of it."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from programs import azbench

import azbenchlib as az
from azbenchlib.analysis.axes import AXES, BLOCK_SIZE, DATA_SIZE, OFFERED_RATE, QUEUE_DEPTH, Axis
from azbenchlib.answers.curve_verdict import CurveVerdict
from azbenchlib.core.units import GIB, KIB, MB, US_PER_S
from azbenchlib.views.report import Report

P30_IOPS, P30_MBPS = 5_000, 200
P30 = {"vm": "Standard_D8s_v5", "disks": ["P30"]}
IN_UNITS = {
    **{"IOPS": 1.0, "MB/s": 1.0 * MB, "µs": 1.0, "ms": 1e3, "s": 1e6},
    **{"KiB": 1.0 * KIB, "MiB": 1.0 * KIB**2, "GiB": 1.0 * GIB},
}
FIGURE = re.compile(rf"([\d,.]*\d)(?: to ([\d,.]*\d))?[ \xa0]({'|'.join(map(re.escape, IN_UNITS))})\b")


def runs(rates: Sequence[float], tails: Sequence[float] | None = None, **facts: Any) -> pd.DataFrame:
    """Runs of 4 KiB random reads with 32 I/Os outstanding, unless `facts` say otherwise."""
    rows = {"rw": "randread", "bs_bytes": 4 * KIB, "iodepth": 32, "numjobs": 1, "queue_depth": 32}
    rows |= {
        "tool": "fio",
        "ioengine": "libaio",
        "direct": True,
        "lat_kind": "clat",
        "runtime_s": 60.0,
    } | facts
    frame = pd.DataFrame({"iops": [float(rate) for rate in rates]}).assign(**rows)
    waits = frame["queue_depth"] * US_PER_S / frame["iops"]
    frame = frame.assign(bw_bytes_per_s=frame["iops"] * frame["bs_bytes"], lat_mean_us=waits, p50_us=waits)
    return frame.assign(p99_us=2 * waits if tails is None else tails, n=(60 * frame["iops"]).round())


def curve_of(frame: pd.DataFrame, axis: Axis) -> CurveVerdict:
    (verdict,) = az.judge(frame.sample(frac=1, random_state=1), **P30).curves
    assert verdict.curve.axis is axis
    return verdict


def figures_in(text: str) -> list[tuple[float, str]]:
    """Value in base units and unit of each figure; a range has two."""
    return [
        (float(number.replace(",", "")) * IN_UNITS[unit], unit)
        for *numbers, unit in FIGURE.findall(text)
        for number in numbers
        if number
    ]


def is_known(value: float, known: Sequence[float]) -> bool:
    return any(value == pytest.approx(one, rel=0.01) for one in known)


@pytest.mark.parametrize("seed", range(6))
def test_an_offered_rate_is_delivered_up_to_where_it_was(seed: int) -> None:
    rng = np.random.default_rng(seed)
    offered = sorted(100 * int(n) for n in rng.choice(range(3, 90), 7, replace=False))
    most = rng.uniform(1_000, 5_000)
    got = [min(rate, most) for rate in offered]
    tails = [2_000 * (1 + rate / most) for rate in offered]
    verdict = curve_of(runs(got, tails, rate_iops=[float(rate) for rate in offered]), OFFERED_RATE)
    kept = [rate for rate in offered if rate * 0.97 <= most]
    text = verdict.beyond.text
    assert list(verdict.curve.values) == offered
    if not kept:
        assert text.startswith("Not even")
        return
    assert verdict.curve.best_value == kept[-1]
    begins = "All is delivered, up to" if len(kept) == len(offered) else "Delivered up to"
    assert text.startswith(f"{begins} {kept[-1]:,}\xa0IOPS")
    assert all(
        is_known(value, [*offered, *got] if unit == "IOPS" else tails) for value, unit in figures_in(text)
    )


def test_the_rate_of_all_jobs_is_what_is_offered() -> None:
    frame = runs([400, 800, 1_600], rate_iops=[100.0, 200.0, 400.0], iodepth=8, numjobs=4)
    assert list(curve_of(frame, OFFERED_RATE).curve.values) == [400, 800, 1_600]


@pytest.mark.parametrize("seed", range(6))
def test_where_the_data_outgrow_a_cache_the_rate_falls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    held = int(rng.integers(0, 7))
    rates = [
        40_000 * rng.uniform(0.95, 1) if i <= held else 4_000 * 2.0 ** (7 - i) / 64 + 900 for i in range(8)
    ]
    sizes = [GIB << i for i in range(8)]
    verdict = curve_of(runs(rates, working_set_bytes=sizes), DATA_SIZE)
    text = verdict.beyond.text.replace("\xa0", " ")
    assert text.startswith(f"From {1 << (held + 1)} GiB of data on IOPS fall, from {rates[held]:,.0f} to ")
    assert f"to {rates[-1]:,.0f} at 128 GiB of data" in text


def test_data_that_change_nothing_are_said_to() -> None:
    verdict = curve_of(runs([5_050, 5_000, 5_020], working_set_bytes=[GIB, 2 * GIB, 4 * GIB]), DATA_SIZE)
    assert verdict.beyond.text == "IOPS do not fall up to 4\xa0GiB of data"
    assert verdict.sentence.endswith("from 1\xa0GiB of data on")


def blocks() -> pd.DataFrame:
    sizes = [4 * KIB << i for i in range(9)]
    rates = [1.01 * min(P30_IOPS, P30_MBPS * MB / size) for size in sizes]
    return runs(rates, bs_bytes=sizes)


def test_block_sizes_are_bound_by_one_limit_and_then_by_the_other() -> None:
    verdict = curve_of(blocks(), BLOCK_SIZE)
    assert verdict.name.replace("\xa0", " ") == "random reads, QD 32, 4 KiB to 1 MiB"
    sentence = verdict.sentence.replace("\xa0", " ")
    last = max(size for size in blocks()["bs_bytes"] if size * P30_IOPS < P30_MBPS * MB) // KIB
    assert "Bound by the disk limit of 5,000 IOPS" in sentence
    assert sentence.endswith(f"up to {last} KiB; from {2 * last} KiB on by the disk limit of 200 MB/s")
    beyond = verdict.beyond.text.replace("\xa0", " ")
    assert beyond == "Most IOPS up to 32 KiB (5,050 IOPS), most MB/s from 64 KiB on (202 MB/s)"


def test_a_run_is_a_point_of_the_queue_depth_first() -> None:
    depths = [runs([700.0 * depth], queue_depth=depth, iodepth=depth) for depth in (1, 2, 4)]
    deep = [runs([2_800.0], queue_depth=4, iodepth=4, bs_bytes=size * KIB) for size in (8, 16, 32)]
    curves = az.judge(pd.concat([*depths, *deep], ignore_index=True), **P30).curves
    assert [(one.curve.axis, len(one.curve.points)) for one in curves] == [(QUEUE_DEPTH, 3), (BLOCK_SIZE, 3)]


def test_unlike_workloads_and_files_of_iozone_are_no_curve() -> None:
    three = [100.0, 200.0, 400.0]
    assert az.judge(runs(three, rate_iops=three, thinktime_us=three), **P30).curves == ()
    sizes = {"bs_bytes": [4 * KIB, 8 * KIB, 16 * KIB], "iodepth": 1, "queue_depth": 1}
    assert az.judge(runs(three, tool="iozone", **sizes), **P30).curves == ()


@pytest.mark.parametrize("axis", AXES, ids=lambda axis: axis.key)
def test_a_record_names_its_axis(axis: Axis) -> None:
    frames = {
        QUEUE_DEPTH: runs([700, 1_400, 2_800], iodepth=[1, 2, 4], queue_depth=[1, 2, 4]),
        OFFERED_RATE: runs([700, 1_400, 2_800], rate_iops=[700.0, 1_400.0, 2_800.0]),
        DATA_SIZE: runs([700, 700, 700], working_set_bytes=[GIB, 2 * GIB, 4 * GIB]),
        BLOCK_SIZE: blocks(),
    }
    verdict = curve_of(frames[axis], axis)
    record = json.loads(json.dumps(verdict.record()))
    assert record.get("axis", "queue_depth") == axis.key
    assert {f"binds_from_{axis.key}", f"best_{axis.key}"} <= record.keys()
    assert [point[axis.key] for point in record["points"]] == list(verdict.curve.values)
    assert (record.keys() & {"rw", "bs_bytes", "queue_depth"}) == {*axis.shared}
    assert {column.name for column in verdict.table().columns} >= {axis.key, "iops", "p99_us"}


def written(folder: Path, options: Sequence[dict[str, str]], rates: Sequence[float]) -> Path:
    """Outputs of fio, a file a run, as a person has them who states no setup."""
    folder.mkdir()
    for i, (own, iops) in enumerate(zip(options, rates, strict=True)):
        told = {"rw": "randread", "bs": "4k", "iodepth": "32", "filename": "/dev/sdc", "ioengine": "libaio"}
        told |= {"direct": "1"} | own
        lat_ns = 32e9 / iops
        moments = {"min": lat_ns / 2, "max": 3 * lat_ns, "mean": lat_ns, "stddev": 1e5, "N": round(60 * iops)}
        read = {
            "io_bytes": round(60 * iops) * 4096,
            "bw_bytes": round(iops * 4096),
            "iops": iops,
            "runtime": 60_000,
            "total_ios": round(60 * iops),
            "clat_ns": moments | {"percentile": {"50.000000": lat_ns, "99.000000": 2 * lat_ns}},
        }
        job = {"jobname": f"j{i}", "error": 0, "job options": told, "read": read}
        document = {"fio version": "fio-3.33", "timestamp": 1763452800 + 100 * i, "jobs": [job]}
        (folder / f"j{i}.json").write_text(json.dumps(document))
    return folder


def test_a_folder_of_offered_rates_is_a_curve_where_nobody_states_the_setup(tmp_path: Path) -> None:
    rates = [500, 1_000, 2_000, 4_000]
    options = [{"rate_iops": str(rate)} for rate in rates]
    shown = azbench("verdict", str(written(tmp_path / "a", options, rates))).stdout.replace("\xa0", " ")
    assert shown.startswith("4 KiB random reads, QD 32, 500 to 4,000 IOPS offered")


def test_every_figure_of_a_card_and_its_figure_is_in_the_tables(tmp_path: Path) -> None:
    sizes, rates = [1, 2, 4, 8, 16], [5_040, 5_010, 5_020, 2_400, 1_300]
    folder = written(tmp_path / "a", [{"size": f"{size}g"} for size in sizes], rates)
    report = Report([str(folder)], **P30)
    html = str(report.cards().html)
    measured = html.partition("<article")[2].partition("</article>")[0].partition("What to change")[0]
    card = re.sub(r"<[^>]+>", " ", measured)
    assert "1 to 16\xa0GiB of data" in html and html.count("<article") == 1
    limits = {"IOPS": [5_000, 12_800, 20_000], "MB/s": [limit * MB for limit in (200, 290, 1_200)]}
    known = {
        "IOPS": [*rates, *limits["IOPS"]],
        "MB/s": [*(rate * 4 * KIB for rate in rates), *limits["MB/s"], 5_000 * 4 * KIB],
        "ms": [times * 32 * US_PER_S / rate for rate in rates for times in (1, 2)],
        "GiB": [size * GIB for size in sizes],
        "KiB": [4 * KIB],
    }
    found = figures_in(re.sub(r"\s+", " ", card))
    assert len(found) > 8
    assert [one for one in found if not is_known(one[0], known[one[1]])] == []
    figure = str(report.over_load().html)
    assert "IOPS hold up to 4\xa0GiB of data" in figure and figure.count("<figure") == 1
