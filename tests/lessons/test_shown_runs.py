"""A lesson shows what fio was told and what it wrote, as it was, and gives the data on."""

import json
import re
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import NBSP, format_count
from azbenchlib.lessons.course import open_lesson
from azbenchlib.lessons.measure import LessonJob, find_fio, on_file
from azbenchlib.lessons.shipped import COURSE, LessonEntry
from azbenchlib.lessons.shown_run import GO_ON, answering, shown_runs

pytestmark = [pytest.mark.slow, pytest.mark.fio]
FOLD = re.compile(r'<details class="command"><summary>(.*?)</summary>(.*?)</details>', re.DOTALL)
RATE = re.compile(r"  (?:read|write): IOPS=([\d.]+)([kM]?),")
MEDIAN = re.compile(r"percentiles \(([num]sec)\):.*?50\.00th=\[\s*(\d+)\]", re.DOTALL)
US = {"nsec": 1e-3, "usec": 1.0, "msec": 1e3}


def preformatted(html: str) -> list[str]:
    """What stands in the folds, as a reader sees it."""
    return [unescape(text).replace(NBSP, " ") for text in re.findall(r"<pre>(.*?)</pre>", html, re.DOTALL)]


def jobs_of(said: str) -> dict[str, str]:
    """The lines of each job in fio's output."""
    parts = re.split(r"^(\S+): \(groupid=", said, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def check_job(row: Any, shown: str, k: float, is_asked: bool) -> None:
    """Rate and median of a job, as fio wrote them, are those of its row."""
    rate = RATE.search(shown)
    assert rate
    value = float(rate[1]) * {"": 1, "k": 1e3, "M": 1e6}[rate[2]] * k
    assert value == pytest.approx(row.iops, rel=0.01, abs=k)  # fio writes whole IOPS, cut off
    median = MEDIAN.search(shown)
    assert bool(median) == is_asked
    if median:
        assert float(median[2]) * US[median[1]] / k == pytest.approx(
            row.p50, rel=0.02, abs=max(1, US[median[1]] / k)
        )


def check_fields(row: Any, job: dict[str, Any], k: float) -> None:
    """The fields of fio's JSON are those of its row."""
    (field,) = (job[ddir] for ddir in ("read", "write") if ddir in job)
    assert field["iops"] * k == pytest.approx(row.iops)
    assert field["lat_ns"]["mean"] / k / 1e3 == pytest.approx(row.lat_mean_us)
    for name, us in (("50.000000", row.p50), ("99.000000", row.p99)):
        assert field["clat_ns"]["percentile"][name] / k / 1e3 == pytest.approx(us, rel=0.02)


@pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
@pytest.mark.sampled(2)
def test_what_a_lesson_shows_of_fio_is_what_ran_and_what_its_table_has(
    entry: LessonEntry, tmp_path: Path
) -> None:
    lesson = open_lesson(entry.name, quick=True)
    folds = FOLD.findall(lesson.measure().html)
    result = lesson.measured[lesson.knob.start]
    assert [unescape(title) for title, _ in folds] == [
        *("The job file that fio ran", "The command line", "What fio wrote, as far as it answers"),
        "The same in fio's JSON, in ns and not rounded",
    ]
    said = unescape(folds[2][1]).replace(NBSP, " ")
    files, lines, parts, documents = (preformatted(content) for _, content in folds)
    assert result.where in said and len(result.ran) >= 1
    exact = {job["jobname"]: job for document in documents for job in json.loads(document)["jobs"]}
    for ran, file, line, part in zip(result.ran, files, lines, parts, strict=True):
        assert line.startswith("fio --output-format=normal,json+ --output=lesson.out ")
        if ran.job_file:
            (tmp_path / "lesson.fio").write_text(file)
            parsed = [find_fio().path, "--parse-only", str(tmp_path / "lesson.fio")]
            assert file == ran.job_file and subprocess.run(parsed, check=False).returncode == 0
        k = ran.time_scale
        assert (f"the emulated disk ran {k:g} times slower" if k != 1 else "full speed") in said.lower()
        shown = jobs_of(part)
        assert list(shown) == list(ran.jobs["job"])
        for row in ran.jobs.itertuples():
            check_job(row, shown[row.job], k, row.job in result.asked)
            if row.job in result.asked:
                check_fields(row, exact.pop(row.job), k)
    assert not exact
    assert set(result.asked) <= {job for ran in result.ran for job in ran.jobs["job"]}


@pytest.mark.parametrize("name", ["queue", "throttle"])
def test_the_data_of_a_measurement_are_there_to_go_on_with(name: str) -> None:
    lesson = open_lesson(name, quick=True)
    with pytest.raises(InputError, match="nothing is measured yet: measure first"):
        _ = lesson.dataset
    assert preformatted(lesson.measure().html)[-1] == GO_ON
    assert GO_ON in (Path(__file__).parents[2] / "docs" / "teaching.md").read_text()
    *before, last = GO_ON.splitlines()
    space: dict[str, Any] = {"lesson": lesson}
    exec("\n".join(before), space)  # noqa: S102  what a student is told to type
    rows = eval(last, space)  # noqa: S307
    table = lesson.measured[lesson.knob.start].table
    assert [format_count(iops) for iops in rows["iops"]] == list(table["IOPS"])
    assert len(lesson.dataset.bins) and set(lesson.dataset.setups["environment"]) == {"lab"}


def test_names_and_output_are_escaped_and_only_the_asked_job_is_shown_whole(tmp_path: Path) -> None:
    name = "<b>a</b>&amp;"
    (tmp_path / "data").write_bytes(bytes(65_536))
    ran = on_file(LessonJob(name=name, volume="data", seconds=0.1, size_bytes=65_536), find_fio(), tmp_path)
    html = shown_runs([ran], [name], "<i>here</i>").html
    assert "<b>" not in html and "<i>" not in html
    file, line, part = preformatted(html)[:3]
    assert file.startswith("# none") and f"--name={name}" in line and part.startswith(f"{name}: (groupid=0")
    assert "99.00th" in part and "99.00th" not in answering(ran.said, []) and RATE.search(part)
