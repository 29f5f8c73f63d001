"""The devices' own count of I/Os: a limit counts what the kernel made of those of the jobs."""

import json
from pathlib import Path
from typing import Any

import pytest

from azbenchlib.core.units import KIB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.model.notation import parse_disk
from azbenchlib.model.setup import VM, Setup
from azbenchlib.verdict.run_verdicts import judge_runs


def output(
    ios: int, devices: list[dict[str, Any]], groups: tuple[int, ...] = (0,), **options: str
) -> dict[str, Any]:
    seconds, bs = 60, 256 * KIB
    asked = {"rw": "write", "bs": "256k", "iodepth": "8", "ioengine": "libaio", "direct": "1", **options}
    part = {"total_ios": ios, "io_bytes": ios * bs, "runtime": seconds * 1000, "iops": ios / seconds}
    part["bw_bytes"] = ios * bs // seconds
    jobs = [
        {"jobname": f"j{i}", "groupid": group, "error": 0, "job options": asked, "write": part}
        for i, group in enumerate(groups)
    ]
    return {"fio version": "fio-3.33", "jobs": jobs, "disk_util": devices}


def disk(reads: int, writes: int, **more: float) -> dict[str, Any]:
    return {"name": "sdc", "read_ios": reads, "write_ios": writes, **more}


def ratios(folder: Path, document: dict[str, Any]) -> list[float]:
    (folder / "a.json").write_text(json.dumps(document))
    return [*Dataset.read(folder / "a.json").tables["runs"]["device_ios_per_io"]]


def test_what_was_split_is_counted_on_all_devices(tmp_path: Path) -> None:
    assert ratios(tmp_path, output(1000, [disk(10, 1490), disk(0, 500)])) == [2.0]


def test_devices_below_a_stacked_one_count_once(tmp_path: Path) -> None:
    stacked = disk(0, 1000, aggr_util=80.0)
    assert ratios(tmp_path, output(1000, [stacked, disk(0, 300), disk(0, 200)])) == [0.5]


def test_jobs_that_ran_at_once_have_one_ratio(tmp_path: Path) -> None:
    assert ratios(tmp_path, output(1000, [disk(0, 4000)], groups=(0, 0))) == [2.0, 2.0]


@pytest.mark.parametrize(
    "document",
    [
        output(1000, [disk(0, 4000)], groups=(0, 1)),
        output(1000, [disk(0, 4000)], ramp_time="5"),
        output(1000, []),
        output(1000, [{"name": "sdc"}]),
        output(1000, [disk(0, -4)]),
        output(0, [disk(0, 4000)]),
    ],
    ids=["one after the other", "a ramp", "no device", "no count", "no number", "no I/O"],
)
def test_where_the_counts_are_not_of_the_same_ios_there_is_none(tmp_path: Path, document: Any) -> None:
    assert all(value is None or value != value for value in map(_plain, ratios(tmp_path, document)))


def _plain(value: Any) -> float | None:
    return None if str(value) == "<NA>" else value


@pytest.mark.parametrize(("device_ios", "label"), [(500 * 60, "disk_iops"), (200 * 60, None)])
def test_a_verdict_counts_the_ios_of_the_device(tmp_path: Path, device_ios: int, label: str | None) -> None:
    """200 writes of 256 KiB a second that the kernel split are 500 of the device, the limit of an S30."""
    (tmp_path / "a.json").write_text(json.dumps(output(200 * 60, [disk(0, device_ios)])))
    tables = Dataset.read(tmp_path / "a.json").tables
    setup = Setup(VM(size="Standard_D8s_v3"), (parse_disk("S30"),))
    (found,) = judge_runs(tables, setup)
    assert ("disk_iops" in found.judgement.binding[:1]) == (label is not None)
    used = {row.label: row.utilisation for row in found.judgement.limits}
    assert used["disk_iops"] == pytest.approx(device_ios / 60 / 500)
