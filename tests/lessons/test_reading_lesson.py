"""Exercises on fio's output: written as fio writes it, and answered as model and real fio answer."""

import json
import re
import subprocess
from pathlib import Path
from random import Random

import pytest
from measuring import Measurement

from azbenchlib.core.units import KIB, MB, MS_PER_S
from azbenchlib.lab.lab import Lab
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.course import open_lesson
from azbenchlib.lessons.exercises import reading
from azbenchlib.lessons.experiments.tables import notes
from azbenchlib.lessons.fio_output import paragraph
from azbenchlib.lessons.lesson import LessonResult
from azbenchlib.lessons.measure import LessonJob, Ran, drive, find_fio
from azbenchlib.model import Cap, Disk, Setup

JOB = re.compile(r"^(?=\S.*: \(groupid=\d+, jobs=\d+\): err=)", re.MULTILINE)
SEEDED = Random(1)  # noqa: S311  not for secrets
MS = {"nsec": 1e-6, "usec": 1e-3, "msec": 1.0}
SAID_OF_A_CAUSE = {
    "queue": "The queue depth",
    "iops": "The IOPS limit",
    "mbps": "The MB/s limit",
    "cpu": "The proc",
}


def exercises() -> list[Exercise]:
    return [open_lesson("reading").exercise_of(seed) for seed in range(200)]


def number(text: str) -> float:
    return float(text.replace(",", ""))


def of_output(pattern: str, exercise: Exercise) -> float:
    """The sum of what a pattern finds in an output; of times, in ms."""
    found = re.findall(pattern, exercise.excerpt)
    assert found, (pattern, exercise.excerpt)
    return sum(float(one) if isinstance(one, str) else float(one[1]) * MS[one[0]] for one in found)


def iops(exercise: Exercise) -> float:
    value, k = re.findall(r"IOPS=([\d.]+)(k?)", exercise.excerpt)[0]
    return float(value) * (1000 if k else 1)


def mb_per_s(exercise: Exercise) -> float:
    """All throughput of the output, of the figures in brackets."""
    found = re.findall(r"\(([\d.]+)([kM])B/s\)", exercise.excerpt)
    return sum(float(value) * {"k": 1e-3, "M": 1.0}[prefix] for value, prefix in found)


def percentile_ms(exercise: Exercise, name: str) -> float:
    unit = re.search(r"percentiles \((.sec)\)", exercise.excerpt)
    value = re.search(rf"{name}th=\[ *(\d+)\]", exercise.excerpt)
    assert unit and value
    return float(value[1]) * MS[unit[1]]


def of_question(pattern: str, exercise: Exercise) -> float:
    found = re.search(pattern, exercise.question)
    assert found, exercise.question
    return number(found[1])


def cause(rate: float, per_s: float, busy: float, limit: float, most: float) -> str:
    """What determines a rate, by what was reached."""
    if rate > 0.98 * limit:
        return "iops"
    if per_s > 0.98 * most:
        return "mbps"
    return "cpu" if busy > 95 else "queue"


def check_answer(exercise: Exercise) -> str:
    """Answer an exercise from the text that a student sees; gives what it was about."""
    mean_ms = r"\n     lat \((.sec)\): .*?avg= *([\d.]+)"
    if "move in all" in exercise.question:
        assert exercise.right == pytest.approx(mb_per_s(exercise) * MB, rel=0.01)
        return "moved"
    if "really outstanding" in exercise.question:
        assert exercise.right == pytest.approx(
            iops(exercise) * of_output(mean_ms, exercise) / MS_PER_S, rel=0.01
        )
        return "outstanding"
    if "promises" in exercise.question:
        holds = percentile_ms(exercise, "99.00") <= of_question(r"at most ([\d.]+) ms", exercise)
        assert exercise.answer.endswith(f"{'Yes' if holds else 'No'}: the percentile 99.00th decides")
        return f"target {holds}"
    limit = of_question(r"allows ([\d,]+) IOPS", exercise)
    if "paragraphs like this" in exercise.question:
        full = of_question(r"ran (\d+) jobs", exercise) * iops(exercise) > 0.98 * limit
        assert ("gives what it allows" if full else "too few I/Os outstanding") in exercise.answer
        return f"shares {full}"
    found = cause(
        iops(exercise),
        mb_per_s(exercise),
        of_output(r"(?:usr|sys)=([\d.]+)%", exercise),
        limit,
        of_question(r"IOPS and ([\d,]+) MB/s", exercise),
    )
    assert SAID_OF_A_CAUSE[found] in exercise.answer, exercise.excerpt
    return found


def test_right_answers_are_what_the_output_says() -> None:
    kinds = {check_answer(exercise) for exercise in exercises()}
    decisions = {"target True", "target False", "shares True", "shares False", *SAID_OF_A_CAUSE}
    assert kinds == {"moved", "outstanding"} | decisions
    assert sum(bool(exercise.options) for exercise in exercises()) >= 100


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.parametrize(
    "options",
    [
        ("--ioengine=psync", "--rw=randrw", "--bs=64k"),
        ("--ioengine=psync", "--rw=read", "--bs=4k", "--number_ios=25592", "--size=128M", "--time_based=0"),
        (
            "--ioengine=posixaio",
            "--rw=randread",
            "--bs=4k",
            "--iodepth=8",
            "--numjobs=3",
            "--group_reporting",
        ),
        ("--ioengine=psync", "--rw=randwrite", "--bs=512", "--rate_iops=100"),
    ],
    ids=["mixed", "a rounded size", "a group", "few writes"],
)
def test_outputs_of_exercises_are_written_as_fio_writes_them(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    command = [
        find_fio().path,
        "--name=load",
        "--filename=data",
        "--size=8M",
        "--time_based",
        "--runtime=200ms",
    ]
    command += [*options, "--output-format=normal,json+", "--output=out"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    text = (tmp_path / "out").read_text()
    begin = text.index("\n{\n") + 1
    document, end = json.JSONDecoder().raw_decode(text, begin)
    (job,) = document["jobs"]
    (real,) = JOB.split(text[:begin] + text[end:])[1:]
    head, *lines = paragraph(job, 3 if "--group_reporting" in options else 1).splitlines()
    assert real.startswith(f"{head}: pid=") and set(lines) <= set(real.splitlines()) and len(lines) >= 7


@pytest.mark.slow
@pytest.mark.fio
@pytest.mark.alone
def test_a_paragraph_has_its_share_and_a_group_the_whole() -> None:
    lesson = open_lesson("reading", quick=True)

    def holds(result: LessonResult) -> None:
        rows = result.ran[0].jobs.set_index("job")["iops"]
        readers = rows.drop("together")
        assert len(readers) == 4 and readers.sum() == pytest.approx(2_000, rel=0.1)
        assert rows["together"] == pytest.approx(2_000, rel=0.1)
        assert result.value == pytest.approx(lesson.expected(4), rel=0.2)
        assert [float(one) for one in result.table["IOPS × lat"]] == pytest.approx([8, 8, 8, 8, 32], rel=0.15)

    Measurement(lambda: lesson.run(4), lambda result: " ".join(notes(*result.ran))).check(holds)


def probed(cap: Cap, bs_bytes: int, depth: int) -> Ran:
    """One job on an emulated disk."""
    setup = Setup(disks=(Disk(name="data", sku="Premium_LRS", tier="P30", cap=cap),))
    with Lab(setup, time_scale=4) as lab:
        job = LessonJob(name="probe", volume="data", seconds=8.0, bs_bytes=bs_bytes, iodepth=depth)
        return drive(lab, [job], find_fio())


@pytest.mark.long
@pytest.mark.fio
@pytest.mark.alone
def test_causes_are_those_that_real_fio_shows_on_the_lab() -> None:
    asked = [one for one in exercises() if "with one job" in one.question and "400,000" not in one.question]
    assert len({one.answer[3:] for one in asked[:5]}) >= 2
    for exercise in asked[:5]:
        patterns = (r"allows ([\d,]+) IOPS", r"IOPS and ([\d,]+) MB/s", r"of (\d+) KiB", r"iodepth=(\d+)")
        limit, most, size, depth = (of_question(pattern, exercise) for pattern in patterns)
        cap = Cap(iops=limit, bytes_per_s=most * MB)

        def holds(ran: Ran, exercise: Exercise = exercise, limit: float = limit, most: float = most) -> None:
            (job,) = ran.jobs.itertuples()
            rate, per_s = 1.02 * job.iops, 1.02 * job.bw_bytes_per_s / MB  # the drain makes both too low
            assert SAID_OF_A_CAUSE[cause(rate, per_s, 0, limit, most)] in exercise.answer, exercise.question
            assert job.iops == pytest.approx(iops(exercise), rel=0.05)

        Measurement(
            lambda cap=cap, size=size, depth=depth: probed(cap, int(size) * KIB, int(depth)),
            lambda ran: " ".join(notes(ran)),
        ).check(holds)


def test_a_waiting_i_o_is_told_from_a_slow_one() -> None:
    free = reading.unloaded_us().mean()
    assert reading.loaded_us(1, 1e6 / free).mean() == pytest.approx(free)
    assert reading.loaded_us(32, 1_000).mean() == pytest.approx(32_000)
    exercise = reading.what_binds(SEEDED, Cap(iops=5_000, bytes_per_s=200e6), 4 * KIB, 64)
    assert exercise.answer.endswith("The IOPS limit of the disk")
