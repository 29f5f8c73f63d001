"""Outputs of several runs in one file, appended with ``>>``: each is a run of its own, and none is lost."""

import itertools
from pathlib import Path

import pandas as pd
import pytest

from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

FIO = Path(__file__).parents[1] / "data" / "fio"


def job_json(iops: int, name: str = "j") -> str:
    clat = f'{{"min": 1000, "max": {iops * 9000}, "mean": {iops * 1000}.0, "stddev": 1.0, "N": {iops * 2}}}'
    done = (
        f'"io_bytes": {iops * 8192}, "io_kbytes": {iops * 8}, "bw_bytes": {iops * 4096}, "bw": {iops * 4}, '
        f'"iops": {iops}.0, "runtime": 2000, "total_ios": {iops * 2}, "clat_ns": {clat}'
    )
    return (
        f'{{"fio version": "fio-3.33", "timestamp": {1700000000 + iops}, "jobs": [{{"jobname": "{name}", '
        f'"groupid": 0, "error": 0, "elapsed": 3, "job options": {{"rw": "read"}}, "read": {{{done}}}}}]}}\n'
    )


def job_text(iops: int, name: str = "j") -> str:
    return (
        f"{name}: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, "
        f"iodepth=1\nfio-3.33\nStarting 1 process\n\n"
        f"{name}: (groupid=0, jobs=1): err= 0: pid={iops}: Sun Nov 22 09:42:02 2026\n"
        f"  read: IOPS={iops}, BW={iops * 4}KiB/s ({iops * 4.096:.1f}kB/s)({iops * 8}KiB/2000msec)\n"
        f"    clat (nsec): min=1000, max={iops * 9}k, avg={iops * 1000}.00, stdev= 1.00\n"
        f"     issued rwts: total={iops * 2},0,0,0 short=0,0,0,0 dropped=0,0,0,0\n\n"
        f"Run status group 0 (all jobs):\n"
    )


def job_terse(iops: int, name: str = "j") -> str:
    line = (FIO / "terse" / "v3.txt").read_text().strip().splitlines()[-1]
    fields = line.split(";")
    done = [
        str(iops * 8),
        str(iops * 4),
        str(iops),
        "2000",
        *["0"] * 4,
        "1",
        str(iops * 9),
        f"{iops}.0",
        "0.001",
    ]
    fields[2], fields[3], fields[4], fields[5:17] = name, "0", "0", done
    fields[37:41] = ["0"] * 4
    fields[46:87] = ["0"] * 12 + ["0%=0"] * 20 + ["0"] * 4 + ["0", "0", "0.000000%", "0.0", "0.0"]
    return ";".join(fields) + "\n"


def read(text: str) -> dict[str, pd.DataFrame]:
    return registry.read(Source("all.txt", text.encode()))


KINDS = {"json": job_json, "text": job_text, "terse": job_terse}


@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, repeat=2)), ids="-".join)
@pytest.mark.parametrize("order", [(700, 300), (300, 700)])
@pytest.mark.sampled(6)
def test_two_runs_of_one_name_are_two(kinds, order):
    tables = read("".join(KINDS[kind](iops) for kind, iops in zip(kinds, order, strict=True)))
    assert sorted(tables["results"]["iops"]) == [300, 700]
    assert sorted(tables["results"]["io_bytes"]) == [300 * 8192, 700 * 8192]
    assert sorted(tables["latency"]["lat_mean_us"].round()) == [300, 700]
    codes = set(tables["findings"]["code"])
    if kinds == ("terse", "terse"):  # jobs that ran at once look the same
        assert "repeated_lines" in codes
    else:
        assert tables["runs"]["source_doc"].nunique() == 2
    assert "interim_document" not in codes and "text_differs" not in codes


@pytest.mark.parametrize("kinds", list(itertools.permutations(KINDS, 2)), ids="-".join)
def test_two_outputs_of_one_run_are_one(kinds):
    tables = read("".join(KINDS[kind](500) for kind in kinds))
    assert tables["results"]["iops"].tolist() == [500]
    assert "text_differs" not in set(tables["findings"]["code"])


def test_terse_lines_of_several_jobs_that_begin_again_are_of_a_further_run():
    tables = read(
        "".join(job_terse(iops, name) for iops, name in ((500, "a"), (400, "b"), (300, "a"), (450, "b")))
    )
    assert tables["runs"]["source_doc"].tolist() == [0, 0, 1, 1]
    assert "repeated_lines" not in set(tables["findings"]["code"])


def test_all_kinds_of_three_runs_each():
    runs = [kind(iops, f"j{place}") for kind in KINDS.values() for place, iops in enumerate((900, 500, 700))]
    more = [kind(iops + 1, "j0") for kind in KINDS.values() for iops in (100, 200)]
    tables = read("".join([*runs, *more]))
    assert sorted(tables["results"]["iops"]) == [101, 201, 500, 700, 900]


def test_a_run_without_figures_is_not_taken_for_one_with_figures():
    failed = "j: (groupid=0, jobs=1): err= 5 (file:x, func=y, error=Input/output error): pid=9: x\n"
    tables = read(job_json(500) + job_text(700).partition("\n  read")[0] + "\n" + failed)
    assert len(tables["runs"]) >= 2
    assert sorted(tables["runs"]["error"].dropna())[-1] == 5


def test_terse_lines_that_may_be_of_two_runs_are_told():
    """Of terse lines, which have no clock, nothing tells a status report from a longer run."""
    shorter = job_terse(300)
    longer = shorter.replace(";2000;", ";9000;", 1).replace(f";{300 * 8};", f";{900 * 12};", 1)
    findings = read(shorter + longer)["findings"]
    (severity,) = findings.loc[findings["code"] == "interim_document", "severity"]
    assert severity == "warning"
