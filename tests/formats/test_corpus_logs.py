"""Real histogram logs and job files of many fio versions and projects."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from azbenchlib.core import histogram, schema
from azbenchlib.formats import registry
from azbenchlib.formats.fio import jobfile as fio_jobfile
from azbenchlib.formats.fio.logs import hist_lines as fio_hist_lines
from azbenchlib.formats.fio.logs import hist_log as fio_hist_log
from azbenchlib.formats.source import Source

CORPUS = os.environ.get("AZBENCH_CORPUS", "")
NO_JOB_FILES = {"quick-include.fio", "prefill-configmap.yml.j2"}  # options without a section; YAML

pytestmark = pytest.mark.skipif(not CORPUS, reason="AZBENCH_CORPUS names no folder of real outputs")


def _truth() -> list[dict[str, Any]]:
    lines = (Path(CORPUS) / "truth.jsonl").read_text(encoding="utf-8").splitlines() if CORPUS else []
    return [row for row in map(json.loads, lines) if row["kind"] == "fio_hist"]


@pytest.mark.parametrize("truth", _truth(), ids=lambda row: row["file"])
def test_every_io_of_histogram_logs_is_counted(truth):
    bins = fio_hist_log.read_fio_hist_log(Source.of(Path(CORPUS) / truth["file"]), None).frames()["bins"]
    assert bins["n"].sum() == truth["total_count"]
    assert bins.groupby(["t_s", "ddir"]).ngroups <= truth["n_rows"]
    unit_ns = {1219: 1000, 1859: 1}[truth["n_cols"]]
    assert (bins["bin_ns"] % unit_ns == 0).all()
    assert histogram.on_grid(bins["bin_ns"].to_numpy() // unit_ns).all()


def test_every_histogram_log_is_claimed_and_nothing_else():
    for path in sorted(Path(CORPUS).glob("**/*")):
        if path.is_file():
            claimed = fio_hist_lines.sniff(Source.of(path).opening)
            assert claimed == ("clat_hist" in path.name), path


def test_addresses_of_memory_are_not_taken_for_counts():
    """A client of fio servers wrote them into some of its histogram logs."""
    for path in sorted(Path(CORPUS, "fio", "log").glob("distributed*clat_hist*")):
        tables = registry.read(Source.of(path))
        assert tables["bins"].empty
        assert tables["findings"]["code"].tolist() == ["hist_layout_unknown"]


def _job_files() -> list[Path]:
    return sorted(path for path in Path(CORPUS, "fio", "jobfile").glob("*/*") if path.is_file())


def test_every_job_file_is_claimed_and_read():
    n_jobs = 0
    for path in _job_files():
        source = Source.of(path)
        own = not path.name.endswith(tuple(NO_JOB_FILES))
        assert fio_jobfile.sniff(source.opening) == own, path
        claims = [entry.name for entry in registry.FORMATS if entry.sniff(source.opening)]
        assert claims == (["fio job file"] if own else []), path
        n_jobs += len(registry.read(source)["runs"])
    assert n_jobs > 500


def test_no_other_file_is_taken_for_a_job_file():
    for path in sorted(Path(CORPUS).glob("**/*")):
        if path.is_file() and "jobfile" not in path.parts:
            assert not fio_jobfile.sniff(Source.of(path).opening), path


# read by eye: file ending, job, and what it says
BY_EYE: list[tuple[str, str, dict[str, Any]]] = [
    (
        "examples__fio-rand-RW.fio",
        "file1",
        {
            "rw": "randrw",
            "rwmix_read_pct": 60,
            "bs_bytes": 4096,
            "iodepth": 16,
            "numjobs": 4,
            "queue_depth": 64,
            "direct": False,
            "time_based": True,
            "runtime_limit_s": 900,
            "working_set_bytes": 10 << 30,
            "target": "fio-rand-RW",
            "ioengine": "libaio",
        },
    ),
    (
        "examples__aio-read.fio",
        "file2",
        {
            "rw": "randread",
            "bs_bytes": 131072,
            "iodepth": 32,
            "direct": True,
            "target": "/data1",
            "job_index": 1,
        },
    ),
    (
        "examples__ssd-test.fio",
        "rand-write",
        {
            "rw": "randwrite",
            "bs_bytes": 4096,
            "iodepth": 4,
            "direct": True,
            "runtime_limit_s": 60,
            "job_index": 3,
        },
    ),
    (
        "examples__jesd219.fio",
        "JESD219",
        {
            "rw": "randrw",
            "rwmix_read_pct": 40,
            "bs_bytes": None,
            "queue_depth": 1024,
            "target": "/dev/nvme0n1",
        },
    ),
    (
        "examples__fixed-rate-submission.fio",
        "fixed-rate-submit",
        {"rw": "read", "rate_iops": 1000, "working_set_bytes": 128 << 20, "iodepth": 32, "time_based": False},
    ),
]


@pytest.mark.parametrize(("file", "job", "wanted"), BY_EYE, ids=[f"{row[0]}-{row[1]}" for row in BY_EYE])
def test_job_files_mean_what_they_say(file, job, wanted):
    (path,) = [path for path in _job_files() if path.name.endswith(file)]
    runs = fio_jobfile.read_fio_jobfile(Source.of(path)).frames()["runs"]
    (run,) = schema.records(runs[runs["job"] == job])
    assert {name: run[name] for name in wanted} == wanted
