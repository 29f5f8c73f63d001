"""fio's reports on a run under way: what was done between them are samples of the run."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from azbenchlib.core import schema
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

KIB_4 = 4096
LOAD = (
    *("--name=load", "--ioengine=null", "--size=1g", "--bs=4k", "--rw=randrw", "--rate_iops=700,300"),
    *("--runtime=3", "--time_based", "--status-interval=1"),
)


def read(text: str, name: str = "some.json") -> dict[str, pd.DataFrame]:
    return registry.read(Source(name, text.encode()))


def state(ios: int, ms: int, **more: Any) -> dict[str, Any]:
    """A direction of so many I/Os of 4 KiB in so many ms."""
    clat = {"min": 100, "max": 900_000, "mean": 250_000.5, "stddev": 10.5, "N": ios}
    done = {"total_ios": ios, "io_bytes": ios * KIB_4, "io_kbytes": ios * 4, "runtime": ms}
    return done | {"iops": 1000 * ios / ms if ms else 0.0, "bw_bytes": 0, "clat_ns": clat} | more


def document(**directions: dict[str, Any]) -> str:
    job = {"jobname": "j", "groupid": 0, "error": 0, "job options": {"rw": "randrw"}, **directions}
    return json.dumps({"fio version": "fio-3.36", "jobs": [job]})


def samples(tables: dict[str, pd.DataFrame], **wanted: str) -> list[tuple[int, float, float]]:
    rows = tables["samples"]
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    return [(row["seq"], row["t_s"], row["value"]) for row in schema.records(rows)]


def test_differences_of_counts_are_rates_over_time():
    states = [(100, 1000), (100, 2000), (400, 3000), (500, 3020)]  # a stall, and a final report at once
    tables = read("\n".join(document(read=state(*one)) for one in states))
    assert samples(tables, metric="iops") == [(0, 1, 100), (1, 2, 0), (2, 3, 300)]
    assert samples(tables, metric="bw_bytes_per_s") == [(0, 1, 100 * KIB_4), (1, 2, 0), (2, 3, 300 * KIB_4)]
    (counted,) = set(tables["samples"]["run_id"])
    interim = tables["findings"].loc[tables["findings"]["code"] == "interim_document", "run_id"]
    assert len(interim) == 3 and counted not in set(interim)
    assert tables["results"].set_index("run_id").loc[counted, "ios"] == 500
    states[-1] = (430, 3400)  # soon after
    tables = read("\n".join(document(read=state(*one)) for one in states))
    assert samples(tables, metric="iops") == [(0, 1, 100), (1, 2, 0), (2, 3, 300)]


def test_each_direction_has_its_own_and_their_sum_has_none():
    sums = [
        document(read=state(n, ms), write=state(2 * n, ms), mixed=state(3 * n, ms))
        for n, ms in ((100, 1000), (200, 2000))
    ]
    tables = read("\n".join(sums))
    assert samples(tables, metric="iops", ddir="write") == [(0, 1, 200), (1, 2, 200)]
    assert set(tables["samples"]["ddir"]) == {"read", "write"}
    alone = read("\n".join(document(mixed=state(n, ms)) for n, ms in ((100, 1000), (200, 2000))))
    assert samples(alone, metric="iops") == [(0, 1, 100), (1, 2, 100)]


def test_a_direction_that_begins_later_has_its_first_interval_from_the_start():
    tables = read(
        "\n".join([document(read=state(50, 1000)), document(read=state(90, 2000), write=state(6, 900))])
    )
    assert samples(tables, metric="iops", ddir="write") == [(0, 0.9, pytest.approx(6 / 0.9))]


def test_runs_that_do_not_go_on_have_no_samples():
    other = document(read=state(50, 2000))
    assert read(document(read=state(100, 1000)) + "\n" + other)["samples"].empty
    assert read(other)["samples"].empty


@pytest.mark.fio
@pytest.mark.parametrize("form", ["json", "normal", "terse"])
def test_what_the_installed_fio_reports_every_second(form: str, tmp_path: Path):
    told = subprocess.run(
        ["fio", *LOAD, f"--output-format={form}"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    tables = read(told.stdout, "out.txt")
    for ddir, rate in (("read", 700), ("write", 300)):
        moved = samples(tables, metric="bw_bytes_per_s", ddir=ddir)
        assert len(moved) >= 2 and [seq for seq, _, _ in moved] == list(range(len(moved)))
        # the load is so even as its machine is undisturbed, but the sum is that of the run
        row = next(row for row in schema.records(tables["results"])[::-1] if row["ddir"] == ddir)
        ends = [0.0, *(t_s for _, t_s, _ in moved)]
        total = sum(value * (ends[i + 1] - ends[i]) for i, (_, _, value) in enumerate(moved))
        assert total == pytest.approx(row["bw_bytes_per_s"] * ends[-1], rel=0.05)
        counted = samples(tables, metric="iops", ddir=ddir)
        assert (not counted) == (form == "terse")
        assert not counted or sum(value for *_, value in counted) / len(counted) == pytest.approx(
            rate, rel=0.3
        )


def test_a_log_of_the_run_counts_before_its_reports(tmp_path: Path):
    states = ((100, 1000), (200, 2000), (300, 3000))
    (tmp_path / "j.json").write_text(
        "\n".join(document(read=state(*one)) for one in states), encoding="utf-8"
    )
    lines = "".join(f"{500 * i}, 100, 0, 0\n" for i in range(1, 7))
    (tmp_path / "j_iops.1.log").write_text(lines, encoding="utf-8")
    tables = Dataset.read(tmp_path).tables
    assert len(samples(tables, metric="iops")) == 6
    assert len(samples(tables, metric="bw_bytes_per_s")) == 3
    assert not tables["samples"].duplicated(["run_id", "ddir", "metric", "seq"]).any()
    shutil.rmtree(tmp_path)
