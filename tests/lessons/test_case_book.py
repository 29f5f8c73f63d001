"""The case book: figures of published cases are those of datasets, and azbench judges as the book does."""

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np
import pytest
from measuring import Measurement

from azbenchlib.analysis.compare import Shift
from azbenchlib.core.units import KIB, MB, MIB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.lab.lab import Lab
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.course import open_lesson
from azbenchlib.lessons.exercises import repeats
from azbenchlib.lessons.exercises.cases import WrongBenchmark, case_book, find_the_error, find_the_run
from azbenchlib.lessons.experiments.tables import notes
from azbenchlib.lessons.lesson import LessonResult
from azbenchlib.lessons.measure import LessonJob, Ran, drive, find_fio
from azbenchlib.model import Cap, Disk, Setup
from azbenchlib.verdict.cases.judge import judge_case

BOOK = case_book()
CASES = {case.id: case for case in BOOK.cases}
JUDGED = [case for case in BOOK.cases if case.judged]


def seeded(seed: int) -> Random:
    return Random(seed)  # noqa: S311  not for secrets


def filled(value: Any, numbers: Mapping[str, float]) -> Any:
    """A part of a case with its numbers."""
    if isinstance(value, dict):
        return {key: filled(one, numbers) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, numbers) for one in value]
    if isinstance(value, str) and "{" in value:
        number = float(value.format(**numbers))
        return int(number) if number.is_integer() else number
    return value


def test_the_book_has_the_published_cases_first_and_uses_all_that_it_names() -> None:
    assert len(CASES) == len(BOOK.cases) >= 20
    published = [bool(case.origin) for case in BOOK.cases]
    assert sum(published) >= 5 and published == sorted(published, reverse=True)
    assert len({case.origin for case in BOOK.cases if case.origin}) == 5
    assert {case.error for case in BOOK.cases} == set(BOOK.errors)
    assert {case.run for case in BOOK.cases} == set(BOOK.runs)
    assert all(set(case.near) <= {*BOOK.errors, *BOOK.runs} for case in BOOK.cases)


def test_right_answers_are_those_of_the_book_and_no_other_one_could_be() -> None:
    for seed in range(200):
        exercise = open_lesson("cases").exercise_of(seed)
        (case,) = (one for one in BOOK.cases if told_like(one).match(exercise.question))
        is_error = exercise.question.endswith("What is the error?")
        right = BOOK.errors[case.error][0] if is_error else BOOK.runs[case.run]
        near = [BOOK.errors[key][0] for key in case.near if key in BOOK.errors]
        near += [BOOK.runs[key] for key in case.near if key in BOOK.runs]
        assert exercise.answer[3:] == right and not set(near) & set(exercise.options)


def told_like(case: WrongBenchmark) -> re.Pattern[str]:
    """What questions about a case begin with, whatever its numbers are."""
    parts = re.split(r"\{[^}]*\}", case.told)
    return re.compile(r"[\d,.]+".join(re.escape(part) for part in parts))


@pytest.mark.parametrize("case", JUDGED, ids=lambda case: case.id)
def test_azbench_judges_a_case_as_the_book_does(case: WrongBenchmark) -> None:
    for seed in range(5 if case.numbers else 1):
        told = filled(dict(case.judged), case.drawn(seeded(seed)))
        label = told.pop("label")
        found = judge_case({"id": case.id, "kind": "measurement", "source": "", "demand": None} | told)
        assert found.binding == (label,) and found.probability > 0.6, case.drawn(seeded(seed))


def test_at_least_ten_cases_are_judged_and_one_run_a_side_is_undecided() -> None:
    assert len(JUDGED) >= 10
    for seed in range(5):
        numbers = CASES["one_each"].drawn(seeded(seed))
        after = numbers["before"] * (1 + numbers["gain"] / 100)
        assert repeats.judged([numbers["before"]], [after]).answer is Shift.UNDECIDED


def test_figures_of_published_cases_are_those_of_their_datasets() -> None:
    zones, workers, ultra, local = (
        Dataset.load(CASES[name].origin)
        for name in ("zrs_at_the_limit", "l_series_cores", "ultra_cost", "burst_of_a_p4")
    )
    writes = (
        zones.runs[zones.runs["rw"] == "randwrite"].merge(zones.results, on="run_id").dropna(subset="iops")
    )
    iops = writes.set_index("setup_id")["iops"]
    told = CASES["zrs_at_the_limit"].told
    assert f"found {iops['zrs-zone1']:,.0f} IOPS for the one and {iops['lrs-zone1']:,.0f}" in told
    assert set(writes["queue_depth"]) == {256} and "With 256 writes outstanding" in told
    four = workers.runs.query("setup_id == 'L16s-temp' and queue_depth == 4").merge(
        workers.results, on="run_id"
    )
    assert f"found {four['iops'].max():,.0f}" in CASES["l_series_cores"].told
    rates = ultra.published.query("quantity == 'bandwidth'")["value"]
    assert f"It gave {rates.max():.0f} MB/s" in CASES["ultra_behind_a_vm"].told and rates.max() < 0.5 * 2_000
    costs = ultra.published.query("quantity == 'cost'").set_index("stat")["value"]
    printed = f"${costs['capacity']:g} + $1.008 + ${costs['mbps']:g} = ${costs['total_as_printed']:.6f}"
    assert printed in CASES["ultra_cost"].told
    assert costs["capacity"] + 1.008 + costs["mbps"] != pytest.approx(costs["total_as_printed"])
    disk = local.runs.query("setup_id == 'E8ds_v4-os-none'").merge(local.results, on="run_id")
    assert f"and gave {disk['iops'].max():,.0f} IOPS" in CASES["burst_of_a_p4"].told
    medians = local.percentiles.query("percentile == 50").merge(local.runs, on="run_id").set_index("setup_id")
    own, cached = (medians.loc[f"E8ds_v4-{name}", "lat_us"] for name in ("ephemeral-os", "os-readwrite"))
    assert f"is {own:.0f} µs on the one and {cached:.0f} µs" in CASES["ephemeral_as_good"].told
    rates = disk_rates(local)
    assert rates["E8ds_v4-ephemeral-os"] == pytest.approx(rates["E8ds_v4-os-readwrite"], rel=0.02)
    read = Dataset.load("iozone-host-cache-2012")
    reads = read.runs[read.runs["rw"] == "read"].merge(read.results, on="run_id")
    by_setup = reads[reads["setup_id"].str.startswith("data-")].groupby("setup_id")["bw_bytes_per_s"].median()
    assert by_setup.between(2e9, 3e9).all() and len(by_setup) == 3


def disk_rates(local: Dataset) -> Any:
    """The largest IOPS of each disk."""
    return local.runs.merge(local.results, on="run_id").groupby("setup_id")["iops"].max()


def test_numbers_of_field_cases_agree_with_each_other() -> None:
    for seed in range(50):
        mib = CASES["mib_for_mb"].drawn(seeded(seed))["mib"]
        assert mib * MIB / MB == pytest.approx(200, rel=0.02) and mib / 200 == pytest.approx(0.95, abs=0.011)
        assert CASES["copy_of_one"].drawn(seeded(seed))["mbps"] * MB / (64 * KIB) == pytest.approx(
            442, rel=0.04
        )
        small = CASES["small_working_set"].drawn(seeded(seed))
        assert small["gib"] < 200 < small["table"]
        cached = CASES["cached_file"].drawn(seeded(seed))
        assert cached["size"] < cached["memory"]
        blocks = CASES["other_blocks"].drawn(seeded(seed))
        assert blocks["large"] * 128 * KIB == pytest.approx(200 * MB, rel=0.2)


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.alone
def test_the_run_that_tells_comes_out_differently() -> None:
    lesson = open_lesson("cases", quick=True)

    def holds(result: LessonResult) -> None:
        rates = result.ran[0].jobs.set_index("job")["bw_bytes_per_s"] / MB
        assert rates["copy-1"] == pytest.approx(lesson.expected(1) / MB, rel=0.25)
        assert rates["copy-8"] == pytest.approx(200, rel=0.1) and rates["copy-16"] < 1.1 * rates["copy-8"]

    Measurement(lambda: lesson.run(1), lambda result: " ".join(notes(*result.ran))).check(holds)


def driven(setup: Setup, job: LessonJob) -> Ran:
    with Lab(setup, time_scale=4) as lab:
        return drive(lab, [job], find_fio())


def _disk(name: str = "data") -> Disk:
    return Disk(name=name, sku="Premium_LRS", tier="P30", cap=Cap(iops=5_000, bytes_per_s=200 * MB))


def _copy(_: Mapping[str, float]) -> tuple[Setup, LessonJob]:
    job = LessonJob(name="copy", volume="data", seconds=6.0, rw="read", bs_bytes=64 * KIB)
    return Setup(disks=(_disk(),)), job


def _own_rate(numbers: Mapping[str, float]) -> tuple[Setup, LessonJob]:
    rate = int(numbers["rate"])
    job = LessonJob(name="load", volume="data", seconds=6.0, iodepth=64, rate_iops=rate)
    return Setup(disks=(_disk(),)), job


@pytest.mark.long
@pytest.mark.fio
@pytest.mark.alone
@pytest.mark.parametrize(
    ("name", "made", "rate"),
    [
        ("copy_of_one", _copy, lambda ran, numbers: ran.bw_bytes_per_s / MB / numbers["mbps"]),
        ("rate_in_the_job", _own_rate, lambda ran, numbers: ran.iops / numbers["rate"]),
    ],
)
def test_cases_come_out_so_with_real_fio_on_the_lab(
    name: str, made: Callable[..., tuple[Setup, LessonJob]], rate: Callable[..., float]
) -> None:
    for seed in range(5):
        numbers = CASES[name].drawn(seeded(seed))
        setup, job = made(numbers)

        def holds(ran: Ran, numbers: Mapping[str, float] = numbers) -> None:
            (row,) = ran.jobs.itertuples()
            assert rate(row, numbers) == pytest.approx(1, rel=0.08)

        Measurement(lambda s=setup, j=job: driven(s, j), lambda ran: " ".join(notes(ran))).check(holds)


def test_both_kinds_of_questions_are_there_for_each_case() -> None:
    for case in BOOK.cases:
        made: list[Exercise] = [find(seeded(1), case) for find in (find_the_error, find_the_run)]
        assert all(one.clear and len(one.options) == 4 for one in made)
        assert np.unique([one.question for one in made]).size == 2
