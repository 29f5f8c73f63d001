"""Pictures of mechanisms: what they show is what the model, or the emulated disk in calculated time, says."""

import re

import pandas as pd
import pytest

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_us
from azbenchlib.lab.engine.simulate import SimulatedJob, simulate
from azbenchlib.lab.engine.virtual_machine import Machine, Options
from azbenchlib.lessons.course import entries, open_lesson
from azbenchlib.lessons.exercises.burst import bucket_of
from azbenchlib.lessons.lesson import Lesson
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.plots import NARROW, WIDE, Series
from azbenchlib.plots.mechanisms import (
    LimitOnTheWay,
    StockLevel,
    cached_blocks,
    in_places,
    limits_on_the_way,
    queue_places,
    stock_levels,
)

WITH_PICTURES = ("queue", "throttle", "nested", "burst", "caches", "tails")
DISK = Series("disk", "the disk", "the disk", 1)


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def lesson(name: str, prediction: str = "5") -> Lesson:
    opened = open_lesson(name, prediction=prediction)
    assert isinstance(opened, Lesson)
    return opened


def limited(depth: int, limit: float, seconds: float = 1.0) -> pd.DataFrame:
    setup = Setup(disks=(Disk(name="data", sku="Premium_LRS", tier="P30", cap=Cap(iops=limit)),))
    return simulate(Machine(setup, Options()), SimulatedJob(volume="data", queue_depth=depth), seconds)


def test_an_io_waits_for_the_limit_and_is_served_in_the_time_of_the_disk() -> None:
    alone, many = limited(1, 5_000), limited(16, 5_000)
    assert alone["wait_us"].abs().max() < 1e-3  # one at a time is never held back
    own = many["lat_us"] - many["wait_us"]
    assert own.mean() == pytest.approx(alone["lat_us"].mean(), rel=0.01)
    assert many["lat_us"].mean() == pytest.approx(16 / 5_000 * 1e6, rel=0.01)  # Little's law
    assert (many["wait_us"] > -1e-3).all()


def test_places_are_as_many_as_are_outstanding_and_never_held_twice() -> None:
    places = in_places(limited(16, 5_000), "16 outstanding", 0.1, 0.2)
    assert set(places["place"]) == set(range(1, 17))
    for _, rows in places.groupby("place"):
        next_ones, before = rows["submitted_s"].iloc[1:].to_numpy(), rows["completed_s"].iloc[:-1].to_numpy()
        assert (next_ones >= before - 1e-9).all()
    assert (places["submitted_s"] <= places["admitted_s"] + 1e-9).all()
    assert (places["admitted_s"] < places["completed_s"]).all()
    waited_s = places["admitted_s"] - places["submitted_s"]
    assert waited_s.mean() == pytest.approx(limited(16, 5_000)["wait_us"].mean() / 1e6, rel=0.05)
    completed = places[places["completed_s"] <= 0.1]
    assert len(completed) == pytest.approx(500, abs=2)  # 5,000 a second for a tenth of it


@pytest.mark.parametrize("layout", [WIDE, NARROW])
def test_a_bar_is_as_long_as_its_io(layout: object) -> None:
    places = in_places(limited(4, 1_000), "4 outstanding", 0.1, 0.12)
    drawn = queue_places(places, DISK, layout, until_s=0.02)  # type: ignore[arg-type]
    (panel,) = drawn.figure.axes
    paths = {patch.get_gid(): patch.get_path().vertices for patch in panel.patches}
    for gid, begins, ends in (
        ("waits-0", "submitted_s", "admitted_s"),
        ("served-0", "admitted_s", "completed_s"),
    ):
        bars = paths[gid].reshape(-1, 5, 2)
        left, right = bars[:, 0, 0], bars[:, 1, 0]
        assert left == pytest.approx(places[begins].clip(0, 0.02).to_numpy())
        assert right == pytest.approx(places[ends].clip(0, 0.02).to_numpy())
    waited = (places["admitted_s"] - places["submitted_s"])[places["completed_s"] <= 0.02].mean() * 1_000
    assert f"on average each waits {waited:.1f} ms" in drawn.label


def test_a_limit_is_as_wide_as_it_is_and_filled_as_it_is_used() -> None:
    passed = [
        LimitOnTheWay(name="4 × disk IOPS", limit=20_000, used=12_800, binds=False),
        LimitOnTheWay(name="VM uncached IOPS", limit=12_800, used=12_800, binds=True),
    ]
    for layout in (WIDE, NARROW):
        drawn = limits_on_the_way(passed, DISK, layout)
        (panel,) = drawn.figure.axes
        ends = {patch.get_gid(): patch.get_path().vertices[:, 0].max() for patch in panel.patches}
        assert ends == {"limit-0": 20_000, "used-0": 12_800, "limit-1": 12_800, "used-1": 12_800}
        assert "VM uncached IOPS: binds 12,800 of 12,800 IOPS" in drawn.label


def test_a_vessel_is_filled_and_a_block_coloured_as_stated() -> None:
    levels = [StockLevel(name=f"{i} min", share=i / 4, lines=["+500"]) for i in range(5)]
    (panel,) = stock_levels(levels, DISK, WIDE).figure.axes
    tops = {patch.get_gid(): patch.get_path().vertices[:, 1].max() for patch in panel.patches}
    assert [tops[f"level-{i}"] for i in range(5)] == [0, 0.25, 0.5, 0.75, 1]
    held = [i % 3 == 0 for i in range(64)]
    drawn = cached_blocks([("after 1 read", held)], DISK, NARROW)
    paths = {patch.get_gid(): patch.get_path() for patch in drawn.figure.axes[0].patches}
    assert len(paths["cached-0"].vertices) == 5 * sum(held)
    assert len(paths["uncached-0"].vertices) == 5 * (64 - sum(held))


@pytest.mark.parametrize("name", WITH_PICTURES)
def test_a_lesson_has_its_picture_folded_before_a_prediction(name: str) -> None:
    shown = lesson(name).picture().html
    assert shown.count("<svg") == 2 and "How to read this" in shown and "<details" not in shown
    assert "open it when you have written down your prediction" in lesson(name, prediction="").picture().html


def test_the_titles_say_what_the_model_calculates() -> None:
    bucket = bucket_of("P10")
    assert f"the stock ends after {bucket.time_to_empty(2_000) / 60:.0f} minutes" in words(
        lesson("burst").picture().html
    )
    queue = lesson("queue")
    assert f"4 places complete {queue.expected(5_000):,.0f} reads per second, 16 complete 5,000" in words(
        queue.picture().html
    )
    assert "Every 50 ms 55 I/Os pass, then all 16 wait" in words(lesson("throttle").picture().html)
    nested = lesson("nested")
    assert f"{nested.expected(1):,.0f} of {nested.expected(1):,.0f} IOPS" in words(nested.picture().html)
    tails = lesson("tails")
    assert words(f"p99 {format_us(tails.expected(0.1))}, 20,000 I/Os") in words(tails.picture().html)
    assert re.search(r"then serves (49|50|51) % of the reads", words(lesson("caches").picture().html))


def test_a_lesson_without_a_picture_says_so() -> None:
    without = next(entry.name for entry in entries() if entry.name not in WITH_PICTURES)
    with pytest.raises(InputError, match="has no picture"):
        lesson(without).picture()
