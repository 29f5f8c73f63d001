"""Published measurements with a change each: no wrong label is named with 95 % or more."""

from typing import Any

import pytest
from published_cases import cases, cases_files
from simulated import judge_cases

EVERY = 3  # of so many changed cases, one is judged in a usual test run
CASES = judge_cases.measurements(cases_files())


@pytest.mark.parametrize("step", [EVERY, pytest.param(1, marks=pytest.mark.long)])
def test_no_change_of_a_measurement_makes_a_wrong_verdict_sure(step: int) -> None:
    if not cases():
        pytest.skip("AZBENCH_CORPUS is not set, or there is no folder cases beside it")
    changed = [pair for case in CASES for pair in judge_cases.perturbed(case)]
    found = judge_cases.judged(changed[::step])
    assert len(found) > 200 / step
    wrong = found[~found["right"] & (found["probability"] >= judge_cases.SURE)]
    assert wrong.empty, wrong.to_string()


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.long)])
def test_no_fact_that_is_left_out_or_misstated_makes_a_wrong_verdict_sure(step: int) -> None:
    if not cases():
        pytest.skip("AZBENCH_CORPUS is not set, or there is no folder cases beside it")
    found = judge_cases.judged([pair for case in CASES for pair in judge_cases.with_one_change(case)][::step])
    assert len(found) > 700 / step
    wrong = found[~found["named"] & (found["probability"] >= judge_cases.SURE)]
    assert wrong.empty, wrong.to_string()


def case(**known: Any) -> dict[str, Any]:
    disk = {"tier": "P30", "cache": "None", "iops": 5000, "mbps": 200}
    job = {"qd_total": 64, "jobs": 4, "runtime_s": 30, "direct": 1, "rw": "randread"}
    usual = {"id": "x", "kind": "measurement", "vm": {"size": "Standard_D8s_v3"}, "disks": [disk], "job": job}
    return usual | {"observed": {"iops": 5090, "mib_s": 19.9, "p99_us": 45_000}} | known


def test_each_change_is_of_one_thing() -> None:
    made = dict(judge_cases.perturbed(case()))
    assert made["rates x 1.05"]["observed"] == {
        "iops": pytest.approx(5344.5),
        "mib_s": pytest.approx(20.895),
        "p99_us": pytest.approx(45_000 / 1.05),
    }
    assert made["mib_s for mbps"]["observed"]["mbps"] == 19.9
    assert "cache" not in made["no caching"]["disks"][0]
    assert not {"qd_total", "jobs"} & set(made["no depth"]["job"])
    assert "runtime_s" not in made["no runtime"]["job"] and "direct" not in made["no direct"]["job"]
    assert made["no vm"]["vm"] is None and made["no disks"]["disks"] == []


def test_each_single_fact_is_left_out_and_each_figure_misstated() -> None:
    changes = list(judge_cases.with_one_change(case()))
    names = [what for what, _ in changes]
    assert (names.count("no job"), names.count("no vm")) == (5, 1)
    misstated = [made["disks"][0]["mbps"] for what, made in changes if what.startswith("MB for MiB")]
    assert misstated == [pytest.approx(209.7152), pytest.approx(190.7349)]
    assert names.count("no observed") == 1  # the rates are what is judged


def test_the_part_of_the_page_is_put_in_its_place_again() -> None:
    page = judge_cases.into_page("# Page\n\ntext\n", "\nfirst\n")
    assert judge_cases.part_of(page) == "\nfirst\n" and not judge_cases.part_of("# Page\n")
    again = judge_cases.into_page(page, "\nsecond\n")
    assert "first" in page and "first" not in again and again.startswith("# Page\n\ntext\n")
    assert again == judge_cases.into_page(again, "\nsecond\n")
