"""What fio was told and what it wrote, for a student to see: job file, command line, part of its output."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from azbenchlib.answers.blocks import Block, render
from azbenchlib.lessons.measure import SHOWN_PERCENTILES, Ran

_JOB = re.compile(r"^(?=\S.*: \(groupid=\d+, jobs=\d+\): err=)", re.MULTILINE)  # fio: stat.c, 3.33
_ENDS = re.compile(r"^(?:  lat \([num]sec\) +:|$)", re.MULTILINE)  # after rates, latencies and percentiles
_RATES = 2  # lines of a job: its name, and its rates
_DIRECTIONS = ("read", "write")
_PERCENTILES = tuple(f"{p:.6f}" for p in SHOWN_PERCENTILES)
GO_ON = """\
jobs = lesson.dataset.overview().set_index("job")
jobs[["queue_depth", "iops", "p50_us", "p99_us"]]"""


def answering(said: str, asked: Collection[str]) -> str:
    """The part of fio's normal output that an answer is in, as fio wrote it.

    Parameters
    ----------
    said : str
        The normal output of one run.
    asked : collection of str
        Names of the jobs whose latencies and percentiles are shown; of the others only the rates are.
    """
    parts = []
    for job in _JOB.split(said)[1:]:
        shown = _ENDS.split(job, maxsplit=1)[0].rstrip("\n")
        is_asked = shown.partition(": (groupid=")[0] in asked
        parts.append(shown if is_asked else "\n".join(shown.split("\n")[:_RATES]))
    return "\n".join(parts)


def fields(document: Mapping[str, Any], asked: Collection[str]) -> str:
    """Those fields of fio's JSON that an answer is in, unrounded: rates, mean latency, percentiles.

    Parameters
    ----------
    document : mapping
        The JSON of one run.
    asked : collection of str
        Names of the jobs that are shown.
    """
    jobs = [
        {"jobname": job["jobname"]}
        | {ddir: _of_direction(job[ddir]) for ddir in _DIRECTIONS if job[ddir]["total_ios"]}
        for job in document["jobs"]
        if job["jobname"] in asked
    ]
    return json.dumps({"jobs": jobs}, indent=2)


def _of_direction(part: Mapping[str, Any]) -> dict[str, Any]:
    percentiles = part["clat_ns"]["percentile"]
    kept = {name: percentiles[name] for name in _PERCENTILES if name in percentiles}
    mean = {"mean": part["lat_ns"]["mean"]}
    return {
        "iops": part["iops"],
        "bw_bytes": part["bw_bytes"],
        "lat_ns": mean,
        "clat_ns": {"percentile": kept},
    }


def shown_runs(ran: Sequence[Ran], asked: Collection[str], where: str) -> Block:
    """The tools of a measurement, folded, and how to go on with its data.

    Parameters
    ----------
    ran : sequence of Ran
        In the order in which they ran.
    asked : collection of str
        Names of the jobs that the answer is in.
    where : str
        Where in their output it is, in sentences.
    """
    names = [f"Run {i} of {len(ran)}: " if len(ran) > 1 else "" for i in range(1, len(ran) + 1)]
    files = [one.job_file or "# none: all options are on the command line\n" for one in ran]
    lines = [f"{shlex.join(one.argv)}\n" for one in ran]
    parts = [answering(one.said, asked) for one in ran]
    factors = [name + _factor(one.time_scale) for name, one in zip(names, ran, strict=True)]
    answers = [
        (name, one.document)
        for name, one in zip(names, ran, strict=True)
        if set(one.jobs["job"]) & set(asked)
    ]
    documents = [(name, fields(document, asked)) for name, document in answers]
    folds = [
        ("The job file that fio ran", "", zip(names, files, strict=True)),
        ("The command line", "", zip(names, lines, strict=True)),
        ("What fio wrote, as far as it answers", where, zip(factors, parts, strict=True)),
        ("The same in fio's JSON, in ns and not rounded", "", documents),
    ]
    return render("tools", folds=folds, code=GO_ON)


def _factor(k: float) -> str:
    """How figures of fio's output become those of the disk."""
    if k == 1:
        return "at full speed, so fio's figures are those of the table."
    return (
        f"the emulated disk ran {k:g} times slower than the real one. The table shows fio's IOPS and MB/s "
        f"multiplied by {k:g}, and its times divided by {k:g}."
    )
