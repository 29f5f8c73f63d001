"""Jobs that share a log (per_job_logs=0) are told apart by their clock, which begins anew."""

import numpy as np
import pytest

from azbenchlib.formats.fio.logs.jobs_of_log import job_of_line, run_of_job


@pytest.mark.parametrize(
    ("times", "averaged", "jobs"),
    [
        ([500, 1000, 1500, 500, 1001], True, [0, 0, 0, 1, 1]),
        ([500, 500, 1000, 1000, 500, 500], True, [0, 0, 0, 0, 1, 1]),  # reads and writes
        ([502, 1004, 506, 1008], True, [0, 0, 1, 1]),
        ([1000, 2000, 1999, 3000], True, [0, 0, 0, 0]),  # two directions that do not end at once
        ([500, 400, 300], True, [0, 1, 2]),
        ([1, 5, 3, 9_000, 8_990, 0, 4], False, [0, 0, 0, 0, 0, 1, 1]),
        ([], True, []),
        ([7], False, [0]),
    ],
)
def test_the_job_of_each_line(times: list[int], averaged: bool, jobs: list[int]) -> None:
    assert job_of_line(np.array(times, dtype=np.int64), averaged).tolist() == jobs


def test_the_first_job_has_the_name_of_the_log() -> None:
    assert run_of_job("a" * 16, 0) == "a" * 16
    assert len({run_of_job("a" * 16, job) for job in range(5)}) == 5
