"""What a kept output comes to, in the words of progress."""

import json
from pathlib import Path

import pytest

from azbenchlib.campaign import outputs

FIO = Path(__file__).parents[1] / "data" / "fio"


def iops_by_group(name: str) -> dict[int, float]:
    """What fio's document says, added up by hand."""
    found: dict[int, float] = {}
    for job in json.loads((FIO / name).read_text())["jobs"]:
        rate = sum(job[ddir]["iops"] for ddir in ("read", "write", "trim"))
        found[job["groupid"]] = found.get(job["groupid"], 0) + rate
    return found


def test_jobs_of_one_group_are_added_up() -> None:
    (total,) = iops_by_group("group_jsonplus.json").values()
    assert outputs.came_to(FIO / "group_jsonplus.json") == f"{total:,.0f} IOPS"


def test_jobs_after_one_another_are_not_added_up() -> None:
    rates = sorted(iops_by_group("sections.json").values())
    assert len(rates) > 1
    words = f"{rates[0]:,.0f} to {rates[-1]:,.0f} IOPS in {len(rates)} groups of jobs"
    assert outputs.came_to(FIO / "sections.json") == words


def test_the_figures_of_a_lab_are_told_at_full_speed() -> None:
    (total,) = iops_by_group("group_jsonplus.json").values()
    assert outputs.reached(FIO / "group_jsonplus.json", 4) == f"{4 * total:,.0f} IOPS"


@pytest.mark.parametrize("name", ["failed_job.json", "no_such_file.json"])
def test_what_is_not_whole_comes_to_nothing(name: str) -> None:
    assert outputs.came_to(FIO / name) is None
