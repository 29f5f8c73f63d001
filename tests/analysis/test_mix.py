"""Reads by which fio verifies what it wrote are no part of the load: not in rates, cards or verdicts."""

import json
from pathlib import Path

import pytest

from azbenchlib.analysis import grouping, runs, totals
from azbenchlib.dataset.dataset import Dataset


def side(ios: int, iops: float) -> dict[str, object]:
    told = {"total_ios": ios, "io_bytes": ios * 4096, "runtime": 60_000, "iops": iops}
    return told | {"bw_bytes": int(iops * 4096)}


def output(rw: str, **sides: dict[str, object]) -> str:
    options = {"rw": rw, "bs": "4k", "iodepth": "4", "ioengine": "libaio", "direct": "1", "verify": "crc32c"}
    job = {"jobname": "v", "groupid": 0, "error": 0, "job options": options, **sides}
    return json.dumps({"fio version": "fio-3.33", "jobs": [job]})


@pytest.mark.parametrize(
    ("rw", "sides", "iops", "reads", "told"),
    [
        ("write", {"read": side(60_000, 2000.0), "write": side(30_000, 500.0)}, 500.0, 0.0, True),
        ("randrw", {"read": side(60_000, 1000.0), "write": side(30_000, 500.0)}, 1500.0, 2 / 3, False),
        ("write", {"read": side(60_000, 2000.0)}, 2000.0, 1.0, False),  # verify_only
    ],
)
def test_reads_that_verify_are_not_added_to_the_writes(
    rw: str, sides: dict[str, dict[str, object]], iops: float, reads: float, told: bool, tmp_path: Path
) -> None:
    (tmp_path / "v.json").write_text(output(rw, **sides))
    tables = Dataset.load(tmp_path / "v.json").tables
    assert len(tables["results"]) == len(sides)
    (row,) = totals.totals(grouping.arrange(tables)).to_dict(orient="records")
    assert (row["iops"], row["read_share"]) == (iops, pytest.approx(reads))
    ((flow,),) = (run.flows for run in runs.runs(tables))
    assert (flow.observation.iops, flow.observation.read_share) == (iops, pytest.approx(reads))
    assert ("verified" in set(tables["findings"]["code"])) is told
